"""Instructions of a cycle of a real-time task of which nothing is recorded and nobody watches: step and all around it.

    python benchmarks/task_instructions.py [--old TREE] [--case TEXT ...] [--seen]     needs valgrind, and MODELICAPATH

Counted is a built executable as fast as possible under callgrind: what 300 cycles take more than 100, all threads
together.  --seen: all variables are computed in every step, as where somebody reads them (live values are still not
copied).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tables import machine

ROOT = Path(__file__).parent.parent
FEW, MANY = 100, 300
CASES = (
    ("arm", "benchmarks/models/Speed.mo:Speed.Arm", "lie"),
    ("arm", "benchmarks/models/Speed.mo:Speed.Arm", "euler"),
    ("hydraulic axis", "Kilohertz.Examples.HydraulicAxis.Controlled", "lie"),
    ("six-speed gearbox", "Kilohertz.Examples.Car.SixSpeeds", "euler"),
    ("CoupledClutches", "Modelica.Mechanics.Rotational.Examples.CoupledClutches", "rk4"),
    ("EngineV6", "Modelica.Mechanics.MultiBody.Examples.Loops.EngineV6", "rk4"),
)
SCENARIO = """
name = "counted{number}"
model = "{model}"
solver = "{solver}"
step = "1ms"
duration = "1s"

[record]
enabled = false
"""


def counted(tree: Path, model: str, solver: str, words: list[str]) -> float:
    """Instructions of a cycle, with the sources of a tree."""
    with tempfile.TemporaryDirectory(prefix="khz-") as scratch:
        folder, name = Path(scratch), f"counted{os.getpid()}"
        model = str(tree / model) if ".mo" in model else model
        (folder / "task.toml").write_text(SCENARIO.format(number=os.getpid(), model=model, solver=solver))
        built = [sys.executable, "-m", "kilohertz", "build", str(folder / "task.toml"), "-o", str(folder / "out")]
        environment = os.environ | {"PYTHONPATH": str(tree / "src")}
        subprocess.run(built, env=environment, capture_output=True, check=True)
        few, many = (_collected(folder / "out" / name, folder, n, words) for n in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def _collected(program: Path, folder: Path, cycles: int, words: list[str]) -> int:
    told = ["wall_num=0", f"cycles={cycles}", "grace=0", f"report={folder / 'report.json'}", *words]
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'counted'}", str(program), *told]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (collected,) = (line for line in done.stderr.splitlines() if "Collected" in line)
    return int(collected.split(":")[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", type=Path, help="another source tree, counted first")
    parser.add_argument("--case", nargs="*", default=[""], metavar="TEXT", help="cases with this text in their name")
    parser.add_argument("--seen", action="store_true")
    arguments = parser.parse_args()
    trees = [*([arguments.old.absolute()] if arguments.old else []), ROOT]
    heads = ["model, method", *(["before"] if arguments.old else []), "now"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for name, model, solver in CASES:
        if any(text in f"{name}, {solver}" for text in arguments.case):
            counts = [counted(tree, model, solver, ["views=1"] if arguments.seen else []) for tree in trees]
            print(f"| {name}, {solver} | {' | '.join(f'{n:,.0f}'.replace(',', ' ') for n in counts)} |", flush=True)
    print(machine())


if __name__ == "__main__":
    main()
