"""What functions decide of moving values, calls that are differentiated, clocks of clocks, delays that are compared."""

from __future__ import annotations

from randomly.expressions import real, signals
from randomly.parts import GRID, Maker, Part
from randomly.solving import publish, wave


def decided(m: Maker, tag: str) -> Part:
    """Booleans, Integers, enumerations, Strings, fields of records that functions make; whens and ifs of them."""
    part, at, k = Part("decided by functions", tag), m.event(), m.r.randint(1, 4)
    note = m.pick("", "annotation(Inline=true);", "annotation(Inline=false);", "annotation(Inline=false);")
    x, level = f"{tag}_x", repr(k * at)
    part.classes += (
        f"type {tag}_E = enumeration(low, high);\n"
        f"record {tag}_S Real p; Integer phase; Boolean hot; {tag}_E e; end {tag}_S;\n"
        f"function {tag}_b input Real u; output Boolean y; algorithm y := u >= {level}; {note} end {tag}_b;\n"
        f"function {tag}_i input Real u; output Integer y; output Real z; algorithm y := if u >= {level} then 7 else 3; z := 2*u; {note} end {tag}_i;\n"
        f"function {tag}_e input Real u; output {tag}_E y; algorithm if u >= {level} then y := {tag}_E.high; else y := {tag}_E.low; end if; {note} end {tag}_e;\n"
        f'function {tag}_w input Real u; output String y; algorithm y := if u >= {level} then "up" else "down"; {note} end {tag}_w;\n'
        f"function {tag}_set input Real u; output {tag}_S s; algorithm s := {tag}_S(u, if u >= {level} then 2 else 1, not u < {level}, {tag}_e(u)); {note} end {tag}_set;\n"
        f"function {tag}_use input {tag}_S s; output Real y; algorithm y := s.p + (if s.phase == 2 then 10 else 0) + (if s.hot then 100 else 0) + 1000*Integer(s.e); {note} end {tag}_use;\n"
        f"function {tag}_both input Real u; output Integer y; output Boolean z; algorithm y := {tag}_i(u); z := {tag}_b(u); {note} end {tag}_both;\n"
    )
    part.inside += m.pick(f"Real {x} = {k}*time;\n", f"Real {x}(start=0, fixed=true);\n")
    part.equations += f"der({x}) = {k};\n" if "start" in part.inside else ""
    up = f"(t >= {at!r})"
    ways = [
        (f"Boolean {tag}_v = not {tag}_b({x});", f"not {up}"),
        (f"Boolean {tag}_v = {tag}_b({x}) and {m.booleans[0]};", f"{up} and {m.booleans[0]}"),
        (f"Integer {tag}_v = {tag}_i({x}) + {m.integers[0]};", f"(7 if {up} else 3) + {m.integers[0]}"),
        (f"Boolean {tag}_v = {tag}_e({x}) == {tag}_E.high;", up),
        (f"{tag}_E {tag}_v = {tag}_e({x});", f"1 + {up}"),
        (f'Boolean {tag}_v = {tag}_w({x}) <> "down";', up),
        (f"Integer {tag}_v = if {tag}_b({x}) then 5 else {m.integers[0]};", f"5 if {up} else {m.integers[0]}"),
        (f"Integer {tag}_v = sum({tag}_i({{{x}, {x}}}));", f"14 if {up} else 6"),
    ]
    declared, value = m.pick(*ways)
    part.inside += f"{declared} {tag}_S {tag}_s = {tag}_set({x}); Real {tag}_u = {tag}_use({tag}_s); Integer {tag}_n, {tag}_p, {tag}_k(start=0, fixed=true); Real {tag}_z; Boolean {tag}_q, {tag}_r = {tag}_s.phase == 2;\n"
    condition = m.pick(f"{tag}_b({x})", f"{tag}_i({x}) > 5", f'{tag}_w({x}) == "up"', f"{tag}_s.hot", f"{tag}_q")
    part.equations += f"({tag}_n, {tag}_z) = {tag}_i({x}); ({tag}_p, {tag}_q) = {tag}_both({x}); when {condition} then {tag}_k = pre({tag}_k) + 1; end when;\n"
    part.checks += [
        (f"{tag}_v", value), (f"{tag}_s.phase", f"1 + {up}"), (f"{tag}_s.hot", up), (f"{tag}_s.e", f"1 + {up}"), (f"{tag}_r", up),
        (f"{tag}_u", f"{k}*t + (1110 if {up} else 0) + 1000"), (f"{tag}_n", f"7 if {up} else 3"), (f"{tag}_z", f"2*{k}*t"),
        (f"{tag}_p", f"7 if {up} else 3"), (f"{tag}_q", up), (f"{tag}_k", f"1 if {up} else 0"),
    ]  # fmt: skip
    return part


