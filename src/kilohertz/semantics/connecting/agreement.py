"""What two connected connectors must agree in besides their variables (MLS 9.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kilohertz.base import Diagnostic, Note, Severity, Span
from kilohertz.semantics.connecting.ends import is_expandable
from kilohertz.semantics.instances import Comp, CompArray


def check_pair(a: Comp, b: Comp, value: Callable[[Comp], object], span: Span) -> Iterator[Diagnostic]:
    """S334: constants of two connectors differ.  S335: a variable has a direction on one side only."""
    for x in a.components():
        y = b.child(x.name) if b.has(x.name) else None
        if isinstance(x, CompArray) or isinstance(y, CompArray) or y is None:
            continue
        if not x.is_primitive and not y.is_primitive:
            yield from check_pair(x, y, value, span)
        elif x.variability == y.variability == "constant":
            yield from _constants(x, y, value, span)
        else:
            # a warning where one component alone is declared `input` or `output`: the connectors are the same
            same = x.span is not None and x.span == y.span
            yield from check_direction(x, y, span, Severity.WARNING if same else Severity.ERROR)


def check_direction(x: Comp, y: Comp, span: Span, severity: Severity) -> Iterator[Diagnostic]:
    """S335: a variable has a direction on one side only."""
    if bool(x.causality) != bool(y.causality) and not any(map(_takes_direction, (x, y))):
        text = f"`{x.path}` is {x.causality or 'neither input nor output'}, `{y.path}` "
        text += f"is {y.causality or 'neither input nor output'}"
        notes = (Note("the first one", x.span), Note("the second one", y.span))
        yield Diagnostic("S335", text, span, notes=notes, severity=severity)


def _constants(x: Comp, y: Comp, value: Callable[[Comp], object], span: Span) -> Iterator[Diagnostic]:
    known = value(x), value(y)
    if None not in known and known[0] != known[1]:
        text = f"the constants `{x.path}` and `{y.path}` differ: {known[0]} and {known[1]}"
        yield Diagnostic("S334", text, span)


def _takes_direction(comp: Comp) -> bool:
    """Of a protected connector or in a bus: the direction comes from the connection."""
    at: Comp | None = comp
    while at is not None and not at.protected and not is_expandable(at):
        at = at.parent
    return at is not None
