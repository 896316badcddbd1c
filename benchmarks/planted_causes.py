"""Causes planted at random places of random models: does the first line of the profile name them?

    equation      one equation is costly
    function      an external function is slow: in every step, or in some
    iterations    a nonlinear loop gets an input that jumps now and then, and needs more iterations
    events        an instance makes many events: in every step, or in some
    preemption    a process of higher priority takes the processor of the task for some milliseconds, now and then
    device        a card takes long for a conversion, now and then

The first four are profiled off-line, the last two as tasks in real time (which needs the right to SCHED_FIFO).  A trial
is right where the first line names the kind of the cause, and its place: the line of the equation, the function, the
loop, the device.

    python benchmarks/planted_causes.py [--trials 100] [--seed 1] [--only KIND] [--first N] [--cpu 1] [-v]
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from kilohertz.driver import Session, open_job
from kilohertz.driver.profiling import keep_profiles
from kilohertz.profiler import Profile, headline, read_profile, worst_causes
from kilohertz.realtime import start
from kilohertz.toolchain import Source, Unit, build_shared
from planted_models import KINDS, Trial, planted
from tables import machine

STEP, STEPS, SECONDS = 1e-3, 3000, 2.0
MOST = 60  # events of a step, iterations of a loop
PRIORITY = 95  # of the process that preempts: above the task
CARD = r"""
#define _GNU_SOURCE
#include <time.h>
#define EXPORT __attribute__((visibility("default")))
typedef struct { double min, max; unsigned unit; } comedi_range;
static comedi_range range = {-10.0, 10.0, 0};
static unsigned wires[8], n_read;
EXPORT void *comedi_open(const char *path) { (void)path; return wires; }
EXPORT int comedi_close(void *it) { (void)it; return 0; }
EXPORT unsigned comedi_get_maxdata(void *it, unsigned s, unsigned c) { (void)it, (void)s, (void)c; return 65535; }
EXPORT comedi_range *comedi_get_range(void *it, unsigned s, unsigned c, unsigned r)
{
    (void)it, (void)s, (void)c, (void)r;
    return &range;
}
EXPORT int comedi_data_read(void *it, unsigned s, unsigned c, unsigned r, unsigned a, unsigned *v)
{
    struct timespec began, now;
    (void)it, (void)s, (void)r, (void)a;
    clock_gettime(CLOCK_MONOTONIC, &began);
    now = began;
    if (++n_read %% 100 == 50) {
        while ((double)(now.tv_sec - began.tv_sec) + 1e-9 * (double)(now.tv_nsec - began.tv_nsec) < %(seconds).9f) {
            clock_gettime(CLOCK_MONOTONIC, &now);
        }
    }
    *v = wires[c %% 8];
    return 1;
}
EXPORT int comedi_data_write(void *it, unsigned s, unsigned c, unsigned r, unsigned a, unsigned v)
{
    (void)it, (void)s, (void)r, (void)a;
    wires[c %% 8] = v;
    return 1;
}
"""
_DEVICE = """
[[device]]
name = "card"
driver = "comedi"
path = "/dev/comedi0"
library = "{library}"
receive = [{{ signal = "drive" }}]
send = [{{ signal = "out" }}]
"""
_SCENARIO = """
name = "planted-{pid}"
model = "planted.mo:Planted.Plant"
solver = "{solver}"
step = "1ms"
duration = {seconds}

[realtime]
cpu = {cpu}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--first", type=int, default=0, help="number of the first trial")
    parser.add_argument("--cpu", type=int, default=1, help="of the tasks in real time")
    parser.add_argument("-v", "--verbose", action="store_true", help="every first line")
    arguments = parser.parse_args()
    print(machine())
    right, all_of = Counter[str](), Counter[str]()
    for number in range(arguments.first, arguments.first + arguments.trials):
        kind = KINDS[number % len(KINDS)]
        if arguments.only not in (None, kind):
            continue
        trial = planted(number, kind, arguments.seed)
        profile = in_real_time(trial, arguments.cpu) if trial.seconds else stepped(trial)
        first = headline(profile, worst_causes(profile, 1))
        named = all(any(w in first for w in words.split("|")) for words in trial.words)
        right[kind] += named
        all_of[kind] += 1
        if not named or arguments.verbose:
            print(f"{'right' if named else 'WRONG'} {number} {kind} {trial.solver}: {first}", flush=True)
    for kind in all_of:
        print(f"{kind:12} {right[kind]:3} of {all_of[kind]:3} named")
    print(f"{right.total()} of {all_of.total()} causes named in the first line")


def stepped(trial: Trial) -> Profile:
    """Off-line: as fast as it goes."""
    session = Session()
    session.libraries.load_text(trial.text, "planted.mo")
    return session.model("Planted.Plant").profile(
        solver=trial.solver, step=STEP, steps=STEPS, events=trial.events, events_per_step=MOST, loop_newton=MOST
    )


def in_real_time(trial: Trial, cpu: int) -> Profile:
    """As a task with a period of a millisecond."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "planted.mo").write_text(trial.text, encoding="utf-8")
        text = _SCENARIO.format(pid=os.getpid(), solver=trial.solver, seconds=SECONDS, cpu=cpu)
        if trial.kind == "device":
            library = build_shared([Unit((Source("slow_card.c", CARD % {"seconds": trial.seconds}),))])
            text += _DEVICE.format(library=library)
        (scenario := folder / "planted.toml").write_text(text, encoding="utf-8")
        job = open_job(str(scenario), profile="burst")
        built = job.build(folder=folder / "built")
        with preempting(cpu, trial.seconds) if trial.kind == "preemption" else nullcontext():
            start(built).wait()
        return read_profile(keep_profiles(built, job.session.libraries)[0])


@contextmanager
def preempting(cpu: int, seconds: float) -> Iterator[None]:
    """A process that takes a processor for some time, sleeps twenty times as long, and so on."""
    child = os.fork()
    if child == 0:
        os.sched_setaffinity(0, {cpu})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        while True:
            time.sleep(20 * seconds)
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                pass
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
