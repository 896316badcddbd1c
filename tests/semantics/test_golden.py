"""Golden cases: classes in, the flat model out (flat/), or what the user is told (messages/).

The last class of a case is flattened, or the one that a line `// flatten: P.A` names.  Every model in flat/ is
balanced, keeps the contract of Flat and reads back from its printed form; a case about origins keeps the comments.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kilohertz.base import Diagnostic, ModelError, render
from kilohertz.ir import Flat, print_flat, read_flat, verify_flat
from kilohertz.semantics import check, flatten
from kilohertz.syntax import Libraries

_ORIGIN = re.compile(r" // case\.mo.*$", re.MULTILINE)
_CHOSEN = re.compile(r"^// flatten: (\S+)$", re.MULTILINE)


def load(text: str, libraries: Libraries) -> str:
    """Load the classes of a case; the name of the one to flatten."""
    classes = libraries.load_text(text, "case.mo")
    chosen = _CHOSEN.search(text)
    return chosen[1] if chosen else classes[-1].name


def flat_text(flat: Flat, libraries: Libraries, origins: bool) -> str:
    """The printed form, where it came from left out unless that is what the case is about."""
    text = print_flat(flat, libraries.sources).replace(str(Path.cwd()), ".")
    return text if origins else _ORIGIN.sub("", text)


def shown(diagnostics: list[Diagnostic], libraries: Libraries) -> str:
    return "\n".join(render(d, libraries.sources) for d in diagnostics)


def check_flat(case: Any) -> None:
    """Flatten, check what must hold of every model, compare."""
    libraries = Libraries([])
    flat, warnings = flatten(libraries, load(case.text, libraries))
    verify_flat(flat)
    problems = [d for d in check(flat)[1] if d.code != "B405"]  # small examples set what is inside their parts
    assert not problems, shown(problems, libraries)
    text = flat_text(flat, libraries, case.title.startswith("origins"))
    case.check("\n".join([shown(warnings, libraries), text]) if warnings else text)
    read_back(flat)


def read_back(flat: Flat) -> None:
    """The printed form says everything but the origins."""
    bare = _ORIGIN.sub("", print_flat(flat))
    assert print_flat(read_flat(bare)) == bare


@pytest.mark.golden("flat/classes.case")
def test_classes(case: Any) -> None:
    """Class kinds, short classes, enumerations, types and their attributes."""
    check_flat(case)


@pytest.mark.golden("flat/lookup.case")
def test_lookup(case: Any) -> None:
    """Where names are found: MLS 5.3 and 13.2."""
    check_flat(case)


@pytest.mark.golden("flat/modification.case")
def test_modification(case: Any) -> None:
    """Inheritance and modification: MLS 7.1 and 7.2."""
    check_flat(case)


@pytest.mark.golden("flat/redeclare.case")
def test_redeclare(case: Any) -> None:
    """Redeclaration and constraining types: MLS 7.3."""
    check_flat(case)


@pytest.mark.golden("flat/components.case")
def test_components(case: Any) -> None:
    """inner and outer, conditions, arrays and slices, structural parameters, sizes."""
    check_flat(case)


@pytest.mark.golden("flat/media.case")
def test_media(case: Any) -> None:
    """Replaceable packages through several levels."""
    check_flat(case)


@pytest.mark.golden("flat/records.case")
def test_records(case: Any) -> None:
    """Records, constructors and overloaded operators: MLS 12.6 and 14."""
    check_flat(case)


@pytest.mark.golden("flat/functions.case")
def test_functions(case: Any) -> None:
    """Functions: MLS 12."""
    check_flat(case)


@pytest.mark.golden("flat/arrays.case")
def test_arrays(case: Any) -> None:
    """Array functions and operators, strings: MLS 10 and 3.7."""
    check_flat(case)


@pytest.mark.golden("flat/equations.case")
def test_equations(case: Any) -> None:
    """Equations and algorithms: MLS 8 and 11."""
    check_flat(case)


@pytest.mark.golden("flat/events.case")
def test_events(case: Any) -> None:
    """Events and operators with special meaning: MLS 3.7 and 8.3.5."""
    check_flat(case)


@pytest.mark.golden("flat/connect.case")
def test_connect(case: Any) -> None:
    """Connections: MLS 9.1 and 9.2."""
    check_flat(case)


@pytest.mark.golden("flat/buses.case")
def test_buses(case: Any) -> None:
    """Expandable connectors: MLS 9.1.3."""
    check_flat(case)


@pytest.mark.golden("flat/streams.case")
def test_streams(case: Any) -> None:
    """Streams and overconstrained connectors: MLS 15 and 9.4."""
    check_flat(case)


@pytest.mark.golden("flat/clocks.case")
def test_clocks(case: Any) -> None:
    """Synchronous language elements: MLS 16; behind the equations, what runs under which clock."""
    libraries = Libraries([])
    flat, warnings = flatten(libraries, load(case.text, libraries))
    assert not warnings
    verify_flat(flat)
    assert not check(flat)[1]
    case.check(flat_text(flat, libraries, False))
    read_back(flat)


def check_messages(case: Any) -> None:
    """Everything the user is told about a model; the code in the title of the case must be among it."""
    libraries = Libraries([])
    try:
        flat, warnings = flatten(libraries, load(case.text, libraries))
    except ModelError as error:
        diagnostics = list(error.diagnostics)
    else:
        diagnostics = [*warnings, *check(flat)[1]]
    case.check(shown(diagnostics, libraries))
    assert set(re.findall(r"[PLSB]\d{3}", case.title)) <= {d.code for d in diagnostics}


@pytest.mark.golden("messages/names.case")
def test_messages_about_names(case: Any) -> None:
    """Names, classes, inheritance, modification."""
    check_messages(case)


@pytest.mark.golden("messages/values.case")
def test_messages_about_values(case: Any) -> None:
    """Values, types, dimensions and subscripts."""
    check_messages(case)


@pytest.mark.golden("messages/calls.case")
def test_messages_about_calls(case: Any) -> None:
    """Calls, equations and statements."""
    check_messages(case)


@pytest.mark.golden("messages/connections.case")
def test_messages_about_connections(case: Any) -> None:
    """Connections, streams, overconstrained connectors, clocks."""
    check_messages(case)


@pytest.mark.golden("messages/balance.case")
def test_messages_about_balance(case: Any) -> None:
    """What keeps the equations from determining the unknowns."""
    check_messages(case)


@pytest.mark.golden("messages/rules.case")
def test_messages_about_rules(case: Any) -> None:
    """Rules of the language, by code."""
    check_messages(case)
