"""Large linear loops without zeros cost no more instructions than their price says, singular or not."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kilohertz import runtime
from kilohertz.building import runtime_units
from kilohertz.codegen.scattered_tables import Tables, scattered_lines
from kilohertz.cost import ScatteredLoop
from kilohertz.cost.prices import Cost, scattered_factor, scattered_solve
from kilohertz.graphs import Pattern, order_columns
from kilohertz.toolchain import Source, Unit, build_executable

SIDE = 16

PROGRAM = """
#include "khz_scattered.h"
{tables}
static double values[] = {{{values}}};
static double memory[{room} + {n_a}], b[{n}];
static khz_context c;
__attribute__((noinline)) khz_status first(int32_t *f) {{ return khz_linear_scattered(&c, 0, 0, &s, memory, f, b); }}
__attribute__((noinline)) khz_status second(int32_t *f) {{ return khz_linear_scattered(&c, 0, 0, &s, memory, f, b); }}
int main(void)
{{
    int32_t factored = 0;
    memcpy(memory + {room}, values, sizeof values);
    return first(&factored) != KHZ_OK || second(&factored) != KHZ_OK || factored != {factored};
}}
"""


def _net() -> Pattern:
    nodes = [(i, j) for i in range(SIDE) for j in range(SIDE)]
    beside = ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0))
    return tuple(
        tuple(sorted(nodes.index((i + a, j + b)) for a, b in beside if (i + a, j + b) in nodes)) for i, j in nodes
    )


def _instructions(executable: Path, function: str, folder: Path) -> int:
    command = ["valgrind", "--tool=callgrind", f"--toggle-collect={function}", f"--callgrind-out-file={folder}/out"]
    done = subprocess.run([*command, str(executable)], capture_output=True, text=True, check=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found is not None
    return int(found[1])


def _priced(cost: Cost) -> int:
    return cost.kernels + cost.moves + cost.calls


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="needs valgrind")
@pytest.mark.parametrize("n_lost", [0, runtime.constant("KHZ_MOST_LOST")])
def test_the_price_is_above_what_it_takes(n_lost: int, tmp_path: Path) -> None:
    pattern, rng = _net(), random.Random(1)
    order = order_columns(pattern, len(pattern) ** 2)
    assert order is not None
    system = ScatteredLoop(pattern, order)
    rows = [[rng.uniform(-1.0, 1.0) for _ in row] for row in pattern]
    for i in range(n_lost):
        rows[3 * i] = [0.0] * len(rows[3 * i])
    values = [v for row in rows for v in row]
    text = PROGRAM.format(
        tables="\n".join(scattered_lines(Tables("s", system), False)),
        values=", ".join(map(repr, values)),
        room=system.room,
        n_a=len(values),
        n=len(pattern),
        factored=2 if n_lost else 1,
    )
    headers = tuple(Source(name, header) for name, header in runtime.headers())
    executable = build_executable(
        [Unit((Source("priced.c", text),), headers, (), ()), *runtime_units(offline=True)], ()
    )
    first, solve = (_instructions(executable, name, tmp_path) for name in ("first", "second"))
    factor, solved = scattered_factor(system), scattered_solve(system)
    if n_lost:
        assert first <= _priced(factor.worst) + _priced(solved.worst) <= 4 * first
        assert solve <= _priced(solved.worst) <= 2 * solve
    else:
        assert first - solve <= _priced(factor.regular) <= 1.6 * (first - solve)
        assert solve <= _priced(solved.regular) <= 1.5 * solve
