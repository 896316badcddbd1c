"""Structure at depth: modifications through arrays of arrays, algorithms that go over events, functions at run time."""

from __future__ import annotations

from randomly.expressions import boolean, integer, real, signals
from randomly.parts import GRID, Maker, Part
from randomly.solving import publish, wave


def nested(m: Maker, tag: str) -> Part:
    """Modifications of elements two levels down: each, whole arrays, comprehensions, final; slices through both."""
    part, n, k = Part("nested arrays", tag), m.r.randint(1, 3), m.r.randint(1, 3)
    rows = [[round(m.r.uniform(-2, 2), 3) for _ in range(k)] for _ in range(n)]
    literal = "{" + ", ".join("{" + ", ".join(map(repr, row)) + "}" for row in rows) + "}"
    part.classes += (
        f"model {tag}_C parameter Real p = 1; parameter Real v[2] = {{p, 2*p}}; parameter Boolean on = true; Real y; input Real u; Real z if on; equation y = p*u + v[2]; end {tag}_C;\n"
        f"model {tag}_B parameter Integer k = 1; parameter Real q[k] = ones(k); {tag}_C c[k](p = q); input Real u; Real s = sum(c.y); equation c.u = fill(u, k); end {tag}_B;\n"
    ).replace(" Real z if on;", "")
    x = real(m, signals(m), 1)
    ways: list[tuple[str, list[list[float]]]] = [
        (f"q = {literal}", rows),
        (f"q = {{{{i*j for j in 1:{k}}} for i in 1:{n}}}", [[(i + 1) * (j + 1) for j in range(k)] for i in range(n)]),
        (f"each q = {{j for j in 1:{k}}}", [[j + 1 for j in range(k)] for _ in range(n)]),
        (f"c(p = {literal})", rows),
        ("c(each p = 3)", [[3] * k for _ in range(n)]),
        (f"each c(p = {{{', '.join(map(repr, rows[0]))}}})", [rows[0]] * n),
    ]
    p, values = m.pick(*ways)
    v = m.pick("", "", ", c(each v = {5, 7})" if not p.startswith(("c(", "each c(")) else "")
    part.inside += f"{tag}_B {tag}_b[{n}](each k = {k}, {p}{v}, each u = {x[0]}); Real {tag}_y[{n}, {k}] = {tag}_b.c.y; Real {tag}_s = sum({tag}_b[end:-1:1].c[1].p); parameter Real {tag}_v[{n}, {k}] = {tag}_b.c.v[2];\n"
    for i in range(n):
        for j in range(k):
            last = 7 if v else 2 * values[i][j]
            part.checks += [
                (f"{tag}_b[{i + 1}].c[{j + 1}].y", f"{values[i][j]!r}*({x[1]}) + {last!r}"),
                (f"{tag}_y[{i + 1},{j + 1}]", f"{values[i][j]!r}*({x[1]}) + {last!r}"),
            ]
    part.checks.append((f"{tag}_s", repr(sum(float(row[0]) for row in values))))
    return part


