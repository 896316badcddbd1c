"""Random functions: statements in Modelica and in Python at once, and the many ways to call them."""

from __future__ import annotations

from dataclasses import dataclass, field

from randomly.expressions import Atoms, Two, boolean, integer, real, signals
from randomly.parts import Maker, Part


@dataclass(slots=True)
class Body:
    """A function that is being written."""

    m: Maker
    atoms: Atoms
    mo: list[str] = field(default_factory=list)
    py: list[str] = field(default_factory=list)
    depth: int = 0
    n_loops: int = 0
    in_loop: bool = False
    calls: list[tuple[str, int]] = field(default_factory=list)  # earlier functions, with how many results

    def add(self, mo: str, py: str) -> None:
        self.mo.append("  " * self.depth + mo)
        self.py.append("    " * (self.depth + 1) + py)


def statement(b: Body) -> None:
    m = b.m
    ways = [assign, assign, assign, element, element, branch, many]
    if b.depth < 3:
        ways += [loop, loop, branch, while_loop, slices]
    if b.calls:
        ways += [several]
    if b.in_loop:
        ways += [leave]
    m.pick(*ways)(b)


def _real(b: Body, depth: int = 2) -> Two:
    return real(b.m, b.atoms, depth)


def assign(b: Body) -> None:
    m = b.m
    if m.chance(0.2):
        k, x = m.pick("k1", "k2"), integer(m, b.atoms, 2)
        b.add(f"{k} := {x[0]};", f"{k} = {x[1]}")
    elif m.chance(0.2):
        y = boolean(m, b.atoms, 1)
        b.add(f"q := {y[0]};", f"q = {y[1]}")
    else:
        v, x = m.pick("r1", "r2", "y"), _real(b, 3)
        b.add(f"{v} := sin({x[0]});", f"{v} = sin({x[1]})")


def many(b: Body) -> None:
    """A conditional value of a whole array."""
    y, s, t = boolean(b.m, b.atoms, 1), _real(b), _real(b)
    b.add(
        f"w := if {y[0]} then {{{s[0]}, {t[0]}, 0.5}} else 0.5*w;",
        f"w = [0, {s[1]}, {t[1]}, 0.5] if {y[1]} else [0.5*e_ for e_ in w]",
    )


def element(b: Body) -> None:
    m, x = b.m, _real(b)
    i = integer(m, b.atoms, 1)
    where = (f"1 + mod({i[0]}, 3)", f"1 + ({i[1]}) % 3")
    place = m.pick(("1", "1"), ("end", "3"), ("end - 1", "2"), where, where)
    if m.chance(0.3):
        j = m.pick(("1", "1"), ("end", "2"), (f"1 + mod({i[0]}, 2)", f"1 + ({i[1]}) % 2"))
        b.add(f"g[{place[0]}, {j[0]}] := tanh({x[0]});", f"g[{place[1]}][{j[1]}] = tanh({x[1]})")
    else:
        b.add(f"w[{place[0]}] := tanh({x[0]});", f"w[{place[1]}] = tanh({x[1]})")


def slices(b: Body) -> None:
    x, z = _real(b), _real(b)
    mo, py = b.m.pick(
        (f"w[2:end] := {{{x[0]}, tanh({z[0]})}};", f"w[2:] = [{x[1]}, tanh({z[1]})]"),
        ("w := w[end:-1:1];", "w = [0, w[3], w[2], w[1]]"),
        ("w[{3, 1}] := 0.5*w[{1, 2}];", "w[3], w[1] = 0.5*w[1], 0.5*w[2]"),
        (f"g[:, 1] := 0.5*w + fill({x[0]}, 3);", f"for e_ in (1, 2, 3): g[e_][1] = 0.5*w[e_] + {x[1]}"),
        ("g[2, :] := {sum(w)/3, min(w)};", "g[2] = [0, sum(w[1:])/3, min(w[1:])]"),
        ("w := g[:, 2] - 0.5*w;", "w = [0] + [g[e_][2] - 0.5*w[e_] for e_ in (1, 2, 3)]"),
        ("w[1:2] := transpose(g)*w/4;", "w[1:3] = [sum(g[i_][e_]*w[i_] for i_ in (1, 2, 3))/4 for e_ in (1, 2)]"),
        ("g := -0.5*g[{2, 3, 1}, :];", "g = [0] + [[0, -0.5*g[e_][1], -0.5*g[e_][2]] for e_ in (2, 3, 1)]"),
        ("(w[1], w[3]) := (0.5*w[3], w[1]);", "w[1], w[3] = 0.5*w[3], w[1]"),
    )
    if mo.startswith("(w[1]"):  # not Modelica: a tuple on the right has to be a call
        mo, py = "w[{1, 3}] := {0.5*w[3], w[1]};", py
    b.add(mo, py)


