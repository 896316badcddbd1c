"""What is known of a function of the language: the record that `ir/builtins.py` has one of for each."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from kilohertz.ir.expr import Expr
from kilohertz.ir.rules.result_types import TypeRule

Rule: TypeAlias = Callable[[tuple[Expr, ...], list[Expr], Expr], Expr]  # of operands, their derivatives, the call


class Takes(enum.Enum):
    """What a function of scalars is called with; it goes element by element over arrays (MLS 12.4.6)."""

    REALS = enum.auto()  # numbers, made Real
    NUMBERS = enum.auto()  # numbers; Real as soon as one is


class Slope(enum.Enum):
    """Derivatives that need no formula."""

    STILL = enum.auto()  # constant between events, or a value of the past
    LINEAR = enum.auto()  # in all arguments together
    BILINEAR = enum.auto()  # in each of its two arguments


class Event(enum.Enum):
    """What it has to do with events (MLS 3.7.2, 8.5)."""

    NONE = enum.auto()
    STEPS = enum.auto()  # makes one where its argument passes a whole number
    QUOTIENT = enum.auto()  # where the quotient of its arguments does
    QUIET = enum.auto()  # nothing inside makes one
    BEFORE = enum.auto()  # reads a value from before the event
    INSTANT = enum.auto()  # true at certain instants
    PAST = enum.auto()  # reads what was recorded
    RATE = enum.auto()  # reads how something moves
    CLOCKED = enum.auto()  # belongs to a clock


class Form(enum.Enum):
    """What a spelling in C is: how its operands bind, and how it binds itself."""

    CALL = enum.auto()  # f(a, b)
    CAST = enum.auto()  # (type)a
    CHOICE = enum.auto()  # c ? a : b


@dataclass(frozen=True, slots=True)
class BuiltinFunction:
    """One function or operator; the head of `ir/builtins.py` says who reads what."""

    name: str
    type: TypeRule
    arguments: tuple[str, ...] = ()  # names, where it may be called with them
    takes: Takes | None = None
    count: int = 1  # arguments of a function of scalars
    value: Callable[..., Any] | None = None  # of Python's numbers; None: no plain function of scalars
    same_as: int | None = None  # the argument whose value it has
    domain: tuple[float, float] = (-math.inf, math.inf)  # of a first argument that has a value
    derivative: Rule | Slope | None = None
    event: Event = Event.NONE
    c: str = ""  # the operands are {0}, {1}, ...; {c} is the context
    c_integers: str = ""  # the same of Integers, where it differs
    form: Form = Form.CALL
    operations: int = 20
    instructions: int = 160  # of the reference target of cost/targets.py, at most, for ordinary arguments
    far_instructions: int = 0  # for a huge argument, where that is more
    is_elementary: bool = False  # of one Real, and a call of the C library: tens of instructions
    hides: bool = False  # no equation is solved for what stands in it
    mixes: bool = False  # an element of the result is made of other elements of an array than its own
