"""Icons of Modelica classes as SVG, out of their annotations: MLS 18.6, the part of it that our library uses.

What a class inherits is drawn first, then its own graphics, then the icons of its connectors where they are placed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from itertools import pairwise

from kilohertz.syntax import annotation_args, annotation_entry, annotation_value, unparse
from kilohertz.syntax.library import Libraries, full_name
from kilohertz.syntax.tree import Body, Call, ClassDef, Component, ElementModification, Expr, Extends, ShortBody
from kilohertz.syntax.tree_expr import Array, Number, Ref, String, Unary

HALF = 170  # the icon's own square is 100 wide each way; connectors stand out of it, names beyond them
STROKE = 'stroke-width="2"'
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Place:
    """The square of a component: its middle, half of its width and height, and its turn in degrees."""

    middle: Point
    half: float
    half_height: float
    turn: float = 0.0

    @property
    def transform(self) -> str:
        move = f"translate({self.middle[0]:g} {-self.middle[1]:g}) rotate({-self.turn:g})"
        return f"{move} scale({self.half / 100:g} {self.half_height / 100:g})"


def svg(libraries: Libraries, cls: ClassDef) -> str:
    """The icon of a class; "" where it has none."""
    own = "".join(layers(libraries, cls, cls))
    if not own:
        return ""
    ports = "".join(drawn_ports(libraries, cls))
    box = f'viewBox="{-HALF} {-HALF} {2 * HALF} {2 * HALF}" width="96" height="96"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif">'
    return f"{head}\n{own}{ports}</svg>\n"


def lookup(libraries: Libraries, names: tuple[str, ...], cls: ClassDef) -> ClassDef | None:
    """A class as seen from inside another: in it, in what it inherits, or in a package around it."""
    scope = full_name(cls)
    for depth in range(len(scope), -1, -1):
        found = libraries.find((*scope[:depth], *names))
        if found is not None and found is not cls:
            return found
    return None


def bases(libraries: Libraries, cls: ClassDef) -> Iterator[ClassDef]:
    """The classes that a class extends."""
    if isinstance(cls.body, Body):
        refs = [e.type for e in cls.body.elements if isinstance(e, Extends)]
    elif isinstance(cls.body, ShortBody):
        refs = [cls.body.type]
    else:
        refs = []
    for ref in refs:
        base = lookup(libraries, ref.names, cls)
        if base is not None:
            yield base


def components(libraries: Libraries, cls: ClassDef) -> Iterator[tuple[Component, ClassDef]]:
    """What a class declares and inherits, each with the class it stands in."""
    for base in bases(libraries, cls):
        yield from components(libraries, base)
    if isinstance(cls.body, Body):
        yield from ((e, cls) for e in cls.body.elements if isinstance(e, Component))


def layers(libraries: Libraries, cls: ClassDef, shown: ClassDef, name: str = "") -> Iterator[str]:
    """The graphics of a class: inherited ones, then its own; for a component with its name."""
    for base in bases(libraries, cls):
        yield from layers(libraries, base, shown, name)
    entry = annotation_entry(annotation_args(cls.annotation, cls), "Icon")
    if entry is None or entry.modification is None:
        return
    graphics = annotation_value(entry.modification.args, "graphics")
    values = {c.name: _default(c) for c, _ in components(libraries, shown)}
    for item in graphics.elements if isinstance(graphics, Array) else ():
        if isinstance(item, Call):
            yield _drawn(item.function.names[0], dict(item.named), {**values, "name": name or shown.name})


def _default(component: Component) -> str:
    bound = component.modification.binding if component.modification is not None else None
    return unparse(bound) if bound is not None else ""


def drawn_ports(libraries: Libraries, cls: ClassDef) -> Iterator[str]:
    """The connectors of a class where they are placed."""
    for component, owner in components(libraries, cls):
        kind = lookup(libraries, component.type.names, owner)
        if kind is None or kind.kind != "connector":
            continue
        place = placement(component, owner)
        if place is not None:
            drawn = "".join(layers(libraries, kind, kind))
            thick = drawn.replace(STROKE, f'stroke-width="{200 / place.half:g}"')  # as thick as other lines
            yield f'<g transform="{place.transform}">\n{thick}</g>\n'


def placement(component: Component, owner: ClassDef) -> Place | None:
    """Where a component stands in the icon or diagram of its class; None where nothing says it."""
    place = annotation_entry(annotation_args(component.annotation, owner), "Placement", "transformation")
    if place is None:
        return None
    (x0, y0), (x1, y1) = _points(_value(place, "extent"))
    x, y = _point(_value(place, "origin")) if _value(place, "origin") is not None else (0.0, 0.0)
    turn = _number(_value(place, "rotation")) if _value(place, "rotation") is not None else 0.0
    return Place((x + (x0 + x1) / 2, y + (y0 + y1) / 2), (x1 - x0) / 2, (y1 - y0) / 2, turn)


def _value(entry: ElementModification, name: str) -> Expr | None:
    return annotation_value(entry.modification.args, name) if entry.modification is not None else None


def _drawn(kind: str, named: Mapping[str, Expr], values: Mapping[str, str]) -> str:
    line = colour(named.get("color", named.get("lineColor")), "black")
    filled = "fillPattern" in named
    style = f'stroke="{line}" fill="{colour(named.get("fillColor"), "black") if filled else "none"}" {STROKE}'
    if kind == "Text":
        return _text(named, values)
    if kind == "Line":
        corners = _points(named["points"])
        return f'<path d="{_path(corners, "smooth" in named)}" fill="none" stroke="{line}" {STROKE}/>\n'
    if kind == "Polygon":
        return f'<path d="{_path(_points(named["points"]), False)}Z" {style}/>\n'
    (x0, y0), (x1, y1) = _points(named["extent"])
    left, top, width, height = min(x0, x1), -max(y0, y1), abs(x1 - x0), abs(y1 - y0)
    if kind == "Rectangle":
        return f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}" {style}/>\n'
    if kind == "Ellipse":
        middle = f'cx="{left + width / 2:g}" cy="{top + height / 2:g}"'
        return f'<ellipse {middle} rx="{width / 2:g}" ry="{height / 2:g}" {style}/>\n'
    raise ValueError(f"no picture of `{kind}`: draw with Line, Rectangle, Ellipse, Polygon and Text")


def _text(named: Mapping[str, Expr], values: Mapping[str, str]) -> str:
    (x0, y0), (x1, y1) = _points(named["extent"])
    text = named["textString"]
    shown = text.value if isinstance(text, String) else ""
    for name in sorted(values, key=len, reverse=True):
        if f"%{name}" in shown and not values[name]:
            return ""
        shown = shown.replace(f"%{name}", values[name])
    room = abs(x1 - x0) / max(1.0, 0.6 * len(shown))
    size = min(abs(y1 - y0), room, 26.0)
    place = f'x="{(x0 + x1) / 2:g}" y="{-(y0 + y1) / 2 + size / 3:g}"'
    ink = colour(named.get("textColor"), "black")
    return f'<text {place} font-size="{size:.3g}" text-anchor="middle" fill="{ink}">{escape(shown)}</text>\n'


def _path(points: list[Point], smooth: bool) -> str:
    """Straight lines; smooth: quadratic curves between the middles of the lines, as Bezier in MLS 18.6.5.1."""
    first, *rest = [(x, -y) for x, y in points]
    parts = [f"M{first[0]:g} {first[1]:g}"]
    if not smooth or len(rest) < 2:
        return "".join([*parts, *(f"L{x:g} {y:g}" for x, y in rest)])
    for (x, y), (nx, ny) in pairwise(rest):
        parts.append(f"Q{x:g} {y:g} {(x + nx) / 2:g} {(y + ny) / 2:g}")
    return "".join([*parts, f"L{rest[-1][0]:g} {rest[-1][1]:g}"])


def line_colour(cls: ClassDef) -> tuple[str, str]:
    """Of the first item of an icon: as Modelica has it, and as SVG does."""
    entry = annotation_entry(annotation_args(cls.annotation, cls), "Icon")
    graphics = annotation_value(entry.modification.args, "graphics") if entry and entry.modification else None
    first = graphics.elements[0] if isinstance(graphics, Array) and graphics.elements else None
    value = dict(first.named).get("lineColor") if isinstance(first, Call) else None
    return (unparse(value).replace(" ", ""), colour(value, "black")) if value is not None else ("{0,0,0}", "black")


def colour(value: Expr | None, default: str) -> str:
    """A colour for SVG."""
    if not isinstance(value, Array):
        return default
    return "#" + "".join(f"{round(_number(e)):02x}" for e in value.elements)


def _points(value: Expr | None) -> list[Point]:
    assert isinstance(value, Array), "a list of points"
    return [_point(e) for e in value.elements]


def _point(value: Expr | None) -> Point:
    assert isinstance(value, Array) and len(value.elements) == 2, "a point"
    return _number(value.elements[0]), _number(value.elements[1])


def _number(value: Expr | None) -> float:
    match value:
        case Number(value=number):
            return float(number)
        case Unary(op="-", operand=operand):
            return -_number(operand)
        case Ref():
            return math.nan
    raise ValueError("a number is expected in the graphics of an icon")
