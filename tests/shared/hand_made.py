"""Hand-made Step forms, small enough to know the solution by heart."""

from __future__ import annotations

from kilohertz.ir import make as b
from kilohertz.ir.dae import Sample, TimeEvent
from kilohertz.ir.expr import FALSE, TIME, TRUE, Binary, Bool, Builtin, Expr, IfExp, Int, Real, Ref, Str, Unary
from kilohertz.ir.flat import Assert, Experiment
from kilohertz.ir.step import (
    Alias,
    Assignment,
    Block,
    Crossing,
    Entry,
    Kind,
    LinearLoop,
    MixedLoop,
    NonlinearLoop,
    Partition,
    SetState,
    Slot,
    Step,
    StepVariable,
    WhenBlock,
)
from kilohertz.ir.types import BOOLEAN, REAL, Type

STEP, EVENT, OUTPUT = Partition.STEP, Partition.EVENT, Partition.OUTPUT


def real(name: str) -> Ref:
    return Ref(name, REAL)


def boolean(name: str) -> Ref:
    return Ref(name, BOOLEAN)


class Maker:
    """Gathers variables; slots are given in order."""

    def __init__(self, name: str) -> None:
        self.step = Step(name)
        self._next: dict[Kind, int] = {}

    def var(self, name: str, kind: Kind, start: Expr | None = None, ty: Type = REAL, **more: object) -> Ref:
        index = self._next.get(kind, 0)
        self._next[kind] = index + 1
        self.step.variables[name] = StepVariable(name, ty, Slot(kind, index), start, **more)  # type: ignore[arg-type]
        return Ref(name, ty)

    def state(self, name: str, start: float) -> tuple[Ref, Ref]:
        x = self.var(name, Kind.STATE, Real(start), fixed=True)
        return x, self.var(f"der({name})", Kind.DERIVATIVE)

    def parameter(self, name: str, value: float) -> Ref:
        return self.var(name, Kind.PARAMETER, Real(value), tunable=True)

    def discrete(self, name: str, start: float) -> tuple[Ref, Ref]:
        return self.var(name, Kind.DISCRETE, Real(start)), self.var(f"pre({name})", Kind.PRE_DISCRETE, Real(start))

    def flag(self, name: str, start: bool = False) -> tuple[Ref, Ref]:
        d = self.var(name, Kind.INT_DISCRETE, Bool(start), BOOLEAN)
        return d, self.var(f"pre({name})", Kind.PRE_INT_DISCRETE, Bool(start), BOOLEAN)

    def relation(self, relation: Expr, function: Expr) -> tuple[Ref, Assignment]:
        k = len(self.step.crossings)
        r = self.var(f"$r{k}", Kind.RELATION, FALSE, BOOLEAN)
        self.step.crossings += (Crossing(k, relation, function),)
        return r, Assignment(r, relation, EVENT)

    def done(self, blocks: list[Block], initial: list[Block] | None = None) -> Step:
        starts: list[Block] = []
        for v in self.step.of_kind(Kind.STATE):
            if v.fixed and v.start is not None:
                starts.append(Assignment(Ref(v.name, v.ty), v.start, Partition.INITIAL))
        self.step.initial = tuple(initial if initial is not None else starts)
        self.step.blocks = tuple(blocks)
        return self.step


def decay() -> Step:
    """der(x) = -k*x."""
    m = Maker("Decay")
    x, xd = m.state("x", 1.0)
    k = m.parameter("k", 1.0)
    m.step.state_sparsity = ((0,),)
    m.step.experiment = Experiment(0.0, 2.0)
    m.step.aliases = {"y": Alias("x", -1), "c": Alias(None, value=Real(0.1))}
    return m.done([Assignment(xd, b.neg(b.mul(k, x)), STEP)])


