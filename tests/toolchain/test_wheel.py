"""A wheel brings the runtime compiled, and a program of it is linked with that."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
_LOOK = """
from kilohertz.building import runtime_units
from kilohertz.realtime.executable import task_units
from kilohertz.toolchain import build_objects
print(*build_objects([*runtime_units(offline=True), *task_units()]), sep="\\n")
"""


def _said(site: Path, cache: Path, *command: str, **more: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(site), "KHZ_CACHE_DIR": str(cache), "PYTHONSAFEPATH": "1", **more}
    done = subprocess.run([sys.executable, *command], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=ROOT, check=True)
    (wheel,) = folder.iterdir()  # and nothing else is left
    assert wheel.name.endswith(".whl") and "-py3-none-linux_" in wheel.name
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def test_what_came_compiled_is_used(site: Path, tmp_path: Path) -> None:
    objects = _said(site, tmp_path, "-c", _LOOK).split()
    came = site / "kilohertz" / "runtime" / "compiled"
    assert len(objects) > 10 and all(Path(o).is_relative_to(came) for o in objects)
    model = tmp_path / "m.mo"
    model.write_text("model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;", encoding="utf-8")
    result = tmp_path / "m.csv"
    _said(site, tmp_path / "cache", "-m", "kilohertz", "simulate", str(model), "-q", "-o", str(result))
    assert result.read_text(encoding="utf-8").count("\n") > 500
    runtime = {Path(o).name for o in objects}
    assert runtime.isdisjoint(o.name for o in (tmp_path / "cache").rglob("*.o"))


def test_another_compiler_compiles_the_runtime_itself(site: Path, tmp_path: Path) -> None:
    objects = _said(site, tmp_path, "-c", _LOOK.replace(", *task_units()", ""), CC="cc -g0").split()
    assert all(Path(o).is_relative_to(tmp_path) for o in objects)
