"""Plant faults in small models and scenarios, and count those that end silently: there should be none.

    python benchmarks/planted_faults.py [--count 200] [--seed 1] [--first 0]

Each fault is made from a seed of its own: where it stands among random sound equations, which function, subscript, unit
or file has it, when it happens and which solver meets it.  A fault is said where the run is refused with a diagnostic,
or ends with a problem or warning of the right code; for a killed supervisor, where the rig is gone with its report
written.  The same models without the fault are counted too: a message there is a false alarm.
A run can be cut in pieces: --first and --count say which faults of the seed.
The exit code is 1 where a fault is silent or an alarm false.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kilohertz
from kilohertz.base import ModelError, ModelWarning
from kilohertz.cli import main as khz
from kilohertz.realtime import running
from tables import machine

SOLVERS = ("cvode", "ida", "rk4", "ros34pw2")
SECONDS = 20.0  # for a rig to end


@dataclass(frozen=True, slots=True)
class Planted:
    """Text of a model with a fault and of the same without, the codes that say it, settings of the run."""

    faulty: str
    sound: str
    codes: frozenset[str]
    settings: tuple[tuple[str, float | str], ...] = ()


def around(r: random.Random, declarations: str, equations: str = "") -> str:
    """A model with some sound equations before and after what is planted."""
    n = r.randint(1, 4)
    states = [f"Real s{i}(start={r.uniform(0.5, 2):.3f}, fixed=true);" for i in range(n)]
    decay = [f"der(s{i}) = -{r.uniform(0.1, 3):.3f}*s{i};" for i in range(n)]
    at = r.randint(0, n)
    told = [*states[:at], declarations, *states[at:]]
    return f"model M {' '.join(told)} equation {' '.join([*decay[:at], equations, *decay[at:]])} end M;"


def pair(r: random.Random, make: Callable[[bool], tuple[str, str]], codes: set[str]) -> Planted:
    state = r.getstate()
    faulty = around(r, *make(True))
    r.setstate(state)
    return Planted(faulty, around(r, *make(False)), frozenset(codes))


def no_number(r: random.Random) -> Planted:
    """A function outside its domain from some instant on."""
    t = r.uniform(0.2, 0.8)
    text, sound = r.choice(
        (
            (f"sqrt({t:.3f} - time)", "sqrt(2 - time)"),
            (f"log({t:.3f} - time)", "log(2 - time)"),
            (f"asin(1 + time - {t:.3f})", "asin(time/2)"),
            (f"1/(if time < {t:.3f} then 1 else 0)", "1/(if time < 2 then 1 else 0)"),
            (f"({t:.3f} - time)^0.3", "(2 - time)^0.3"),
        )
    )
    used = r.random() < 0.5
    return pair(
        r,
        lambda bad: (
            f"Real y = {text if bad else sound}; {'Real z(start=0, fixed=true);' if used else ''}",
            "der(z) = y;" if used else "",
        ),
        {"R727", "R713", "R711", "R718", "R717", "R729", "R726"},
    )


def wrong_subscript(r: random.Random) -> Planted:
    n = r.randint(1, 6)
    values = ", ".join(f"{r.uniform(-2, 2):.3f}" for _ in range(n))
    low = r.random() < 0.3
    rate = r.uniform(2, 9)
    index = f"integer({n} + 0.999 - {n * rate:.3f}*time)" if low else f"integer(1.01 + {n * rate:.3f}*time)"
    safe = f"max(1, min({n}, {index}))"
    way = r.randrange(3)

    def make(bad: bool) -> tuple[str, str]:
        k = index if bad else safe
        if way == 0:
            return f"Real a[{n}] = {{{values}}}; Integer k = {k}; Real y = a[k];", ""
        if way == 1:
            return f"Real a[2, {n}] = {{{{{values}}}, {{{values}}}}}; Integer k = {k}; Real y = a[2, k];", ""
        function = f"function f input Real a[{n}]; input Integer k; output Real y; algorithm y := a[k]; end f;"
        return f"{function} Real a[{n}] = {{{values}}}; Integer k = {k}; Real y = f(a, k);", ""

    return pair(r, make, {"R717", "R726"})


def contradictory_starts(r: random.Random) -> Planted:
    a, sign = r.uniform(0.5, 2), r.choice(("", "-"))
    other = -a if sign else a
    wrong = other + r.choice((-1, 1)) * r.uniform(0.1, 3)
    through = r.random() < 0.5

    def make(bad: bool) -> tuple[str, str]:
        b = wrong if bad else other
        start = "b" if through else f"{b:.6f}"
        first = "a" if through else f"{a:.6f}"
        given = f"parameter Real a = {a:.6f}; parameter Real b = {b:.6f};" if through else ""
        return f"{given} Real x(start={first}, fixed=true), y(start={start}, fixed=true);", f"der(x) = -x; y = {sign}x;"

    return pair(r, make, {"B209", "R714"})


def unit_clash(r: random.Random) -> Planted:
    units = r.sample(("m", "s", "kg", "A", "K", "Pa", "N", "V", "W", "m/s", "rad/s", "J/kg"), 2)
    way = r.randrange(4)

    def make(bad: bool) -> tuple[str, str]:
        one, two = units[0], units[1 if bad else 0]
        declared = f'Real p(unit="{one}", start=1, fixed=true); Real q(unit="{two}");'
        uses = ("q = p;", "q = if time < 0.5 then p else 2*p;", f"q = p + {'0*q' if way == 2 else '0'};", "0 = q - p;")
        return declared, f"der(p) = -p/tau; {uses[way]}"

    declared = 'parameter Real tau(unit="s") = 1; '
    return pair(r, lambda bad: (declared + make(bad)[0], make(bad)[1]), {"S342"})


def unit_clash_in_a_call(r: random.Random) -> Planted:
    """Of an argument with its input, of a result with what it is handed to, in the body of a function."""
    one, other = r.sample(("m", "s", "kg", "A", "K", "Pa", "N", "V", "W", "m/s", "J/kg"), 2)
    way = r.randrange(4)

    def make(bad: bool) -> tuple[str, str]:
        units = [other if bad and way == k else one for k in range(4)]
        declared = (
            f'function f input Real x(unit="{units[0]}"); output Real y(unit="{units[1]}"); output Real z;'
            f' protected Real h(unit="{units[2]}"); algorithm h := x; y := h; z := 1; end f;'
            f' Real p(unit="{one}") = 1 + time; Real q(unit="{units[3]}"), w;'
        )
        return declared, "(q, w) = f(p);"

    return pair(r, make, {"S342"})


def part_never_set(r: random.Random) -> Planted:
    """An element that no turn of a loop sets; sizes from the argument or as numbers."""
    n, step = r.randint(2, 6), r.choice((1, -1))
    size, missing = r.choice((str(n), "size(x, 1)")), r.choice(("first", "last"))

    def make(bad: bool) -> tuple[str, str]:
        first = 2 if bad and missing == "first" else 1
        last = f"{size} - 1" if bad and missing == "last" else size
        turns = f"{first}:{last}" if step > 0 else f"{last}:-1:{first}"
        numbers = ", ".join("time" for _ in range(n))
        return (
            f"function f input Real x[:]; output Real y[{size}]; algorithm for i in {turns} loop y[i] := 2*x[i];"
            f" end for; end f; Real y[{n}] = f({{{numbers}}});",
            "",
        )

    return pair(r, make, {"S346"})


def failed_assertion(r: random.Random) -> Planted:
    t, inline = r.uniform(0.2, 0.8), r.choice(("", "annotation(Inline=true);", "annotation(Inline=false);"))
    return pair(
        r,
        lambda bad: (
            f'function f input Real x; output Real y; algorithm assert(x < {t if bad else 2:.3f}, "too large");'
            f" y := 2*x; {inline} end f; Real y = f(time);",
            "",
        ),
        {"R714", "R726"},
    )


def failed_assertion_of_a_when(r: random.Random) -> Planted:
    """At the start or later, in a when that `initial()`, a condition or a sample triggers."""
    t = r.uniform(0.2, 0.8)
    trigger = r.choice(("initial()", f"{{initial(), time > {t:.3f}}}", f"time > {t:.3f}", f"sample({t:.3f}, 0.1)"))
    return pair(
        r,
        lambda bad: ("", f'when {trigger} then assert(time > {2 if bad else -1}, "wrong"); end when;'),
        {"R714", "R726"},
    )


def many_solutions(r: random.Random) -> Planted:
    a, b, k = r.randint(1, 9), r.randint(1, 9), r.randint(2, 9)
    return pair(
        r,
        lambda bad: (
            "Real p, q;",
            f"{a}*p + {b}*q = 1; {k * a}*p + {k * b if bad else b}*q = {k} + 0*time;",
        ),
        {"R736", "R711", "B221"},
    )


def outside_limits(r: random.Random) -> Planted:
    limit = r.uniform(0.2, 0.8)
    return pair(r, lambda bad: (f"Real y(max={limit if bad else 2:.3f}) = time;", ""), {"R737"})


def outside_limits_of_an_alias(r: random.Random) -> Planted:
    """The last of a chain of names for one variable has the limit, as a number or by a parameter."""
    n, limit, through = r.randint(1, 4), r.uniform(0.2, 0.8), r.random() < 0.5
    signs = [r.choice(("", "-")) for _ in range(n)]
    is_down = signs.count("-") % 2 == 1
    chain = " ".join(f"Real a{i} = {sign}{f'a{i - 1}' if i else 'x'};" for i, sign in enumerate(signs[:-1]))
    source = f"a{n - 2}" if n > 1 else "x"

    def make(bad: bool) -> tuple[str, str]:
        value = -limit if is_down else limit
        name = "min" if is_down else "max"
        number = f"{value if bad else 8 * value:.3f}"
        given = f"parameter Real L = {number};" if through else ""
        declared = (
            f"Real x(start=0, fixed=true); {chain} Real y({name}={'L' if through else number}) = {signs[-1]}{source};"
        )
        return f"{given} {declared}", "der(x) = 1;"

    return pair(r, make, {"R737"})


def lost_modifier(r: random.Random) -> Planted:
    """A modifier of something that is not there, or may not be modified."""
    value = f"{r.uniform(1, 3):.3f}"
    declared = "parameter Real k = 1; final parameter Real f = 2; Real v(start=1, fixed=true);"
    part = f"model A {declared} equation der(v) = -k*v; end A;"
    wrong, sound = r.choice(
        (
            (f"A a(kk = {value});", f"A a(k = {value});"),
            (f"A a(v(strat = {value}));", f"A a(v(start = {value}));"),
            (f"A a[2](each kk = {value});", f"A a[2](each k = {value});"),
            (f"A a(f = {value});", "A a;"),
            (f"model B extends A(kk = {value}); end B; B b;", f"model B extends A(k = {value}); end B; B b;"),
            (f"A a(w(start = {value}));", f"A a(v(start = {value}));"),
            ("A a(redeclare model Q = A);", "A a;"),
            ("parameter Real p[3] = {1, 2}; A a;", "parameter Real p[3] = {1, 2, 3}; A a;"),
        )
    )
    text = [around(r, f"{part} {one}") for one in (wrong, sound)]
    return Planted(text[0], text[1], frozenset({"S205", "S222", "S240"}))


def wrong_unit_of_a_setting(r: random.Random) -> Planted:
    units = ("m", "kg", "s", "K", "N", "Pa", "V", "rad/s")
    own, other = r.sample(units, 2)
    number = f"{r.uniform(0.5, 5):.3f}"
    text = around(r, f'parameter Real p(unit="{own}") = 1; Real y(unit="{own}") = p;')
    wrong = r.choice((f"{number} {other}", f"{number} bananas", f"{number}, {own}", f"{number} {own} {other}"))
    return Planted(text, text, frozenset({"R720"}), (("p", wrong), ("p", f"{number} {own}")))


def wrong_setting(r: random.Random) -> Planted:
    name, value, good = r.choice((("n", 2.5, 2), ("n", -1, 3), ("on", 3, 1), ("e", 4, 2), ("k", 1e3, 2)))
    text = around(
        r,
        "type E = enumeration(a, b, c); parameter Integer n(min=0) = 1; parameter Boolean on = true;"
        " parameter E e = E.a; parameter Real k(max=10) = 1; Real y = if on then k*n else Integer(e);",
    )
    return Planted(text, text, frozenset({"R720"}), ((name, value), (name, good)))


MODELS: dict[str, Callable[[random.Random], Planted]] = {
    "a value that is no number": no_number,
    "a wrong subscript": wrong_subscript,
    "contradictory starts": contradictory_starts,
    "a unit clash": unit_clash,
    "a unit clash in a call": unit_clash_in_a_call,
    "a part never set": part_never_set,
    "a failed assertion in a function": failed_assertion,
    "a failed assertion in a when": failed_assertion_of_a_when,
    "many solutions": many_solutions,
    "a value outside its limits": outside_limits,
    "a setting that makes no sense": wrong_setting,
    "an alias outside its limits": outside_limits_of_an_alias,
    "a lost modifier": lost_modifier,
    "a setting in a wrong unit": wrong_unit_of_a_setting,
}


def codes_of(text: str, solver: str, folder: Path, setting: tuple[str, float | str] | None) -> set[str]:
    """What a run says: codes of its error, or of its warnings and problems."""
    file = folder / "planted.mo"
    file.write_text(text)
    step: dict[str, Any] = {} if solver in ("cvode", "ida") else {"step": 0.005}
    model = kilohertz.load(str(file))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            record = "s*"  # what is not recorded counts too
            result = model.simulate(
                solver=solver, record=record, stop=1.0, settings=dict([setting]) if setting else None, **step
            )
    except ModelError as error:
        return {d.code for d in error.diagnostics} | {d.code for d in model.warnings}
    return {d.code for d in (*result.problems, *model.warnings)}


def meet(planted: Planted, r: random.Random, folder: Path) -> tuple[bool, set[str]]:
    """Whether the fault is said, and the alarms without it."""
    solver = r.choice(SOLVERS)
    bad, good = (planted.settings or (None, None))[:2]
    found = codes_of(planted.faulty, solver, folder, bad)
    return bool(found & planted.codes), codes_of(planted.sound, solver, folder, good) & planted.codes


def unwritable(r: random.Random, folder: Path) -> bool:
    """A file that cannot be written: said before the run, or with the report after it."""
    missing = folder / "missing" / f"{r.randrange(1000)}"
    blocked = folder / "file"
    blocked.touch()
    place = r.choice((missing / "x", blocked / "x", folder))
    model = folder / "planted.mo"
    model.write_text("model M Real x(start=1, fixed=true); equation der(x) = -x; end M;")
    ending = r.choice((".csv", ".mat"))
    out = place.with_name(place.name + ending) if place is not folder else folder
    run = [str(model), "--solver", "rk4", "--duration", "10ms", "--fast", "--no-check"]
    words = r.choice(
        (["simulate", str(model), "-o", str(out)], ["run", *run, "-o", str(out)], ["run", *run, "--json", str(out)])
    )
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        code = khz(words)
    return code != 0 and "error[" in said.getvalue()


SUPERVISOR = "import sys, kilohertz; kilohertz.run(sys.argv[1], folder=sys.argv[2], check=False)"


def killed(r: random.Random, folder: Path) -> bool:
    """A supervisor that is killed: the rig ends, and its report and recording are there."""
    name = f"planted-{os.getpid()}-{r.randrange(10**6)}"
    (folder / "planted.mo").write_text("model M Real x(start=1, fixed=true); equation der(x) = -x; end M;")
    scenario = folder / f"{name}.toml"
    scenario.write_text(
        f'model = "{folder / "planted.mo"}"\nsolver = "rk4"\nduration = "600s"\n'
        "[realtime]\npriority = 0\nlock_memory = false\n"
    )
    who = subprocess.Popen([sys.executable, "-c", SUPERVISOR, str(scenario), str(folder / name)])
    if not _until(lambda: name in running(), 120):
        who.kill()
        return False
    with kilohertz.realtime.attach(name) as rig:
        _until(lambda: rig.time > r.uniform(0.05, 0.4), 60)
        pid = rig.pid
        who.send_signal(r.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGHUP)))
        who.wait(60)
        gone = _until(lambda: not Path(f"/proc/{pid}").exists(), SECONDS)
    report = folder / name / f"{name}.report.json"
    if not gone:
        os.kill(pid, signal.SIGKILL)
        return False
    return report.exists() and json.loads(report.read_text())["ended"] in ("alone", "signal")


def _until(is_so: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


OTHERS: dict[str, Callable[[random.Random, Path], bool]] = {
    "an unwritable output": unwritable,
    "a killed supervisor": killed,
}


def main() -> int:
    """Kinds take turns, so that each count is spread over all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, metavar="K", help="number of the first fault")
    asked = parser.parse_args()
    kinds = [*MODELS, *OTHERS]
    planted, silent, false = Counter[str](), Counter[str](), Counter[str]()
    begun = time.perf_counter()
    for k in range(asked.first, asked.first + asked.count):
        kind, r = kinds[k % len(kinds)], random.Random(f"{asked.seed} {k}")
        planted[kind] += 1
        with tempfile.TemporaryDirectory() as folder:
            if kind in MODELS:
                fault = MODELS[kind](r)
                said, alarms = meet(fault, r, Path(folder))
                false[kind] += bool(alarms)
                if alarms:
                    print(f"false alarm {k}, {kind}: {sorted(alarms)}\n    {fault.sound}", flush=True)
            else:
                fault, said = None, OTHERS[kind](r, Path(folder))
        silent[kind] += not said
        if not said:
            print(f"silent {k}, {kind}\n    {fault.faulty if fault is not None else ''}", flush=True)
    print("\n| fault | planted | silent | false alarms without it |\n|---|---|---|---|")
    for kind in kinds:
        print(f"| {kind} | {planted[kind]} | {silent[kind]} | {false[kind] if kind in MODELS else '-'} |")
    print(f"| all | {planted.total()} | {silent.total()} | {false.total()} |")
    print(f"\n{time.perf_counter() - begun:.0f} s; {machine()}")
    return 1 if silent.total() or false.total() else 0


if __name__ == "__main__":
    sys.exit(main())
