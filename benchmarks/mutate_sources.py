"""Damage library sources and see that each gives a diagnostic: never a traceback, never a hang.

    python benchmarks/mutate_sources.py LIBRARY_DIR [--count 1000] [--seed 1] [--timeout 60] [--jobs 2]

A mutation deletes, duplicates or swaps tokens, or cuts the text off.  The mutated text is parsed; where it still
parses, a model in it is checked too, as the file of a user who has the libraries at hand.  Some stay right.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import Counter
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, SourceMap, render
from kilohertz.driver import Model, Session
from kilohertz.syntax.tree import Body, ClassDef
from sweeps import absolute
from tables import Record, machine, print_causes
from workers import progress, run_all

TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*|\d[\w.]*|.', re.DOTALL)
KINDS = ("delete", "duplicate", "swap", "truncate")
Task = tuple[str, str, int, str]  # file, kind, seed, library folder


def mutate(text: str, kind: str, random_: random.Random) -> str:
    """One to three places damaged."""
    if kind == "truncate":
        return text[: random_.randrange(len(text) + 1)]
    tokens = TOKEN.findall(text)
    solid = [i for i, t in enumerate(tokens) if not t.isspace()]
    for _ in range(random_.randint(1, 3)):
        i, j = random_.choice(solid), random_.choice(solid)
        if kind == "delete":
            tokens[i] = " "
        elif kind == "duplicate":
            tokens[i] = f"{tokens[i]} {tokens[i]}"
        else:
            tokens[i], tokens[j] = tokens[j], tokens[i]
    return "".join(tokens)


def try_one(task: Task) -> Record:
    """Runs in a worker."""
    file, kind, seed, library = task
    with open(file, encoding="utf-8-sig", errors="replace", newline="") as handle:
        text = mutate(handle.read(), kind, random.Random(seed))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / Path(file).name
        path.write_text(text, encoding="utf-8", newline="")
        try:
            report = _model(Session([library]), path, random.Random(seed)).check()
        except ModelError as error:
            return _diagnosed(error.diagnostics)
        if report.diagnostics:
            return _diagnosed(report.diagnostics)
    return {"status": "still right"}


def _model(session: Session, path: Path, random_: random.Random) -> Model:
    """A model of the file, wherever it stands in it; the last class where there is none."""
    classes = list(session.libraries.load_file(path))
    for cls in classes:  # grows while it is walked
        classes += [e for e in cls.body.elements if isinstance(e, ClassDef)] if isinstance(cls.body, Body) else []
    models = [c for c in classes if c.kind in ("model", "block") and not c.partial]
    return session.model(".".join((*c.within, c.name)) if models and (c := random_.choice(models)) else str(path))


def _diagnosed(diagnostics: tuple[Diagnostic, ...]) -> Record:
    for diagnostic in diagnostics:
        render(diagnostic, SourceMap())  # the message must be printable as well
    return {"status": "diagnostic", "code": diagnostics[0].code, "message": diagnostics[0].message}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=absolute)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()

    files = sorted(map(str, arguments.library.rglob("*.mo")))
    random_ = random.Random(arguments.seed)
    tasks = [
        (random_.choice(files), KINDS[i % len(KINDS)], random_.randrange(2**32), str(arguments.library))
        for i in range(arguments.count)
    ]
    records = []
    for i, (task, record) in enumerate(run_all(try_one, tasks, arguments.jobs, arguments.timeout), 1):
        records.append({"class": f"{task[1]} seed {task[2]} {Path(task[0]).name}", **record})
        progress(i, len(tasks), record["status"])
    for status, n in Counter(r["status"] for r in records).most_common():
        print(f"{n:6}  {status}")
    codes = Counter(r["code"] for r in records if r["status"] == "diagnostic")
    print("codes: " + ", ".join(f"{code} {n}" for code, n in codes.most_common()))
    bad = [r for r in records if r["status"] in ("internal", "crash", "timeout")]
    print_causes(bad)
    print(f"{len(bad)} of {len(records)} without a proper answer; {machine()}")
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
