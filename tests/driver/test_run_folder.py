"""Where a run puts its files when nobody says where."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

OTHER = "from kilohertz.driver.job import default_folder; print(default_folder('axis'), flush=True); input()"


def test_processes_that_run_one_name_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kilohertz.driver.job import default_folder

    monkeypatch.setenv("KHZ_CACHE_DIR", str(tmp_path / "cache"))
    with subprocess.Popen([sys.executable, "-c", OTHER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p:
        assert p.stdout is not None
        theirs = Path(p.stdout.readline().strip())
        mine = default_folder("axis")
        assert (theirs.name, mine.name, mine.parent) == ("axis", "axis.2", theirs.parent)
        assert default_folder("axis") == mine  # for all runs of a process
        assert default_folder("arm").name == "arm"
        p.communicate("\n")
