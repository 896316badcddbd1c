"""The C runtime: its files, what its headers define, and how the compiler laid that out."""

from kilohertz.runtime.checked_layout import check_layout, step_sources, task_layout, task_sources
from kilohertz.runtime.definitions import constant, family, fields, formula, words
from kilohertz.runtime.source_files import (
    device_headers,
    device_sources,
    ensemble_text,
    external_sources,
    headers,
    names_in,
    offline_sources,
    task_headers,
)

__all__ = [
    "check_layout",
    "constant",
    "device_headers",
    "device_sources",
    "ensemble_text",
    "external_sources",
    "family",
    "fields",
    "formula",
    "headers",
    "names_in",
    "offline_sources",
    "step_sources",
    "task_headers",
    "task_layout",
    "task_sources",
    "words",
]
