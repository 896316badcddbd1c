"""Constructs that libraries use and that once were refused or came out unbalanced, each in its smallest form."""

from __future__ import annotations

import pytest

from kilohertz.base import Severity
from kilohertz.ir import Flat, print_flat, verify_flat
from kilohertz.ir.expr import Real
from kilohertz.semantics import check, flatten
from kilohertz.syntax import Libraries

CASES: dict[str, str] = {
    "an overdetermined type may be an array": """
type Angles = Angle[2];
type Angle
  extends Real;
  function equalityConstraint input Angle a[:]; input Angle b[:]; output Real r[0]; algorithm r := fill(0, 0);
  end equalityConstraint;
end Angle;
connector Pin Real v; flow Real i; Angle theta[2]; end Pin;
model Source
  Pin p;
equation
  Connections.potentialRoot(p.theta);
  if Connections.isRoot(p.theta) then p.theta = {time, 1}; end if;
  p.v = 1;
end Source;
model Load Pin p; equation p.v = 2 * p.i + sum(p.theta); end Load;
model A
  Source s1, s2; Load l1, l2; Pin none[0];
equation
  connect(s1.p, l1.p); connect(s2.p, l2.p);
end A;
""",
    "overdetermined parts inside arrays of connectors": """
type Angle
  extends Real;
  function equalityConstraint input Angle a; input Angle b; output Real r[0]; algorithm r := fill(0, 0);
  end equalityConstraint;
end Angle;
connector Phase Real v; flow Real i; Angle theta; end Phase;
connector Plug Phase phase[2]; end Plug;
model Source
  Plug p;
equation
  for k in 1:2 loop Connections.root(p.phase[k].theta); p.phase[k].theta = time; end for;
  p.phase.v = {1, 2};
end Source;
model Line
  Plug a, b;
equation
  for k in 1:2 loop Connections.branch(a.phase[k].theta, b.phase[k].theta); end for;
  a.phase.theta = b.phase.theta;
  a.phase.i + b.phase.i = {0, 0};
  a.phase.v - b.phase.v = a.phase.i;
end Line;
model Load Plug p; equation p.phase.v = p.phase.i; end Load;
model A
  Source s; Line l1, l2; Load r;
equation
  connect(s.p, l1.a); connect(s.p, l2.a); connect(l1.b, r.p); connect(l2.b, r.p);
end A;
""",
    "a function's record starts with some of its fields": """
record Data parameter Integer n; Real r[n]; Integer k = 4; end Data;
function make input Real x; input Integer n; output Data d(n = n); algorithm d.r := fill(x, n); end make;
model A parameter Data d = make(2, 3); Real y[d.n] = d.r * time; Integer z = d.k; end A;
""",
    "records of different sizes, one for each element of an array": """
record Layers parameter Integer n = 1; parameter Real d[n] = fill(1, n); end Layers;
model Wall parameter Layers layers; Real x[layers.n]; equation der(x) = layers.d; end Wall;
model A
  parameter Layers thin(n = 1), thick(n = 3, d = {1, 2, 3});
  Wall wall[2](layers = {thin, thick});
  Real y = sum(wall[2].x) + wall[1].x[1];
end A;
""",
    "local variables of a function that need later ones": """
function f input Real u; output Real y; protected Real b[n] = fill(2*a, n); Real a = u + 1; Integer n = 2;
algorithm y := sum(b) + a; end f;
model A Real y = f(time); end A;
""",
    "records whose sizes come with the constructor": """
record R Real x[:] = {1, 2, 3}; Real y[:]; Real z[size(y, 1)]; end R;
record Q R r; end Q;
function f input Real a; output R r(x = {1}, y = {a, 2}, z = {3, 4}); end f;
model A R r = R(ones(5), {1, 2}, {3, time}); R s = f(time); Q q = Q(f(2 * time)); end A;
""",
    "loops and slices of an algorithm may have sizes that vary": """
model A
  Integer n = integer(time) + 1; Real x[4] = {1, 2, 3, 4} * time; Real y, z;
algorithm
  y := 0;
  for i in 1:n loop y := y + x[i]; end for;
  z := sum(x[1:n]);
end A;
""",
    "a subscript outside of an empty array where nothing gets to": """
block B parameter Integer n = 0; input Real u[n]; output Real y;
algorithm
  y := 0;
  if n > 0 and time > 1 then y := u[1]; end if;
end B;
model A B b; Real x = f(time); end A;
function f
  input Real u; output Real y;
protected
  constant Real c[0] = fill(0, 0); Integer kind = 0;
algorithm
  y := u;
  if kind == 1 then y := c[1] * u; end if;
end f;
model C extends A; end C;
""",
    "what comes over a bus from outside only carries no flow": """
connector Flange Real phi; flow Real tau; end Flange;
expandable connector Bus end Bus;
model Wheel Flange f; equation f.phi = time; end Wheel;
model Driver Bus bus; Wheel w; equation connect(w.f, bus.wheel); end Driver;
model Listener Bus bus; Real y; equation y = time; end Listener;
model A Driver d; Listener l; equation connect(d.bus, l.bus); end A;
""",
    "elements of a bus from an array of blocks": """
connector In = input Real; connector Out = output Real;
expandable connector Sub end Sub; expandable connector Bus Sub part[2]; end Bus;
block Gain In u; Out y; equation y = 2 * u; end Gain;
block Source Out y; equation y = time; end Source;
model A
  Source s[2]; Gain g[2], h[2]; Bus bus;
equation
  connect(s.y, bus.u); connect(bus.u, g.u);
  connect(g.y, bus.part.v); connect(bus.part.v, h.u);
end A;
""",
    "elements of one array of a bus, each from another component; connectors too": """
connector In = input Real; connector Out = output Real;
connector Flange Real phi; flow Real tau; end Flange;
expandable connector Bus end Bus;
model Wheel Flange f; equation f.phi = time; end Wheel;
model Sensor parameter Integer k; Bus bus; Out y; Wheel w; equation
  y = k * time; connect(y, bus.v[k]); connect(w.f, bus.flanges[k]);
end Sensor;
block Sum parameter Integer n; In u[n]; Out y; equation y = sum(u); end Sum;
model A
  Bus bus; Sensor s[3](k = 1:3); Sum sum(n = 3);
equation
  connect(s[1].bus, bus); connect(s[2].bus, bus); connect(s[3].bus, s[2].bus); connect(bus.v, sum.u);
end A;
""",
    "arrays of buses in a bus that is itself between two of them": """
expandable connector Bus end Bus;
connector In = input Real; connector Out = output Real;
model Pump Bus bus; In u; Out y = 2 * u; equation connect(bus.order, u); connect(y, bus.actual); end Pump;
model Group
  Bus bus; Bus buses[3]; Pump pump[3];
equation
  connect(bus.pumps, buses); connect(buses, pump.bus);
end Group;
model Control
  Bus bus; Out y[3] = fill(time, 3); In u[3];
equation
  connect(y, bus.pumps.order);
  for i in 1:3 loop connect(bus.pumps[i].actual, u[i]); end for;
end Control;
model A Bus bus; Control control; Group group; equation connect(bus, control.bus); connect(bus, group.bus); end A;
""",
    "an element of a bus that only equations use": """
expandable connector Bus Real x; end Bus;
model Sender Bus bus; equation bus.x = time; end Sender;
model Receiver Bus bus; Real y = 2 * bus.x; end Receiver;
model A Sender s; Receiver r; equation connect(s.bus, r.bus); end A;
""",
    "subscripts of a connector do not matter where the other is absent": """
connector In = input Real; connector Out = output Real;
block Source Out y; equation y = time; end Source;
block Sum parameter Integer n = 1; In u[n]; Out y; equation y = sum(u); end Sum;
model A
  parameter Boolean more = false; Source s; Source t if more; Sum sum(n = if more then 2 else 1);
equation
  connect(s.y, sum.u[1]); connect(t.y, sum.u[2]);
end A;
""",
    "an empty comprehension knows what it is made of": """
model A
  parameter Integer n = 0; parameter Real p[n, 3] = {{0, 0, 0} for i in 1:n}; parameter Integer k[:] = {i for i in 1:n};
  Real x[3] = {1, 2, 3} * time; Real y = sum(x[k]);
end A;
""",
    "an array in braces as the argument of a function": """
model A
  Real a[2] = {time, 1}; Real m[3, 2] = transpose({fill(a[i], 3) for i in 1:2});
  Real s[2] = sum({i, 2 * i} * a[1] for i in 1:3);
end A;
""",
    "a binding of the constraining clause further out": """
record Base parameter Integer n; end Base;
record More extends Base; parameter Real x[n] = fill(1, n); end More;
model Inner replaceable parameter Base d; Real y[d.n] = fill(time, d.n); end Inner;
model Outer
  parameter More d(n = 3);
  replaceable Inner part constrainedby Inner(d = d);
end Outer;
model A extends Outer(redeclare Inner part(redeclare More d)); end A;
""",
    "modifications of a replaceable component hold for what replaces it": """
model Clock parameter Real offset = 0; Real y = time + offset; end Clock;
model Sine parameter Real offset = 0; Real y = sin(time) + offset; end Sine;
model M replaceable Clock c; end M;
model N extends M(c(offset = 10)); end N;
model A extends N(redeclare Sine c); end A;
""",
    "a function of the inner component's class": """
partial function Height input Real s; output Real h; end Height;
partial model Road replaceable function height = Height; end Road;
model Hill extends Road(redeclare function height = hill); end Hill;
function hill extends Height; algorithm h := 2 * s; end hill;
model Car outer Road road; Real h = road.height(time); end Car;
model A inner Hill road; Car car; end A;
""",
    "a built-in function beside a variable of its name": """
function f input Real div; output Real y; algorithm y := .div(div, 2); end f;
model A Real y = f(time); end A;
""",
    "enumeration literals by import": """
package P type E = enumeration(one, two); end P;
model A import P.E.two; import P.E.*; parameter P.E e = two, g = one; Real x = if e == g then 1 else time; end A;
""",
    "external objects pass through connections": """
class Object extends ExternalObject;
  function constructor output Object o; external "C" o = make(); end constructor;
  function destructor input Object o; external "C" free_it(o); end destructor;
end Object;
function read input Object o; input Real t; output Real y; external "C" y = read_it(o, t); end read;
connector Port Object o; end Port;
model Owner Port p(o = Object()); end Owner;
model User Port p; Real y = read(p.o, time); end User;
model A Owner w; User u; equation connect(w.p, u.p); end A;
""",
    "a type with dimensions and start values in an array": """
model A type V = Real[2](start = {1, 2}); V v[3]; equation der(v) = -v; end A;
""",
    "a connector that is just a type": """
connector C = Real;
block Source C y; equation y = time; end Source;
model A output C x; Source s; equation connect(s.y, x); end A;
""",
    "enumerations with the same literals are one type": """
type E = enumeration(a, b); type F = enumeration(a, b);
model A parameter E e = E.b; parameter F f = F.a; Real x = if e == f or f == E.a then time else 1; end A;
""",
    "components and connections broken off": """
connector Pin Real v; flow Real i; end Pin;
model R Pin p; Pin n; equation p.v - n.v = p.i; p.i + n.i = 0; end R;
model G Pin p; equation p.v = 0; end G;
model Circuit R a; R b; G g; equation connect(a.n, b.p); connect(b.n, g.p); connect(a.p, g.p); end Circuit;
model A extends Circuit(break b, break connect(a.p, g.p)); equation connect(a.n, g.p); end A;
""",
    "a vector goes to the constructor of vectors": """
operator record Poly
  Real c[2];
  encapsulated operator 'constructor'
    function fromReal import Poly; input Real r; output Poly p; algorithm p.c := {r, 0}; end fromReal;
    function fromVector import Poly; input Real v[2]; output Poly p; algorithm p.c := v; end fromVector;
  end 'constructor';
end Poly;
model A Poly p = Poly({time, 1}); Poly q = Poly(time); end A;
""",
    "a connector has a constant where the other has a parameter": """
connector C parameter Integer n = 1; Real v[n]; flow Real i[n]; end C;
model Part C c(redeclare constant Integer n = 2); equation c.v = c.i; end Part;
model A C c(n = 2); Part p; equation connect(c, p.c); end A;
""",
}

