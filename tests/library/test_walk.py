"""The whole library: every class says what it is, every component has documentation and an icon, and the page shows it.

That every example checks and runs to its end is held by tests/end_to_end/test_examples.py; adapters need another
library: test_pairs.py.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import components
import diagrams
import kilohertz
from kilohertz.syntax.tree import ClassDef

LIBRARIES, TOP = components.library()
CLASSES = list(components.classes(LIBRARIES, TOP))
CHOICES = [c for c in CLASSES if components.is_component(c) and "Adapters" not in components.name_of(c)]


def test_every_class_is_described_and_every_component_documented_and_drawn() -> None:
    assert components.incomplete(LIBRARIES, TOP) == []


def test_the_page_and_its_pictures_are_up_to_date() -> None:
    assert components.PAGE.read_text(encoding="utf-8") == components.page(LIBRARIES, TOP), "run docs/make/components.py"
    drawn = components.pictures(LIBRARIES, TOP)
    kept = {p.name: p.read_text(encoding="utf-8") for p in components.PICTURES.glob("*.svg")}
    assert kept == drawn, "run python docs/make/components.py"


TEXT = re.compile(r'<text x="(\S+)" y="(\S+)" font-size="(\S+)" [^>]*>([^<]*)</text>')
PORT = re.compile(r'<g transform="translate\((\S+) (\S+)\) rotate\(\S+\) scale\((\S+) (\S+)\)">')


def test_names_stand_clear_of_connectors() -> None:
    """Beyond them, above or below the icon."""
    touching = []
    for name, picture in components.pictures(LIBRARIES, TOP).items():
        for x, y, size, text in TEXT.findall(picture.split("<g ")[0]):
            if text != name.split(".")[-2]:
                continue
            left, right = (float(x) + way * 0.3 * float(size) * len(text) for way in (-1, 1))
            top, bottom = float(y) - 0.75 * float(size), float(y) + 0.2 * float(size)
            for mx, my, w, h in PORT.findall(picture):
                across, high = 100 * abs(float(w)), 100 * abs(float(h))
                beside = left > float(mx) + across or right < float(mx) - across
                if not beside and top < float(my) + high and bottom > float(my) - high:
                    touching.append(name)
    assert touching == []


def test_diagrams_are_whole_and_their_pictures_up_to_date() -> None:
    """Every component of every class has a place; two of a class never the same."""
    for cls in CLASSES:
        if cls.kind in ("model", "block"):
            d = diagrams.diagram(LIBRARIES, cls)
            middles = [p.middle for p in d.places.values()]
            assert (d.free, len(set(middles))) == ([], len(middles)), components.name_of(cls)
    kept = {p.name: p.read_text(encoding="utf-8") for p in diagrams.PICTURES.glob("*.svg")}
    assert kept == diagrams.pictures(LIBRARIES), "run python docs/make/diagrams.py"


def test_every_component_is_used_by_an_example() -> None:
    """By what examples are made of: every variable and equation knows where it is written."""
    used: set[tuple[str, int]] = set()
    for example in filter(components.is_example, CLASSES):
        flat = kilohertz.load(components.name_of(example)).flatten()
        origins = [v.origin for v in flat.variables.values()] + [e.origin for e in flat.equations]
        used |= {(span.file, span.start) for origin in origins for span in origin.spans}
    lacking = [
        components.name_of(c)
        for c in CHOICES
        if not any(file == c.file and c.start <= place < c.end for file, place in used)
    ]
    assert lacking == []


def test_every_example_is_held_against_something() -> None:
    """By a test of this folder that names it: so is, with the test above, every component."""
    words: set[str] = set()
    for file in Path(__file__).parent.glob("test_*.py"):
        if file != Path(__file__):
            nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            texts = [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]
            words |= {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}
    assert [components.name_of(c) for c in filter(components.is_example, CLASSES) if c.name not in words] == []


@pytest.mark.parametrize("cls", CHOICES, ids=components.name_of)
def test_a_component_alone_has_no_errors_of_the_language(cls: ClassDef) -> None:
    """Whether it is balanced shows in the examples: alone, what is connected to it is missing."""
    codes = [d.code for d in kilohertz.load(components.name_of(cls)).check().diagnostics]
    around = ("S290", "S463")  # of the world around it, and of a root of its frames
    assert [c for c in codes if not c.startswith("B4") and c not in around] == []
