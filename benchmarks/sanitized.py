"""Run a command with all C built by AddressSanitizer and UndefinedBehaviorSanitizer, and count what they found.

    python benchmarks/sanitized.py [--keep FOLDER] COMMAND...

    python benchmarks/sanitized.py python -m pytest -q -s tests/simulate tests/end_to_end
    python benchmarks/sanitized.py python benchmarks/library_sweep.py LIBRARY_DIR --package Modelica --until simulate

The compiler is gcc with the flags of both, by way of `CC`, without optimisation: most of the time went into that, and
it hides what is undefined.  Its libraries are loaded before Python, since a model is a library that Python loads.
Builds go to a cache of their own.  A report counts once for each kind and place.  The exit code is 1 where there is
one, else that of the command.  Undefined behaviour is told on stderr: pytest has to let it through (-s).  SUNDIALS and
Python are as they are installed: not looked into.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tables import machine

FLAGS = ("-g1", "-fsanitize=address,undefined", "-fsanitize-recover=all", "-fno-omit-frame-pointer")
_UNDEFINED = re.compile(r"^(\S+?:\d+):\d+: runtime error: (.*)$", re.M)
_NUMBER = re.compile(r"0x[0-9a-f]+|-?[0-9.e+]{4,}")
_ADDRESS = re.compile(r"ERROR: AddressSanitizer: ([\w-]+).*?(?:^\s+#\d+ \S+ in (khz\w*|\w+ \S+).*?)$", re.M | re.S)


def library(name: str) -> str:
    """The path of a library of gcc."""
    found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return found.stdout.strip()


def environment(reports: Path, cache: Path) -> dict[str, str]:
    """What makes every build a sanitized one, and every report a file."""
    return {
        **os.environ,
        "CC": f"sh -c 'unset LD_PRELOAD; exec gcc {' '.join(FLAGS)} \"$@\" -O0' gcc",  # compilers are not looked into
        "LD_PRELOAD": f"{library('libasan.so')}:{library('libubsan.so')}",
        "ASAN_OPTIONS": f"detect_leaks=0:halt_on_error=0:use_sigaltstack=0:log_path={reports / 'address'}",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "KHZ_CACHE_DIR": str(cache),
    }


def run(command: list[str], env: dict[str, str]) -> tuple[int, str]:
    """Its exit code, and what it said on the way: UndefinedBehaviorSanitizer beside the other one knows no files."""
    said = []
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stderr is not None
        for line in process.stderr:
            sys.stderr.write(line)
            said.append(line)
    return process.returncode, "".join(said)


def findings(reports: Path, said: str) -> Counter[str]:
    """Each kind of finding with its place; how often, or in how many processes where these write reports."""
    out = Counter(f"{place}: {_NUMBER.sub('N', what)}" for place, what in _UNDEFINED.findall(said))
    for file in sorted(reports.iterdir()):
        text = file.read_text(errors="replace")
        seen = {f"{place}: {_NUMBER.sub('N', what)}" for place, what in _UNDEFINED.findall(text)}
        seen |= {f"{kind} in {place}" for kind, place in _ADDRESS.findall(text)}
        out.update(seen or ({f"{file.name}: {text[:200]}"} if text.strip() else set()))
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="for the reports and the cache")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="khz-sanitized-") as scratch:
        folder = (arguments.keep or Path(scratch)).absolute()
        reports = folder / "reports"
        reports.mkdir(parents=True, exist_ok=True)
        code, said = run(arguments.command, environment(reports, folder / "cache"))
        found = findings(reports, said)
    for what, processes in found.most_common():
        print(f"{processes:5}  {what}")
    print(f"{len(found)} findings; the command ended with {code}; {machine()}")
    return 1 if found else code


if __name__ == "__main__":
    sys.exit(main())
