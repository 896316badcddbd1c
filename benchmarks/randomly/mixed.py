"""Combinations: kinds of structure inside one another, as libraries have them."""

from __future__ import annotations

from randomly.expressions import boolean, real, signals
from randomly.parts import GRID, Maker, Part
from randomly.solving import publish, wave


def branches(m: Maker, tag: str) -> Part:
    """If-equations: of parameters, of events, nested, with for loops and different unknowns on the left."""
    part, n = Part("if-equations", tag), m.r.randint(2, 4)
    b, x, z = boolean(m, signals(m), 1), real(m, signals(m), 2), real(m, signals(m), 2)
    k = m.pick("true", "false")
    part.inside += f"parameter Boolean {tag}_k = {k}{m.pick('', ' annotation(Evaluate=true)')}; parameter Integer {tag}_n = {n}; Real {tag}_v[{tag}_n], {tag}_a, {tag}_c;\n"
    part.equations += (
        f"if {b[0]} then {tag}_a + {tag}_c = {x[0]}; {tag}_a - {tag}_c = 1; else {tag}_c = {z[0]}; {tag}_a = 2*{tag}_c; end if;\n"
        f"if {tag}_k then for i in 1:{tag}_n loop if i == {n} then {tag}_v[i] = {tag}_a; else {tag}_v[i] = i*{tag}_c; end if; end for;\n"
        f"elseif {tag}_n > 100 then {tag}_v = zeros({tag}_n); else {tag}_v[1] = {tag}_c; for i in 2:size({tag}_v, 1) loop {tag}_v[i] = {tag}_v[i - 1] + {tag}_a; end for; end if;\n"
    )
    part.defs += [
        (f"{tag}_a", f"(({x[1]}) + 1)/2 if {b[1]} else 2*({z[1]})"),
        (f"{tag}_c", f"(({x[1]}) - 1)/2 if {b[1]} else ({z[1]})"),
    ]
    last = f"{tag}_a" if k == "true" else f"{tag}_c + {n - 1}*{tag}_a"
    part.checks += [
        (f"{tag}_a", f"{tag}_a"),
        (f"{tag}_c", f"{tag}_c"),
        (f"{tag}_v[{n}]", last),
        (f"{tag}_v[1]", f"{tag}_c"),
    ]
    return part


def state_arrays(m: Maker, tag: str) -> Part:
    """States in arrays of components of arrays; starts by slices, arrays of free parameters, reinit in a loop."""
    part, n = Part("arrays of states", tag), m.r.randint(1, 3)
    x = [wave(m) for _ in range(2 * n)]
    every = m.pick(2, 3, 5) / GRID
    jumps = m.chance()
    start = [e[0][0].replace("time", "0") for e in x]
    part.classes += (
        f"model {tag}_Part parameter Integer n = 1; parameter Real s[n] = zeros(n); input Real u[n], du[n]; Real x[n](start = s, each fixed = true);"
        f" Real e = sum(x)/n; equation der(x) = du - 2*(x - u);"
        + (
            f" for i in 1:n loop when sample({every!r}, {every!r}) then reinit(x[i], u[i] + 0*i); end when; end for;"
            if jumps
            else ""
        )
        + f" end {tag}_Part;\n"
    )
    rows = [", ".join(e[0][0] for e in x[k * n : (k + 1) * n]) for k in (0, 1)]
    rates = [", ".join(e[1][0] for e in x[k * n : (k + 1) * n]) for k in (0, 1)]
    starts = [", ".join(start[k * n : (k + 1) * n]) for k in (0, 1)]
    how = m.pick("s", "free")
    if how == "free":
        part.inside += f"parameter Real {tag}_p[2, {n}](each fixed = false, each start = 0.1);\n"
        part.sections += f"initial equation\n  2*{tag}_p + {tag}_p.*{tag}_p.*{tag}_p = (function_({{{{{starts[0]}}}, {{{starts[1]}}}}}));\n".replace(
            "function_", f"{tag}_cube"
        )
        part.classes += f"function {tag}_cube input Real a[:, :]; output Real b[size(a, 1), size(a, 2)]; algorithm b := 2*a + a.^3; end {tag}_cube;\n"
        given = f"{tag}_p"
    else:
        given = f"{{{{{starts[0]}}}, {{{starts[1]}}}}}"
    part.inside += (
        f"{tag}_Part {tag}_o[2](each n = {n}, s = {given}, u = {{{{{rows[0]}}}, {{{rows[1]}}}}}, du = {{{{{rates[0]}}}, {{{rates[1]}}}}});\n"
        f"Real {tag}_t[{n}, 2] = transpose({tag}_o.x); Real {tag}_e[2] = {tag}_o[:].e;\n"
    )
    for k in (0, 1):
        for i in range(n):
            part.checks += [
                (f"{tag}_o[{k + 1}].x[{i + 1}]", x[k * n + i][0][1]),
                (f"{tag}_t[{i + 1},{k + 1}]", x[k * n + i][0][1]),
            ]
    return part


