"""Counting and matching of a flat model's equations, and its clocks."""
