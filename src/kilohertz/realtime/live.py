"""A running rig seen from outside: its signals, its accounting, and commands between its steps.

    with attach("RCCircuit") as live:
        print(live["capacitor.v"], live.counts["missed"])
        live.set("resistor.R", 50)

The rig is not held up: reading is reading its shared memory, a command is a letter it looks for once per cycle.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import math
import mmap
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO

from kilohertz.base import Diagnostic, Dotted, ModelError, Note, near
from kilohertz.base.array_values import elements, parts
from kilohertz.base.units import UnitError, quantity
from kilohertz.realtime.faults import fault_of
from kilohertz.realtime.live_faults import FAULT_STATES, FaultEntry, LiveFault, live_fault
from kilohertz.runtime import constant, family, fields, task_layout, words
from kilohertz.stimuli import FAULTS

FOLDER = Path("/dev/shm")
STATES, TIMES = words("KHZ_STATE_"), words("KHZ_TIME_")
COUNTS = tuple(name for name, _ in fields("khz_counts"))
_COMMANDS = family("KHZ_COMMAND_")
_REAL, _BOOLEAN = constant("KHZ_SIGNAL_REAL"), constant("KHZ_SIGNAL_BOOLEAN")
_PROFILES = family("KHZ_PROFILE_")
_PROBES = 'with `--profile off`, or `profile = "off"` in its scenario, it can be profiled while it runs'
_REPLIES = {
    constant("KHZ_REPLY_UNKNOWN"): "there is no such signal",
    constant("KHZ_REPLY_NOT_TUNABLE"): "it cannot be set: it is computed from other values",
    constant("KHZ_REPLY_DRIVEN"): (
        "a stimulus, a connection or a device drives it and would set it again at once; "
        "`--override` (Python: `override`) holds a value against that until it is released"
    ),
    constant("KHZ_REPLY_NO_SNAPSHOT"): "no snapshot was taken",
    constant("KHZ_REPLY_NOT_FINITE"): "the value is not finite",
    constant("KHZ_REPLY_REFUSED"): "it cannot be set while the rig runs: external objects depend on the parameters",
    constant("KHZ_REPLY_RANGE"): "the value is outside its min and max",
    constant("KHZ_REPLY_NO_FAULT"): "it is a parameter: a fault is for what a model gets or gives",
    constant("KHZ_REPLY_UNREAD"): "no connection and no device takes it: a fault on it would change nothing",
    constant("KHZ_REPLY_ELSEWHERE"): "the condition looks at a signal of another thread",
    constant("KHZ_REPLY_TOO_LONG"): f"the delay is longer than {constant('KHZ_LIVE_LINE')} periods",
    constant("KHZ_REPLY_FULL"): f"{constant('KHZ_LIVE_FAULTS')} faults wait or are active: release one",
    constant("KHZ_REPLY_HIDDEN"): (
        "a snapshot cannot hold what external functions of a model remember: they are not declared `pure`"
    ),
}
_ANSWER_SECONDS = 5.0
_ATTENTION_NS = constant("KHZ_LIVE_ATTENTION_NS")
_SUB, _BUCKETS = constant("KHZ_HISTOGRAM_SUB"), constant("KHZ_HISTOGRAM_BUCKETS")


class Histogram(ctypes.Structure):
    """`khz_histogram`: times in nanoseconds."""

    _fields_ = fields("khz_histogram")

    def quantile(self, share: float) -> int:
        """The value that this share of the entries does not exceed, to 3 %."""
        passed = 0
        for i in range(_BUCKETS):
            passed += self.bucket[i]
            if passed and passed >= share * self.n:
                end = i if i < 2 * _SUB else ((i % _SUB + _SUB + 1) << (i // _SUB - 1)) - 1
                return min(end, int(self.max))
        return int(self.max)


class _Account(ctypes.Structure):
    _fields_ = fields("khz_account", {"khz_histogram": Histogram})


class Lane(ctypes.Structure):
    """`khz_lane`: one real-time thread."""

    _fields_ = fields("khz_lane", {"khz_account": _Account})

    @property
    def title(self) -> str:
        return bytes(self.name).decode()

    @property
    def step(self) -> str:
        """Which step its tasks have: `made for rk4`, or `generic: ` and why."""
        return bytes(self.steps).decode(errors="replace")

    @property
    def counts(self) -> dict[str, int]:
        return {name: int(getattr(self.account.counts, name)) for name in COUNTS}

    def histogram(self, kind: str) -> Histogram:
        """lateness, compute, device, overhead or slack so far."""
        times = self.account.time[TIMES.index(kind)]
        assert isinstance(times, Histogram)
        return times


class _Head(ctypes.Structure):
    """`khz_live` of runtime/rig/khz_live.h."""

    _fields_ = fields("khz_live")


class _Entry(ctypes.Structure):
    _fields_ = fields("khz_live_signal")


def running() -> list[str]:
    """Names of the tasks that run."""
    return sorted(p.name.removeprefix("khz-") for p in FOLDER.glob("khz-*") if _is_task(p))


def _is_task(path: Path) -> bool:
    """A rig's memory whose process lives: one that was killed leaves its memory behind."""
    try:
        with open(path, "rb") as file:
            head = _Head.from_buffer_copy(file.read(ctypes.sizeof(_Head)))
    except (OSError, ValueError):
        return False
    return bool(head.magic == b"KHZLIVE" and _lives(head.pid))


