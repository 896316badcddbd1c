"""Disjoint sets of integers, with path halving and union by size: near-constant time per operation."""

from __future__ import annotations


class UnionFind:
    """Disjoint sets over 0 .. n-1; `add` makes further elements."""

    __slots__ = ("_parent", "_size")

    def __init__(self, n: int = 0) -> None:
        self._parent = list(range(n))
        self._size = [1] * n

    def __len__(self) -> int:
        return len(self._parent)

    def add(self) -> int:
        """A new element in a set of its own."""
        self._parent.append(len(self._parent))
        self._size.append(1)
        return len(self._parent) - 1

    def find(self, x: int) -> int:
        """The element that stands for the set of `x` (changes when sets are joined)."""
        parent = self._parent
        while parent[x] != x:
            parent[x] = x = parent[parent[x]]
        return x

    def union(self, a: int, b: int) -> bool:
        """Join two sets; False where they were one already."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if self._size[a] < self._size[b]:
            a, b = b, a
        self._parent[b] = a
        self._size[a] += self._size[b]
        return True

    def same(self, a: int, b: int) -> bool:
        return self.find(a) == self.find(b)

    def groups(self) -> list[list[int]]:
        """All sets: members ascending, sets ordered by their smallest member."""
        by_root: dict[int, list[int]] = {}
        for x in range(len(self._parent)):
            by_root.setdefault(self.find(x), []).append(x)
        return list(by_root.values())
