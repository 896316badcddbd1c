"""Connection sets: counts, signs, orientation, arrays, assertions, messages."""

from __future__ import annotations

from kilohertz.base import Origin, Span
from kilohertz.ir.expr import Binary, Builtin, Expr, Index, Int, Real, Ref
from kilohertz.ir.flat import Equality
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, Type
from kilohertz.semantics.connecting.connect_sets import Connection, ConnectResult, FlowLeaf, Leaf, connection_equations

VECTOR = REAL.array_of(3)


def show(e: object) -> str:
    match e:
        case Ref(name):
            return name
        case Real(value):
            return f"{value:g}"
        case Int(value):
            return str(value)
        case Index(base, subs):
            return f"{show(base)}[{','.join(map(show, subs))}]"
        case Binary(op, left, right):
            return f"({show(left)} {op} {show(right)})"
        case Builtin(name, args):
            return f"{name}({', '.join(map(show, args))})"
        case Equality(left, right):
            return f"{show(left)} = {show(right)}"
    return repr(e)


def shown(result: ConnectResult) -> list[str]:
    return [show(e) for e in result.equations]


def pin(name: str) -> tuple[Leaf, ...]:
    return Leaf.of(f"{name}.v", REAL, "potential"), Leaf.of(f"{name}.i", REAL, "flow")


def at(n: int) -> Origin:
    return Origin((Span("m.mo", n, n + 1),), "")


def join(a: str, b: str, a_out: bool = False, b_out: bool = False, n: int = 0) -> Connection:
    return Connection(pin(a), pin(b), a_out, b_out, at(n))


def flows(*names: str) -> list[FlowLeaf]:
    return [FlowLeaf(pin(name)[1]) for name in names]


def test_a_set_of_three_gives_two_potential_equations_and_one_sum() -> None:
    result = connection_equations([join("a", "b", n=1), join("c", "b", n=2)], flows("a", "b", "c"))
    assert shown(result) == ["a.v = b.v", "c.v = b.v", "((a.i + b.i) + c.i) = 0"]
    assert result.equations[2].origin.spans == (Span("m.mo", 1, 2), Span("m.mo", 2, 3))
    assert result.equations[1].origin == at(2)


def test_a_connection_said_twice_adds_nothing() -> None:
    once = connection_equations([join("a", "b")], flows("a", "b"))
    twice = connection_equations([join("a", "b"), join("b", "a"), join("a", "b")], flows("a", "b"))
    assert shown(once) == shown(twice)


def test_outside_counts_negative_and_one_level_up_is_another_set() -> None:
    connections = [join("m.p", "m.r.p", a_out=True), join("m.p", "g.p")]
    result = connection_equations(connections, flows("m.p", "m.r.p", "g.p"))
    assert shown(result) == ["m.p.v = m.r.p.v", "m.p.v = g.p.v", "(m.r.p.i - m.p.i) = 0", "(m.p.i + g.p.i) = 0"]


def test_connected_from_within_only_is_zero_outside() -> None:
    result = connection_equations([join("m.p", "m.r.p", a_out=True)], flows("m.p", "m.r.p", "m.r.n"))
    assert shown(result) == ["m.p.v = m.r.p.v", "(m.r.p.i - m.p.i) = 0", "m.p.i = 0", "m.r.n.i = 0"]


def test_two_outside_connectors() -> None:
    result = connection_equations([join("p", "n", True, True)], [])
    assert shown(result) == ["p.v = n.v", "(p.i + n.i) = 0"]


def test_a_connector_with_itself_is_closed() -> None:
    assert shown(connection_equations([join("a", "a")], flows("a"))) == ["a.i = 0"]


def test_whole_arrays_stay_whole() -> None:
    a, b = Leaf.of("a.f", VECTOR, "flow"), Leaf.of("b.f", VECTOR, "flow")
    result = connection_equations(
        [Connection((a,), (b,), False, False, at(0))], [FlowLeaf(Leaf.of("c.f", VECTOR, "flow"))]
    )
    assert shown(result) == ["(a.f + b.f) = fill(0, 3)", "c.f = fill(0, 3)"]


