"""Records: nested, in arrays, of functions, with operators, in whens and parameters."""

from __future__ import annotations

from randomly.expressions import real, signals
from randomly.parts import GRID, Maker, Part
from randomly.solving import publish


def records(m: Maker, tag: str) -> Part:
    """A record with a number, a vector and a record; functions of it, arrays of it, slices through all."""
    part, n = Part("records", tag), m.r.randint(1, 3)
    x, z = real(m, signals(m), 2), m.real()
    size = m.pick(str(n), f"{tag}_N")
    sub = m.pick("extends", "plain")
    inner_ = f"record {tag}_I Real p; Integer k; end {tag}_I;\n"
    base = f"record {tag}_B Real a; Real v[{size}]; end {tag}_B;\n"
    whole = (
        f"record {tag}_R extends {tag}_B; {tag}_I i[2]; Boolean b; end {tag}_R;\n"
        if sub == "extends"
        else f"record {tag}_R Real a; Real v[{size}]; {tag}_I i[2]; Boolean b; end {tag}_R;\n"
    )
    part.classes += (f"constant Integer {tag}_N = {n};\n" if size != str(n) else "") + inner_ + base + whole
    part.classes += (
        f"function {tag}_make input Real p; input Real q = 2; output {tag}_R r; algorithm "
        + m.pick(
            f"r := {tag}_R(a = p, v = fill(q, {n}), i = {{{tag}_I(p, 1), {tag}_I(p = q, k = 2)}}, b = p > q);",
            f"r.a := p; r.v := fill(q, {n}); r.i := {{{tag}_I(p, 1), {tag}_I(q, 2)}}; r.b := p > q;",
            f"r.a := p; for j in 1:{n} loop r.v[j] := q; end for; r.i[1].p := p; r.i[1].k := 1; r.i[2] := {tag}_I(q, 2); r.b := p > q;",
            f"r.v := q*ones({n}); r.i.p := {{p, q}}; r.i.k := 1:2; r.b := not p <= q; r.a := r.i[1].p;",
        )
        + f" end {tag}_make;\n"
        f"function {tag}_sum input {tag}_R r[:]; output Real y = 0; output {tag}_I last; algorithm for e in 1:size(r, 1) loop"
        f" y := y + r[e].a + sum(r[e].v) + r[e].i[end].p*r[e].i[1].k; end for; last := r[end].i[2]; end {tag}_sum;\n"
    )
    a, b = x[1], z
    part.inside += (
        f"{tag}_R {tag}_r = {tag}_make({x[0]}, {z}); {tag}_R {tag}_s[2] = {{{tag}_r, {tag}_make(q = {x[0]}, p = {z})}};\n"
        f"Real {tag}_t[2] = {tag}_s.a; Real {tag}_u[2, 2] = {tag}_s.i.p; Real {tag}_q[2] = {tag}_s[end:-1:1].v[{n}];\n"
        f"Real {tag}_z; {tag}_I {tag}_l; {tag}_R {tag}_c = if {tag}_s[1].b then {tag}_s[2] else {tag}_s[1];\n"
        f"parameter {tag}_R {tag}_p(a = 7, v = 1:{n}, i(p = {{1, 2}}, each k = 3), b = false); parameter {tag}_R {tag}_w = {tag}_p;\n"
        f"Real {tag}_pp = {tag}_w.a + sum({tag}_w.v) + {tag}_w.i[2].p*{tag}_w.i[1].k;\n"
    )
    part.equations += f"({tag}_z, {tag}_l) = {tag}_sum({tag}_s);\n"
    total = f"({a} + {n}*({b}) + ({b})*1 + ({b}) + {n}*({a}) + ({a})*1)"
    part.checks += [
        (f"{tag}_r.a", a), (f"{tag}_r.v[{n}]", b), (f"{tag}_s[2].i[1].p", b), (f"{tag}_s[2].i[2].p", a),
        (f"{tag}_t[1]", a), (f"{tag}_t[2]", b), (f"{tag}_u[1,2]", b), (f"{tag}_u[2,1]", b), (f"{tag}_q[1]", a),
        (f"{tag}_z", total), (f"{tag}_l.p", a), (f"{tag}_l.k", "2"),
        (f"{tag}_c.a", f"({b}) if less({b}, {a}) else ({a})"), (f"{tag}_c.v[1]", f"({a}) if less({b}, {a}) else ({b})"),
        (f"{tag}_pp", f"7 + {n * (n + 1) // 2} + 2*3"),
    ]  # fmt: skip
    defaults(m, part, tag, n)
    in_whens(m, part, tag, n)
    part.inside += f"Real {tag}_y = tanh({tag}_z);\n"
    publish(m, part, f"{tag}_y", f"math.tanh({total})")
    return part


def defaults(m: Maker, part: Part, tag: str, n: int) -> None:
    """Fields with values of their own, one of them from others."""
    x, c = real(m, signals(m), 1), round(m.r.uniform(-1, 1), 3)
    a = x[1]
    part.classes += f"record {tag}_D Real a = {c!r}; Integer k = {n} + 1; Real s = a + k; end {tag}_D;\n"
    part.inside += f"{tag}_D {tag}_d, {tag}_e(k = 7), {tag}_f = {tag}_D(k = 5), {tag}_g = {tag}_D({x[0]}, s = 1), {tag}_h[2](a = {{1, {x[0]}}});\n"
    part.checks += [
        (f"{tag}_d.s", repr(c + n + 1)), (f"{tag}_e.s", repr(c + 7)), (f"{tag}_f.s", repr(c + 5)), (f"{tag}_g.k", str(n + 1)),
        (f"{tag}_g.a", a), (f"{tag}_h[2].s", f"({a}) + {n} + 1"),
    ]  # fmt: skip


