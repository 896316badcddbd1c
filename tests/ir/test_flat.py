"""Flat: the printed form reads back to the same text; verify accepts what is right and names what is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kilohertz
from kilohertz.base import InternalError
from kilohertz.ir import (
    BOOLEAN,
    CONTINUOUS,
    DISCRETE,
    INTEGER,
    PARAMETER,
    REAL,
    Assign,
    Binary,
    Call,
    Equality,
    Expr,
    Flat,
    Function,
    Index,
    Int,
    Local,
    Real,
    RecordType,
    Ref,
    Reinit,
    TupleTarget,
    Type,
    Variable,
    WhenEquation,
    make,
    print_flat,
    print_function,
    read_flat,
    read_function,
    verify_flat,
)
from kilohertz.ir.flat import Purpose

CASES = re.findall(
    r"^\[case (.*?)\]\n(.*?)(?=^\[case|\Z)", Path(__file__).with_name("flat.case").read_text(), re.M | re.S
)


@pytest.mark.parametrize(("name", "text"), CASES, ids=[name for name, _ in CASES])
def test_printed_form_reads_back(name: str, text: str) -> None:
    assert print_flat(read_flat(text)) == text.rstrip() + "\n"


def test_functions_print_alone() -> None:
    flat = read_flat(CASES[2][1])
    text = print_function(flat.functions["Lib.sq"])
    assert text == "function Lib.sq\n  input Real u;\n  output Real y;\nalgorithm\n  y := u^2.0;\nend Lib.sq;\n"
    assert read_function(text) == flat.functions["Lib.sq"]


# ----------------------------------------------------------------------------------------------------- verification

x, v = Ref("x", REAL), Ref("v", REAL.array_of(3))


def model(*equations: Equality | WhenEquation | Reinit, **more: Variable) -> Flat:
    variables = {"x": Variable("x", REAL), "v": Variable("v", REAL.array_of(3)), **more}
    f = Function("f", [Local("u", REAL)], [Local("y", REAL)], [], [Assign(Ref("y", REAL), Ref("u", REAL))])
    return Flat("M", variables, list(equations), functions={"f": f})


def test_a_right_model_passes() -> None:
    when = WhenEquation([(make.relation(">", x, Real(1.0)), [Reinit(x, Real(0.0))])])
    verify_flat(model(Equality(x, Call("f", (x,), REAL)), when, Equality(v, make.mul(x, v))))
    for _, text in CASES[:1]:
        flat = read_flat(text)
        flat.variables["x"].attributes.clear()
        verify_flat(flat)


WRONG: list[tuple[Flat, str]] = [
    (model(Equality(x, Ref("y", REAL))), "`y`: is not a known name"),
    (model(Equality(x, Ref("v", REAL))), r"`v`: is of type Real\[3\], not Real"),
    (model(Equality(x, v)), r"the right side `v` is of type Real\[3\], not Real"),
    (model(Equality(x, Int(1))), "is of type Integer, not Real"),
    (model(Equality(x, Binary("+", x, Int(1), REAL))), r"`x \+ 1`: operands of types Real and Integer"),
    (model(Equality(v, Binary("*", x, v, v.ty))), r"`\*` of Real and Real\[3\]"),
    (model(Equality(x, Call("g", (x,), REAL))), "no function `g`"),
    (model(Equality(x, Call("f", (v,), REAL))), "argument `v` of type"),
    (model(Equality(x, Call("f", (), REAL))), "0 arguments for 1 inputs"),
    (model(Equality(x, Index(v, (x,), REAL))), "a subscript of type Real"),
    (model(Equality(TupleTarget((x,)), x)), "several left sides"),
    (model(Reinit(x, x)), "reinit outside of a when"),
    (model(WhenEquation([(x, [])])), "a when condition of type Real"),
    (model(a=Variable("b", REAL)), "`b` is kept under the name `a`"),
    (model(a=Variable("a", INTEGER, CONTINUOUS)), "continuous, but of type Integer"),
    (model(a=Variable("a", REAL.array_of(None))), "a size of Real\\[:\\] is not known"),
    (model(a=Variable("a", Type(RecordType("R", ())))), "which is not primitive"),
    (model(a=Variable("a", REAL, CONTINUOUS, binding=x)), "it should be an equation"),
    (model(a=Variable("a", REAL, PARAMETER, binding=Int(1))), "the binding `1` is of type Integer"),
    (model(a=Variable("a", BOOLEAN, DISCRETE, attributes={"start": Real(1.0)})), "attribute start of type Real"),
]


@pytest.mark.parametrize(("flat", "message"), WRONG, ids=[message for _, message in WRONG])
def test_a_breach_is_named(flat: Flat, message: str) -> None:
    with pytest.raises(InternalError, match=message):
        verify_flat(flat)


def test_a_breach_inside_a_function_says_so() -> None:
    flat = model()
    bad: Expr = Ref("nowhere", REAL)
    flat.functions["f"].body.append(Assign(Ref("y", REAL), bad))
    with pytest.raises(InternalError, match=r"M: `nowhere`: is not a known name \(function f, Assign\)"):
        verify_flat(flat)


def test_why_there_is_a_variable_reads_back() -> None:
    flat = Flat("Test")
    for purpose in Purpose:
        name = f"v_{purpose.name}"
        flat.variables[name] = Variable(name, REAL, structural=purpose is Purpose.MADE, purpose=purpose)
    again = read_flat(print_flat(flat))
    assert {v.name: (v.purpose, v.structural) for v in again.variables.values()} == {
        v.name: (v.purpose, v.structural) for v in flat.variables.values()
    }


def test_no_name_is_cut() -> None:
    """What a variable is stands in its form, not in how its name begins or ends; `Dotted` alone parts names at dots."""
    cut = re.compile(r"""\[4:-1\]|with\(\(?["'](\$|der\(|pre\()|(split|partition)\(["']\.["']""")
    source = Path(kilohertz.__file__).parent
    # where names are read from text; versions; names in MAT files
    own_dots = ("base/dotted.py", "syntax/parsing/", "base/versions.py", "interp/externals/")
    found = [
        f"{file.relative_to(source)}:{number}"
        for file in sorted(source.rglob("*.py"))
        if not str(file.relative_to(source)).startswith(own_dots)
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if cut.search(line)
    ]
    assert not found
