"""`Kilohertz.RealTime` in a model: settings of a real-time run that the model brings along.

The parameters of the block are structural, so that flattening has worked out their values; they are found by the file
they are declared in.  Codes: R750 two such blocks, R751 a value that is not known before the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, Dotted, ModelError
from kilohertz.driver.locate import BUNDLED
from kilohertz.ir.expr import Array, Bool, Int, Real, Str
from kilohertz.solvers import SETTINGS

if TYPE_CHECKING:
    from kilohertz.ir.flat import Flat, Variable
    from kilohertz.realtime import Scenario

BLOCK = str(BUNDLED / "Kilohertz" / "RealTime.mo")
Value = float | int | str | bool | list[str]

# parameters of the block that are keys of [realtime] in a scenario.toml; all others stand at its top
_REALTIME = ("priority", "cpu", "overrun", "grace")


@dataclass(frozen=True, slots=True)
class Block:
    """A RealTime block: where it stands in the model, and its parameters."""

    path: str
    values: Mapping[str, Value]


def real_time_block(flat: Flat) -> Block | None:
    """The RealTime block of a model; None where it has none."""
    blocks: dict[str, dict[str, Value]] = {}
    for v in flat.variables.values():
        if v.origin.spans and v.origin.spans[0].file == BLOCK:
            name = Dotted.read(v.name)
            blocks.setdefault(str(name.owner), {})[name.last] = _value(v)
    if len(blocks) > 1:
        raise ModelError(Diagnostic("R750", f"a model may have one RealTime block, not {' and '.join(blocks)}"))
    return next((Block(path, values) for path, values in blocks.items()), None)


def _value(v: Variable) -> Value:
    match v.binding:
        case Real(value) | Int(value) | Str(value) | Bool(value):
            return value
        case Array(elements) if all(isinstance(e, Str) for e in elements):
            return [e.value for e in elements if isinstance(e, Str)]
    raise ModelError(Diagnostic("R751", f"`{v.name}` sets the real-time run, but its value is not constant"))


def block_scenario(model: str, block: Block, name: str, libraries: tuple[str, ...]) -> Scenario:
    """The scenario that a model's own block asks for, with all the checks that a scenario file gets."""
    from kilohertz.realtime import scenario_of_settings

    settings: dict[str, object] = {"model": model, "name": name, "library": list(libraries)}
    realtime: dict[str, object] = {}
    for name, value in block.values.items():
        setting = SETTINGS.get(name)
        if setting is None or setting.understood(value) != setting.default:  # at its default it asks for nothing
            (realtime if name in _REALTIME else settings)[name] = value
    if not settings["duration"]:
        del settings["duration"]
    if not settings["time_scale"]:
        settings["time_scale"] = "max"
    try:
        return scenario_of_settings({**settings, "realtime": realtime})
    except ModelError as error:
        in_block = (Diagnostic(d.code, f"RealTime block `{block.path}`: {d.message}") for d in error.diagnostics)
        raise ModelError(*in_block) from None
