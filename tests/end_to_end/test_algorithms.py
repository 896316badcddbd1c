"""Algorithms whose loops are not known at compile time do all that others do: when, reinit, terminate, events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kilohertz
from kilohertz.simulate import Statistics


def model(tmp_path: Path, text: str) -> kilohertz.Model:
    file = tmp_path / "m.mo"
    file.write_text(f"model M parameter Integer N = 5; {text} end M;", encoding="utf-8")
    return kilohertz.load(str(file))


def test_terminate_with_what_a_loop_found(tmp_path: Path) -> None:
    text = """Integer n(start = 0, fixed = true);
      algorithm when sample(0, 0.25) then
        n := 0;
        while n < 8*time loop n := n + 1; end while;
        if n >= 6 then terminate("n is " + String(n)); end if;
      end when;"""
    statistics = Statistics()
    result = model(tmp_path, text).simulate(stop=2, statistics=statistics)
    assert result["time"][-1] == 0.75
    assert statistics.terminated == "n is 6"


@pytest.mark.parametrize("method", [{}, {"solver": "rk4", "step": 1e-3, "events": "linear"}])
def test_reinit_to_what_a_loop_found(tmp_path: Path, method: dict[str, Any]) -> None:
    """Down by 3/10 at x = 0.5 (t = 0.5), by as much at 1.3: both elements by their own rules."""
    text = """Integer n; Real x[2](start = {0, 0}, each fixed = true);
      equation der(x) = {1, 2};
      algorithm when x[1] > 0.5 then
        n := 0;
        while n < N loop n := n + 1; if n <= 3 then reinit(x[1], -n/10); else reinit(x[2], n); end if; end while;
      end when;"""
    result = model(tmp_path, text).simulate(stop=1, **method)
    assert result.final("x[1]") == pytest.approx(0.2, abs=1e-9)
    assert result.final("x[2]") == pytest.approx(6, abs=1e-9)


@pytest.mark.parametrize("method", [{}, {"solver": "rk4", "step": 1e-3, "events": "linear"}])
def test_reinit_of_elements_that_the_run_names(tmp_path: Path, method: dict[str, Any]) -> None:
    """All three, then those that the loop counts, then the first: 50 ms before the end."""
    text = """Integer n(start = 1, fixed = true), k; Real x[3](each start = 1, each fixed = true);
      Real z[2, 2](each start = 0, each fixed = true);
      equation der(x) = {-1, -2, -3}; der(z) = [1, 2; 3, 4];
      algorithm when sample(0.2, 0.2) then
        n := pre(n) + 1; k := 0;
        reinit(x, {5, 6, 7});
        while k < n loop k := k + 1; reinit(x[k], 10*k); reinit(z[k, 3 - k], k); end while;
        reinit(x[1], 0);
      end when;"""
    result = model(tmp_path, text).simulate(stop=0.25, **method)
    assert [result.final(f"x[{k}]") for k in (1, 2, 3)] == pytest.approx([-0.05, 19.9, 6.85])
    assert [result.final(f"z[{k}]") for k in ("1,1", "1,2", "2,1", "2,2")] == pytest.approx([0.25, 1.1, 2.15, 1.0])


def test_the_last_of_several_reinits_counts(tmp_path: Path) -> None:
    text = """Real x(start = 0, fixed = true), v[2](start = {0, 0}, each fixed = true);
      equation der(x) = 1; der(v) = {0, 0};
      algorithm when x > 0.5 then
        reinit(x, 5); reinit(v, {1, 2});
        if time > 0.1 then reinit(x, 7); reinit(v[2], 3); end if;
        if time > 10 then reinit(x, 9); end if;
      end when;"""
    result = model(tmp_path, text).simulate(stop=1)
    assert result.final("x") == pytest.approx(7.5, abs=1e-9)
    assert (result.final("v[1]"), result.final("v[2]")) == (1, 3)


@pytest.mark.parametrize("method", [{}, {"solver": "rk4", "step": 1e-3, "events": "linear"}])
def test_a_when_reads_what_the_loop_before_it_computes(tmp_path: Path, method: dict[str, Any]) -> None:
    """z is 15 t, 7.5 at 0.5, up to the first when; behind it 30 t, 24 at 0.8; k changes at both."""
    text = """Real y, z; Integer n;
      Integer k(start = 0, fixed = true), changes(start = 0, fixed = true); Real at(start = 0, fixed = true);
      algorithm
        n := 0; y := 0; while n < N loop n := n + 1; y := y + n*time; end while;
        z := y;
        when z > 7.5 then k := pre(k) + 1; at := time; end when;
        z := z + y;
        when z > 24 then k := k + 10; at := at + time; end when;
        when change(k) then changes := changes + 1; end when;"""
    result = model(tmp_path, text).simulate(stop=1, **method)
    assert result.final("at") == pytest.approx(1.3, abs=1e-9)
    assert result.final("z") == pytest.approx(30)
    assert (result.final("k"), result.final("changes")) == (11, 2)


def test_what_a_loop_compares_without_events_is_told(tmp_path: Path) -> None:
    text = "Integer n; algorithm n := 0; while n < N + time loop n := n + 1; end while;"
    m = model(tmp_path, text)
    m.analyse()
    assert [w.code for w in m.warnings] == ["B109"]
    assert "`n` changes at events only, but a loop of this algorithm compares `time` without events" in str(
        m.warnings[0]
    )
    in_a_when = (
        f"Integer n(start = 0, fixed = true); algorithm when time > 0.5 then {text.split('algorithm')[1]} end when;"
    )
    assert not model(tmp_path, in_a_when).warnings