def sized(m: Maker, tag: str) -> Part:
    """A constant of a redeclared package sizes connectors, records and loops; conditional connectors; inner in between."""
    part, n = Part("sizes from packages", tag), m.r.randint(1, 3)
    x = [wave(m)[0] for _ in range(n)]
    has = m.chance()
    part.classes += (
        f'package {tag}_P0 constant Integer n = 1; constant String names[n] = {{"one"}}; record S Real h; Real X[n]; end S;\n'
        f"  replaceable partial function mean input S s; output Real y; end mean; end {tag}_P0;\n"
        f"package {tag}_P1 extends {tag}_P0(n = {n}, names = {{{', '.join(chr(34) + 's' + str(k) + chr(34) for k in range(n))}}});\n"
        f"  redeclare function extends mean algorithm y := s.h + sum(s.X[i]*i for i in 1:n); end mean; end {tag}_P1;\n"
        f"connector {tag}_Q replaceable package M_ = {tag}_P0; Real p; flow Real m; parameter Real w[M_.n] = ones(M_.n); end {tag}_Q;\n"
        f"model {tag}_Load {tag}_Q q; equation q.m = 2; end {tag}_Load; model {tag}_Stop {tag}_Q q; equation q.p = 1; end {tag}_Stop;\n"
        f"model {tag}_Half outer Real {tag}_gain; replaceable package M_ = {tag}_P0; parameter Boolean has = true; {tag}_Q q[M_.n](redeclare each package M_ = M_);"
        f" {tag}_Q extra(redeclare package M_ = M_) if has; {tag}_Load load(q(redeclare package M_ = M_)) if has;"
        f" M_.S s; Real y = {tag}_gain*M_.mean(s); equation connect(extra, load.q); for i in 1:M_.n loop q[i].p = s.X[i]; end for; end {tag}_Half;\n"
        f"model {tag}_Whole inner Real {tag}_gain = 3; replaceable package M_ = {tag}_P1 constrainedby {tag}_P0; parameter Boolean has = {'true' if has else 'false'};"
        f" {tag}_Half a(redeclare package M_ = M_, has = has), b(redeclare final package M_ = M_, has = false);"
        f" input Real u[M_.n]; {tag}_Stop stop(q(redeclare package M_ = M_)) if has; equation connect(a.q, b.q); connect(a.extra, stop.q); a.s.X = u; a.s.h = 0.5; b.s.h = a.y;"
        f" for i in 1:M_.n loop a.q[i].m = i*u[i]; end for; end {tag}_Whole;\n"
    )
    part.inside += f"{tag}_Whole {tag}_o(u = {{{', '.join(e[0] for e in x)}}});\n"
    total = " + ".join(f"{k + 1}*({e[1]})" for k, e in enumerate(x))
    part.checks += [
        (f"{tag}_o.a.y", f"3*(0.5 + {total})"), (f"{tag}_o.b.y", f"3*(3*(0.5 + {total}) + {total})"),
        (f"{tag}_o.b.q[{n}].m", f"-{n}*({x[-1][1]})"), (f"{tag}_o.b.s.X[{n}]", x[-1][1]),
    ]  # fmt: skip
    if has:
        part.checks.append((f"{tag}_o.stop.q.m", "-2"))
    return part


