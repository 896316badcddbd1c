"""Connectors: flows that are summed, arrays, buses, streams that mix, overconstrained loops."""

from __future__ import annotations

import re

from randomly.parts import Maker, Part
from randomly.solving import publish, wave


def network(m: Maker, tag: str) -> Part:
    """Resistors in a random network of nodes, some of them inside subsystems; solved by numpy."""
    part, n = Part("network", tag), m.r.randint(2, 4)
    x = wave(m)[0]
    links = [(m.r.randrange(k), k, round(m.r.uniform(0.5, 3), 3)) for k in range(1, n + 1)]
    for _ in range(m.r.randint(0, 3)):
        one, two = m.r.sample(range(n + 1), 2)
        links.append((one, two, round(m.r.uniform(0.5, 3), 3)))
    flow = m.pick("flow Real i", f"flow {tag}_Amp i")
    part.classes += (
        f'type {tag}_Amp = Real(unit="A"); connector {tag}_Pin Real v; {flow}; end {tag}_Pin; connector {tag}_Neg = {tag}_Pin;\n'
        f"partial model {tag}_Two {tag}_Pin p; {tag}_Neg n; protected Real v = p.v - n.v; end {tag}_Two;\n"
        f"model {tag}_Res extends {tag}_Two; parameter Real R = 1; equation p.i + n.i = 0; v = R*p.i; end {tag}_Res;\n"
        f"model {tag}_Src extends {tag}_Two; input Real u; equation v = u; p.i + n.i = 0; end {tag}_Src;\n"
        f"model {tag}_Gnd {tag}_Pin p; equation p.v = 0; end {tag}_Gnd;\n"
        f'model {tag}_Sub "Two resistors between its pins, in series" extends {tag}_Two; parameter Real R = 1; {tag}_Res r[2](each R = R/2);'
        f" equation connect(p, r[1].p); connect(r[1].n, r[2].p); connect(r[2].n, n); end {tag}_Sub;\n"
    )
    in_array = m.chance()
    kinds = [m.pick("Res", "Sub") for _ in links]
    if in_array:
        kind = m.pick("Res", "Sub")
        part.inside += f"{tag}_{kind} {tag}_r[{len(links)}](R = {{{', '.join(repr(e[2]) for e in links)}}});\n"
        names = [f"{tag}_r[{k + 1}]" for k in range(len(links))]
    else:
        names = [f"{tag}_r{k}" for k in range(len(links))]
        part.inside += "".join(f"{tag}_{kinds[k]} {names[k]}(R = {e[2]!r});\n" for k, e in enumerate(links))
    part.inside += f"{tag}_Src {tag}_s(u = {x[0]}); {tag}_Gnd {tag}_g; {tag}_Pin {tag}_nodes[{n + 1}];\n"
    text = [
        f"connect({tag}_s.n, {tag}_g.p);",
        f"connect({tag}_s.p, {tag}_nodes[1]);",
        f"connect({tag}_g.p, {tag}_nodes[{n + 1}]);",
    ]
    # node 0 is the source, node n is ground; outside connectors of the model itself: their flows sum to what enters
    for k, (i, j, _) in enumerate(links):
        text.append(f"connect({names[k]}.p, {tag}_nodes[{i + 1}]);")
        text.append(
            m.pick(f"connect({names[k]}.n, {tag}_nodes[{j + 1}]);", f"connect({tag}_nodes[{j + 1}], {names[k]}.n);")
        )
    m.r.shuffle(text)
    part.classes += f"model {tag}_Joint {tag}_Pin p; equation p.i = 0; end {tag}_Joint;\n"
    part.inside = part.inside.replace(f"{tag}_Pin {tag}_nodes[", f"{tag}_Joint {tag}_nodes[")
    part.equations += re.sub(rf"({tag}_nodes\[\d+\])", r"\1.p", "\n".join(text)) + "\n"
    currents(part, tag, n, links, names, x[1])
    return part


