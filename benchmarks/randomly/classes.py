"""Classes: inheritance, modification, redeclaration, packages, inner and outer, conditions, enumerations."""

from __future__ import annotations

from randomly.expressions import Two, real, signals
from randomly.parts import Maker, Part
from randomly.solving import publish


def in_brackets(mods: list[str]) -> str:
    return f"({', '.join(mods)})" if mods else ""


def chain(m: Maker, tag: str) -> Part:
    """Parameters that are modified at every level of a chain; the outermost wins."""
    part, n = Part("modification", tag), m.r.randint(2, 5)
    names, values = ["a", "b", "c"], {"a": 1.0, "b": 2.0, "c": 3.0}
    part.classes += f"partial model {tag}_0 parameter Real a = 1; parameter Real b = 2*a; parameter Real c = 3; Real y; end {tag}_0;\n"
    b_is_own = False
    final: set[str] = set()
    for k in range(1, n):
        mods = []
        for name in m.r.sample(names, m.r.randint(0, 2)):
            if name in final:
                continue
            v = round(m.r.uniform(-3, 3), 3)
            word = "final " if m.chance(0.15) else ""
            final |= {name} if word else set()
            mods.append(f"{word}{name} = {v!r}")
            values[name] = v
            b_is_own |= name == "b"
        body = "equation y = a + 10*b + 100*c;" if k == 1 else ""
        text = f"({', '.join(mods)})" if mods else ""
        short = k > 1 and m.chance(0.4)
        part.classes += (
            f"model {tag}_{k} = {tag}_{k - 1}{text};\n"
            if short
            else f"model {tag}_{k} extends {tag}_{k - 1}{text}; {body} end {tag}_{k};\n"
        )
    outer, free = [], [x for x in names if x not in final]
    for name in free:
        if m.chance():
            v = round(m.r.uniform(-3, 3), 3)
            outer.append((name, v))
    d = m.pick(0, 2, 3)
    if d == 0:
        mods = [f"{k} = {v!r}" for k, v in outer]
        ends = [(f"{tag}_o", {**values, **dict(outer)})]
    else:
        mods = [m.pick(f"each {k} = {v!r}", f"{k} = fill({v!r}, {d})") for k, v in outer[:1]]
        mods += [f"{k} = {{{', '.join(repr(v + i) for i in range(d))}}}" for k, v in outer[1:]]
        ends = [
            (f"{tag}_o[{i + 1}]", {**values, **dict(outer[:1]), **{k: v + i for k, v in outer[1:]}}) for i in range(d)
        ]
    size = f"[{d}]" if d else ""
    part.inside += f"{tag}_{n - 1} {tag}_o{size}{in_brackets(mods)};\n"
    b_is_own |= "b" in dict(outer)
    for name, told in ends:
        b = told["b"] if b_is_own else 2 * told["a"]
        part.checks.append((f"{name}.y", repr(told["a"] + 10 * b + 100 * told["c"])))
    return part


