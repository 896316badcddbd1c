"""Annotations, parsed on demand: most are graphics that nobody asks for."""

from __future__ import annotations

from kilohertz.base import Diagnostic, ModelError, Span
from kilohertz.syntax.tree import Annotation, Argument, ClassDef, ElementModification, Expr


def annotation_args(annotation: Annotation | None, cls: ClassDef) -> tuple[Argument, ...]:
    """The arguments of an annotation that stands in `cls` (its own, a component's, an external clause's).

    Read from the source file where the tree does not carry the text; spans are those of the file.
    Raises ModelError when the annotation is malformed or the file cannot be read.
    """
    if annotation is None:
        return ()
    text = annotation.text if annotation.text is not None else _source_text(annotation, cls.file)
    from kilohertz.syntax.parsing.parser import parse_arguments

    return parse_arguments(text, cls.file, annotation.start)


def annotation_value(args: tuple[Argument, ...], *path: str) -> Expr | None:
    """The value bound at a path: `annotation_value(args, "experiment", "StopTime")`; None where there is none."""
    entry = annotation_entry(args, *path)
    if entry is None or entry.modification is None:
        return None
    return entry.modification.binding


def annotation_entry(args: tuple[Argument, ...], *path: str) -> ElementModification | None:
    """The entry at a path, for those without a value of their own: `annotation_entry(args, "uses", "Modelica")`."""
    entries = annotation_entries(args, *path)
    return entries[0] if entries else None


def annotation_entries(args: tuple[Argument, ...], *path: str) -> tuple[ElementModification, ...]:
    """All entries at a path: several `derivative` or `choice` entries may stand side by side."""
    if not path:
        return ()
    entries: list[ElementModification] = []
    for arg in args:
        if not isinstance(arg, ElementModification) or arg.names != path[: len(arg.names)]:
            continue
        rest = path[len(arg.names) :]
        if not rest:
            entries.append(arg)
        elif arg.modification is not None:
            entries += annotation_entries(arg.modification.args, *rest)
    return tuple(entries)


def _source_text(annotation: Annotation, file: str) -> str:
    try:
        with open(file, encoding="utf-8-sig", errors="replace", newline="") as handle:
            text = handle.read()[annotation.start : annotation.end]
    except OSError:
        text = ""
    if not (text.startswith("(") and text.endswith(")")):
        span = Span(file, annotation.start, annotation.end)
        raise ModelError(Diagnostic("L307", "the source of an annotation has changed or cannot be read", span))
    return text
