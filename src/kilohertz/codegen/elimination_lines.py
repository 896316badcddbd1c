"""Lines of C that eliminations have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def runs(places: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Pairs of places, the first ascending, as runs in which both ascend by one: first places, length."""
    at = 0
    while at < len(places):
        end = at + 1
        while end < len(places) and places[end] == (places[at][0] + end - at, places[at][1] + end - at):
            end += 1
        yield (*places[at], end - at)
        at = end


def by_pairs(to: int, from_: int, length: int, value: str, source: str) -> list[str]:
    """Set a run of `lu` to a value made of it and of a source, two at a time: each as one at a time would give it."""
    lines = []
    for k in range(0, length - 1, 2):
        of_two = value.format(to=f"khz_pair_at(lu + {to + k})", from_=f"khz_pair_at({source} + {from_ + k})")
        lines.append(f"khz_set_pair(lu + {to + k}, {of_two});")
    if length % 2:
        last, k = f"lu[{to + length - 1}]", from_ + length - 1
        lines.append(f"{last} = {value.format(to=last, from_=f'{source}[{k}]')};")
    return lines


def braced(lines: Sequence[str]) -> list[str]:
    """Lines in a scope of their own."""
    return ["{", *("    " + line for line in lines), "}"]