def ball() -> Step:
    """A ball that falls from 1 m and keeps 0.7 of its speed."""
    m = Maker("Ball")
    h, hd = m.state("h", 1.0)
    v, vd = m.state("v", 0.0)
    w, pw = m.flag("$w0")
    r, set_r = m.relation(Binary("<", h, Real(0.0), BOOLEAN), h)
    r2, set_r2 = m.relation(Binary("<", v, Real(0.0), BOOLEAN), v)
    guard = Binary("and", w, Unary("not", pw), BOOLEAN)
    m.step.state_sparsity = ((1,), ())
    return m.done(
        [
            Assignment(hd, v, STEP),
            Assignment(vd, Real(-9.81), STEP),
            set_r,
            set_r2,
            Assignment(w, Binary("and", r, r2, BOOLEAN), EVENT),
            WhenBlock(guard, (SetState(v, b.mul(Real(-0.7), v)),)),
        ]
    )


def sampled() -> Step:
    """A sampled counter: n = pre(n) + 1 every 0.1 s, and y = time > 0.55."""
    m = Maker("Sampled")
    n, pre_n = m.discrete("n", 0.0)
    y, _ = m.flag("y")
    s = Builtin("sample", (Int(0),), BOOLEAN)
    m.step.samples = (Sample(0, Real(0.0), Real(0.1)),)
    r, set_r = m.relation(Binary(">=", TIME, Real(0.55), BOOLEAN), b.sub(TIME, Real(0.55)))
    m.step.time_events = (TimeEvent(Real(0.55)),)
    return m.done([Assignment(n, IfExp(s, b.add(pre_n, Real(1.0)), pre_n), EVENT), set_r, Assignment(y, r, EVENT)])


def loops() -> Step:
    """Linear: a + b = 3, a - b = u; singular: c + d = 2 twice; nonlinear: z^3 + z = t."""
    m = Maker("Loops")
    names = {n: m.var(n, Kind.ALGEBRAIC, Real(0.5)) for n in "abcdz"}
    one = Real(1.0)
    linear = LinearLoop(
        (names["a"], names["b"]),
        (Entry(0, 0, one), Entry(0, 1, one), Entry(1, 0, one), Entry(1, 1, Real(-1.0))),
        (Real(3.0), TIME),
        (),
        STEP,
        Partition.ONCE,
    )
    singular = LinearLoop(
        (names["c"], names["d"]),
        (Entry(0, 0, one), Entry(0, 1, one), Entry(1, 0, one), Entry(1, 1, one)),
        (Real(2.0), Real(2.0)),
        (),
        STEP,
        STEP,
    )
    z = names["z"]
    residual = b.sub(b.add(b.pow_(z, Real(3.0)), z), TIME)
    jacobian = (Entry(0, 0, b.add(b.mul(Real(3.0), b.pow_(z, Real(2.0))), one)),)
    nonlinear = NonlinearLoop((z,), (), (residual,), jacobian, ((0, 0),), STEP)
    return m.done([linear, singular, nonlinear])


def diode() -> Step:
    """A sine over an ideal diode and a resistor of 1: i = u where it conducts; a mixed loop."""
    m = Maker("Diode")
    s_ = m.var("s", Kind.ALGEBRAIC, Real(0.0))
    i = m.var("i", Kind.ALGEBRAIC, Real(0.0))
    r, set_r = m.relation(Binary("<", s_, Real(0.0), BOOLEAN), s_)
    u = Builtin("sin", (TIME,), REAL)
    # off: i = 0, s = u; on: v = 0, i = s = u
    continuous = (Assignment(s_, u, STEP), Assignment(i, IfExp(r, Real(0.0), s_), STEP))
    return m.done([MixedLoop(continuous, (set_r,), STEP)])


def asserting() -> Step:
    """An assert that fails when x passes 2."""
    step = decay()
    x = real("x")
    step.name = "Asserting"
    step.blocks = (Assignment(real("der(x)"), x, STEP),)
    step.asserts = (Assert(Binary("<", x, Real(2.0), BOOLEAN), Str("x is too large")),)
    return step


__all__ = ["TRUE", "Maker", "asserting", "ball", "decay", "diode", "loops", "sampled"]
