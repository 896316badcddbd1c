"""scalarise: arrays, records, matrix operators and inlinable calls become scalars; ifs and algorithms equations.

  r = R * v;              ->   r[1] = R[1,1]*v[1] + ...;  r[2] = ...
  (a, b) = f(x);          ->   call node ($c0.a, $c0.b) = f(x);  a = $c0.a;  b = $c0.b
  if c then x = a; else x = b; end if;   ->   x = if c then a else b
  algorithm y := 0; if c then y := u; end if;   ->   y = if c then u else 0

Constants, structural parameters and final parameters with literal values are replaced by their values.  The condition
of an if-equation that hangs on parameters alone is decided here, since its branches may differ in what is a state:
those parameters can no longer be changed before a run.  Shared parts are expanded once (one memo per model), so the
cost is linear in the size of the scalar result.  Gives up (Unsupported, reported as B101) where a size or a loop is not
known at compile time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.base import Diagnostic, ModelError, Origin
from kilohertz.ir import make, traverse
from kilohertz.ir.expr import FALSE, TRUE, Builtin, Call, Expr, Int, Ref, Str
from kilohertz.ir.flat import (
    CONSTANT,
    CONTINUOUS,
    PARAMETER,
    Algorithm,
    Assert,
    CallEquation,
    Equality,
    Equation,
    Flat,
    IfEquation,
    Purpose,
    Reinit,
    Terminate,
    TupleTarget,
    Variable,
    WhenEquation,
)
from kilohertz.ir.flat import DISCRETE as DISCRETE_TIME
from kilohertz.ir.ticks import ScalarFlat, Tick
from kilohertz.ir.types import BOOLEAN, CLOCK, REAL, ExternalObjectType, TupleType, Type
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.flat.algorithms import assigned, at_entry, equations_of
from kilohertz.passes.flat.call_results import is_fixed, take_calls
from kilohertz.passes.flat.calls import Inliner
from kilohertz.passes.flat.elements import element_function
from kilohertz.passes.flat.execute import reinits
from kilohertz.passes.flat.impure_calls import acts, has_impure, separated, taken_apart
from kilohertz.passes.flat.merge_branches import merged
from kilohertz.passes.flat.outline import Host, outlined, stale
from kilohertz.passes.flat.symbolic_evaluator import Evaluator, Unsupported, broadcast
from kilohertz.passes.flat.values import Value, leaves, pack
from kilohertz.passes.numeric import Numeric, known_values


@dataclass(frozen=True, slots=True)
class Scalarise(Pass):
    """Arrays, records and loops become scalars; small functions are written out where they are called."""

    name: ClassVar[str] = "scalarise"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.FLAT, Fact.BODIES})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.SCALAR})

    def run(self, model: Flat, log: Log) -> ScalarFlat:
        return _Scalariser(model, log).run()


class _Scalariser:
    def __init__(self, flat: Flat, log: Log) -> None:
        self._flat = flat
        self._log = log
        clocked = [c for c in flat.clocks if c.base is not None]
        self._clocks = clocked
        self._equation_clock = {i: k for k, c in enumerate(clocked) for i in c.equations}
        self._algorithm_clock = {i: k for k, c in enumerate(clocked) for i in c.algorithms}
        self._variable_clock = {n: k for k, c in enumerate(clocked) for n in c.variables}
        self._impure = frozenset(f.id for f in flat.functions.values() if not f.pure)
        self._functions = {id: separated(f, self._impure) for id, f in flat.functions.items()}
        self._evaluator = Evaluator(self, self._element)
        self._n_outlined = self._n_watched = self._n_made = 0  # algorithms that became functions, variables for them
        self._inliner = Inliner(self._functions, lambda: self._evaluator)
        self._values: dict[str, Value] = {}
        self._busy: set[str] = set()
        self._out = ScalarFlat(
            flat.name, functions=self._functions, experiment=flat.experiment, description=flat.description
        )
        self._numeric: Numeric | None = None

    # ---------------------------------------------------------------------------------------------- Scope of Evaluator

    def model_value(self, ref: Ref) -> Value:
        value = self._values.get(ref.name)
        if value is None:
            value = self._values[ref.name] = self._expanded(ref)
        return value

    def call(self, call: Call, args: list[Value]) -> list[Value]:
        return self._inliner.call(call, args)

    def _element(self, items: tuple[Expr, ...], dims: tuple[int, ...], subs: tuple[Expr, ...]) -> Expr:
        ty = items[0].ty
        function = element_function(ty, dims)
        self._functions.setdefault(function.id, function)
        args = [Value(ty.array_of(*dims), items), *(Value(i.ty, (i,)) for i in subs)]
        return self.call(Call(function.id, tuple(map(pack, args)), ty), args)[0].scalar

    def is_pure(self, function: str) -> bool:
        f = self._functions.get(function)
        return f is not None and f.pure and f.external is None

    def _expanded(self, ref: Ref) -> Value:
        variable = self._flat.variables.get(ref.name)
        if variable is not None and variable.binding is not None and _is_evaluated(variable):
            if ref.name in self._busy:
                raise Unsupported(f"the value of {ref.name} depends on itself")
            self._busy.add(ref.name)
            value = self._evaluator.model(variable.binding)
            self._busy.discard(ref.name)
            items = _as_declared(variable, broadcast(value, variable.ty))
            if all(make.is_literal(x) for x in items):
                return Value(variable.ty, items)
        return Value(ref.ty, tuple(Ref(ref.name + suffix, ty) for suffix, ty in leaves(ref.ty)))

    # --------------------------------------------------------------------------------------------------------- the pass

    def run(self) -> ScalarFlat:
        for variable in self._flat.variables.values():
            if variable.ty.base != CLOCK.base:
                self._guarded(lambda v=variable: self._variable(v), variable.origin)
        for i, equation in enumerate(self._flat.equations):
            if i in self._equation_clock:
                self._out.equations += self._clocked(equation, self._equation_clock[i])
            else:
                self._out.equations += self._equation(equation)
        for i, algorithm in enumerate(self._flat.algorithms):
            equations: list[Equation] = []
            self._algorithm(algorithm, equations, self._out.algorithms, False)
            if i in self._algorithm_clock:
                equations = [_at_tick(equations, self._algorithm_clock[i], algorithm.origin)]
            self._out.equations += equations
        for k in range(len(self._clocks)):
            self._out.ticks.append(self._tick(k))
        self._inliner.at_start = True
        for equation in self._flat.initial_equations:
            self._out.initial_equations += self._equation(equation, initial=True)
        for algorithm in self._flat.initial_algorithms:
            self._algorithm(algorithm, self._out.initial_equations, self._out.initial_algorithms, True)
        take_calls(self._inliner.calls, self._out, self._functions, Scalarise.name)
        return self._out

    def _clocked(self, equation: Equation, k: int) -> list[Equation]:
        """Equations of a clocked partition: a `when Clock()` around them says nothing more."""
        if isinstance(equation, Equality) and equation.right.ty.base == CLOCK.base:
            return []
        if isinstance(equation, WhenEquation) and _is_state(equation):
            guard, body = equation.branches[0]
            in_state = WhenEquation([(self._evaluator.model(guard).scalar, self._in_state(body))], equation.origin)
            return [_at_tick([in_state], k, equation.origin)]
        if isinstance(equation, WhenEquation) and equation.branches[0][0].ty.base == CLOCK.base:
            return [x for _, body in equation.branches for e in body for x in self._clocked(e, k)]
        equations = self._equation(equation)
        checks: list[Equation] = [e for e in equations if isinstance(e, Assert)]
        return [*checks, _at_tick([e for e in equations if not isinstance(e, Assert)], k, equation.origin)]

    def _in_state(self, body: list[Equation]) -> list[Equation]:
        """Equations of a state: its clock, and a `when` of that clock, say nothing more here either."""
        found: list[Equation] = []
        for e in body:
            if isinstance(e, WhenEquation) and e.branches[0][0].ty.base == CLOCK.base:
                found += self._in_state(e.branches[0][1])
            elif not isinstance(e, Equality) or e.right.ty.base != CLOCK.base:
                found += self._equation(e)
        return found

    def _tick(self, k: int) -> Tick:
        c = self._clocks[k]
        names = tuple(n + suffix for n in c.variables for suffix, _ in leaves(self._flat.variables[n].ty))
        clock: Expr | None = c.clock
        while isinstance(clock, Builtin) and clock.args and clock.args[0].ty.base == CLOCK.base:
            clock = clock.args[0]
        key = next(i for i, other in enumerate(self._clocks) if other.clock is c.clock and other.base == c.base)
        tick = Tick(key, c.factor, c.shift, variables=names, solver="" if c.solver is None else self._text(c.solver))
        if not isinstance(clock, Builtin) or not clock.args:
            return tick
        args = [self._evaluator.model(a).scalar for a in clock.args]
        if args[0].ty == BOOLEAN:
            first = make.to_real(args[1]) if len(args) > 1 else None
            return replace(tick, condition=args[0], start_interval=first)
        if len(args) > 1 and args[1].ty.base == args[0].ty.base:
            return replace(tick, period=make.div(args[0], args[1]))
        return replace(tick, period=make.to_real(args[0]))

    def _text(self, e: Expr) -> str:
        """The text a String parameter is bound to, through other parameters; empty where it is not known."""
        value = self._evaluator.model(e).scalar
        seen: set[str] = set()
        while isinstance(value, Ref) and value.name not in seen:
            seen.add(value.name)
            v = self._flat.variables.get(value.name)
            value = value if v is None or v.binding is None else self._evaluator.model(v.binding).scalar
        return value.value if isinstance(value, Str) else ""

    def _guarded(self, job: object, origin: Origin) -> None:
        try:
            job()  # type: ignore[operator]
        except (Unsupported, ValueError) as failure:
            raise _error(failure, origin) from failure

    def _variable(self, v: Variable) -> None:
        known = v.variability in (CONSTANT, PARAMETER)
        attributes = {k: broadcast(self._evaluator.model(e), v.ty) for k, e in v.attributes.items()}
        binding = None
        if v.binding is not None:
            binding = _as_declared(v, broadcast(self._evaluator.model(v.binding), v.ty))
        for i, (suffix, ty) in enumerate(leaves(v.ty)):
            name = v.name + suffix
            values = {k: items[i] for k, items in attributes.items()}
            value = None if binding is None else binding[i]
            self._out.variables[name] = replace(
                v, name=name, ty=ty, attributes=values, binding=value if known else None
            )
            if value is not None and not known:
                bound: Equation = Equality(Ref(name, ty), value, v.origin)
                k = self._variable_clock.get(v.name)
                self._out.equations.append(bound if k is None else _at_tick([bound], k, v.origin))

    # -------------------------------------------------------------------------------------------------------- equations

    def _equation(self, equation: Equation, initial: bool = False) -> list[Equation]:
        try:
            if initial and isinstance(equation, Equality) and has_impure(equation.right, self._impure):
                return self._calls_apart(equation, initial)
            return self._scalar_equations(equation)
        except (Unsupported, ValueError) as failure:
            raise _error(failure, equation.origin) from failure

    def _scalar_equations(self, equation: Equation) -> list[Equation]:
        value = self._evaluator
        match equation:
            case Equality():
                return self._equality(equation)
            case IfEquation():
                return self._if(equation)
            case WhenEquation():
                return [self._when(equation)]
            case Assert():
                return self._assert(equation, TRUE)
            case Terminate():
                return [Terminate(value.model(equation.message).scalar, equation.origin)]
            case Reinit():
                return [*reinits(equation, value.model(equation.target), value.model(equation.value))]
            case CallEquation():
                return self._effect(equation)

    def _effect(self, equation: CallEquation) -> list[Equation]:
        call = equation.call
        assert isinstance(call, Call)
        args = tuple(pack(self._evaluator.model(a)) for a in call.args)
        self._inliner.used[call.function] = None
        return [CallEquation(Call(call.function, args, call.ty), equation.origin)]

    def _assert(self, equation: Assert, active: Expr) -> list[Equation]:
        condition = self._evaluator.model(equation.condition).scalar
        condition = make.or_(make.not_(active), condition)
        if condition is TRUE:
            return []
        message = self._evaluator.model(equation.message).scalar
        level = None if equation.level is None else self._evaluator.model(equation.level).scalar
        return [Assert(condition, message, level, equation.origin)]

    def _equality(self, equation: Equality) -> list[Equation]:
        if isinstance(equation.left, TupleTarget):
            return self._tuple_equality(equation.left, equation)
        left, right = self._evaluator.model(equation.left), self._evaluator.model(equation.right)
        return self._pairs(left, right, equation.origin)

    def _tuple_equality(self, target: TupleTarget, equation: Equality) -> list[Equation]:
        outputs = self._evaluator.outputs(equation.right, None)
        equations: list[Equation] = []
        for element, output in zip(target.elements, outputs, strict=False):
            if element is not None:
                equations += self._pairs(self._evaluator.model(element), output, equation.origin)
        return equations

    def _pairs(self, left: Value, right: Value, origin: Origin) -> list[Equation]:
        a, b = left.items, right.items
        if len(a) != len(b):
            if left.ty.dims and not right.ty.dims:
                b = broadcast(right, left.ty)
            elif right.ty.dims and not left.ty.dims:
                a = broadcast(left, right.ty)
            else:
                raise Unsupported(f"an equation between {left.ty} and {right.ty}")
        return [Equality(*_matched(x, y), origin) for x, y in zip(a, b, strict=True) if x is not y]

    # ---------------------------------------------------------------------------------------------------- if and when

    def _if(self, equation: IfEquation) -> list[Equation]:
        branches: list[tuple[Expr, list[Equation]]] = []
        for condition, body in equation.branches:
            c = self._decided(self._evaluator.model(condition).scalar)
            if c is FALSE:
                continue
            branches.append((c, self._branch(body, is_sure=c is TRUE and not branches)))
            if c is TRUE:
                break
        if not branches or branches[-1][0] is not TRUE:
            branches.append((TRUE, self._branch(equation.otherwise, is_sure=not branches)))
        if len(branches) == 1:
            return branches[0][1]
        return merged(branches, equation.origin)

    def _branch(self, body: list[Equation], is_sure: bool) -> list[Equation]:
        """The equations of a branch; the evaluator is told where it may not be the one that holds."""
        self._evaluator.conditions += not is_sure
        try:
            return self._body(body)
        finally:
            self._evaluator.conditions -= not is_sure

    def _decided(self, condition: Expr) -> Expr:
        """A condition over parameters as its value."""
        if make.is_literal(condition):
            return condition
        names = [r.name for r in traverse.refs(condition)]
        variables = self._out.variables
        if not all(n in variables and variables[n].variability in (CONSTANT, PARAMETER) for n in names):
            return condition
        if self._numeric is None:
            self._numeric = Numeric(known_values(self._out))
        value = self._numeric(condition)
        if value is None:
            return condition
        for n in names:
            variables[n].final = True
        return TRUE if value else FALSE

    def _body(self, body: list[Equation]) -> list[Equation]:
        return [x for e in body for x in self._scalar_equations(e)]

    def _when(self, equation: WhenEquation) -> Equation:
        branches: list[tuple[Expr, list[Equation]]] = []
        for condition, body in equation.branches:
            parts = self._evaluator.model(condition).items
            guard: Expr = FALSE
            for part in parts:
                guard = make.or_(guard, Builtin("$when", (part,), BOOLEAN))
            branches.append((guard, self._when_body(body)))
        return WhenEquation(branches, equation.origin)

    def _when_body(self, body: list[Equation]) -> list[Equation]:
        """Inside a when an if may leave branches out, so ifs stay."""
        equations: list[Equation] = []
        for e in body:
            if isinstance(e, IfEquation):
                branches = [(self._evaluator.model(c).scalar, self._when_body(b)) for c, b in e.branches]
                equations.append(IfEquation(branches, self._when_body(e.otherwise), e.origin))
            elif isinstance(e, Equality) and acts(e.right, self._functions):
                equations.append(self._call_in_when(e))
            elif isinstance(e, Equality) and has_impure(e.right, self._impure):
                equations += self._calls_apart(e, initial=False)
            else:
                equations += self._scalar_equations(e)
        return equations

    def _calls_apart(self, e: Equality, initial: bool) -> list[Equation]:
        if isinstance(e.left, TupleTarget):
            return [self._call_in_when(e)]
        made, right = taken_apart(e.right, self._impure, lambda ty: self._made_variable(ty, True, initial))
        calls = [self._call_in_when(Equality(place, call, e.origin)) for place, call in made]
        return [*calls, *self._equality(replace(e, right=right))]

    def _call_in_when(self, e: Equality) -> Equation:
        assert isinstance(e.right, Call)
        targets = e.left.elements if isinstance(e.left, TupleTarget) else (e.left,)
        places = tuple(None if t is None else pack(self._evaluator.model(t)) for t in targets)
        args = tuple(pack(self._evaluator.model(a)) for a in e.right.args)
        self._inliner.used[e.right.function] = None
        return Equality(TupleTarget(places), Call(e.right.function, args, e.right.ty), e.origin)

    def _algorithm(
        self, algorithm: Algorithm, equations: list[Equation], algorithms: list[Algorithm], initial: bool
    ) -> None:
        try:
            equations += equations_of(algorithm, self._flat, self._evaluator, initial)
        except (Unsupported, ValueError) as failure:
            try:
                self._outline(algorithm, equations, initial)
            except (Unsupported, ValueError):
                raise _error(failure, algorithm.origin) from failure

    def _outline(self, algorithm: Algorithm, equations: list[Equation], initial: bool) -> None:
        """The algorithm as calls of functions made of it."""
        targets, in_when = assigned(algorithm.statements)

        def entry(ref: Ref) -> Expr:
            return pack(at_entry(ref, self._flat, self._evaluator, ref.name in in_when, initial))

        def variable(ty: Type, discrete: bool) -> Ref:
            return self._made_variable(ty, discrete, initial)

        host = Host(entry, lambda e: self._watched(e, equations), variable, self.is_pure, initial)
        for part in outlined(algorithm, f"$algorithm{self._n_outlined}", host):
            name = part.function.id
            self._functions[name] = separated(part.function, self._impure)
            self._inliner.used[name] = None
            args = tuple(pack(self._evaluator.model(a)) for a in part.arguments)
            types = tuple(o.ty for o in part.function.outputs)
            places = tuple(pack(self._evaluator.model(r)) for r in part.results)
            call = Call(name, args, types[0] if len(types) == 1 else Type(TupleType(types)))
            if places:
                equations.append(Equality(TupleTarget(places), call, algorithm.origin))
            else:  # of the start alone, it asserts or calls: that is for whoever does what whens do
                at_start = Builtin("$when", (Builtin("initial", (), BOOLEAN),), BOOLEAN)
                done: list[Equation] = [CallEquation(call, algorithm.origin)]
                self._out.equations.append(WhenEquation([(at_start, done)], algorithm.origin))
            for effect in part.effects:
                (self._out.equations if initial else equations).extend(self._equation(effect))
            self._log.warnings += stale(part, in_when, self._flat.variables)
        self._n_outlined += 1
        for target in targets:
            for item in self._evaluator.model(target).items if target.name in in_when else ():
                assert isinstance(item, Ref)
                self._out.variables[item.name].variability = DISCRETE_TIME

    def _made_variable(self, ty: Type, discrete: bool, initial: bool) -> Ref:
        """A variable of the model that holds what a part of an algorithm hands to the next, or wants done; what one of
        the start alone gives stays."""
        name = f"$part{self._n_made}"
        self._n_made += 1
        origin = Origin(passes=(Scalarise.name,))
        for suffix, scalar in leaves(ty):
            variability = DISCRETE_TIME if discrete else CONTINUOUS
            made = Variable(name + suffix, scalar, variability, protected=True, origin=origin, purpose=Purpose.MADE)
            self._out.variables[made.name] = made
            if initial:
                ref = Ref(made.name, scalar)
                self._out.equations.append(Equality(ref, Builtin("pre", (ref,), scalar), origin))
        return Ref(name, ty)

    def _watched(self, e: Expr, equations: list[Equation]) -> Ref:
        """A Boolean variable that holds an expression (of a when's condition any element may hold)."""
        held: Expr
        if isinstance(e, Builtin) and e.name == "$when":
            held = FALSE
            for part in self._evaluator.model(e.args[0]).items:
                held = make.or_(held, Builtin("$when", (part,), BOOLEAN))
        else:
            held = self._evaluator.model(e).scalar
        name = f"$watch{self._n_watched}"
        self._n_watched += 1
        origin = Origin(passes=(Scalarise.name,))
        watcher = Variable(name, BOOLEAN, DISCRETE_TIME, protected=True, origin=origin, purpose=Purpose.MADE)
        self._out.variables[name] = watcher
        equations.append(Equality(Ref(name, BOOLEAN), held, origin))
        return Ref(name, BOOLEAN)


def _is_state(e: WhenEquation) -> bool:
    return isinstance(guard := e.branches[0][0], Builtin) and guard.name == "$state"


def _at_tick(equations: list[Equation], k: int, origin: Origin) -> WhenEquation:
    return WhenEquation([(Builtin("$tick", (Int(k),), BOOLEAN), equations)], origin)


def _is_evaluated(v: Variable) -> bool:
    if isinstance(v.ty.base, ExternalObjectType):
        return False
    if v.variability == CONSTANT or v.structural:
        return True
    return v.variability == PARAMETER and (v.final or v.protected) and is_fixed(v)


def _as_declared(v: Variable, items: tuple[Expr, ...]) -> tuple[Expr, ...]:
    return tuple(make.to_real(x) for x in items) if v.ty.base == REAL.base else items


def _matched(a: Expr, b: Expr) -> tuple[Expr, Expr]:
    return (make.to_real(a), make.to_real(b)) if REAL in (a.ty, b.ty) else (a, b)


def _error(failure: Exception, origin: Origin) -> ModelError:
    span = origin.spans[0] if origin.spans else None
    where = f" in {origin.path}" if origin.path else ""
    return ModelError(Diagnostic("B101", f"this cannot be brought to scalar form{where}: {failure}", span))