def calls_differentiated(m: Maker, tag: str) -> Part:
    """`der` of expressions with calls in them: of products, of records, of arrays, twice."""
    part, x, k = Part("derivatives of calls", tag), wave(m, 2), round(m.r.uniform(0.5, 2), 3)
    note = m.pick("", "annotation(Inline=false);", "annotation(Inline=false, smoothOrder=3);")
    part.classes += (
        f"record {tag}_R Real a; Real v[2]; end {tag}_R;\n"
        f"function {tag}_f input Real u; input Real k = {k!r}; output Real y; protected Real s = 0; algorithm for i in 1:2 loop s := s + k*u^i; end for; y := s; {note} end {tag}_f;\n"
        f"function {tag}_g input {tag}_R r; output {tag}_R q; algorithm q := {tag}_R(r.a*r.v[2], {{sin(r.v[1]), r.a}}); {note} end {tag}_g;\n"
        f"function {tag}_h input Real v[:]; output Real y[size(v, 1)]; algorithm y := {{v[i]^i for i in 1:size(v, 1)}}; {note} end {tag}_h;\n"
    )
    part.inside += (
        f"Real {tag}_x = {x[0][0]}; Real {tag}_a = der({tag}_f({tag}_x)); Real {tag}_b = der({tag}_f({tag}_x, 2)*{tag}_x + 3*{tag}_x); Real {tag}_c = der(der({tag}_f({tag}_x, 1)));\n"
        f"{tag}_R {tag}_r = {tag}_g({tag}_R({tag}_x, {{time, 2*{tag}_x}})); Real {tag}_d = der({tag}_r.a), {tag}_e = der({tag}_r.v[1]); Real {tag}_w[2] = der({tag}_h({{time, {tag}_x}}));\n"
    )
    u, du, ddu = (f"({e[1]})" for e in x)
    part.checks += [
        (f"{tag}_a", f"{k!r}*(1 + 2*{u})*{du}"), (f"{tag}_b", f"(2*(2*{u} + 3*{u}**2) + 3)*{du}"),
        (f"{tag}_c", f"(1 + 2*{u})*{ddu} + 2*{du}**2"), (f"{tag}_d", f"4*{u}*{du}"), (f"{tag}_e", "cos(t)"),
        (f"{tag}_w[1]", "1"), (f"{tag}_w[2]", f"2*{u}*{du}"),
    ]  # fmt: skip
    return part


