"""A served index, and a user with nothing installed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from forge import Forge, serving


@pytest.fixture
def forge(tmp_path: Path) -> Iterator[Forge]:
    folder = tmp_path / "www"
    folder.mkdir()
    with serving(folder) as served:
        yield served


@pytest.fixture
def home(tmp_path: Path, forge: Forge, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user with nothing installed, and our index."""
    folder = tmp_path / "libraries"
    monkeypatch.setenv("KHZ_LIBRARY_DIR", str(folder))
    monkeypatch.setenv("KHZ_LIBRARY_INDEX", forge.index)
    monkeypatch.delenv("MODELICAPATH", raising=False)
    return folder
