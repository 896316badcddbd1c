"""What a class does: equations, statements, functions, and what they reach."""
