"""FMUs of other tools, read and run."""
