"""What a machine grants a real-time task, measured where it can be, and what to change where it is not enough."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

_LATE_P99 = 200e-6
_STEAL = 0.01


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    what: str
    good: bool
    observed: str
    mend: str = ""


def examine(seconds: float = 2.0) -> list[Finding]:
    """Look at everything; the timer is measured for so many seconds."""
    steal = _steal()
    timer = _timer(seconds)
    return [
        _kernel(),
        _scheduler(),
        _memory(),
        _latency_file(),
        _throttling(),
        timer,
        _stolen(steal, _steal()),
        _frequency(),
        _cores(),
        _shared_memory(),
        _compiler(),
    ]


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _kernel() -> Finding:
    version = os.uname()
    fully = _read("/sys/kernel/realtime") == "1" or "PREEMPT_RT" in version.version
    mend = "" if fully else "a kernel with PREEMPT_RT bounds the wake-up (Debian: apt install linux-image-rt-amd64)"
    return Finding("kernel", fully, f"Linux {version.release}, {'PREEMPT_RT' if fully else 'not PREEMPT_RT'}", mend)


def _scheduler() -> Finding:
    """Try it in a child: this process must not change its own scheduler."""
    pid = os.fork()
    if pid == 0:
        code = 1
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(80))
            code = 0
        os._exit(code)
    granted = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    limit = resource.getrlimit(resource.RLIMIT_RTPRIO)[0]
    if granted:
        return Finding("scheduler", True, "SCHED_FIFO 80 is granted")
    mend = "add `@realtime - rtprio 95` to /etc/security/limits.conf and the user to that group, or run as root"
    return Finding("scheduler", False, f"SCHED_FIFO is refused (rtprio limit {limit})", mend)


def _memory() -> Finding:
    limit = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    free = os.geteuid() == 0 or limit == resource.RLIM_INFINITY
    if free:
        return Finding("memory lock", True, "no limit" if os.geteuid() else "no limit for root")
    return Finding(
        "memory lock",
        limit >= 1 << 28,
        f"at most {limit // 1024} KiB",
        "" if limit >= 1 << 28 else "add `@realtime - memlock unlimited` to /etc/security/limits.conf",
    )


def _latency_file() -> Finding:
    path = "/dev/cpu_dma_latency"
    if not Path(path).exists():
        return Finding("idle states", False, f"{path} is not there", "the kernel may let the core sleep deeply")
    if os.access(path, os.W_OK):
        return Finding("idle states", True, f"{path} can be held")
    return Finding("idle states", False, f"{path} is not ours to write", "give the user access by a udev rule")


def _throttling() -> Finding:
    runtime, period = _read("/proc/sys/kernel/sched_rt_runtime_us"), _read("/proc/sys/kernel/sched_rt_period_us")
    if runtime in ("", "-1"):
        return Finding("real-time throttling", True, "off")
    share = 100 * int(runtime) / int(period or 1_000_000)
    return Finding("real-time throttling", True, f"a FIFO task may use {share:g} % of a core: it must never spin")


def _timer(seconds: float) -> Finding:
    """Wake-ups every millisecond, as a normal process: the task itself does better under SCHED_FIFO."""
    end = time.monotonic() + seconds
    late = []
    due = time.monotonic()
    while due < end:
        due += 1e-3
        time.sleep(max(0.0, due - time.monotonic()))
        late.append(time.monotonic() - due)
    late.sort()
    p50, p99 = late[len(late) // 2], late[min(len(late) - 1, len(late) * 99 // 100)]
    times = f"1 kHz for {seconds:g} s at normal priority: late by {p50 * 1e6:.0f} us (p50), {p99 * 1e6:.0f} us (p99), "
    times += f"{late[-1] * 1e6:.0f} us at most"
    mend = "" if p99 < _LATE_P99 else "look for other load, power saving, or a host that takes the core away"
    return Finding("timer", p99 < _LATE_P99, times, mend)


def _steal() -> tuple[int, int]:
    fields = [int(v) for v in _read("/proc/stat").partition("\n")[0].split()[1:9]]
    return (fields[7], sum(fields)) if len(fields) == 8 else (0, 0)


def _stolen(before: tuple[int, int], after: tuple[int, int]) -> Finding:
    share = (after[0] - before[0]) / max(1, after[1] - before[1])
    mend = "" if share < _STEAL else "the host of this virtual machine gives the cores to others: no guarantee holds"
    return Finding("steal", share < _STEAL, f"{100 * share:.2f} % of the time was taken by the host", mend)


def _frequency() -> Finding:
    governor = _read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if not governor:
        return Finding("frequency scaling", True, "none that the kernel controls")
    good = governor == "performance"
    mend = "" if good else "`cpupower frequency-set -g performance`"
    return Finding("frequency scaling", good, f"governor `{governor}`", mend)


def _cores() -> Finding:
    allowed, isolated = len(os.sched_getaffinity(0)), _read("/sys/devices/system/cpu/isolated")
    counted = f"{allowed} for us, isolated: {isolated or 'none'}"
    mend = "" if isolated else "`isolcpus=N nohz_full=N` on the kernel's command line keeps a core free; then `cpu = N`"
    return Finding("cores", allowed > 1, counted, mend)


def _shared_memory() -> Finding:
    good = os.access("/dev/shm", os.W_OK)
    return Finding("shared memory", good, "/dev/shm can be used" if good else "/dev/shm is not ours to write")


def _compiler() -> Finding:
    from kilohertz.base import ModelError
    from kilohertz.toolchain import find_compiler

    try:
        compiler = find_compiler()
    except ModelError as error:
        return Finding("C compiler", False, str(error), "install gcc, or `pip install ziglang`")
    name = "zig" if compiler.is_zig else shutil.which(compiler.command[0]) or compiler.command[0]
    return Finding("C compiler", True, f"{name}: {compiler.version.partition(chr(10))[0]}")
