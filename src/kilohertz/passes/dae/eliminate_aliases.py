"""eliminate-aliases: `a = b`, `a = -b`, `a = 3` and `a = p` leave the system; what follows from them too.

  a = b;  b + c = 0;  c = 2;  y = a*x + z*(b + 2)      ->   a = b = -2, c = 2;   y = -2*x

Two variables that are the derivative of one are equal too: `v = der(x);  w = der(x)` keeps one of the equations.

Rounds: find such equations under the replacements known so far, join their variables (disjoint sets with signs), then
rewrite only the equations that mention what was newly eliminated, folding constants as it goes; until a round finds
nothing.  At the end each set is named after its best member: one that must stay (input, parameter, result of a call),
a state, higher stateSelect, fixed or given start, shortest name.  Linear in the equations touched per round.
Gives up (B205) where an equation between numbers does not hold; an equation that ties two that must both stay is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from kilohertz.base import Diagnostic, ModelError, Note
from kilohertz.ir import make, traverse
from kilohertz.ir.dae import (
    AliasOf,
    AnyEquation,
    CallEquation,
    Dae,
    DaeVariable,
    Equation,
    Reinit,
    Role,
    Select,
    der_name,
    made_of,
    pre_name,
    print_equation,
    roots,
)
from kilohertz.ir.expr import Expr, Int, Real, Ref
from kilohertz.ir.flat import Purpose
from kilohertz.ir.make.literals import number
from kilohertz.ir.types import REAL
from kilohertz.passes.algebra import linear_parts, substitute
from kilohertz.passes.contract import Fact, Log, Pass
from kilohertz.passes.dae.before_start import before, given_before, solved_before
from kilohertz.passes.dae.simple_equations import sign_between, small_names
from kilohertz.passes.flat.algorithms import default_start
from kilohertz.passes.rewriting import copied, rewritten_equation, rewritten_rest

UNKNOWN = (Role.ALGEBRAIC, Role.STATE, Role.DISCRETE)
KNOWN = (Role.PARAMETER, Role.INPUT, Role.CONSTANT)

_SAME = 1e-9  # starts that differ by less, in parts of their size, are one


@dataclass(frozen=True, slots=True)
class EliminateAliases(Pass):
    """Unknowns that equal another, its negative or a constant leave the system."""

    name: ClassVar[str] = "eliminate-aliases"
    needs: ClassVar[frozenset[Fact]] = frozenset({Fact.DAE, Fact.NO_ZERO_TERMS})
    gives: ClassVar[frozenset[Fact]] = frozenset({Fact.ALIAS_FREE})
    breaks: ClassVar[frozenset[Fact]] = frozenset({Fact.USED})
    states_chosen: bool = False  # after index reduction: a state stays, even where it equals something

    def run(self, model: Dae, log: Log) -> Dae:
        return _Eliminator(model, self.states_chosen).run()


@dataclass(slots=True)
class _Link:
    """Where a variable went: `sign * parent`, or a literal."""

    parent: str
    sign: int


@dataclass(slots=True)
class _Rate:
    """Equation number `at` says: `sign * name` is the derivative."""

    at: int
    name: str
    sign: int


class _Eliminator:
    def __init__(self, dae: Dae, states_chosen: bool) -> None:
        self._dae = copied(dae)
        self._states_chosen = states_chosen
        self._equations: list[AnyEquation | None] = list(dae.equations)
        self._links: dict[str, _Link] = {}
        self._literals: dict[str, Expr] = {}  # by root
        self._given = given_before(dae)  # by root, too
        self._sizes: dict[str, int] = {}
        self._kept = _kept(dae) | solved_before(dae, self._given)
        self._computed = _computed(dae)
        if states_chosen:
            self._kept |= {v.name for v in dae.variables.values() if v.role is Role.STATE}
        self._mentions: dict[str, list[int]] = {}
        self._made_of = made_of(dae.variables)
        self._fresh: list[str] = []
        self._rates: dict[str, _Rate] = {}  # by root of what is differentiated

    def run(self) -> Dae:
        for i in range(len(self._equations)):
            self._note_mentions(i)
        dirty: Iterable[int] = range(len(self._equations))
        while True:
            self._fresh = []
            for i in dirty:
                e = self._equations[i]
                if isinstance(e, Equation) and (self._take(e) or self._take_rate(i, e)):
                    self._equations[i] = None
            if not self._fresh:
                break
            dirty = self._rewrite(self._fresh)
        return self._finish()

    # ------------------------------------------------------------------------------------------------------- detection

    def _take(self, e: Equation) -> bool:
        """Record what a simple equation says; False where it is not simple."""
        small = small_names(e)
        if small is None:
            return False
        unknown: list[str] = []
        known: list[str] = []
        for name in small:
            v = self._dae.variables.get(name)
            if v is not None and v.role is Role.RELATION and len(small) == 1 and make.is_literal(e.right):
                return self._fix(name, e.right)
            if v is None or v.role not in UNKNOWN + KNOWN:
                return False
            (unknown if v.role in UNKNOWN else known).append(name)
        if not unknown:
            return self._checked(e) if not known else False
        if e.left.ty != REAL:
            return self._take_discrete(e, unknown, known)
        if len(unknown) == 1 and not known:
            return self._take_constant(e, unknown[0])
        return self._take_pair(e, unknown[0], (unknown + known)[1])

    def _checked(self, e: Equation) -> bool:
        if e.left is e.right:
            return True
        values = [x.value for x in (e.left, e.right) if isinstance(x, (Real, Int))]
        if len(values) == 2 and values[0] == values[1]:
            return True
        if make.is_literal(e.left) and make.is_literal(e.right):
            span = e.origin.spans[0] if e.origin.spans else None
            where = f" in {e.origin.path}" if e.origin.path else ""
            raise ModelError(Diagnostic("B205", f"this equation contradicts others{where}: {print_equation(e)}", span))
        return False

    def _take_discrete(self, e: Equation, unknown: list[str], known: list[str]) -> bool:
        a, b = e.left, e.right
        if isinstance(b, Ref) and not isinstance(a, Ref):
            a, b = b, a
        if not isinstance(a, Ref):
            return False
        if make.is_literal(b) and a.name in unknown:
            return self._fix(a.name, b)
        if isinstance(b, Ref) and a.name in unknown + known:
            return self._join(a.name, b.name, 1)
        return False

    def _take_constant(self, e: Equation, name: str) -> bool:
        parts = linear_parts(make.sub(e.left, e.right), name)
        if parts is None or not isinstance(parts[0], Real) or not isinstance(parts[1], Real) or parts[0].value == 0.0:
            return False
        value = -parts[1].value / parts[0].value
        return self._fix(name, Real(value + 0.0))

    def _take_pair(self, e: Equation, a: str, b: str) -> bool:
        sign = sign_between(e, a, b)
        return sign is not None and self._join(a, b, sign)

    def _take_rate(self, i: int, e: Equation) -> bool:
        """`v = der(x)`: the first such equation of an x stays, those after it say that two variables are equal."""
        names = small_names(e) if not self._states_chosen else None
        if names is None or len(names) != 2:
            return False
        name, rate = names if names[1] not in self._dae.variables else reversed(names)
        if name not in self._dae.variables or rate in self._dae.variables or rate not in self._made_of:
            return False
        if self._dae.variables[self._root(name)[0]].role in KNOWN:
            return False  # a given motion: its speed stays a variable
        source, source_sign = self._root(self._made_of[rate])
        if rate != der_name(self._made_of[rate]) or (sign := sign_between(e, rate, name)) is None:
            return False
        known = self._rates.setdefault(source, _Rate(i, name, source_sign * sign))
        return known.at != i and self._join(name, known.name, known.sign * source_sign * sign)

    # ----------------------------------------------------------------------------------------------------------- sets

    def _root(self, name: str) -> tuple[str, int]:
        sign, path = 1, []
        while name in self._links:
            path.append(name)
            link = self._links[name]
            sign *= link.sign
            name = link.parent
        total = sign
        for p in path:  # shorten
            step_sign = self._links[p].sign
            self._links[p] = _Link(name, total)
            total *= step_sign
        return name, sign

    def _fix(self, name: str, value: Expr) -> bool:
        root, sign = self._root(name)
        if root in self._literals or self._is_kept(root) or self._dae.variables[root].role in KNOWN:
            return False
        self._literals[root] = _signed(value, sign)
        self._fresh.append(root)
        return True

    def _join(self, a: str, b: str, sign: int) -> bool:
        """a = sign * b."""
        ra, sa = self._root(a)
        rb, sb = self._root(b)
        if ra == rb or ra in self._literals or rb in self._literals:
            return False
        va, vb = self._dae.variables[ra], self._dae.variables[rb]
        if not self._may_join(va, vb) or self._began_apart(ra, rb):
            return False
        anchored_a = self._is_kept(ra) or va.role in KNOWN
        if anchored_a or (
            not (self._is_kept(rb) or vb.role in KNOWN) and self._sizes.get(ra, 1) > self._sizes.get(rb, 1)
        ):
            ra, rb = rb, ra
        self._links[ra] = _Link(rb, sa * sb * sign)
        self._sizes[rb] = self._sizes.get(rb, 1) + self._sizes.get(ra, 1)
        if ra in self._given:
            self._given.setdefault(rb, _signed(self._given[ra], sa * sb * sign))
        self._absorb(ra, rb)
        self._fresh.append(ra)
        return True

    def _absorb(self, gone: str, root: str) -> None:
        """The root takes over the role of what joins it: a state stays one, a discrete one too."""
        v, w = self._dae.variables[gone], self._dae.variables[root]
        if w.role is Role.ALGEBRAIC and v.role is not Role.ALGEBRAIC:
            self._dae.variables[root] = replace(w, role=v.role)

    def _began_apart(self, ra: str, rb: str) -> bool:
        """Equal, and the model gives each a value before the start of its own (MLS 8.6), which may be two."""
        a, b = self._given.get(ra), self._given.get(rb)
        return a is not None and b is not None and a is not b and a.ty != REAL

    def _is_kept(self, root: str) -> bool:
        return root in self._kept

    def _may_join(self, a: DaeVariable, b: DaeVariable) -> bool:
        if a.ty != b.ty or a.name in self._computed or b.name in self._computed:
            return False
        anchored = [v for v in (a, b) if v.role in KNOWN or self._is_kept(v.name)]
        if len(anchored) == 2:
            return False
        roles = {a.role, b.role}
        if roles != {Role.DISCRETE} and Purpose.LEFT_LIMIT in {a.purpose, b.purpose}:
            return False
        if Role.STATE in roles and (Role.DISCRETE in roles or Role.INPUT in roles):
            return False
        # an input has no value before an event, a discrete variable has one
        return roles != {Role.DISCRETE, Role.INPUT}

    # ------------------------------------------------------------------------------------------------------- rewriting

    def _note_mentions(self, i: int) -> None:
        e = self._equations[i]
        if e is None:
            return
        for name in _names(e):
            self._mentions.setdefault(name, []).append(i)
            base = self._made_of.get(name)
            if base is not None:
                self._mentions.setdefault(base, []).append(i)

    def _rewrite(self, gone: list[str]) -> list[int]:
        values: dict[str, Expr] = {}
        touched: dict[int, None] = {}
        for name in gone:
            self._replacements(name, values)
            root, _ = self._root(name)
            mentions = self._mentions.pop(name, [])
            for i in mentions:
                touched[i] = None
            if root != name:
                self._mentions.setdefault(root, []).extend(mentions)
        memo: dict[Expr, Expr] = {}
        dirty = []
        for i in sorted(touched):
            e = self._equations[i]
            if e is not None:
                self._equations[i] = rewritten_equation(e, lambda x: substitute(x, values, memo))
                dirty.append(i)
        return dirty

    def _replacements(self, name: str, values: dict[str, Expr]) -> None:
        """What stands for a variable, its derivative and its pre."""
        root, sign = self._root(name)
        v = self._dae.variables[root]
        literal = self._literals.get(root)
        if literal is not None:
            values[name] = _signed(literal, sign)
            if not self._states_chosen:
                values[der_name(name)] = make.ZERO
            values[pre_name(name)] = _signed(before(self._given.get(root), literal), sign)
            return
        if root == name:
            return
        values[name] = _signed(v.ref, sign)
        still = v.role in (Role.PARAMETER, Role.CONSTANT)
        moving = Ref(der_name(root), REAL)
        if not self._states_chosen:
            values[der_name(name)] = make.ZERO if still else _signed(moving, sign)
        was: Expr = Ref(pre_name(root), v.ty)
        if still or v.role is Role.INPUT:
            was = before(self._given.get(root) if still else None, v.ref)
        values[pre_name(name)] = _signed(was, sign)

    # ------------------------------------------------------------------------------------------------------ the result

    def _finish(self) -> Dae:
        dae = self._dae
        self._name_sets()
        values: dict[str, Expr] = {}
        eliminated = [n for n in dae.variables if n in self._links or n in self._literals]
        for name in eliminated:
            self._replacements(name, values)
        memo: dict[Expr, Expr] = {}

        def rule(e: Expr) -> Expr:
            return substitute(e, values, memo)

        dae.equations = [rewritten_equation(e, rule) for e in self._equations if e is not None]
        starting = values | {pre_name(n): g for n in eliminated if (g := self._given_to(n)) is not None}
        started: dict[Expr, Expr] = {}
        initial = [rewritten_equation(e, lambda x: substitute(x, starting, started)) for e in dae.initial_equations]
        dae.initial_equations = [e for e in initial if not (isinstance(e, Equation) and self._is_trivial(e))]
        rewritten_rest(dae, rule)
        for name in eliminated:
            root, sign = self._root(name)
            literal = self._literals.get(root)
            v = dae.variables.pop(name)
            if literal is not None:
                dae.aliases[name] = AliasOf(v, None, 1, _signed(literal, sign))
            else:
                dae.aliases[name] = AliasOf(v, root, sign)
        self._shorten_old(dae)
        return dae

    def _given_to(self, name: str) -> Expr | None:
        """The value before the start of what never changes, where it is given."""
        root, sign = self._root(name)
        is_still = root in self._literals or self._dae.variables[root].role in (Role.PARAMETER, Role.CONSTANT)
        given = self._given.get(root) if is_still else None
        return None if given is None else _signed(given, sign)

    def _is_trivial(self, e: Equation) -> bool:
        return e.left is e.right or (make.is_zero(e.left) and make.is_zero(e.right))

    def _shorten_old(self, dae: Dae) -> None:
        """Aliases of earlier rounds that point to what is now eliminated."""
        for name, a in list(dae.aliases.items()):
            if a.target is None or a.target in dae.variables:
                continue
            further = dae.aliases[a.target]
            value = None if further.value is None else _signed(further.value, a.sign)
            dae.aliases[name] = AliasOf(a.variable, further.target, a.sign * further.sign, value)

    def _name_sets(self) -> None:
        """Make the best member of each set its root, with merged attributes; positions before their speeds."""
        members: dict[str, list[tuple[str, int]]] = {}
        for name in self._dae.variables:
            root, sign = self._root(name)
            if root not in self._literals:
                members.setdefault(root, []).append((name, sign))
        speeds: dict[str, tuple[str, int]] = {}  # by root: root of the position, and der(position) = sign * root
        for source, rate in self._rates.items():
            root, sign = self._root(rate.name)
            if source in members and root in members:
                speeds.setdefault(root, (source, rate.sign * sign))
        signs: dict[str, int] = {}  # of each root by the best member of its set
        for root in members:
            chain: dict[str, None] = {}
            step: str | None = root
            while step is not None and step not in signs and step not in chain:
                chain[step] = None
                step = speeds[step][0] if step in speeds else None
            for r in reversed(chain):
                source, sign = speeds.get(r, ("", 0))  # 0: either will do
                signs[r] = self._name_set(r, members[r], sign * signs.get(source, 1))

    def _name_set(self, root: str, group: list[tuple[str, int]], wanted: int) -> int:
        """Gives the sign of the name chosen, if possible the wanted one: `v = der(x)`, not `v = -der(x)`."""
        if len(group) == 1:
            return 1
        variables = self._dae.variables
        old = variables[root]
        best, best_sign = min(group, key=lambda m: _rank(variables[m[0]], m[0] in self._kept, m[1] == -wanted))
        if best != root:
            del self._links[best]
            self._links |= {name: _Link(best, sign * best_sign) for name, sign in group if name != best}
        if old.role not in KNOWN:
            merged = [(variables[n], s * best_sign) for n, s in group]
            variables[best] = self._merged(variables[best], merged, old.role)
        return best_sign

    def _merged(self, best: DaeVariable, group: list[tuple[DaeVariable, int]], role: Role) -> DaeVariable:
        fixed = [(v, s) for v, s in group if v.fixed]
        started = [(v, s) for v, s in group if v.start is not None]
        source: tuple[DaeVariable, int] | None = None
        if fixed:
            source = min(fixed, key=lambda m: (m[0].name != best.name, len(m[0].name), m[0].name))
            for other in fixed:
                self._agree(best, source, other)
        elif started:
            source = min(started, key=lambda m: (m[0].typical_start, m[0].name != best.name, len(m[0].name), m[0].name))
        start, typical = best.start, source is not None and source[0].typical_start and not fixed
        if source is not None and source[0].start is not None:
            start = _signed(source[0].start, source[1])
        nominal = best.nominal or next((v.nominal for v, _ in group if v.nominal is not None), None)
        selects = sorted((v.select for v, _ in group), key=lambda s: s.value)
        # A wish counts more than none: `avoid` on one name holds for those that say nothing.
        select = selects[-1] if selects[-1].value > Select.DEFAULT.value else selects[0]
        best = replace(best, role=role, start=start, fixed=bool(fixed), nominal=nominal, select=select)
        return replace(best, typical_start=typical)  # each name keeps the limits that it was declared with

    def _agree(self, best: DaeVariable, source: tuple[DaeVariable, int], other: tuple[DaeVariable, int]) -> None:
        """Two fixed starts of one variable: B209 where they differ, an initial equation where the run must tell."""
        (v, v_sign), (w, w_sign) = source, other
        mine, theirs = (_signed(m.start if m.start is not None else default_start(m.ty), s) for m, s in (source, other))
        if mine is theirs or best.ty != REAL:
            return
        a, b = number(mine), number(theirs)
        if a is None or b is None:
            self._dae.initial_equations.append(Equation(best.ref, theirs, w.origin))
        elif abs(a - b) > _SAME * max(abs(a), abs(b)):
            equal = f"`{v.name}` and {'' if v_sign * w_sign > 0 else '-'}`{w.name}` are always equal"
            text = f"{equal}, but both have a fixed start: {v_sign * a:g} and {w_sign * b:g}"
            places = [m.origin.spans[0] if m.origin.spans else None for m in (w, v)]
            raise ModelError(Diagnostic("B209", text, places[0], notes=(Note(f"`{v.name}`", places[1]),)))


def _rank(v: DaeVariable, kept: bool, is_opposite: bool) -> tuple[object, ...]:
    return (
        not (kept or v.role in KNOWN),
        is_opposite,
        v.role is Role.ALGEBRAIC,
        v.role is not Role.STATE,
        -v.select.value,
        not v.fixed,
        v.start is None,
        v.purpose is not Purpose.DECLARED,
        v.name.count("."),
        len(v.name),
        v.name,
    )


def _signed(e: Expr, sign: int) -> Expr:
    return e if sign > 0 or make.is_zero(e) else make.neg(e)


def _names(e: AnyEquation) -> list[str]:
    return list(dict.fromkeys(ref.name for root in roots(e) for ref in traverse.refs(root)))


def _computed(dae: Dae) -> set[str]:
    """Results of calls: only the call may set them, so that a call can be solved for its arguments."""
    calls = [e for e in dae.equations if isinstance(e, CallEquation)]
    return {t.name for e in calls for o in e.targets for t in o if isinstance(t, Ref)}


def _kept(dae: Dae) -> set[str]:
    """Variables that other parts hold by name: results of calls, delay lines, reinitialised states."""
    names = _computed(dae)
    names.update(d.source.name for d in dae.delays)
    names.update(x.name for t in dae.transports for x in t.sources)
    names.update(a.target.name for w in dae.whens for a in w.actions if isinstance(a, Reinit))
    return names
