"""Calls: inlined where that pays, else nodes of their own.

A function is inlined by running it symbolically on its scalar arguments (`execute.py`): where it is annotated `Inline`
or `LateInline`, or is short; but not where it is annotated with its derivative and reads the result of a call that is
not (properties of media: that derivative is better than anything made from them) or reads only what that leaves out
(position, speed and acceleration handed in together; see `inline_told.py`), nor where it has an assertion that is not
known to hold.  Any other call with one scalar output stays an expression, and so does one with several that may fail
and stands under a condition, since it is made only where that holds (at the start arrays, too; elsewhere they are
better differentiated whole).  One with arrays, records or several outputs becomes a call equation that sets auxiliary
variables `$c7[1]`, shared by all calls with the same arguments; `guard_calls.py` sees to it that it runs where it is
asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product

from kilohertz.base import InternalError
from kilohertz.ir import make
from kilohertz.ir.assigned import unset_uses
from kilohertz.ir.builtins import fold
from kilohertz.ir.expr import Builtin, Call, Expr, Index, Int, Item, Ref
from kilohertz.ir.flat import Function, Local
from kilohertz.ir.types import ExternalObjectType, RecordType, TupleType, Type
from kilohertz.passes.called_functions import asserts, called_in_function
from kilohertz.passes.flat.execute import Executor, is_unset, unset
from kilohertz.passes.flat.symbolic_evaluator import Env, Evaluator, Unsupported
from kilohertz.passes.flat.values import Value, leaves, pack, shape
from kilohertz.passes.function_derivative import only_told


@dataclass(slots=True)
class AuxiliaryCall:
    """A call with its outputs as auxiliary variables."""

    call: Call
    outputs: list[Value]
    names: list[tuple[str, Type]] = field(default_factory=list)
    is_conditional: bool = False  # it may fail, and was first asked for under a condition


class Inliner:
    """Answers calls for the evaluator."""

    def __init__(
        self,
        functions: dict[str, Function],
        evaluator: Callable[[], Evaluator],
        long_limit: int = 20000,
        short_limit: int = 16,
        nodes_limit: int = 150,
        keeps_told: bool = True,
    ) -> None:
        self._functions = functions
        self._evaluator = evaluator
        self._limits = (long_limit, short_limit, nodes_limit)
        self._keeps_told = keeps_told
        self._never: set[str] = set()
        self._failures: dict[str, int] = {}
        self._active: list[str] = []
        self._memo: dict[tuple[str, tuple[Expr, ...]], list[Value]] = {}
        self._asserting: dict[str, bool] = {}
        self._unset_in: dict[str, frozenset[str]] = {}  # by function: see _loose
        self._clean: set[Expr] = set()  # expressions without anything that is not set
        self.calls: list[AuxiliaryCall] = []
        self._outputs: set[str] = set()  # names of what calls that stay give
        self.used: dict[str, None] = {}  # functions that stay calls
        self.at_start = False  # whether what is evaluated is computed once, and never differentiated

    def call(self, e: Call, args: list[Value]) -> list[Value]:
        function = self._functions.get(e.function)
        if function is None:
            raise Unsupported(f"a call of {e.function}, which is not known")
        if not function.pure and self._evaluator().targets:
            raise Unsupported(f"an algorithm that calls {e.function}, which is impure")  # it becomes a function
        args = [_suited(a, local) for a, local in zip(args, function.inputs, strict=False)]
        key = (e.function, tuple(pack(a) for a in args))
        outputs = self._memo.get(key)
        if outputs is None:
            outputs = self._inlined(function, args)
            if outputs is None:
                outputs = self._opaque(e, function, args, key[1])
            self._memo[key] = outputs
        return outputs

    # -------------------------------------------------------------------------------------------------------- inlining

    def _inlined(self, f: Function, args: list[Value]) -> list[Value] | None:
        if f.is_record_constructor and not f.body and len(f.outputs) == 1:
            return [_constructed(f, args)]
        if f.external is not None:
            return _builtin(f, args)
        if f.id in self._never or f.inline is False or f.id in self._active or not f.pure or len(self._active) > 40:
            return None
        if not f.inline and takes_object(f):
            return None  # what it does to the object comes before all of its results are there, also those it passes on
        if f.derivatives and not f.inline and self._from_calls(args):
            return None  # it knows its derivative; that of the call whose result it reads would have to be made
        wanted = bool(f.inline) or f.late_inline
        if not wanted and not self._may_be_short(f):
            self._never.add(f.id)
            return None
        evaluator = self._evaluator()
        quiet, evaluator.quiet = evaluator.quiet, not f.generate_events
        self._active.append(f.id)
        try:
            outputs = self._run(f, args, evaluator, wanted)
        except (Unsupported, ValueError, InternalError):  # the last: something that is not set was reckoned with
            self._failed(f)
            return None
        finally:
            self._active.pop()
            evaluator.quiet = quiet
        if not wanted and _nodes(outputs) > self._limits[2] + _nodes(args):
            self._failed(f)
            return None
        if self._keeps_told and not self.at_start and not f.inline and only_told(f):
            return None  # its derivative is another than that of what it reads; inlined when that is taken
        return outputs

    def _failed(self, f: Function) -> None:
        """Other arguments may do better, but not for ever."""
        self._failures[f.id] = self._failures.get(f.id, 0) + 1
        if self._failures[f.id] >= 8:
            self._never.add(f.id)

    def _may_be_short(self, f: Function) -> bool:
        has_values = bool(f.body) or all(local.default is not None for local in f.outputs)
        return has_values and len(f.body) <= self._limits[1]

    def _run(self, f: Function, args: list[Value], evaluator: Evaluator, wanted: bool) -> list[Value]:
        env: Env = {}
        for local, arg in zip(f.inputs, args, strict=True):
            env[local.name] = arg
        for local in (*f.outputs, *f.locals):
            env[local.name] = initial_value(local, env, evaluator)
        executor = Executor(evaluator, self._limits[0] if wanted else 8 * self._limits[1], loose=self._loose(f))
        executor.execute(f.body, env)
        outputs = [env[local.name] for local in f.outputs]
        if self._has_unset(outputs):
            raise Unsupported("an output that is not set")
        return outputs

    def _loose(self, f: Function) -> frozenset[str]:
        """Names that may be read or returned without a value."""
        if f.id not in self._unset_in:
            self._unset_in[f.id] = frozenset(u.local.name for u in unset_uses(f, self._functions, lenient=False))
        return self._unset_in[f.id]

    def _has_unset(self, values: list[Value]) -> bool:
        """Whether something that was never set, an element or a field, is left in them."""
        stack = [x for v in values for x in v.items]
        seen: set[Expr] = set()
        while stack:
            e = stack.pop()
            if is_unset(e):
                return True
            if e not in self._clean and e not in seen:
                seen.add(e)
                stack += e.children()
        self._clean |= seen
        return False

    # ---------------------------------------------------------------------------------------------------- opaque calls

    def _opaque(self, e: Call, f: Function, args: list[Value], packed: tuple[Expr, ...]) -> list[Value]:
        self.used[f.id] = None
        types = self._output_types(e, f, args)
        if len(types) == 1 and _is_scalar(types[0]):
            return [Value(types[0], (Call(f.id, packed, types[0]),))]
        if self._active and self._evaluator().conditions and self._may_fail(f.id):
            raise Unsupported(f"a call of {f.id} that may fail, under a condition")  # it would run in any case
        if self._active and self._has_unset(args):
            raise Unsupported(f"a call of {f.id} with something that is not set")
        whole = types[0] if len(types) == 1 else Type(TupleType(tuple(types)))
        if self._evaluator().conditions and (self.at_start or all(map(_is_scalar, types))) and self._may_fail(f.id):
            call = Call(f.id, packed, whole)
            parts = [Item(call, k) for k in range(len(types))] if len(types) > 1 else [call]
            if not any(isinstance(ty.base, RecordType) for ty in types):
                return [Value(ty, tuple(_elements(part, ty))) for part, ty in zip(parts, types, strict=True)]
        is_conditional = self._evaluator().conditions > 0 and self._may_fail(f.id)
        auxiliary = AuxiliaryCall(Call(f.id, packed, whole), [], is_conditional=is_conditional)
        base = f"$c{len(self.calls)}"
        for i, ty in enumerate(types):
            prefix = base if len(types) == 1 else f"{base}.{f.outputs[i].name}"
            named = [(prefix + suffix, t) for suffix, t in leaves(ty)]
            auxiliary.names += named
            self._outputs.update(n for n, _ in named)
            auxiliary.outputs.append(Value(ty, tuple(Ref(n, t) for n, t in named)))
        self.calls.append(auxiliary)
        return auxiliary.outputs

    def _from_calls(self, args: list[Value]) -> bool:
        """Some argument is the result of a call that stays one."""
        return any(isinstance(x, Ref) and x.name in self._outputs for a in args for x in a.items)

    def _may_fail(self, id: str) -> bool:
        """Whether a function, or one that it calls, has an assertion."""
        known = self._asserting.get(id)
        if known is None:
            self._asserting[id] = False  # while it is looked at: recursion adds nothing
            f = self._functions.get(id)
            known = f is not None and (asserts(f.body) or any(map(self._may_fail, called_in_function(f))))
            self._asserting[id] = known
        return known

    def _output_types(self, e: Call, f: Function, args: list[Value]) -> list[Type]:
        declared = list(e.ty.base.elements) if isinstance(e.ty.base, TupleType) else [e.ty]
        if all(_is_known(t) for t in declared) and len(declared) == len(f.outputs):
            return declared
        env: Env = {local.name: arg for local, arg in zip(f.inputs, args, strict=True)}
        return [local_type(local, env, self._evaluator()) for local in f.outputs]


def _elements(array: Expr, ty: Type) -> Iterator[Expr]:
    """The scalars of what a call gives, row by row."""
    if not ty.dims:
        yield array
        return
    for subs in product(*(range(1, n + 1) for n in shape(ty))):
        yield Index(array, tuple(Int(i) for i in subs), Type(ty.base))


def takes_object(f: Function) -> bool:
    return any(isinstance(local.ty.base, ExternalObjectType) for local in f.inputs)


def _is_scalar(ty: Type) -> bool:
    return not ty.dims and not isinstance(ty.base, RecordType)


def _is_known(ty: Type) -> bool:
    if any(d is None for d in ty.dims):
        return False
    return not isinstance(ty.base, RecordType) or all(_is_known(t) for _, t in ty.base.fields)


def _suited(value: Value, local: Local) -> Value:
    """Integers handed to a Real input become Reals."""
    if local.ty.base == make.ZERO.ty.base and value.ty.base != local.ty.base:
        return Value(Type(local.ty.base, value.ty.dims), tuple(make.to_real(x) for x in value.items))
    return value


def local_type(local: Local, env: Env, evaluator: Evaluator) -> Type:
    """The local's type with its dimensions worked out."""
    dims: list[int] = []
    declared = local.dims or local.ty.dims
    for d in declared:
        if isinstance(d, int):
            dims.append(d)
            continue
        if d is None:
            raise Unsupported(f"the size of {local.name}")
        n = evaluator.scalar(d, env)
        if not isinstance(n, Int):
            raise Unsupported(f"the size of {local.name}")
        dims.append(n.value)
    ty = Type(local.ty.base, tuple(dims))
    if not _is_known(ty):
        raise Unsupported(f"the size of {local.name}")
    return ty


