"""`Kilohertz.RealTime` and `Kilohertz.Device` in a model: the real-time run that the model brings along.

The parameters of the blocks are structural, so that flattening has worked out their values; they are found by the file
they are declared in.  Codes: R750 two RealTime blocks, R751 a value that is not known before the run, R742 a text of a
Device block that is not `key=value`; what else is wrong is found as in a scenario file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, Dotted, ModelError
from kilohertz.driver.locate import BUNDLED, fmu_of
from kilohertz.ir.expr import Array, Bool, Int, Real, Str
from kilohertz.solvers import SETTINGS

if TYPE_CHECKING:
    from kilohertz.driver.api import Session
    from kilohertz.ir.flat import Flat, Variable
    from kilohertz.realtime import Scenario

BLOCK = str(BUNDLED / "Kilohertz" / "RealTime.mo")
DEVICE = str(BUNDLED / "Kilohertz" / "Device.mo")
Value = float | int | str | bool | list[str]

# parameters of the block that are keys of [realtime] in a scenario.toml; all others stand at its top
_WAYS = ("receive", "send")
_REALTIME = ("priority", "cpu", "overrun", "grace")


@dataclass(frozen=True, slots=True)
class Block:
    """A RealTime block: where it stands in the model, and its parameters."""

    path: str
    values: Mapping[str, Value]


def real_time_block(flat: Flat) -> Block | None:
    """The RealTime block of a model; None where it has none."""
    blocks = _blocks(flat, BLOCK)
    if len(blocks) > 1:
        where = " and ".join(b.path for b in blocks)
        raise ModelError(Diagnostic("R750", f"a model may have one RealTime block, not {where}"))
    return blocks[0] if blocks else None


def device_blocks(flat: Flat) -> tuple[Block, ...]:
    """The Device blocks of a model, one for each device."""
    return _blocks(flat, DEVICE)


def _blocks(flat: Flat, file: str) -> tuple[Block, ...]:
    blocks: dict[str, dict[str, Value]] = {}
    for v in flat.variables.values():
        if v.origin.spans and v.origin.spans[0].file == file:
            name = Dotted.read(v.name)
            blocks.setdefault(str(name.owner), {})[name.last] = _value(v)
    return tuple(Block(path, values) for path, values in blocks.items())


def _value(v: Variable) -> Value:
    match v.binding:
        case Real(value) | Int(value) | Str(value) | Bool(value):
            return value
        case Array(elements) if all(isinstance(e, Str) for e in elements):
            return [e.value for e in elements if isinstance(e, Str)]
    raise ModelError(Diagnostic("R751", f"`{v.name}` sets the real-time run, but its value is not constant"))


def block_scenario(
    model: str, block: Block | None, devices: tuple[Block, ...], name: str, libraries: tuple[str, ...]
) -> Scenario:
    """The scenario that a model's own blocks ask for, with all the checks that a scenario file gets."""
    from kilohertz.realtime import scenario_of_settings

    run, tables = _asked(model, block, devices)
    settings: dict[str, object] = {"model": model, "name": name, "library": list(libraries)}
    return scenario_of_settings({**settings, **run, "device": tables})


def brought(session: Session, models: Sequence[tuple[str, str]]) -> dict[str, object]:
    """What the models (task and model) of a scenario file say by their own blocks, as tables of such a file.

    A scenario with one model has all of it.  With tasks, a device and its signals are called `task.name`, and of a
    RealTime block the settings of the step are its task's; the rest of it is that of the scenario, not of one model.
    """
    tables: dict[str, object] = {}
    tasks: list[dict[str, object]] = []
    listed: list[dict[str, object]] = []
    for task, model in models:
        if fmu_of(model) is not None:
            continue
        flat = session.kept(model).flatten()
        run, devices = _asked(model, real_time_block(flat), device_blocks(flat))
        if not task:
            tables |= run
        elif run:
            tasks.append({"name": task, **{k: v for k, v in run.items() if k in SETTINGS}})
        listed += [_of_task(d, task) for d in devices] if len(models) > 1 else devices
    return tables | ({"task": tasks} if tasks else {}) | ({"device": listed} if listed else {})


def _of_task(device: dict[str, object], task: str) -> dict[str, object]:
    """A device of a model that is one of several tasks."""
    own = {way: [{**s, "signal": f"{task}.{s['signal']}"} for s in _signals(device[way])] for way in _WAYS}
    return {**device, "name": f"{task}.{device['name']}", **own}


def _signals(value: object) -> list[dict[str, object]]:
    return [s for s in value if isinstance(s, dict)] if isinstance(value, list) else []


def _asked(
    model: str, block: Block | None, devices: tuple[Block, ...]
) -> tuple[dict[str, object], list[dict[str, object]]]:
    """Settings of the run and tables of the devices; what is wrong is said with the name of its block."""
    run = _run_settings(block) if block is not None else {}
    if block is not None:
        _check({"model": model, "name": "run", **run}, f"RealTime block `{block.path}`")
    tables = [_device_table(d) for d in devices]
    for device, table in zip(devices, tables, strict=True):
        _check({"model": model, "name": "run", "device": [table]}, f"Device block `{device.path}`")
    return run, tables


def _check(settings: dict[str, object], where: str) -> None:
    """What is wrong with the settings of one block, said with its name."""
    from kilohertz.realtime import scenario_of_settings

    try:
        scenario_of_settings(settings)
    except ModelError as error:
        raise ModelError(*(Diagnostic(d.code, f"{where}: {d.message}") for d in error.diagnostics)) from None


def _run_settings(block: Block) -> dict[str, object]:
    settings: dict[str, object] = {}
    realtime: dict[str, object] = {}
    for name, value in block.values.items():
        setting = SETTINGS.get(name)
        if setting is None or setting.understood(value) != setting.default:  # at its default it asks for nothing
            (realtime if name in _REALTIME else settings)[name] = value
    if not settings["duration"]:
        del settings["duration"]
    if not settings["time_scale"]:
        settings["time_scale"] = "max"
    return {**settings, "realtime": realtime}


def _device_table(block: Block) -> dict[str, object]:
    """A Device block as a `[[device]]` of a scenario, called like the block."""
    given = block.values
    table: dict[str, object] = {"name": block.path, "driver": given["driver"]}
    table |= _pairs(block, _texts(given["settings"]))
    for way in _WAYS:
        signals = []
        for text in _texts(given[way]):
            signal, *rest = text.split()
            signals.append({"signal": signal, **_pairs(block, rest)})
        table[way] = signals
    return table


def _texts(value: Value) -> list[str]:
    return [text for text in value if text.strip()] if isinstance(value, list) else []


def _pairs(block: Block, texts: list[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for text in texts:
        key, separator, value = text.partition("=")
        if not separator:
            raise ModelError(Diagnostic("R742", f"Device block `{block.path}`: `{text}` is not of the form key=value"))
        found[key.strip()] = value.strip() if key.strip() == "address" else _scalar(value.strip())
    return found


def _scalar(text: str) -> object:
    """A value as a scenario file would have it: true and false, numbers, else a text."""
    if text in ("true", "false"):
        return text == "true"
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
