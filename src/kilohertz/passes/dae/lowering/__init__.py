"""Parts of `lower_events.py`: operators with time or events in them, clocked partitions, assertions up to rounding."""
