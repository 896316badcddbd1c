"""Rows of the C runtime, windows of borders, and what is reckoned from them; all made up."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from kilohertz.profiler.timing import MODES, Costs, Times, border_type, read_rows, record_type, row_size, structure

CYCLE, STEP, STAGE, BLOCK, LOOP, DEVICE, EVENT = range(7)
N_PLACES = 7
ALWAYS, BURST = MODES.index("always"), MODES.index("burst")
COSTS = Costs(1.0, 10.0, 20.0, 10.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0, True)
# a cycle as (left, entered, ns until the next border); a stage twice, with a block and a loop one after the other in it
BORDERS = (
    (-1, CYCLE, 10),
    (-1, STEP, 100),
    *((-1, STAGE, 20), (-1, BLOCK, 300), (BLOCK, -1, 7), (-1, LOOP, 900), (LOOP, -1, 30), (STAGE, -1, 50)) * 2,
    (STEP, -1, 40),
    (CYCLE, -1, 0),
)
OWN = {CYCLE: 10 + 40, STEP: 100 + 2 * 50, STAGE: 2 * (20 + 7 + 30), BLOCK: 600, LOOP: 1800, DEVICE: 0, EVENT: 0}
WHOLE = sum(OWN.values())


def swept(n_cycles: int, width: int = 4, slow: slice = slice(0, 0)) -> Times:
    """Always on: a window in every second cycle, moving on; in `slow` all takes twice as long."""
    records = np.zeros(n_cycles, record_type(N_PLACES))
    head = records["head"]
    head["cycle"], head["mode"], head["crossed"] = np.arange(n_cycles), ALWAYS, len(BORDERS)
    head["woke_ns"] = np.arange(n_cycles) * 100_000
    head["every"] = head["is_warm"] = 1
    pace = np.ones(n_cycles)
    pace[slow] = 2.0
    borders = []
    first = 0
    for i in range(0, n_cycles, 2):
        at = np.cumsum([0, *(ns * pace[i] + COSTS.border_ns for _, _, ns in BORDERS)])
        part = np.zeros(min(width, len(BORDERS) - first), border_type())
        part["record"] = i
        for name, column in (("left", 0), ("entered", 1)):
            part["border"][name] = [b[column] for b in BORDERS[first : first + width]]
        part["border"]["ticks"] = (at[first : first + len(part)] + 4_294_967_000).astype(np.uint64) % 2**32  # wraps
        head["window"][i], head["first"][i], head["n_borders"][i] = width, first, len(part)
        borders.append(part)
        first = first + width - 1 if first + width < len(BORDERS) else 0
        head["next"][i] = first
    head["ended_ns"] = head["woke_ns"] + WHOLE * pace + head["n_borders"] * COSTS.border_ns
    counted = np.ones(n_cycles, np.bool_)
    return Times(records, np.concatenate(borders), COSTS, (DEVICE,), (LOOP,), (EVENT,), counted)


def test_sweeps_have_every_place_once() -> None:
    times = swept(400)
    assert len(times.sweeps_ns) == 200 // 5  # 15 stretches, 3 in a window
    assert times.sweeps_ns.mean(axis=0) == pytest.approx([float(OWN[i]) for i in range(N_PLACES)], abs=2.0)
    assert times.calls.tolist() == [1.0, 1.0, 2.0, 2.0, 2.0, 0.0, 0.0]
    assert not times.by_cycle
    assert times.border_ns == pytest.approx(COSTS.border_ns, rel=0.05)
    assert times.apart == pytest.approx(0.0, abs=1e-3)


def test_slow_moments_of_the_machine_do_not_count_more() -> None:
    times = swept(960, slow=slice(0, 320))
    assert times.sweeps_ns.mean(axis=0)[LOOP] == pytest.approx(OWN[LOOP], rel=0.02)


def test_a_sweep_with_a_hole_is_left_out() -> None:
    times = swept(400)
    lost = times.records["head"]["cycle"] == 14  # the ring was full
    kept = np.flatnonzero(~lost)
    borders = times.borders[times.borders["record"] != 14].copy()
    borders["record"] = np.searchsorted(kept, borders["record"])
    rest = Times(times.records[kept], borders, COSTS, (DEVICE,), (LOOP,), (EVENT,), times.counted[kept])
    assert len(rest.sweeps_ns) == len(times.sweeps_ns) - 1


def test_a_part_of_a_long_cycle_stands_for_all_of_it() -> None:
    times = swept(400)
    head = times.records["head"]
    head["next"][head["next"] == 0] = len(BORDERS)  # no window came to the end of a cycle: there is more behind
    assert times.swept == pytest.approx(1.0, abs=0.01)
    head["window"][6:] = head["n_borders"][6:] = 0
    borders = times.borders[times.borders["record"] < 6]
    part = Times(times.records, borders, COSTS, (DEVICE,), (LOOP,), (EVENT,), times.counted)
    seen = sum(ns for _, _, ns in BORDERS[:9])  # three windows of three stretches
    assert part.swept == pytest.approx(seen / WHOLE, rel=0.02)
    assert part.sweeps_ns.sum() == pytest.approx(WHOLE, rel=0.02)


def test_a_cycle_is_opened_by_what_is_known_of_it() -> None:
    times = swept(400)
    places, head = times.records["places"], times.records["head"]
    places["iterations"][:, LOOP] = 4
    places["calls"][:, LOOP] = 2
    places["iterations"][100, LOOP] = 12  # three times as many: it explains what this cycle took more
    head["ended_ns"][100] += 2 * OWN[LOOP]
    head["ended_ns"][200] += 5000  # nobody timed where
    head["ended_ns"][300] += 700
    head["stepped_ns"], head["sent_ns"] = 1000, 1000
    head["sent_ns"][300] += 700  # the device
    places["iterations"][350, EVENT] = 3
    head["ended_ns"][350] += 9000
    own = times.own_ns
    assert own.sum(axis=1) == pytest.approx(times.cycle_ns)
    assert own[100, LOOP] == pytest.approx(3 * OWN[LOOP], rel=0.05)
    assert own[200, CYCLE] == pytest.approx(5000, rel=0.05)
    assert own[350, EVENT] == pytest.approx(9000, rel=0.05)
    assert own[300, DEVICE] == pytest.approx(700, rel=0.05)


def row(cycle: int, places: list[int], seal: int | None = None) -> NDArray[np.uint8]:
    head, sums = np.zeros(1, structure("khz_cycle_record")), np.zeros(len(places), structure("khz_place_sum"))
    head["cycle"], head["mode"], head["n_sums"], head["woke_ns"] = cycle, BURST, len(places), cycle * 1000
    sums["place"], sums["ticks"] = places, 7
    raw = head.tobytes() + sums.tobytes() + np.uint32(cycle if seal is None else seal).tobytes()
    return np.frombuffer(raw.ljust(row_size(N_PLACES), b"\xff"), np.uint8)  # what is behind the seal means nothing


def test_rows_are_whole_or_left_out() -> None:
    short = row(3, [])[:192].reshape(1, -1)
    rows = np.stack([row(2, [STAGE, STEP]), row(1, [LOOP]), row(4, [STEP], seal=9), row(2, [STAGE, STEP])])
    found = read_rows((rows, short), N_PLACES)
    assert found.records["head"]["cycle"].tolist() == [1, 2, 3]  # each once, in order
    assert found.torn == 1
    assert found.records["places"]["ticks"].tolist() == [[0, 0, 0, 0, 7, 0, 0], [0, 7, 7, 0, 0, 0, 0], [0] * 7]
    assert len(read_rows((), N_PLACES).records) == 0
