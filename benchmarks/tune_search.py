"""What `tune` finds beside an exhaustive search of the same space, and how well its price predicts what is counted.

    python benchmarks/tune_search.py [MODEL ...] [--error 0.005] [--step 1e-3] [--count] [--resume F.jsonl]

For each model: the price of what `tune` takes and its trials, the price of the cheapest point of the whole space that
is accurate enough, over the whole run too, and how many points that has.  Both judge by the same runs and prices
(docs/reference/tune.md); the exhaustive search leaves out only what costs more than the best one found so far even
where every loop converges at once, since it cannot win, and counts it.

With --count the instructions of a step of the chosen point are counted by callgrind.  Predicted is its
price, that of its trial by the calls and iterations it made, times what the same model's cheapest method that runs
takes of such a price, counted too: prices are those of a bound, which is above what a processor does.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import kilohertz
from kilohertz.base import ModelError
from kilohertz.driver.plan import Experiment, make_plan, reference_of
from kilohertz.driver.studies.tune import Trials, goal_of, space_of
from kilohertz.profiler import count_instructions
from kilohertz.profiler.instructions import SKIPPED
from kilohertz.solvers import StepSettings
from kilohertz.tuning import Bench, Point, Search

MOST_COUNTED = 1000  # steps
FOLDER = Path(__file__).parent / "models"
OWN = (
    "Decay",
    "RCCircuit",
    "DriveTrain",
    "BouncingBall",
    "HydraulicAxis.OpenLoop",
    "HydraulicAxis.ClosedLoop",
    "SaturatingInductors.Original",
    "SaturatingInductors.WithCapacitor",
    "ThermalResistors.Original",
    "ThermalResistors.WithCapacity",
)
HERE = (
    *(f"Shared.{name}" for name in ("VanDerPol", "Lorenz", "PredatorPrey", "Tanks", "Diode")),
    *(f"StepCost.{name}" for name in ("Oscillator", "Valve", "Chain")),
    "NonlinearLoops.Pipeline",
    "Servo",
)


def cases() -> list[str]:
    """Twenty models: our own examples, and those of this folder."""
    return [*(f"Kilohertz.Examples.{name}" for name in OWN), *HERE]


def searched(name: str, step: float, error: float, count: bool) -> dict[str, Any]:
    model, asked, e = kilohertz.load(name, [FOLDER]), StepSettings.of(step=step), Experiment()
    reference = reference_of(model, asked, e)
    space, trials = space_of(model, asked, (step,), reference), Trials(model, reference, e)
    goal = goal_of(error, None)
    began = time.process_time()
    ours = trials.bench()
    best = Search(space, reference, goal, ours).run()
    spent = time.process_time() - began
    every = trials.bench()
    every.points.update(ours.points)  # the same runs: not made twice
    points = [(least, s) for s in space.every() if (least := _least(trials, s)) is not None]
    cheapest = None
    for least, settings in sorted(points, key=lambda point: point[0]):
        if cheapest is not None and least >= cheapest:
            break
        point = every.point(settings)
        assert point is not None
        if point.error <= error and (cheapest is None or point.price < cheapest):
            whole = every.whole(point)
            cheapest = point.price if whole.error <= error else cheapest
    out: dict[str, Any] = {
        "model": name,
        "points": len(points),
        "trials": len(ours.points),
        "seconds": spent,
        "tuned": best.title if best is not None else "",
        "price": best.price if best is not None else None,
        "cheapest": cheapest,
    }
    if count and best is not None:
        steps = min(MOST_COUNTED, round(reference.span / step) - SKIPPED)
        out |= counted(model, best, every, step, steps)
    return out


def _least(trials: Trials, settings: StepSettings) -> float | None:
    """No run takes less: each loop converges in its first iteration."""
    try:
        return trials.price(settings).least
    except ModelError:
        return None


def counted(model: Any, chosen: Point, bench: Bench, step: float, steps: int) -> dict[str, Any]:
    """Instructions of a period: counted, and predicted from the trial and one calibration."""
    plain = next(
        p
        for solver in ("rk2", "lie", "rodas4")
        if (p := bench.point(StepSettings.of(solver=solver, step=step))) is not None and p.error < float("inf")
    )
    calibration = _counted(model, plain.settings, steps) / (plain.price * step)
    number = _counted(model, chosen.settings, steps)
    return {"counted": number, "predicted": chosen.price * step * calibration, "calibration": calibration}


def _counted(model: Any, settings: StepSettings, steps: int) -> float:
    plan = make_plan(model, settings)
    return count_instructions(model.built(model.planned(plan)), plan.stepping, steps).per_step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--error", type=float, default=0.005)
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--count", action="store_true")
    parser.add_argument("--resume", type=Path)
    arguments = parser.parse_args()
    known = {}
    if arguments.resume is not None and arguments.resume.exists():
        known = {r["model"]: r for r in map(json.loads, arguments.resume.read_text().splitlines())}
    for name in arguments.models or cases():
        record = known.get(name) or searched(name, arguments.step, arguments.error, arguments.count)
        if name not in known and arguments.resume is not None:
            with arguments.resume.open("a") as out:
                out.write(json.dumps(record) + "\n")
        known[name] = record
        print(line(record), flush=True)
    report(list(known.values()))


def line(r: dict[str, Any]) -> str:
    if r["price"] is None or r["cheapest"] is None:
        return f"{r['model']}: nothing is accurate enough (tune {r['price']}, exhaustive {r['cheapest']})"
    share = r["trials"] / r["points"]
    ratio = r["price"] / r["cheapest"]
    text = f"{r['model']}: {ratio:.3f} times the cheapest, {r['trials']} of {r['points']} ({100 * share:.1f} %)"
    predicted = f", predicted {r['predicted']:.0f}, counted {r['counted']:.0f}" if "counted" in r else ""
    return f"{text}, {r['tuned']}{predicted}"


def report(records: list[dict[str, Any]]) -> None:
    done = [r for r in records if r["price"] is not None and r["cheapest"] is not None]
    near = sum(r["price"] <= 1.1 * r["cheapest"] for r in done)
    few = sum(r["trials"] <= 0.1 * r["points"] for r in done)
    print(f"{len(done)} models: within 1.1 of the cheapest {near}, with at most 10 % of the runs {few}")
    told = [r["predicted"] / r["counted"] for r in done if "counted" in r]
    if told:
        within = sum(1 / 1.15 <= t <= 1.15 for t in told)
        print(f"  predicted within 15 % of counted: {within} of {len(told)}; from {min(told):.2f} to {max(told):.2f}")


if __name__ == "__main__":
    main()