def initial_value(local: Local, env: Env, evaluator: Evaluator) -> Value:
    if local.default is not None:
        value = evaluator.value(local.default, env)
        return _suited(value, local)
    if any(d is None for d in (local.dims or local.ty.dims)):
        return Value(Type(local.ty.base, (0,) * len(local.dims or local.ty.dims)), ())
    ty = local_type(local, env, evaluator)
    return Value(ty, tuple(unset(t) for _, t in leaves(ty)))


def _constructed(f: Function, args: list[Value]) -> Value:
    ty = f.outputs[0].ty
    items = tuple(x for a in args for x in a.items)
    if isinstance(ty.base, RecordType) and not _is_known(ty):
        fields = tuple((name, a.ty) for (name, _), a in zip(ty.base.fields, args, strict=True))
        ty = Type(RecordType(ty.base.name, fields), ty.dims)
    return Value(ty, items)


def _builtin(f: Function, args: list[Value]) -> list[Value] | None:
    """A function whose body is a built-in of the language."""
    external = f.external
    if external is None or external.language != "builtin" or len(f.outputs) != 1 or f.outputs[0].ty.dims:
        return None
    if any(a.ty.dims for a in args):
        return None
    ty = f.outputs[0].ty
    result = fold(Builtin(external.symbol, tuple(a.scalar for a in args), ty))
    return [Value(ty, (result,))]


def _nodes(values: list[Value]) -> int:
    seen: set[Expr] = set()
    stack = [x for v in values for x in v.items]
    while stack:
        e = stack.pop()
        if e not in seen:
            seen.add(e)
            stack.extend(e.children())
    return len(seen)


__all__ = ["AuxiliaryCall", "Inliner", "initial_value", "local_type", "shape"]
