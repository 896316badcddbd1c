"""The Modelica text of a wrapper: an external object around the FMU's C functions, and a model that calls them.

Co-Simulation: one step of the FMU at each sample, from the last one to this, with the inputs held since.  Model
Exchange: derivatives, event indicators and outputs are functions of time, states and inputs, which whatever method runs
the model asks for; an event hands the states to the FMU and takes them back.  `epoch` is another one after each event:
the same arguments mean the same values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kilohertz.fmi.importing.description import Description
from kilohertz.fmi.importing.jacobian import jacobian_plan
from kilohertz.fmi.wrapping.ports import Port, Ports, identifier, literal

HEADER = "khz_called_fmu.h"
MODEL = "FMU"
STEP = "communicationStep"
FIRST = "firstInstant"
_EXCHANGE = "fmu, t, x, u, epoch"


@dataclass(frozen=True, slots=True)
class Place:
    """Where the parts of an unpacked FMU lie."""

    package: str
    folder: str  # beside the package
    library: str
    resources: str
    prefix: str  # of the names of functions


@dataclass(frozen=True, slots=True)
class Sizes:
    """How long the vectors of an FMU are."""

    inputs: int
    outputs: int
    states: int
    indicators: int


def sizes_of(description: Description, ports: Ports) -> Sizes:
    """Counted with arrays by their elements."""
    d = description
    if d.version == 2:
        states, indicators = len(d.derivatives), d.n_indicators
    else:
        by_reference = {v.reference: v for v in d.variables}
        states = sum(by_reference[r].size for r in d.derivatives)
        indicators = sum(by_reference[r].size if r in by_reference else 1 for r in d.indicators)
    return Sizes(_length(ports.inputs), _length(ports.outputs), states, indicators)


def _length(ports: Sequence[Port]) -> int:
    return sum(p.variable.size for p in ports)


def tells_steps(description: Description) -> bool:
    """Whether Model Exchange is told of every step of the solver."""
    is_3 = description.version == 3
    key = "needsCompletedIntegratorStep" if is_3 else "completedIntegratorStepNotNeeded"
    return (description.flags.get("me", {}).get(key, "false") in ("true", "1")) == is_3


def wrapper(description: Description, kind: str, ports: Ports, place: Place) -> str:
    """The package."""
    return _Wrapper(description, kind, ports, place).text()


class _Wrapper:
    def __init__(self, description: Description, kind: str, ports: Ports, place: Place) -> None:
        self.d, self.kind, self.ports, self.place = description, kind, ports, place
        self.sizes = sizes_of(description, ports)
        self.own = f".{place.package}"  # before what variables of the FMU hide: one may be called `outputs`
        folder = f"modelica://{place.package}/{place.folder}"
        self.by = f'annotation(Include = "#include \\"{HEADER}\\"", IncludeDirectory = "{folder}", Library = "dl")'

    def text(self) -> str:
        functions = self._step() if self.kind == "cs" else self._exchange_functions()
        about = literal(f"the FMU {self.d.name}, made by {self.d.tool or 'an unnamed tool'}")
        name = self.place.package
        return f"package {name} {about}\n{self._object()}\n{functions}\n{self._model()}end {name};\n"

    # ------------------------------------------------------------------------------------------------------- functions

    def _object(self) -> str:
        return f"""\
  class Instance "an instance of the FMU"
    extends ExternalObject;
    function constructor
      input String name;
      input String library "file";
      input String resources "folder, as this version of FMI says it";
      input String token;
      input String prefix "of the names of its functions";
      input Integer how[6] "version, Model Exchange, inputs, outputs, states, event indicators";
      input String inputs "kinds and value references";
      input String outputs "likewise";
      input String derivatives "what is known of the Jacobian; nothing: it is left to the solver";
      input String parameters "likewise";
      input Real values[:] "of parameters";
      input Real starts[:] "of parameters, as the FMU has them";
      input String references "of texts";
      input String texts[:];
      input String textStarts[:];
      output Instance fmu;
      external "C" fmu = khz_called_make(name, library, resources, token, prefix, how, inputs, outputs, derivatives,
        parameters, values, starts, size(values, 1), references, texts, textStarts, size(texts, 1))
        {self.by};
    end constructor;
    function destructor
      input Instance fmu;
      external "C" khz_called_free(fmu)
        {self.by};
    end destructor;
  end Instance;
"""

    def _step(self) -> str:
        return f"""\
  impure function step "go on to a time; outputs there, and 1 where the FMU wants to end"
    input Instance fmu;
    input Real t;
    input Real u[:];
    output Real y[{self.sizes.outputs + 1}];
    external "C" khz_called_step(fmu, t, u, y)
      {self.by};
  end step;
