"""Two trajectories in, a verdict with reasons out; simulates nothing itself."""

from kilohertz.compare.bars import Bars
from kilohertz.compare.judge import SignalVerdict
from kilohertz.compare.signal_pairs import Pair, Pairing, Rename, Wanted
from kilohertz.compare.verdict import Verdict, compare, judged

__all__ = ["Bars", "Pair", "Pairing", "Rename", "SignalVerdict", "Verdict", "Wanted", "compare", "judged"]
