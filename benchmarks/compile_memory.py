"""Memory of a process that compiles again and again: flat, when nothing outlives its compilation.

    python benchmarks/compile_memory.py [MSLDIR] [--model NAME] [--count 200] [--every 20]

Each compilation is of a new class with one component of the model, named differently every time: no name, and so no
expression with a name in it, is shared with the compilations before.  It ends with the C text; nothing is kept.
Printed after every so many: resident memory now and at its highest, distinct expressions in the table, and how much
the memory grew since half of the compilations were done.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

from kilohertz.codegen import generate
from kilohertz.driver import Session
from kilohertz.ir.sharing import n_expressions


def resident() -> float:
    """MB of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def highest() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def compiled(model: str, number: int, libraries: list[str]) -> int:
    """Compile a class with one component of the model; the length of the C text."""
    session = Session(libraries)
    session.libraries.load_text(f"model Run{number}\n  {model} c{number};\nend Run{number};\n", f"Run{number}.mo")
    code = generate(session.model(f"Run{number}").process())
    return len(code.header.text) + sum(len(f.text) for f in code.files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="?", help="folder of the Modelica Standard Library")
    parser.add_argument("--model", default="Kilohertz.Examples.HydraulicAxis.ClosedLoop")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--every", type=int, default=20)
    given = parser.parse_args()
    libraries = [given.library] if given.library else []
    half = 0.0
    print(f"{given.model}, {given.count} compilations in one process")
    print("  done   resident MB   highest MB   expressions   processor s")
    for k in range(1, given.count + 1):
        size = compiled(given.model, k, libraries)
        if k == given.count // 2:
            half = resident()
        if k % given.every == 0:
            count, spent = n_expressions(), time.process_time()
            print(f"  {k:4d}   {resident():11.1f}   {highest():10.1f}   {count:11d}   {spent:11.1f}", flush=True)
    print(f"C text of one: {size} characters; growth over the second half: {resident() - half:+.1f} MB")


if __name__ == "__main__":
    main()
