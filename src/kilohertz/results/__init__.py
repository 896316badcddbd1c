"""Trajectories: read and write CSV and MAT v4."""