WARNED: dict[str, tuple[str, str]] = {
    "an array of another size for an input that is never read": (
        "S270",
        """
function f input Real T; input Real X[1]; output Real h; algorithm h := 2 * T; end f;
function g input Real T; output Real h; algorithm h := f(T, fill(0.0, 0)); end g;
model A Real h = g(time); end A;
""",
    ),
    "an input of a component is set in a when": (
        "S323",
        """
connector In = input Real;
block Load In p(start = 0); Real q; equation q = 2 * p; end Load;
model A Load l; equation when time > 0.5 then l.p = 1; end when; end A;
""",
    ),
    "a connector of physics is declared an input on one side": (
        "S335",
        """
connector Heat Real T; flow Real W; end Heat;
model Sink input Heat c; equation c.T = 300; end Sink;
model Body Heat c; Real T(start = 400, fixed = true); equation der(T) = c.W; c.W = c.T - T; end Body;
model A Sink s; Body b; equation connect(s.c, b.c); end A;
""",
    ),
    "a record that is an operator record": (
        "S301",
        """
operator record C
  Real re; Real im;
  encapsulated operator function '+'
    import C; input C a; input C b; output C c;
  algorithm c := C(a.re + b.re, a.im + b.im);
  end '+';
end C;
record Volts = C(redeclare Real re(unit = "V"), redeclare Real im(unit = "V"));
model A Volts v(re = time, im = 1); Volts w = v + v; end A;
""",
    ),
    "a parameter that may be absent is handed on": (
        "S330",
        """
model Part parameter Boolean has = true; parameter Real p = 1 if has; Real x(start = 1); equation der(x) = -x; end Part;
model A parameter Boolean has = true; parameter Real p = 2 if has; Part part(has = has, p = p); end A;
""",
    ),
    "a parameter takes its value from a component that may be absent": (
        "S330",
        """
model Pipe parameter Real dp = 3; Real x(start = 1); equation der(x) = -dp*x; end Pipe;
model A
  parameter Boolean has = true;
  Pipe pipes[2] if has;
  parameter Real dp[2] = 2 * pipes.dp;
end A;
""",
    ),
    "an output that is no connector is connected": (
        "S458",
        """
block Clock output Real t; equation t = time; end Clock;
block Sun input Real t; output Real h; equation h = 2 * t; end Sun;
model A Clock c; Sun s; equation connect(c.t, s.t); end A;
""",
    ),
    "a class names its own classes by its own name": (
        "S320",
        """
package P
  model Cell
    model Part Real x = time; end Part;
    P.Cell.Part part; Cell.Part other;
  end Cell;
end P;
model A extends P.Cell; end A;
""",
    ),
    "a type of external objects": (
        "S301",
        """
type Table
  extends ExternalObject;
  function constructor output Table t; external "C" t = make_table(); end constructor;
  function destructor input Table t; external "C" free_table(t); end destructor;
end Table;
model A Table t = Table(); Real x = time; end A;
""",
    ),
}


