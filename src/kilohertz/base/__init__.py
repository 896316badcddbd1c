"""Spans, diagnostics and origins: what every room shares.  Imports nothing of ours."""

from kilohertz.base.diagnostics import Diagnostic, InternalError, ModelError, ModelWarning, Note, Severity, render
from kilohertz.base.dotted import Dotted
from kilohertz.base.durations import EXAMPLES, seconds
from kilohertz.base.near import closest, near
from kilohertz.base.origin import Origin
from kilohertz.base.progress import Announce
from kilohertz.base.shares import percent
from kilohertz.base.source import SourceMap, Span, short_name

__all__ = [
    "EXAMPLES",
    "Announce",
    "Diagnostic",
    "Dotted",
    "InternalError",
    "ModelError",
    "ModelWarning",
    "Note",
    "Origin",
    "Severity",
    "SourceMap",
    "Span",
    "closest",
    "near",
    "percent",
    "render",
    "seconds",
    "short_name",
]
