"""Counting scalars, and naming what does not fit."""

from __future__ import annotations

from kilohertz.base import Origin, Span
from kilohertz.ir.expr import (
    TIME,
    TRUE,
    Array,
    Binary,
    Builtin,
    Call,
    Expr,
    IfExp,
    Index,
    Int,
    Item,
    Real,
    Record,
    Ref,
    Str,
)
from kilohertz.ir.flat import (
    PARAMETER,
    Algorithm,
    Assert,
    Assign,
    Equality,
    Equation,
    Flat,
    IfEquation,
    Reinit,
    TupleTarget,
    Variable,
    WhenEquation,
    WhenStatement,
)
from kilohertz.ir.types import BOOLEAN, CLOCK, INTEGER, REAL, ExternalObjectType, RecordType, TupleType, Type
from kilohertz.semantics.balancing.balance import check, check_balance, count
from kilohertz.semantics.balancing.incidence import incidence

VECTOR = REAL.array_of(3)
ONE = Real(1.0)


def real(name: str) -> Ref:
    return Ref(name, REAL)


def der(e: Expr) -> Expr:
    return Builtin("der", (e,), e.ty)


def plus(a: Expr, b: Expr) -> Expr:
    return Binary("+", a, b, a.ty)


def greater(a: Expr, b: Expr) -> Expr:
    return Binary(">", a, b, BOOLEAN)


def model(variables: list[Variable], equations: list[Equation], algorithms: list[Algorithm] | None = None) -> Flat:
    for k, equation in enumerate(equations):
        equation.origin = Origin((Span("m.mo", 10 * k, 10 * k + 5),))
    return Flat("M", {v.name: v for v in variables}, equations, algorithms=algorithms or [])


def reals(names: str, ty: Type = REAL) -> list[Variable]:
    return [Variable(name, ty) for name in names.split()]


def rows(flat: Flat) -> list[list[str]]:
    system = incidence(flat)
    return [[system.columns.name(c) for c in row] for row in system.rows]


def test_an_ordinary_model() -> None:
    x, y, p = real("x"), real("y"), real("p")
    flat = model(
        [*reals("x y"), Variable("p", REAL, PARAMETER), Variable("u", REAL, causality="input")],
        [Equality(der(x), Binary("*", p, y, REAL)), Equality(y, plus(x, real("u")))],
    )
    balance, problems = check(flat)
    assert not problems
    assert (balance.n_equations, balance.n_unknowns) == (2, 2)
    assert (balance.n_parameters, balance.n_inputs, balance.n_states_declared) == (1, 1, 1)


def test_a_binding_is_an_equation() -> None:
    flat = model([Variable("x", VECTOR, binding=Builtin("fill", (TIME, Int(3)), VECTOR))], [])
    assert not check_balance(flat)
    assert count(flat).n_equations == 3


def test_high_index_is_no_singularity() -> None:
    x, y, u, v, f = (real(n) for n in ("x", "y", "u", "v", "f"))
    flat = model(
        reals("x y u v f"),
        [
            Equality(der(x), u),
            Equality(der(y), v),
            Equality(der(u), Binary("*", x, f, REAL)),
            Equality(der(v), Binary("*", y, f, REAL)),
            Equality(plus(Binary("*", x, x, REAL), Binary("*", y, y, REAL)), ONE),
        ],
    )
    assert not check_balance(flat)


def test_external_objects_are_no_unknowns() -> None:
    table = Type(ExternalObjectType("Table", "Table.constructor", "Table.destructor"))
    assert count(model([Variable("t", table)], [])).n_unknowns == 0


def test_arrays_go_element_by_element() -> None:
    x, y = Ref("x", VECTOR), Ref("y", VECTOR)
    two = Index(y, (Int(2),), REAL)
    flat = model(
        [*reals("x y", VECTOR), *reals("a b")],
        [
            Equality(plus(x, Builtin("sin", (y,), VECTOR)), Array((real("a"), two, ONE), VECTOR)),
            Equality(
                Index(x, (Array((Int(3), Int(1)), INTEGER.array_of(2)),), REAL.array_of(2)),
                Array((real("b"), ONE), REAL.array_of(2)),
            ),
        ],
    )
    assert rows(flat) == [["x[1]", "y[1]", "a"], ["x[2]", "y[2]"], ["x[3]", "y[3]"], ["x[3]", "b"], ["x[1]"]]


