"""Step -> C text and origin map: decides spelling, never meaning."""

from kilohertz.codegen.method_tables import runtime_sources
from kilohertz.codegen.model import CFile, CProgram, generate
from kilohertz.codegen.reading import BlockInfo
from kilohertz.codegen.signals import ModelSignal, model_signals, signals_source
from kilohertz.codegen.writing.spelling import model_prefix

__all__ = [
    "BlockInfo",
    "CFile",
    "CProgram",
    "ModelSignal",
    "generate",
    "model_prefix",
    "model_signals",
    "runtime_sources",
    "signals_source",
]
