"""Diagnostics that belong to no other test: each is provoked once."""

from __future__ import annotations

import ctypes.util
import importlib.util
import sys
from pathlib import Path

import pytest

from kilohertz import load
from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.results import read
from kilohertz.simulate import sundials
from kilohertz.toolchain import cross_compiler, load_library
from kilohertz.toolchain.external_code import lapack_arguments


def codes(error: ModelError) -> list[str]:
    return [d.code for d in error.diagnostics]


def test_many_errors_in_a_file_end_with_a_word_about_more(tmp_path: Path) -> None:
    source = tmp_path / "m.mo"
    source.write_text("model M\n" + "  Real 1;\n" * 60 + "end M;\n")
    with pytest.raises(ModelError) as caught:
        load(str(source)).flatten()
    assert codes(caught.value)[-1] == "P110"


@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="needs ziglang")
def test_a_target_that_zig_does_not_have_is_refused() -> None:
    with pytest.raises(ModelError) as caught:
        cross_compiler("abacus-linux-gnu")
    assert codes(caught.value) == ["C605"]


def test_a_library_that_is_none_is_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "model.so").write_text("no library")
    with pytest.raises(ModelError) as caught:
        load_library(tmp_path / "model.so")
    assert codes(caught.value) == ["C604"]


def test_a_rig_that_does_not_run_cannot_be_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["set", "u=1", "--rig", "no-such-rig"]) == 1
    assert "R745" in capsys.readouterr().err


def test_which_of_several_rigs_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("kilohertz.realtime.live.running", lambda: ["first", "second"])
    assert main(["set", "u=1"]) == 1
    said = capsys.readouterr().err
    assert "R745" in said
    assert "several rigs run: first, second" in said
    assert "--rig NAME" in said


def test_mdf_without_its_package_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file := tmp_path / "rows.mf4").touch()
    monkeypatch.setitem(sys.modules, "asammdf", None)
    with pytest.raises(ModelError) as caught:
        read(file)
    assert codes(caught.value) == ["R705"]


def test_lapack_that_is_nowhere_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes.util, "find_library", lambda _: None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ModelError) as caught:
        lapack_arguments()
    assert codes(caught.value) == ["C603"]


def test_sundials_that_is_nowhere_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    sundials.function_table.cache_clear()
    with pytest.raises(ModelError) as caught:
        sundials.function_table()
    assert codes(caught.value) == ["R722"]


def test_a_loop_that_has_not_converged_is_warned_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "hasty.mo"
    source.write_text("""model Hasty
  Real x(start = 0, fixed = true), z(start = 1);
equation
  der(x) = 1;
  z * z * z - 2 * z + 2 = 5 * sin(1000 * x);
end Hasty;
""")
    assert main(["simulate", str(source), "--solver", "rk4", "--step", "0.001", "-q"]) == 0
    assert "hasty.mo:5:3: warning[R724]: a loop reached its cap of 6 Newton" in capsys.readouterr().err
