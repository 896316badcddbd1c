"""The tables of `solvers` as C: khz_methods.c, compiled with the runtime."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from kilohertz import runtime
from kilohertz.solvers import METHODS, Method, RungeKutta


@lru_cache(maxsize=1)
def runtime_sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of every source of the runtime, the generated method tables included."""
    return (*runtime.sources(), ("khz_methods.c", methods_source()))


def methods_source() -> str:
    """The C file that defines `khz_methods`."""
    lines = ["/* Written from kilohertz/solvers; do not edit. */", '#include "khz_method.h"', ""]
    entries = []
    for method in METHODS.values():
        lines += _arrays(method)
        entries += _entry(method)
    lines += ["const khz_method khz_methods[] = {", *entries, "};"]
    lines += [f"const int32_t khz_n_methods = {len(METHODS)};", ""]
    return "\n".join(lines)


def _arrays(m: Method) -> list[str]:
    fields: dict[str, Iterable[float]] = {"a": m.a.flat}
    if isinstance(m, RungeKutta):
        fields |= {"weight": m.b, "abscissa": m.c}
    else:
        fields |= {"coupling": m.c.flat, "weight": m.m, "abscissa": m.alpha, "time_weight": m.gammas}
    lines = [f"/* {m.name}: {m.title}; {m.source} */"]
    lines += [f"static const double {m.name}_{name}[] = {{{_numbers(values)}}};" for name, values in fields.items()]
    if not isinstance(m, RungeKutta):
        lines.append(f"static const int32_t {m.name}_reuses[] = {{{', '.join(str(int(r)) for r in m.reuses)}}};")
    return [*lines, ""]


def _numbers(values: Iterable[float]) -> str:
    return ", ".join("0" if v == 0 else float(v).hex() for v in np.asarray(list(values), float))


def _entry(m: Method) -> list[str]:
    n, accurate = m.name, int(m.stiffly_accurate)
    head = f'    {{.name = "{n}", .n_stages = {m.n_stages}, .order = {m.order}, .stiffly_accurate = {accurate},'
    common = f".a = {n}_a, .weight = {n}_weight, .abscissa = {n}_abscissa"
    if isinstance(m, RungeKutta):
        kind = "KHZ_EXPLICIT" if m.is_explicit else "KHZ_DIRK"
        own = f".kind = {kind}, .explicit_first = {int(m.explicit_first)}, .gamma = {m.gamma.hex()}, {common}"
    else:
        own = (
            f".kind = KHZ_ROSENBROCK, .any_jacobian_order = {m.any_jacobian_order}, .gamma = {m.gamma.hex()}, {common},"
        )
        own += f" .coupling = {n}_coupling, .time_weight = {n}_time_weight, .reuses = {n}_reuses"
    return [head, f"     {own}}},"]
