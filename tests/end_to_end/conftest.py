"""What the tests of whole models share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Where `write` puts the model."""
    return str(tmp_path / "m.mo")
