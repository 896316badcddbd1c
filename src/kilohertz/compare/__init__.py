"""Two trajectories in, a verdict with reasons out; simulates nothing itself."""

from kilohertz.compare.verdict import Bars, SignalVerdict, Verdict, compare

__all__ = ["Bars", "SignalVerdict", "Verdict", "compare"]
