"""Expressions of the tree, in a context, turned into typed ones."""
