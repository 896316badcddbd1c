"""Series from the file to the report: numbers, failures, kills, what other programs open."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

import kilohertz
from kilohertz.base import ModelError
from kilohertz.cli import main
from kilohertz.driver import Session
from kilohertz.driver.studies.series import execute
from kilohertz.sweep import Means, Measure, Range, Report, Side, read_series
from kilohertz.sweep.batches import Done
from kilohertz.sweep.case_store import opened
from kilohertz.sweep.cases import Table
from kilohertz.sweep.series_page import page_of


def run(folder: Path, **means: object) -> Report:
    return execute(read_series(folder / "swing.toml"), Means(folder / "out", **means), Session())  # type: ignore[arg-type]


def test_every_case_has_the_numbers_of_a_run_of_its_own(folder: Path) -> None:
    report = run(folder, jobs=2)
    assert len(report.table) == 12 and not report.failed
    model = kilohertz.load(str(folder / "swing.mo"))
    for row in report.table.iter_rows(named=True):
        alone = model.simulate(settings={"k": row["k"], "d": row["d"]})
        assert row["min x"] == alone["x"].min()
        assert row["spring"] == (row["k"] * alone["x"] ** 2 / 2).max()
        assert row["steps (variant)"] == 200
    weak = [r["case"] for r in report.table.iter_rows(named=True) if r["min x"] < -0.7]
    assert weak and set(weak) <= set(report.exceeding)
    assert "exceptional cases" in report.as_text() and "min x" in report.as_text()


DRIVEN = """model Driven
  parameter String law = "linear" "How the input is taken";
  parameter Real k = 1;
  input Real u;
  input Real v(start=0.5);
  Real x(start=0, fixed=true);
equation
  der(x) = k*(if law == "squared" then u^2 else u) - x + v;
  annotation(experiment(StopTime=1));
