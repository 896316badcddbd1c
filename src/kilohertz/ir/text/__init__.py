"""Parts of the printer and the reader."""
