"""Structure as large libraries have it: media, mixing streams, plugs and buses of arrays, external C with memory."""

from __future__ import annotations

import itertools

from randomly.expressions import real, signals
from randomly.parts import Maker, Part
from randomly.solving import publish, wave


def media(m: Maker, tag: str) -> Part:
    """A package of records, types and functions with constraining packages, redeclared through two levels of models."""
    part, n = Part("media", tag), m.r.randint(2, 4)
    cp = [round(m.r.uniform(0.5, 2), 3) for _ in range(n)]
    x = [round(m.r.uniform(0.05, 0.3), 3) for _ in range(n - 1)]
    heat, warm = wave(m)[0], wave(m)[0]
    literal = "{" + ", ".join(map(repr, cp)) + "}"
    part.classes += (
        f"partial package {tag}_P constant Integer nS = 1; constant Integer nX = nS - 1; constant Real ref[nX] = fill(1/nS, nX);\n"
        f"  replaceable record State Real p(start = 1); Real T(start = 2); end State; type Fraction = Real(min = -1, max = 2);\n"
        f"  replaceable partial function enthalpy input State s; output Real h; end enthalpy;\n"
        f"  replaceable function temperature input State s; output Real T; algorithm T := s.T; end temperature;\n"
        f"  function twice input State s; output Real y; algorithm y := 2*enthalpy(s) + nS; end twice;\n"
        f"  replaceable partial model Props input Real p; input Fraction X[nX]; Real T; Real h; State state; parameter Boolean full = true; Real Xi[nS] = if full then cat(1, X, {{1 - sum(X)}}) else fill(0, nS); end Props;\nend {tag}_P;\n"
        f"partial package {tag}_Mix extends {tag}_P; redeclare replaceable record extends State Fraction X[nX](start = ref); end State;\n"
        f"  constant Real cp[nS] = ones(nS); replaceable function gas = constant_; function constant_ output Real r = 8; algorithm end constant_;\nend {tag}_Mix;\n"
        f"package {tag}_Gas extends {tag}_Mix(nS = {n}, cp = {literal});\n"
        f"  redeclare function extends enthalpy algorithm h := s.T*(cp[1:nX]*s.X + cp[nS]*(1 - sum(s.X))) + 0.1*s.p; {m.pick('annotation(Inline=true);', '', 'annotation(Inline=false);')} end enthalpy;\n"
        f"  redeclare model extends Props equation state = State(p = p, T = T, X = X); h = enthalpy(state); end Props;\nend {tag}_Gas;\n"
        f"package {tag}_Gas2 = {tag}_Gas(ref = fill(0.125, {n - 1}), redeclare function gas = {tag}_nine); function {tag}_nine output Real r = 9; algorithm end {tag}_nine;\n"
        f"connector {tag}_Port replaceable package Medium = {tag}_P; Real p; flow Real m; stream Real h; stream Real X[Medium.nX]; end {tag}_Port;\n"
        f"partial model {tag}_Two replaceable package Medium = {tag}_Mix constrainedby {tag}_P; {tag}_Port a(redeclare package Medium = Medium, m(min = -1e5)), b(redeclare final package Medium = Medium); equation a.m + b.m = 0; end {tag}_Two;\n"
        f"model {tag}_Heater extends {tag}_Two(redeclare replaceable package Medium = {tag}_Mix constrainedby {tag}_Mix); input Real q; Medium.State s = Medium.State(a.p, 3, inStream(a.X)); Real g = Medium.gas();"
        f" equation b.h = inStream(a.h) + q; a.h = inStream(b.h); b.X = inStream(a.X); a.X = inStream(b.X); a.p = b.p; end {tag}_Heater;\n"
        f"model {tag}_Source replaceable package Medium = {tag}_Mix constrainedby {tag}_Mix; {tag}_Port port(redeclare package Medium = Medium); Medium.Props props(p = 2, X = X); input Real T; parameter Real X[:] = Medium.ref; equation props.T = T; port.m = -1; port.h = props.h; port.X = X; end {tag}_Source;\n"
        f"model {tag}_Sink replaceable package Medium = {tag}_Mix constrainedby {tag}_Mix; {tag}_Port port(redeclare package Medium = Medium); Real h = inStream(port.h); Real X[:] = inStream(port.X); equation port.p = 2; port.h = 0; port.X = Medium.ref; end {tag}_Sink;\n"
        f"model {tag}_Plant replaceable package Medium = {tag}_Gas constrainedby {tag}_Mix; {tag}_Source s(redeclare package Medium = Medium); {tag}_Heater w[2](redeclare each package Medium = Medium); {tag}_Sink k(redeclare package Medium = Medium); Real y = Medium.twice(w[1].s);"
        f" equation connect(s.port, w[1].a); connect(w[1].b, w[2].a); connect(w[2].b, k.port); end {tag}_Plant;\n"
    )
    own = m.chance()
    given = "{" + ", ".join(map(repr, x)) + "}"
    mods = f"s(X = {given}, T = 1 + 0.1*({warm[0]})), w(q = {{{heat[0]}, 2*({heat[0]})}})"
    part.inside += f"{tag}_Plant {tag}_o({mods}{f', redeclare package Medium = {tag}_Gas2' if own else ''}); {tag}_Plant {tag}_r(redeclare package Medium = {tag}_Gas2, s.T = 1, w(each q = 0));\n"
    fractions = [*x, 1 - sum(x)]
    c = sum(a * b for a, b in zip(cp, fractions, strict=True))
    even = [0.125] * (n - 1)
    c2 = sum(a * b for a, b in zip(cp, [*even, 1 - sum(even)], strict=True))
    part.checks += [
        (f"{tag}_o.s.port.h", f"(1 + 0.1*({warm[1]}))*{c!r} + 0.2"), (f"{tag}_o.k.h", f"(1 + 0.1*({warm[1]}))*{c!r} + 0.2 + 3*({heat[1]})"),
        (f"{tag}_o.k.X[1]", repr(x[0])), (f"{tag}_o.y", f"2*(3*{c!r} + 0.2) + {n}"), (f"{tag}_o.w[2].g", "9" if own else "8"),
        (f"{tag}_r.k.h", f"{c2!r} + 0.2"), (f"{tag}_r.s.props.Xi[{n}]", repr(1 - sum(even))),
    ]  # fmt: skip
    return part


