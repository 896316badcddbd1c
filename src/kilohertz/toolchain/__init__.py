"""C compiler calls, build cache, loading the result."""

from kilohertz.toolchain.build_cache import C_SUFFIXES, cache_directory
from kilohertz.toolchain.compiler import Compiler, cross_compiler, find_compiler
from kilohertz.toolchain.external_code import external_units, include_directories, lapack_prefix
from kilohertz.toolchain.load import load_library
from kilohertz.toolchain.object_files import FLAGS as COMMON_FLAGS
from kilohertz.toolchain.object_files import (
    QUIET,
    STRICT,
    Source,
    Unit,
    build_executable,
    build_objects,
    build_shared,
    is_built,
)

__all__ = [
    "COMMON_FLAGS",
    "C_SUFFIXES",
    "QUIET",
    "STRICT",
    "Compiler",
    "Source",
    "Unit",
    "build_executable",
    "build_objects",
    "build_shared",
    "cache_directory",
    "cross_compiler",
    "external_units",
    "find_compiler",
    "include_directories",
    "is_built",
    "lapack_prefix",
    "load_library",
]
