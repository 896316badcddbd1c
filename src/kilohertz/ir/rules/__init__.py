"""Rules of the language that the table of built-in functions is made of: types, and arithmetic on Python's numbers."""
