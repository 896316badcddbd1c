"""Memory: whens in equations and algorithms, delays, clocks; histories are followed tick by tick."""

from __future__ import annotations

from randomly.expressions import Atoms, boolean, integer, real, signals
from randomly.parts import GRID, Maker, Part
from randomly.solving import publish


def sampling(m: Maker) -> tuple[float, float]:
    return m.pick(0, 1, 2, 3) / GRID, m.pick(1, 2, 3, 5) / GRID


def memory(m: Maker, tag: str) -> tuple[Atoms, list[str]]:
    """Signals and what a machine has of the tick before, in a tuple `p` in Python."""
    a, names = signals(m), [f"{tag}_{v}" for v in ("x", "z", "n", "b")]
    pre = Atoms(
        [*a.reals, *[(f"pre({names[k]})", f"p[{k}]") for k in (0, 1)] * 2],
        [*a.integers, *[(f"pre({names[2]})", "p[2]")] * 2],
        [*a.booleans, *[(f"pre({names[3]})", "p[3]")] * 2],
    )
    return pre, names


def machine(m: Maker, tag: str) -> Part:
    """Discrete variables of four types that a sample turns, in equations or in an algorithm."""
    first, every = sampling(m)
    pre, names = memory(m, tag)
    part = Part("discrete machine", tag)
    in_algorithm = m.chance()
    new = Atoms([*pre.reals, (names[0], "x_")], [*pre.integers, (names[2], "n_")], [*pre.booleans, (names[3], "b_")])
    x, n = real(m, pre, 3), integer(m, pre, 2)
    b = boolean(m, Atoms(new.reals, new.integers, pre.booleans), 2)
    z = real(m, new, 2)
    values = [f"tanh({x[0]})", f"tanh({z[0]})", f"mod({n[0]}, 4)", b[0]]
    order = [0, 2, 3, 1] if in_algorithm else m.r.sample(range(4), 4)
    trigger = m.pick(
        f"sample({first!r}, {every!r})",
        f"sample({first!r}, {every!r})",
        f"{{sample({first!r}, {every!r}), sample({first!r}, {2 * every!r})}}",
        f"{{time < -1, sample({first!r}, {every!r})}}",
    )
    part.inside += f"discrete Real {names[0]}(start=0.25, fixed=true), {names[1]}(start=-0.5, fixed=true);\n"
    part.inside += f"Integer {names[2]}(start=1, fixed=true); Boolean {names[3]}(start=false, fixed=true);\n"
    op, where = (":=", "algorithm\n") if in_algorithm else ("=", "")
    body = " ".join(f"{names[k]} {op} {values[k]};" for k in order)
    if not in_algorithm and m.chance(0.3):
        cond = boolean(m, pre, 1)
        other = " ".join(f"{names[k]} = {('pre(' + names[k] + ')')};" for k in order)
        body = f"if {cond[0]} then {body} else {other} end if;"
        guard = cond[1]
    else:
        guard = "True"
    text = f"{where}  when {trigger} then {body} end when;\n"
    if in_algorithm:
        part.sections += text
    else:
        part.equations += text
    # in Python: from signals at the tick
    part.python += (
        f"def {tag}_turn(k, p):\n    v = V(k)\n    if not v.value_with({guard!r}, p=p): return p\n"
        f"    x_ = math.tanh(v.value_with({x[1]!r}, p=p))\n    n_ = v.value_with({n[1]!r}, p=p) % 4\n"
        f"    b_ = bool(v.value_with({b[1]!r}, p=p, x_=x_, n_=n_))\n"
        f"    z_ = math.tanh(v.value_with({z[1]!r}, p=p, x_=x_, n_=n_, b_=b_))\n    return (x_, z_, n_, b_)\n"
    )
    part.defs.append((f"{tag}_all", f"folded(t, ticks(t, {first!r}, {every!r}), (0.25, -0.5, 1, False), {tag}_turn)"))
    for k, name in enumerate(names):
        part.defs.append((name, f"{tag}_all[{k}]"))
        part.checks.append((name, name))
    m.reals += names[:2]
    m.integers.append(names[2])
    m.booleans.append(names[3])
    return part