def mixing(m: Maker, tag: str) -> Part:
    """Several flows that turn round at a junction; each port sees the mean of what flows in elsewhere."""
    part, n = Part("mixing streams", tag), m.r.randint(2, 4)
    at, size = [m.event() for _ in range(n)], [m.pick(-1, 1) * round(m.r.uniform(0.3, 2), 3) for _ in range(n)]
    h = [wave(m)[0] for _ in range(n + 1)]
    part.classes += (
        f"connector {tag}_Port Real p; flow Real m; stream Real h; end {tag}_Port; connector {tag}_Pair {tag}_Port one; {tag}_Port two; end {tag}_Pair;\n"
        f"model {tag}_Flow {tag}_Port port; input Real m; input Real h; Real seen = inStream(port.h); Real there = actualStream(port.h); equation port.m = m; port.h = h; end {tag}_Flow;\n"
        f"model {tag}_Rest {tag}_Port port; input Real h; Real seen = inStream(port.h); Real there = actualStream(port.h); equation port.p = 1; port.h = h; end {tag}_Rest;\n"
        f"model {tag}_Box {tag}_Port port; {tag}_Flow f; equation connect(f.port, port); end {tag}_Box;\n"
    )
    boxed = m.chance()
    inner, kind = (".f", "Box") if boxed else ("", "Flow")
    flows = "{" + ", ".join(f"if time >= {a!r} then {-s!r} else {s!r}" for a, s in zip(at, size, strict=True)) + "}"
    heats = "{" + ", ".join(e[0] for e in h[:n]) + "}"
    mods = f"m = {flows}, h = {heats}"
    part.inside += f"{tag}_{kind} {tag}_s[{n}]({f'f({mods})' if boxed else mods}); {tag}_Rest {tag}_k(h = {h[n][0]});\n"
    ends = [f"{tag}_s[{i + 1}].port" for i in range(n)] + [f"{tag}_k.port"]
    m.r.shuffle(ends)
    pairs = [m.pick((a, b), (b, a)) for a, b in itertools.pairwise(ends)]
    m.r.shuffle(pairs)
    part.equations += " ".join(f"connect({a}, {b});" for a, b in pairs) + "\n"
    part.python += (
        f"def {tag}_at(t):\n    m = [-s if t >= a else s for a, s in zip({at!r}, {size!r})]\n    m.append(-sum(m))\n    h = [V(t).value(c) for c in {[e[1] for e in h]!r}]\n"
        f"    def seen(k):\n        w = [max(-x, 0) if i != k else 0 for i, x in enumerate(m)]\n        return sum(a*b for a, b in zip(w, h))/sum(w) if sum(w) > 0.01 else unsure()\n"
        f"    return seen, lambda k: unsure() if abs(m[k]) < 0.01 else seen(k) if m[k] > 0 else h[k]\n"
    )
    for k in range(n + 1):
        name = f"{tag}_k" if k == n else f"{tag}_s[{k + 1}]{inner}"
        part.checks += [(f"{name}.there", f"{tag}_at(t)[1]({k})")]
        if k < n:
            part.checks += [(f"{name}.seen", f"{tag}_at(t)[0]({k}) if {size[k]!r}*(1 if t < {at[k]!r} else -1) > 0 else unsure()")]  # fmt: skip
    return part


