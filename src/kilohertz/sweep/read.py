"""A series from its TOML file (docs/reference/series.md); all that is wrong with it in one ModelError."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kilohertz.base import ModelError
from kilohertz.realtime.scenario import INTERPOLATIONS, read_formulas, read_model, read_stepping
from kilohertz.realtime.toml_table import Table, beside, open_table
from kilohertz.sweep.cases import MOST_CASES
from kilohertz.sweep.series_definition import (
    COSTS,
    DRAWN,
    KEPT,
    MODEL,
    OF_ERROR,
    OF_SIGNAL,
    SIDES,
    WAYS,
    Axis,
    Cases,
    Measure,
    Range,
    Series,
    Side,
    axis_of,
)

_SCALES = ("linear", "log")
_RANGE = {"from", "to", "count", "scale"}


def read_series(path: str | Path) -> Series:
    """Paths in it are relative to the file."""
    top, file = open_table(path), Path(path)
    cases, model = _cases(top, file), _side(top, "model", file)
    variant = _side(top, "variant", file) if top.has("variant") else None
    top.raw("variant")
    settings = {
        "measures": tuple(_measure(t, variant is not None) for t in top.tables("measure")),
        "record": top.texts("record"),
        "keep": top.choice("keep", KEPT, KEPT[0]),
        "timeout": top.seconds("timeout", None, positive=True),
        "libraries": tuple(str(beside(file, p)) for p in top.texts("library")),
    }
    name = top.text("name", file.stem)
    top.close()
    top.problems.stop_if_any()
    try:
        return Series(name, cases, model, variant, **settings, file=str(file), text=top.problems.text)  # type: ignore[arg-type]
    except ModelError as error:
        for d in error.diagnostics:
            top.problems.add(d.code, d.message, ("measure", 0))
        top.problems.stop_if_any()
        raise


def _cases(top: Table, file: Path) -> Cases:
    table = top.table("cases")
    way = table.choice("way", WAYS, WAYS[0])
    listed = top.table("parameters").data
    axes = {name: axis for name, value in _named(listed).items() if (axis := _axis(top, name, value)) is not None}
    if table.has("file") and not table.has("way"):
        way = "file"
    named = table.text("file")
    if way == "file" and not named:
        table.problems.add(
            "R743", "`file` is missing in [cases]: a CSV file with a column for each parameter", ("cases",)
        )
    if named and way != "file":
        table.wrong("file", f"is for the way `file`, not for `{way}`")
    out = Cases(
        axes,
        way,
        table.integer("count", 0, 1, MOST_CASES),
        table.integer("seed", 1),
        table.flag("corners", False),
        str(beside(file, named)) if named else "",
    )
    for key in ("count", "corners"):
        if table.has(key) and way not in DRAWN:
            table.wrong(key, f"is for cases that are drawn ({', '.join(DRAWN)}), not for `{way}`")
    if way in DRAWN and not table.has("count"):
        table.problems.add("R743", f"`count` is missing in [cases]: how many are drawn by `{way}`", ("cases",))
    table.close()
    return out


def _named(data: Mapping[str, Any], head: str = "") -> dict[str, Any]:
    """Values by the full name of a parameter: dotted keys are tables in TOML, and so are ranges."""
    out: dict[str, Any] = {}
    for key, value in data.items():
        is_group = isinstance(value, dict) and not _RANGE & value.keys()
        out |= _named(value, f"{head}{key}.") if is_group else {head + key: value}
    return out


def _axis(top: Table, name: str, value: Any) -> Axis | None:
    """A list of values, or a range."""
    if isinstance(value, dict):
        return _range(Table(top.problems, ("parameters", name), value))
    try:
        return axis_of(name, value)
    except ModelError as error:
        top.problems.add("R742", error.diagnostics[0].message, ("parameters", name))
        return None


def _range(table: Table) -> Range | None:
    for key in ("from", "to"):
        if not table.has(key):
            table.problems.add("R743", f"`{key}` is missing: a range goes from a value to another", table.path)
    low, high = table.real("from", 0.0), table.real("to", 0.0)
    count = table.integer("count", 0, 1, MOST_CASES)
    log = table.choice("scale", _SCALES, _SCALES[0]) == _SCALES[1]
    table.close()
    if log and not (low > 0 and high > 0):
        table.wrong("scale", "is log, which needs a range above zero")
        return None
    return Range(low, high, count, log)


def _side(top: Table, key: str, file: Path) -> Side:
    if isinstance(top.data.get(key), str):  # model = "Servo.mo": nothing else to say about it
        return Side(read_model(top))
    if not top.has(key):
        top.problems.add("R743", f"`[{key}]` is missing: what is simulated", ())
        top.raw(key)
        return Side("")
    table = top.table(key)
    out = Side(
        read_model(table),
        table.quantities("set"),
        read_stepping(table),
        table.real("start", 0.0) if table.has("start") else None,
        table.seconds("stop", None),
        table.integer("intervals", 500, 1, MOST_CASES) if table.has("intervals") else None,
        str(beside(file, table.text("input"))) if table.has("input") else "",
        table.choice("interpolation", INTERPOLATIONS, INTERPOLATIONS[0]),
        _renames(table) if key != MODEL else {},
        read_formulas(table) if table.has("formula") else {},
    )
    for name in ("start", "intervals", "input", "formula"):
        table.raw(name)
    table.close()
    return out


def _renames(table: Table) -> dict[str, str]:
    names = table.flattened("rename")
    if names is None or (isinstance(names, dict) and all(isinstance(v, str) for v in names.values())):
        return dict(names or {})
    table.wrong("rename", 'must be a table of parameter = "its name here"')
    return {}


def _measure(table: Table, has_variant: bool) -> Measure:
    of = table.choice("of", SIDES if has_variant else SIDES[:1], MODEL)
    takes = OF_ERROR if of == SIDES[-1] else OF_SIGNAL
    cost = table.choice("cost", COSTS, COSTS[0]) if table.has("cost") else ""
    table.raw("cost")
    values = {
        "signal": table.text("signal"),
        "take": table.choice("take", takes, takes[0]),
        "of": of,
        "cost": cost,
        "name": table.text("name"),
        "above": table.real("above", 0.0) if table.has("above") else None,
        "below": table.real("below", 0.0) if table.has("below") else None,
        "variant_signal": table.text("variant_signal"),
        "path": table.path,
    }
    for key in ("above", "below"):
        table.raw(key)
    table.close()
    try:
        return Measure(**values)  # type: ignore[arg-type]
    except ModelError as error:
        table.problems.add("R742", error.diagnostics[0].message, table.path)
        return Measure(signal="time")  # never run: the file is refused
