"""Messages to the user: a code, a place, the source line with a caret, and notes.

Codes are a phase letter and a number that never change their meaning (docs/reference/diagnostics.md):
P syntax, L libraries, S semantics, B balance and structure, C code and compiler, R run.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kilohertz.base.source import SourceMap, Span


class Severity(Enum):
    """How bad it is: an error stops the job, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Note:
    """A further remark to a diagnostic, with its place where there is one."""

    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about the user's model.  `label` stands beside the caret."""

    code: str
    message: str
    span: Span | None = None
    label: str = ""
    notes: tuple[Note, ...] = ()
    severity: Severity = Severity.ERROR


class ModelError(Exception):
    """The user's input is wrong; carries one or more diagnostics."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics

    @property
    def __notes__(self) -> list[str]:  # type: ignore[override]  # made when a traceback asks, not when it is raised
        """What a traceback in Python shows below itself: the diagnostics as `khz` prints them."""
        sources = SourceMap()
        return [render(d, sources) for d in self.diagnostics if d.span is not None or d.notes]


class ModelWarning(UserWarning):
    """What `khz simulate` warns of, said by a run in Python: of the model, and of what the run had to cope with.

    Where steps failed or values are no numbers, `strict=True` raises instead.
    """


class InternalError(Exception):
    """A contract inside the compiler is broken: our mistake, never the user's."""


def render(diagnostic: Diagnostic, sources: SourceMap) -> str:
    """The diagnostic as text: `file:line:column: error[S204]: ...`, the line, a caret, the notes."""
    head = f"{diagnostic.severity.value}[{diagnostic.code}]: {diagnostic.message}"
    lines = _placed(head, diagnostic.span, sources)
    if diagnostic.span is not None:
        lines += _excerpt(diagnostic.span, diagnostic.label, sources)
    for note in diagnostic.notes:
        lines.append("note: " + _placed(note.text, note.span, sources)[0])
    return "\n".join(lines)


def _placed(text: str, span: Span | None, sources: SourceMap) -> list[str]:
    if span is None:
        return [text]
    position = sources.position(span)
    if position is None:
        return [f"{span.file}: {text}"]
    return [f"{span.file}:{position[0]}:{position[1]}: {text}"]


def _excerpt(span: Span, label: str, sources: SourceMap) -> list[str]:
    position = sources.position(span)
    if position is None:
        return []
    line, column = position
    text = sources.line_text(span.file, line)
    gutter = f"{line:4d}"
    width = max(1, min(span.end - span.start, len(text) - column + 1))
    pad = "".join("\t" if c == "\t" else " " for c in text[: column - 1])
    caret = pad + "^" * width + (f" {label}" if label else "")
    return [f"{gutter} | {text}", f"{' ' * len(gutter)} | {caret}"]
