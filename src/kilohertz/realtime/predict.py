"""Will it keep its period?  A short run as fast as possible says what a step takes; the blocks say where it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kilohertz.base import Origin, SourceMap, percent, short_name
from kilohertz.codegen import BlockInfo
from kilohertz.ir import step as s
from kilohertz.ir.step import Partition
from kilohertz.realtime.executable import Built
from kilohertz.realtime.launch import measure
from kilohertz.realtime.threads import Placed, placed

TIGHT = 0.8  # of the period: the rest is for devices and what the machine does besides
WAKE_UP_US = 50.0  # what an ordinary kernel takes to wake a task
_BLAMED = 5


@dataclass(frozen=True, slots=True)
class ThreadPrediction:
    """What a cycle of a real-time thread takes on this machine, against the period it must fit into."""

    name: str
    cpu: int  # -1: any
    period_us: float  # of wall time; infinity where nobody waits
    p50_us: float
    p99_us: float
    max_us: float
    event_us: float  # a period with an event by the cost bound, at the speed of the probe (caches warm); 0: none known
    bound_us: float  # the worst period, likewise
    unbounded: tuple[str, ...] = ()  # what has no bound

    @property
    def verdict(self) -> str:
        """fits, tight, or cannot."""
        if self.p50_us > self.period_us or self.p99_us > self.period_us:
            return "cannot"
        return "tight" if self.p99_us + WAKE_UP_US > TIGHT * self.period_us else "fits"

    @property
    def share(self) -> float:
        """Of its core."""
        return self.p99_us / self.period_us

    def as_text(self) -> str:
        took = f"a cycle takes {self.p50_us:.1f} us (p99 {self.p99_us:.1f}, longest {self.max_us:.1f})"
        if self.period_us == float("inf"):
            return f"{took}; no period to keep"
        text = f"{took}: {percent(self.share)} of the period of {self.period_us:g} us"
        if self.bound_us:
            text += "; by the cost bound, at that speed (warm), a period with an event takes at most "
            text += f"{self.event_us:.1f} us{self._excess(self.event_us)}, "
            text += f"the worst one {self.bound_us:.1f} us{self._excess(self.bound_us)}"
        if self.unbounded:
            text += f"; it has no bound: {', '.join(self.unbounded[:_BLAMED])}"
        return text

    def _excess(self, time_us: float) -> str:
        return " (more than there is)" if time_us > self.period_us else ""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What the threads of a scenario take on this machine; one that holds for the whole where there is one thread."""

    threads: tuple[ThreadPrediction, ...]
    blame: tuple[str, ...]  # the costliest blocks with their places

    @property
    def verdict(self) -> str:
        """fits, tight, or cannot: that of the worst thread, and of cores that threads share."""
        verdicts = {t.verdict for t in self.threads}
        shares = [sum(t.share for t in sharing) for sharing in self._cores().values() if len(sharing) > 1]
        verdicts |= {"cannot" if share > 1 else "tight" if share > TIGHT else "fits" for share in shares}
        return next(word for word in ("cannot", "tight", "fits") if word in verdicts)

    def _cores(self) -> dict[int, list[ThreadPrediction]]:
        out: dict[int, list[ThreadPrediction]] = {}
        for t in self.threads:
            if t.cpu >= 0:
                out.setdefault(t.cpu, []).append(t)
        return out

    def as_text(self) -> str:
        """The prediction in words, as `khz run` prints it."""
        if len(self.threads) == 1:
            text = self.threads[0].as_text()
        else:
            lines = [f"thread {t.name}: {t.as_text()}" for t in self.threads]
            for cpu, sharing in sorted(self._cores().items()):
                if len(sharing) > 1 and sharing[0].period_us < float("inf"):
                    names = ", ".join(t.name for t in sharing)
                    lines.append(f"core {cpu} ({names}): {percent(sum(t.share for t in sharing))} used")
            text = "\n  ".join(lines)
        if self.verdict == "fits":
            return text
        word = "this cannot keep its period" if self.verdict == "cannot" else "this leaves little room to wake up in"
        return "\n".join([f"{word}: {text}", "  most of the work:", *(f"    {b}" for b in self.blame)])