def turns(m: Maker, tag: str) -> Part:
    """Counts of events of a Boolean: edge, change, when, elsewhen with priority; at the start none."""
    part, b = Part("edges", tag), m.pick(*m.booleans[:2])
    n, k, e = f"{tag}_n", f"{tag}_k", f"{tag}_e"
    part.inside += f"Integer {n}(start=0, fixed=true), {k}(start=0, fixed=true), {e}(start=0, fixed=true);\n"
    form = m.pick("equation", "algorithm")
    op = "=" if form == "equation" else ":="
    text = m.pick(
        f"when edge({b}) then {n} {op} pre({n}) + 1; end when; when change({b}) then {k} {op} pre({k}) + 1; end when;"
        f" when not {b} then {e} {op} pre({e}) + 1; end when;",
        f"when {b} then {n} {op} pre({n}) + 1; end when; when {{{b}, not {b}}} then {k} {op} pre({k}) + 1; end when;"
        f" when {{edge({b}) and time < -1, not {b}}} then {e} {op} pre({e}) + 1; end when;",
    )
    if form == "algorithm":
        part.sections += f"algorithm\n  {text}\n"
    else:
        part.equations += text + "\n"
    part.python += (
        f"def {tag}_count(t):\n    up = down = 0\n    was = bool(V(0.0)[{b!r}])\n"
        f"    for i in range(1, {GRID} + 1):\n        if i/{GRID} > t + 1e-9: break\n        now = bool(V(i/{GRID})[{b!r}])\n"
        f"        up += now and not was\n        down += was and not now\n        was = now\n    return up, down\n"
    )
    part.defs.append((f"{tag}_c", f"{tag}_count(t)"))
    part.defs.append((n, f"{tag}_c[0]"))
    part.defs.append((k, f"{tag}_c[0] + {tag}_c[1]"))
    part.defs.append((e, f"{tag}_c[1]"))
    part.checks += [(v, v) for v in (n, k, e)]
    return part


def reset(m: Maker, tag: str) -> Part:
    """A ramp that a sample sets back, by reinit, to something of its left limit."""
    first, every = sampling(m)
    first = first or 1 / GRID
    part, x, k, c = Part("reinit", tag), f"{tag}_x", round(m.r.uniform(0.1, 0.9), 3), round(m.r.uniform(-0.4, 0.4), 3)
    alias = m.chance(0.4)
    part.inside += f"Real {x}(start=0.1, fixed=true);" + (f" Real {tag}_y = -{x};\n" if alias else "\n")
    part.equations += (
        f"der({x}) = {k}; when sample({first!r}, {every!r}) then reinit({x}, 0.5*pre({x}) + ({c})); end when;\n"
    )
    part.python += (
        f"def {tag}_x_at(t):\n    x, last = 0.1, 0.0\n    for s in ticks(t, {first!r}, {every!r}):\n"
        f"        x = 0.5*(x + {k}*(s - last)) + ({c})\n        last = s\n    return x + {k}*(t - last)\n"
    )
    publish(m, part, x, f"{tag}_x_at(t)")
    m.reals.pop()  # whens of the same instant see it before
    if alias:
        part.checks.append((f"{tag}_y", f"-{x}"))
    return part


def delayed(m: Maker, tag: str) -> Part:
    """A delay of a smooth signal by time, or a sample in a memory of several."""
    part, d = Part("delay", tag), m.pick(1, 2, 3, 4) / GRID
    x = m.r.choice(m.reals[:4])
    way = m.r.randrange(3)
    y = f"{tag}_y"
    if way == 0:
        part.inside += f"Real {y} = delay({x}, {d!r});\n"
    elif way == 1:
        part.inside += f"parameter Real {tag}_d = {d!r}; Real {y}; Real {tag}_v[2] = {{delay({x}, {tag}_d), delay(-{x}, 2*{tag}_d)}};\n"
        part.equations += f"{y} = {tag}_v[1];\n"
        part.checks.append((f"{tag}_v[2]", f"-V(max(0.0, t - {2 * d!r}))[{x!r}]"))
    else:
        part.inside += f"Real {y} = delay({x}, {d!r} + 0*time, 0.5);\n"
    part.loose = 2000
    publish(m, part, y, f"V(max(0.0, t - {d!r}))[{x!r}]")
    m.reals.pop()
    return part


