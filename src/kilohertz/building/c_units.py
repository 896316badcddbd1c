"""The C units of a model: its own files, its external code, the runtime.

A model's symbols carry its prefix wherever it is linked, and its files see the same headers; so a library for off-line
runs, an executable and an FMU take the same objects from the build cache.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from kilohertz import runtime
from kilohertz.base import Diagnostic, ModelError, Note, SourceMap
from kilohertz.codegen import DOUBLE, NUMBER_TYPES, CProgram, Jacobians, NumberType, model_prefix, runtime_sources
from kilohertz.ir.step import Step
from kilohertz.toolchain import QUIET, Source, Unit, external_units, include_directories, lapack_prefix

SOONER = ("-O1",)  # the runtime off-line: two thirds of the time to compile, steps a tenth dearer, the same bits
QUICK = ("-O0",)  # a model off-line at first: a quarter of the time to compile, twice the time of a run, the same bits
STARTING = QUICK  # what runs once, at the start (EngineV6: 36 % of its C, two fifths of the time)
PROBES = ("-DKHZ_PROFILE",)  # khz_probe.h: what is compiled with it can be timed place by place, ...
_INSIDE = ("-DKHZ_TIMED_COPY",)  # ... and what is also compiled with this inside a model
_TIMED = "khz_timed_"  # before every symbol of the timed copy
WAITS = ("clock_nanosleep", "nanosleep", "usleep", "sleep")  # khz_waits.c stands in for them


@dataclass(frozen=True, slots=True)
class MachineCode:
    """For which processors C is compiled, and what that means for the numbers."""

    flags: tuple[str, ...]
    promise: str


MARCH = {
    "portable": MachineCode((), "for every processor of this architecture, with the same bits"),
    "native": MachineCode(("-march=native",), "for processors like this one, with the bits of portable code"),
    "fma": MachineCode(
        ("-march=native", "-ffp-contract=fast"),
        "for processors like this one, with products and sums rounded once: not the bits of portable code or off-line",
    ),
}


@dataclass(frozen=True, slots=True)
class ModelUnits:
    """A model as C that is ready to be compiled."""

    step: Step
    sources: SourceMap | None
    code: CProgram
    units: tuple[Unit, ...]  # its own files, and calls of external functions

    @property
    def has_probes(self) -> bool:
        return set(PROBES) <= set(self.units[0].flags)

    @property
    def timed_getter(self) -> str:
        """The C function that gives the table of the timed copy, where there is one."""
        return _TIMED + self.code.getter

    @property
    def number(self) -> NumberType:
        """What it computes in."""
        return next(n for n in reversed(NUMBER_TYPES.values()) if set(n.flags) <= set(self.units[0].flags))

    def in_numbers(self, name: str) -> ModelUnits:
        """The same in a number type, as the setting `number` calls it; ModelError where it cannot be."""
        number = NUMBER_TYPES[name]
        if number is self.number:
            return self
        if self.code.in_singles.without:
            called = ", ".join(f"`{symbol}`" for symbol in self.code.in_singles.without)
            text = f"`{self.code.name}` hands records of doubles to external functions: {called}"
            raise ModelError(Diagnostic("R776", text, notes=(Note("with `number = double` it can be built"),)))
        return units_of(self.step, self.sources, number.spelled(self.code), (*self.units[0].flags, *number.flags))

    def drafted(self) -> ModelUnits:
        """The same, its own files compiled without optimisation."""
        own = replace(self.units[0], flags=(*self.units[0].flags, *QUICK))
        return replace(self, units=(own, *self.units[1:]))

    def renamed(self, taken: Collection[str]) -> ModelUnits:
        """The same with a prefix that is not taken: two forms of one model in an executable."""
        if self.code.prefix not in taken:
            return self
        from kilohertz.codegen import generate

        code = self.number.spelled(generate(self.step, self.sources, prefix=model_prefix(self.step.name, taken)))
        return units_of(self.step, self.sources, code, self.units[0].flags)


def model_units(
    step: Step,
    sources: SourceMap | None = None,
    flags: tuple[str, ...] = (),
    jacobians: Jacobians = Jacobians.OFTEN,
) -> ModelUnits:
    """Generate the C of a model; `flags` for its own files."""
    from kilohertz.codegen import generate

    return units_of(step, sources, generate(step, sources, jacobians=jacobians), flags)


def units_of(step: Step, sources: SourceMap | None, code: CProgram, flags: tuple[str, ...] = ()) -> ModelUnits:
    """The same for C that is here already; folders of external code are looked for now."""
    prefix = code.prefix
    headers = (*runtime_headers(), Source(code.header.name, code.header.text))
    place = f"models/{prefix.rstrip('_')}"
    running, starting = (
        tuple(Source(f.name, f.text, f.is_straight) for f in code.files if f.is_initial is is_initial)
        for is_initial in (False, True)
    )
    units = [Unit(running, headers, (), flags, place)]
    if starting:
        units.append(Unit(starting, headers, (), (*flags, *STARTING), place))
    has_probes = set(PROBES) <= set(flags)
    if has_probes:
        units += [_timed_copy(code, unit) for unit in units]
    if code.external is not None:  # once, for both copies: it may remember something
        options = ("-std=gnu11", *QUIET, *lapack_prefix(code.externals), *((*PROBES, *_INSIDE) if has_probes else ()))
        if not set(NUMBER_TYPES["single"].flags).isdisjoint(flags):
            options += (*NUMBER_TYPES["single"].flags, "-DKHZ_OUTSIDE")
        source = Source(code.external.name, code.external.text)
        units.append(Unit((source,), headers, include_directories(code.externals), options, place))
    return ModelUnits(step, sources, code, tuple(units))


def _timed_copy(code: CProgram, plain: Unit) -> Unit:
    """The same files once more, with probes inside and names of their own."""
    names = "".join(f"#define {symbol} {_TIMED}{symbol}\n" for symbol in code.symbols)
    headers = (*plain.headers[:-1], Source(code.header.name, names + code.header.text))
    return replace(plain, headers=headers, flags=(*plain.flags, *_INSIDE), name=f"{plain.name}_timed")


def linked_units(models: Sequence[ModelUnits], offline: bool = True) -> tuple[list[Unit], tuple[str, ...]]:
    """All of some models but a door: their files, their external code and the runtime (with `offline`, CVODE and the
    like); and linker arguments."""
    headers = runtime_headers()
    calls = [call for model in models for call in model.code.externals]
    foreign, libraries = external_units(calls, tuple(h for h in headers if h.name == "ModelicaUtilities.h"))
    probes = PROBES if any(model.has_probes for model in models) else ()
    number = number_of(models)
    units_of_models = [unit for model in models for unit in model.units]
    if calls:
        foreign.append(Unit(_sources(runtime.external_sources()), headers, (), ("-std=gnu11",), "waits"))
        libraries += tuple(f"-Wl,--wrap={name}" for name in WAITS)
    return [*runtime_units(offline, probes, number), *units_of_models, *foreign], libraries


def number_of(models: Iterable[ModelUnits]) -> NumberType:
    """What models that are linked together compute in: they share the runtime, so it is one type."""
    names = sorted({model.number.name for model in models})
    if len(names) > 1:
        raise ModelError(
            Diagnostic("R776", "tasks of one executable compute in one number type, not in double and single")
        )
    return NUMBER_TYPES[names[0]] if names else DOUBLE


def runtime_units(offline: bool, probes: tuple[str, ...] = (), number: NumberType = DOUBLE) -> list[Unit]:
    """What makes steps of a model and, with `offline`, what runs it with SUNDIALS: once for every model.

    What is timed is compiled as for real time; SUNDIALS computes in doubles.
    """
    headers, flags = runtime_headers(), (*(probes if probes or not offline else SOONER), *number.flags)
    units = [Unit(_sources(runtime_sources()), headers, (), flags, "runtime", merged=True)]
    if offline:
        sources = _sources(runtime.offline_sources(with_solvers=number.is_double))
        units.append(Unit(sources, headers, (), (*probes, *SOONER, *number.flags), "offline", merged=True))
    return units


def _sources(texts: Iterable[tuple[str, str]]) -> tuple[Source, ...]:
    return tuple(Source(name, text) for name, text in texts)


def main_unit(model: ModelUnits, text: str, flags: tuple[str, ...] = ()) -> Unit:
    """A C file that uses one model, which it gets from `KHZ_MODEL()`."""
    return Unit(
        (Source("main.c", text),),
        runtime_headers(),
        (),
        (f"-DKHZ_MODEL={model.code.getter}", *model.number.flags, *flags),
        "main",
    )


def runtime_headers() -> tuple[Source, ...]:
    """What a model and all that steps it may include."""
    return _sources(runtime.headers())