def redeclared(m: Maker, tag: str) -> Part:
    """A replaceable package with a constant, a type, a record and a function; models over it, redeclared on the way."""
    part, n = Part("replaceable package", tag), m.r.randint(1, 4)
    c, x = round(m.r.uniform(0.5, 2), 3), real(m, signals(m), 2)
    part.classes += (
        f'partial package {tag}_P constant Integer n = 1; constant Real c[n] = fill(1.0, n); constant String name = "none";\n'
        f"  replaceable type T = Real; replaceable record S Real p; end S;\n"
        f"  replaceable partial function f input Real u[n]; output Real y; end f;\n"
        f"  replaceable model Part Real u[n]; Real y; equation y = f(u); end Part;\nend {tag}_P;\n"
        f'package {tag}_Q extends {tag}_P(n = {n}, name = "Q"{", c = {" + ", ".join(repr(c + k) for k in range(n)) + "}" if m.chance() else ""});\n'
        f"  redeclare record extends S Real q[n]; end S;\n"
    )
    own = f"c = {{{c!r}" in part.classes
    coefficients = [c + k for k in range(n)] if own else [1.0] * n
    body = m.pick(
        "y := c*u;", "y := 0; for i in 1:n loop y := y + c[i]*u[i]; end for;", "y := sum(c[i]*u[i] for i in 1:n);"
    )
    form = m.pick(
        f"redeclare function extends f algorithm {body} end f;",
        f"redeclare function f input Real u[n]; output Real y; algorithm {body} annotation(Inline=true); end f;",
    )
    part.classes += f"  {form}\nend {tag}_Q;\n"
    word = m.pick(f" constrainedby {tag}_P", "")
    part.classes += (
        f"model {tag}_U replaceable package M_ = {tag}_P{word}; M_.S s[2]; input Real u; Real v[M_.n] = {{u*i for i in 1:M_.n}};"
        f" M_.Part p(u = v); Real y = p.y + size(s, 1); end {tag}_U;\n"
        f"model {tag}_V extends {tag}_U({m.pick('redeclare package', 'redeclare replaceable package')} M_ = {tag}_Q, s(p = {{1, 2}}, q = fill(3, 2, M_.n)));"
        f" Real z = sum(s.q) + s[2].p + p.y; end {tag}_V;\n"
    )
    way = m.r.randrange(3)
    if way == 0:
        part.inside += f"{tag}_V {tag}_o(u = {x[0]});\n"
    elif way == 1:
        part.inside += f"model {tag}_W = {tag}_V(redeclare package M_ = {tag}_Q); {tag}_W {tag}_o(u = {x[0]});\n"
    else:
        part.inside += f"replaceable {tag}_V {tag}_o(u = {x[0]}) constrainedby {tag}_U;\n"
    y = f"(({x[1]})*{sum((k + 1) * e for k, e in enumerate(coefficients))!r})"
    part.checks += [
        (f"{tag}_o.y", f"{y} + 2"),
        (f"{tag}_o.z", f"{y} + {2 * n * 3} + 2"),
        (f"{tag}_o.v[{n}]", f"{n}*({x[1]})"),
    ]
    part.inside += f"Real {tag}_y = tanh({tag}_o.p.y);\n"
    publish(m, part, f"{tag}_y", f"math.tanh({y})")
    return part


def redeclarations(m: Maker, tag: str, e: str) -> tuple[Two, Two]:
    """Of the component and of the class, with what y is then, over u or w."""
    g = m.pick(
        (f"redeclare {tag}_H g({e}h = 2)", "3*u + 2"),
        (f"redeclare {tag}_H g", "3*u + 1"),
        (f"g({e}k = 4)", "4*u"),
        (f"redeclare {tag}_H g({e}k = 2, {e}h = -1)", "2*u - 1"),
        ("", "3*u"),
    )
    b = m.pick(
        (f"redeclare block B = {tag}_H(h = 0.25)", "5*w + 0.25"),
        (f"b({e}k = 2)", "2*w"),
        ("", "1*w"),
        (f"redeclare block B = {tag}_H", "5*w + 1"),
    )
    return g, b