def flat_of(text: str) -> Flat:
    libraries = Libraries([])
    classes = libraries.load_text(text, "case.mo")
    flat, _ = flatten(libraries, classes[-1].name)
    return flat


@pytest.mark.parametrize("title", CASES)
def test_balanced(title: str) -> None:
    flat = flat_of(CASES[title])
    verify_flat(flat)
    _, problems = check(flat)
    assert not problems, print_flat(flat)


@pytest.mark.parametrize("title", WARNED)
def test_warned_of(title: str) -> None:
    code, text = WARNED[title]
    libraries = Libraries([])
    classes = libraries.load_text(text, "case.mo")
    flat, warnings = flatten(libraries, classes[-1].name)
    _, problems = check(flat)
    assert all(p.severity is Severity.WARNING for p in problems), print_flat(flat)
    assert {w.code for w in warnings} == {code}


EMPTY_ANGLES = """
type Angle
  extends Real;
  function equalityConstraint input Angle a[:]; input Angle b[:]; output Real r[0]; algorithm r := fill(0, 0);
  end equalityConstraint;
end Angle;
connector Pin Real v; flow Real i; Angle theta[0]; end Pin;
model Source Pin p; equation p.v = 1; end Source;
model Line
  Pin a, b;
equation
  Connections.branch(a.theta, b.theta);
  a.theta = b.theta; a.v - b.v = a.i; a.i + b.i = 0;
end Line;
model Load Pin p; equation p.v = 2 * p.i; end Load;
model A Source s; Line l; Load r; equation connect(s.p, l.a); connect(l.b, r.p); end A;
"""


def test_angles_without_elements_need_no_root() -> None:
    libraries = Libraries([])
    _, warnings = flatten(libraries, libraries.load_text(EMPTY_ANGLES, "case.mo")[-1].name)
    assert not warnings


def test_weaker_modifications_reach_the_replacement() -> None:
    flat = flat_of(CASES["modifications of a replaceable component hold for what replaces it"])
    assert flat.variables["c.offset"].binding is Real(10.0)


def test_broken_components_are_gone() -> None:
    flat = flat_of(CASES["components and connections broken off"])
    assert not any(name.startswith("b.") for name in flat.variables)
