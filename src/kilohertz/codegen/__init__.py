"""Step -> C text and origin map: decides spelling, never meaning."""

from typing import TYPE_CHECKING

from kilohertz.base.lazy import on_demand
from kilohertz.codegen.writing.c_program import BlockInfo, CFile, CProgram, Jacobians

if TYPE_CHECKING:
    from kilohertz.codegen.method_tables import runtime_sources
    from kilohertz.codegen.model import generate
    from kilohertz.codegen.signals import ModelSignal, model_signals, signals_source
    from kilohertz.codegen.writing.spelling import model_prefix

__all__ = [
    "BlockInfo",
    "CFile",
    "CProgram",
    "Jacobians",
    "ModelSignal",
    "generate",
    "model_prefix",
    "model_signals",
    "runtime_sources",
    "signals_source",
]

__getattr__ = on_demand(
    __name__,
    {
        "ModelSignal": "signals",
        "generate": "model",
        "model_prefix": "writing.spelling",
        "model_signals": "signals",
        "runtime_sources": "method_tables",
        "signals_source": "signals",
    },
)