def element(name: str, ty: Type, *subs: int, causality: str = "") -> Leaf:
    spelled = f"{name}[{','.join(map(str, subs))}]"
    return Leaf(
        spelled, ty.element(len(subs)), "potential", Index(Ref(name, ty), tuple(map(Int, subs)), REAL), causality
    )


def test_elements_connected_apart_split_the_array_and_its_partners() -> None:
    u, y, z = (Leaf.of(n, REAL.array_of(2), "potential") for n in "uyz")
    one = element("u", REAL.array_of(2), 1)
    connections = [
        Connection((u,), (y,), False, False, at(0)),
        Connection((y,), (z,), False, False, at(1)),
        Connection((one,), (Leaf.of("w", REAL, "potential"),), False, False, at(2)),
        Connection((one,), (element("z", REAL.array_of(2), 1),), False, False, at(3)),
    ]
    result = connection_equations(connections, [])
    assert shown(result) == ["u[1] = y[1]", "u[2] = y[2]", "y[1] = z[1]", "y[2] = z[2]", "u[1] = w"]


def test_the_source_stands_on_the_right_and_two_sources_are_an_error() -> None:
    y, u = Leaf.of("s.y", REAL, "potential", "output"), Leaf.of("g.u", REAL, "potential", "input")
    other = Leaf.of("t.y", REAL, "potential", "output")
    result = connection_equations([Connection((y,), (u,), False, False, at(0))], [])
    assert shown(result) == ["g.u = s.y"]
    both = [Connection((y,), (u,), False, False, at(0)), Connection((other,), (u,), False, False, at(5))]
    (problem,) = connection_equations(both, []).diagnostics
    assert problem.code == "S453"
    assert "`t.y` and `s.y`" in problem.message


def test_an_outside_output_is_no_source() -> None:
    outer, inner = Leaf.of("m.y", REAL, "potential", "output"), Leaf.of("m.g.y", REAL, "potential", "output")
    result = connection_equations([Connection((outer,), (inner,), True, False, at(0))], [])
    assert not result.diagnostics
    assert shown(result) == ["m.y = m.g.y"]


def test_parameters_are_asserted() -> None:
    a, b = (Leaf.of(f"{n}.k", INTEGER.array_of(3), "parameter") for n in "ab")
    result = connection_equations([Connection((a,), (b,), False, False, at(0))], [])
    assert not result.equations
    (claim,) = result.asserts
    assert show(claim.condition) == "(((a.k[1] == b.k[1]) and (a.k[2] == b.k[2])) and (a.k[3] == b.k[3]))"


def test_kinds_and_types_must_agree() -> None:
    v, i = pin("a")
    b = Leaf.of("b.on", BOOLEAN, "potential")
    codes = [
        connection_equations([Connection((v,), (right,), False, False, at(0))], []).diagnostics[0].code
        for right in (i, b, Leaf.of("c", VECTOR, "potential"))
    ]
    assert codes == ["S451", "S452", "S452"]


def test_empty_arrays_give_nothing() -> None:
    a, b = (Leaf.of(f"{n}.Xi", REAL.array_of(0), "flow") for n in "ab")
    assert not connection_equations([Connection((a,), (b,), False, False, at(0))], [FlowLeaf(a)]).equations


def depth(e: Expr) -> int:
    deepest, stack = 0, [(e, 1)]
    while stack:
        node, level = stack.pop()
        deepest = max(deepest, level)
        stack += [(child, level + 1) for child in node.children()]
    return deepest


def test_a_sum_of_thousands_is_shallow() -> None:
    connections = [join("g", f"r{k}", n=k) for k in range(20_000)]
    result = connection_equations(connections, [])
    total = result.equations[-1].left
    assert isinstance(total, Expr)
    assert depth(total) < 120
    assert len(result.equations) == 20_001


def test_streams_are_kept_as_sets() -> None:
    h = {n: Leaf.of(f"{n}.h", REAL, "stream") for n in "abc"}
    connections = [
        Connection((h["a"],), (h["b"],), False, True, at(0)),
        Connection((h["b"],), (h["c"],), True, False, at(1)),
    ]
    result = connection_equations(connections, [])
    assert not result.equations
    (one,) = result.stream_sets
    assert [(m.leaf.name, m.outside) for m in one.members] == [("a.h", False), ("b.h", True), ("c.h", False)]
