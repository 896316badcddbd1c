"""documentation/index.html of an FMU: what it is, how it steps, what a step costs at most."""

from __future__ import annotations

from html import escape

from kilohertz.fmi.exporting.contents import CS, ME, TOOL, Contents
from kilohertz.fmi.exporting.platforms import HERE

_ROWS = (
    ("rhs", "right-hand sides"),
    ("jacobians", "Jacobians"),
    ("factorisations", "factorisations"),
    ("solves", "solves"),
    ("event_passes", "passes of an event"),
    ("operations", "operations"),
    ("instructions", "instructions"),
)
_CASES = (("regular", "regular period"), ("event", "with an event"), ("worst", "every cap hit"))


def documentation(c: Contents) -> str:
    """The page."""
    names = {ME: "Model Exchange", CS: "Co-Simulation"}
    about = f"<p>{escape(c.step.description)}</p>" if c.step.description else ""
    kinds = " and ".join(names[kind] for kind in c.kinds)
    stepping = _stepping(c) if CS in c.kinds else ""
    title = escape(c.step.name)
    return f"""<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>{title}</title>
<style>body {{ font-family: sans-serif; max-width: 60em; margin: 2em auto }}
td, th {{ text-align: right; padding: 0.1em 1em }} td:first-child {{ text-align: left }}</style></head>
<body>
<h1>{title}</h1>
{about}
<p>{kinds}, {len(c.variables.states)} states, {len(c.step.crossings)} event indicators,
{len(c.variables.all)} variables. Made by {escape(TOOL)}.</p>
{stepping}
</body>
</html>
"""


def _stepping(c: Contents) -> str:
    s = c.stepping
    head = "".join(f"<th>{title}</th>" for _, title in _CASES)
    rows = "\n".join(
        f"<tr><td>{title}</td>{''.join(f'<td>{c.cost[case][key]}</td>' for case, _ in _CASES)}</tr>"
        for key, title in _ROWS
    )
    prices = c.cost.get("prices", {})
    counted = f"instructions of {prices['compiler']} on {prices['architecture']}" if prices else "instructions"
    unbounded = [escape(str(name)) for name in c.cost.get("unbounded", ())]
    outside = f"<p>Not in the bound: {', '.join(unbounded)}.</p>" if unbounded else ""
    return f"""<h2>A step of Co-Simulation</h2>
<p>Method {escape(s.solver)}, steps of {c.step_size!r} s; events inside a step: {escape(s.events)}. A communication step
is a whole number of these; the last one before the stop time may be shorter. In the binary for {HERE} the step is
{escape(c.own_step)}; other binaries, and its sources, have the generic one, with the same bits.</p>
<table><tr><th></th>{head}</tr>
{rows}
</table>
<p>The most that one generic step can take; {counted}. Nothing in a step allocates, locks, prints or blocks.</p>
{outside}"""