def events_in_loops(m: Maker, tag: str) -> Part:
    """An algorithm section over arrays, with relations, ifs in for loops, and a when behind them that reads the result."""
    part, n, every = Part("algorithm over events", tag), m.r.randint(2, 4), m.pick(1, 2) / GRID
    a = signals(m)
    x = [real(m, a, 2) for _ in range(n)]
    b, level = boolean(m, a, 1), m.number(-1, 1)
    part.inside += f"Real {tag}_v[{n}], {tag}_top, {tag}_low; Integer {tag}_k, {tag}_c(start=0, fixed=true); Real {tag}_u[{n}] = {{{', '.join(e[0] for e in x)}}}; discrete Real {tag}_h(start=0, fixed=true);\n"
    part.sections += (
        f"algorithm\n  {tag}_k := 0; {tag}_top := -100; {tag}_low := 100;\n"
        f"  for i in 1:{n} loop\n    {tag}_v[i] := if {b[0]} then {tag}_u[i] else -{tag}_u[{n} + 1 - i];\n"
        f"    if {tag}_v[i] > ({level}) then {tag}_k := {tag}_k + i; {tag}_top := max({tag}_top, {tag}_v[i]); else {tag}_low := min({tag}_low, {tag}_v[i]); end if;\n  end for;\n"
        f"  when sample({every!r}, {every!r}) then {tag}_c := pre({tag}_c) + {tag}_k; for i in 1:{n} loop if i == 1 then {tag}_h := {tag}_v[1]; else {tag}_h := 0.5*{tag}_h + {tag}_v[i]; end if; end for; end when;\n"
    )
    part.python += (
        f"def {tag}_at(t):\n    e = V(t)\n    u = [e.value(c) for c in {[e[1] for e in x]!r}]\n    b = e.value({b[1]!r})\n"
        f"    v = [u[i] if b else -u[{n} - 1 - i] for i in range({n})]\n    k, top, low = 0, -100.0, 100.0\n"
        f"    for i, y in enumerate(v, 1):\n        if less({level}, y): k, top = k + i, max(top, y)\n        else: low = min(low, y)\n    return v, k, top, low\n"
        f"def {tag}_past(t):\n    c, h = 0, 0.0\n    for s in ticks(t, {every!r}, {every!r}):\n        v, k, *_ = {tag}_at(s)\n        c += k\n        h = v[0]\n"
        f"        for y in v[1:]: h = 0.5*h + y\n    return c, h\n"
    )
    part.defs += [(f"{tag}_all", f"{tag}_at(t)"), (f"{tag}_old", f"{tag}_past(t)")]
    part.checks += [(f"{tag}_k", f"{tag}_all[1]"), (f"{tag}_top", f"{tag}_all[2]"), (f"{tag}_low", f"{tag}_all[3]")]
    part.checks += [
        (f"{tag}_v[{n}]", f"{tag}_all[0][-1]"),
        (f"{tag}_c", f"{tag}_old[0]"),
        (f"{tag}_h", f"{tag}_old[1]"),
    ]
    return part


def run_time_sizes(m: Maker, tag: str) -> Part:
    """Local arrays whose sizes are known at run time only, arrays handed on in slices, Boolean and Integer vectors."""
    part, n = Part("sizes at run time", tag), m.r.randint(2, 5)
    i, x = integer(m, signals(m), 1), [real(m, signals(m), 1) for _ in range(n)]
    part.classes += (
        f"function {tag}_first input Real v[:]; input Integer k; output Real y; protected Real w[k]; Boolean b[k]; Integer c[:] = 1:k; algorithm\n"
        f"  w := v[1:k]; for j in 1:k loop b[j] := w[j] > 0; w[j] := if b[j] then w[j]*c[j] else -w[j]; end for;\n"
        f"  y := sum(w) + {tag}_second(w[k:-1:1]) + sum(if e then 1 else 0 for e in b); end {tag}_first;\n"
        f"function {tag}_second input Real v[:]; output Real y = 0; protected Real g[size(v, 1), 2] = [v, 2*v]; Real t[2, size(v, 1)]; algorithm\n"
        f"  t := transpose(g); for r in 1:size(t, 1), s in 1:size(t, 2) loop if s > 3 then break; end if; y := y + t[r, s]/s; end for;\n"
        f"  if size(v, 1) == 0 then y := 100; return; end if; y := y + max(t) - g[end, 1]; end {tag}_second;\n"
    )
    part.inside += f"Integer {tag}_i = mod({i[0]}, {n + 1}); Real {tag}_y = {tag}_first({{{', '.join(e[0] for e in x)}}}, {tag}_i) annotation(Evaluate=false);\n"
    part.python += (
        f"def {tag}_f(v, k):\n    b = [less(0, e) for e in v[:k]]\n    w = [e*(j + 1) if p else -e for j, (e, p) in enumerate(zip(v[:k], b))]\n"
        f"    return sum(w) + {tag}_g(w[::-1]) + sum(b)\n"
        f"def {tag}_g(v):\n    if not v: return 100\n    y = sum(f*e/s for f in (1, 2) for s, e in enumerate(v[:3], 1))\n    return y + max(max(v), 2*max(v)) - v[-1]\n"
    )
    part.defs.append((f"{tag}_i", f"({i[1]}) % {n + 1}"))
    part.checks += [(f"{tag}_i", f"{tag}_i"), (f"{tag}_y", f"{tag}_f([{', '.join(e[1] for e in x)}], {tag}_i)")]
    return part


