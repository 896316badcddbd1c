"""Random scalar expressions, written in Modelica and in Python at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from randomly.parts import Maker

Two = tuple[str, str]  # Modelica, Python


@dataclass(slots=True)
class Atoms:
    """What expressions may be made of; `events`: relations may make events (not in functions)."""

    reals: list[Two]
    integers: list[Two]
    booleans: list[Two]
    plain: bool = False  # no operators on events: noEvent, smooth, homotopy


def signals(m: Maker) -> Atoms:
    def same(names: list[str]) -> list[Two]:
        return [(n, n) for n in names]

    return Atoms(same(m.reals), same(m.integers), same(m.booleans))


def real(m: Maker, a: Atoms, depth: int = 3) -> Two:
    """Of moderate size, without poles."""
    if depth <= 0 or m.chance(0.1):
        if a.reals and m.chance(0.85):
            return m.pick(*a.reals)
        n = m.number()
        return (f"({n})", f"({n})") if n.startswith("-") else (n, n)
    way: Callable[[Maker, Atoms, int], Two] = m.pick(*REAL)
    return way(m, a, depth)


def _binary(m: Maker, a: Atoms, d: int) -> Two:
    x, y = real(m, a, d - 1), real(m, a, d - 1)
    op = m.pick("+", "-", "*")
    return f"({x[0]} {op} {y[0]})", f"({x[1]} {op} {y[1]})"


def _loose_binary(m: Maker, a: Atoms, d: int) -> Two:
    """By precedence instead of parentheses; - in front is of the whole term."""
    x, y, z = (real(m, a, d - 1) for _ in range(3))
    o, p = m.pick("+", "-"), m.pick("*", "+", "-")
    return f"(-{x[0]}*{y[0]} {o} {z[0]} {p} {x[0]})", f"(-({x[1]}*{y[1]}) {o} {z[1]} {p} {x[1]})"


def _quotient(m: Maker, a: Atoms, d: int) -> Two:
    x, y = real(m, a, d - 1), real(m, a, d - 1)
    return f"({x[0]}/(1.5 + ({y[0]})^2))", f"({x[1]}/(1.5 + {y[1]}**2))"


def _power(m: Maker, a: Atoms, d: int) -> Two:
    x, n = real(m, a, d - 1), m.pick(2, 3)
    if m.chance(0.3):
        e = m.pick("0.5", "1.5", "(-0.5)")
        return f"((1 + ({x[0]})^2)^{e}*0.3)", f"((1 + ({x[1]})**2)**{e}*0.3)"
    return f"(0.4*({x[0]})^{n})", f"(0.4*({x[1]})**{n})"


def _call(m: Maker, a: Atoms, d: int) -> Two:
    x, y = real(m, a, d - 1), real(m, a, d - 1)
    if m.functions and not a.plain and m.chance(0.3):
        f = m.pick(*m.functions)
        return f"{f}({x[0]}, {y[0]})", f"{f}({x[1]}, {y[1]})"
    f = m.pick("sin", "cos", "atan", "tanh")
    return f"{f}({x[0]})", f"{f}({x[1]})"


def _extremes(m: Maker, a: Atoms, d: int) -> Two:
    x, y = real(m, a, d - 1), real(m, a, d - 1)
    f = m.pick("min", "max")
    if m.chance(0.3):
        return f"{f}({{{x[0]}, {y[0]}, 0.5}})", f"{f}({x[1]}, {y[1]}, 0.5)"
    return f"{f}({x[0]}, {y[0]})", f"{f}({x[1]}, {y[1]})"


def _abs(m: Maker, a: Atoms, d: int) -> Two:
    x = real(m, a, d - 1)
    f, py = m.pick(("abs", "abs"), ("sign", "sign"), ("sqrt(0.1 + abs", "sqrt(0.1 + abs"))
    close = ")" if "+" in f else ""
    return f"{f}({x[0]}){close}", f"{py}({x[1]}){close}"


def _rounded(m: Maker, a: Atoms, d: int) -> Two:
    x = real(m, a, d - 2)
    return m.pick(
        (f"(floor(3*{x[0]})/3)", f"(floor(3*{x[1]})/3)"),
        (f"(ceil(2*{x[0]})/3)", f"(-floor(-2*{x[1]})/3)"),
        (f"mod(3*{x[0]}, 2)", f"mod(3*{x[1]}, 2)"),
        (f"rem(3*{x[0]}, 2)", f"rem(3*{x[1]}, 2)"),
        (f"(div(5*{x[0]}, 2)/3)", f"(div(5*{x[1]}, 2)/3)"),
        (f"(integer(4*{x[0]})/4)", f"(floor(4*{x[1]})/4)"),
    )


def _if(m: Maker, a: Atoms, d: int) -> Two:
    b, x, y = boolean(m, a, d - 1), real(m, a, d - 1), real(m, a, d - 1)
    if m.chance(0.3):
        c, z = boolean(m, a, d - 1), real(m, a, d - 2)
        return (
            f"(if {b[0]} then {x[0]} elseif {c[0]} then {y[0]} else {z[0]})",
            f"({x[1]} if {b[1]} else {y[1]} if {c[1]} else {z[1]})",
        )
    return f"(if {b[0]} then {x[0]} else {y[0]})", f"({x[1]} if {b[1]} else {y[1]})"


def _wrapped(m: Maker, a: Atoms, d: int) -> Two:
    x = real(m, a, d - 1)
    if a.plain:
        return x
    y = real(m, a, 1)
    way = m.pick("noEvent({x})", "smooth(0, {x})", "homotopy({x}, {y})", "homotopy(actual={x}, simplified={y})")
    return way.format(x=x[0], y=y[0]), x[1]


def _of_integer(m: Maker, a: Atoms, d: int) -> Two:
    i = integer(m, a, d - 1)
    return f"({i[0]}/4)", f"({i[1]}/4)"


def _sum(m: Maker, a: Atoms, d: int) -> Two:
    x, n = real(m, a, d - 2), m.pick(2, 3, 4)
    way = m.pick("sum", "product", "max", "min")
    py = {"sum": "sum", "product": "math.prod", "max": "max", "min": "min"}[way]
    return (
        f"{way}({x[0]}*0.3 + 0.2*i_ for i_ in 1:{n})",
        f"{py}([{x[1]}*0.3 + 0.2*i_ for i_ in range(1, {n + 1})])",
    )


REAL = (
    _binary, _binary, _binary, _loose_binary, _quotient, _power, _call, _call, _extremes, _abs, _rounded, _if, _if,
    _wrapped, _of_integer, _sum,
)  # fmt: skip


def integer(m: Maker, a: Atoms, depth: int = 2) -> Two:
    if depth <= 0 or m.chance(0.2):
        if a.integers and m.chance(0.8):
            return m.pick(*a.integers)
        n = str(m.r.randint(0, 4))
        return n, n
    x, y = integer(m, a, depth - 1), integer(m, a, depth - 1)
    b, k = boolean(m, a, depth - 1), m.r.randint(2, 4)
    return m.pick(
        (f"({x[0]} + {y[0]})", f"({x[1]} + {y[1]})"),
        (f"({x[0]} - {y[0]})", f"({x[1]} - {y[1]})"),
        (f"mod({x[0]} - {y[0]}, {k})", f"(({x[1]} - {y[1]}) % {k})"),
        (f"rem({x[0]} - {y[0]}, {k})", f"rem({x[1]} - {y[1]}, {k})"),
        (f"div({x[0]} - {y[0]}, {k})", f"div({x[1]} - {y[1]}, {k})"),
        (f"(if {b[0]} then {x[0]} else {y[0]})", f"({x[1]} if {b[1]} else {y[1]})"),
        (f"max({x[0]}, {y[0]})", f"max({x[1]}, {y[1]})"),
        (f"abs({x[0]} - {y[0]})", f"abs({x[1]} - {y[1]})"),
    )


def boolean(m: Maker, a: Atoms, depth: int = 2) -> Two:
    if depth <= 0 and a.booleans and m.chance():
        return m.pick(*a.booleans)
    if depth > 0 and m.chance(0.4):
        p, q = boolean(m, a, depth - 1), boolean(m, a, depth - 1)
        return m.pick(
            (f"({p[0]} and {q[0]})", f"({p[1]} and {q[1]})"),
            (f"({p[0]} or {q[0]})", f"({p[1]} or {q[1]})"),
            (f"(not {p[0]})", f"(not {p[1]})"),
            (f"({p[0]} == {q[0]})", f"(bool({p[1]}) == bool({q[1]}))"),
            (f"({p[0]} <> {q[0]})", f"(bool({p[1]}) != bool({q[1]}))"),
        )
    if a.integers and m.chance(0.4):
        i, j = integer(m, a, depth - 1), integer(m, a, 0)
        op, py = m.pick(("==", "=="), ("<>", "!="), ("<", "<"), (">=", ">="))
        return f"({i[0]} {op} {j[0]})", f"({i[1]} {py} {j[1]})"
    x, y = real(m, a, depth - 1), real(m, a, 0)
    op = m.pick("<", "<=", ">", ">=")
    py = f"less({x[1]}, {y[1]})"
    return f"({x[0]} {op} {y[0]})", py if "<" in op else f"(not {py})"
