"""Step -> C text and origin map: decides spelling, never meaning."""

from typing import TYPE_CHECKING

from kilohertz.base.lazy import on_demand
from kilohertz.codegen.writing.c_program import BlockInfo, CFile, CProgram, Jacobians

if TYPE_CHECKING:
    from kilohertz.codegen.method_tables import runtime_sources
    from kilohertz.codegen.model import generate
    from kilohertz.codegen.signals import ModelSignal, model_signals, signals_source
    from kilohertz.codegen.writing.number_type import DOUBLE, NUMBER_TYPES, NumberType
    from kilohertz.codegen.writing.spelling import model_prefix

__all__ = [
    "DOUBLE",
    "NUMBER_TYPES",
    "BlockInfo",
    "CFile",
    "CProgram",
    "Jacobians",
    "ModelSignal",
    "NumberType",
    "generate",
    "model_prefix",
    "model_signals",
    "runtime_sources",
    "signals_source",
]

__getattr__ = on_demand(
    __name__,
    {
        "DOUBLE": "writing.number_type",
        "ModelSignal": "signals",
        "NUMBER_TYPES": "writing.number_type",
        "NumberType": "writing.number_type",
        "generate": "model",
        "model_prefix": "writing.spelling",
        "model_signals": "signals",
        "runtime_sources": "method_tables",
        "signals_source": "signals",
    },
)
