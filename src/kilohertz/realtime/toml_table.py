"""Reading a TOML table with checks: every wrong key or value becomes a diagnostic with its line; all are collected."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kilohertz.base import EXAMPLES, Diagnostic, ModelError, Span, near, seconds
from kilohertz.realtime.toml_lines import find_key


@dataclass(slots=True)
class Problems:
    """A scenario's text and what is wrong with it so far."""

    file: str
    text: str
    diagnostics: list[Diagnostic] = field(default_factory=list)

    def add(self, code: str, message: str, path: Sequence[str | int]) -> None:
        """Something is wrong with the key at `path`."""
        self.diagnostics.append(Diagnostic(code, message, find_key(self.file, self.text, path)))

    def stop_if_any(self) -> None:
        if self.diagnostics:
            raise ModelError(*self.diagnostics)


def not_toml(file: str, text: str, error: tomllib.TOMLDecodeError) -> Diagnostic:
    """What is wrong with a file that is no TOML, with its place."""
    message = str(error)
    place = re.search(r"\(at line (\d+), column (\d+)\)", message)
    span = None
    if place:
        starts = [0]
        for line in text.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        at = starts[min(int(place[1]), len(starts)) - 1] + int(place[2]) - 1
        span = Span(file, at, at + 1)
        message = message[: place.start()].strip()
    return Diagnostic("R740", f"not a TOML file: {message}", span)


