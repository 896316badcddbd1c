"""`khz watch`: a running rig in the terminal: values with their recent course, times, misses."""

from __future__ import annotations

import argparse
import sys
import time
from collections import deque
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError, near

if TYPE_CHECKING:
    from kilohertz.realtime import Live
    from kilohertz.realtime.live import Lane

_BARS = "▁▂▃▄▅▆▇█"
_LENGTH = 40
_MOST = 30


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("rig", metavar="RIG", nargs="?", default="", help="the rig's name (default: the only one that runs)")
    add("-s", "--signals", metavar="P", action="append", default=[], help="a signal or a pattern; may be repeated")
    add("--rate", metavar="HZ", type=float, default=5.0, help="how often to look (default 5 per second)")
    add("--profile", metavar="MODE", default="", help="time its cycles from now on: burst, always or off")
    add("--once", action="store_true", help="print the values once and leave")


def run(arguments: argparse.Namespace) -> int:
    from kilohertz.realtime import PROFILES, attach

    if arguments.profile and arguments.profile not in PROFILES:
        text = f"`--profile` is `{arguments.profile}`, but must be one of {', '.join(PROFILES)}"
        raise ModelError(Diagnostic("R742", text))
    with attach(arguments.rig) as live:
        if arguments.profile:
            live.profile(arguments.profile)
            print(f"{live.name}: profile {arguments.profile}")
        names = _selected(live, arguments.signals)
        more = 0 if arguments.signals else max(0, len(names) - _MOST)
        names = names[: len(names) - more]
        if arguments.once or not sys.stdout.isatty():
            frame = live.frame()
            print(_head(live))
            for name in names:
                print(f"{name} = {frame[name]:.9g} {live.unit(name)}".rstrip())
            if more:
                print(_and_more(more))
            return 0
        try:
            _follow(live, names, 1.0 / min(max(arguments.rate, 0.1), 50.0), _and_more(more) if more else None)
        except KeyboardInterrupt:
            print("detached; the rig goes on", file=sys.stderr)
        return 0


def _selected(live: Live, patterns: list[str]) -> list[str]:
    chosen = [p.replace("[", "[[]") for p in patterns]
    for asked, pattern in zip(patterns, chosen, strict=True):
        if not any(fnmatchcase(n, pattern) for n in live):
            raise ModelError(Diagnostic("R719", f"the rig has no signal `{asked}`{near(asked, list(live))}"))
    return [n for n in live if not chosen or any(fnmatchcase(n, p) for p in chosen)]


def _and_more(more: int) -> str:
    return f"and {more} more: -s chooses"


def _head(live: Live) -> str:
    head = f"{live.name} ({live.state}, pid {live.pid}): {live.time:.3f} s, "
    if len(live.threads) == 1:
        return head + _cycles(live.threads[0])
    return "\n".join([head + f"{len(live.threads)} threads", *(f"  {t.title}: {_cycles(t)}" for t in live.threads)])


def _cycles(thread: Lane) -> str:
    from kilohertz.realtime import causes_of

    c = thread.counts
    late, compute = thread.histogram("lateness"), thread.histogram("compute")
    messages = f", {c['exchange_late']} messages late" if c["exchange_late"] else ""
    return (
        f"{c['steps']} steps, {c['missed']} missed "
        f"({causes_of(c)}){messages}, "
        f"lateness p50/p99 {late.quantile(0.5) / 1e3:.0f}/{late.quantile(0.99) / 1e3:.0f} us, "
        f"compute {compute.quantile(0.5) / 1e3:.1f}/{compute.quantile(0.99) / 1e3:.1f} us, step {thread.step}"
    )


def sparkline(values: deque[float]) -> str:
    """Recent values as bars between their least and greatest."""
    low, high = min(values), max(values)
    if not high > low:
        return _BARS[0] * len(values)
    return "".join(_BARS[min(7, int((v - low) / (high - low) * 8))] if v == v else " " for v in values)


def _follow(live: Live, names: list[str], pause: float, caption: str | None) -> None:
    from rich.live import Live as Screen
    from rich.table import Table

    history = {n: deque[float](maxlen=_LENGTH) for n in names}
    with Screen(refresh_per_second=10, transient=False) as screen:
        while True:
            table = Table(title=_head(live), title_justify="left", box=None, caption=caption, caption_justify="left")
            for column in ("signal", "value", "unit", ""):
                table.add_column(column, justify="right" if column == "value" else "left")
            frame = live.frame()
            for name in names:
                history[name].append(frame[name])
                table.add_row(name, f"{frame[name]:.6g}", live.unit(name), sparkline(history[name]))
            screen.update(table)
            if live.state in ("ended", "gone"):
                return
            time.sleep(pause)