def texts(m: Maker, tag: str) -> Part:
    """Strings: put together, compared, kept in whens and records, given by functions."""
    part, i = Part("strings", tag), integer(m, signals(m), 1)
    words = m.r.sample(("low", "high", "open", "shut", "a b", "x\\ty"), 3)
    part.classes += (
        f'function {tag}_name input Integer i; input String extra = ""; output String s; algorithm'
        f' if i == 0 then s := "{words[0]}"; elseif i == 1 then s := "{words[1]}"; else s := "{words[2]}"; end if;'
        f" s := s + extra; end {tag}_name;\n"
        f"function {tag}_is input String a; input String b; output Boolean y; algorithm y := a == b; end {tag}_is;\n"
    )
    part.inside += (
        f"parameter String {tag}_p = {tag}_name(1) + String(12) + String(true) + String(0.5);\n"
        f'Boolean {tag}_a = {tag}_p == "{words[1]}12true0.5"; Integer {tag}_i = mod({i[0]}, 3);\n'
        f'Boolean {tag}_b = {tag}_is({tag}_name({tag}_i), "{words[1]}"); Boolean {tag}_d = {tag}_name({tag}_i, "!") < "{words[0]}!";\n'
        f'Boolean {tag}_e = String({tag}_i, minimumLength=3, leftJustified=false) == "  1" or String({tag}_i, leftJustified=true, minimumLength=2) + "|" == "2 |";\n'
    )
    real_words = [w.replace("\\t", "\t") for w in words]
    part.defs.append((f"{tag}_i", f"({i[1]}) % 3"))
    part.checks += [
        (f"{tag}_a", "True"),
        (f"{tag}_i", f"{tag}_i"),
        (f"{tag}_b", f"{tag}_i == 1"),
        (f"{tag}_d", f"{[w + '!' < real_words[0] + '!' for w in real_words]}[{tag}_i]"),
        (f"{tag}_e", f"{tag}_i in (1, 2)"),
    ]
    return part


def clocked(m: Maker, tag: str) -> Part:
    """A clocked machine with previous, and its signals at other rates, held."""
    part, n = Part("clocked", tag), m.pick(1, 2)
    every = n / GRID
    x = m.r.choice(m.reals[:4])
    k, f, s = round(m.r.uniform(-0.6, 0.6), 3), m.pick(2, 3), m.pick(1, 2)
    clock = m.pick(
        f"Clock({n}, {GRID})", f"Clock({every!r})", f"Clock({tag}_T)", f'Clock(Clock({n}, {GRID}), "ExplicitEuler")'
    )
    part.inside += f"parameter Real {tag}_T = {every!r};\n" if "_T" in clock else ""
    part.inside += f"Real {tag}_u, {tag}_x(start=0.5), {tag}_y; Integer {tag}_n(start=0); Real {tag}_s, {tag}_r, {tag}_i, {tag}_z;\n"
    sub = m.pick(f"subSample({tag}_x, {f})", f"subSample({tag}_u + {tag}_x - {tag}_u, {f})")
    part.equations += (
        f"{tag}_u = sample({x}, {clock}); {tag}_x = ({k})*previous({tag}_x) + 0.3*{tag}_u; {tag}_n = previous({tag}_n) + (if {tag}_u > 1e9 then 2 else 1);\n"
        f"{tag}_y = hold({tag}_x); {tag}_i = interval({tag}_u); {tag}_s = {sub}; {tag}_z = hold({tag}_s);\n"
        f"{tag}_r = hold(shiftSample({tag}_x, {s}));\n"
    )
    part.python += (
        f"def {tag}_run(t):\n    x, found = 0.5, []\n    for s in ticks(t, 0.0, {every!r}):\n"
        f"        x = {k}*x + 0.3*V(s)[{x!r}]\n        found.append(x)\n    return found\n"
    )
    part.defs.append((f"{tag}_all", f"{tag}_run(t)"))
    part.checks += [
        (f"{tag}_n", f"len({tag}_all)"),
        (f"{tag}_i", repr(every)),
        (f"{tag}_z", f"{tag}_all[(len({tag}_all) - 1)//{f}*{f}]"),
        (f"{tag}_r", f"{tag}_all[-1] if len({tag}_all) > {s} else unsure()"),
    ]
    if m.chance():
        more(m, part, tag)
    publish(m, part, f"{tag}_y", f"{tag}_all[-1]")
    m.reals.pop()  # at its ticks it is not known on both sides
    return part


def more(m: Maker, part: Part, tag: str) -> None:
    """Faster clocks, whens on clocks, records of clocked values."""
    f = m.pick(2, 4)
    part.inside += f"Real {tag}_f, {tag}_w(start=0), {tag}_v(start=0); Boolean {tag}_t; Real {tag}_tn(start=0);\n"
    part.equations += (
        f"{tag}_f = hold(superSample({tag}_x, {f})); {tag}_t = firstTick({tag}_x);"
        f" {tag}_tn = previous({tag}_tn) + (if {tag}_t then 10 else 1) + 0*{tag}_x;\n"
        f"when Clock({tag}_c) then {tag}_w = previous({tag}_w) + 1; end when; {tag}_v = hold({tag}_w);\n"
    )
    part.inside += f"Boolean {tag}_c = time > 0.25 and time < 0.5 or time > 0.75;\n"
    part.checks += [(f"{tag}_f", f"{tag}_all[-1]"), (f"{tag}_tn", f"9 + len({tag}_all)")]
    part.checks.append((f"{tag}_v", "(1 if t > 0.25 else 0) + (1 if t > 0.75 else 0)"))