def components(m: Maker, tag: str) -> Part:
    """Replaceable components and classes, redeclared from outside, in arrays; conditional ones; inner and outer."""
    part, x, n = Part("redeclaration", tag), real(m, signals(m), 2), m.r.randint(1, 3)
    k, on = [round(m.r.uniform(-2, 2), 3) for _ in range(n)], m.chance()
    part.classes += (
        f"partial block {tag}_I input Real u; output Real y; parameter Real k = 1; end {tag}_I;\n"
        f"block {tag}_G extends {tag}_I; equation y = k*u; end {tag}_G;\n"
        f"block {tag}_H extends {tag}_I(k = 5); parameter Real h = 1; equation y = k*u + h; end {tag}_H;\n"
        f"model {tag}_A outer Real {tag}_env; outer parameter Integer {tag}_nn; replaceable {tag}_G g constrainedby {tag}_I(k = 3);"
        f" replaceable block B = {tag}_G constrainedby {tag}_I; B b; parameter Boolean on = true; {tag}_H h(h = 0.5) if on;"
        f" Real y = g.y + 10*b.y; Real w; input Real u; equation g.u = u; b.u = u + {tag}_env; connect_(h.u, u); w = {tag}_nn; end {tag}_A;\n"
    ).replace("connect_(h.u, u);", "")
    part.classes = part.classes.replace(f"{tag}_H h(h = 0.5) if on;", f"{tag}_H h(h = 0.5, u = 1) if on;")
    in_array = m.chance()
    e = "each " if in_array else ""
    (g, gy), (b, by) = redeclarations(m, tag, e)
    text = ", ".join(w for w in (g, b, f"{e}on = {'true' if on else 'false'}") if w)
    part.inside += f"inner Real {tag}_env = {m.reals[0]}; inner parameter Integer {tag}_nn = {n};\n"
    where = f"{tag}_o[{n}]" if in_array else f"{tag}_o"
    size = f"[{n}]" if in_array else ""
    part.inside += f"{tag}_A {tag}_o{size}({text}, {e}u = {x[0]});\n"
    part.python += f"def {tag}_value(u, e):\n    w = u + e\n    return ({gy}) + 10*({by})\n"
    part.checks += [(f"{where}.y", f"{tag}_value({x[1]}, {m.reals[0]})"), (f"{where}.w", str(n))]
    if on:
        part.checks.append((f"{where}.h.y", "5.5"))
    part.inside += f"parameter Real {tag}_k[{n}] = {{{', '.join(map(repr, k))}}}; {tag}_G {tag}_gs[{n}](k = {tag}_k, u = {{i*{x[0]} for i in 1:{n}}});\n"
    part.checks += [(f"{tag}_gs[{i + 1}].y", f"{k[i]!r}*{i + 1}*({x[1]})") for i in range(n)]
    part.inside += f"Real {tag}_s = sum({tag}_gs.y); Real {tag}_y = tanh({tag}_s);\n"
    publish(m, part, f"{tag}_y", f"math.tanh({sum(k[i] * (i + 1) for i in range(n))!r}*({x[1]}))")
    return part


def enumerations(m: Maker, tag: str) -> Part:
    """Enumerations as types of indices, in loops, as discrete values and in functions; imports and nested packages."""
    part, n = Part("enumerations and packages", tag), m.r.randint(2, 4)
    words = m.r.sample(("red", "green", "blue", "grey", "none"), n)
    v = [round(m.r.uniform(-2, 2), 3) for _ in range(n)]
    b = m.pick(*m.booleans)
    e = f"{tag}_p.E"
    part.classes += (
        f"package {tag}_p type E = enumeration({', '.join(words)}); package Deep constant Real c[E] = {{{', '.join(map(repr, v))}}};"
        f" constant E first = E.{words[0]}; function of input E e; output Real y; algorithm y := c[e]; end of; end Deep;"
        f' type Volt = Real(unit="V", min=-1e9, start=0.25, nominal=2); type Many = Volt[3]; end {tag}_p;\n'
        f"encapsulated package {tag}_e import Q = R.{tag}_p; import R.{tag}_p.Deep.c; import R.{tag}_p.{{E, Deep}}; import R.{tag}_p.*;"
        f" function at input Q.E e; output Real y; algorithm y := c[e] + Deep.of(E.{words[-1]}); end at;"
        f" block K import R.{tag}_p.*; Volt v; equation v = Deep.of(E.{words[0]}); end K; end {tag}_e;\n"
    )
    part.inside += (
        f"{e} {tag}_s(start={e}.{words[0]}, fixed=true); Real {tag}_a[{e}]; Real {tag}_b = {tag}_a[{e}.{words[-1]}]; {tag}_e.K {tag}_k;\n"
        f"Real {tag}_c = {tag}_e.at({tag}_s); Integer {tag}_i = Integer({tag}_s); Boolean {tag}_g = {tag}_s > {e}.{words[0]};\n"
        f"{tag}_p.Many {tag}_m = {{i*{tag}_c for i in 1:3}}; Real {tag}_q = sum(if k == {tag}_s then 1 else 10 for k in {e});\n"
        f"Real {tag}_h = if {b} then {tag}_p.Deep.c[{e}.{words[0]}] else {tag}_p.Deep.c[{tag}_s];\n"
    )
    part.equations += (
        f"for k in {e} loop {tag}_a[k] = 2*{tag}_p.Deep.c[k] + Integer(k); end for;\n"
        f"when time >= 0.5 then {tag}_s = if {b} then {e}.{words[-1]} else {e}.{words[1]}; end when;\n"
    )
    i = f"({n} if V(0.5)[{b!r}] else 2) if t >= 0.5 else 1"
    part.defs += [(f"{tag}_i", i), (f"{tag}_c", f"{v}[{tag}_i - 1] + {v[-1]!r}")]
    part.checks += [
        (f"{tag}_i", f"{tag}_i"), (f"{tag}_c", f"{tag}_c"), (f"{tag}_g", f"{tag}_i > 1"), (f"{tag}_m[3]", f"3*{tag}_c"),
        (f"{tag}_b", repr(2 * v[-1] + n)), (f"{tag}_k.v", repr(v[0])), (f"{tag}_q", str(10 * n - 9)),
        (f"{tag}_h", f"{v[0]!r} if {b} else {v}[{tag}_i - 1]"),
    ]  # fmt: skip
    return part


