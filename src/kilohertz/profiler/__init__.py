"""Where the time of a cycle goes: records of probes (khz_probe.h) -> cost by block, equation, line and component."""

from kilohertz.profiler.advice import Advice, Tried, advise
from kilohertz.profiler.causes import Cause, worst_causes
from kilohertz.profiler.cycle_records import Profile, Statistics, read_profile, table
from kilohertz.profiler.export import EXPORTS, write_json
from kilohertz.profiler.first_line import headline
from kilohertz.profiler.instructions import Counted, count_instructions
from kilohertz.profiler.places import Line, Loop, Place, cycle_places, model_places, relations
from kilohertz.profiler.shares import by_class, by_component, by_line, callers
from kilohertz.profiler.showing import profile_page, versus_page
from kilohertz.profiler.steps import profile_steps
from kilohertz.profiler.timing import Costs, record_type
from kilohertz.profiler.trace import read_trace
from kilohertz.profiler.versus import Deviation, Side, Versus, text_rows
from kilohertz.profiler.views import Row, Shared, classes, components, cycle_numbers, lines, report_data, rows

__all__ = [
    "EXPORTS",
    "Advice",
    "Cause",
    "Costs",
    "Counted",
    "Deviation",
    "Line",
    "Loop",
    "Place",
    "Profile",
    "Row",
    "Shared",
    "Side",
    "Statistics",
    "Tried",
    "Versus",
    "advise",
    "by_class",
    "by_component",
    "by_line",
    "callers",
    "classes",
    "components",
    "count_instructions",
    "cycle_numbers",
    "cycle_places",
    "headline",
    "lines",
    "model_places",
    "profile_page",
    "profile_steps",
    "read_profile",
    "read_trace",
    "record_type",
    "relations",
    "report_data",
    "rows",
    "table",
    "text_rows",
    "versus_page",
    "worst_causes",
    "write_json",
]
