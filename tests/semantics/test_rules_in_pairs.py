"""Rules of the language, each by a model that breaks it and by the nearest one that does not."""

from __future__ import annotations

import pytest

from kilohertz.base import Diagnostic, ModelError
from kilohertz.semantics import flatten
from kilohertz.syntax import Libraries

F = "function f input Real x; output Real y; algorithm y := 2*x; {} end f;"
OBJECT = """class O extends ExternalObject;
  {0}function constructor output O o; external "C" o = make(); end constructor;
  function destructor input O o; external "C" unmake(o); end destructor; {1}
end O;"""
APPLY = """partial function P input Real x; output Real y; end P;
function apply input P p; input Real x; output Real y; algorithm y := p(x); end apply;
function twice input {0} x; input Real k = 2; output {0} y; algorithm y := {1}; end twice;
model A Real y = apply({2}, time); end A;"""
ANGLE = """type Angle extends Real; {}end Angle;
connector C Real e; flow Real f; Angle theta; end C;
model A C c; equation Connections.root(c.theta); c.theta = 1; c.e = 1; end A;"""
RESIDUE = """function equalityConstraint input Angle a; input Angle b; output Real r[0]; algorithm r := fill(0, 0);
end equalityConstraint; """

# what it is about: code, a part of the message, broken, kept
RULES: dict[str, tuple[str, str, str, str]] = {
    "11.2.7 when under if in an algorithm": (
        "S287",
        "inside if in an algorithm",
        "model A discrete Real x; algorithm if time > 1 then when time > 2 then x := 1; end when; end if; end A;",
        "model A discrete Real x; algorithm when time > 2 then if time > 1 then x := 1; end if; end when; end A;",
    ),
    "11.2.7 when in a while of an algorithm": (
        "S287",
        "inside while in an algorithm",
        "model A discrete Real x; algorithm while x < 1 loop when time > 1 then x := 1; end when; end while; end A;",
        "model A discrete Real x; algorithm when time > 1 then while x < 1 loop x := 1; end while; end when; end A;",
    ),
    "11.2.7 when in a for of an algorithm (a warning: models in use do it)": (
        "S287",
        "inside for in an algorithm",
        "model A Real x[2]; algorithm for i in 1:2 loop when time > i then x[i] := 1; end when; end for; end A;",
        "model A Real x[2]; algorithm when time > 1 then for i in 1:2 loop x[i] := 1; end for; end when; end A;",
    ),
    "16.6 when at a clock in an algorithm": (
        "S287",
        "cannot stand in an algorithm",
        "model A discrete Real x; algorithm when Clock(1, 10) then x := 1; end when; end A;",
        "model A Real x; equation when Clock(1, 10) then x = 1; end when; end A;",
    ),
    "16.6 elsewhen at a clock": (
        "S287",
        "no elsewhen",
        "model A Real x; equation when Clock(1, 10) then x = 1; elsewhen Clock(1, 5) then x = 2; end when; end A;",
        "model A Real x; equation when time > 1 then x = 1; elsewhen time > 2 then x = 2; end when; end A;",
    ),
    "8.3.5 when at what makes no event": (
        "S244",
        "`noEvent` makes none",
        "model A Real x; equation when noEvent(time > 1) then x = 1; end when; end A;",
        "model A Real x; equation when time > 1 then x = noEvent(if time > 2 then 1 else 2); end when; end A;",
    ),
    "11.2.8 break outside of a loop of a function": (
        "S286",
        "only inside a loop",
        F.format("break;") + " model A Real y = f(time); end A;",
        F.format("while y < 9 loop break; end while; return;") + " model A Real y = f(time); end A;",
    ),
    "12.2 an algorithm beside an inherited external function": (
        "S303",
        "and has one of its own",
        'function g input Real x; output Real y; external "C"; end g; function f extends g; algorithm y := x; end f;'
        "model A Real y = f(time); end A;",
        "partial function g input Real x; output Real y; end g; function f extends g; algorithm y := x; end f;"
        "model A Real y = f(time); end A;",
    ),
    "12.2 two external functions": (
        "S303",
        "inherits an external function",
        'function g input Real x; output Real y; external "C"; end g; function f extends g; external "C"; end f;'
        "model A Real y = f(time); end A;",
        'partial function g input Real x; output Real y; end g; function f extends g; external "C"; end f;'
        "model A Real y = f(time); end A;",
    ),
    "12.9.1 an array as result of an external function": (
        "S303",
        "gives back a scalar",
        'function f output Real y[3]; external "C" y = g(); end f; model A parameter Real y[3] = f(); end A;',
        'function f output Real y[3]; external "C" g(y, size(y, 1)); end f; model A parameter Real y[3] = f(); end A;',
    ),
    "12.9 an array made for an external function": (
        "S303",
        "not arrays made for it",
        'function f input Real x; output Real y; external "C" y = g({x, 1}); end f; model A Real y = f(time); end A;',
        'function f input Real x; output Real y; external "C" y = g(x, 1); end f; model A Real y = f(time); end A;',
    ),
    "12.9.7 an external object with something else": (
        "S302",
        "only the functions",
        OBJECT.format("", "constant Real k = 1;") + " model A O o = O(); end A;",
        OBJECT.format("", "") + " model A O o = O(); end A;",
    ),
    "12.9.7 a replaceable constructor": (
        "S302",
        "cannot be replaceable",
        OBJECT.format("replaceable ", "") + " model A O o = O(); end A;",
        OBJECT.format("", "") + " model A O o = O(); end A;",
    ),
    "12.9.7 an external object without a destructor": (
        "S302",
        "no function `destructor`",
        'class O extends ExternalObject; function constructor output O o; external "C" o = make(); end constructor;'
        " end O; model A O o = O(); end A;",
        OBJECT.format("", "") + " model A O o = O(); end A;",
    ),
    "12.9.7 a constructor is called by its name": (
        "S275",
        "and not otherwise",
        OBJECT.format("", "") + " model A O o = O.constructor(); end A;",
        OBJECT.format("", "") + " model A O o = O(); end A;",
    ),
    "12.9.7 a function that gives back an external object": (
        "S303",
        "only its constructor gives back",
        OBJECT.format("", "") + " function f output O o; algorithm o := O(); end f; model A O o = f(); end A;",
        OBJECT.format("", "") + ' function f input O o; output Real y; external "C" y = g(o); end f;'
        "model A O o = O(); Real y = f(o); end A;",
    ),
    "10.3 the sum of a scalar": (
        "S278",
        "`sum` cannot be applied",
        "model A Real x = sum(time); end A;",
        "model A Real x = sum({time}); end A;",
    ),
    "10.3 what is symmetric is square": (
        "S278",
        "`symmetric` cannot be applied",
        "model A Real x[2, 2] = symmetric([1, 2; 3, 4; 5, 6]); end A;",
        "model A Real x[2, 2] = symmetric([1, 2; 3, 4]); end A;",
    ),
    "10.3 a matrix of something with more than two dimensions": (
        "S278",
        "`matrix` cannot be applied",
        "model A Real x[1, 2] = matrix({{{1, 2}, {3, 4}}}); end A;",
        "model A Real x[1, 2] = matrix({{{1}, {2}}}); end A;",
    ),
    "10.3.4 the product of arrays": (
        "S278",
        "`product` cannot be applied",
        "model A Real x = product({i, 2} for i in 1:3); end A;",
        "model A Real x = product(i for i in 1:3); Real y[2] = sum({i, 2} for i in 1:3); end A;",
    ),
    "4.9.5 Integer of a number": (
        "S278",
        "`Integer` cannot be applied",
        "model A Integer i = Integer(1.5); end A;",
        "model A type E = enumeration(a, b); Integer i = Integer(E.b); end A;",
    ),
    "16.4 previous of what another clock gives": (
        "S278",
        "what `subSample` gives needs a name",
        "model A Real u = sample(time, Clock(1, 20)); Real y = previous(subSample(u, 4)); end A;",
        "model A Real u = sample(time, Clock(1, 20)); Real v = subSample(u, 4); Real y = previous(v); end A;",
    ),
    "12.3 pure of what is no call": (
        "S278",
        "takes a call",
        "model A Real x = pure(1.0); end A;",
        F.format("") + " model A Real x = pure(f(time)); end A;",
    ),
    "10.4.3 a step of a range of literals": (
        "S260",
        "has no step",
        "model A type E = enumeration(a, b, c); E e[3] = E.a:E.a:E.c; end A;",
        "model A type E = enumeration(a, b, c); E e[3] = E.a:E.c; Real x[3] = 1:2:5; end A;",
    ),
    "10.5 a subscript on `time`": (
        "S249",
        "1 subscript",
        "model A Real x = time[1]; end A;",
        "model A Real x = time; end A;",
    ),
    "10.5 a subscript on a literal": (
        "S249",
        "1 subscript",
        "model A type E = enumeration(a, b); E e = E.a[1]; end A;",
        "model A type E = enumeration(a, b); E e = E.a; end A;",
    ),
    "7.2 redeclared and modified": (
        "S221",
        "modified twice",
        "model M replaceable Real x; end M; model A M m(redeclare Real x = 1, x = 2); end A;",
        "model M replaceable Real x; Real y; end M; model A M m(redeclare Real x = 1, y = 2); end A;",
    ),
    "7.2.6 final without a value": (
        "S222",
        "final modification",
        "model M Real x; end M; model B extends M(final x); end B; model A B b(x = time); end A;",
        "model M Real x; end M; model B extends M; end B; model A B b(final x = time); end A;",
    ),
    "12.7.1 the derivative of what is no input": (
        "S347",
        "no input of `f`",
        F.format("annotation(derivative(noDerivative = y) = g);")
        + " function g input Real x; input Real dx; output Real dy; algorithm dy := 2*dx; end g;"
        "model A Real y = f(time); end A;",
        F.format("annotation(derivative = g);")
        + " function g input Real x; input Real dx; output Real dy; algorithm dy := 2*dx; end g;"
        "model A Real y = f(time); end A;",
    ),
    "12.7.1 the order of a derivative": (
        "S347",
        "no positive whole number",
        F.format("annotation(derivative(order = y) = g);")
        + " function g input Real x; input Real dx; output Real dy; algorithm dy := 2*dx; end g;"
        "model A Real y = f(time); end A;",
        F.format("annotation(derivative(order = 1) = g);")
        + " function g input Real x; input Real dx; output Real dy; algorithm dy := 2*dx; end g;"
        "model A Real y = f(time); end A;",
    ),
    "12.8 the inverse for what is no input": (
        "S347",
        "no input of `f`",
        F.format("annotation(inverse(y = g(y)));")
        + " function g input Real y; output Real x; algorithm x := y/2; end g; model A Real y = f(time); end A;",
        F.format("annotation(inverse(x = g(y)));")
        + " function g input Real y; output Real x; algorithm x := y/2; end g; model A Real y = f(time); end A;",
    ),
    "15.2 inStream of a number": (
        "S468",
        "this is a number",
        "model A Real x = inStream(1); end A;",
        "connector C Real p; flow Real m; stream Real h; end C;"
        "model A C c; Real x = inStream(c.h); equation c.p = 1; c.h = 2; end A;",
    ),
    "8.3.7 the level of an assertion varies": (
        "S283",
        "level of assert varies",
        "model A AssertionLevel l = if time > 1 then AssertionLevel.warning else AssertionLevel.error;"
        'equation assert(time < 2, "late", l); end A;',
        'model A parameter AssertionLevel l = AssertionLevel.warning;equation assert(time < 2, "late", l); end A;',
    ),
    "3.7.4 the order of smooth varies": (
        "S327",
        "`smooth` needs parameters",
        "model A Integer k = if time > 1 then 1 else 2; Real x = smooth(k, time); end A;",
        "model A parameter Integer k = 1; Real x = smooth(k, time); end A;",
    ),
    "3.8 a parameter bound to initial()": (
        "S223",
        "depends on `initial()`",
        "model A parameter Boolean b = initial(); end A;",
        "model A Boolean b = initial(); end A;",
    ),
    "3.8 a constant that is not fixed": (
        "S322",
        "cannot be `fixed = false`",
        "model A constant Real x(fixed = false) = 1; end A;",
        "model A constant Real x(fixed = true) = 1; end A;",
    ),
    "3.8.1 a constant of a package without a value": (
        "S322",
        "the constant `P.c` has no value",
        "package P constant Real c; end P; model A Real x = P.c*time; end A;",
        "package P constant Real c = 2; end P; model A Real x = P.c*time; end A;",
    ),
    "8.3.5 branches of a when that set other elements": (
        "S341",
        "not set in all branches",
        "model A Real x[2]; equation when time > 1 then x[1] = 1; elsewhen time > 2 then x[2] = 1; end when; end A;",
        "model A Real x[2]; equation when time > 1 then x[1] = 1; x[2] = 2; elsewhen time > 2 then x = {3, 4};"
        "end when; end A;",
    ),
    "14.4 two functions of an operator fit": (
        "S336",
        "two functions of the operator",
        "operator record R Real x; encapsulated operator '+' import R;"
        "function a input R i; input Real j; output R o; algorithm o.x := i.x + j; end a;"
        "function b input R i; input Real j; output R o; algorithm o.x := j + i.x; end b; end '+'; end R;"
        "model A R r(x = 1); R s = r + 2.0; end A;",
        "operator record R Real x; encapsulated operator '+' import R;"
        "function a input R i; input Real j; output R o; algorithm o.x := i.x + j; end a;"
        "function b input R i; input R j; output R o; algorithm o.x := j.x + i.x; end b; end '+'; end R;"
        "model A R r(x = 1); R s = r + 2.0; R t = r + s; end A;",
    ),
    "8.3.1 left of a call stand variables": (
        "S246",
        "names variables",
        "function f output Real x = 1; output Real y = 2; end f; model A Real x, y; equation (x + 1, y) = f(); end A;",
        "function f output Real x = 1; output Real y = 2; end f; model A Real x, y; equation (x, y) = f(); end A;",
    ),
    "8.6 a fixed parameter is assigned at the start": (
        "S288",
        "not `fixed = false`",
        "model A parameter Real p; initial algorithm p := 2; end A;",
        "model A parameter Real p(fixed = false); initial algorithm p := 2; end A;",
    ),
    "12.4.2 a function of another type is handed over": (
        "S270",
        "which is Integer",
        APPLY.format("Integer", "2*x", "twice"),
        APPLY.format("Real", "2*x", "twice"),
    ),
    "12.4.2 an input of another type is bound": (
        "S270",
        "is Real, not String",
        APPLY.format("Real", "k*x", 'function twice(k = "two")'),
        APPLY.format("Real", "k*x", "function twice(k = 3)"),
    ),
    "5.4 an outer class is modified": (
        "S313",
        "is outer and cannot be modified",
        "model B Real x = k; parameter Real k = 1; end B; model M outer model I = B(k = 2); I i; end M;"
        "model A inner model I = B; M m; end A;",
        "model B Real x = k; parameter Real k = 1; end B; model M outer model I = B; I i; end M;"
        "model A inner model I = B(k = 2); M m; end A;",
    ),
    "5.4 an outer class is redeclared": (
        "S313",
        "is outer and cannot be redeclared",
        "model B Real x = 1; end B; model M outer replaceable model I = B; I i; end M;"
        "model A inner model I = B; M m(redeclare model I = B(x = 2)); end A;",
        "model B Real x = 1; end B; model M replaceable model I = B; I i; end M;"
        "model A M m(redeclare model I = B(x = 2)); end A;",
    ),
    "4.6 a type of a class with components": (
        "S301",
        "a type is a predefined one",
        "class C Integer i = 1; end C; type T = C; model A T t; end A;",
        "type C = Integer; type T = C; model A T t = 1; end A;",
    ),
    "4.6 a type without a predefined one": (
        "S302",
        "extends no predefined type",
        "type T end T; model A T t; end A;",
        "type T extends Real; end T; model A T t = 1; end A;",
    ),
    "9.4 the root of what is not overdetermined": (
        "S465",
        "equalityConstraint",
        ANGLE.format(""),
        ANGLE.format(RESIDUE),
    ),
    "7.3.1 a class extends what is not inherited": (
        "S212",
        "no inherited class `X`",
        "model X end X; model A redeclare model extends X end X; end A;",
        "model B replaceable model X end X; end B; model A extends B; redeclare model extends X end X; end A;",
    ),
    "7.4 a connection that is not there is broken off": (
        "S205",
        "no inherited connection",
        "connector C Real e; flow Real f; end C; model B C c, d; equation c.e = 1; d.e = 1; end B;"
        "model A extends B(break connect(c, d)); end A;",
        "connector C Real e; flow Real f; end C; model B C c, d; equation connect(c, d); end B;"
        "model A extends B(break connect(c, d)); end A;",
    ),
    "13.4 two classes of one name in a file": (
        "S213",
        "declared twice",
        "model M end M; model M Real x = 1; end M;",
        "model M end M; model N Real x = 1; end N;",
    ),
}


def told(text: str) -> list[Diagnostic]:
    libraries = Libraries([])
    try:
        classes = libraries.load_text(text, "case.mo")
        return flatten(libraries, classes[-1].name)[1]
    except ModelError as error:
        return list(error.diagnostics)


@pytest.mark.parametrize("rule", RULES)
def test_a_model_that_breaks_the_rule_is_told(rule: str) -> None:
    code, part, broken, _ = RULES[rule]
    assert any(d.code == code and part in d.message for d in told(broken)), told(broken)


@pytest.mark.parametrize("rule", RULES)
def test_the_nearest_model_that_keeps_it_is_taken(rule: str) -> None:
    assert told(RULES[rule][3]) == []


def test_a_plain_real_connected_with_a_signal_is_warned_of() -> None:
    """MLS 9.3 wants a direction on both sides; libraries in use do without."""
    signals = (
        "connector In = input Real; connector Plain = {}Real; model A In a; Plain b; equation connect(a, b); end A;"
    )
    assert [d.code for d in told(signals.format(""))] == ["S335"]
    assert told(signals.format("output ")) == []