def in_whens(m: Maker, part: Part, tag: str, n: int) -> None:
    """A record that a when keeps, by a function or field by field."""
    every, x = m.pick(1, 2) / GRID, m.reals[0]
    part.inside += f"{tag}_R {tag}_k(a(start=0.5, fixed=true), v(each start=0, each fixed=true), i(p(each start=0, each fixed=true), k(each start=0, each fixed=true)), b(start=false, fixed=true));\n"
    op, where = m.pick(("=", "equations"), (":=", "sections"))
    made = m.pick(
        f"{tag}_k {op} {tag}_make(0.5*pre({tag}_k.a) + {x}, {x});",
    )
    text = f"when sample({every!r}, {every!r}) then {made} end when;\n"
    if where == "sections":
        part.sections += "algorithm\n  " + text
    else:
        part.equations += text
    history = f"folded(t, ticks(t, {every!r}, {every!r}), 0.5, lambda k, p: 0.5*p + V(k)[{x!r}])"
    part.checks += [(f"{tag}_k.a", history), (f"{tag}_k.i[1].p", f"{history} if t > {every!r} else 0")]
    part.checks.append((f"{tag}_k.v[{n}]", f"V(ticks(t, {every!r}, {every!r})[-1])[{x!r}] if t > {every!r} else 0"))


def operators(m: Maker, tag: str) -> Part:
    """An operator record of two numbers; sums, products, arrays of them."""
    part = Part("operator record", tag)
    x, z = real(m, signals(m), 1), real(m, signals(m), 1)
    o = f"{tag}_C"
    inline = m.pick("annotation(Inline=true);", "", "annotation(Inline=false);")
    part.classes += (
        f"operator record {o}\n  Real re; Real im;\n"
        f"  encapsulated operator 'constructor'\n    function ofReal import R.{o}; input Real re; input Real im = 0; output {o} c(re=re, im=im); algorithm {inline} end ofReal;\n  end 'constructor';\n"
        f"  encapsulated operator '-'\n    function negate import R.{o}; input {o} a; output {o} c; algorithm c := {o}(-a.re, -a.im); {inline} end negate;\n"
        f"    function minus import R.{o}; input {o} a; input {o} b; output {o} c; algorithm c := {o}(a.re - b.re, a.im - b.im); end minus;\n  end '-';\n"
        f"  encapsulated operator function '+' import R.{o}; input {o} a; input {o} b; output {o} c; algorithm c := {o}(a.re + b.re, a.im + b.im); {inline} end '+';\n"
        f"  encapsulated operator function '*' import R.{o}; input {o} a; input {o} b; output {o} c; algorithm c := {o}(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re); {inline} end '*';\n"
        f"  encapsulated operator function '==' import R.{o}; input {o} a; input {o} b; output Boolean c; algorithm c := a.re == b.re and a.im == b.im; end '==';\n"
        f"  encapsulated operator function '0' import R.{o}; output {o} c; algorithm c := {o}(0, 0); end '0';\n"
        f"  encapsulated operator function 'String' import R.{o}; input {o} a; output String s; algorithm s := String(a.re) + \"i\"; end 'String';\n"
        f"end {o};\n"
    )
    a, b = f"complex({x[1]}, {z[1]})", f"complex({z[1]}, 0.5)"
    e = m.pick(
        ("{a}*{b} + {a}", "{a}*{b} + {a}"),
        ("-{a} - {b}*{a}", "-{a} - {b}*{a}"),
        ("{a} + 2*{b}", "{a} + 2*{b}"),
        ("({a} - {b})*({a} + 1.5)", "({a} - {b})*({a} + 1.5)"),
        ("{v}[1]*{v}[2] - {v}[end]", "{a}*{b} - {b}"),
        ("sum({v})", "{a} + {b}"),
        ("if {b} == {b} then {a} else {b}", "{a}"),
        ("scalar([{a}, {b}]*matrix({v}))", "{a}*{a} + {b}*{b}"),
        ("sum({v}[i_] * i_ for i_ in 1:2)", "{a} + {b}*2"),
    )
    names = {"a": f"{tag}_a", "b": f"{tag}_b", "v": f"{tag}_v"}
    part.inside += f"{o} {tag}_a({m.pick('re', 're')}={x[0]}, im={z[0]}); {o} {tag}_b = {o}({z[0]}, 0.5); {o} {tag}_v[2] = {{{tag}_a, {tag}_b}};\n"
    part.inside += f"{o} {tag}_c = {e[0].format(**names)};\n"
    value = e[1].format(a=a, b=b)
    part.checks += [(f"{tag}_c.re", f"({value}).real"), (f"{tag}_c.im", f"({value}).imag")]
    part.inside += f'Boolean {tag}_s = String({tag}_b - {tag}_b) == "0i"; Real {tag}_y = tanh({tag}_c.im);\n'
    part.checks.append((f"{tag}_s", "True"))
    publish(m, part, f"{tag}_y", f"math.tanh(({value}).imag)")
    return part
