"""What is compared with what: from a TOML file (docs/reference/compare.md), or from two names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from kilohertz.base.units import UnitError, parse_unit
from kilohertz.compare import Bars, Pair, Rename, Wanted
from kilohertz.driver.comparing.sides import Side
from kilohertz.realtime.scenario import INTERPOLATIONS, read_formulas, read_model, read_stepping
from kilohertz.realtime.toml_table import Table, beside, open_table
from kilohertz.results import endings, is_result
from kilohertz.simulate import Inputs

_SECONDS = ("time", "shift", "events")  # of the fields of Bars


@dataclass(frozen=True, slots=True)
class Definition:
    """Both sides, what is compared and what has to be met; `name` heads the reports."""

    name: str
    result: Side
    reference: Side
    wanted: Wanted = field(default_factory=Wanted)
    libraries: Sequence[str] = ()


def definition_of_sides(result: Side, reference: Side, wanted: Wanted, libraries: Sequence[str] = ()) -> Definition:
    """What the command line says."""
    return Definition(f"{result.name} against {reference.name}", result, reference, wanted, libraries)


def read_definition(path: str | Path) -> Definition:
    """From a TOML file; all that is wrong with it in one ModelError."""
    top, file = open_table(path), Path(path)
    bars = Bars(**_bars(top))  # type: ignore[arg-type]  # the types that the fields have, see _bars
    wanted = Wanted(
        bars,
        tuple(_pair(t) for t in top.tables("pair")),
        tuple(_rename(t) for t in top.tables("rename")),
        top.texts("only"),
        top.texts("ignore"),
        tuple(_special(t) for t in top.tables("signal")),
    )
    libraries = tuple(str(beside(file, p)) for p in top.texts("library"))
    name = top.text("name", file.stem)
    out = Definition(name, _side(top, "result", file), _side(top, "reference", file), wanted, libraries)
    top.close()
    top.problems.stop_if_any()
    return out


def _bars(table: Table) -> Mapping[str, float | bool]:
    """The keys of `Bars` that stand in a table."""
    bars: dict[str, float | bool] = {}
    for f in fields(Bars):
        value: float | bool | None
        if f.name in _SECONDS:
            value = table.seconds(f.name, None)
        elif f.type == "bool":
            value = table.flag(f.name, False)
        else:
            value = table.real(f.name, 0.0)
            if value < 0:
                table.wrong(f.name, f"is {value:g}, but must not be negative")
        if table.has(f.name) and value is not None:
            bars[f.name] = value
    return bars


def _side(top: Table, key: str, file: Path) -> Side:
    if not top.has(key):
        top.problems.add("R743", f"`[{key}]` is missing: a file or a model", ())
    table = top.table(key)
    stepping = read_stepping(table)
    source = _source(table, file) if top.has(key) else ""
    out = Side(
        source,
        table.text("title"),
        table.quantities("set"),
        stepping,
        table.real("start", 0.0) if table.has("start") else None,
        table.seconds("stop", None),
        table.integer("intervals", 500, 1, 10_000_000) if table.has("intervals") else None,
        _inputs(table, file),
        table.real("offset", 0.0),
    )
    table.raw("start"), table.raw("intervals")
    if table.has("file"):
        for name in (*stepping.given, "set", "intervals", "input", "formula"):
            if table.has(name):
                table.wrong(name, "is for a model, and this side is a file")
    elif table.has("offset"):
        table.wrong("offset", "is for a file, and this side is a model: it starts when it is told to")
    table.close()
    return out


def _inputs(table: Table, file: Path) -> tuple[Inputs, ...]:
    """`input`: a result file; `formula`: inputs with their formulas."""
    way = table.choice("interpolation", INTERPOLATIONS, INTERPOLATIONS[0])
    driving = [Inputs(beside(file, table.text("input")), way)] if table.has("input") else []
    table.raw("input")
    if table.has("formula"):
        driving.append(Inputs(dict(read_formulas(table))))
    table.raw("formula")
    return tuple(driving)


def _source(table: Table, file: Path) -> str:
    if not table.has("file"):
        return read_model(table)
    name = table.needed_text("file")
    if table.has("model"):
        table.wrong("model", "stands beside `file`: a side is one of them")
    table.raw("model")
    if name and not is_result(name):
        table.wrong("file", f"is `{name}`, but must end with {endings()}")
    return str(beside(file, name))


def _pair(table: Table) -> Pair:
    result, reference = table.needed_text("result"), table.needed_text("reference")
    out = Pair(table.text("name", reference), result, reference, _sign(table), *_units(table))
    table.close()
    return out


def _rename(table: Table) -> Rename:
    result, reference = table.needed_text("result"), table.needed_text("reference")
    if result.count("*") != reference.count("*"):
        table.wrong("reference", f"is `{reference}`, but must have as many `*` as `{result}`")
    out = Rename(result, reference, _sign(table), *_units(table))
    table.close()
    return out


def _sign(table: Table) -> int:
    sign = table.raw("sign")
    if sign is None or sign in (1, -1):
        return int(sign or 1)
    table.wrong("sign", f"is {sign!r}, but must be 1 or -1")
    return 1


def _units(table: Table) -> tuple[str, str]:
    units = table.text("result_unit"), table.text("reference_unit")
    for key, unit in zip(("result_unit", "reference_unit"), units, strict=True):
        try:
            parse_unit(unit)
        except UnitError as error:
            table.wrong(key, f"will not do: {error}")
    return units


def _special(table: Table) -> tuple[str, Mapping[str, float | bool]]:
    out = table.needed_text("name"), _bars(table)
    table.close()
    return out
