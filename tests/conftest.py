"""What all tests share: golden cases, a cache folder of their own, and a tree that stays as it was.

A golden file holds cases, each with input and expected output:

    [case a loop of two keeps one iteration variable]
    x + y = 3;  x - y = u;
    [expect]
    block 1 torn on y: ...

A test takes them one by one: `@pytest.mark.golden("tear.case")`, or a pattern for several files, and an argument
`case`; it ends with `case.check(output)`.  `pytest --update-golden` (without -n) rewrites what is expected.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from kilohertz.toolchain import object_files

# How long an example takes to make says how busy the machine is, not whether the code is right.
settings.register_profile("busy", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("busy")

ROOT = Path(__file__).parent.parent
_CASE = re.compile(r"^\[case (.+)\]$", re.MULTILINE)
_EXPECT = "[expect]\n"


@dataclass(frozen=True, slots=True)
class Case:
    """One golden case: its title, its input, what is expected."""

    file: Path
    title: str
    text: str
    expected: str
    update: bool = False

    def check(self, output: str) -> None:
        """Compare, or with --update-golden write the output into the file."""
        output = "\n".join(line.rstrip() for line in output.strip("\n").splitlines())
        if not self.update:
            assert output == self.expected
            return
        whole = self.file.read_text(encoding="utf-8")
        old = f"[case {self.title}]\n{self.text}\n{_EXPECT}{self.expected}"
        assert whole.count(old) == 1, f"{self.file.name}: case `{self.title}` is not found once"
        new = f"[case {self.title}]\n{self.text}\n{_EXPECT}{output}"
        self.file.write_text(whole.replace(old, new), encoding="utf-8")


def read_cases(file: Path, update: bool = False) -> Iterator[Case]:
    """The cases of a golden file; text before the first one is a comment."""
    pieces = _CASE.split(file.read_text(encoding="utf-8"))
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        text, found, expected = body.partition(_EXPECT)
        if not found:
            raise ValueError(f"{file}: case `{title}` has no [expect]")
        yield Case(file, title, text.strip("\n"), expected.strip("\n"), update)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite what golden cases expect")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "golden(file): run the test for every case of a golden file beside it")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("golden")
    if marker is not None:
        folder, update = metafunc.definition.path.parent, metafunc.config.getoption("--update-golden")
        files = sorted(folder.glob(marker.args[0]))
        assert files, f"no file {marker.args[0]} beside {metafunc.definition.path.name}"
        cases = [c for file in files for c in read_cases(file, update)]
        ids = [c.title if len(files) == 1 else f"{c.file.stem}: {c.title}" for c in cases]
        metafunc.parametrize("case", cases, ids=ids)


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests neither read nor fill the user's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KHZ_CACHE_DIR", str(tmp_path_factory.getbasetemp().parent / "khz-cache"))
        patch.delenv("KHZ_DEBUG", raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def verified_forms() -> Iterator[None]:
    """Every model that a test compiles in its own process is checked between passes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kilohertz.driver.stages.VERIFY", True)
        yield


@pytest.fixture
def unoptimised(monkeypatch: pytest.MonkeyPatch) -> None:
    """C of large models is compiled without optimisation: a quarter of the time, the same bits."""
    plain = tuple("-O0" if flag == "-O2" else flag for flag in object_files.FLAGS)
    monkeypatch.setattr(object_files, "FLAGS", plain)


def files_of_the_tree() -> set[Path]:
    """Every file of the repository, but for what Python and the tools keep: caches and hidden folders."""
    found: set[Path] = set()
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [d for d in folders if not d.startswith(".") and d not in ("__pycache__", "venv", "dist", "build")]
        found.update(Path(folder) / n for n in names)
    return found


@pytest.fixture(scope="session", autouse=True)
def clean_tree() -> Iterator[None]:
    """Tests, and the models they run, leave no file in the repository."""
    before = files_of_the_tree()
    yield
    left = sorted(str(p.relative_to(ROOT)) for p in files_of_the_tree() - before)
    assert not left, f"left behind in the repository: {', '.join(left)}"


@pytest.fixture(autouse=True)
def no_choices_of_other_tests(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `auto` and `tune` remember is one test's own."""
    monkeypatch.setenv("KHZ_CHOICES_DIR", str(tmp_path_factory.getbasetemp() / f"choices-{os.urandom(6).hex()}"))
