"""The tables of `solvers` as C: khz_methods.c, compiled with the runtime."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from kilohertz import runtime
from kilohertz.solvers import SOLVERS, Method, Pair, Rosenbrock


@lru_cache(maxsize=1)
def runtime_sources() -> tuple[tuple[str, str], ...]:
    """(name, text) of what makes steps of a model, with the generated tables."""
    return (*runtime.step_sources(), ("khz_methods.c", methods_source()))


def methods_source() -> str:
    """The C file that defines `khz_methods`."""
    lines = ["/* Written from kilohertz/solvers; do not edit. */", '#include "khz_method.h"', ""]
    entries = []
    for method in SOLVERS.values():
        lines += _arrays(method)
        entries += _entry(method)
    lines += ["const khz_method khz_methods[] = {", *entries, "};"]
    lines += [f"const int32_t khz_n_methods = {len(SOLVERS)};", ""]
    return "\n".join(lines)


def _arrays(m: Method | Pair) -> list[str]:
    fields: dict[str, Iterable[float]]
    if isinstance(m, Rosenbrock):
        fields = {"a": m.a.flat, "coupling": m.c.flat, "weight": m.m, "abscissa": m.alpha, "time_weight": m.gammas}
    else:
        main = m.implicit if isinstance(m, Pair) else m
        fields = {"a": main.a.flat, "weight": main.b, "abscissa": main.c}
        fields |= {"explicit_a": m.explicit.a.flat} if isinstance(m, Pair) else {}
    lines = [f"/* {m.name}: {m.title}; {m.source} */"]
    lines += [f"static const khz_real {m.name}_{name}[] = {{{_numbers(values)}}};" for name, values in fields.items()]
    if isinstance(m, Rosenbrock):
        lines.append(f"static const int32_t {m.name}_reuses[] = {{{', '.join(str(int(r)) for r in m.reuses)}}};")
    return [*lines, ""]


def _numbers(values: Iterable[float]) -> str:
    return ", ".join("0" if v == 0 else float(v).hex() for v in np.asarray(list(values), float))


def _entry(m: Method | Pair) -> list[str]:
    main = m.implicit if isinstance(m, Pair) else m
    n, accurate = m.name, int(main.stiffly_accurate)
    head = f'    {{.name = "{n}", .n_stages = {m.n_stages}, .order = {m.order}, .stiffly_accurate = {accurate},'
    head += f" .index1_order = {0 if isinstance(m, Pair) else m.index1_order},"
    fields = f".gamma = {main.gamma.hex()}, .a = {n}_a, .weight = {n}_weight, .abscissa = {n}_abscissa,"
    if isinstance(main, Rosenbrock):
        fields += f" .kind = KHZ_ROSENBROCK, .any_jacobian_order = {main.any_jacobian_order},"
        fields += f" .coupling = {n}_coupling, .time_weight = {n}_time_weight, .reuses = {n}_reuses"
    elif isinstance(m, Pair):
        fields += f" .kind = KHZ_PAIR, .explicit_first = 1, .explicit_a = {n}_explicit_a"
    else:
        kind = "KHZ_EXPLICIT" if main.is_explicit else "KHZ_DIRK"
        fields += f" .kind = {kind}, .explicit_first = {int(main.explicit_first)}"
    return [head, f"     {fields}}},"]