def attach(name: str = "") -> Live:
    """The rig of that name; without a name the only one there is.  R745 where there is none."""
    names = running()
    if not name and len(names) == 1:
        name = names[0]
    if not name or name not in names:
        message = f"no rig called `{name}` runs{near(name, names)}" if name else "no rig runs"
        remedy = "`khz run` starts one"
        if not name and names:
            message, remedy = f"several rigs run: {', '.join(names)}", "say which: `--rig NAME`, `khz watch NAME`"
        raise ModelError(Diagnostic("R745", message, notes=(Note(remedy),)))
    return Live(FOLDER / f"khz-{name}")


def _mapped(path: Path) -> tuple[BinaryIO, mmap.mmap]:
    """The segment as memory, once it is whole and of our layout."""
    try:
        with contextlib.ExitStack() as undo:
            file = undo.enter_context(open(path, "r+b"))
            memory = undo.enter_context(mmap.mmap(file.fileno(), 0))
            size = ctypes.sizeof(_Head)
            head = _Head.from_buffer_copy(memory) if len(memory) >= size else _Head()
            if head.magic != b"KHZLIVE" or head.layout != task_layout().digest():
                message = f"`{path.name}` is not the memory of a rig of this version of Kilohertz"
                raise ModelError(Diagnostic("R745", message))
            undo.pop_all()
            return file, memory
    except (OSError, ValueError) as error:
        raise ModelError(Diagnostic("R745", f"cannot attach to `{path.name}`: {error}")) from error


