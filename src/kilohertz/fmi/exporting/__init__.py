"""A built model as an FMU."""
