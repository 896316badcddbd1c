"""Count the warnings and errors that the examples of libraries give, by code: is any of them a false alarm?

    python benchmarks/warning_counts.py LIBRARY_DIR... [--sample 60] [--until check|analyse|simulate] [--search DIR]...
                                        [--jobs 2] [--timeout 120] [--resume F.jsonl] [--show CODE]

Each LIBRARY_DIR holds libraries; of each a random sample (the same in every run) of the classes with an experiment
annotation is flattened and checked; --until analyse goes through all passes, which have warnings of their own,
--until simulate runs its experiment too.  --search names folders with what they use.  The table has a row for each
library and a column for each code: models that have it.  --show prints each message of a code once, with a model that
has it.
"""

from __future__ import annotations

import argparse
import random
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError, ModelWarning
from library_sweep import experiments, session
from sweeps import absolute, add_options, sweep
from tables import Record

if TYPE_CHECKING:
    from kilohertz.driver import Model

Task = tuple[str, tuple[str, ...], str, str]  # class, folders, library, how far to go


def packages(folder: Path) -> list[str]:
    """Names of the libraries in a folder."""
    found = [p.stem if p.suffix == ".mo" else p.name for p in folder.iterdir() if _is_library(p)]
    return sorted(name.partition(" ")[0] for name in found)


def _is_library(path: Path) -> bool:
    return path.suffix == ".mo" or (path / "package.mo").is_file()


def count(task: Task) -> Record:
    """Runs in a worker."""
    name, libraries, library, until = task
    started = time.perf_counter()
    status = "checked"
    model: Model | None = None
    try:
        model = session(libraries).model(name)
        found: tuple[Diagnostic, ...] = model.check().diagnostics
        if until != "check":
            model.process()
            found = (*found, *model.warnings)
        if until == "simulate":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ModelWarning)
                found = (*found, *model.simulate(record="outputs").problems)
    except ModelError as error:
        status, found = "refused", (*(model.warnings if model is not None else ()), *error.diagnostics)
    said = sorted({(d.code, d.message) for d in found})
    seconds = round(time.perf_counter() - started, 4)
    return {"status": status, "library": library, "said": said, "seconds": seconds}


def report(records: list[Record], show: str) -> None:
    """The table, and the messages of a code."""
    codes = sorted({code for r in records for code, _ in r.get("said", ())})
    print("| library | models | refused | " + " | ".join(codes) + " |")
    print("|---|" + "---|" * (len(codes) + 2))
    for library in dict.fromkeys(str(r.get("library", "")) for r in records):
        mine = [r for r in records if r.get("library", "") == library]
        has = Counter(code for r in mine for code in {c for c, _ in r.get("said", ())})
        refused = sum(r["status"] == "refused" for r in mine)
        print(f"| {library} | {len(mine)} | {refused} | " + " | ".join(str(has[c] or "") for c in codes) + " |")
    first: dict[str, str] = {}
    for r in records:
        for code, message in r.get("said", ()):
            if code == show:
                first.setdefault(message, str(r["class"]))
    for message, model in first.items():
        print(f"{model}: {message}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", type=absolute, nargs="+")
    parser.add_argument("--search", type=absolute, action="append", default=[])
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--until", choices=("check", "analyse", "simulate"), default="check", help="how far to go")
    parser.add_argument("--show", default="", metavar="CODE")
    add_options(parser)
    arguments = parser.parse_args()
    tasks: list[Task] = []
    for folder in arguments.libraries:
        folders = tuple(map(str, (folder, *arguments.search)))
        names = experiments(folders, packages(folder))
        chosen = sorted(random.Random(1).sample(names, min(arguments.sample, len(names))))
        tasks += [(name, folders, Path(folder).name, arguments.until) for name in chosen]
    sweep(count, tasks, arguments, lambda records: report(records, arguments.show), ("checked", "refused"))


if __name__ == "__main__":
    main()
