"""A verdict as text, JSON and JUnit XML."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import numpy as np

from kilohertz.compare import Verdict, compare
from kilohertz.compare.reports import as_json, as_junit, as_text
from kilohertz.results import Result

T = np.linspace(0, 10, 101)


def verdict() -> Verdict:
    columns = {"good": T, "bad": np.sin(T) + 0.1 * (T > 4), "extra": T}
    result = Result.of_columns("M", T, columns, {"k": 2.02})
    reference = Result.of_columns("M", T, {"good": T, "bad": np.sin(T), "e": 0 * T, "f": T, "g": T}, {"k": 2.0})
    return compare(result, reference)


def test_text_has_the_worst_first_and_a_line_for_what_one_side_has() -> None:
    lines = as_text(verdict(), ["`bad` parts first"]).splitlines()
    assert lines[1].startswith("bad     FAIL")
    assert "outside the tube from t = 4.1" in lines[1]
    assert lines[2].startswith("good    pass")
    assert lines[3:] == [
        "only in the result: extra",
        "only in the reference: e, f, g",
        "parameters that differ: k (2.02, 2)",
        "why: `bad` parts first",
        "FAIL: 1 of 2 signals pass",
    ]


def test_json_has_every_number() -> None:
    data = json.loads(as_json(verdict(), ["because"]))
    assert (data["ok"], list(data["signals"]), data["why"]) == (False, ["bad", "good"], ["because"])
    assert data["signals"]["bad"]["first_outside"] == T[41]
    assert data["only_reference"] == ["e", "f", "g"]
    assert data["parameters"] == {"k": {"result": 2.02, "reference": 2.0}}


def test_junit_counts_cases_and_failures() -> None:
    suite = ElementTree.fromstring(as_junit(verdict(), "M <1>", ["because"]))
    assert (suite.get("tests"), suite.get("failures"), suite.get("name")) == ("3", "1", "M <1>")
    assert [c.get("name") for c in suite.iter("testcase")] == ["covers the reference", "bad", "good"]
    assert [f.get("message") for f in suite.iter("failure")] == ["outside the tube"]
    assert "because" in (suite.findtext("system-out") or "")


def test_what_could_not_be_measured_has_no_numbers_and_comes_first() -> None:
    t = np.linspace(0, 1, 11)
    bad = t.copy()
    bad[3] = np.nan
    mine = Result.of_columns("a", t, {"x": bad, "y": t + 1})
    verdict = compare(mine, Result.of_columns("b", t, {"x": t, "y": t}))
    text, data = as_text(verdict).splitlines(), json.loads(as_json(verdict))["signals"]
    assert [s.name for s in verdict.worst_first] == ["x", "y"]
    assert "e+00" not in text[1] and text[1].index("not a finite") == text[0].index("reason")
    assert data["x"]["rms"] is None and data["y"]["rms"] > 0