def test_products_look_at_rows_and_columns() -> None:
    square = REAL.array_of(2, 2)
    A, x = Ref("A", square), Ref("x", REAL.array_of(2))
    zero = Builtin("fill", (Real(0.0), Int(2)), REAL.array_of(2))
    flat = model([Variable("A", square), Variable("x", REAL.array_of(2))], [Equality(Binary("*", A, x, x.ty), zero)])
    assert rows(flat) == [["A[1,1]", "A[1,2]", "x[1]", "x[2]"], ["A[2,1]", "A[2,2]", "x[1]", "x[2]"]]
    flipped = Builtin("transpose", (A,), square)
    flat = model([Variable("A", square)], [Equality(flipped, Array((zero, zero), square))])
    assert rows(flat) == [["A[1,1]"], ["A[2,1]"], ["A[1,2]"], ["A[2,2]"]]


def test_a_scalar_spreads_over_all_elements() -> None:
    x = Ref("x", VECTOR)
    flat = model([*reals("x", VECTOR), *reals("s")], [Equality(x, Binary(".*", real("s"), x, VECTOR))])
    assert rows(flat) == [["x[1]", "s"], ["x[2]", "s"], ["x[3]", "s"]]


def test_records_go_field_by_field() -> None:
    complex_ = Type(RecordType("Complex", (("re", REAL), ("im", REAL))))
    left, right = Record((real("a"), real("b")), complex_), Record((real("c"), real("d")), complex_)
    flat = model(reals("a b c d e"), [Equality(left, right), Equality(left, Call("f", (real("e"),), complex_))])
    assert rows(flat) == [["a", "c"], ["b", "d"], ["a", "e"], ["b", "e"]]


def test_tuple_targets() -> None:
    outputs = Type(TupleType((VECTOR, REAL, BOOLEAN)))
    call = Call("f", (real("u"),), outputs)
    target = TupleTarget((Ref("x", VECTOR), None, Ref("b", BOOLEAN)))
    flat = model([*reals("x", VECTOR), *reals("u"), Variable("b", BOOLEAN)], [Equality(target, call)])
    assert rows(flat) == [["x[1]", "u"], ["x[2]", "u"], ["x[3]", "u"], ["b"]]
    single = model(reals("y u"), [Equality(real("y"), Item(call, 1))])
    assert rows(single) == [["y", "u"]]


def test_discrete_equations_are_solved_for_their_variable() -> None:
    b, c = Ref("b", BOOLEAN), Ref("c", BOOLEAN)
    flat = model(
        [*reals("x"), Variable("b", BOOLEAN), Variable("c", BOOLEAN)],
        [
            Equality(b, Binary("and", c, greater(real("x"), ONE), BOOLEAN)),
            Equality(real("x"), IfExp(b, ONE, real("x"))),
        ],
    )
    assert rows(flat) == [["b"], ["x"]]


def test_if_equations_take_the_union() -> None:
    branch: list[Equation] = [Equality(real("x"), ONE), Assert(TRUE, Str(""))]
    flat = model(reals("x y"), [IfEquation([(TRUE, branch)], [Equality(real("y"), ONE)])])
    assert rows(flat) == [["x", "y"]]
    uneven = model(reals("x y"), [IfEquation([(TRUE, branch)], [])])
    assert check_balance(uneven)[0].code == "B404"


def test_when_counts_what_it_sets() -> None:
    x, n = real("x"), Ref("n", INTEGER)
    body: list[Equation] = [Equality(n, plus(Builtin("pre", (n,), INTEGER), Int(1))), Reinit(x, ONE)]
    other: list[Equation] = [Equality(n, Int(0))]
    flat = model(
        [*reals("x"), Variable("n", INTEGER)],
        [Equality(der(x), ONE), WhenEquation([(greater(x, ONE), body), (greater(TIME, ONE), other)])],
    )
    balance, problems = check(flat)
    assert not problems
    assert balance.n_equations == 2
    assert balance.n_events == 4  # two branches, two relations


def test_clocked_when_counts_equations() -> None:
    body: list[Equation] = [Equality(plus(real("x"), real("y")), ONE), Equality(real("x"), real("y"))]
    tick = Builtin("Clock", (), CLOCK)
    assert not check_balance(model(reals("x y"), [WhenEquation([(tick, body)])]))