def open_table(path: str | Path) -> Table:
    """The top table of a TOML file; R701 or R740 where it is none."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ModelError(Diagnostic("R701", f"cannot read `{path}`: {why}")) from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelError(not_toml(str(path), text, error)) from None
    return Table(Problems(str(path), text), (), data)


def completed(table: Mapping[str, Any], brought: Mapping[str, Any]) -> dict[str, Any]:
    """A table with what it does not say itself: tables key by key, lists of tables by their `name`, new ones last."""
    whole = dict(table)
    for key, value in brought.items():
        own = whole.get(key)
        if isinstance(own, Mapping) and isinstance(value, Mapping):
            whole[key] = completed(own, value)
        elif isinstance(own, list) and isinstance(value, list):
            whole[key] = _by_name(own, value)
        elif key not in whole:
            whole[key] = value
    return whole


def _by_name(own: list[Any], brought: list[Any]) -> list[Any]:
    named = {b["name"]: b for b in brought if isinstance(b, Mapping) and "name" in b}
    tables = [completed(t, named.pop(t["name"], {})) if isinstance(t, Mapping) and "name" in t else t for t in own]
    return [*tables, *named.values()]


class Table:
    """One table.  What was asked for is known; `close` complains about the rest."""

    def __init__(self, problems: Problems, path: tuple[str | int, ...], data: Mapping[str, Any]) -> None:
        self.problems, self.path, self.data = problems, path, data
        self._known: list[str] = []

    def wrong(self, key: str, what: str, code: str = "R742") -> None:
        """`key` does not hold what it should."""
        self.problems.add(code, f"`{key}` {what}", (*self.path, key))

    def has(self, key: str) -> bool:
        return key in self.data

    def raw(self, key: str) -> Any:
        self._known.append(key)
        return self.data.get(key)

    def text(self, key: str, fallback: str = "") -> str:
        value = self.raw(key)
        if value is None:
            return fallback
        if not isinstance(value, str):
            self.wrong(key, f"is {_shown(value)}, but must be a text in quotes")
            return fallback
        return value

    def needed_text(self, key: str) -> str:
        if key not in self.data:
            self._known.append(key)
            where = f" in [{'.'.join(str(p) for p in self.path if isinstance(p, str))}]" if self.path else ""
            self.problems.add("R743", f"`{key}` is missing{where}", self.path)
            return ""
        return self.text(key)

    def choice(self, key: str, choices: Sequence[str], fallback: str) -> str:
        value = self.text(key, fallback)
        if value in choices:
            return value
        self.wrong(key, f"is `{value}`, but must be one of {', '.join(choices)}{near(value, choices)}")
        return fallback

    def flag(self, key: str, fallback: bool) -> bool:
        value = self.raw(key)
        if value is None or isinstance(value, bool):
            return fallback if value is None else value
        self.wrong(key, f"is {_shown(value)}, but must be true or false")
        return fallback

    def integer(self, key: str, fallback: int, low: int = 0, high: int = 2**40) -> int:
        value = self.raw(key)
        if value is None:
            return fallback
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.wrong(key, f"is {_shown(value)}, but must be an integer from {low} to {high}")
            return fallback
        return value

    def real(self, key: str, fallback: float) -> float:
        value = self.raw(key)
        if value is None:
            return fallback
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            self.wrong(key, f"is {_shown(value)}, but must be a number")
            return fallback
        return float(value)

    def seconds(self, key: str, fallback: float | None, positive: bool = False) -> float | None:
        value = self.raw(key)
        if value is None:
            return fallback
        try:
            duration = seconds(value)
        except ValueError:
            duration = float("nan")
        if not (duration > 0 if positive else duration >= 0) or duration == float("inf"):
            kind = "a time above zero" if positive else "a time"
            self.wrong(key, f"is {_shown(value)}, but must be {kind} such as {EXAMPLES}")
            return fallback
        return duration

    def texts(self, key: str, fallback: Sequence[str] = ()) -> tuple[str, ...]:
        value = self.raw(key)
        if value is None:
            return tuple(fallback)
        if isinstance(value, str):
            return (value,)
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            self.wrong(key, "must be a text or a list of texts")
            return tuple(fallback)
        return tuple(value)

    def flattened(self, key: str) -> Any:
        """A table whose dotted keys are one name; what is none stays as it is."""
        value = self.raw(key)
        return _flattened(value) if isinstance(value, dict) else value

    def quantities(self, key: str) -> dict[str, float | str]:
        """A table of numbers (true and false are 1 and 0), texts such as `5 kg`, and arrays, which become what they
        are in Modelica, texts; dotted keys are one name."""
        value = self.raw(key)
        if value is None:
            return {}
        if not isinstance(value, dict):
            self.wrong(key, "must be a table of name = number")
            return {}
        out: dict[str, float | str] = {}
        for name, given in _flattened(value).items():
            if isinstance(given, str):
                out[name] = given  # the model's variable says what it means
            elif isinstance(given, (bool, int, float)):
                out[name] = float(given)
            elif isinstance(given, list) and given:
                out[name] = _braced(given)
            else:
                self.problems.add("R742", f"`{name}` is {given!r}, but must be a number", (*self.path, key, name))
        return out

    def table(self, key: str) -> Table:
        value = self.raw(key)
        if value is not None and not isinstance(value, dict):
            self.wrong(key, f"must be a table: [{key}]")
        return Table(self.problems, (*self.path, key), value if isinstance(value, dict) else {})

    def tables(self, key: str) -> list[Table]:
        value = self.raw(key)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
            name = ".".join((*(p for p in self.path if isinstance(p, str)), key))
            inline = f", or {key} = [{{ ... }}]" if self.path else ""
            self.wrong(key, f"must be a list of tables: [[{name}]]{inline}")
            return []
        return [Table(self.problems, (*self.path, key, i), v) for i, v in enumerate(value)]

    def rest(self) -> dict[str, Any]:
        """What was not asked for, and is now."""
        out = {k: v for k, v in self.data.items() if k not in self._known}
        self._known += out
        return out

    def close(self) -> None:
        """Every key that nobody asked for is one too many."""
        for key in self.data:
            if key not in self._known:
                message = f"there is no setting `{key}` here{near(key, self._known)}"
                self.problems.add("R741", message, (*self.path, key))


def _shown(value: object) -> str:
    """A value as its file has it; of tables what they are."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, list) and any(isinstance(v, dict) for v in value):
        return "a list of tables"
    return repr(value)


def _flattened(data: Mapping[str, Any], head: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in data.items():
        out |= _flattened(value, f"{head}{key}.") if isinstance(value, dict) else {head + key: value}
    return out


def beside(file: Path, name: str) -> Path:
    """A path of the scenario is relative to the scenario's own folder."""
    return Path(name) if Path(name).is_absolute() else file.parent / name


def _braced(values: list[Any]) -> str:
    """`{1, {2, 3}}`; a text in it stays one."""
    return "{" + ", ".join(_braced(v) if isinstance(v, list) else _element(v) for v in values) + "}"


def _element(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return str(value).lower() if isinstance(value, bool) else str(value)
