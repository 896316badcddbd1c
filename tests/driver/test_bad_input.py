"""What can be wrong with results and inputs: at every door a diagnostic with its code, and never a traceback."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from kilohertz.cli import main
from kilohertz.results import FORMATS, Result, read, write

MODEL = 'model Lag input Real u; Real y(start = 0, fixed = true, unit = "V"); equation der(y) = u - y; end Lag;'
T = np.linspace(0, 1, 101)
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "lag.mo").write_text(MODEL)
    write(tmp_path / "good.csv", Result.of_columns("good", T, {"y": 1 - np.exp(-T), "u": np.ones(101)}))
    return tmp_path


def said(capsys: Captured, words: list[str]) -> str:
    assert main(words) == 1
    found = capsys.readouterr()
    assert "internal error" not in found.err
    assert "Traceback" not in found.err
    return found.out + found.err


def rows(**columns: np.ndarray) -> Result:
    return Result.of_columns("rows", T, columns)


# --------------------------------------------------------------------------------------------------- what is in a file

BACKWARDS = np.concatenate([T[:50], T[48:99]])
HOLE = np.where(T == 0.5, np.nan, 1.0)


@pytest.mark.parametrize("suffix", [f.suffix for f in FORMATS if f.write is not None])
def test_values_and_times_that_cannot_be(folder: Path, capsys: Captured, suffix: str) -> None:
    bad, good, lag = folder / f"bad{suffix}", str(folder / "good.csv"), str(folder / "lag.mo")
    write(bad, rows(y=np.ones(101), u=HOLE))
    assert "not a finite number at t = 0.5" in said(capsys, ["compare", str(bad), good])
    assert "R763" in said(capsys, ["simulate", lag, "--input", str(bad)])
    assert "R763" in said(capsys, ["run", lag, "--duration", "10ms", "--solver", "rk4", "--input", str(bad)])
    if suffix == ".mf4":
        return  # the format itself has times that rise
    write(bad, Result.of_columns("bad", BACKWARDS, {"y": np.ones(101), "u": np.ones(101)}))
    assert "time runs backwards after t = 0.49" in said(capsys, ["compare", str(bad), good])
    assert "R761" in said(capsys, ["compare", good, str(bad)])
    assert "R763" in said(capsys, ["simulate", lag, "--input", str(bad)])
    assert "R763" in said(capsys, ["run", lag, "--duration", "10ms", "--solver", "rk4", "--input", str(bad)])


@pytest.mark.parametrize("suffix", [f.suffix for f in FORMATS])
@pytest.mark.parametrize("content", [b"", b"\x00", b"no such thing", b"MATLAB 5.0 MAT-file, and then nothing"])
def test_files_that_are_something_else(folder: Path, capsys: Captured, suffix: str, content: bytes) -> None:
    bad = folder / f"bad{suffix}"
    bad.write_bytes(content)
    for words in (["compare", str(bad), str(folder / "good.csv")], ["plot", str(bad), "-o", str(folder / "p.html")]):
        found = main(words)
        text = capsys.readouterr()
        assert "internal error" not in text.err
        if found == 0:  # a CSV with a head line and no rows can be drawn: nothing
            assert suffix == ".csv"
        else:
            assert any(code in text.err + text.out for code in ("R703", "no rows", "R762", "R761")), text


@pytest.mark.parametrize("suffix", [".mat", ".parquet", ".mf4"])
def test_files_that_are_cut_short(folder: Path, capsys: Captured, suffix: str) -> None:
    whole = folder / f"whole{suffix}"
    write(whole, rows(y=T, u=T))
    cut, data = folder / f"cut{suffix}", whole.read_bytes()
    for n in (len(data) - 1, len(data) * 3 // 4, len(data) // 2, 40):
        cut.write_bytes(data[:n])
        text = said(capsys, ["compare", str(cut), str(folder / "good.csv")])
        assert any(code in text for code in ("R703", "no rows", "ends at")), (n, text)


def test_a_compressed_mat_that_is_cut_short(folder: Path, capsys: Captured) -> None:
    import scipy.io

    write(folder / "v4.mat", rows(y=T, u=T))
    matrices = {n: m for n, m in scipy.io.loadmat(folder / "v4.mat").items() if not n.startswith("__")}
    scipy.io.savemat(folder / "v7.mat", matrices, do_compression=True)
    data = (folder / "v7.mat").read_bytes()
    for n in (len(data) - 20, len(data) // 2, 200):
        (folder / "cut.mat").write_bytes(data[:n])
        assert "R703" in said(capsys, ["compare", str(folder / "cut.mat"), str(folder / "good.csv")])


def test_units_that_nobody_knows_and_those_that_do_not_fit(folder: Path, capsys: Captured) -> None:
    lag, file = str(folder / "lag.mo"), folder / "odd.parquet"
    for unit, message in (("furlong", "`furlong` is no unit"), ("K", "`K` (K) does not convert to `V`")):
        write(file, Result.of_columns("odd", T, {"y": T}, None, {"y": unit}))
        assert message in said(capsys, ["compare", str(file), lag, "--stop", "1"])


def test_signals_that_are_missing(folder: Path, capsys: Captured) -> None:
    write(folder / "other.csv", rows(z=T))
    good, other = str(folder / "good.csv"), str(folder / "other.csv")
    assert "R762" in said(capsys, ["compare", other, good])
    assert "did you mean" not in said(capsys, ["compare", other, good])
    assert "no signal of the reference is called `yy`" in said(capsys, ["compare", good, good, "--signals", "yy"])
    assert "R744" in said(capsys, ["plot", good, "--signals", "yy", "-o", str(folder / "p.svg")])
    assert "R744" in said(capsys, ["simulate", str(folder / "lag.mo"), "--input", other])
    assert "R704" in said(capsys, ["plot", good, "-o", str(folder / "p.pdf")])
    assert "R704" in said(capsys, ["compare", good, good, "--page", str(folder / "p.pdf")])


# ------------------------------------------------------------------------------------------------------ what is refused


@contextmanager
def without_privileges() -> Iterator[None]:
    """As somebody who may not do everything."""
    if os.geteuid() != 0:
        yield
        return
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def test_no_permission(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    good, lag, page = str(folder / "good.csv"), str(folder / "lag.mo"), str(folder / "locked" / "p.html")
    assert main(["compare", good, good, "--page", str(folder / "p.html")]) == 0  # all that it needs is imported
    assert main(["simulate", lag, "--stop", "0.1", "-q", "-o", str(folder / "o.csv")]) == 0
    (folder / "secret.csv").write_text("time,y\n0,0\n")
    (folder / "secret.csv").chmod(0)
    (folder / "locked").mkdir(mode=0o555)
    capsys.readouterr()
    for part in (folder, *folder.parents[:3]):
        part.chmod(part.stat().st_mode | 0o055)
    with without_privileges():
        assert "cannot read" in said(capsys, ["compare", str(folder / "secret.csv"), good])
        assert "no permission" in said(capsys, ["compare", good, good, "--page", page])
        assert "no permission" in said(capsys, ["compare", good, good, "--junit", page])
        assert "no permission" in said(capsys, ["simulate", lag, "-o", str(folder / "locked" / "o.csv")])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("suffix", [f.suffix for f in FORMATS if f.write is not None])
def test_a_full_disk(folder: Path, capsys: Captured, suffix: str) -> None:
    full = folder / f"full{suffix}"
    full.symlink_to("/dev/full")
    text = said(capsys, ["simulate", str(folder / "lag.mo"), "--stop", "1", "-o", str(full)])
    assert f"R702]: cannot write `{full}`: no space left on the disk" in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("suffix", [".html", ".png", ".svg"])
def test_a_full_disk_for_a_report(folder: Path, capsys: Captured, suffix: str) -> None:
    good, full = str(folder / "good.csv"), folder / f"full{suffix}"
    full.symlink_to("/dev/full")
    assert "R702" in said(capsys, ["compare", good, good, "--page", str(full)])
    assert "R702" in said(capsys, ["plot", good, "-o", str(full)])


def test_a_full_disk_loses_no_recording(folder: Path, capsys: Captured) -> None:
    full = folder / "full.csv"
    full.symlink_to("/dev/full")
    task = folder / "full_disk_task.toml"
    task.write_text(
        "model = 'lag.mo'\nsolver = 'rk4'\nduration = '50ms'\ntime_scale = 'max'\n"
        "[realtime]\npriority = 0\nlock_memory = false\n"
    )
    text = said(capsys, ["run", str(task), "--no-check", "-o", str(full)])
    assert "R702" in text
    kept = text.split("what was recorded stands in `")[1].split("`")[0]
    assert len(read(kept).time) == 51


# ---------------------------------------------------------------------------------------------------------- large files


def test_a_large_csv_lies_on_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kilohertz.results import csv_read

    table = rows(**{f"s{i}": np.sin(i + T) for i in range(7)})
    write(folder / "large.csv", table)
    small = read(folder / "large.csv")
    monkeypatch.setattr(csv_read, "_LARGE", 1)
    monkeypatch.setattr(csv_read, "_PIECE", 500)
    large = read(folder / "large.csv")
    assert isinstance(large.data.base, np.memmap) or isinstance(large.data, np.memmap)
    assert np.array_equal(large.time, small.time)
    for name in table:
        assert np.array_equal(large[name], table[name])
        assert np.array_equal(small[name], table[name])
    (folder / "ragged.csv").write_text("time,a,b\n" + "".join(f"{k}\n" for k in range(300)))  # more rows than expected
    ragged = read(folder / "ragged.csv")
    assert np.array_equal(ragged.time, np.arange(300.0))
    assert np.isnan(ragged["b"]).all()


def test_no_room_for_the_numbers_of_a_large_csv(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    from kilohertz.results import csv_read

    monkeypatch.setattr(csv_read, "_LARGE", 1)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        text = said(capsys, ["compare", str(folder / "good.csv"), str(folder / "good.csv")])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert "R701" in text
    assert "File too large" in text