def test_algorithms_count_whole_variables() -> None:
    x, b = Ref("x", VECTOR), Ref("b", BOOLEAN)
    algorithm = Algorithm(
        [
            Assign(Index(x, (Int(1),), REAL), real("u")),
            Assign(Index(x, (Int(1),), REAL), real("u")),
            WhenStatement([(greater(TIME, ONE), [Assign(b, TRUE)])]),
        ]
    )
    flat = model([*reals("x", VECTOR), *reals("u"), Variable("b", BOOLEAN)], [Equality(real("u"), ONE)], [algorithm])
    balance, problems = check(flat)
    assert not problems
    assert balance.n_equations == 5
    assert rows(flat)[1:] == [["x[1]", "u"], ["x[2]", "u"], ["x[3]", "u"], ["b"]]


def test_events_are_relations_that_vary_outside_noevent() -> None:
    x, p = real("x"), real("p")
    quiet = Builtin("noEvent", (IfExp(greater(x, ONE), ONE, x),), REAL)
    loud = IfExp(greater(x, Real(2.0)), ONE, IfExp(greater(p, ONE), ONE, x))
    wave = IfExp(Builtin("sample", (ONE, ONE), BOOLEAN), quiet, loud)
    flat = model([*reals("x"), Variable("p", REAL, PARAMETER)], [Equality(der(x), plus(wave, wave))])
    assert count(flat).n_events == 2


def test_states_are_counted_by_element() -> None:
    x = Ref("x", VECTOR)
    flat = model(
        [*reals("x", VECTOR), *reals("y z")],
        [Equality(der(Index(x, (Int(2),), REAL)), der(Binary("*", real("y"), real("z"), REAL)))],
    )
    assert count(flat).n_states_declared == 3


# --------------------------------------------------------------------------------------------------------- diagnostics


def test_an_equation_too_many_names_the_rivals() -> None:
    x, y = real("x"), real("y")
    flat = model(reals("x y"), [Equality(x, ONE), Equality(y, x), Equality(y, ONE)])
    problems = check_balance(flat)
    assert [p.code for p in problems] == ["B401", "B402"]
    assert problems[0].message == "M has 3 equations for 2 unknowns"
    culprit = problems[1]
    assert culprit.message == "one equation is left without an unknown to solve for"
    assert "already determined" in culprit.label
    assert {culprit.span, *(n.span for n in culprit.notes)} == {e.origin.spans[0] for e in flat.equations}


def test_an_equation_about_nothing() -> None:
    flat = model(reals("x"), [Equality(real("x"), ONE), Equality(real("p"), ONE)])
    assert check_balance(flat)[1].label == "no unknown stands in it"


def test_an_equation_too_few_names_the_candidates() -> None:
    flat = model(reals("x y z"), [Equality(real("x"), ONE), Equality(real("y"), real("z"))])
    problems = check_balance(flat)
    assert [p.code for p in problems] == ["B401", "B403"]
    told = problems[1].message + "".join(n.text for n in problems[1].notes)
    assert "`y`" in told
    assert "`z`" in told
    assert "`x`" not in told


def test_a_variable_in_no_equation() -> None:
    problems = check_balance(model(reals("x y", VECTOR), [Equality(Ref("x", VECTOR), Ref("x", VECTOR))]))
    assert [p.message for p in problems[1:]] == ["no equation is left to determine `y`"]


def test_right_in_number_but_singular() -> None:
    x, y = real("x"), real("y")
    problems = check_balance(model(reals("x y z"), [Equality(x, ONE), Equality(y, x), Equality(plus(x, y), ONE)]))
    assert [p.code for p in problems] == ["B402", "B403"]


def test_many_culprits_are_cut_short() -> None:
    names = " ".join(f"x{k}" for k in range(50))
    problems = check_balance(model(reals(names), []))
    assert len(problems) == 11
    assert problems[-1].notes[-1].text == "and 40 more of this kind"


def test_a_long_chain_ends() -> None:
    """Nothing on the way is deep or quadratic: minutes, or a stack that overflows, if it were."""
    n = 20_000
    equations: list[Equation] = []
    for k in range(n):
        x, before, after = (real(f"x{j}") for j in (k, k - 1, k + 1))
        equations.append(Equality(der(x), plus(before if k else ONE, after if k < n - 1 else ONE)))
    flat = model([Variable(f"x{k}", REAL) for k in range(n)], equations)
    assert not check_balance(flat)
