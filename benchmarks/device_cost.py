"""What an exchange with a device costs the task, per cycle: receive before the step and send after it.

    python benchmarks/device_cost.py [--cycles 5000] [--period-us 1000]

The task's side is the port as the periodic task calls it, once in each period of a real clock (so caches are as cold as
they are in a run), with SCHED_FIFO where it may.  The peer is `khz_client.h` in a process of its own that answers every
message; over shared memory it sleeps on the bell, which the task must then ring by a system call, or looks every 50 µs
by itself.  Printed: percentiles in µs of receive and send together, and how many cycles had a fresh message.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kilohertz import runtime
from kilohertz.devices import include_directory
from kilohertz.toolchain import Source, Unit, build_executable
from tables import machine

TASK = r"""
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include "khz_ports.h"

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* cycles, period in ns, n values, then key=value ... */
int main(int argc, char **argv)
{
    static khz_device_setting settings[64];
    static double in[4096], out[4096];
    const long cycles = atol(argv[1]), period = atol(argv[2]);
    khz_device_config c = {"bench", argc - 4, settings};
    for (int i = 4; i < argc; i++) {
        char *equals = strchr(argv[i], '=');
        *equals = '\0';
        settings[i - 4] = (khz_device_setting){argv[i], equals + 1};
    }
    char message[300];
    void *memory = aligned_alloc(64, (khz_port_size(&c) + 63) / 64 * 64);
    if (khz_port_open(memory, &c, message, sizeof message) != KHZ_OK) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    khz_port *p = memory;
    int64_t *cost = malloc((size_t)cycles * sizeof *cost);
    memset(cost, 1, (size_t)cycles * sizeof *cost);
    mlockall(MCL_CURRENT | MCL_FUTURE);
    const struct sched_param priority = {80};
    const int fifo = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
    long fresh = 0;
    int64_t next = now();
    for (long k = -500; k < cycles; k++) {
        next += period;
        const struct timespec until = {next / 1000000000, next % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
        const uint64_t cycle = (uint64_t)(k + 500);
        const int64_t a = now();
        const uint32_t flags = khz_port_receive(p, cycle, (int64_t)cycle * period, in);
        const int64_t b = now();
        out[0] = in[0] + 1.0;
        const int64_t d = now();
        khz_port_send(p, cycle, (int64_t)cycle * period, out, 0);
        const int64_t e = now();
        if (k >= 0) {
            cost[k] = b - a + e - d;
            fresh += flags & 1;
        }
    }
    qsort(cost, (size_t)cycles, sizeof *cost, by_size);
    printf("%g %g %g %g %ld %d\n", cost[cycles / 2] * 1e-3, cost[cycles * 99 / 100] * 1e-3,
        cost[cycles * 999 / 1000] * 1e-3, cost[cycles - 1] * 1e-3, fresh, fifo);
    khz_port_close(p);
    return 0;
}
"""
PEER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "khz_client.h"

/* Wait for a message asleep on the bell, or by looking every 50 us. */
static int received(khz_client *task, double *values, int patience_ms, int looks)
{
    const struct timespec nap = {0, 50000};
    if (!looks) return khz_client_receive(task, values, patience_ms);
    for (int k = 0; k < 10 * patience_ms; k++) {
        if (khz_client_receive(task, values, 0) > 0) return 1;
        nanosleep(&nap, NULL);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static khz_client task;
    static double values[4096];
    const int n = atoi(argv[3]);
    if (argc < 6 || khz_client_open(&task, argv[1], argv[2], n, n, 5000) != 0) return 1;
    task.flags = atoi(argv[4]);
    int patience_ms = 5000;
    while (received(&task, values, patience_ms, atoi(argv[5])) > 0) {
        khz_client_send(&task, values);
        patience_ms = 300;
    }
    return 0;
}
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A device to measure: its settings, values each way, and what the peer connects to ("" where there is none)."""

    name: str
    n: int
    settings: dict[str, str]
    address: str = ""
    local: str = ""
    flags: int = 0
    looks: bool = False  # the peer looks for messages instead of sleeping until the bell


def free() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def cases() -> list[Case]:
    out = []
    for n, crc in ((2, False), (2, True), (64, False), (64, True)):
        a, b = free(), free()
        settings = {"driver": "udp", "local": f":{a}", "remote": f":{b}", "crc": str(crc).lower()}
        name = f"udp, {n} values{', CRC' if crc else ''}"
        out.append(Case(name, n, settings, f"udp://127.0.0.1:{a}", f":{b}", 2 if crc else 0))
    for n, looks in ((2, False), (2, True), (64, False), (64, True)):
        segment = f"/khz-bench-{os.getpid()}-{n}-{looks:d}"
        name = f"shm, {n} values{', no bell' if looks else ''}"
        out.append(Case(name, n, {"driver": "shm", "segment": segment}, f"shm://{segment}", looks=looks))
    for driver in ("loopback", "udp", "modbus-server"):
        name = driver if driver == "loopback" else f"{driver}, simulated"
        out.append(Case(f"{name}, 2 values", 2, {"driver": driver, "simulated": "true"}))
    return out


def built() -> tuple[Path, Path]:
    headers = tuple(Source(n, t) for n, t in (*runtime.headers(), *runtime.device_headers()))
    drivers = Unit(tuple(Source(n, t) for n, t in runtime.device_sources()), headers)
    task = Unit((Source("device_cost_task.c", TASK),), headers)
    peer = Unit((Source("device_cost_peer.c", PEER),), (), (include_directory(),), ("-D_GNU_SOURCE",))
    return build_executable([drivers, task], ("-pthread", "-ldl", "-lrt")), build_executable([peer], ("-lrt",))


def measure(case: Case, task: Path, peer: Path, cycles: int, period_ns: int) -> str:
    values = {"n_receive": str(case.n), "n_send": str(case.n), **case.settings}
    command = [str(task), str(cycles), str(period_ns), str(case.n), *(f"{k}={v}" for k, v in values.items())]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    other = None
    if case.address:
        words = [str(peer), case.address, case.local, str(case.n), str(case.flags), str(int(case.looks))]
        other = subprocess.Popen(words)
    text, _ = running.communicate()
    if other is not None:
        other.wait(timeout=10)
    p50, p99, p999, most, fresh, fifo = text.split()
    note = "" if fifo == "1" else " (not FIFO)"
    times = " | ".join(f"{float(t):.1f}" for t in (p50, p99, p999, most))
    return f"| {case.name} | {times} | {fresh} of {cycles}{note} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cycles", type=int, default=5000)
    parser.add_argument("--period-us", type=int, default=1000)
    arguments = parser.parse_args()
    print(machine())
    print("| device | p50 µs | p99 | p99.9 | max | fresh |\n|---|---|---|---|---|---|")
    task, peer = built()
    for case in cases():
        print(measure(case, task, peer, arguments.cycles, 1000 * arguments.period_us), flush=True)


if __name__ == "__main__":
    main()