def clocks_of_clocks(m: Maker, tag: str) -> Part:
    """Clocks that are made of clocks, event clocks, clocks whose interval is a variable, arrays in clocked whens."""
    part, f, s = Part("clocks of clocks", tag), m.r.randint(2, 4), m.r.randint(1, 3)
    at = sorted({m.event() for _ in range(3)})
    edges = " or ".join(f"time >= {a!r} and time < {a + 0.5 / GRID!r}" for a in at)
    part.inside += (
        f"Clock {tag}_c = Clock(1, {GRID}), {tag}_d = subSample({tag}_c, {f}), {tag}_g = shiftSample({tag}_d, {s}, {f}), {tag}_h = backSample({tag}_g, {s}, {f}), {tag}_q = Clock({tag}_on), {tag}_v = Clock({tag}_next, {GRID});\n"
        f"Real {tag}_w[3](start={{1, 2, 3}}), {tag}_a(start=0), {tag}_b(start=0), {tag}_e(start=0), {tag}_k[3], {tag}_y[4]; Integer {tag}_next(start=1), {tag}_last(start=0); Boolean {tag}_on = {edges};\n"
        f"Real {tag}_u, {tag}_p, {tag}_s;\n"
    )
    turned = m.pick("for i in 1:3 loop {0}[i] = previous({0}[1 + mod(i, 3)]); end for;", "{0} = {{previous({0}[2]), previous({0}[3]), previous({0}[1])}};")  # fmt: skip
    part.equations += (
        f"when {tag}_c then {turned.format(tag + '_w')} end when; {tag}_k = hold({tag}_w);\n"
        f"when {tag}_g then {tag}_a = previous({tag}_a) + 1; end when; when {tag}_h then {tag}_b = previous({tag}_b) + 1; end when;\n"
        f"when {tag}_q then {tag}_e = previous({tag}_e) + sample({m.reals[0]}); end when;\n"
        f"when {tag}_v then {tag}_next = previous({tag}_next) + 1; {tag}_last = previous({tag}_last) + 1; end when;\n"
        f"{tag}_u = sample(time, {tag}_c); {tag}_p = superSample(subSample({tag}_u, {f}), {2 * f}); {tag}_s = shiftSample(subSample({tag}_u, {f}), {s}, {f});\n"
        f"{tag}_y = {{hold({tag}_a), hold({tag}_b), hold({tag}_p), hold({tag}_s)}}; {tag}_z = hold({tag}_e); {tag}_m = hold({tag}_last);\n"
    )
    part.inside += f"Real {tag}_z, {tag}_m;\n"
    every, late = f / GRID, s / GRID
    n_late = f"len(ticks(t, {late!r}, {every!r}))"
    part.python += f"def {tag}_varied(t):\n    n, at, step = 0, 0.0, 1\n    while at <= t + 1e-9:\n        n, step = n + 1, step + 1\n        at += step/{GRID}\n    return n\n"
    part.checks += [
        (f"{tag}_k[1]", f"[1, 2, 3][len(ticks(t, 0.0, 1/{GRID})) % 3]"), (f"{tag}_y[1]", n_late),
        (f"{tag}_y[2]", f"len(ticks(t, 0.0, {every!r}))"), (f"{tag}_y[3]", f"ticks(t, 0.0, {every!r})[-1]"),
        (f"{tag}_y[4]", f"floor(ticks(t, {late!r}, {every!r})[-1]/{every!r} + 1e-3)*{every!r} if {n_late} else 0"),
        (f"{tag}_z", f"sum(V(s)[{m.reals[0]!r}] for s in {at} if s <= t)"), (f"{tag}_m", f"{tag}_varied(t)"),
    ]  # fmt: skip
    return part