def currents(part: Part, tag: str, n: int, links: list[tuple[int, int, float]], names: list[str], source: str) -> None:
    """By the potentials of all nodes, the first of which is given and the last zero."""
    part.python += (
        f"def {tag}_solve(u):\n    n = {n}\n    g, b = np.zeros((n + 1, n + 1)), np.zeros(n + 1)\n"
        f"    for i, j, r in {links!r}:\n        g[i, i] += 1/r; g[j, j] += 1/r; g[i, j] -= 1/r; g[j, i] -= 1/r\n"
        "    g[0], g[n] = 0, 0\n    g[0, 0] = g[n, n] = 1\n    b[0] = u\n    return np.linalg.solve(g, b)\n"
    )
    for k, (i, j, r) in enumerate(links):
        part.checks.append((f"{names[k]}.p.i", f"float({tag}_solve({source})[{i}] - {tag}_solve({source})[{j}])/{r!r}"))
    part.checks += [(f"{tag}_nodes[{k + 1}].p.v", f"float({tag}_solve({source})[{k}])") for k in range(n + 1)]


def streams(m: Maker, tag: str) -> Part:
    """Sources with known flows and a sink: what leaves is the mean by the flows; one of them turns round."""
    part, n = Part("streams", tag), m.r.randint(1, 3)
    flows = [round(m.r.uniform(0.5, 2), 3) for _ in range(n)]
    h = [wave(m)[0] for _ in range(n)]
    part.classes += (
        f"connector {tag}_Port Real p; flow Real m; stream Real h; stream Real X[2]; end {tag}_Port;\n"
        f"model {tag}_Source {tag}_Port port; parameter Real m = 1; input Real h; equation port.m = -m; port.h = h; port.X = {{h, 2*h}}; end {tag}_Source;\n"
        f"model {tag}_Sink {tag}_Port port; Real h = inStream(port.h); Real X[2] = inStream(port.X); Real a = actualStream(port.h); equation port.p = 1; port.h = 99; port.X = {{5, 6}}; end {tag}_Sink;\n"
        f"model {tag}_Pipe {tag}_Port a, b; equation a.p = b.p; a.m + b.m = 0; a.h = inStream(b.h); b.h = inStream(a.h); a.X = inStream(b.X); b.X = inStream(a.X); end {tag}_Pipe;\n"
        f"model {tag}_Shell {tag}_Port a, b; {tag}_Pipe p1, p2; equation connect(a, p1.a); connect(p1.b, p2.a); connect(p2.b, b); end {tag}_Shell;\n"
    )
    pipe = m.pick("Pipe", "Shell")
    part.inside += (
        f"{tag}_Source {tag}_s[{n}](m = {{{', '.join(map(repr, flows))}}}, h = {{{', '.join(e[0] for e in h)}}});\n"
    )
    part.inside += f"{tag}_{pipe} {tag}_p; {tag}_Sink {tag}_o;\n"
    part.equations += (
        f"for i in 1:{n} loop connect({tag}_s[i].port, {tag}_p.a); end for; connect({tag}_p.b, {tag}_o.port);\n"
    )
    mean = f"({' + '.join(f'{f!r}*({e[1]})' for f, e in zip(flows, h, strict=True))})/{sum(flows)!r}"
    part.checks += [
        (f"{tag}_o.h", mean), (f"{tag}_o.X[2]", f"2*{mean}"), (f"{tag}_o.a", mean), (f"{tag}_o.port.m", repr(sum(flows))),
    ]  # fmt: skip
    part.inside += f"Real {tag}_y = tanh({tag}_o.h);\n"
    publish(m, part, f"{tag}_y", f"math.tanh({mean})")
    return part