def branch(b: Body) -> None:
    b.py.append("")
    c = boolean(b.m, b.atoms, 2)
    b.add(f"if {c[0]} then", f"if {c[1]}:")
    inside(b)
    for _ in range(b.m.pick(0, 0, 1, 2)):
        c = boolean(b.m, b.atoms, 1)
        b.add(f"elseif {c[0]} then", f"elif {c[1]}:")
        inside(b)
    if b.m.chance():
        b.add("else", "else:")
        inside(b)
    b.add("end if;", "pass")


def inside(b: Body, most: int = 2) -> None:
    b.depth += 1
    for _ in range(b.m.r.randint(1, most)):
        statement(b)
    b.add("", "pass")
    b.depth -= 1


def loop(b: Body) -> None:
    m = b.m
    b.n_loops += 1
    i, was, count = f"i{b.n_loops}", b.in_loop, integer(m, b.atoms, 1)
    over = [
        ("1:3", "range(1, 4)"),
        ("4:-2:0", "(4, 2, 0)"),
        ("3:1", "()"),
        ("{3, 1, 2}", "(3, 1, 2)"),
        (f"1:(1 + mod({count[0]}, 4))", f"range(1, 2 + ({count[1]}) % 4)"),
        (f"mod({count[0]}, 3):2", f"range(({count[1]}) % 3, 3)"),
        ("1:size(w, 1)", "(1, 2, 3)"),
    ]
    mo, py = m.pick(*over)
    two = m.chance(0.2)
    if two:
        b.add(f"for {i} in {mo}, {i}j in 1:2 loop", f"for {i}, {i}j in [(a_, b_) for a_ in {py} for b_ in (1, 2)]:")
    else:
        b.add(f"for {i} in {mo} loop", f"for {i} in {py}:")
    kept = b.atoms
    b.atoms = Atoms(kept.reals, [*kept.integers, (i, i)] + ([(f"{i}j", f"{i}j")] if two else []), kept.booleans, True)
    b.in_loop = not two
    inside(b, 3)
    b.atoms, b.in_loop = kept, was
    b.add("end for;", "pass")


def while_loop(b: Body) -> None:
    b.n_loops += 1
    k, was, c = f"c{b.n_loops}", b.in_loop, boolean(b.m, b.atoms, 1)
    b.add(f"{k} := 0;", f"{k} = 0")
    b.add(f"while {k} < 4 and ({c[0]} or {k} < 2) loop", f"while {k} < 4 and ({c[1]} or {k} < 2):")
    b.depth += 1
    b.add(f"{k} := {k} + 1;", f"{k} += 1")
    b.depth -= 1
    b.in_loop = True
    inside(b)
    b.in_loop = was
    b.add("end while;", "pass")


def leave(b: Body) -> None:
    c = boolean(b.m, b.atoms, 1)
    word = b.m.pick("break", "break", "return")
    py = "break" if word == "break" else "return y, k1, w"
    b.add(f"if {c[0]} then {word}; end if;", f"if {c[1]}: {py}")


def several(b: Body) -> None:
    f, _ = b.m.pick(*b.calls)
    x, z = _real(b), _real(b)
    mo, py = b.m.pick(
        (f"(r1, k1, w) := {f}({x[0]}, {z[0]});", f"r1, k1, w = {f}__all({x[1]}, {z[1]})"),
        (f"(r2, , w) := {f}({x[0]}, {z[0]});", f"r2, _, w = {f}__all({x[1]}, {z[1]})"),
        (f"(, k2) := {f}({x[0]}, b = {z[0]});", f"_, k2, _ = {f}__all({x[1]}, {z[1]})"),
        (f"r1 := {f}(b = {z[0]}, a = {x[0]});", f"r1 = {f}({x[1]}, {z[1]})"),
        (f"(w[2], k1) := {f}({x[0]}, {z[0]});", f"w[2], k1, _ = {f}__all({x[1]}, {z[1]})"),
        (f"(g[3, 1], , w) := {f}({x[0]}, w[2]);", f"g[3][1], _, w = {f}__all({x[1]}, w[2])"),
    )
    b.add(mo, py)