def delays_compared(m: Maker, tag: str) -> Part:
    """Relations of delayed values, of delays of what jumps, delays in one another and of states."""
    part, d, at = Part("delays compared", tag), m.pick(1, 2, 3) / GRID, m.r.randint(2, 8) / GRID
    on = f"(t >= {at!r} and t < {at + 2 / GRID!r})".replace("t ", f"(t - {d!r}) ")
    part.inside += (
        f"Boolean {tag}_a = delay({m.pick('time', '(time + 0*' + m.reals[0] + ')')}, {d!r}) >= {at!r}; Boolean {tag}_p = time >= {at!r} and time < {at + 2 / GRID!r};\n"
        f"Boolean {tag}_q = delay(if {tag}_p then 1 else 0, {d!r}) > 0.5; Integer {tag}_n(start=0, fixed=true), {tag}_k(start=0, fixed=true); Real {tag}_s(start=0, fixed=true), {tag}_l = delay({tag}_s, {d!r}), {tag}_c = delay(delay(time, {d!r}), {d!r});\n"
    )
    part.equations += f"when change({tag}_q) then {tag}_n = pre({tag}_n) + 1; end when; when delay(time, {d!r}) > {at!r} then {tag}_k = 5; end when; der({tag}_s) = if {tag}_q then 1 else 0;\n"
    first, last = at + d, at + d + 2 / GRID
    part.checks += [
        (f"{tag}_a", f"t >= {first!r}"), (f"{tag}_q", on), (f"{tag}_n", f"(t >= {first!r}) + (t >= {last!r})"), (f"{tag}_k", f"5 if t >= {first!r} else 0"),
        (f"{tag}_s", f"min(max(t - {first!r}, 0), {2 / GRID!r})"), (f"{tag}_l", f"min(max(t - {first + d!r}, 0), {2 / GRID!r})"),
        (f"{tag}_c", f"max(t - {2 * d!r}, 0)"),
    ]  # fmt: skip
    part.loose = 50
    return part


def several_resets(m: Maker, tag: str) -> Part:
    """Several states reset at one event, in loops and chains: balls between walls, a counter that others follow."""
    part, n = Part("resets of several", tag), m.r.randint(1, 3)
    x0 = [m.r.randint(1, 7) / 16 for _ in range(n)]
    v0 = [m.pick(-1, 1) * m.r.randint(1, 4) / 2 for _ in range(n)]
    x, v = f"{tag}_x", f"{tag}_v"
    part.inside += (
        f"Real {x}[{n}](start={{{', '.join(map(repr, x0))}}}, each fixed=true), {v}[{n}](start={{{', '.join(map(repr, v0))}}}, each fixed=true), {tag}_z[2](start={{1, 2}}, each fixed=true);\n"
        f"Integer {tag}_a(start=0, fixed=true), {tag}_b(start=0, fixed=true), {tag}_c(start=0, fixed=true);\n"
    )
    every = m.pick(2, 3) / GRID
    part.equations += (
        f"der({x}) = {v}; for i in 1:{n} loop der({v}[i]) = 0; when {x}[i] > 0.5 then reinit({v}[i], -abs({v}[i])); elsewhen {x}[i] < 0 then reinit({v}[i], abs({v}[i])); end when; end for;\n"
        f"der({tag}_z) = zeros(2); when sample({every!r}, {every!r}) then {tag}_a = pre({tag}_a) + 1; reinit({tag}_z[1], pre({tag}_z[2])); reinit({tag}_z[2], pre({tag}_z[1]) + {tag}_a); end when;\n"
        f"when change({tag}_a) then {tag}_b = pre({tag}_b) + {tag}_a; end when; when pre({tag}_b) <> {tag}_b then {tag}_c = pre({tag}_c) + 1; end when;\n"
    )
    part.python += (
        f"def {tag}_fold(x): return abs((x + 0.5) % 1 - 0.5)\n"
        f"def {tag}_run(t):\n    z, a, b = (1, 2), 0, 0\n    for _ in ticks(t, {every!r}, {every!r}):\n        a += 1\n        z, b = (z[1], z[0] + a), b + a\n    return *z, a, b\n"
    )
    part.checks += [(f"{x}[{i + 1}]", f"{tag}_fold({x0[i]!r} + {v0[i]!r}*t)") for i in range(n)]
    part.defs.append((f"{tag}_all", f"{tag}_run(t)"))
    part.checks += [(f"{tag}_z[1]", f"{tag}_all[0]"), (f"{tag}_z[2]", f"{tag}_all[1]"), (f"{tag}_b", f"{tag}_all[3]"), (f"{tag}_c", f"{tag}_all[2]")]  # fmt: skip
    y = real(m, signals(m), 1)
    part.inside += f"Real {tag}_y = tanh({y[0]});\n"
    publish(m, part, f"{tag}_y", f"tanh({y[1]})")
    part.loose = 30
    return part