def predict(built: Built) -> Prediction:
    """Run it shortly, without devices and without waiting."""
    probe = measure(built)
    scale = built.scenario.scale
    base = built.scenario.period_ns * 1e-3 / float(scale) if scale is not None else float("inf")
    threads = []
    for thread, measured in zip(placed(built.scenario), probe.data["threads"], strict=True):
        times = measured["times"]
        p50, p99, most = (1e-3 * (times["compute"][m] + times["overhead"][m]) for m in ("p50", "p99", "max"))
        event, worst = (p50 * _to_regular(built, thread, kind) for kind in ("event", "worst"))
        cycle = ThreadPrediction(thread.name, thread.cpu, base * thread.every, p50, p99, most, event, worst)
        threads.append(replace(cycle, unbounded=_unbounded(built, thread)))
    return Prediction(tuple(threads), blamed(built))


def _to_regular(built: Built, thread: Placed, kind: str) -> float:
    """How many times the instructions of a usual period one of this kind may take; 0 where that is not known."""
    costs = [(built.models[i].cost, built.scenario.tasks[i].every / thread.every) for i in thread.tasks]
    if not all(cost for cost, _ in costs) or _unbounded(built, thread):
        return 0.0
    regular = sum(float(c["regular"]["instructions"]) / every for c, every in costs)
    return sum(float(c[kind]["instructions"]) for c, _ in costs) / regular if regular else 0.0


def _unbounded(built: Built, thread: Placed) -> tuple[str, ...]:
    """What its models call that nobody can count."""
    return tuple(dict.fromkeys(str(name) for i in thread.tasks for name in built.models[i].cost.get("unbounded", ())))


def blamed(built: Built) -> tuple[str, ...]:
    """The blocks with the most operations in a step, over all tasks, with their places in the models; external code,
    where there is any, instead: nobody has counted its operations."""
    foreign = dict.fromkeys(m.built.code.name for m in built.models if m.built.code.externals)
    if foreign:
        return tuple(f"external code of {name}" for name in foreign)
    ranked: list[tuple[int, str]] = []
    total = 0
    seen: set[int] = set()
    for model in built.models:
        if id(model.step) in seen:
            continue
        seen.add(id(model.step))
        for info in model.built.code.blocks:
            cost = _cost(info)
            total += cost
            if cost:
                ranked.append((cost, _described(info, model.built.sources)))
    ranked.sort(key=lambda entry: (-entry[0], entry[1]))
    return tuple(f"{100 * cost / total:4.1f} %  {text}" for cost, text in ranked[:_BLAMED])


def _cost(info: BlockInfo) -> int:
    partition = getattr(info.block, "partition", None)
    is_counted = partition in (Partition.STEP, Partition.OUTPUT, Partition.VIEW)
    return info.cost if info.phase == "block" and is_counted else 0


def _described(info: BlockInfo, sources: SourceMap | None) -> str:
    kinds = {s.LinearLoop: "linear loop for ", s.NonlinearLoop: "nonlinear loop for ", s.MixedLoop: "mixed loop for "}
    names = ", ".join(info.unknowns[:3]) + (", ..." if len(info.unknowns) > 3 else "")
    return f"{kinds.get(type(info.block), '')}{names} at {place(info.origin, sources)}"


def place(origin: Origin, sources: SourceMap | None) -> str:
    """`motor.mo:41 (axle.clutch)`."""
    text = "an equation of the compiler"
    if origin.spans:
        span = origin.spans[0]
        position = sources.position(span) if sources is not None else None
        text = short_name(span.file) + (f":{position[0]}" if position is not None else "")
    return text + (f" ({origin.path})" if origin.path else "")
