"""One model in a file, for tests whose models are texts of their own (the fixture `model` says where)."""

from __future__ import annotations

from pathlib import Path


def write(model: str, text: str) -> str:
    """Write the text there; gives the name of the file."""
    Path(model).write_text(text, encoding="utf-8")
    return model