"""

    def _exchange_functions(self) -> str:
        s = self.sizes
        texts = [self._moving("begin", "fmu, t, u", s.states + 3), self._moving("event", _EXCHANGE, s.states + 3)]
        of_point = (("rates", s.states), ("crossings", s.indicators), ("outputs", s.outputs))
        texts += [self._moving(name, _EXCHANGE, n, "") for name, n in of_point if n]
        if self._directions():
            texts.append(self._moving("rates_along", f"{_EXCHANGE}, t_d, x_d, u_d", s.states, ""))
        texts += [self._moving("completed", "fmu, t, x, u", 0)] if tells_steps(self.d) else []
        return "\n".join(texts)

    def _moving(self, name: str, arguments: str, n: int, prefix: str = "impure ") -> str:
        types = {"fmu": "Instance fmu", "t": "Real t", "x": "Real x[:]", "u": "Real u[:]", "epoch": "Integer epoch"}
        types |= {"t_d": "Real t_d", "x_d": "Real x_d[:]", "u_d": "Real u_d[:]"}
        inputs = "".join(f"    input {types[a]};\n" for a in arguments.split(", "))
        call = f"khz_called_{name}({arguments}, y)" if n else f"y = khz_called_{name}({arguments})"
        result = f"Real y[{n}]" if n else "Real y"
        known = "    annotation(derivative = rates_along);\n" if name == "rates" and self._directions() else ""
        return (
            f'  {prefix}function {name}\n{inputs}    output {result};\n    external "C" {call}\n'
            f"      {self.by};\n{known}  end {name};\n"
        )

    def _directions(self) -> str:
        """The Jacobian as `khz_called_jacobian.h` reads it, where the FMU offers directional derivatives between states
        or its structure saves calls; else nothing: differences along each state are the solver's own business."""
        plan = jacobian_plan(self.d) if self.kind == "me" else None
        n = self.sizes.states
        if plan is None or len(plan["rows"]) != n:
            return ""
        offered = self._offered(plan)
        if not offered and len(plan["groups"]) >= n:
            return ""
        colours = {column: i for i, group in enumerate(plan["groups"]) for column in group}
        return "|".join((offered or "|", " ".join(str(colours[c]) for c in range(n)), _by_column(plan["rows"], n)))

    def _offered(self, plan: dict[str, Any]) -> str:
        """References of states, a bar, of derivatives; empty where the FMU cannot be asked for all of them at once."""
        by_reference = {v.reference: Port(v) for v in reversed(self.d.variables) if v.type == "Real"}
        lists = [[by_reference[r] for r in plan[which] if r in by_reference] for which in ("states", "rates")]
        kinds = {port.variable.kind for ports in lists for port in ports}
        sizes = [_length(ports) for ports in lists]
        if not plan["directional"] or kinds not in ({"Real"}, {"Float64"}) or sizes != [self.sizes.states] * 2:
            return ""
        return "|".join(" ".join(port.in_list() for port in ports) for ports in lists)

    # ----------------------------------------------------------------------------------------------------------- model

    def _model(self) -> str:
        p, free = self.ports, self.ports.free
        declared = [port.declared("parameter", port.start()) for port in (*p.parameters, *p.texts)]
        if self.kind == "cs" or tells_steps(self.d):
            declared.append(f'    parameter Real {free(STEP)}(unit = "s") = 0.001 "between two calls";\n')
            declared.append(f'    parameter Real {free(FIRST)}(unit = "s") = 0.0 "of the run";\n')
        declared += [port.declared("input") for port in p.inputs]
        declared += [port.declared("output") for port in p.outputs]
        body = self._co_simulation() if self.kind == "cs" else self._exchange()
        return f"  model {MODEL}\n{''.join(declared)}  protected\n{self._made()}{body}  end {MODEL};\n"

    def _made(self) -> str:
        p, s, d = self.ports, self.sizes, self.d
        how = f"{{{d.version}, {int(self.kind == 'me')}, {s.inputs}, {s.outputs}, {s.states}, {s.indicators}}}"
        values = _vector([port.as_real(e) for port in p.parameters for e in port.elements()], "0.0")
        starts = _vector([port.as_real(start) for port in p.parameters for start in port.starts()], "0.0")
        texts = _vector([port.name for port in p.texts], '""')
        text_starts = _vector([port.starts()[0] for port in p.texts], '""')
        references = literal(" ".join(str(port.variable.reference) for port in p.texts))
        return f"""\
    {self.own}.Instance {self._fmu} = {self.own}.Instance(
      {literal(self.place.package)},
      {literal(self.place.library)},
      {literal(self.place.resources)},
      {literal(d.token)},
      {literal(self.place.prefix)},
      {how},
      {_listed(p.inputs)},
      {_listed(p.outputs)},
      {literal(self._directions())},
      {_listed(p.parameters)},
      {values},
      {starts},
      {references},
      {texts},
      {text_starts});
"""

    @property
    def _fmu(self) -> str:
        return self.ports.free("fmu")

    def _inputs(self) -> str:
        return _vector([port.as_real(e) for port in self.ports.inputs for e in port.elements()], "0.0")

    def _read(self, y: str, indent: str) -> str:
        """Outputs from a vector."""
        pairs = ((port, e) for port in self.ports.outputs for e in port.elements())
        return "".join(f"{indent}{e} = {port.from_real(f'{y}[{i}]')};\n" for i, (port, e) in enumerate(pairs, 1))

    def _co_simulation(self) -> str:
        free, n = self.ports.free, self.sizes.outputs + 1
        y = free("y_")
        return f"""\
    discrete Real {y}[{n}];
  equation
    when {{initial(), sample({free(FIRST)}, {free(STEP)})}} then
      {y} = {self.own}.step({self._fmu}, time, {self._inputs()});
{self._read(y, "      ")}    end when;
    when {y}[{n}] > 0.5 then
      terminate("the FMU wants to end the run");
    end when;
"""

    def _exchange(self) -> str:
        free, s = self.ports.free, self.sizes
        x, b, e, next_, epoch, y = (free(n) for n in ("x_", "begun_", "event_", "next_", "epoch_", "y_"))
        point = f"{self._fmu}, time, {x if s.states else 'fill(0.0, 0)'}, {self._inputs()}"
        n = s.states
        lines = [f"    Real {x}[{n}];\n"] if n else []
        lines += [f"    parameter Real {b}[{n + 3}](each fixed = false);\n", f"    discrete Real {e}[{n + 3}];\n"]
        lines += [f"    discrete Real {next_};\n    discrete Integer {epoch};\n"]
        lines += [f"    Real {y}[{s.outputs}];\n"] if s.outputs else []
        lines += self._indicator_variables()
        lines += [f"    discrete Real {free('wish_')}(start = 0, fixed = true);\n"] if tells_steps(self.d) else []
        lines += [f"  initial equation\n    {b} = {self.own}.begin({self._fmu}, time, {self._inputs()});\n"]
        lines += [f"    {x} = {b}[1:{n}];\n"] if n else []
        lines += [f"    pre({e}) = {b};\n    pre({next_}) = {b}[{n + 1}];\n"]
        lines += [f"    pre({epoch}) = integer({b}[{n + 3}]);\n  equation\n"]
        lines += [f"    der({x}) = {self.own}.rates({point}, {epoch});\n"] if n else []
        lines += [f"    {y} = {self.own}.outputs({point}, {epoch});\n"] if s.outputs else []
        lines += [self._read(y, "    "), *self._indicator_equations(f"{point}, pre({epoch})")]
        lines += [
            f"    when {{{', '.join(self._causes(next_))}}} then\n",
            f"      {e} = {self.own}.event({point}, pre({epoch}));\n      {next_} = {e}[{n + 1}];\n",
            f"      {epoch} = integer({e}[{n + 3}]);\n",
            *(f"      reinit({x}[{i}], {e}[{i}]);\n" for i in range(1, n + 1)),
            f'    end when;\n    when {e}[{n + 2}] > 0.5 then\n      terminate("the FMU wants to end the run");\n',
            "    end when;\n",
        ]
        return "".join(lines) + self._completed(point)

    def _indicator_variables(self) -> list[str]:
        n, free = self.sizes.indicators, self.ports.free
        return [f"    Real {free('z_')}[{n}];\n    Boolean {free('positive_')}[{n}];\n"] if n else []

    def _indicator_equations(self, point: str) -> list[str]:
        n, z, positive = self.sizes.indicators, self.ports.free("z_"), self.ports.free("positive_")
        if not n:
            return []
        return [f"    {z} = {self.own}.crossings({point});\n"] + [
            f"    {positive}[{i}] = {z}[{i}] > 0;\n" for i in range(1, n + 1)
        ]

    def _causes(self, next_: str) -> list[str]:
        """What makes an event: the FMU's time events and indicators, inputs that are not continuous, its own wish."""
        positive = self.ports.free("positive_")
        causes = [f"time >= pre({next_})"]
        causes += [f"change({positive}[{i}])" for i in range(1, self.sizes.indicators + 1)]
        for port in self.ports.inputs:
            if port.variable.variability != "continuous" or port.variable.type != "Real":
                causes += [f"change({e})" for e in port.elements()]
        return causes + ([f"{self.ports.free('wish_')} > 0.5"] if tells_steps(self.d) else [])

    def _completed(self, point: str) -> str:
        if not tells_steps(self.d):
            return ""
        free = self.ports.free
        return f"""\
    when sample({free(FIRST)} + {free(STEP)}, {free(STEP)}) then
      {free("wish_")} = {self.own}.completed({point});
    end when;
"""


def _by_column(rows: Sequence[Sequence[int]], n: int) -> str:
    """Rows of each column, from those that have it."""
    if all(len(row) == n for row in rows):
        return "*"
    columns: list[list[str]] = [[] for _ in range(n)]
    for i, row in enumerate(rows):
        for column in row:
            columns[column].append(str(i))
    return " ".join(",".join(column) for column in columns)


def _vector(elements: Sequence[str], of_none: str) -> str:
    return f"{{{', '.join(elements)}}}" if elements else f"fill({of_none}, 0)"


def _listed(ports: Sequence[Port]) -> str:
    return literal(" ".join(port.in_list() for port in ports))


def package_name(title: str) -> str:
    """A name for the package, whatever the file is called."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in title)
    name = plain if plain[:1].isalpha() or plain[:1] == "_" else f"FMU_{plain}"
    return name if identifier(name) == name else f"{name}_"
