"""A prefix for every external symbol of a model, so that several models link into one executable.

The C stays as readable as without it: the header of the model renames its symbols for the preprocessor.
"""

from __future__ import annotations

import re
from dataclasses import replace

from kilohertz.codegen.model import CFile, CProgram

_PROTOTYPE = re.compile(r"^(?:\w[\w\s*]*[\s*])(\w+)\(.*\);$", re.MULTILINE)
_OWN = ("khz_get_model", "khz_area_offset")


def prefixed(code: CProgram, prefix: str) -> CProgram:
    """The same model with `prefix` before every external symbol (`khz_get_model` becomes `<prefix>khz_get_model`)."""
    symbols = sorted({*_OWN, *_PROTOTYPE.findall(code.header.text)})
    guard = "#define KHZ_GENERATED_MODEL_H\n"
    head, found, tail = code.header.text.partition(guard)
    assert found
    renames = "".join(f"#define {s} {prefix}{s}\n" for s in symbols)
    return replace(code, header=CFile(code.header.name, head + guard + "\n" + renames + tail))