def states_of_a_machine(m: Maker, tag: str) -> Part:
    """Two or three states that count and hand over."""
    part, n, a, b = Part("state machine", tag), f"{tag}_n", m.r.randint(2, 4), m.r.randint(1, 4)
    part.inside += (
        f"inner Integer {n}(start=0); Real {tag}_k;\n"
        f"block {tag}_A outer output Integer {n}; Integer c(start=0); equation {n} = previous({n}) + 1; c = previous(c) + 1; end {tag}_A;\n"
        f"block {tag}_B outer output Integer {n}; Integer c(start=0); equation {n} = previous({n}) - 2; c = previous(c) + 1; end {tag}_B;\n"
        f"{tag}_A {tag}_one; {tag}_B {tag}_two;\n"
    )
    part.equations += (
        f"initialState({tag}_one); transition({tag}_one, {tag}_two, {n} >= {a}, immediate=false);"
        f" transition({tag}_two, {tag}_one, {tag}_two.c >= {b}, immediate=false);\n"
        f"{tag}_tick = sample(time, Clock(1, {GRID})) + {n};\n{tag}_k = hold({n});\n"
    )
    part.inside += f"Real {tag}_tick;\n"
    part.python += (
        f"def {tag}_run(t):\n    n, one, c, go, found = 0, True, 0, False, 0\n    for _ in ticks(t, 0.0, 1/{GRID}):\n"
        f"        if go: one, c = not one, 0\n        c += 1\n        n += 1 if one else -2\n"
        f"        go = n >= {a} if one else c >= {b}\n    return n\n"
    )
    part.checks.append((f"{tag}_k", f"{tag}_run(t)"))
    return part


def initially(m: Maker, tag: str) -> Part:
    """When initial(), Booleans that are initial(), values kept from the start, terminal()."""
    part, x = Part("initial", tag), m.r.choice(m.reals[:4])
    part.inside += f"discrete Real {tag}_a, {tag}_b(start=5, fixed=true); Boolean {tag}_i = initial(); Real {tag}_c;\n"
    kept = m.event()
    part.equations += (
        f"when initial() then {tag}_a = {x}; elsewhen time >= {kept!r} then {tag}_a = pre({tag}_a) + 1; end when;\n"
        f"when terminal() then {tag}_b = 7; end when;\n{tag}_c = if {tag}_i then 100 else {tag}_a - {tag}_b;\n"
    )
    part.checks += [(f"{tag}_a", f"V(0.0)[{x!r}] + (1 if t >= {kept!r} else 0)"), (f"{tag}_i", "False")]
    part.checks.append((f"{tag}_c", f"V(0.0)[{x!r}] + (1 if t >= {kept!r} else 0) - 5"))
    return part


def loops_of_whens(m: Maker, tag: str) -> Part:
    """Arrays of discrete values in for loops around whens."""
    part, n, every = Part("whens in loops", tag), m.r.randint(2, 4), m.pick(1, 2) / GRID
    part.inside += f"Integer {tag}_n[{n}](each start=0, each fixed=true); discrete Real {tag}_x[{n}](start={{{', '.join(str(0.1 * k) for k in range(n))}}}, each fixed=true);\n"
    part.equations += (
        f"for i in 1:{n} loop when sample(i*{every!r}, i*{every!r}) then {tag}_n[i] = pre({tag}_n[i]) + i;"
        f" {tag}_x[i] = 0.5*pre({tag}_x[i]) + {m.reals[0]}; end when; end for;\n"
    )
    for k in range(n):
        e = (k + 1) * every
        part.checks.append((f"{tag}_n[{k + 1}]", f"{k + 1}*len(ticks(t, {e!r}, {e!r}))"))
        part.checks.append(
            (
                f"{tag}_x[{k + 1}]",
                f"folded(t, ticks(t, {e!r}, {e!r}), {0.1 * k!r}, lambda k, p: 0.5*p + V(k)[{m.reals[0]!r}])",
            )
        )
    return part
