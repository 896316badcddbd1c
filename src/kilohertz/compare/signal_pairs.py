"""Which signal of a result is compared with which of a reference: equal names, renamed ones, expressions.

`pair_up` finds the pairs; what only one side has is kept by name, for one line of the report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from math import isclose

from kilohertz.base import Diagnostic, ModelError, Note, near
from kilohertz.compare.bars import Bars
from kilohertz.results import Result

_DIGITS = 1e-6  # single precision
_DERIVATIVE = re.compile(r"(.*\.)der\(([^()]+)\)")


@dataclass(frozen=True, slots=True)
class Pair:
    """`sign * result` is compared with `reference`, each a name or an expression; `name` is for the report.

    Units are those of the signals where they are not given here.
    """

    name: str
    result: str
    reference: str
    sign: int = 1
    result_unit: str = ""
    reference_unit: str = ""


@dataclass(frozen=True, slots=True)
class Rename:
    """Names that match `result` are called `reference` on the other side; each `*` stands for the same text."""

    result: str
    reference: str
    sign: int = 1
    result_unit: str = ""
    reference_unit: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is compared, and what each signal has to meet.

    `only` and `ignore` are patterns of names as the reference has them; of several `special` bars that match a name the
    last one counts.
    """

    bars: Bars = field(default_factory=Bars)
    pairs: Sequence[Pair] = ()
    renames: Sequence[Rename] = ()
    only: Sequence[str] = ()
    ignore: Sequence[str] = ()
    special: Sequence[tuple[str, Mapping[str, float | bool]]] = ()

    def takes(self, name: str) -> bool:
        """Whether a signal of the reference is to be compared."""
        return (not self.only or matches(name, self.only)) and not matches(name, self.ignore)

    def bars_of(self, name: str) -> Bars:
        """What a signal has to meet."""
        bars = self.bars
        for pattern, changes in self.special:
            if matches(name, (pattern,)):
                bars = replace(bars, **changes)  # type: ignore[arg-type]  # checked where they are read
        return bars


@dataclass(frozen=True, slots=True)
class Pairing:
    """The pairs, and the names that have no partner: of the result, of the reference."""

    pairs: tuple[Pair, ...]
    only_result: tuple[str, ...] = ()
    only_reference: tuple[str, ...] = ()
    parameters: tuple[tuple[str, float, float], ...] = field(default=())  # those that differ: name and both values


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name matches one of the patterns; brackets are array subscripts, not sets of characters."""
    return any(fnmatchcase(name, p.replace("[", "[[]")) for p in patterns)


def pair_up(result: Result, reference: Result, wanted: Wanted) -> Pairing:
    """Pairs in the order of the reference; R744 where a pattern of `only` or a rename names nothing."""
    by_spelling = {spelt(n): n for n in result}
    renamed = _renamed(result, wanted.renames)
    pairs: list[Pair] = [*wanted.pairs]
    used = {p.result for p in pairs}
    taken = {p.reference for p in pairs}
    only_reference: list[str] = []
    for name in reference:
        if name in taken or not wanted.takes(name):
            continue
        other = renamed.get(spelt(name)) or _same(name, by_spelling)
        if other is None:
            only_reference.append(name)
        elif not _are_constant(result, other.result, reference, name):
            pairs.append(replace(other, name=name, reference=name))
        if other is not None:
            used.add(other.result)
    _check(wanted, reference, [p.name for p in pairs] + only_reference)
    left = tuple(n for n in result if n not in used and wanted.takes(n))
    return Pairing(tuple(pairs), left, tuple(only_reference), _parameters(result, reference))


def _same(name: str, by_spelling: Mapping[str, str]) -> Pair | None:
    named = by_spelling.get(spelt(name))
    return Pair(name, named, name) if named is not None else None


def spelt(name: str) -> str:
    """A name as it is looked up: without blanks, and `der(a.x)` where a tool writes `a.der(x)`."""
    unspaced = name.replace(" ", "")
    found = _DERIVATIVE.fullmatch(unspaced)
    return unspaced if found is None else f"der({found[1]}{found[2]})"


def _are_constant(result: Result, a: str, reference: Result, b: str) -> bool:
    return result.signals[a].column is None and reference.signals[b].column is None


def _parameters(result: Result, reference: Result) -> tuple[tuple[str, float, float], ...]:
    """Parameters and constants of both sides that have different values; many files have seven digits only."""
    theirs = {spelt(n): value for n, value in reference.parameters.items()}
    both = [(n, value, theirs[spelt(n)]) for n, value in result.parameters.items() if spelt(n) in theirs]
    return tuple((n, a, b) for n, a, b in both if not (isclose(a, b, rel_tol=_DIGITS) or (a != a and b != b)))


def _renamed(result: Result, renames: Sequence[Rename]) -> dict[str, Pair]:
    """By the name that the reference has, without blanks."""
    pairs: dict[str, Pair] = {}
    for rename in renames:
        texts = [re.escape(part) for part in rename.result.split("*")]
        pattern = re.compile("(.*)".join(texts))
        hits = [(n, m) for n in result if (m := pattern.fullmatch(n)) is not None]
        if not hits:
            hint = near(rename.result, list(result))
            raise ModelError(Diagnostic("R744", f"no signal of the result is called `{rename.result}`{hint}"))
        for name, match in hits:
            other = _filled(rename.reference, match.groups())
            units = rename.result_unit, rename.reference_unit
            pairs[spelt(other)] = Pair(other, name, other, rename.sign, *units)
    return pairs


def _filled(pattern: str, texts: Sequence[str]) -> str:
    head, *rest = pattern.split("*")
    return head + "".join(text + part for text, part in zip(texts, rest, strict=True))


def _check(wanted: Wanted, reference: Result, names: Sequence[str]) -> None:
    asked = [*wanted.only, *(pattern for pattern, _ in wanted.special)]
    known = [*names, *reference]
    missing = [p for p in asked if not any(matches(n, (p,)) for n in known)]
    if missing:
        raise ModelError(*(unknown(p, " of the reference", known) for p in missing))


def unknown(pattern: str, of: str, known: Sequence[str]) -> Diagnostic:
    """R744: a name or pattern that no signal has; several with commas between them are told to be given one by one."""
    words = [word.strip() for word in pattern.split(",")]
    apart = len(words) > 1 and all(any(matches(n, (w,)) for n in known) for w in words)
    told = " ".join(f"--signals '{w}'" for w in words)
    notes = (Note(f"each stands by itself, since names may have commas: {told}"),) if apart else ()
    near_by = "" if apart else near(pattern, known)
    return Diagnostic("R744", f"no signal{of} is called `{pattern}`{near_by}", notes=notes)
