"""What generating C leaves: texts, and what is needed to speak of them.  Light: a second start takes it over."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kilohertz.base import Origin
from kilohertz.ir import step as s
from kilohertz.ir.flat import ExternalCall, Function
from kilohertz.ir.step import Crossing, Kind, Slot


class Jacobians(Enum):
    """How often a solver asks for the Jacobian of the states: often, and much code for it pays."""

    OFTEN = "often"  # in every step: lists of blocks for some columns each, two directions at once, factors written out
    # once in many steps, in an off-line run from Python: one list for all columns, one direction, factors by tables,
    # names of blocks and variables where C needs them
    SELDOM = "seldom"
    NEVER = "never"  # no code: who wants one takes differences


@dataclass(frozen=True, slots=True)
class BlockInfo:
    """A block as messages and the profiler need it."""

    number: int
    phase: str
    kind: str
    unknowns: tuple[str, ...]
    origin: Origin
    cost: int
    block: s.Block
    function: str  # the C function that computes it


@dataclass(frozen=True, slots=True)
class CFile:
    """A generated file."""

    name: str
    text: str
    is_initial: bool = False  # after the start nothing in it runs but parameters, where one is changed
    is_straight: bool = False  # blocks and tables, no functions of the user: hardly a loop in it


@dataclass(frozen=True, slots=True)
class SingleExternals:
    """Calls of external functions from a model that computes in singles (single_doors.py)."""

    file: CFile | None = None
    prototypes: tuple[tuple[str, str], ...] = ()  # as the header has them, and as it has them in singles
    without: tuple[str, ...] = ()  # symbols that such a model cannot call: they are handed records with Reals


@dataclass(frozen=True, slots=True)
class CProgram:
    """A model in C, and what is needed to speak of it: blocks and places by their numbers."""

    name: str
    prefix: str  # of every external symbol
    header: CFile
    files: tuple[CFile, ...]
    external: CFile | None  # calls of external functions; sees third-party headers
    in_singles: SingleExternals
    externals: tuple[ExternalCall, ...]
    blocks: tuple[BlockInfo, ...]
    symbols: tuple[str, ...]  # what its files define for one another and for those that link it
    timed: tuple[str, ...]  # C functions of blocks that have a probe, in the order of their places
    functions: tuple[Function, ...]  # of the model: they have the places after those
    places: tuple[Origin, ...]
    counts: dict[Kind, int]
    made: frozenset[str] = frozenset()  # variables that passes made, not the user
    crossings: tuple[Crossing, ...] = ()  # relations that make events
    views: frozenset[Slot] = frozenset()  # what is computed only where somebody looks

    @property
    def getter(self) -> str:
        """The C function that gives the model table (khz_model.h)."""
        return getter_of(self.prefix)


def getter_of(prefix: str) -> str:
    return f"{prefix}get_model"
