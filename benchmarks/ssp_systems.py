"""Systems of FMUs of other tools (SSP): how many run, and why the others do not.

    python benchmarks/ssp_systems.py FOLDER -o ROWS.tsv [--most N] [--stop T]

FOLDER is searched for SSP archives and for folders with a `SystemStructure.ssd` (a clone of OpenModelica/OMSimulator
has them in `testsuite/tests/resources`), which are packed first.  Each is run without waiting, at 1 kHz, over its own
experiment, at most `--stop` seconds.  A row for each goes to ROWS as soon as it is known: a word, components and
connections, the reason.  Those there already are left out.
"""

from __future__ import annotations

import argparse
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kilohertz.base import ModelError
from kilohertz.driver import open_system, simulate_system

NAME = "SystemStructure.ssd"


def systems(folder: Path, scratch: Path) -> Iterator[tuple[str, Path]]:
    """Archives by the names they are reported under."""
    for path in sorted(folder.rglob("*.ssp")):
        yield str(path.relative_to(folder)), path
    for description in sorted(folder.rglob(NAME)):
        home = description.parent
        archive = scratch / f"{home.name}.ssp"
        with zipfile.ZipFile(archive, "w") as packed:
            packed.write(description, NAME)
            for file in sorted((home / "resources").rglob("*")):
                if file.is_file():
                    packed.write(file, str(file.relative_to(home)))
        yield str(home.relative_to(folder)), archive


def judged(archive: Path, most: float) -> tuple[str, str, str]:
    """What became of a system: a word, its size, and the reason."""
    size = ""
    try:
        system = open_system(archive)
        size = f"{len(system.flat.parts)} components, {len(system.flat.wires)} connections, {len(system.loops)} loops"
        start, stop = system.structure.start, system.structure.stop
        report = simulate_system(archive, stop=min(stop if stop is not None else start + 1.0, start + most))
    except ModelError as error:
        d = error.diagnostics[0]
        return "refused", size, f"{d.code}: {d.message}" + "".join(f"; {note.text}" for note in d.notes[:1])
    found = Counter(d.code for d in system.findings)
    notes = ", ".join(f"{n} {code}" for code, n in sorted(found.items()))
    if not report.ok:
        counts = {k: n for k, n in report.counts.items() if n and k in ("held", "failures", "not_finite", "assertions")}
        return "fails", size, f"ended by {report.data.get('ended', '')} {counts} {notes}"
    last = {n: float(report.result[n][-1]) for n in report.result.names[:4]}
    return "runs", size, f"to {report.result.time[-1]:g} s; {last} {notes}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--most", type=int, default=10_000, help="new rows in this call")
    parser.add_argument("--stop", type=float, default=10.0, help="seconds of model time at most")
    arguments = parser.parse_args()
    known: dict[str, str] = {}
    if arguments.output.is_file():
        known = dict(line.split("\t")[:2] for line in arguments.output.read_text(encoding="utf-8").splitlines())
    done = 0
    with tempfile.TemporaryDirectory(prefix="khz-ssp-") as scratch, arguments.output.open("a", encoding="utf-8") as out:
        for name, archive in systems(arguments.folder, Path(scratch)):
            if name in known or done >= arguments.most:
                continue
            word, size, why = judged(archive, arguments.stop)
            known[name], done = word, done + 1
            print(name, word, size, " ".join(why.split()), sep="\t", file=out, flush=True)
    print(f"{len(known)} systems: {', '.join(f'{n} {word}' for word, n in Counter(known.values()).most_common())}")


if __name__ == "__main__":
    main()
