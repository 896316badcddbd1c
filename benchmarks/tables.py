"""What the benchmark scripts share: records kept as JSON lines, failures grouped by cause, numbers of the machine."""

from __future__ import annotations

import json
import platform
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Record = dict[str, Any]

_QUOTED = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(\.\d+)?(e[-+]?\d+)?(?![\w])", re.IGNORECASE)


class Journal:
    """Records as JSON lines, appended as they come, so that a run that was stopped goes on where it was."""

    def __init__(self, path: Path | None, key: str = "class") -> None:
        self._path, self._key = path, key
        self.records: dict[str, Record] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.strip():
                    record = json.loads(line)
                    self.records[record[key]] = record

    def add(self, record: Record) -> None:
        self.records[record[self._key]] = record
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")


def cause(record: Record) -> str:
    """Why a record failed, with names and numbers blanked, so that equal causes are equal texts."""
    message = _NUMBER.sub("N", _QUOTED.sub("`_`", record.get("message", "")))
    code = f"[{record['code']}] " if record.get("code") else ""
    return f"{record['status']}: {code}{message}"[:160]


def print_causes(records: Iterable[Record], limit: int = 40) -> None:
    """Failures by cause, the most frequent first, each with an example."""
    groups: dict[str, list[str]] = defaultdict(list)
    for record in records:
        groups[cause(record)].append(record["class"])
    for text, names in sorted(groups.items(), key=lambda g: (-len(g[1]), g[0]))[:limit]:
        print(f"{len(names):5}  {text}")
        print(f"       e.g. {names[0]}")
    if len(groups) > limit:
        print(f"       ... and {len(groups) - limit} further causes")


def print_stages(records: Sequence[Record], stages: Iterable[str], **more: int) -> None:
    """How many models with a reference reached each stage, with further counts by their name, and why the others did
    not match."""
    print(f"models with a reference: {len(records)}")
    counts = {stage: sum(stage in r.get("reached", ()) for r in records) for stage in stages} | more
    for stage, count in counts.items():
        print(f"  {stage.replace('_', ' '):12} {share(count, len(records))}")
    failures = [r for r in records if r["status"] != "matched"]
    if failures:
        print("\nfailures by cause")
        print_causes(failures)


def share(part: int, whole: int) -> str:
    """`540/550  98.2 %`."""
    return f"{part:5}/{whole:<5} {100 * part / whole:6.1f} %" if whole else f"{part:5}/0"


def spread(values: Sequence[float]) -> str:
    """Median and range of repeated measurements, in seconds."""
    return f"{statistics.median(values):8.3f} ({min(values):.3f} .. {max(values):.3f})"


def machine() -> str:
    """The machine a number was measured on; no host name."""
    model = platform.processor() or platform.machine()
    for line in _lines(Path("/proc/cpuinfo")):
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{model}, {platform.system()} {platform.release()}, Python {platform.python_version()}"


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
