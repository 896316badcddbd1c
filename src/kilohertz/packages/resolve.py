"""Which version of each library: one that serves everybody who uses it, or who cannot be served together.

A program loads one version of a library, so each name is chosen once.  Wishes are met in order, the best candidate
first; where a later wish is not served by what was chosen, the next candidate is tried.  What is told on failure is the
conflict on the way that looked best.

Codes: L322 no such library in the index, L323 no such version, L324 two users need versions that exclude each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kilohertz.base import Diagnostic, ModelError, Note, near
from kilohertz.base.versions import Version, version
from kilohertz.packages.index import Index, Release

_SHOWN = 8  # versions named in a message
_TRIED = 20_000  # candidates, before a search that has no end in sight is given up


@dataclass(frozen=True, slots=True)
class Wish:
    """Somebody needs a library: the user (`by` is None), or a release with a `uses` annotation."""

    name: str
    version: Version | None = None  # None: the best there is
    by: Release | None = None

    @classmethod
    def read(cls, text: str) -> Wish:
        """`NAME` or `NAME@VERSION`."""
        name, _, wanted = text.partition("@")
        return cls(name.strip(), version(wanted.strip()) if wanted.strip() else None)

    def __str__(self) -> str:
        what = self.name if self.version is None else f"{self.name} {self.version.text}"
        return f"{what} is asked for" if self.by is None else f"{self.by} uses {what}"

    def served_by(self, release: Release) -> bool:
        """Would it do?"""
        return self.version is None or release.serves(self.version)


@dataclass(frozen=True, slots=True)
class Plan:
    """What was chosen, and for whom first; `missing` are wishes that the index cannot meet (where that is allowed)."""

    chosen: Mapping[str, Release]
    wishes: Mapping[str, Wish]
    missing: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class _Chain:
    """Choices so far, newest first: a list that branches share."""

    release: Release
    wish: Wish
    before: _Chain | None

    def find(self, name: str) -> _Chain | None:
        at: _Chain | None = self
        while at is not None and at.release.name != name:
            at = at.before
        return at


def resolve(index: Index, wishes: Iterable[Wish], skip_missing: bool = False) -> Plan:
    """One release for each library that the wishes lead to.  Raises ModelError where there is none."""
    search = _Search(index, skip_missing)
    is_met, chain = search.meet(tuple(wishes))
    if not is_met:
        assert search.first is not None
        raise ModelError(search.first)
    chosen: dict[str, Release] = {}
    asked: dict[str, Wish] = {}
    while chain is not None:
        chosen[chain.release.name], asked[chain.release.name] = chain.release, chain.wish
        chain = chain.before
    return Plan(dict(reversed(chosen.items())), asked, tuple(search.missing.values()))


class _Search:
    def __init__(self, index: Index, skip_missing: bool) -> None:
        self.index, self.skip_missing = index, skip_missing
        self.first: Diagnostic | None = None  # the first thing that did not work
        self.missing: dict[tuple[str, str], Diagnostic] = {}
        self.tried = 0

    def meet(self, wishes: tuple[Wish, ...]) -> tuple[bool, _Chain | None]:
        """Are all wishes met, and how.  A stack of what is left to try instead of recursion."""
        stack: list[tuple[_Chain | None, tuple[Wish, ...]]] = [(None, wishes)]
        while stack:
            chain, open_wishes = stack.pop()
            if not open_wishes:
                return True, chain
            wish, rest = open_wishes[0], open_wishes[1:]
            before = chain.find(wish.name) if chain is not None else None
            if before is not None:
                if wish.served_by(before.release):
                    stack.append((chain, rest))
                else:
                    self._failed(_conflict(wish, before))
                continue
            candidates = self._candidates(wish, chain)
            if not candidates:
                problem = self._unknown(wish)
                if self.skip_missing and wish.by is not None:
                    self.missing[wish.name, str(wish)] = problem
                    stack.append((chain, rest))
                else:
                    self._failed(problem)
                continue
            self.tried += len(candidates)
            if self.tried > _TRIED:
                break
            for release in reversed(candidates):
                follow = tuple(Wish(name, wanted, release) for name, wanted in release.uses.items())
                stack.append((_Chain(release, wish, chain), rest + follow))
        return False, None

    def _failed(self, problem: Diagnostic) -> None:
        if self.first is None:
            self.first = problem

    def _candidates(self, wish: Wish, chain: _Chain | None) -> list[Release]:
        """Best first: the very version, then those of a commit that is chosen already, then as the index ranks them."""
        releases = [r for r in self.index.libraries.get(wish.name, ()) if wish.served_by(r)]
        commits = set()
        at = chain
        while at is not None:
            commits.add(at.release.sha)
            at = at.before

        def behind(release: Release) -> tuple[bool, bool]:
            exact = wish.version is None or release.version.serves(wish.version)
            return not exact, release.sha not in commits

        return sorted(releases, key=behind)  # stable: keeps the ranks

    def _unknown(self, wish: Wish) -> Diagnostic:
        releases = self.index.libraries.get(wish.name)
        if not releases:
            close = near(wish.name, self.index.libraries)
            return Diagnostic("L322", f"{wish}; the index has no library of that name{close}")
        shown = [release.version.text for release in releases[:_SHOWN]]
        more = f" and {len(releases) - _SHOWN} more" if len(releases) > _SHOWN else ""
        notes = (Note(f"the index has {', '.join(shown)}{more}"),)
        return Diagnostic("L323", f"{wish}; there is no such version, and none that serves in its place", notes=notes)


def _conflict(wish: Wish, before: _Chain) -> Diagnostic:
    assert wish.version is not None  # without a version any release serves
    message = f"two versions of `{wish.name}` would be needed at once: {before.wish}, and {wish}"
    notes = (Note(f"{before.release} was chosen; it does not say that users of {wish.version.text} need no change"),)
    return Diagnostic("L324", message, notes=notes)
