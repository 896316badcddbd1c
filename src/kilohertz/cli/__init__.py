"""The command line: request in, one driver call, rendering out."""
