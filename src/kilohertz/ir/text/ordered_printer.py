"""Ordered as text: the equations of each system in order, with what each is matched with; once torn, its blocks."""

from __future__ import annotations

from kilohertz.ir.ordered import Component, Ordered, System
from kilohertz.ir.text.dae_printer import equation_text
from kilohertz.ir.text.expr_printer import quoted
from kilohertz.ir.text.step_printer import print_block


def print_ordered(ordered: Ordered) -> str:
    """The systems, without the Dae they come from."""
    lines = [f"ordered {ordered.dae.name}"]
    if ordered.once:
        lines += ["once", *(line for i, b in enumerate(ordered.once, 1) for line in print_block(b, str(i), "  "))]
    for title, system in (("initial", ordered.initial), ("simulation", ordered.simulation)):
        if system is not None:
            lines += [title, *_system(system)]
    lines += [f"note {quoted(n)};" for n in ordered.notes]
    return "\n".join([*lines, f"end {ordered.dae.name};"]) + "\n"


def _system(system: System) -> list[str]:
    lines: list[str] = []
    for i, c in enumerate(system.components, 1):
        lines += _component(c, i)
    n = len(system.components)
    for i, b in enumerate((*(system.blocks or ()), *system.checks), n + 1):
        lines += print_block(b, str(i), "  ")
    return lines


def _component(c: Component, number: int) -> list[str]:
    """`4 x from x + y = 3.0;`, or the equations of a loop one below the other."""
    rows = [f"{u.name} from {equation_text(r.equation)};" for u, r in zip(c.unknowns, c.rows, strict=True)]
    if len(rows) == 1:
        return [f"  {number} {rows[0]}"]
    return [f"  {number} loop:", *(f"      {text}" for text in rows), "  end;"]
