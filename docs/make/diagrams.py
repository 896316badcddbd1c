"""Diagrams of Modelica classes: where components stand and how connections run, read from placements or chosen.

    python docs/make/diagrams.py [FILE.mo ...]      place what has no placement, in files of the library (all of
                                                    them), and draw the diagrams that pages show

A component that is not placed gets a cell of a grid: cells are exchanged as long as the connections become shorter and
leave their connectors outwards.  Connections run at right angles.  `svg` draws a class with its placements.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import components as index
from icons import Place, bases, drawn_ports, layers, line_colour, lookup, placement
from icons import components as declared
from kilohertz.syntax.library import Libraries
from kilohertz.syntax.tree import Body, ClassDef, Component, Connect, Ref

Point = tuple[float, float]
HALF, STUB = 10.0, 4.0  # of a component; how far a line goes before it may turn
STEP, NARROW = 40.0, 30.0  # between components; where many must fit between the connectors of a class
SQUARE = 100.0  # half of a diagram whose class says nothing else
BEGINNINGS = 12  # tried for a diagram
BETWEEN = 6  # components side by side between the connectors of a class
AWKWARD, THROUGH = 80.0, 60.0  # what a line costs that leaves its connector inwards, or goes through a component


PICTURES = index.ROOT / "docs" / "pictures" / "diagrams"
SHOWN = (  # on the pages of their examples
    "HydraulicAxis.WithComponents",
    "Car.SixSpeeds",
    "YDrive",
    "SaturatingInductors.WithCapacitor",
    "ThermalResistors.WithCapacity",
)


@dataclass(slots=True)
class Diagram:
    """Components by name with their classes, where they stand, and the connections between them."""

    cls: ClassDef
    kinds: dict[str, ClassDef] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    ports: dict[tuple[str, str], tuple[Point, ClassDef]] = field(default_factory=dict)  # in the component's own square
    edges: list[tuple[Connect, tuple[str, str], tuple[str, str]]] = field(default_factory=list)
    free: list[Component] = field(default_factory=list)  # own components without a placement

    def at(self, end: tuple[str, str]) -> Point:
        """A connector in the diagram."""
        (x, y), _ = self.ports[end]
        if not end[0]:
            return x, y
        place = self.places[end[0]]
        return place.middle[0] + x * place.half / 100, place.middle[1] + y * place.half_height / 100

    def out(self, end: tuple[str, str]) -> Point:
        """The direction in which a line leaves a connector; from a connector of the class itself, inwards."""
        (x, y), _ = self.ports[end]
        sign = 1.0 if end[0] else -1.0
        return (sign if x > 0 else -sign, 0.0) if abs(x) >= abs(y) else (0.0, sign if y > 0 else -sign)


# -------------------------------------------------------------------------------------------------------------- reading


def diagram(libraries: Libraries, cls: ClassDef, chosen: Mapping[tuple[str, str], Place] | None = None) -> Diagram:
    """What a class holds that can be drawn; `chosen` are places by class and component that no source has yet."""
    d, known = Diagram(cls), chosen or {}
    for component, owner in declared(libraries, cls):
        kind = lookup(libraries, component.type.names, owner)
        if kind is None or component.variability or not "".join(layers(libraries, kind, kind)):
            continue
        place = placement(component, owner) or known.get((index.name_of(owner), component.name))
        if kind.kind == "connector":
            if place is not None:
                d.ports["", component.name] = (place.middle, kind)
            continue
        d.kinds[component.name] = kind
        d.ports |= {(component.name, port): at for port, at in _ports(libraries, kind)}
        if place is not None:
            d.places[component.name] = place
        elif owner is cls and component.causality == "":
            d.free.append(component)
    for connect in _connects(libraries, cls):
        ends = _end(connect.left), _end(connect.right)
        if all(e in d.ports and (not e[0] or e[0] in d.kinds) for e in ends):
            d.edges.append((connect, *ends))
    return d


def _ports(libraries: Libraries, kind: ClassDef) -> Iterator[tuple[str, tuple[Point, ClassDef]]]:
    for component, owner in declared(libraries, kind):
        port, place = lookup(libraries, component.type.names, owner), placement(component, owner)
        if port is not None and port.kind == "connector" and place is not None:
            yield component.name, (place.middle, port)


def _connects(libraries: Libraries, cls: ClassDef) -> Iterator[Connect]:
    for base in bases(libraries, cls):
        yield from _connects(libraries, base)
    yield from _inside(_equations(cls))


def _equations(cls: ClassDef) -> list[object]:
    sections = cls.body.sections if isinstance(cls.body, Body) else ()
    return [e for s in sections if not s.algorithm for e in s.items]


def _inside(equations: list[object]) -> Iterator[Connect]:
    """Connections, those in loops too."""
    for e in equations:
        if isinstance(e, Connect):
            yield e
        else:
            yield from _inside(list(getattr(e, "body", ())))


def _end(ref: Ref) -> tuple[str, str]:
    return ("", ref.names[0]) if len(ref.names) == 1 else (ref.names[0], ref.names[1])


# --------------------------------------------------------------------------------------------------------------- layout


def lay_out(d: Diagram) -> None:
    """Places for all that has none: the best of several beginnings."""
    fixed, found = dict(d.places), []
    for first in range(min(BEGINNINGS, len(d.free))):
        d.places = dict(fixed)
        _settle(d, first)
        found.append((_cost(d), first, d.places))
    d.places = min(found, key=lambda f: f[:2])[2]


def _settle(d: Diagram, first: int) -> None:
    """From the neighbours of one component outwards, then cells are exchanged."""
    names = [c.name for c in d.free]
    bordered = any(not owner for owner, _ in d.ports)
    cells = _grid(len(names) + len(d.places), bordered)
    fixed = [p.middle for p in d.places.values()]
    cells = [c for c in cells if all(max(abs(c[0] - x), abs(c[1] - y)) > 25 for x, y in fixed)]
    d.places |= {
        name: Place(cell, HALF, HALF) for name, cell in zip(_by_neighbours(d, names, first), cells, strict=False)
    }
    for _ in range(40):
        moved = [_improve(d, name, cells) for name in names]
        if not any(moved):
            break


def _grid(n: int, bordered: bool) -> list[Point]:
    """Cells from the middle of a grid outwards, more than are needed; closer between connectors of the class."""
    wide, high = max(2, math.ceil(2 * math.sqrt(n))), max(2, math.ceil(1.2 * math.sqrt(n)))
    if bordered:
        wide, high = min(wide, BETWEEN), max(high, math.ceil(n / BETWEEN))
    step = NARROW if bordered and max(wide, high) > 4 else STEP
    spots = [((i - (wide - 1) / 2) * step, (j - (high - 1) / 2) * step) for j in range(high) for i in range(wide)]
    return sorted(spots, key=lambda p: (abs(p[0]) + abs(p[1]), p))


def _by_neighbours(d: Diagram, names: list[str], first: int) -> list[str]:
    """From one of the best connected ones outwards."""
    near: dict[str, list[str]] = {n: [] for n in names}
    for _, a, b in d.edges:
        if a[0] in near and b[0] in near:
            near[a[0]].append(b[0])
            near[b[0]].append(a[0])
    order: list[str] = []
    seeds = sorted(names, key=lambda n: -len(near[n]))
    for seed in seeds[first:] + seeds[:first]:
        waiting = [seed]
        while waiting:
            name = waiting.pop(0)
            if name not in order:
                order.append(name)
                waiting += near[name]
    return order


def _improve(d: Diagram, name: str, cells: list[Point]) -> bool:
    """Exchange cells with whatever makes the lines best; whether something moved."""
    taken = {p.middle: n for n, p in d.places.items()}
    here, before = d.places[name].middle, _cost(d)
    best, least = None, before - 1e-6
    for cell in cells:
        if cell != here:
            _swap(d, name, taken.get(cell), cell, here)
            cost = _cost(d)
            _swap(d, name, taken.get(cell), here, cell)
            if cost < least:
                best, least = cell, cost
    if best is not None:
        _swap(d, name, taken.get(best), best, here)
    return best is not None


def _swap(d: Diagram, name: str, other: str | None, cell: Point, here: Point) -> None:
    d.places[name] = Place(cell, HALF, HALF)
    if other is not None:
        d.places[other] = Place(here, HALF, HALF)


def _cost(d: Diagram) -> float:
    """Length of the lines, and what makes them hard to follow."""
    total = sum(0.02 * sum(map(abs, p.middle)) for p in d.places.values())
    boxes = [(n, p.middle) for n, p in d.places.items()]
    for _, a, b in d.edges:
        (ax, ay), (bx, by) = d.at(a), d.at(b)
        total += abs(ax - bx) + abs(ay - by)
        for end, dx, dy in ((a, bx - ax, by - ay), (b, ax - bx, ay - by)):
            nx, ny = d.out(end)
            total += AWKWARD if dx * nx + dy * ny < 0 else 0.0
        corners = route(d, a, b)
        total += 2.0 * len(corners)
        for (x0, y0), (x1, y1) in pairwise(corners):
            left, right, low, high = min(x0, x1) - 9, max(x0, x1) + 9, min(y0, y1) - 9, max(y0, y1) + 9
            crossed = [n for n, (x, y) in boxes if left < x < right and low < y < high and n not in (a[0], b[0])]
            total += THROUGH * len(crossed)
    return total


def route(d: Diagram, a: tuple[str, str], b: tuple[str, str]) -> list[Point]:
    """A line at right angles from one connector to another, which it leaves outwards."""
    p, q, n, m = d.at(a), d.at(b), d.out(a), d.out(b)
    if n[1] and m[1]:  # both go up or down: as if the page were turned
        turned = _between((p[1], p[0]), (q[1], q[0]), n[1], m[1])
        return _straight([p, *((x, y) for y, x in turned), q])
    if n[0] and m[0]:
        return _straight([p, *_between(p, q, n[0], m[0]), q])
    corner = (q[0], p[1]) if n[0] else (p[0], q[1])
    leaves = (corner[0] - p[0]) * n[0] + (corner[1] - p[1]) * n[1] > 0
    arrives = (corner[0] - q[0]) * m[0] + (corner[1] - q[1]) * m[1] > 0
    if leaves and arrives:
        return _straight([p, corner, q])
    first, last = (p[0] + STUB * n[0], p[1] + STUB * n[1]), (q[0] + STUB * m[0], q[1] + STUB * m[1])
    return _straight([p, first, (first[0], last[1]) if n[0] else (last[0], first[1]), last, q])


def _between(p: Point, q: Point, n: float, m: float) -> list[Point]:
    """Corners of a line that leaves p to the right (n = 1) or left (-1), and q likewise."""
    (ax, ay), (bx, by) = p, q
    if n == -m and (bx - ax) * n >= 2 * STUB:
        return [((ax + bx) / 2, ay), ((ax + bx) / 2, by)]
    if n == m:
        x = n * (max(ax * n, bx * n) + STUB)
        return [(x, ay), (x, by)]
    y = (ay + by) / 2 if abs(ay - by) > 2 * HALF else max(ay, by) + 1.6 * HALF
    return [(ax + STUB * n, ay), (ax + STUB * n, y), (bx + STUB * m, y), (bx + STUB * m, by)]


def _straight(corners: list[Point]) -> list[Point]:
    """Without corners that are none."""
    kept = corners[:1]
    for i, p in enumerate(corners[1:-1], 1):
        a, b = kept[-1], corners[i + 1]
        if p != a and not (a[0] == p[0] == b[0] or a[1] == p[1] == b[1]):
            kept.append(p)
    return [*kept, corners[-1]]


# -------------------------------------------------------------------------------------------------------------- writing


def inserts(text: str, d: Diagram) -> dict[int, str]:
    """What was chosen as annotations, by their places in the source of the class."""
    found: dict[int, str] = {}
    for c in d.free:
        (x, y), half = d.places[c.name].middle, d.places[c.name].half
        extent = f"{{{{{x - half:g},{y - half:g}}},{{{x + half:g},{y + half:g}}}}}"
        place, end = f"Placement(transformation(extent={extent}))", _declared_to(text, c.end)
        before = text.rfind("annotation(", c.end, end)
        if before < 0:
            found[end] = f" annotation({place})"
        else:
            found[before + len("annotation(")] = f"{place}, "
    reach = max((max(map(abs, p.middle)) for p in d.places.values()), default=0) + 2 * HALF
    said = d.cls.annotation
    if reach > SQUARE and said is not None and "Diagram(" not in text[said.start : said.end]:
        extent = f"{{{{-{reach:g},-{reach:g}}},{{{reach:g},{reach:g}}}}}"
        found[said.start + 1] = f"Diagram(coordinateSystem(extent={extent})), "
    own = {id(c) for c in _inside(_equations(d.cls))}
    for connect, a, b in d.edges:
        if id(connect) not in own:  # of a base class, maybe in another file
            continue
        end = text.index(";", connect.end - 1)
        placed = all(not e[0] or e[0] in d.places for e in (a, b))
        if placed and "annotation" not in text[connect.start : end]:
            corners = ",".join(f"{{{x:g},{y:g}}}" for x, y in route(d, a, b))
            found[end] = f" annotation(Line(points={{{corners}}}, color={line_colour(d.ports[a][1])[0]}))"
    return found


def _declared_to(text: str, place: int) -> int:
    """Where a declaration ends: at the next comma or semicolon outside of parentheses and texts."""
    depth, quoted = 0, False
    while quoted or depth or text[place] not in ",;":
        quoted ^= text[place] == '"'
        depth += 0 if quoted else (text[place] in "({") - (text[place] in ")}")
        place += 1
    return place


def svg(libraries: Libraries, cls: ClassDef) -> str:
    """The diagram of a class as its placements have it."""
    d = diagram(libraries, cls)
    parts = []
    for _, a, b in d.edges:
        if all(not e[0] or e[0] in d.places for e in (a, b)):
            path = "L".join(f"{x:g} {-y:g}" for x, y in route(d, a, b))
            parts.append(
                f'<path d="M{path}" fill="none" stroke="{line_colour(d.ports[a][1])[1]}" stroke-width="0.7"/>\n'
            )
    for name, place in d.places.items():
        kind = d.kinds[name]
        drawn = "".join([*layers(libraries, kind, kind, name), *drawn_ports(libraries, kind)])
        parts.append(f'<g transform="{place.transform}">\n{drawn}</g>\n')
    xs, ys = zip(*(p.middle for p in d.places.values()), strict=True)
    left, top, wide, high = min(xs) - 25, -max(ys) - 25, max(xs) - min(xs) + 50, max(ys) - min(ys) + 50
    size = f'viewBox="{left:g} {top:g} {wide:g} {high:g}" width="{2.5 * wide:g}" height="{2.5 * high:g}"'
    paper = f'<rect x="{left:g}" y="{top:g}" width="{wide:g}" height="{high:g}" fill="white"/>\n'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    return f"{head}\n{paper}{''.join(parts)}</svg>\n"


def pictures(libraries: Libraries) -> dict[str, str]:
    """The diagrams that pages show, by the names of their files."""
    drawn = {}
    for name in SHOWN:
        cls = libraries.find(("Kilohertz", "Examples", *name.split(".")))
        assert cls is not None, name
        drawn[f"{name}.svg"] = svg(libraries, cls)
    return drawn


def main() -> int:
    libraries, top = index.library()
    asked = {str(Path(f).absolute()) for f in sys.argv[1:]}
    places: dict[tuple[str, str], Place] = {}
    written: dict[Path, dict[int, str]] = {}
    waiting = [c for c in index.classes(libraries, top) if c.kind in ("model", "block")]
    while waiting:
        cls = waiting.pop(0)
        d = diagram(libraries, cls, places)
        if asked and cls.file not in asked:
            continue
        if d.free and len(d.places) + len(d.free) < len(d.kinds):  # what it inherits comes first
            waiting.append(cls)
            continue
        if d.free:
            lay_out(d)
        places |= {(index.name_of(cls), c.name): d.places[c.name] for c in d.free}
        file = Path(cls.file)
        written.setdefault(file, {}).update(inserts(file.read_text(encoding="utf-8"), d))
        if d.free:
            print(f"{index.name_of(cls)}: {len(d.free)} placed")
    for file, added in written.items():
        text = file.read_text(encoding="utf-8")
        for place in sorted(added, reverse=True):
            text = text[:place] + added[place] + text[place:]
        if added:
            file.write_text(text, encoding="utf-8")
    PICTURES.mkdir(parents=True, exist_ok=True)
    for name, drawn in pictures(index.library()[0]).items():
        (PICTURES / name).write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
