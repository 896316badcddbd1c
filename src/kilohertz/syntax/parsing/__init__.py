"""Text to Tree: lexer, the place in the tokens, one file for each part of the grammar."""
