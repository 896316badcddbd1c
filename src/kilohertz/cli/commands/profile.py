"""`khz profile`: where the time of a step goes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kilohertz.base import Diagnostic, ModelError
from kilohertz.cli.arguments import (
    add_model,
    add_set,
    add_step_settings,
    integer,
    parameter_values,
    positive_seconds,
    seconds,
    step_settings,
)
from kilohertz.cli.commands.run import shown_progress
from kilohertz.cli.commands.simulate import progress_bar
from kilohertz.cli.progress import announce

if TYPE_CHECKING:
    from kilohertz.driver import Model
    from kilohertz.pages import Page
    from kilohertz.profiler import Cause, Profile, Row, Shared, Tried

_EPILOG = """\
  khz profile Kilohertz.Examples.SaturatingInductors.Original --solver rk4 --page profile.html
  khz profile scenario.toml --duration 10s --page profile.html
  khz profile profile/Original.json      shows a profile that was kept (-o)
Exit codes: 0 fine, 1 the model or the run failed, 2 wrong usage."""
_VIEWS = ("blocks", "functions", "phases", "lines", "components", "classes")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_model(parser, help="class name, file.mo, file.mo:Class, a scenario.toml, or a profile that was kept (.json)")
    add = parser.add_argument
    add("--steps", metavar="N", type=integer, help="how many steps (default: those of the experiment annotation)")
    add("--start", metavar="T", type=seconds, help="start time (default: experiment annotation, or 0)")
    add("--stop", metavar="T", type=seconds, help="stop time, instead of --steps")
    add("--duration", metavar="T", type=positive_seconds, help="of a scenario: how long to run")
    add(
        "--mode", choices=("burst", "always"), default="burst", help="of a scenario: all places in all cycles, or cheap"
    )
    add("--against", metavar="MODEL", help="a variant: both profiled in turn, side by side, and what it saves")
    add(
        "--signals",
        metavar="S",
        action="append",
        default=[],
        help="with --against: how far these deviate, by CVODE; may be repeated",
    )
    add("--advise", action="store_true", help="what could be done about it; what other settings can do is tried")
    add("--tear-on", metavar="X", action="append", default=[], help="iterate a loop on this unknown, not on another")
    add("--worst", metavar="N", type=integer, default=10, help="worst cycles to show whole (default 10)")
    add("--by", metavar="V", choices=_VIEWS, action="append", help=f"only these tables: {', '.join(_VIEWS)}")
    add("--rows", metavar="N", type=integer, default=15, help="rows of each table (default 15)")
    add("-o", "--output", metavar="DIR", type=Path, help="keep the profile there: NAME.json, NAME.cycles")
    add("--json", metavar="F", type=Path, help="write the report to F as JSON (docs/reference/profile.md)")
    add("--page", metavar="F.html", type=Path, help="write a page with everything, for a browser")
    add("--perfetto", metavar="F", type=Path, help="write the cycles for ui.perfetto.dev")
    add("--speedscope", metavar="F", type=Path, help="write the mean and the worst cycles for www.speedscope.app")
    add("--instructions", action="store_true", help="count instructions of 100 steps with valgrind too")
    add("-q", "--quiet", action="store_true", help="no progress and no tables")
    add_set(parser)
    add_step_settings(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.tear_on and (arguments.against is not None or arguments.model.endswith((".json", ".toml"))):
        raise ModelError(Diagnostic("R793", "`--tear-on` is for one model, which is compiled with it"))
    if arguments.against is not None:
        return _against(arguments)
    if not arguments.model.endswith((".json", ".toml")):
        return _of_model(arguments)
    if arguments.instructions or arguments.advise:
        raise ModelError(Diagnostic("R793", "`--instructions` and `--advise` are for a model, which they run again"))
    profiles = _run(arguments) if arguments.model.endswith(".toml") else [_kept(arguments)]
    for profile in profiles:
        _report(profile, arguments, several=len(profiles) > 1)
    return 0


def _against(arguments: argparse.Namespace) -> int:
    from kilohertz.driver import load
    from kilohertz.driver.profiling import Wanted, profile_versus
    from kilohertz.profiler import text_rows, versus_page, write_json
    from kilohertz.solvers import StepSettings

    model, values = load(arguments.model, arguments.library).with_values(dict(arguments.settings))
    variant, _ = model.session.model(arguments.against).with_values(dict(arguments.settings))
    wanted = Wanted(arguments.steps, arguments.start, arguments.stop, values)
    versus = profile_versus(model, variant, StepSettings.of(**step_settings(arguments)), wanted, arguments.signals)
    if not arguments.quiet:
        more = ("saves", "of") if versus.saved >= 0 else ("adds", "to")
        print(
            f"{versus.variant.name} {more[0]} {abs(versus.saved):.1%} {more[1]} the median cycle of {versus.model.name}"
        )
        for side in (versus.model, versus.variant):
            low, high = (ns / 1e3 for ns in side.spread_ns)
            n, rounds = len(side.loops), len(side.profiles)
            print(f"  {side.name}: {side.ns / 1e3:.3f} us ({low:.3f} to {high:.3f} in {rounds} rounds), {n} loops")
        for d in versus.deviations:
            print(f"  {d.signal}: deviates by {d.largest:.3g} at most, {d.share:.2%} of its range")
        _table(("place", "loop", "iterations a call", "model / us", "variant / us"), text_rows(versus), 0)
    if arguments.json is not None:
        write_json(arguments.json, versus.as_data())
    if arguments.page is not None:
        _write_page(versus_page(versus), arguments.page)
    return 0


def _report(profile: Profile, arguments: argparse.Namespace, several: bool, tried: Sequence[Tried] = ()) -> None:
    from kilohertz.profiler import headline, worst_causes

    causes = worst_causes(profile, max(1, arguments.worst))
    first = headline(profile, causes)
    if not arguments.quiet:
        print(first)
        _print(profile, causes, arguments)
    _write(profile, causes, first, _named(arguments, profile) if several else arguments, tried)


def _named(arguments: argparse.Namespace, profile: Profile) -> argparse.Namespace:
    """Files of one of several threads: its name stands before the ending."""
    files = {n: getattr(arguments, n) for n in ("json", "page", "perfetto", "speedscope")}
    of_thread = {n: f.with_stem(f"{f.stem}.{profile.about['thread']}") for n, f in files.items() if f is not None}
    return argparse.Namespace(**{**vars(arguments), **of_thread})


def _run(arguments: argparse.Namespace) -> list[Profile]:
    """A scenario in real time: one profile for each of its threads."""
    from kilohertz.driver import open_job
    from kilohertz.profiler import read_profile

    if arguments.steps is not None or arguments.start is not None or arguments.stop is not None:
        raise ModelError(Diagnostic("R793", "a scenario says itself when it starts; how long: --duration"))
    job = open_job(
        arguments.model,
        duration=arguments.duration,
        settings=parameter_values(arguments),
        libraries=arguments.library,
        profile=arguments.mode,
        **step_settings(arguments),
    )
    scenario = job.scenario
    with shown_progress(scenario.name, scenario.duration, arguments.quiet) as (announce, progress):
        report = job.run(announce=announce, progress=progress)
    if not report.ok and not arguments.quiet:
        print(report.as_text(), file=sys.stderr)
    return [read_profile(file) for file in report.profiles]


def _kept(arguments: argparse.Namespace) -> Profile:
    from kilohertz.profiler import read_profile

    return read_profile(arguments.model)


def _of_model(arguments: argparse.Namespace) -> int:
    from kilohertz.driver import load

    if arguments.duration is not None:
        raise ModelError(Diagnostic("R793", "`--duration` is for a scenario; of a model: --steps or --stop"))
    model = load(arguments.model, arguments.library)
    model = model.torn_on(*arguments.tear_on) if arguments.tear_on else model
    model, values = model.with_values(dict(arguments.settings))
    arguments.settings = list(values.items())  # what is compiled in is no setting of a run any more
    with progress_bar(model.name, arguments.quiet) as progress:
        profile = model.profile(
            steps=arguments.steps,
            start=arguments.start,
            stop=arguments.stop,
            settings=dict(arguments.settings),
            progress=progress,
            announce=None if arguments.quiet else announce,
            **step_settings(arguments),
        )
    tried = _tried(model, profile, arguments) if arguments.advise else []
    _report(profile, arguments, several=False, tried=tried)
    if arguments.instructions:
        _print_instructions(model, arguments)
    if arguments.advise and not arguments.quiet:
        _print_advice(tried)
    return 0


def _tried(model: Model, profile: Profile, arguments: argparse.Namespace) -> list[Tried]:
    from kilohertz.driver.profiling import Wanted, try_advice
    from kilohertz.solvers import StepSettings

    wanted = Wanted(arguments.steps, arguments.start, arguments.stop, dict(arguments.settings))
    say = None if arguments.quiet else announce
    return try_advice(model, profile, StepSettings.of(**step_settings(arguments)), wanted, announce=say)


def _print_advice(tried: Sequence[Tried]) -> None:
    from kilohertz.profiler.advice import AGAINST

    if not tried:
        print("advice: none; no loop, Jacobian or event has 5% of the cycle")
    cells = []
    for t in tried:
        result = t.refused or "needs a change of the model"
        if t.saved is not None and t.deviation is not None:
            result = f"saved {t.saved:.1%}, states deviate by {t.deviation:.2g} of their range at most"
        cells.append((t.advice.text, f"{t.advice.at_most:.1%}", t.advice.options or AGAINST, result))
    _table(("advice", "saves at most", "try", "tried"), cells, 0)


def _write(
    profile: Profile, causes: Sequence[Cause], first: str, arguments: argparse.Namespace, tried: Sequence[Tried]
) -> None:
    from kilohertz.profiler import EXPORTS, profile_page, report_data, write_json

    if arguments.output is not None:
        _folder(arguments.output)
        file = profile.write(arguments.output / f"{profile.name}.json")
        if not arguments.quiet:
            print(f"kept: {file}")
    if arguments.json is not None:
        write_json(arguments.json, report_data(profile, [c.as_data(profile) for c in causes], first, tried))
    for name, export in EXPORTS.items():
        if getattr(arguments, name) is not None:
            write_json(getattr(arguments, name), export(profile, causes))
    if arguments.page is not None:
        _write_page(profile_page(profile, causes, tried), arguments.page)


def _write_page(page: Page, path: Path) -> None:
    from kilohertz.pages import write_page

    try:
        write_page(page, path)
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: {error.strerror}")) from error


def _folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: {error.strerror}")) from error


# --------------------------------------------------------------------------------------------------------------- tables


def _stepped(profile: Profile) -> list[str]:
    """With which method and step, and why; a task says so in its report."""
    about = profile.about
    if "step" not in about or "solver" not in about:
        return []
    parts = f", {about['internal_steps']} internal steps" if about.get("internal_steps", 1) > 1 else ""
    return [*about.get("notes", ()), f"stepped by {about['solver']}{parts}, every {about['step'] * 1e3:g} ms"]


def _missing(profile: Profile) -> list[str]:
    """What a task did not leave."""
    about, lines = profile.about, []
    if about.get("killed"):
        lines.append("the task was killed: these are the cycles that it had written until then")
    if about.get("dropped"):
        lines.append(f"{about['dropped']} cycles were dropped: the ring was full")
    return lines


def _print(profile: Profile, causes: Sequence[Cause], arguments: argparse.Namespace) -> None:
    from kilohertz.profiler import classes, components, cycle_numbers, lines, rows

    numbers = cycle_numbers(profile)
    if not numbers:
        return
    c = profile.costs
    clock = "time stamp counter" if c.is_counter else "monotonic clock"
    spread = ", ".join(f"{n} {numbers[n] / 1e3:.2f}" for n in ("mean", "p50", "p99", "p999", "max"))
    out = int(profile.disturbed.sum())
    without = f", without {out} in which the thread was preempted or probes began or ended" if out else ""
    print(f"{len(profile.records)} cycles{without}: {spread} us; {profile.attributed:.1%} of the time in named places")
    for line in (*_stepped(profile), *_missing(profile)):
        print(line)
    if profile.every > 1:
        print(f"one cycle in {profile.every} left a record, and all that were slow or missed their deadline")
    if profile.swept < 1.0:
        print(f"windows went over {profile.swept:.0%} of a cycle so far: the rest is taken to be like it")
    if profile.apart is not None:
        print(f"sum of the parts: {profile.apart:+.1%} from cycles that went without probes")
    print(f"probes: {clock}, {c.probe_ns:.0f} ns each, {profile.overhead_ns.mean() / 1e3:.2f} us a cycle, taken off")
    views = arguments.by or _VIEWS
    most = max(1, arguments.rows)
    if "blocks" in views:
        _place_table("blocks", rows(profile, "loop", "equations"), most)
    if "functions" in views:
        _function_table(rows(profile, "function"), most)
    if "phases" in views:
        _place_table("phases", rows(profile, "phase", "device"), most)
    if "lines" in views:
        _shared_table("lines", lines(profile), most)
    if "components" in views:
        _shared_table("components", components(profile), most)
    if "classes" in views:
        _shared_table("classes", classes(profile), most)
    _worst(causes)


def _place_table(title: str, place_rows: Sequence[Row], most: int) -> None:
    columns = (title, "unknowns", "loop", "calls", "iterations", "share", "mean", "p50", "p99", "max / us")
    cells = [
        (
            f"{r.place.name}{_phase(r)}",
            f"{len(r.place.unknowns) or ''}",
            f"{r.place.loop.kind} {r.place.loop.size}" if r.place.loop else "",
            f"{r.numbers.calls:.3g}",
            f"{r.numbers.iterations:.3g}" if r.numbers.iterations else "",
            f"{r.numbers.share:.1%}",
            *(f"{ns / 1e3:.3f}" for ns in (r.numbers.mean, r.numbers.p50, r.numbers.p99, r.numbers.max)),
        )
        for r in place_rows[:most]
    ]
    _table(columns, cells, len(place_rows) - most)


def _function_table(found: Sequence[Row], most: int) -> None:
    columns = ("functions", "", "calls", "in loops", "share", "mean", "p99", "max / us")
    cells = [
        (
            r.place.name,
            "external" if r.place.is_external else "",
            f"{r.numbers.calls:.3g}",
            f"{r.numbers.looped:.3g}",
            f"{r.numbers.share:.1%}",
            *(f"{ns / 1e3:.3f}" for ns in (r.numbers.mean, r.numbers.p99, r.numbers.max)),
        )
        for r in found[:most]
    ]
    _table(columns, cells, len(found) - most)


def _phase(row: Row) -> str:
    is_other = row.place.kind in ("loop", "equations") and row.place.phase != "block"
    return f" ({row.place.phase})" if is_other else ""


def _shared_table(title: str, shares: Sequence[Shared], most: int) -> None:
    cells = [(s.name or "(top)", f"{s.share:.1%}", f"{s.ns / 1e3:.3f}", s.text[:70]) for s in shares[:most]]
    _table((title, "share", "mean / us", ""), cells, len(shares) - most)


def _worst(causes: Sequence[Cause]) -> None:
    _table(("worst cycles", "cause", ""), [(f"{c.cycle}", c.kind, c.text) for c in causes], 0)


def _table(columns: Sequence[str], cells: Sequence[Sequence[str]], left_off: int) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not cells:
        return
    shown = Table(box=SIMPLE_HEAD, pad_edge=False)
    for i, name in enumerate(columns):
        is_number = name in (
            "unknowns",
            "calls",
            "in loops",
            "iterations",
            "share",
            "mean",
            "p50",
            "p99",
            "max / us",
            "mean / us",
            "iterations a call",
            "model / us",
            "variant / us",
        )
        shown.add_column(name, justify="right" if is_number else "left", overflow="fold" if i == 0 else "ellipsis")
    for row in cells:
        shown.add_row(*(Text(cell) for cell in row))
    console = Console(width=None if sys.stdout.isatty() else 140, highlight=False)
    console.print(shown)
    if left_off > 0:
        print(f"and {left_off} more (--rows)")


def _print_instructions(model: Model, arguments: argparse.Namespace) -> None:
    from kilohertz.driver.profiling import Wanted, instructions
    from kilohertz.solvers import StepSettings

    wanted = Wanted(None, arguments.start, None, dict(arguments.settings))
    counted = instructions(model, StepSettings.of(**step_settings(arguments)), wanted)
    if arguments.quiet:
        return
    print(f"{counted.per_step:.0f} instructions a step, without probes (callgrind)")
    cells = [(n, f"{k / counted.per_step:.1%}", f"{k:.0f}") for n, k in list(counted.own.items())[: arguments.rows]]
    _table(("C function", "share", "instructions"), cells, len(counted.own) - arguments.rows)