def buses(m: Maker, tag: str) -> Part:
    """Expandable connectors, nested, with arrays; causal connectors through hierarchies."""
    part, n = Part("bus", tag), m.r.randint(1, 3)
    x, z = wave(m)[0], wave(m)[0]
    part.classes += (
        f"connector {tag}_In = input Real; connector {tag}_Out = output Real;\n"
        f"expandable connector {tag}_Sub end {tag}_Sub; expandable connector {tag}_Bus Real told; {tag}_Sub sub; end {tag}_Bus;\n"
        f"block {tag}_Set {tag}_Out y; parameter Integer k = 1; {tag}_Out v[{n}]; {tag}_In u; {tag}_Bus bus; equation y = u; v = {{i*u + k for i in 1:{n}}};"
        f" connect(y, bus.sub.value); connect(v, bus.many); end {tag}_Set;\n"
        f"block {tag}_Get {tag}_In u; {tag}_In w[{n}]; {tag}_In one; {tag}_Bus bus; Real y = u + 10*w[{n}] + 100*one; equation connect(bus.sub.value, u); connect(bus.many, w); connect(bus.told, one); end {tag}_Get;\n"
        f"model {tag}_Mid {tag}_Bus bus; {tag}_Get get; equation connect(bus, get.bus); end {tag}_Mid;\n"
        f"block {tag}_Const {tag}_Out y; input Real c; equation y = c; end {tag}_Const;\n"
    )
    part.inside += f"{tag}_Const {tag}_c(c = {x[0]}), {tag}_d(c = {z[0]}); {tag}_Set {tag}_s(k = 3); {tag}_Mid {tag}_m; {tag}_Bus {tag}_bus;\n"
    part.equations += f"connect({tag}_c.y, {tag}_s.u); connect({tag}_s.bus, {tag}_bus); connect({tag}_bus, {tag}_m.bus); connect({tag}_d.y, {tag}_bus.told);\n"
    part.checks.append((f"{tag}_m.get.y", f"({x[1]}) + 10*({n}*({x[1]}) + 3) + 100*({z[1]})"))
    return part


def frames(m: Maker, tag: str) -> Part:
    """Overconstrained connectors: a ring of parts with a root, potential roots and a loop that is broken."""
    part, n = Part("overconstrained", tag), m.r.randint(2, 4)
    a = round(m.r.uniform(-1, 1), 3)
    part.classes += (
        f"type {tag}_V = Real[2]; type {tag}_T extends {tag}_V; function equalityConstraint input {tag}_T a; input {tag}_T b; output Real r[1]; algorithm r := {{a[1]*b[2] - a[2]*b[1]}}; end equalityConstraint; end {tag}_T;\n"
        f"connector {tag}_C {tag}_T R; Real s; flow Real f; end {tag}_C;\n"
        f"model {tag}_World {tag}_C c; equation Connections.root(c.R); c.R = {{cos({a!r}), sin({a!r})}}; c.s = 1; end {tag}_World;\n"
        f"model {tag}_Bar {tag}_C a, b; parameter Real k = 1; equation Connections.branch(a.R, b.R); a.R = b.R; a.f + b.f = 0; b.s = a.s + k*a.f; end {tag}_Bar;\n"
        f"model {tag}_Load {tag}_C c; input Real u; equation c.f = u; end {tag}_Load;\n"
    )
    x = wave(m)[0]
    part.inside += f"{tag}_World {tag}_w; {tag}_Bar {tag}_b[{n}](k = {{{', '.join(str(1.0 + k) for k in range(n))}}}); {tag}_Load {tag}_l(u = {x[0]});\n"
    ring = m.chance()
    part.equations += (
        f"connect({tag}_w.c, {tag}_b[1].a); for i in 1:{n - 1} loop connect({tag}_b[i].b, {tag}_b[i + 1].a); end for;\n"
    )
    part.equations += f"connect({tag}_b[{n}].b, {tag}_l.c);\n"
    k = [1.0 + i for i in range(n)]
    if ring:  # a second way from the world to the load
        part.classes += f"model {tag}_Flex {tag}_C a, b; parameter Real k = 1; equation a.f + b.f = 0; b.s = a.s + k*a.f; end {tag}_Flex;\n"
        part.inside += f"{tag}_Flex {tag}_e(k = 2);\n"
        part.equations += f"connect({tag}_w.c, {tag}_e.a); connect({tag}_e.b, {tag}_l.c);\n"
        total = 1 / (1 / sum(k) + 1 / 2)
    else:
        total = sum(k)
    # what flows into the load is u, so into a of each bar -(-u)...: a.f of the chain is +u through
    part.checks.append((f"{tag}_l.c.s", f"1 + ({x[1]})*{total!r}"))
    part.checks.append((f"{tag}_l.c.R[1]", f"cos({a!r})"))
    return part
