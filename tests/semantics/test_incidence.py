"""Incidence of array equations against numbers: an element depends on what its row says, and on little else."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt

from kilohertz.ir.expr import Array, Binary, Builtin, Colon, Expr, IfExp, Index, Int, Range, Real, Ref, Unary
from kilohertz.ir.flat import Equality, Flat, Variable
from kilohertz.ir.types import BOOLEAN, INTEGER, REAL, Type
from kilohertz.semantics.balancing.incidence import incidence
from kilohertz.semantics.connecting.connect_sets import zero

SHAPES: dict[str, tuple[int, ...]] = {"s": (), "v": (3,), "w": (3,), "A": (3, 3), "B": (2, 3), "t": ()}
Numbers = npt.NDArray[np.float64]


def evaluate(e: Expr, at: dict[str, Numbers]) -> Numbers:
    match e:
        case Ref(name):
            return at[name]
        case Real(value) | Int(value):
            return np.asarray(float(value))
        case Unary("-", operand):
            return -evaluate(operand, at)
        case Binary(op, left, right):
            a, b = evaluate(left, at), evaluate(right, at)
            if op == "*" and a.ndim and b.ndim:
                return np.asarray(a @ b)
            return np.asarray({"+": a + b, "-": a - b, "*": a * b, ".*": a * b, ".+": a + b}[op])
        case IfExp(_, then, otherwise):
            return evaluate(then, at) + 0.5 * evaluate(otherwise, at)  # both sides count
        case Builtin("transpose", (arg,)):
            return evaluate(arg, at).T
        case Builtin("sin" | "der", (arg,)):
            return np.sin(evaluate(arg, at))
        case Builtin("sum", (arg,)):
            return np.asarray(evaluate(arg, at).sum())
        case Array(elements):
            return np.stack([evaluate(x, at) for x in elements])
        case Index(base, subs):
            array = evaluate(base, at)
            for k in range(len(subs) - 1, -1, -1):
                array = np.asarray(np.take(array, _choice(subs[k], array.shape[k]), axis=k))
            return array
    raise AssertionError(e)


def _choice(sub: Expr, n: int) -> int | list[int]:
    match sub:
        case Int(value):
            return value - 1
        case Colon():
            return list(range(n))
        case Range(Int(first), None, Int(last)):
            return list(range(first - 1, last))
    raise AssertionError(sub)


class Maker:
    """Random expressions of a wanted shape."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def make(self, dims: tuple[int, ...], depth: int) -> Expr:
        ty = REAL.array_of(*dims)
        makers = [self.leaf]
        if depth:
            makers += [self.sum, self.function, self.choice]
            makers += [self.product, self.constructor, self.scaled] if dims else [self.element]
            makers += [self.flipped] if len(dims) == 2 else []
            makers += [self.part] if dims == (2,) or dims == (3,) else []
        return self.rng.choice(makers)(dims, ty, depth - 1)

    def leaf(self, dims: tuple[int, ...], ty: Type, depth: int) -> Expr:
        fitting = [n for n, shape in SHAPES.items() if shape == dims]
        if fitting:
            return Ref(self.rng.choice(fitting), ty)
        return Array(tuple(self.leaf(dims[1:], ty.element(), depth) for _ in range(dims[0])), ty)

    def sum(self, dims: tuple[int, ...], ty: Type, depth: int) -> Expr:
        return Binary(self.rng.choice("+-"), self.make(dims, depth), self.make(dims, depth), ty)

    def function(self, dims: tuple[int, ...], ty: Type, depth: int) -> Expr:
        return Builtin(self.rng.choice(["sin", "der"]), (self.make(dims, depth),), ty)

    def choice(self, dims: tuple[int, ...], ty: Type, depth: int) -> Expr:
        return IfExp(Binary(">", Real(1.0), Real(0.0), BOOLEAN), self.make(dims, depth), self.make(dims, depth))

    def scaled(self, dims: tuple[int, ...], ty: Type, depth: int) -> Expr:
        return Binary(".*", self.make((), depth), self.make(dims, depth), ty)

    def product(self, dims: tuple[int, ...], ty: Type, depth: int) -> Expr:
        left = (*dims[:1], 3)
        right = (3, *dims[1:])
        if len(dims) == 1 and self.rng.random() < 0.5:
            left, right = (3,), (3, *dims)
        return Binary("*", self.make(left, depth), self.make(right, depth), ty)

    def constructor(self, dims: tuple[int, ...], ty: Type, depth: int) -> Expr:
        return Array(tuple(self.make(dims[1:], depth) for _ in range(dims[0])), ty)

    def flipped(self, dims: tuple[int, ...], ty: Type, depth: int) -> Expr:
        return Builtin("transpose", (self.make(dims[::-1], depth),), ty)

    def part(self, dims: tuple[int, ...], ty: Type, depth: int) -> Expr:
        base = self.make((3, 3), depth)
        chosen: Expr = Colon() if dims == (3,) else Range(Int(2), None, Int(3), INTEGER.array_of(2))
        fixed = Int(self.rng.randint(1, 3))
        return Index(base, (fixed, chosen) if self.rng.random() < 0.5 else (chosen, fixed), ty)

    def element(self, dims: tuple[int, ...], ty: Type, depth: int) -> Expr:
        if self.rng.random() < 0.5:
            return Builtin("sum", (self.make((3,), depth),), ty)
        return Index(self.make((3,), depth), (Int(self.rng.randint(1, 3)),), ty)


def dependencies(e: Expr, order: list[str]) -> list[set[int]]:
    """For each element of an expression the unknowns that move it, found by moving them."""
    rng = np.random.default_rng(7)
    at = {name: rng.uniform(0.5, 1.5, SHAPES[name]) for name in order}
    start = evaluate(e, at).ravel()
    found: list[set[int]] = [set() for _ in start]
    column = 0
    for name in order:
        for k in range(at[name].size):
            moved = dict(at)
            bumped = at[name].ravel().copy()
            bumped[k] += 0.0625
            moved[name] = bumped.reshape(SHAPES[name])
            for row in np.flatnonzero(np.abs(evaluate(e, moved).ravel() - start) > 1e-9):
                found[row].add(column)
            column += 1
    return found


def test_rows_hold_what_elements_depend_on() -> None:
    order = list(SHAPES)
    variables = {name: Variable(name, REAL.array_of(*SHAPES[name])) for name in order}
    exact = total = 0
    for seed in range(400):
        maker = Maker(seed)
        e = maker.make(maker.rng.choice([(), (2,), (3,), (2, 3), (3, 3)]), 4)
        system = incidence(Flat("M", variables, [Equality(e, zero(e.ty))]))
        wanted = dependencies(e, order)
        assert len(system.rows) == len(wanted)
        for row, moved in zip(system.rows, wanted, strict=True):
            assert moved <= set(row)
            exact += moved == set(row)
            total += 1
    assert exact > 0.8 * total  # the rest cancels (x - x) or goes through a sum of an array taken whole
