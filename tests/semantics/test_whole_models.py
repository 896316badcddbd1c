"""Whole models: the same text for every hash seed, resources of a library, the standard library's examples balance."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kilohertz.ir import print_flat, verify_flat
from kilohertz.semantics import check, flatten
from kilohertz.syntax import Libraries

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MODELICAPATH = os.environ.get("MODELICAPATH", "")  # when the tests are collected: they run without it

# ----------------------------------------------------------------------------------------------------------- hash seeds

_FLATTEN_ALL = """
import re, sys
from pathlib import Path
from kilohertz.ir import print_flat
from kilohertz.semantics import flatten
from kilohertz.syntax import Libraries

for file in sorted(Path(sys.argv[1]).glob("*.case")):
    for body in re.split(r"^\\[case .+\\]$", file.read_text(encoding="utf-8"), flags=re.M)[1:]:
        text, libraries = body.partition("[expect]")[0], Libraries([])
        classes = libraries.load_text(text, "case.mo")
        chosen = re.search(r"^// flatten: (\\S+)$", text, re.M)
        try:
            flat, warnings = flatten(libraries, chosen[1] if chosen else classes[-1].name)
        except Exception as error:  # whether a case should fail is for test_golden to say
            print(repr(error))
        else:
            print(print_flat(flat, libraries.sources), warnings)
"""


def flattened(seed: str) -> bytes:
    """All golden models flattened in a process of its own."""
    env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", _FLATTEN_ALL, str(HERE / "flat")]
    return subprocess.run(command, env=env, check=True, capture_output=True).stdout


def test_the_hash_seed_does_not_show() -> None:
    first = flattened("0")
    assert len(first) > 50_000
    assert flattened("1") == first


# ----------------------------------------------------------------------------------------------------- large and linear

CHAIN = """
connector Pin
  Real v;
  flow Real i;
end Pin;
model Section
  parameter Real R = 1;
  parameter Real C = 1;
  Pin p;
  Pin n;
  Real u(start = 0);
equation
  p.v - n.v = R * p.i;
  u = n.v;
  C * der(u) = p.i + n.i;
end Section;
model Chain
  parameter Integer n = 2;
  Section s[n](R = linspace(1, 2, n), each C = 0.5);
  Pin a;
equation
  for i in 1:n - 1 loop
    connect(s[i].n, s[i + 1].p);
  end for;
  connect(a, s[1].p);
end Chain;
model Source
  Pin p;
equation
  p.v = time;
end Source;
model A
  Chain chain(n = 60);
  Source source;
equation
  connect(source.p, chain.a);
end A;
"""


def test_a_long_chain_is_balanced_and_keeps_its_order() -> None:
    libraries = Libraries([])
    libraries.load_text(CHAIN, "chain.mo")
    flat, warnings = flatten(libraries, "A")
    assert not warnings
    verify_flat(flat)
    balance, problems = check(flat)
    assert not problems
    assert balance.n_unknowns == 60 * 5 + 2 + 2
    assert balance.n_states_declared == 60
    names = [name for name in flat.variables if name.endswith(".u")]
    assert names == [f"chain.s[{i}].u" for i in range(1, 61)]


# ------------------------------------------------------------------------------------------------------------ resources


def test_resources_of_a_library_are_found_by_their_uri(tmp_path: Path) -> None:
    """`modelica://` in loadResource and in the annotations of external functions (MLS 13.5, 12.9.4)."""
    library = tmp_path / "Lib"
    (library / "Resources" / "C-Sources").mkdir(parents=True)
    (library / "package.mo").write_text(
        """package Lib
  function loadResource
    input String uri;
    output String path;
    external "C" path = khz_never_called(uri);
  end loadResource;
  function pathOf
    input String uri;
    output String path;
  algorithm
    path := loadResource(uri);
  end pathOf;
  function f
    input Real u;
    output Real y;
    external "C" y = lib_f(u) annotation (Include = "#include \\"lib.h\\"", Library = "lib",
      IncludeDirectory = "modelica://Lib/Resources/Headers");
  end f;
  model A
    parameter String file = loadResource("modelica://Lib/Resources/data.txt");
    parameter String uri = "modelica://Lib//Resources/more.txt";
    parameter String byFunction = pathOf(uri);
    Real y = f(time);
  end A;
