"""Random expressions of arrays, evaluated by numpy, and the many ways to give an array its values."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from randomly.expressions import Atoms, Two, boolean, real, signals
from randomly.parts import Maker, Part

Shape = tuple[int, ...]


def array(m: Maker, a: Atoms, shape: Shape, depth: int = 2) -> Two:
    """Text in Modelica and in Python (a numpy array or a number)."""
    if not shape:
        return scalar(m, a, depth)
    if depth <= 0:
        return leaf(m, a, shape)
    ways: list[Callable[[Maker, Atoms, Shape, int], Two]] = [
        leaf,
        leaf,
        both,
        both,
        scaled,
        chosen,
        comprehension,
        sliced,
        joined,
        called,
    ]
    if len(shape) == 1:
        ways += [vector, vector, product, product]
    if len(shape) == 2:
        ways += [matrix, matrix, product, product, rows]
    return m.pick(*ways)(m, a, shape, depth)


def scalar(m: Maker, a: Atoms, depth: int) -> Two:
    if depth <= 0 or m.chance(0.3):
        return real(m, a, 1)
    n, k = m.pick(1, 2, 3, 4), m.pick(2, 3)
    v, w, g = array(m, a, (n,), depth - 1), array(m, a, (n,), depth - 1), array(m, a, (n, k), depth - 1)
    return m.pick(
        (f"({v[0]}*{w[0]})", f"float(np.dot({v[1]}, {w[1]}))"),
        (f"sum({v[0]})", f"float(np.sum({v[1]}))"),
        (f"sum({g[0]})", f"float(np.sum({g[1]}))"),
        (f"max({v[0]})", f"float(np.max({v[1]}))"),
        (f"min({g[0]})", f"float(np.min({g[1]}))"),
        (f"product({v[0]})", f"float(np.prod({v[1]}))"),
        (f"scalar({{{{{real(m, a, 0)[0]}}}}})*0 + sum({v[0]})/{n}", f"float(np.mean({v[1]}))"),
        (f"sum(e_^2 for e_ in {v[0]})", f"float(np.sum(np.square({v[1]})))"),
        (
            f"sum(i_*j_ + {v[0]}*{w[0]} for i_ in 1:2, j_ in 1:2)",
            f"float(9 + 4*np.dot({v[1]}, {w[1]}))",
        ),
        (f"size({g[0]}, 2)*0.1", f"({k}*0.1)"),
    )


def leaf(m: Maker, a: Atoms, shape: Shape, _depth: int = 0) -> Two:
    way = m.r.randrange(5)
    text = ", ".join(map(str, shape))
    if way == 0:
        x = real(m, a, 1)
        return f"fill({x[0]}, {text})", f"np.full(({text},), {x[1]})"
    if way == 1 and len(shape) == 1:
        return m.pick(
            (f"linspace(-1, 1.5, {shape[0]})", f"np.linspace(-1, 1.5, {shape[0]})")
            if shape[0] > 1
            else ("{0.25}", "A([0.25])"),
            (f"(1:{shape[0]})", f"np.arange(1., {shape[0] + 1})"),
            (f"({shape[0] - 1}:-1:0)", f"np.arange({shape[0] - 1}., -1, -1)"),
            (f"(0.5:0.25:{0.5 + 0.25 * (shape[0] - 1)})", f"(0.5 + 0.25*np.arange({shape[0]}))"),
        )
    if way == 2:
        return m.pick((f"ones({text})", f"np.ones(({text},))"), (f"zeros({text})", f"np.zeros(({text},))"))
    if way == 3 and len(shape) == 2 and shape[0] == shape[1]:
        return f"identity({shape[0]})", f"np.eye({shape[0]})"
    return literal(m, a, shape)


def literal(m: Maker, a: Atoms, shape: Shape) -> Two:
    if not shape:
        return real(m, a, 1)
    each = [literal(m, a, shape[1:]) for _ in range(shape[0])]
    return "{" + ", ".join(e[0] for e in each) + "}", "A([" + ", ".join(e[1] for e in each) + "])"


def both(m: Maker, a: Atoms, shape: Shape, depth: int) -> Two:
    x, y = array(m, a, shape, depth - 1), array(m, a, shape, depth - 1)
    return m.pick(
        (f"({x[0]} + {y[0]})", f"({x[1]} + {y[1]})"),
        (f"({x[0]} - {y[0]})", f"({x[1]} - {y[1]})"),
        (f"({x[0]} .* {y[0]})", f"({x[1]} * {y[1]})"),
        (f"(-{x[0]} .+ {y[0]})", f"(-{x[1]} + {y[1]})"),
        (f"({x[0]} ./ ({y[0]} .^ 2 .+ 1.5))", f"({x[1]} / ({y[1]}**2 + 1.5))"),
        (f"(-{x[0]})", f"(-{x[1]})"),
    )


def scaled(m: Maker, a: Atoms, shape: Shape, depth: int) -> Two:
    x, s = array(m, a, shape, depth - 1), real(m, a, 1)
    return m.pick(
        (f"({s[0]}*{x[0]})", f"({s[1]}*{x[1]})"),
        (f"({x[0]}*{s[0]})", f"({x[1]}*{s[1]})"),
        (f"({x[0]}/(1.5 + ({s[0]})^2))", f"({x[1]}/(1.5 + ({s[1]})**2))"),
        (f"({s[0]} .- {x[0]})", f"({s[1]} - {x[1]})"),
        (f"({x[0]} .^ 2)", f"({x[1]}**2)"),
    )


def chosen(m: Maker, a: Atoms, shape: Shape, depth: int) -> Two:
    x, y, b = array(m, a, shape, depth - 1), array(m, a, shape, depth - 1), boolean(m, a, 1)
    return f"(if {b[0]} then {x[0]} else {y[0]})", f"({x[1]} if {b[1]} else {y[1]})"


def comprehension(m: Maker, a: Atoms, shape: Shape, depth: int) -> Two:
    n, k = shape[0], f"i{depth}_"
    inner = Atoms(a.reals, [*a.integers, (k, k)], a.booleans, a.plain)
    x = array(m, inner, shape[1:], depth - 1)
    if len(shape) == 2 and m.chance():
        z, j = (
            real(m, Atoms(a.reals, [*inner.integers, (f"j{depth}_", f"j{depth}_")], a.booleans, a.plain), 2),
            f"j{depth}_",
        )
        # the first iterator is the last dimension
        return (
            f"{{{z[0]} for {k} in 1:{shape[1]}, {j} in 1:{n}}}",
            f"A([[{z[1]} for {k} in range(1, {shape[1] + 1})] for {j} in range(1, {n + 1})])",
        )
    over = m.pick((f"1:{n}", f"range(1, {n + 1})"), (f"{n}:-1:1", f"range({n}, 0, -1)"))
    return f"{{{x[0]} for {k} in {over[0]}}}", f"A([{x[1]} for {k} in {over[1]}])"


NAMES = itertools.count()


def sliced(m: Maker, a: Atoms, shape: Shape, depth: int) -> Two:
    """In another form: a call, or an expression in parentheses, cannot be subscripted in Modelica 3.6."""
    x = array(m, a, shape, depth - 1)
    if len(shape) == 1:
        return f"vector({x[0]})", x[1]
    if len(shape) == 2:
        y = array(m, a, (shape[1], shape[0]), depth - 1)
        return f"transpose({y[0]})", f"({y[1]}).T"
    return x


def joined(m: Maker, a: Atoms, shape: Shape, depth: int) -> Two:
    k = m.r.randrange(len(shape))
    if shape[k] < 2:
        return leaf(m, a, shape)
    n = m.r.randint(1, shape[k] - 1)
    x = array(m, a, (*shape[:k], n, *shape[k + 1 :]), depth - 1)
    y = array(m, a, (*shape[:k], shape[k] - n, *shape[k + 1 :]), depth - 1)
    py = f"np.concatenate(({x[1]}, {y[1]}), axis={k})"
    if len(shape) == 2 and m.chance():
        return (f"[{x[0]}; {y[0]}]" if k == 0 else f"[{x[0]}, {y[0]}]"), py
    return f"cat({k + 1}, {x[0]}, {y[0]})", py


def called(m: Maker, a: Atoms, shape: Shape, depth: int) -> Two:
    """A function of scalars of each element."""
    x = array(m, a, shape, depth - 1)
    f, py = m.pick(("sin", "np.sin"), ("tanh", "np.tanh"), ("abs", "np.abs"), ("exp", "np.exp"))
    if f == "exp":
        return f"exp(-({x[0]}) .^ 2)", f"np.exp(-({x[1]})**2)"
    return f"{f}({x[0]})", f"{py}({x[1]})"


def vector(m: Maker, a: Atoms, shape: Shape, depth: int) -> Two:
    n = shape[0]
    x, y = array(m, a, shape, depth - 1), array(m, a, shape, depth - 1)
    if n == 3 and m.chance():
        return m.pick(
            (f"cross({x[0]}, {y[0]})", f"np.cross({x[1]}, {y[1]})"),
            (f"(skew({x[0]})*{y[0]})", f"np.cross({x[1]}, {y[1]})"),
        )
    if m.chance(0.3):
        g = array(m, a, (n, 1), depth - 1)
        return f"vector({g[0]})", f"({g[1]})[:, 0]"
    return f"(diagonal({x[0]})*{y[0]})", f"({x[1]} * {y[1]})"


def matrix(m: Maker, a: Atoms, shape: Shape, depth: int) -> Two:
    n, k = shape
    if n == k:
        g, v = array(m, a, shape, depth - 1), array(m, a, (n,), depth - 1)
        return m.pick(
            (f"symmetric({g[0]})", f"(lambda g: np.triu(g) + np.triu(g, 1).T)({g[1]})"),
            (f"diagonal({v[0]})", f"np.diag({v[1]})"),
            (f"((0.5*{g[0]})^2)", f"np.linalg.matrix_power(0.5*{g[1]}, 2)"),
            (f"outerProduct({v[0]}, {v[0]})", f"np.outer({v[1]}, {v[1]})"),
        )
    v, w = array(m, a, (n,), depth - 1), array(m, a, (k,), depth - 1)
    if k == 1:
        return f"matrix({v[0]})", f"({v[1]})[:, None]"
    return f"outerProduct({v[0]}, {w[0]})", f"np.outer({v[1]}, {w[1]})"


def product(m: Maker, a: Atoms, shape: Shape, depth: int) -> Two:
    k = m.pick(1, 2, 3)
    if len(shape) == 1:
        v = array(m, a, (k,), depth - 1)
        if m.chance():
            g = array(m, a, (shape[0], k), depth - 1)
            return f"({g[0]}*{v[0]})", f"({g[1]} @ {v[1]})"
        g = array(m, a, (k, shape[0]), depth - 1)
        return f"({v[0]}*{g[0]})", f"({v[1]} @ {g[1]})"
    g, h = array(m, a, (shape[0], k), depth - 1), array(m, a, (k, shape[1]), depth - 1)
    return f"({g[0]}*{h[0]})", f"({g[1]} @ {h[1]})"


def rows(m: Maker, a: Atoms, shape: Shape, depth: int) -> Two:
    """Brackets of scalars and vectors."""
    each = [[real(m, a, 1) for _ in range(shape[1])] for _ in range(shape[0])]
    mo = "; ".join(", ".join(e[0] for e in row) for row in each)
    return f"[{mo}]", "A([" + ", ".join("[" + ", ".join(e[1] for e in row) + "]" for row in each) + "])"


def subscripts(shape: Shape) -> list[Shape]:
    return list(itertools.product(*(range(1, n + 1) for n in shape)))


def told(name: str, shape: Shape, value: str) -> list[tuple[str, str]]:
    """Checks of each element."""
    return [
        (f"{name}[{','.join(map(str, s))}]", f"({value})[{', '.join(str(k - 1) for k in s)}]")
        for s in subscripts(shape)
    ]


def arrays(m: Maker, tag: str) -> Part:
    """An array from an expression, then its parts."""
    shape: Shape = tuple(m.r.randint(1, 3) for _ in range(m.pick(1, 1, 2, 2, 2, 3)))
    part, x, name = Part("array expression", tag), array(m, signals(m), shape, 3), f"{tag}_a"
    sizes = ", ".join(map(str, shape))
    part.defs.append((name, x[1]))
    part.checks += told(name, shape, name)
    way = m.r.randrange(7)
    if way == 0:
        part.inside += f"Real {name}[{sizes}] = {x[0]};\n"
    elif way == 1:
        part.inside += f"Real {name}[{', '.join(':' for _ in shape)}] = {x[0]};\n"
    elif way == 2:
        part.inside += f"Real {name}[{sizes}];\n"
        part.equations += f"{x[0]} = {name};\n" if m.chance() else f"-{name} = -({x[0]});\n"
    elif way == 3:
        part.inside += f"Real {name}[{sizes}];\n"
        part.sections += f"algorithm\n  {name} := {x[0]};\n"
    elif way == 4:
        by_index(m, part, name, shape, x)
    elif way == 5:
        through_function(m, part, tag, shape, x)
    else:
        part.inside += f"type {tag}_T = Real[{sizes}](each start = 0.5); {tag}_T {name} = {x[0]};\n"
    extra(m, part, tag, shape)
    return part


def by_index(m: Maker, part: Part, name: str, shape: Shape, x: Two) -> None:
    sizes, loops = ", ".join(map(str, shape)), [f"i{k}" for k in range(len(shape))]
    part.inside += f"Real {name}[{sizes}], {name}_b[{sizes}] = {x[0]};\n"
    around = "".join(f"for {i} in 1:size({name}, {k + 1}) loop " for k, i in enumerate(loops))
    what = f"[{', '.join(loops)}]"
    part.equations += f"{around}{name}{what} = {name}_b{what};{' end for;' * len(loops)}\n"


def through_function(m: Maker, part: Part, tag: str, shape: Shape, x: Two) -> None:
    sizes, colons = ", ".join(map(str, shape)), ", ".join(":" for _ in shape)
    told_by = ", ".join(f"size(u, {k + 1})" for k in range(len(shape)))
    result = m.pick(told_by, colons)
    body = m.pick(
        "y := u;",
        "y := 0.5*u; y := y + y;",
        f"for i in 1:size(u, 1) loop y[i{', :' * (len(shape) - 1)}] := u[i{', :' * (len(shape) - 1)}]; end for;",
    )
    if result == colons:
        body = "y := u;"
    part.classes += f"function {tag}_g input Real u[{colons}]; output Real y[{result}]; algorithm {body} end {tag}_g;\n"
    part.inside += f"Real {tag}_a[{sizes}] = {tag}_g({x[0]});\n"


def extra(m: Maker, part: Part, tag: str, shape: Shape) -> None:
    """Slices of what is there."""
    n, name, s = shape[0], f"{tag}_a", f"{tag}_s"
    rest = ", :" * (len(shape) - 1)
    mo, py, count = m.pick(
        (f"{name}[end:-1:1{rest}]", f"({name})[::-1]", n),
        (f"{name}[{{{n}, 1, 1}}{rest}]", f"({name})[[{n - 1}, 0, 0]]", 3),
        (f"{name}[1:{n}{rest}]", name, n),
        (f"{name}[{{i_ for i_ in 1:2:{n}}}{rest}]", f"({name})[0:{n}:2]", (n + 1) // 2),
    )
    got: Shape = (count, *shape[1:])
    part.inside += f"Real {s}[{', '.join(map(str, got))}] = {mo};\n"
    part.checks += told(s, got, py)
    last = ", ".join("end" for _ in shape)
    part.inside += f"Real {tag}_y = tanh({name}[{last}]);\n"
    part.defs.append((f"{tag}_y", f"math.tanh(({name})[{', '.join('-1' for _ in shape)}])"))
    part.checks.append((f"{tag}_y", f"{tag}_y"))
    m.reals.append(f"{tag}_y")