def hierarchy(m: Maker, tag: str) -> Part:
    """A controlled plant in a class hierarchy: a replaceable controller, sampled or not, inherited connections."""
    part, x = Part("controlled plant", tag), wave(m, 2)
    k, every = round(m.r.uniform(0.5, 3), 3), m.pick(1, 2) / GRID
    sampled = m.chance()
    part.classes += (
        f"package {tag}_I connector In = input Real; connector Out = output Real; partial block SISO In u; Out y; end SISO; end {tag}_I;\n"
        f"package {tag}_L import I = R.{tag}_I; block Gain extends I.SISO; parameter Real k = 1; equation y = k*u; end Gain;\n"
        f"  block Held extends I.SISO; parameter Real k = 1; parameter Real T = {every!r}; protected discrete Real h(start = 0, fixed = true); equation when sample(0, T) then h = k*u; end when; y = h; end Held;\n"
        f"  partial model Loop replaceable I.SISO c constrainedby I.SISO; I.In w; I.Out z; protected Real e; equation connect(c.u, w); connect(c.y, z); end Loop;\n"
        f"  model Closed extends Loop(redeclare {'Held' if sampled else 'Gain'} c(k = {k})); equation e = z - w; end Closed;\n"
        f"end {tag}_L;\n"
    )
    part.inside += f"{tag}_L.Closed {tag}_o[2](c(k = {{{k}, {2 * k}}})); Real {tag}_y = 0.1*{tag}_o[1].z;\n"
    part.equations += f"{tag}_o.w = {{{x[0][0]}, 2*{tag}_o[1].z}};\n"
    u = x[0][1]
    part.python += f"def {tag}_u(t): return V(t).value({u!r})\n"
    one = f"{k}*{tag}_u(ticks(t, 0, {every!r})[-1])" if sampled else f"{k}*{tag}_u(t)"
    part.checks += [(f"{tag}_o[1].z", one), (f"{tag}_o[2].z", f"{2 * k}*2*{one}")]
    publish(m, part, f"{tag}_y", f"0.1*{one}")
    m.reals.pop()
    return part


def strange_names(m: Maker, tag: str) -> Part:
    """Quoted identifiers, names of functions of C and of Python, names that differ in case, nested classes alike."""
    part, x = Part("strange names", tag), real(m, signals(m), 2)
    names = m.r.sample(
        (
            "'a b'",
            "'x.y'",
            "'1st'",
            "double",
            "int",
            "main",
            "printf",
            "lambda",
            "self",
            "M",
            "e",
            "z",
            "NaN",
            "time_",
            "'der(x)'",
            "exit",
            "static",
            "'//'",
            "t",
            "y",
        ),
        6,
    )
    part.classes += (
        f"model {tag}_N "
        + " ".join(f"Real {n};" for n in names)
        + " input Real u; equation "
        + " ".join(f"{n} = {k + 1}*u{' + ' + names[k - 1] if k else ''};" for k, n in enumerate(names))
        + f" end {tag}_N;\n"
    )
    part.inside += (
        f"{tag}_N {tag}_n(u = {x[0]}); {tag}_N {tag}_N1[1](each u = 2); Real {tag}_z = {tag}_n.{names[-1]};\n"
    )
    total = 0
    for k, n in enumerate(names):
        total += k + 1
        part.checks.append((f"{tag}_n.{n}", f"{total}*({x[1]})"))
        part.checks.append((f"{tag}_N1[1].{n}", f"{total}*2"))
    return part