end Lib;
""",
        encoding="utf-8",
    )
    flat, _ = flatten(Libraries([tmp_path]), "Lib.A")
    text = print_flat(flat).replace(str(library.resolve()), "<Lib>")
    assert 'parameter String file = "<Lib>/Resources/data.txt"' in text
    assert 'parameter String byFunction = Lib.pathOf("<Lib>/Resources/more.txt")' in text
    assert 'IncludeDirectory = {"<Lib>/Resources/Headers"}' in text
    assert 'LibraryDirectory = {"<Lib>/Resources/Library"}' in text
    assert "<Lib>/Resources/C-Sources" in text


def test_classes_in_files_of_their_own(tmp_path: Path) -> None:
    """A library in directories: names, inheritance and constants across its files."""
    files = {
        "Lib/package.mo": "within; package Lib constant Real g = 9; end Lib;",
        "Lib/Base.mo": "within Lib; partial model Base constant Real k = 2; Real x; equation x = k * g; end Base;",
        "Lib/Sub/package.mo": "within Lib; package Sub extends Icons; end Sub;",
        "Lib/Sub/A.mo": "within Lib.Sub; model A extends Base; Parts.B b; end A;",
        "Lib/Sub/Parts.mo": "within Lib.Sub; package Parts model B Real y = g; end B; end Parts;",
        "Lib/Icons.mo": "within Lib; partial package Icons end Icons;",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    flat, _ = flatten(Libraries([tmp_path]), "Lib.Sub.A")
    assert not check(flat)[1]
    assert "x = 18.0;" in print_flat(flat)
    assert "b.y = 9.0;" in print_flat(flat)


@pytest.mark.parametrize(("kind", "within"), [("class", ""), ("model", "Real z = 2;"), ("operator record", "Real re;")])
def test_a_directory_may_store_other_classes_than_packages(tmp_path: Path, kind: str, within: str) -> None:
    """MLS 13.4.1: what lies beside a package.mo is an element of the class in it, of whatever kind that is."""
    files = {
        "Lib/package.mo": "within; package Lib end Lib;",
        "Lib/Types/package.mo": f"within Lib; {kind} Types {within} end Types;",
        "Lib/Types/Twice.mo": (
            "within Lib.Types; encapsulated function Twice input Real u; output Real y; algorithm y := 2*u; end Twice;"
        ),
        "Lib/Types/Sub/package.mo": "within Lib.Types; encapsulated package Sub constant Real k = 7; end Sub;",
        "Lib/Types/Sub/B.mo": "within Lib.Types.Sub; model B Real y = k; end B;",
        "Lib/A.mo": "within Lib; model A Types.Sub.B b; parameter Real p = 3; Real x = Lib.Types.Twice(p); end A;",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    flat, _ = flatten(Libraries([tmp_path]), "Lib.A")
    assert not check(flat)[1]
    assert "b.y = 7.0;" in print_flat(flat)


# ------------------------------------------------------------------------------------------------- the standard library

EXAMPLES = [
    "Blocks.Examples.PID_Controller",
    "Blocks.Examples.BusUsage",
    "Clocked.Examples.SimpleControlledDrive.ClockedWithDiscreteTextbookController",
    "Electrical.Analog.Examples.CauerLowPassAnalog",
    "Electrical.Machines.Examples.InductionMachines.IMC_DOL",
    "Electrical.QuasiStatic.SinglePhase.Examples.SeriesResonance",
    "Fluid.Examples.HeatingSystem",
    "Magnetic.FluxTubes.Examples.SolenoidActuator.ComparisonQuasiStatic",
    "Mechanics.MultiBody.Examples.Loops.Fourbar1",
    "Mechanics.MultiBody.Examples.Elementary.DoublePendulum",
    "Mechanics.Rotational.Examples.CoupledClutches",
    "Media.Examples.MoistAir",
    "StateGraph.Examples.ControlledTanks",
    "Thermal.HeatTransfer.Examples.TwoMasses",
]


@pytest.fixture(scope="module")
def standard_library() -> Libraries:
    roots = [Path(entry) for entry in MODELICAPATH.split(os.pathsep) if entry]
    if not any((root / "Modelica" / "package.mo").is_file() for root in roots):
        pytest.skip("MODELICAPATH holds no Modelica Standard Library")
    return Libraries(roots)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_the_standard_library_balances(name: str, standard_library: Libraries) -> None:
    flat, _ = flatten(standard_library, f"Modelica.{name}")
    balance, problems = check(flat)
    assert balance.is_balanced
    assert not problems
    verify_flat(flat)


# ------------------------------------------------------------------------------------------------------------ the codes


def test_every_code_of_this_room_has_a_golden_case() -> None:
    sources = (ROOT / "src" / "kilohertz" / "semantics").rglob("*.py")
    used = {code for file in sources for code in re.findall(r'"([SB]\d{3})"', file.read_text(encoding="utf-8"))}
    shown = {code for file in (HERE / "messages").glob("*.case") for code in _codes_told(file)}
    assert sorted(used - shown) == []


def _codes_told(file: Path) -> list[str]:
    return re.findall(r"(?:error|warning)\[([SB]\d{3})\]", file.read_text(encoding="utf-8"))
