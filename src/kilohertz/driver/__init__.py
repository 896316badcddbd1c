"""The pass list and the public API; alone in knowing the order."""
