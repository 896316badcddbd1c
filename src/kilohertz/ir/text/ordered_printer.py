"""Ordered as text: the equations of each system in order, with what each is matched with; once torn, its blocks.

ordered Name
  local Real $g1;                                what blocks compute and the Dae does not declare
once
  1 once: q := 2.0*p;
initial
  1 x from x = 1.0;                              x is solved for from its equation
  2 loop:                                        a component of several rows
      a from a + b = 3.0;
      b from call (a), (b) := f(u) as b after 4 invertible;
  end;
simulation torn
  1 step: y := x;
  check step: ...                                an equation that is not needed and has to hold
value p = 2.0;
end Name;

`print_ordered` puts the Dae before it, and all that `ordered_reader` needs; `print_systems` is for people.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kilohertz.ir.dae import CallEquation, der_name, pre_name
from kilohertz.ir.expr import Ref
from kilohertz.ir.ordered import Component, Ordered, Row, System, systems
from kilohertz.ir.step import Block, MixedLoop, NonlinearLoop, targets
from kilohertz.ir.text.dae_printer import equation_text, print_dae
from kilohertz.ir.text.expr_printer import print_type, quoted
from kilohertz.ir.text.flat_printer import print_declarations
from kilohertz.ir.text.step_printer import print_block


def print_ordered(ordered: Ordered) -> str:
    """The whole form: the Dae, then the systems with functions, values and variables of their own."""
    functions = {n: f for n, f in ordered.functions.items() if n not in ordered.dae.functions}
    declared = print_declarations(functions, (), ())
    declared += [f"  local {print_type(r.ty)} {r.name};" for r in _locals(ordered)]
    values = [f"value {name} = {value!r};" for name, value in ordered.values.items()]
    return print_dae(ordered.dae) + _text(ordered, declared, values)


def print_systems(ordered: Ordered) -> str:
    """The systems alone."""
    return _text(ordered, (), ())


def _text(ordered: Ordered, declared: Iterable[str], values: Iterable[str]) -> str:
    lines = [f"ordered {ordered.dae.name}", *declared]
    if ordered.once:
        lines += ["once", *(line for i, b in enumerate(ordered.once, 1) for line in print_block(b, str(i), "  "))]
    for title, system in systems(ordered):
        if system is not None:
            lines += [title if system.blocks is None else f"{title} torn", *_system(system)]
    lines += [*values, *(f"note {quoted(n)};" for n in ordered.notes)]
    return "\n".join([*lines, f"end {ordered.dae.name};"]) + "\n"


def _blocks(ordered: Ordered) -> Iterator[Block]:
    yield from ordered.once
    for _, system in systems(ordered):
        if system is not None:
            yield from (*(system.blocks or ()), *system.checks)


def _locals(ordered: Ordered) -> list[Ref]:
    """What the blocks compute and the Dae knows nothing of."""
    known = set(ordered.dae.variables)
    known |= {derived_name(name) for name in ordered.dae.variables for derived_name in (der_name, pre_name)}
    computed = {r.name: r for b in _blocks(ordered) for r in _computed(b)}
    return [r for name, r in computed.items() if name not in known]


def _computed(block: Block) -> Iterator[Ref]:
    """What a block sets, and the rates of change inside its loops."""
    yield from targets(block)
    match block:
        case NonlinearLoop():
            yield from (r for b in (*block.inner, *block.rates) for r in _computed(b))
        case MixedLoop():
            yield from (r for b in (*block.continuous, *block.discrete) for r in _computed(b))


def _system(system: System) -> list[str]:
    lines: list[str] = []
    for i, c in enumerate(system.components, 1):
        lines += _component(c, i)
    for i, b in enumerate(system.blocks or (), 1):
        lines += print_block(b, str(i), "  ")
    return lines + [line for b in system.checks for line in print_block(b, "check", "  ")]


def _component(c: Component, number: int) -> list[str]:
    """`4 x from x + y = 3.0;`, or the equations of a loop one below the other."""
    rows = [f"{u.name} from {_row(r)};" for u, r in zip(c.unknowns, c.rows, strict=True)]
    if len(rows) == 1:
        return [f"  {number} {rows[0]}"]
    return [f"  {number} loop:", *(f"      {text}" for text in rows), "  end;"]


def _row(row: Row) -> str:
    """The equation; of a call also which of its results this row stands for."""
    text = equation_text(row.equation)
    text += f" as {row.target}" if isinstance(row.equation, CallEquation) else ""
    text += f" after {row.head}" if row.head is not None else ""
    text += " invertible" if row.invertible else ""
    return text + (f" lead {row.lead}" if row.lead is not None else "")
