"""Check the models of a folder of flattening tests: are valid ones taken, and invalid ones refused?

    python benchmarks/flattening_tests.py FOLDER MSLDIR [--status incorrect|correct] [--jobs 2] [--resume F.jsonl]

FOLDER holds files with a comment `status: correct` or `status: incorrect` at their head, as the testsuite of
OpenModelica does (testsuite/flattening/modelica); the last class of a file is checked.  The table is by folder.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from pathlib import Path

from compliance import REFUSED, TAKEN, WARNED, Task
from kilohertz.base import ModelError, Severity
from sweeps import absolute, add_options, sweep
from tables import Record

_STATUS = re.compile(r"^\s*//\s*status:\s*(\w+)", re.MULTILINE)


def judge(task: Task) -> Record:
    """Runs in a worker; a session of its own, since every file has its own classes."""
    from kilohertz.driver import Session

    name, is_valid, (folder, library) = task
    try:
        report = Session((library,)).model(str(Path(folder) / name)).check()
    except ModelError as error:
        return {"status": REFUSED, "valid": is_valid, "code": error.diagnostics[0].code, "message": str(error)[:300]}
    errors = [d for d in report.diagnostics if d.severity is Severity.ERROR]
    status = REFUSED if errors or not report.ok else WARNED if report.diagnostics else TAKEN
    said = errors or report.diagnostics
    return {
        "status": status,
        "valid": is_valid,
        **({"code": said[0].code, "message": said[0].message} if said else {}),
    }


def suite(folder: Path, wanted: str) -> list[tuple[str, bool]]:
    """Files with that status at their head."""
    out = []
    for file in sorted(folder.rglob("*.mo")):
        status = _STATUS.search(file.read_text(encoding="utf-8", errors="replace"))
        if status is not None and status[1] == wanted:
            out.append((str(file.relative_to(folder)), wanted == "correct"))
    return out


def report(records: list[Record]) -> None:
    counts = Counter((r["class"].split("/")[0], r["status"]) for r in records)
    print(f"{'folder':24}{'models':>8}{'refused':>9}{'warned of':>11}{'taken':>8}{'other':>8}")
    for folder in [*dict.fromkeys(f for f, _ in counts), "all"]:
        row: Counter[str] = Counter()
        for (of, status), n in counts.items():
            row[status if status in (TAKEN, WARNED, REFUSED) else "other"] += n if folder in (of, "all") else 0
        print(f"{folder:24}{row.total():8}{row[REFUSED]:9}{row[WARNED]:11}{row[TAKEN]:8}{row['other']:8}")
    for r in records:
        if (r["status"] == REFUSED) is r["valid"] or r["status"] not in (TAKEN, WARNED, REFUSED):
            print(f"  {r['status']:10} {r['class']} {r.get('code', '')} {r.get('message', '')[:120]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=absolute, metavar="FOLDER")
    parser.add_argument("library", type=absolute, metavar="MSLDIR")
    parser.add_argument("--status", default="incorrect", choices=("incorrect", "correct"))
    add_options(parser)
    arguments = parser.parse_args()
    libraries = (str(arguments.folder), str(arguments.library))
    tasks = [(name, is_valid, libraries) for name, is_valid in suite(arguments.folder, arguments.status)]
    sweep(judge, tasks, arguments, report, (TAKEN, WARNED, REFUSED))


if __name__ == "__main__":
    main()
