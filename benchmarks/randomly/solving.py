"""Chosen solutions, and systems of equations that have them."""

from __future__ import annotations

import itertools

from randomly.expressions import Two
from randomly.parts import Maker, Part


def wave(m: Maker, d: int = 2) -> list[Two]:
    """A smooth function of time between -1 and 1 and its first derivatives."""
    a, w, p = m.r.uniform(0.2, 0.9), m.r.uniform(0.5, 5), m.r.uniform(0, 3)
    a, w, p = round(a, 3), round(w, 3), round(p, 3)
    if m.chance(0.25):
        found = [(f"{a}*exp(-{w}*time)", f"{a}*exp(-{w}*t)")]
        found += [(f"({a * (-w) ** k!r})*exp(-{w}*time)", f"({a * (-w) ** k!r})*exp(-{w}*t)") for k in range(1, d + 1)]
        return found
    if m.chance(0.3):
        c = [round(m.r.uniform(-0.25, 0.25), 3) for _ in range(4)]
        found = []
        for _ in range(d + 1):
            mo = " + ".join(f"({x!r})*time^{k}" if k else f"({x!r})" for k, x in enumerate(c)) or "0"
            found.append((mo, mo.replace("time^", "t**")))
            c = [k * x for k, x in enumerate(c)][1:] or [0.0]
        return found
    found = []
    for k in range(d + 1):
        f = "sin" if k % 2 == 0 else "cos"
        s = (1, 1, -1, -1)[k % 4] * a * w**k
        found.append((f"({s!r})*{f}({w}*time + {p})", f"({s!r})*{f}({w}*t + {p})"))
    return found


def sources(m: Maker, tag: str) -> Part:
    """Signals of all kinds to begin with."""
    part = Part("signals", tag)
    for k in range(4):
        x = wave(m)
        part.inside += f"Real {tag}_x{k} = {x[0][0]};\n"
        part.defs.append((f"{tag}_x{k}", x[0][1]))
        m.reals.append(f"{tag}_x{k}")
    for k in range(2):
        at = [m.event() for _ in range(2)]
        part.inside += f"Boolean {tag}_b{k} = time >= {at[0]!r} and time < {at[0] + at[1]!r};\n"
        part.defs.append((f"{tag}_b{k}", f"t >= {at[0]!r} and t < {at[0] + at[1]!r}"))
        m.booleans.append(f"{tag}_b{k}")
    at = [m.event() for _ in range(3)]
    part.inside += f"Integer {tag}_n = (if time >= {at[0]!r} then 1 else 0) + (if time >= {at[1]!r} then 2 else 0);\n"
    part.defs.append((f"{tag}_n", f"(1 if t >= {at[0]!r} else 0) + (2 if t >= {at[1]!r} else 0)"))
    m.integers.append(f"{tag}_n")
    part.checks += [(n, n) for n, _ in part.defs]
    return part


def publish(m: Maker, part: Part, name: str, code: str) -> None:
    """A value that is checked and offered as a signal: it is between -1 and 1."""
    part.defs.append((name, code))
    part.checks.append((name, name))
    m.reals.append(name)


def linear(m: Maker, tag: str) -> Part:
    """A*x = b with x chosen; as scalar equations in random order, or of matrices."""
    n, part = m.r.randint(2, 5), Part("linear system", tag)
    a = [[round(m.r.uniform(-1, 1), 3) + (3 if i == k else 0) for k in range(n)] for i in range(n)]
    if m.chance(0.4):
        m.r.shuffle(a)
    x = [wave(m)[0] for _ in range(n)]
    mo = [" + ".join(f"({a[i][k]!r})*({x[k][0]})" for k in range(n)) for i in range(n)]
    way = m.r.randrange(4)
    names = [f"{tag}_x{k}" for k in range(n)] if way == 0 else [f"{tag}_x[{k + 1}]" for k in range(n)]
    if way == 0:
        part.inside += f"Real {', '.join(names)};\n"
        for i in m.r.sample(range(n), n):
            left = " + ".join(f"({a[i][k]!r})*{names[k]}" for k in range(n))
            part.equations += m.pick(f"{left} = {mo[i]};\n", f"{mo[i]} = {left};\n", f"0 = {left} - ({mo[i]});\n")
    else:
        rows = "; ".join(", ".join(map(repr, row)) for row in a)
        part.inside += f"Real {tag}_x[{n}]; parameter Real {tag}_A[{n}, {n}] = [{rows}];\n"
        b = "{" + ", ".join(mo) + "}"
        part.equations += {
            1: f"{tag}_A*{tag}_x = {b};\n",
            2: f"for i in 1:{n} loop {tag}_A[i, :]*{tag}_x = ({b})*{{if j == i then 1 else 0 for j in 1:{n}}}; end for;\n",
            3: f"{tag}_x*transpose({tag}_A) - {b} = zeros({n});\n",
        }[way]
    for name, value in zip(names, x, strict=True):
        part.checks.append((name, value[1]))
    part.inside += f"Real {tag}_y = {names[-1]};\n"
    publish(m, part, f"{tag}_y", x[-1][1])
    return part