def functionals(m: Maker, tag: str) -> Part:
    """Functions as arguments, with some inputs bound; recursion; C; partial derivatives; impure ones."""
    part, x, c = Part("functions as values", tag), real(m, signals(m), 1), round(m.r.uniform(-1, 1), 3)
    part.classes += (
        f"partial function {tag}_F input Real x; output Real y; end {tag}_F;\n"
        f"function {tag}_g extends {tag}_F; input Real a = 1; input Real b = 2; algorithm y := a*x^2 + b*x; end {tag}_g;\n"
        f"function {tag}_sum input {tag}_F f; input Real at[:]; output Real y; algorithm y := 0; for e in at loop y := y + f(e); end for; end {tag}_sum;\n"
        f"function {tag}_twice input {tag}_F f; input Real u; output Real y; algorithm y := {tag}_sum(f, {{u, f(u)}}); end {tag}_twice;\n"
        f"function {tag}_fib input Integer n; output Integer y; algorithm if n < 2 then y := n; else y := {tag}_fib(n - 1) + {tag}_fib(n - 2); end if; end {tag}_fib;\n"
        f"function {tag}_da = der({tag}_g, x);\n"
        f'function {tag}_c input Real u[:]; input Integer n = size(u, 1); output Real y; output Real z[size(u, 1)]; external "C" {tag}_work(u, n, y, z)'
        f' annotation(Include="static void {tag}_work(const double *u, int n, double *y, double *z) {{ *y = 0; for (int i = 0; i < n; i++) {{ *y += u[i]; z[i] = 2*u[i] + i; }} }}");'
        f" end {tag}_c;\n"
    )
    a = x[1]
    part.inside += (
        f"Real {tag}_a = {tag}_sum(function {tag}_g(b = {c!r}), {{{x[0]}, 1, 2}}); Real {tag}_b = {tag}_twice(function {tag}_g(a = 0.5), {x[0]});\n"
        f"Integer {tag}_n = {tag}_fib(6 + {m.integers[0]}); Real {tag}_d = {tag}_da({x[0]}, 1, {c!r}); Real {tag}_s, {tag}_z[2];\n"
    )
    part.equations += f"({tag}_s, {tag}_z) = {tag}_c({{{x[0]}, {m.reals[0]}}});\n"
    g = f"(lambda x: 0.5*x**2 + 2*x)({a})"
    part.checks += [
        (f"{tag}_a", f"sum(e**2 + {c!r}*e for e in ({a}, 1, 2))"), (f"{tag}_b", f"(lambda u: u + 0.5*u**2 + u + 0.5*({g})**2 + 2*{g})({g})".replace("u + 0.5*u**2 + u + ", "u + ", 1)),
        (f"{tag}_n", f"(8, 13, 21, 34)[{m.integers[0]}]"), (f"{tag}_d", f"2*({a}) + {c!r}"), (f"{tag}_s", f"({a}) + {m.reals[0]}"),
        (f"{tag}_z[2]", f"2*{m.reals[0]} + 1"),
    ]  # fmt: skip
    return part