def recorded(m: Maker, tag: str) -> Part:
    """A buffer of records that a function shifts in a when; subscripts of discrete values; loops in algorithms."""
    part, n, every = Part("records in a when", tag), m.r.randint(2, 4), m.pick(1, 2) / GRID
    x = m.reals[0]
    part.classes += (
        f"record {tag}_R Real v; Integer n; end {tag}_R;\n"
        f"function {tag}_push input {tag}_R b[:]; input Real v; output {tag}_R c[size(b, 1)]; output Integer k = 0; algorithm\n"
        f"  for i in size(b, 1):-1:2 loop c[i] := b[i - 1]; if b[i - 1].n > 2 then k := k + 1; end if; end for;\n  c[1].v := v; c[1].n := b[1].n + 1; end {tag}_push;\n"
    )
    part.inside += (
        f"{tag}_R {tag}_b[{n}](v(each start = 0, each fixed = true), n(each start = 0, each fixed = true)); Integer {tag}_k(start = 0, fixed = true), {tag}_i(start = 1, fixed = true);\n"
        f"Real {tag}_y, {tag}_z, {tag}_w[{n}], {tag}_s;\n"
    )
    body = f"when sample({every!r}, {every!r}) then ({tag}_b, {tag}_k) {{op}} {tag}_push({{p}}{tag}_b{{q}}, {x}); {tag}_i {{op}} 1 + mod({{p}}{tag}_i{{q}}, {n}); end when;"
    if m.chance():
        part.equations += (
            body.format(op="=", p="pre(", q=")").replace(
                f"pre({tag}_b)",
                f"{{{', '.join(f'{tag}_R(pre({tag}_b[{k + 1}].v), pre({tag}_b[{k + 1}].n))' for k in range(n))}}}",
            )
            + "\n"
        )
    else:
        part.sections += (
            "algorithm\n  " + body.format(op=":=", p="", q="").replace(f"mod({tag}_i", f"mod(pre({tag}_i)") + "\n"
        )
    part.equations += (
        f"{tag}_y = {tag}_b[{tag}_i].v; {tag}_z = {tag}_w[{tag}_i]; {tag}_w = {tag}_b.v + {{i for i in 1:{n}}};\n"
    )
    part.sections += f"algorithm\n  {tag}_s := 0; for i in 1:{n} loop if i == {tag}_i then {tag}_s := {tag}_s + 100*{tag}_b[i].n; else {tag}_s := {tag}_s + i; end if; end for;\n"
    part.python += (
        f"def {tag}_run(t):\n    b, k, i = [(0.0, 0)]*{n}, 0, 1\n    for s in ticks(t, {every!r}, {every!r}):\n"
        f"        k = sum(e[1] > 2 for e in b[:-1])\n        b = [(V(s)[{x!r}], b[0][1] + 1), *b[:-1]]\n        i = 1 + i % {n}\n    return b, k, i\n"
    )
    part.defs.append((f"{tag}_all", f"{tag}_run(t)"))
    b, i = f"{tag}_all[0]", f"{tag}_all[2]"
    part.checks += [
        (f"{tag}_y", f"{b}[{i} - 1][0]"), (f"{tag}_z", f"{b}[{i} - 1][0] + {i}"), (f"{tag}_k", f"{tag}_all[1]"),
        (f"{tag}_b[{n}].v", f"{b}[-1][0]"), (f"{tag}_s", f"100*{b}[{i} - 1][1] + {n * (n + 1) // 2} - {i}"),
    ]  # fmt: skip
    return part