def nonlinear(m: Maker, tag: str) -> Part:
    """Monotone functions of each unknown and a weak coupling: one root, which is chosen."""
    n, part = m.r.randint(1, 4), Part("nonlinear system", tag)
    x, names = [wave(m)[0] for _ in range(n)], [f"{tag}_x{k}" for k in range(n)]
    start = m.pick("", "(start=0.1)", "(start=1)")
    part.inside += "".join(f"Real {name}{start};\n" for name in names)
    for i in m.r.sample(range(n), n):
        form = m.pick(
            "{0}^3 + 2*{0}", "exp({0}) + {0}", "{0} + 0.5*sin({0})", "2*{0} + tanh({0})", "{0}*abs({0}) + {0}"
        )
        k, c = m.r.randrange(n), round(m.r.uniform(-0.3, 0.3), 3)
        left = form.format(names[i]) + f" + ({c!r})*{names[k]}"
        right = form.format(f"({x[i][0]})") + f" + ({c!r})*({x[k][0]})"
        part.equations += m.pick(f"{left} = {right};\n", f"{right} = {left};\n", f"0 = ({left}) - ({right});\n")
    for name, value in zip(names, x, strict=True):
        part.checks.append((name, value[1]))
    part.inside += f"Real {tag}_y = -{names[0]};\n"
    publish(m, part, f"{tag}_y", f"-({x[0][1]})")
    return part


def states(m: Maker, tag: str) -> Part:
    """Differential equations with a chosen solution; the start in several ways."""
    part, x, k = Part("states", tag), wave(m), round(m.r.uniform(0.5, 4), 3)
    name = f"{tag}_x"
    rhs = f"{x[1][0]} - {k}*({name} - ({x[0][0]}))"
    start = x[0][0].replace("time", "0")
    way = m.r.randrange(6)
    if way == 0:
        part.inside += f"Real {name}(start={start}, fixed=true);\n"
    elif way == 1:
        part.inside += f"Real {name}(start=0.2);\n"
        part.sections += f"initial equation\n  {name} = {start};\n"
    elif way == 2:
        part.inside += f"Real {name};\n"
        part.sections += f"initial equation\n  der({name}) = {x[1][0].replace('time', '0')};\n"
    elif way == 3:
        part.inside += f"parameter Real {tag}_p(fixed=false); Real {name}(start={tag}_p, fixed=true);\n"
        part.sections += f"initial equation\n  2*{tag}_p + {tag}_p^3 = 2*({start}) + ({start})^3;\n"
    elif way == 4:
        part.inside += f"Real {name};\n"
        part.sections += f"initial algorithm\n  {name} := {start};\n"
    else:
        part.inside += f"parameter Real {tag}_p = {start}; Real {name}(start={tag}_p, fixed=true, stateSelect=StateSelect.{m.pick('always', 'prefer', 'avoid', 'default')});\n"
    part.equations += m.pick(
        f"der({name}) = {rhs};\n",
        f"0 = 2*der({name}) - 2*({rhs});\n",
        f"der(2*{name}) = 2*({rhs});\n",
        f"der({name}) + 0.2*der({name})^3 = ({rhs}) + 0.2*({rhs})^3;\n",
    )
    part.inside += f"Real {tag}_d = der({name});\n"
    part.checks.append((f"{tag}_d", x[1][1]))
    publish(m, part, name, x[0][1])
    return part


def second_order(m: Maker, tag: str) -> Part:
    """Positions tied by a constraint; the force that holds it is an unknown."""
    part, x, f = Part("constraint", tag), wave(m, 4), round(m.r.uniform(0.5, 3), 3)
    g = m.pick(("{0}", "1", "0"), ("{0} + 0.2*{0}^3", "1 + 0.6*{0}^2", "1.2*{0}"))
    p, v, q, w, force = (f"{tag}_{s}" for s in ("p", "v", "q", "w", "f"))
    start = [e[0].replace("time", "0") for e in x]
    # v' = F + force with F chosen so that p = x(t); q = g(p); w' = -c*q + force2
    part.inside += f"Real {p}(start={start[0]}, fixed=true), {v}(start={start[1]}, fixed=true), {q}, {w}, {force};\n"
    part.equations += (
        f"der({p}) = {v}; der({q}) = {w}; {q} = {g[0].format(p)};\n"
        f"{f}*der({v}) = {f}*({x[2][0]}) + sin(3*time) - {force}*({g[1].format(p)}) + 2*(({x[1][0]}) - {v}) + 3*(({x[0][0]}) - {p});\n"
    )
    # force is told by the second body: der(w) known function of p, v, a
    a, s = (f"({e[1]})" for e in (x[0], x[1]))
    part.equations += f"{force} = {tag}_h; {tag}_m*der({w}) = {force} + {tag}_e;\n"
    part.inside += f"Real {tag}_h, {tag}_e; parameter Real {tag}_m = 2;\n"
    # e is chosen so that the true force is sin(3 t)/g'(x)
    mo = [e[0] for e in x]
    slope = g[1].format(f"({mo[0]})")
    accel_mo = f"(({slope})*({mo[2]}) + ({g[2].format(f'({mo[0]})')})*({mo[1]})^2)"
    part.equations += f"{tag}_e = {tag}_m*{accel_mo} - sin(3*time)/({slope});\n"
    slope_py = g[1].format(a).replace("^", "**")
    part.checks += [(force, f"sin(3*t)/({slope_py})"), (q, g[0].format(a).replace("^", "**")), (v, x[1][1])]
    part.checks.append((w, f"({slope_py})*{s}"))
    part.loose = 20
    publish(m, part, p, x[0][1])
    return part


