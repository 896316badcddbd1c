"""Step -> C text and origin map: decides spelling, never meaning."""

from kilohertz.codegen.blocks import BlockInfo
from kilohertz.codegen.methods import runtime_sources
from kilohertz.codegen.model import CFile, CProgram, generate

__all__ = ["BlockInfo", "CFile", "CProgram", "generate", "runtime_sources"]
