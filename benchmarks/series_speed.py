"""Cases per second of a series, beside a bare loop in C over the same compiled model.

    python benchmarks/series_speed.py [--cases 10000] [--rounds 3] [--cores 1 2] [--dask] [--kill]

The model is `models/Servo.mo`, stepped with rk4 at 1 ms for 3 s; five parameters vary (Sobol points), the largest
control error is measured, a case above 0.5 rad is exceptional.  The bare loop is C: for each case it prepares the
stepper, writes the parameters, steps 3000 times and keeps the largest error; on n cores n such processes share the
cases.  A series does the same from Python: it records, measures, checks thresholds and keeps all results on disk.

Rounds take turns.  Printed are wall time and processor time (of all processes) of each, the median of both ratios of a
round, and cases per second.  With --dask the same series runs on a scheduler with two workers of one thread; with
--kill a series is killed (SIGKILL) half way and started again, and its table is compared with an undisturbed one.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import kilohertz
from kilohertz.building import linked_units, main_unit
from kilohertz.simulate import Instance
from kilohertz.sweep import Cases, Measure, Range, make_cases
from kilohertz.toolchain import build_executable

MODEL = Path(__file__).parent / "models" / "Servo.mo"
PARAMETERS = {
    "Jload": Range(0.01, 0.04),
    "backlash": Range(0.0, 0.02),
    "kp": Range(10, 40),
    "kSpeed": Range(0.1, 0.6),
    "friction": Range(0.0, 0.03),
}
STEP, STEPS = 1e-3, 3000
MEASURE = Measure("err", "largest", above=0.5)
_BARE = """
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "khz_stepper.h"

extern const khz_model *KHZ_MODEL(void);

int main(int argc, char **argv)
{{
    enum {{ N = {n} }};
    static const size_t place[N] = {{ {places} }};
    khz_step_settings settings = {{0}};
    settings.method = khz_method_index("rk4");
    settings.period_ns = {period};
    const khz_model *const model = KHZ_MODEL();
    khz_stepper *const s = aligned_alloc(KHZ_ALIGNMENT, (khz_stepper_size(model, &settings) + 4095) / 4096 * 4096);
    FILE *const in = argc == 3 ? fopen(argv[1], "rb") : NULL;
    FILE *const out = argc == 3 ? fopen(argv[2], "wb") : NULL;
    double values[N];
    if (s == NULL || in == NULL || out == NULL) {{
        return 2;
    }}
    while (fread(values, sizeof(double), N, in) == N) {{
        khz_stepper_prepare(s, model, &settings);
        char *const z = (char *)khz_stepper_instance(s);
        for (int k = 0; k < N; k++) {{
            *(double *)(void *)(z + place[k]) = values[k];
        }}
        double largest = khz_stepper_start(s, 0.0) == KHZ_OK ? 0.0 : NAN;
        for (int i = 0; i < {steps}; i++) {{
            (void)khz_stepper_step(s);
            largest = fmax(largest, fabs(*(const double *)(const void *)(z + {err})));
        }}
        fwrite(&largest, sizeof(double), 1, out);
    }}
    return fclose(out);
}}
"""


class Taken:
    """Wall and processor time of a job with all its processes."""

    def __init__(self, job: Callable[[], Any]) -> None:
        before, began = _processor(), time.perf_counter()
        self.value = job()
        self.wall, self.processor = time.perf_counter() - began, _processor() - before


def _processor() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(r.ru_utime + r.ru_stime for r in both)


def bare_program(model: kilohertz.Model) -> Path:
    """The loop in C."""
    program = model.compile()
    instance = Instance(program)
    places = ", ".join(str(program.offset(instance.settable(n))) for n in PARAMETERS)
    err = program.offset(program.step.variables["err"])
    text = _BARE.format(n=len(PARAMETERS), places=places, period=round(STEP * 1e9), steps=STEPS, err=err)
    units, libraries = linked_units([program.built])
    return build_executable([*units, main_unit(program.built, text)], libraries)


def bare(program: Path, values: np.ndarray[Any, Any], n: int, folder: Path) -> np.ndarray[Any, Any]:
    """All cases, shared by n processes; the measure of each."""
    children = []
    for i, part in enumerate(np.array_split(values, n)):
        np.ascontiguousarray(part).tofile(folder / f"in{i}")
        children.append(subprocess.Popen([program, str(folder / f"in{i}"), str(folder / f"out{i}")]))
    for child in children:
        assert child.wait() == 0
    return np.concatenate([np.fromfile(folder / f"out{i}") for i in range(n)])


def series(model: kilohertz.Model, count: int, folder: Path, **means: Any) -> Any:
    return model.series(
        PARAMETERS,
        way="sobol",
        count=count,
        measures=[MEASURE],
        folder=folder,
        solver="rk4",
        step=STEP,
        fresh=True,
        **means,
    )


@contextmanager
def cluster(workers: int) -> Iterator[str]:
    """A scheduler and workers of one thread each on this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with ExitStack() as stack:

        def start(module: str, *words: str) -> None:
            command = [sys.executable, "-m", f"distributed.cli.{module}", *words, "--no-dashboard"]
            child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(child.wait)
            stack.callback(child.kill)

        start("dask_scheduler", "--host", "127.0.0.1", "--port", address.rpartition(":")[2])
        for _ in range(workers):
            start("dask_worker", address, "--nthreads", "1", "--no-nanny")
        import distributed

        connect: Any = distributed.Client
        with connect(address, timeout="60s") as client:
            client.wait_for_workers(workers, timeout=60)
        yield address


