"""Check the models of a compliance suite: are valid ones taken, and invalid ones refused?

    python benchmarks/compliance.py SUITE_DIR MSLDIR [--package ModelicaCompliance] [--jobs 2] [--resume F.jsonl]

SUITE_DIR holds a package of files with one class each, whose annotation says `shouldPass = true` or `false`.  An
invalid model that `check` takes is also simulated: some only fail in the run.  The table is by chapter, which is the
second part of a name.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from kilohertz.base import Diagnostic, ModelError, Severity
from library_sweep import session
from sweeps import absolute, add_options, sweep
from tables import Record, print_causes

Task = tuple[str, bool, tuple[str, ...]]  # class name, whether it is valid, library folders

_VERDICT = re.compile(r"shouldPass\s*=\s*(true|false)")
TAKEN, WARNED, REFUSED, STOPPED = "taken", "warned of", "refused", "refused in the run"


def judge(task: Task) -> Record:
    """Runs in a worker."""
    name, is_valid, libraries = task
    model = session(libraries).model(name)
    stage = REFUSED
    try:
        report = model.check()
        errors = [d for d in report.diagnostics if d.severity is Severity.ERROR]
        if errors or not report.ok:
            return {"status": REFUSED, "valid": is_valid, **_words(errors)}
        stage = STOPPED
        told = report.diagnostics
        if not is_valid:
            model.simulate(record="outputs")
            told = (*told, *model.warnings)
    except ModelError as error:
        return {"status": stage, "valid": is_valid, **_words(error.diagnostics)}
    return {"status": WARNED if told else TAKEN, "valid": is_valid, **_words(told)}


def _words(diagnostics: Sequence[Diagnostic]) -> Record:
    return {"code": diagnostics[0].code, "message": diagnostics[0].message} if diagnostics else {}


def suite(folder: Path, package: str) -> list[tuple[str, bool]]:
    """Names with what the suite says of them."""
    out = []
    for file in sorted((folder / package).rglob("*.mo")):
        verdict = _VERDICT.search(file.read_text(encoding="utf-8", errors="replace"))
        if verdict is not None and file.name != "package.mo":
            out.append((".".join(file.relative_to(folder).with_suffix("").parts), verdict[1] == "true"))
    return out


def report(records: list[Record]) -> None:
    """By chapter: valid ones taken, invalid ones refused; then what is left."""
    counts: Counter[tuple[str, bool, str]] = Counter()
    for r in records:
        counts[r["class"].split(".")[1], r["valid"], r["status"]] += 1
    print(f"{'chapter':16}{'valid':>8}{'taken':>8}{'invalid':>9}{'refused':>9}{'in the run':>12}{'warned of':>11}")
    for chapter in [*dict.fromkeys(c for c, _, _ in counts), "all"]:
        rows: Counter[tuple[bool, str]] = Counter()
        for (of, is_valid, status), n in counts.items():
            rows[is_valid, status] += n if chapter in (of, "all") else 0
        valid, invalid = (sum(n for (v, _), n in rows.items() if v is wanted) for wanted in (True, False))
        taken = rows[True, TAKEN] + rows[True, WARNED]
        rest = [rows[False, s] for s in (REFUSED, STOPPED, WARNED)]
        print(f"{chapter:16}{valid:8}{taken:8}{invalid:9}{rest[0]:9}{rest[1]:12}{rest[2]:11}")
    print("\nvalid, and refused")
    print_causes([r for r in records if r["valid"] and r["status"] not in (TAKEN, WARNED)])
    print("\ninvalid, and taken")
    for r in records:
        if not r["valid"] and r["status"] in (TAKEN, WARNED):
            print(f"  {r['status']:10} {r['class']} {r.get('code', '')}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", type=absolute, metavar="SUITE_DIR")
    parser.add_argument("library", type=absolute, metavar="MSLDIR")
    parser.add_argument("--package", default="ModelicaCompliance")
    add_options(parser)
    arguments = parser.parse_args()
    libraries = (str(arguments.suite), str(arguments.library))
    tasks = [(name, is_valid, libraries) for name, is_valid in suite(arguments.suite, arguments.package)]
    sweep(judge, tasks, arguments, report, (TAKEN, WARNED, REFUSED, STOPPED))


if __name__ == "__main__":
    main()