def aliases(m: Maker, tag: str) -> Part:
    """One value by many names with signs, ended by a variable in the middle."""
    n, part, source = m.r.randint(3, 7), Part("aliases", tag), m.real()
    names, sign = [f"{tag}_a{k}" for k in range(n)], 1
    part.inside += f"Real {', '.join(names)};\n"
    part.equations += f"{names[0]} = {source};\n"
    part.checks.append((names[0], source))
    for one, two in itertools.pairwise(names):
        minus = m.chance()
        sign = -sign if minus else sign
        op = "+" if minus else "-"
        part.equations += m.pick(
            f"{two} = {'-' if minus else ''}{one};\n", f"{one} {op} {two} = 0;\n", f"0 = {two} {op} {one};\n"
        )
        part.checks.append((two, f"{sign}*{source}"))
    part.inside += f"Real {tag}_y = 0.5*{names[-1]} + 0.5*{names[1]};\n"
    second = 1 if part.checks[1][1].startswith("1") else -1
    publish(m, part, f"{tag}_y", f"0.5*({sign}*{source} + {second}*{source})")
    return part


def crossing(m: Maker, tag: str) -> Part:
    """A state that crosses a limit at a known instant; what it switches on is integrated."""
    part, at, k = Part("state event", tag), m.event(), m.r.randint(2, 5)
    x, b, y = f"{tag}_s", f"{tag}_on", f"{tag}_y"
    part.inside += f"Real {x}(start=0, fixed=true), {y}(start=0, fixed=true); Boolean {b};\n"
    part.equations += f"der({x}) = {k}; {b} = {x} > {k * at!r}; der({y}) = if {b} then 0.5 else -0.25;\n"
    part.checks.append((b, f"t >= {at!r}"))
    part.checks.append((x, f"{k}*t"))
    part.checks.append((y, f"-0.25*min(t, {at!r}) + 0.5*max(0, t - {at!r})"))
    part.loose = 50
    return part


def differentiated(m: Maker, tag: str) -> Part:
    """The derivative of a function, by an annotation or from its statements, where an index is reduced."""
    part, x = Part("derivative of a function", tag), wave(m)
    f = f"{tag}_f"
    noted = m.chance()
    note = f"annotation(derivative={f}_d, smoothOrder=2);" if noted else m.pick("annotation(smoothOrder=2);", "")
    body = m.pick(
        "y := u^2*k + sin(u);",
        "y := k*u; y := y*u + sin(u);",
        "y := sin(u); for i in 1:2 loop y := y + k/2*u*u; end for;",
    )
    part.classes += f"function {f} input Real u; input Real k = 2; output Real y; algorithm {body} {note} end {f};\n"
    if noted:
        part.classes += (
            f"function {f}_d input Real u; input Real k = 2; input Real du; input Real dk; output Real dy; algorithm"
            f" dy := 2*u*du*k + u^2*dk + cos(u)*du; end {f}_d;\n"
        )
    k, y = round(m.r.uniform(0.5, 2), 3), f"{tag}_y"
    arg = m.pick(f", {k!r}", f", k={k!r}")
    part.inside += (
        f"Real {tag}_u = {x[0][0]}; Real {tag}_v = {f}({tag}_u{arg}); Real {y}; Real {tag}_w = der({tag}_v);\n"
    )
    part.equations += f"{y} = 0.05*{tag}_w;\n"
    u, du = x[0][1], x[1][1]
    part.checks += [(f"{tag}_v", f"({u})**2*{k!r} + sin({u})"), (f"{tag}_w", f"(2*({u})*{k!r} + cos({u}))*({du})")]
    publish(m, part, y, f"0.05*(2*({u})*{k!r} + cos({u}))*({du})")
    return part