def killed_and_resumed(count: int, folder: Path, done: Any) -> None:
    """SIGKILL half way, then the same again."""
    lines = [f'[model]\nmodel = "{MODEL}"\nsolver = "rk4"\nstep = {STEP}', "[parameters]"]
    lines += [f"{n} = {{ from = {r.low}, to = {r.high} }}" for n, r in PARAMETERS.items()]
    lines += [f'[cases]\nway = "sobol"\ncount = {count}', '[[measure]]\nsignal = "err"\nabove = 0.5']
    (folder / "servo.toml").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "kilohertz", "series", "servo.toml", "-o", "killed", "-q"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as child:
        while _rows(folder / "killed") < count // 2:
            time.sleep(0.2)
        child.send_signal(signal.SIGKILL)
    known = _rows(folder / "killed")
    subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False)
    import polars

    table = polars.read_parquet(folder / "killed" / "cases.parquet")
    same = table.drop("seconds_taken").equals(done.table.drop("seconds_taken"))
    print(f"killed with {known} of {count} cases on disk, started again: {len(table)} cases, the same table: {same}")


def _rows(folder: Path) -> int:
    import polars

    files = list(folder.glob("parts/[0-9]*.parquet"))
    return sum(polars.scan_parquet(f).select(polars.len()).collect().item() for f in files)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--kill", action="store_true")
    arguments = parser.parse_args()
    model = kilohertz.load(str(MODEL))
    program, count = bare_program(model), arguments.cases
    values = make_cases(Cases(PARAMETERS, "sobol", count)).values
    with tempfile.TemporaryDirectory(prefix="khz-series-") as scratch:
        folder = Path(scratch)
        done = None
        for n in arguments.cores:
            pairs = []
            for _ in range(arguments.rounds):
                plain = Taken(lambda n=n: bare(program, values, n, folder))  # type: ignore[misc]
                ours = Taken(lambda n=n: series(model, count, folder / "out", jobs=n))  # type: ignore[misc]
                done = ours.value
                _check(plain.value, done)
                pairs.append((plain, ours))
                print(f"  {n} cores: bare {_told(plain, count)}; series {_told(ours, count)}", flush=True)
            wall, work = (median(getattr(b, k) / getattr(a, k) for a, b in pairs) for k in ("wall", "processor"))
            print(f"{n} cores: series to bare loop: wall time {wall:.2f}, processor time {work:.2f}")
        if arguments.dask:
            with cluster(2) as address:
                taken = Taken(lambda: series(model, count, folder / "dask", scheduler=address))
                print(f"Dask, 2 workers: {_told(taken, count)}")
        if arguments.kill:
            killed_and_resumed(count, folder, done or series(model, count, folder / "out"))


def _check(plain: np.ndarray[Any, Any], report: Any) -> None:
    """Both compute the same: the series sees a row at each event too, so its largest is no less."""
    ours = report.table["largest err"].to_numpy()
    assert not report.failed and (ours >= plain - 1e-12).all() and np.median(ours / plain) < 1.001


def _told(t: Taken, count: int) -> str:
    return f"{count / t.wall:.0f} cases/s ({t.wall:.1f} s, processor {t.processor:.1f} s)"


if __name__ == "__main__":
    main()
