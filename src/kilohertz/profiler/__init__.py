"""Where the time of a cycle goes: records of probes (khz_probe.h) -> cost by block, equation, line and component."""

from kilohertz.profiler.places import Line, Loop, Place, cycle_places, model_places
from kilohertz.profiler.profile import Costs, Profile, Statistics, by_component, by_line, read_profile, table
from kilohertz.profiler.steps import profile_steps

__all__ = [
    "Costs",
    "Line",
    "Loop",
    "Place",
    "Profile",
    "Statistics",
    "by_component",
    "by_line",
    "cycle_places",
    "model_places",
    "profile_steps",
    "read_profile",
    "table",
]
