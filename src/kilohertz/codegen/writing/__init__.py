"""Spelling of expressions and statements: scopes, temporaries, arrays, names, constants."""