class Live(Mapping[str, float]):
    """A rig's shared memory: a mapping from signals to their latest values."""

    def __init__(self, path: Path) -> None:
        self._file, self._map = _mapped(path)
        self._head = _Head.from_buffer(self._map)
        h = self._head
        self._values = (ctypes.c_double * h.n_signals).from_buffer(self._map, h.values)
        entries = (_Entry * h.n_signals).from_buffer(self._map, h.directory)
        self.threads: tuple[Lane, ...] = tuple((Lane * h.n_lanes).from_buffer(self._map, h.lanes))
        self.entries = {self._text(e.name): (i, e) for i, e in enumerate(entries)}
        self._faults = (FaultEntry * h.n_faults).from_buffer(self._map, h.faults)
        self._attended = 0  # ns: when the rig was last told that we read values

    def _text(self, at: int) -> str:
        end = self._map.find(b"\0", at)
        return self._map[at:end].decode("utf-8", "replace")

    def __enter__(self) -> Live:
        return self

    def __exit__(self, kind: type[BaseException] | None, e: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Detach; the rig does not notice."""
        self.entries, self.threads = {}, ()
        del self._values, self._head, self._faults
        with contextlib.suppress(BufferError):  # somebody still holds a view: the collector closes it
            self._map.close()
        self._file.close()

    # ------------------------------------------------------------------------------------------------------- reading

    def __getitem__(self, name: str) -> float:
        if name not in self.entries:
            raise KeyError(f"the rig has no signal `{name}`{near(name, self.entries)}")
        self._attend()
        return float(self._values[self.entries[name][0]])

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def frame(self) -> dict[str, float]:
        """All values, of one step where the rig copies them at once (up to 256 signals)."""
        self._attend()
        for _ in range(100):
            before = [t.frame for t in self.threads]
            values = list(self._values)
            if not any(f % 2 for f in before) and [t.frame for t in self.threads] == before:
                break
        return dict(zip(self.entries, values, strict=True))

    def _attend(self) -> None:
        """Say that somebody reads values, and wait for the first ones: the rig copies, and computes what nobody else
        needs, for those who read."""
        now, state = time.monotonic_ns(), self.state
        self._head.attended_ns = now
        if now - self._attended < _ATTENTION_NS // 2 or state != "running":
            self._attended = now if state == "running" else 0
            return
        before = [t.n_frames for t in self.threads]
        self._head.n_asked = (self._head.n_asked + 1) % (1 << 32)
        slices = 2 + len(self.entries) // constant("KHZ_LIVE_SLICE")
        deadline = time.monotonic() + _ANSWER_SECONDS + 2e-9 * slices * max(t.period_ns for t in self.threads)
        while self.state == "running" and any(
            not t.ended and t.n_frames == n for t, n in zip(self.threads, before, strict=True)
        ):
            if time.monotonic() > deadline:
                raise ModelError(Diagnostic("R746", f"`{self.name}` shows no values: its cycles do not end"))
            time.sleep(min(0.001, self.period))
        self._attended = time.monotonic_ns()

    def unit(self, name: str) -> str:
        """The unit of a signal."""
        return self._text(self.entries[name][1].unit)

    def is_tunable(self, name: str) -> bool:
        """Whether a signal can be set in the run."""
        return bool(self.entries[name][1].tunable)

    @property
    def name(self) -> str:
        """The name of the rig."""
        return bytes(self._head.name).decode()

    @property
    def pid(self) -> int:
        """The process of the rig."""
        return int(self._head.pid)

    @property
    def state(self) -> str:
        """starting, running, paused, ended; `gone` where the process was killed."""
        state = STATES[self._head.state] if self._head.state < len(STATES) else "gone"
        return state if state == "ended" or _lives(self.pid) else "gone"

    @property
    def ending(self) -> str:
        """Why it ended, once it has."""
        return bytes(self._head.ending).decode("utf-8", "replace")

    @property
    def time(self) -> float:
        """Model time: that of all threads, so that of the one that is furthest behind."""
        return float(self._head.start + self._time_ns() * 1e-9)

    def _time_ns(self) -> int:
        going = [t.time_ns for t in self.threads if not t.ended]
        return int(min(going) if going else max(t.time_ns for t in self.threads))

    @property
    def period(self) -> float:
        """The period of the rig in seconds."""
        return float(self._head.period_ns * 1e-9)

    @property
    def counts(self) -> dict[str, int]:
        """Of all threads together; `threads` has those of each."""
        of_each = [t.counts for t in self.threads]
        return {name: sum(c[name] for c in of_each) for name in COUNTS}

    def times(self, kind: str) -> Histogram:
        """lateness, compute, device, overhead or slack so far; of the first thread where there are several."""
        return self.threads[0].histogram(kind)

    # ------------------------------------------------------------------------------------------------------ commands

    def set(self, name: str, value: Any) -> None:
        """Give a tunable parameter or an input another value (a number, `20 mm`, a literal); `{1, 2}` by elements."""
        given = parts(value) if name not in self.entries else None
        pairs = [(name, value)] if given is None else list(elements(name, given))
        if given is not None and (n := sum(e.startswith(f"{name}[") for e in self.entries)) not in (0, len(pairs)):
            raise ModelError(Diagnostic("R720", f"`{name}` cannot be set: {len(pairs)} values for {n} elements"))
        for one, meant in [(one, self._checked(one, v)) for one, v in pairs]:
            self._ask("set", self.entries[one][0], meant, what=f"`{one}`: ")

    def _checked(self, name: str, value: float | str) -> float:
        """What a value means, once it is known that the signal can have it."""
        if name not in self.entries:
            tunable = [n for n in self.entries if self.is_tunable(n)]
            raise ModelError(Diagnostic("R719", f"the rig has no signal `{name}`{near(name, tunable)}"))
        meant, entry = self._meant(name, value), self.entries[name][1]
        wrong = "" if self._fits(name, meant) else self._kind(name)
        if not wrong and entry.tunable and not entry.least <= meant <= entry.most:
            wrong = f"its min is {entry.least:g}" if meant < entry.least else f"its max is {entry.most:g}"
        if wrong:
            raise ModelError(Diagnostic("R720", f"`{name}` cannot be set to {value}: {wrong}"))
        return meant

    def _fits(self, name: str, value: float) -> bool:
        """Whether a signal of this type can have a value, limits apart."""
        kind, literals = self.entries[name][1].type, self._literals(name)
        if literals:
            return value.is_integer() and 1 <= value <= len(literals)
        return {_REAL: math.isfinite(value), _BOOLEAN: value in (0.0, 1.0)}.get(kind, value.is_integer())

    def _kind(self, name: str) -> str:
        """What a value of this signal must be, said of one that is not."""
        kind, literals = self.entries[name][1].type, self._literals(name)
        if literals:
            return f"it is one of {', '.join(literals)}, or their numbers from 1 to {len(literals)}"
        return {_REAL: "it is not a number", _BOOLEAN: "it is true or false"}.get(kind, "it is an Integer")

    def _literals(self, name: str) -> list[str]:
        """Of an enumeration."""
        return self._text(self.entries[name][1].literals).split()

    def _meant(self, name: str, value: float | str) -> float:
        """What a setting means for this signal."""
        literals = self._literals(name)
        if isinstance(value, str) and Dotted.read(value).last in literals:
            return float(literals.index(Dotted.read(value).last) + 1)
        if str(value).lower() in ("true", "false"):
            return float(str(value).lower() == "true")
        try:
            return quantity(str(value), self.unit(name))
        except UnitError as wrong:
            said = wrong if self.entries[name][1].type == _REAL else self._kind(name)
            raise ModelError(Diagnostic("R720", f"`{name}` cannot be set to {value}: {said}")) from None

    # -------------------------------------------------------------------------------------------------------- faults

    @property
    def faults(self) -> tuple[LiveFault, ...]:
        """Those of the scenario, then those that were given to the running rig, as long as they are known."""
        names = list(self.entries)
        return tuple(
            live_fault(f, names[f.settings.signal], i)
            for i, f in enumerate(self._faults)
            if FAULT_STATES[f.state] != "free"
        )

    def override(self, name: str, value: float | str) -> None:
        """Hold an input, or what others get of a signal, at a value until it is released."""
        self.fault(name, "stuck", self._meant(name, value) if name in self.entries else value)

    def fault(self, signal: str, kind: str, value: float | str | None = None, **keys: Any) -> None:
        """Plant a fault on a signal: kinds and keys as in a scenario (`from_` for `from`).

        It takes the place of one of the same kind on the same signal that was given to the running rig before.
        """
        known = FAULTS.get(kind)
        size = {} if value is None or known is None else {known.key: value}
        more = {k.removesuffix("_"): v for k, v in keys.items() if v is not None}
        f = fault_of({"signal": signal, "kind": kind, **size, **more})
        if f.device:
            raise ModelError(Diagnostic("R742", "`device` is for the faults of a scenario"))
        settings = self._head.mailbox.fault
        with self._locked():
            settings.kind, settings.seed, settings.device = list(FAULTS).index(kind), f.seed, -1
            settings.signal = self._number(signal)
            settings.value = f.value
            settings.begin = self._head.start if f.begin is None else f.begin
            settings.until, settings.lasts = f.until, f.lasts
            settings.trigger = -1 if f.when is None else self._number(f.when.signal)
            if f.when is not None:
                settings.is_above, settings.level = int(f.when.operator == ">"), f.when.value
            if known is not None and known.is_arithmetic and self.entries[signal][1].type == _BOOLEAN:
                text = f"`{signal}` is true or false: stuck, dropout or delay, not {kind}"
                raise ModelError(Diagnostic("R742", text))
            self._post("fault", what=f"`{signal}`: ")

    def release(self, which: str = "") -> int:
        """End faults: by their name, by their signal, or all (of the scenario too); how many."""
        open_ones = [f for f in self.faults if f.state in ("waiting", "active")]
        chosen = [f for f in open_ones if not which or which in (f.name, f.signal)]
        if which and not chosen:
            known = [n for f in open_ones for n in (f.name, f.signal)]
            raise ModelError(Diagnostic("R719", f"the rig has no fault `{which}`{near(which, known)}"))
        for f in chosen:
            self._ask("release", f.number)
        return len(chosen)

    def _number(self, name: str) -> int:
        if name not in self.entries:
            raise ModelError(Diagnostic("R719", f"the rig has no signal `{name}`{near(name, self.entries)}"))
        return int(self.entries[name][0])

    def pause(self) -> None:
        """Stop stepping; model time stands still."""
        self._ask("pause")

    def resume(self) -> None:
        """Go on stepping."""
        self._ask("resume")

    def step(self, n: int = 1) -> None:
        """Make n steps and pause; several threads make whole periods that they begin together."""
        if n < 1:
            raise ModelError(Diagnostic("R742", f"the number of steps is {n}, but must be 1 or more"))
        before, whole = self._time_ns(), self._common_ns()
        span = -(-n * self._head.period_ns // whole) * whole
        self._ask("step", n)
        deadline = time.monotonic() + _ANSWER_SECONDS + 2e-9 * span
        while self._time_ns() < before + span and time.monotonic() < deadline:
            time.sleep(min(0.01, self.period))

    def snapshot(self) -> None:
        """Keep the whole state of all models inside the rig."""
        self._ask("snapshot")

    def restore(self) -> None:
        """Go back to the snapshot, model time included."""
        self._ask("restore")

    def profile(self, mode: str) -> None:
        """Time its cycles from now on: `off`, `always` or `burst`; the task must be built with probes."""
        self._ask("profile", _PROFILES[mode], what="profile: ")

    def stop(self) -> None:
        """End the rig; it writes its report."""
        self._ask("stop")

    def _common_ns(self) -> int:
        """After so long all threads begin a period together, which is when they obey."""
        return math.lcm(*(t.period_ns for t in self.threads))

    def _ask(self, command: str, index: int = 0, value: float = 0.0, what: str = "") -> None:
        with self._locked():
            self._post(command, index, value, what)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """One letter at a time, whoever writes."""
        fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def _post(self, command: str, index: int = 0, value: float = 0.0, what: str = "") -> None:
        """A letter and its answer; the lock is ours."""
        box = self._head.mailbox
        box.command, box.index, box.value = _COMMANDS[command], index, value
        box.asked = number = box.answered + 1
        deadline = time.monotonic() + _ANSWER_SECONDS + 2e-9 * self._common_ns()
        while box.answered != number:
            if self.state in ("ended", "gone") or time.monotonic() > deadline:
                raise ModelError(Diagnostic("R746", f"the rig does not answer `{command}`: it is {self.state}"))
            time.sleep(min(0.001, self.period))
        reply = box.reply
        if reply == constant("KHZ_REPLY_REFUSED") and command == "profile":
            raise ModelError(Diagnostic("R746", f"`{self.name}` was built without probes", notes=(Note(_PROBES),)))
        if reply:
            raise ModelError(Diagnostic("R746", f"{what}{_REPLIES.get(reply, f'refused ({reply})')}"))


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return True
