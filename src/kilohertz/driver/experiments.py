"""All classes of a library that are meant to be run: those with an experiment annotation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kilohertz.base import Dotted, ModelError
from kilohertz.syntax import annotation_args, annotation_entry

if TYPE_CHECKING:
    from kilohertz.syntax.library import Libraries
    from kilohertz.syntax.tree import ClassDef

RUNNABLE = ("model", "block", "class")


def experiments(libraries: Libraries, packages: Iterable[str]) -> list[str]:
    """Full names, in the order of the packages; partial classes are left out.

    A class that cannot be read is listed as well: whoever sweeps a library wants to hear of it.
    """
    names: list[str] = []
    for package in packages:
        top = libraries.find(Dotted.read(package).parts)
        if top is not None:
            _walk(libraries, top, names)
    return names


def _walk(libraries: Libraries, root: ClassDef, names: list[str]) -> None:
    todo = [root]
    while todo:
        cls = todo.pop()
        if cls.kind in RUNNABLE and not cls.partial and _has_experiment(cls):
            names.append(".".join((*cls.within, cls.name)))
        inside = []
        for name, child in libraries.children(cls).items():
            try:
                inside.append(child())
            except ModelError:
                names.append(".".join((*cls.within, cls.name, name)))
        todo += reversed(inside)


def _has_experiment(cls: ClassDef) -> bool:
    try:
        return annotation_entry(annotation_args(cls.annotation, cls), "experiment") is not None
    except ModelError:
        return True