def plugs(m: Maker, tag: str) -> Part:
    """Connectors of arrays of connectors, conditional arrays, buses with arrays that are connected whole and in parts."""
    part, n, k = Part("plugs and buses", tag), m.r.randint(2, 4), m.r.randint(1, 3)
    r = [[round(m.r.uniform(0.5, 3), 3) for _ in range(n)] for _ in range(k)]
    has, u = m.chance(), [wave(m)[0] for _ in range(n)]
    part.classes += (
        f"connector {tag}_Pin Real v; flow Real i; end {tag}_Pin; connector {tag}_Plug parameter Integer m = 3; {tag}_Pin pin[m]; end {tag}_Plug;\n"
        f"connector {tag}_In = input Real; connector {tag}_Out = output Real; expandable connector {tag}_Bus end {tag}_Bus;\n"
        f"model {tag}_R parameter Integer m = 3; parameter Real R[m] = ones(m); {tag}_Plug a(m = m), b(m = m); {tag}_Out i[m] = a.pin.i; equation a.pin.i + b.pin.i = zeros(m); a.pin.v - b.pin.v = R.*a.pin.i; end {tag}_R;\n"
        f"model {tag}_Star parameter Integer m = 3; {tag}_Plug p(m = m); {tag}_Pin n; equation for j in 1:m loop connect(p.pin[j], n); end for; end {tag}_Star;\n"
        f"model {tag}_Src parameter Integer m = 3; {tag}_Plug p(m = m); input Real u[m]; equation p.pin.v = u; end {tag}_Src; model {tag}_Gnd {tag}_Pin p; equation p.v = 0; end {tag}_Gnd;\n"
        f"block {tag}_Sum parameter Integer n = 1; {tag}_In u[n]; Real y = sum(u); end {tag}_Sum; block {tag}_One {tag}_In u; end {tag}_One;\n"
    )
    rows = "{" + ", ".join("{" + ", ".join(map(repr, row)) + "}" for row in r) + "}"
    part.inside += (
        f"parameter Boolean {tag}_has = {'true' if has else 'false'}; {tag}_R {tag}_r[{k}](each m = {n}, R = {rows}), {tag}_x[2](each m = {n}, each R = fill(2, {n})) if {tag}_has; {tag}_Star {tag}_s(m = {n}); {tag}_Gnd {tag}_g;\n"
        f"{tag}_Src {tag}_u(m = {n}, u = {{{', '.join(e[0] for e in u)}}}); {tag}_Bus {tag}_b, {tag}_c; {tag}_Sum {tag}_t(n = {n}); {tag}_One {tag}_o, {tag}_q;\n"
    )
    connects = [f"for i in 1:{k} loop connect({tag}_u.p, {tag}_r[i].a); connect({tag}_r[i].b, {tag}_s.p); end for;", f"connect({tag}_s.n, {tag}_g.p);",
        f"for i in 1:2 loop connect({tag}_u.p, {tag}_x[i].a); connect({tag}_x[i].b, {tag}_s.p); end for;",
        f"connect({tag}_r[{k}].i, {tag}_b.currents);", f"connect({tag}_b.currents[{m.r.randint(1, n)}], {tag}_o.u);", f"connect({tag}_b, {tag}_c);",
        f"connect({tag}_c.currents, {tag}_t.u);", f"connect({tag}_c.currents[1], {tag}_q.u);"]  # fmt: skip
    which = int(connects[4].split("[")[1].split("]")[0])
    m.r.shuffle(connects)
    part.equations += "\n".join(connects) + "\n"
    for j in range(n):
        total = sum(1 / row[j] for row in r) + (1 if has else 0)
        part.checks.append((f"{tag}_u.p.pin[{j + 1}].i", f"-({u[j][1]})*{total!r}"))
    part.checks += [
        (f"{tag}_t.y", " + ".join(f"({e[1]})/{r[-1][j]!r}" for j, e in enumerate(u))), (f"{tag}_o.u", f"({u[which - 1][1]})/{r[-1][which - 1]!r}"),
        (f"{tag}_q.u", f"({u[0][1]})/{r[-1][0]!r}"),
    ]  # fmt: skip
    return part