end Driven;
"""


@pytest.mark.parametrize("solver", ["", 'solver = "rk4"\nstep = "5ms"\n'])
def test_inputs_by_formulas_and_settings_that_are_texts(tmp_path: Path, solver: str) -> None:
    (tmp_path / "driven.mo").write_text(DRIVEN)
    formula = 'formula = { u = "step(start=0.3, height=2) + sin(5*time)" }\n'
    head = f'[model]\nmodel = "driven.mo"\nset = {{ law = "squared" }}\n{formula}{solver}'
    (tmp_path / "driven.toml").write_text(f'{head}[parameters]\nk = [1, 2]\n[[measure]]\nsignal = "x"\ntake = "max"\n')
    report = execute(read_series(tmp_path / "driven.toml"), Means(tmp_path / "out"), Session())
    model = kilohertz.load(str(tmp_path / "driven.mo"))
    inputs = {"u": "step(start=0.3, height=2) + sin(5*time)"}
    stepping: dict[str, Any] = {"solver": "rk4", "step": 5e-3} if solver else {}
    for row in report.table.iter_rows(named=True):
        alone = model.simulate(settings={"k": row["k"], "law": "squared"}, inputs=inputs, **stepping)
        assert row["max x"] == alone["x"].max()


def test_an_input_does_not_vary_and_follow_a_formula(tmp_path: Path) -> None:
    (tmp_path / "driven.mo").write_text(DRIVEN)
    head = '[model]\nmodel = "driven.mo"\nformula = { u = "sine()" }\n'
    (tmp_path / "driven.toml").write_text(f'{head}[parameters]\nu = [1, 2]\n[[measure]]\nsignal = "x"\ntake = "max"\n')
    with pytest.raises(ModelError, match="`u` varies from case to case and is driven over time"):
        execute(read_series(tmp_path / "driven.toml"), Means(tmp_path / "out"), Session())


@pytest.mark.parametrize("solver", [{}, {"solver": "rk4", "step": 5e-3}])
def test_a_series_over_texts(tmp_path: Path, solver: dict[str, Any]) -> None:
    """Strings and quantities with units, from the definition to the store, the report and the page."""
    (tmp_path / "driven.mo").write_text(DRIVEN)
    model = kilohertz.load(str(tmp_path / "driven.mo"))
    laws, measures = ["linear", "squared"], [Measure("x", "max", above=0.4)]
    axes: dict[str, Any] = {"law": laws, "k": ["1", "0.7"], "u": [3, 5]}
    report = model.series(axes, measures=measures, folder=tmp_path / "out", **solver)
    stored = polars.read_parquet(tmp_path / "out" / "cases.parquet")
    assert stored["law"].to_list() == ["linear"] * 4 + ["squared"] * 4 and stored["k"].dtype == polars.String
    assert stored["max x"].n_unique() == 8
    for row in stored.iter_rows(named=True):
        alone = model.simulate(settings={n: row[n] for n in axes}, **solver)
        assert row["max x"] == alone["x"].max()
    worst = report.ranked[0].case
    assert report.parameters(worst) == {n: stored[n][worst] for n in axes}
    assert f"law = {stored['law'][worst]}, k = {stored['k'][worst]}, u = 5" in report.as_text()
    page = page_of(report).html()
    assert "law: 0 linear, 1 squared" in page
    with pytest.raises(ModelError, match="another series"):
        model.series(axes | {"law": ["linear", "cubic"]}, measures=measures, folder=tmp_path / "out", **solver)


@pytest.mark.parametrize("solver", [{}, {"solver": "rk4", "step": 5e-3, "events": "exact"}])
def test_more_rows_than_were_expected(tmp_path: Path, solver: dict[str, Any]) -> None:
    """Two rows at each of 200 events, where the grid has two points."""
    text = "model Bell parameter Real k = 1; discrete Real y(start=0, fixed=true); Real x(start=0, fixed=true); "
    text += "equation when sample(0.005, 0.01) then y = pre(y) + k; end when; der(x) = y; end Bell;"
    (tmp_path / "bell.mo").write_text(text)
    model = kilohertz.load(str(tmp_path / "bell.mo"))
    grid: dict[str, Any] = {"stop": 2.0, "intervals": 1, **solver}
    model.series(
        {"k": [1, 2, 3]}, measures=[Measure("x")], record=["y"], keep="all", folder=tmp_path / "out", jobs=1, **grid
    )
    curves = polars.read_parquet(tmp_path / "out" / "curves" / "*.parquet")
    for case, k in enumerate((1.0, 2.0, 3.0)):
        alone, kept = model.simulate(settings={"k": k}, **grid), curves.filter(polars.col("case") == case)
        assert len(kept) == len(alone.time) > 400
        assert kept["y"].to_list() == alone["y"].tolist() and kept["x"].to_list() == alone["x"].tolist()


def test_a_number_for_a_text(tmp_path: Path) -> None:
    (tmp_path / "driven.mo").write_text(DRIVEN)
    text = '[model]\nmodel = "driven.mo"\n[parameters]\nlaw = [1, 2]\n[[measure]]\nsignal = "x"\n'
    (tmp_path / "driven.toml").write_text(text)
    with pytest.raises(ModelError, match="`law` is a String") as caught:
        execute(read_series(tmp_path / "driven.toml"), Means(tmp_path / "out"), Session())
    assert caught.value.diagnostics[0].code == "R720" and caught.value.diagnostics[0].span is not None


def test_a_text_that_has_no_room(tmp_path: Path) -> None:
    (tmp_path / "driven.mo").write_text(DRIVEN)
    with pytest.raises(ModelError) as caught:
        kilohertz.load(str(tmp_path / "driven.mo")).simulate(settings={"law": "s" * 1024})
    assert caught.value.diagnostics[0].code == "R720" and "1023" in caught.value.diagnostics[0].message


def test_the_error_is_that_of_a_comparison(folder: Path) -> None:
    from kilohertz.compare import compare

    report = run(folder)
    model = kilohertz.load(str(folder / "swing.mo"))
    row = report.table.row(5, named=True)
    values = {"k": row["k"], "d": row["d"]}
    exact, rough = model.simulate(settings=values), model.simulate(settings=values, solver="rk2", step=0.01)
    assert row["largest e (error)"] == pytest.approx(compare(rough, exact, ["e"]).signals[0].largest, rel=1e-12)


def test_a_case_that_fails_loses_nothing_else(folder: Path) -> None:
    model = kilohertz.load(str(folder / "swing.mo"))
    report = model.series({"n": [1, 3, 2, 4]}, measures=[Measure("x", "max")], folder=folder / "out", jobs=2)
    assert report.failed == [1, 3] and not report.ok
    row = report.table.row(1, named=True)
    assert row["status"] == "failed" and "R714" in row["message"] and "n is too large" in row["message"]
    assert row["max x"] is None and report.table.row(2, named=True)["max x"] == 1.0
    assert [r.case for r in report.ranked] == [1, 3]


CRASHING = """model Crash
  function boom
    input Real x;
    output Real y;
  external "C" y = khz_test_boom(x) annotation(Include="
#include <stdlib.h>
#include <unistd.h>
static double khz_test_boom(double x) { if (x > 100.0) abort(); while (x < 0.0) usleep(1000); return x; }
");
  end boom;
  parameter Real p = 1;
  Real x(start=0, fixed=true);
equation
  der(x) = boom(p);
end Crash;
"""


def test_a_case_that_kills_its_process_is_found_and_the_others_are_run(tmp_path: Path) -> None:
    (tmp_path / "crash.mo").write_text(CRASHING)
    model = kilohertz.load(str(tmp_path / "crash.mo"))
    values = [1.0, 2.0, 101.0, *map(float, range(3, 30))]
    report = model.series({"p": values}, measures=[Measure("x", "final")], folder=tmp_path / "out", jobs=2)
    assert len(report.table) == 30 and report.failed == [2]
    assert report.table.row(2, named=True)["status"] == "crashed"
    assert report.table["final x"].drop_nulls().to_list() == pytest.approx([v for v in values if v != 101.0])


def test_a_case_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    lines = ("model Slow", "parameter Real f = 1;", "Real x(start=1, fixed=true);", "equation", "der(x) = cos(f*time);")
    text = "\n".join((*lines, "end Slow;"))
    (tmp_path / "slow.mo").write_text(text)
    model = kilohertz.load(str(tmp_path / "slow.mo"))
    report = model.series({"f": [1.0, 1e9]}, timeout=0.2, folder=tmp_path / "out", tolerance=1e-10, stop=10.0)
    assert report.table["status"].to_list() == ["ok", "timed out"]


def test_a_series_goes_on_where_it_was_killed(folder: Path) -> None:
    text = (
        (folder / "swing.toml")
        .read_text()
        .replace("count = 4", "count = 2000")
        .replace('solver = "rk2"', 'solver = "rk4"')
    )
    (folder / "swing.toml").write_text(text + "\n")
    command = [sys.executable, "-m", "kilohertz", "series", "swing.toml", "-o", "out", "-q", "--json"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as first:
        until = time.monotonic() + 120
        while not list((folder / "out" / "parts").glob("[0-9]*.parquet")) and time.monotonic() < until:
            time.sleep(0.05)
        first.send_signal(signal.SIGKILL)
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300
    )
    report = json.loads(done.stdout)
    assert report["cases"] == 6000 and 0 < report["resumed"] < 6000
    table = polars.read_parquet(folder / "out" / "cases.parquet")
    assert table["case"].to_list() == list(range(6000)) and table["min x"].null_count() == 0
    assert not (folder / "out" / "parts").exists()


def test_a_complete_series_is_not_run_again(folder: Path) -> None:
    first = run(folder)
    again = run(folder)
    assert again.outcome.resumed == 12 and again.table.equals(first.table)
    assert run(folder, fresh=True).outcome.resumed == 0


def test_results_of_another_series_are_not_mixed(folder: Path) -> None:
    run(folder)
    file = folder / "swing.toml"
    file.write_text(file.read_text().replace("to = 20", "to = 21"))
    with pytest.raises(ModelError) as caught:
        run(folder)
    assert caught.value.diagnostics[0].code == "R771"


def test_two_runs_do_not_write_to_one_folder(folder: Path) -> None:
    import fcntl

    run(folder)
    with open(folder / "out" / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(ModelError) as caught:
            run(folder)
    assert caught.value.diagnostics[0].code == "R772"


def test_a_folder_that_cannot_be_written(folder: Path) -> None:
    (folder / "out").write_text("a file")
    with pytest.raises(ModelError) as caught:
        run(folder)
    assert caught.value.diagnostics[0].code == "R702"


def test_the_store_opens_in_other_programs(folder: Path) -> None:
    report = run(folder)
    index, curves = folder / "out" / "cases.parquet", folder / "out" / "curves"
    assert len(polars.read_parquet(index)) == 12
    pytest.importorskip("pyarrow", reason="pyarrow, which pandas reads Parquet with, is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    assert len(pandas.read_parquet(index)) == 12
    kept = pandas.read_parquet(curves)
    assert sorted(set(kept["case"])) == sorted(report.exceeding) and set(kept["side"]) == {"model", "variant"}
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    joined = duckdb.sql(
        f"""select c.k, max(r.time) from '{index}' c join '{curves}/*.parquet' r using ("case") group by c.k"""
    )
    assert all(last == 2.0 for _, last in joined.fetchall())


def test_curves_of_exceptional_cases_are_those_of_their_runs(folder: Path) -> None:
    from kilohertz.sweep.case_store import read_curves

    report = run(folder)
    case = report.exceeding[0]
    kept = read_curves(folder / "out", case)["model"]
    alone = kilohertz.load(str(folder / "swing.mo")).simulate(settings=report.parameters(case))
    assert np.array_equal(kept["time"], alone.time) and np.array_equal(kept["x"], alone["x"])


def test_from_python_with_a_variant_under_other_names(folder: Path) -> None:
    (folder / "other.mo").write_text(
        (folder / "swing.mo").read_text().replace("Swing", "Other").replace("Real k", "Real c").replace("k*", "c*")
    )
    model = kilohertz.load(str(folder / "swing.mo"))
    variant = Side(str(folder / "other.mo"), rename={"k": "c"})
    error = Measure("x", of="error", variant_signal="-y", above=1e-9)
    report = model.series(
        {"k": Range(5, 20)}, way="sobol", count=8, variant=variant, measures=[error], folder=folder / "o"
    )
    assert report.ok and report.table["largest x (error)"].to_list() == [0.0] * 8


@pytest.mark.parametrize(
    ("old", "new", "code", "words"),
    [
        ("k = {", "kk = {", "R719", "no parameter `kk`"),
        ("d = [0.1, 1, 4]", "n = [1.5]", "R720", "`n` cannot be set to 1.5: it is an Integer"),
        ("d = [0.1, 1, 4]", "load.d = [1]", "R719", "no parameter `load.d`"),
        ("d = [0.1, 1, 4]", 'd = ["0.1", "much"]', "R720", "`d` cannot be set to much"),
        ("d = [0.1, 1, 4]", 'd = [0.1, "1"]', "R742", "a list of numbers or of texts"),
        ('signal = "e"', 'signal = "ee"', "R744", "`ee`"),
        ('step = "10ms"', 'step = "10ms"\nrename = { k = "kk" }', "R719", "no parameter `kk`"),
        ('step = "10ms"', 'step = "10ms"\nset = { kk = 1 }', "R719", "no parameter `kk`"),
        ('signal = "k*x^2/2"', 'signal = "k*"', "R760", "no expression"),
        ('cost = "steps"\nof = "variant"', 'cost = "held"', "R742", "counted by fixed-step solvers"),
        ('step = "10ms"', 'step = "10ms"\nrename = { q = "k" }', "R744", "`q` is renamed"),
    ],
)
def test_names_are_checked_before_the_first_case(folder: Path, old: str, new: str, code: str, words: str) -> None:
    file = folder / "swing.toml"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(ModelError, match=words) as caught:
        run(folder)
    assert caught.value.diagnostics[0].code == code
    span, key = caught.value.diagnostics[0].span, new.split("\n")[-1].partition(" ")[0].strip("[{")
    assert span is not None and file.read_text()[span.start : span.end] in (key, "signal")
    assert not (folder / "out").exists()


def test_the_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = folder / "page.html"
    assert main(["series", str(folder / "swing.toml"), "--page", str(page)]) == 1
    shown = capsys.readouterr()
    assert "12 cases" in shown.out and "compiling" in shown.err
    assert "Exceptional cases" in page.read_text(encoding="utf-8")
    assert (folder / "swing.series" / "cases.parquet").exists()


def test_a_full_disk_is_said_and_loses_nothing_that_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cases = Table(("k",), np.array([[1.0], [2.0]]))
    done = [Done([n], ["ok"], [""], [[float(n)]], [0], [0.1]) for n in range(2)]
    with opened(tmp_path / "out", {"digest": "d"}, cases, [Measure("x", "final")], fresh=False) as store:
        store.add(done[0])
        store.flush()
        store.add(done[1])

        def full(self: Path, data: bytes) -> int:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(Path, "write_bytes", full)
        with pytest.raises(ModelError) as caught:
            store.flush()
        monkeypatch.undo()
        known = store.known()
    said = caught.value.diagnostics[0]
    assert said.code == "R702" and "goes on from them" in said.notes[0].text
    assert known is not None and known["case"].to_list() == [0]