def function_text(m: Maker, name: str, calls: list[tuple[str, int]]) -> tuple[str, str]:
    """A function of two Reals: a Real in -1..1, an Integer, a vector of three."""
    names = ["a", "b", "r1", "r2", "w[1]", "w[end]", "g[2, 1]", "y"]
    py_names = ["a", "b", "r1", "r2", "w[1]", "w[3]", "g[2][1]", "y"]
    atoms = Atoms(list(zip(names, py_names, strict=True)), [("k1", "k1"), ("k2", "k2")], [("q", "q")], True)
    body = Body(m, atoms, calls=calls)
    first = real(m, Atoms([("a", "a"), ("b", "b")], [], [], True), 2)
    for _ in range(m.r.randint(3, 9)):
        statement(body)
    counters = "".join(f" Integer c{k};" for k in range(1, body.n_loops + 1) if f"c{k} := 0" in "".join(body.mo))
    rooms = m.pick("Real w2[:] = {a, b, 0.25};", "Real w2[:] = w;", "")
    inline = m.pick("", "", "annotation(Inline=true);", "annotation(Inline=false);", "annotation(LateInline=true);")
    default = m.pick("", " = 0.5")
    mo = (
        f"function {name}\n  input Real a;\n  input Real b{default};\n  output Real y = {first[0]};\n"
        "  output Integer k1 = 1;\n  output Real w[3] = {0.1, 0.2, 0.3};\nprotected\n"
        f"  Real r1 = a, r2 = 0.3; Integer k2 = 2; Boolean q = false; Real g[3, 2] = fill(0.5, 3, 2); {rooms}{counters}\n"
        "algorithm\n"
        + "\n".join(f"  {s}" for s in body.mo)
        + f"\n  y := sin(y + r1 + w[1] + g[2, 1]);\n  {inline}\nend {name};\n"
    )
    py = (
        f"def {name}__all(a, b=0.5):\n    y = {first[1]}\n    k1 = 1\n    w = [0, 0.1, 0.2, 0.3]\n    r1, r2, k2, q = a, 0.3, 2, False\n"
        "    g = [0] + [[0, 0.5, 0.5] for _ in range(3)]\n"
        + "\n".join(s for s in body.py if s)
        + f"\n    y = sin(y + r1 + w[1] + g[2][1])\n    return y, k1, w\ndef {name}(a, b=0.5):\n    return {name}__all(a, b)[0]\n"
    )
    return mo, py


def functions(m: Maker, tag: str) -> Part:
    """One to three random functions, called in several ways."""
    part = Part("random function", tag)
    mine: list[tuple[str, int]] = [(f, 3) for f in m.functions[-2:]]
    for k in range(m.r.randint(1, 3)):
        name = f"{tag}_f{k}"
        mo, py = function_text(m, name, mine)
        part.classes += mo
        part.python += py
        mine.append((name, 3))
    call(m, part, tag, f"{tag}_f0" if m.chance(0.2) else mine[-1][0])
    m.functions.append(mine[-1][0])
    m.reals.append(f"{tag}_y")
    return part


def call(m: Maker, part: Part, tag: str, f: str) -> None:
    x, z = real(m, signals(m), 2), m.real()
    y = f"{tag}_y"
    args = m.pick(f"{x[0]}, {z}", f"a = {x[0]}, b = {z}", f"{x[0]}, b = {z}")
    part.defs.append((y, f"{f}({x[1]}, {z})"))
    part.checks.append((y, y))
    both = f"{f}__all({x[1]}, {z})"
    way = m.r.randrange(6)
    if way == 0:
        part.inside += f"Real {y} = {f}({args});\n"
    elif way == 1:
        part.inside += f"Real {y}; Integer {tag}_k; Real {tag}_w[3];\n"
        part.equations += f"({y}, {tag}_k, {tag}_w) = {f}({args});\n"
        part.checks += [(f"{tag}_k", f"{both}[1]")] + [(f"{tag}_w[{i}]", f"{both}[2][{i}]") for i in (1, 2, 3)]
    elif way == 2:
        part.inside += f"Real {y}; Integer {tag}_k;\n"
        part.sections += f"algorithm\n  {y} := 0; ({y}, {tag}_k) := {f}({args});\n"
        part.checks.append((f"{tag}_k", f"{both}[1]"))
    elif way == 3:
        part.inside += f"Real {tag}_v[2] = {f}({{{x[0]}, {z}}}, {{{z}, {x[0]}}}); Real {y} = {tag}_v[1];\n"
        part.checks.append((f"{tag}_v[2]", f"{f}({z}, {x[1]})"))
    elif way == 4:
        part.inside += f"Real {y} = sum({f}(s_, {z}) for s_ in {{{x[0]}}});\n"
    else:
        c, d = m.number(), m.number()
        part.inside += f"parameter Real {tag}_p = {f}({c}, {d}); constant Real {tag}_c = {f}({d}, {c});\n"
        part.inside += f"Real {y} = {f}({args}); Real {tag}_z = {tag}_p + {tag}_c;\n"
        part.checks.append((f"{tag}_z", f"{f}({c}, {d}) + {f}({d}, {c})"))
