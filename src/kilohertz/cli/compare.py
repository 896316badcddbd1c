"""`khz compare`: is a result still right?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError
from kilohertz.cli.arguments import not_there_yet

if TYPE_CHECKING:
    from kilohertz.compare import Verdict
    from kilohertz.results import Result


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="a result (.csv, .mat) to be judged")
    parser.add_argument("b", metavar="B", help="the reference result")
    parser.add_argument("--signals", metavar="F", type=Path, help="file with the names to compare, one per line")
    parser.add_argument("--tolerance", metavar="X", type=float, default=0.002, help="size of the tube (default 0.002)")
    parser.add_argument("--rms", metavar="X", type=float, help="also require this root mean square error")
    parser.add_argument("--symmetric", action="store_true", help="also ask that the result follows every peak")
    parser.add_argument("--json", action="store_true", help="print all numbers as JSON")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.cli.main import FAILED
    from kilohertz.compare import Bars, compare

    names = _names(arguments.signals)
    bars = Bars(arguments.tolerance, rms=arguments.rms, symmetric=arguments.symmetric)
    verdict = compare(_read(arguments.a), _read(arguments.b), names, bars)
    print(_json(verdict) if arguments.json else _text(verdict))
    return 0 if verdict.ok else FAILED


def _read(path: str) -> Result:
    from kilohertz.results import is_result, read

    if not is_result(path):
        raise not_there_yet("comparing models", "simulate both with `-o F.csv` and compare the files")
    return read(path)


def _names(file: Path | None) -> list[str] | None:
    if file is None:
        return None
    try:
        text = file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ModelError(Diagnostic("R701", f"cannot read `{file}`: {error.strerror}")) from error
    return [line.strip() for line in text.splitlines() if line.strip()]


def _text(verdict: Verdict) -> str:
    width = max((len(s.name) for s in verdict.signals), default=6)
    lines = [f"{'signal':{width}}  verdict  outside        rms    largest  reason"]
    for s in verdict.signals:
        when = f" from t = {s.first_outside:g}" if s.first_outside is not None else ""
        word = "pass" if s.ok else "FAIL"
        lines.append(f"{s.name:{width}}  {word:7}  {s.n_outside:7}  {s.rms:9.2e}  {s.largest:9.2e}  {s.reason}{when}")
    if verdict.coverage:
        lines.append(f"as a whole: {verdict.coverage}")
    n_passed = len(verdict.signals) - len(verdict.failed)
    lines.append(f"{'PASS' if verdict.ok else 'FAIL'}: {n_passed} of {len(verdict.signals)} signals pass")
    return "\n".join(lines)


def _json(verdict: Verdict) -> str:
    import json
    from dataclasses import asdict

    signals = {s.name: {"ok": s.ok, **asdict(s)} for s in verdict.signals}
    return json.dumps({"ok": verdict.ok, "coverage": verdict.coverage, "signals": signals})