def external(m: Maker, tag: str) -> Part:
    """C with matrices, texts, Integers, Booleans and records; objects that remember what they were made with."""
    part, n, k = Part("external C", tag), m.r.randint(1, 3), m.r.randint(1, 3)
    weights, c = [m.r.randint(-3, 3) for _ in range(k)], round(m.r.uniform(-1, 1), 3)
    cells = [[real(m, signals(m), 1) for _ in range(k)] for _ in range(n)]
    b = m.booleans[0]
    part.classes += (
        f'function {tag}_f input Real a[:, :]; input String s[:]; input Integer w[size(a, 2)]; input Boolean b; output Real y[size(a, 1)]; output Integer q[2]; external "C" {tag}_work(a, size(a, 1), size(a, 2), s, size(s, 1), w, b, y, q) annotation(Include="\n'
        f"#include <string.h>\nstatic void {tag}_work(const double* a, size_t n, size_t m, const char** s, size_t ns, const int* w, int b, double* y, int* q) {{ for (size_t i = 0; i < n; i++) {{ y[i] = b ? 100 : 0; for (size_t j = 0; j < m; j++) y[i] += a[i*m + j]*w[j]; }} q[0] = (int)strlen(s[ns - 1]); q[1] = (int)n; }}\n"
        f'"); end {tag}_f;\n'
        f'class {tag}_O extends ExternalObject; function constructor input Real v[:]; input String s; output {tag}_O o; external "C" o = {tag}_new(v, size(v, 1), s) annotation(Include="\n#include <stdlib.h>\n#include <string.h>\n'
        f'static void* {tag}_new(const double* v, size_t n, const char* s) {{ double* o = (double*)malloc(sizeof(double)); *o = (double)strlen(s); for (size_t i = 0; i < n; i++) *o += v[i]; return o; }}\nstatic void {tag}_end(void* o) {{ free(o); }}\nstatic double {tag}_get(void* o, double x) {{ return *(double*)o*x; }}\n"); end constructor;\n'
        f'  function destructor input {tag}_O o; external "C" {tag}_end(o); end destructor; end {tag}_O;\n'
        f'function {tag}_g input {tag}_O o; input Real x; output Real y; external "C" y = {tag}_get(o, x); end {tag}_g;\n'
        f'model {tag}_W parameter Real v[:] = {{1}}; {tag}_O o = {tag}_O(v, "abc"); input Real u; Real y = {tag}_g(o, u); end {tag}_W;\n'
    )
    matrix = "[" + "; ".join(", ".join(e[0] for e in row) for row in cells) + "]"
    x = m.real()
    part.inside += f"Real {tag}_y[{n}]; Integer {tag}_q[2]; {tag}_W {tag}_w[2](v = {{{{1, {c!r}}}, {{2, 3}}}}, u = {{{x}, 2*{x}}}); parameter Real {tag}_p = {tag}_g({tag}_w[1].o, 2);\n"
    w = "{" + ", ".join(map(str, weights)) + "}"
    part.equations += f'({tag}_y, {tag}_q) = {tag}_f({matrix}, {{"a", "four"}}, {w}, {b});\n'
    for i, row in enumerate(cells):
        value = " + ".join(f"{weights[j]}*({e[1]})" for j, e in enumerate(row))
        part.checks.append((f"{tag}_y[{i + 1}]", f"{value} + (100 if {b} else 0)"))
    part.checks += [(f"{tag}_q[1]", "4"), (f"{tag}_q[2]", str(n)), (f"{tag}_w[1].y", f"{4 + c!r}*{x}"), (f"{tag}_w[2].y", f"16*{x}"), (f"{tag}_p", repr(2 * (4 + c)))]  # fmt: skip
    publish(m, part, f"{tag}_z", f"tanh(8*{x})")
    part.inside += f"Real {tag}_z = tanh(0.5*{tag}_w[2].y);\n"
    return part