def clocked_arrays(m: Maker, tag: str) -> Part:
    """Clocked arrays and records through functions; an integrator with a method; backSample; rates that meet."""
    part, n, c = Part("clocked arrays", tag), m.pick(1, 2), round(m.r.uniform(-0.5, 0.5), 3)
    every, x, z = n / GRID, m.reals[0], m.reals[1]
    part.classes += (
        f"record {tag}_R Real v[2]; Integer k; end {tag}_R;\n"
        f"function {tag}_next input {tag}_R r; input Real u[2]; output {tag}_R s; algorithm s.v := {c!r}*r.v[{{2, 1}}] + u; s.k := r.k + 1; end {tag}_next;\n"
        f"block {tag}_B input Real u[2]; output Real y; {tag}_R r(v(start = {{1, 2}}), k(start = 0)); equation r = {tag}_next(previous(r), u); y = r.v[1] + r.k; end {tag}_B;\n"
    )
    part.inside += f"{tag}_B {tag}_b; Real {tag}_y, {tag}_u[2], {tag}_q, {tag}_h[2]; Real {tag}_x(start = 1, fixed = true), {tag}_xx;\n"
    part.equations += (
        f"{tag}_u = {{sample({x}, Clock({n}, {GRID})), sample({z})}}; {tag}_b.u = {tag}_u; {tag}_y = hold({tag}_b.y); {tag}_h = hold({tag}_b.r.v);\n"
        f"{tag}_q = hold(backSample(shiftSample({tag}_b.r.v[2], 2), 1));\n"
        f'when Clock(Clock(1, {GRID}), solverMethod="ExplicitEuler") then der({tag}_x) = -{tag}_x; end when; {tag}_xx = hold({tag}_x);\n'
    )
    part.python += (
        f"def {tag}_run(t):\n    v, k, found = (1, 2), 0, []\n    for s in ticks(t, 0.0, {every!r}):\n        k += 1\n"
        f"        v = ({c!r}*v[1] + V(s)[{x!r}], {c!r}*v[0] + V(s)[{z!r}])\n        found.append((*v, k))\n    return found\n"
    )
    part.defs.append((f"{tag}_all", f"{tag}_run(t)"))
    part.checks += [
        (f"{tag}_y", f"{tag}_all[-1][0] + {tag}_all[-1][2]"), (f"{tag}_h[2]", f"{tag}_all[-1][1]"),
        (f"{tag}_q", f"{tag}_all[-1][1] if len({tag}_all) > 2 else unsure()"), (f"{tag}_xx", f"(1 - 1/{GRID})**(len(ticks(t, 0.0, {1 / GRID!r})) - 1)"),
    ]  # fmt: skip
    return part


def others(m: Maker, tag: str) -> Part:
    """Operators that few models use: semiLinear, transports, cardinality, homotopy, inverse functions, names, ranges."""
    part, x, w = Part("rare operators", tag), real(m, signals(m), 1), wave(m)[0]
    part.classes += (
        f"function {tag}_f input Real u; input Real k; output Real y; algorithm y := u^3*k + k*u; annotation(inverse(u = {tag}_g(y, k)), Inline={m.pick('true', 'false')}); end {tag}_f;\n"
        f"function {tag}_g input Real y; input Real k; output Real u; protected Real d; algorithm u := y/k; for i in 1:100 loop d := (u^3 + u - y/k)/(3*u^2 + 1); u := u - d; if abs(d) < 1e-15 then break; end if; end for; end {tag}_g;\n"
        f"connector {tag}_C Real e; flow Real f; end {tag}_C; model {tag}_T {tag}_C c; Integer n = cardinality(c); equation if cardinality(c) == 0 then c.e = 5; else c.f = {tag}_f(0.1, 1)*0; end if; end {tag}_T;\n"
        f"model {tag}_S {tag}_C c; equation c.e = 2; end {tag}_S;\n"
    )
    part.inside += (
        f"Real {tag}_u; Real {tag}_l = semiLinear({x[0]}, 2, 3); {tag}_T {tag}_t, {tag}_v; {tag}_S {tag}_s;\n"
        f"Real {tag}_o, {tag}_i; Real {tag}_p(start=0, fixed=true); parameter Real {tag}_r[:] = 1:0.5:3; parameter Real {tag}_e[0, 2] = fill(1, 0, 2); Real {tag}_z = sum({tag}_e) + size({tag}_e, 2) + {tag}_r[end];\n"
    )
    part.equations += (
        f"{tag}_f({tag}_u, 2) = 2*({w[0]})^3 + 2*({w[0]}); connect({tag}_t.c, {tag}_s.c); der({tag}_p) = 2;\n"
        f"({tag}_i, {tag}_o) = spatialDistribution({w[0]}, 0, {tag}_p, true, {{0, 1}}, {{7, 7}});\n"
    )
    u = f"({x[1]})"
    part.checks += [
        (f"{tag}_u", w[1]), (f"{tag}_l", f"{u}*(2 if {u} >= 0 else 3)"), (f"{tag}_t.n", "1"), (f"{tag}_t.c.e", "2"), (f"{tag}_v.c.e", "5"),
        (f"{tag}_z", "5"), (f"{tag}_o", "7 if t < 0.45 else unsure()"),
    ]  # fmt: skip
    publish(m, part, f"{tag}_u2", f"0.5*({w[1]})")
    part.inside += f"Real {tag}_u2 = 0.5*{tag}_u;\n"
    return part
