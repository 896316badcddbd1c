"""A whole model as C: names of functions, the table of blocks, nothing that is not needed, lines that can be read."""

from __future__ import annotations

import ctypes
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kilohertz.building import model_units
from kilohertz.codegen import CProgram, Jacobians, generate
from kilohertz.codegen.plans import array
from kilohertz.codegen.writing.spelling import Names, identifier, wrapped
from kilohertz.codegen.writing.writer import compact
from kilohertz.driver import Session
from kilohertz.driver.pipeline import compile_flat
from kilohertz.ir import read_flat
from kilohertz.ir.step import Kind
from kilohertz.simulate import Instance, build_program, load_program, simulate
from kilohertz.toolchain import STRICT

TEXT = """\
model Loops "A loop of each kind"
  model Part
    Real a, b;
  end Part;
  Part axle, rod;
  Real x(start = 1, fixed = true), y(start = 1);
  output Real s;
  parameter Real k = 2;
equation
  der(x) = -x;
  y + 0.1 * y ^ 3 = x;
  (2 + sin(x)) * axle.a + k * x * axle.b = x;
  k * x * axle.a - (2 + cos(x)) * axle.b = 1;
  (2 + sin(x)) * rod.a + axle.a * rod.b = x;
  axle.b * rod.a - (2 + cos(x)) * rod.b = 2 + axle.a;
  s = sin(k * x) + axle.a;
end Loops;
"""
DEFINED = re.compile(
    r"^(?:static (?:KHZ_INLINE |KHZ_COMPACT )?)?(?:khz_status|void|int) (\w+)\([^;]*?\)\n\{\n(.*?)^\}", re.M | re.S
)


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> CProgram:
    file = tmp_path_factory.mktemp("code") / "Loops.mo"
    file.write_text(TEXT)
    session = Session()
    return generate(session.model(f"{file}:Loops").process(), session.libraries.sources)


def functions(code: CProgram) -> dict[str, str]:
    """Bodies by name."""
    return {name: body for f in code.files for name, body in DEFINED.findall(f.text)}


def test_functions_are_named_after_what_they_compute(code: CProgram) -> None:
    names = list(functions(code))
    assert {"Loops_solve_y", "solve_y_residual", "solve_axle_loop", "solve_rod_loop"} <= set(names)
    assert len(names) == len(set(names))
    assert not any(re.search(r"_(block|phase)_?\d", name) for name in names)


def test_every_block_is_found_in_its_function(code: CProgram) -> None:
    bodies = functions(code)
    for info in code.blocks:
        assert f"/* block {info.number}" in bodies[info.function], info
    kinds = {info.function: info.kind for info in code.blocks if info.phase == "block"}
    assert kinds["Loops_solve_y"] == "NonlinearLoop"
    assert kinds["solve_rod_loop"] == "LinearLoop"


def test_a_loop_among_assignments_takes_what_it_shares(code: CProgram) -> None:
    """What stands in both linear loops and k*x, which s needs too, is computed once and passed on."""
    text = "".join(f.text for f in code.files)
    step = text[text.index("static KHZ_INLINE khz_status solve_axle_loop") :]
    assert "solve_axle_loop(khz_instance *z, double t3, double t4, double t5)\n" in step
    assert "solve_rod_loop(khz_instance *z, double t4, double t5)\n" in step
    around = step[step.index("khz_status Loops_compute_s(") :]
    assert around.index("const double t5") < around.index("solve_axle_loop(z, t3, t4, t5)")
    assert step.count("sin(z->x[V_x])") == step.count("double t4 = 2.0 + sin(z->x[V_x])")


def test_what_the_model_does_not_have_is_not_written(code: CProgram) -> None:
    assert all(body.strip() for body in functions(code).values())
    assert "khz_no_values" in code.files[-1].text and "khz_no_blocks" in code.files[-1].text
    struct = code.header.text[code.header.text.index("typedef struct khz_instance") :]
    assert not re.search(r"\b(u|d|pre_d|base|gamma_h|sample_start|delays|ps|o)\[", struct)
    assert not re.search(r"\[0\]", struct)


def test_an_instance_has_room_for_temporaries_where_there_are_some(code: CProgram, tmp_path: Path) -> None:
    assert "arena[16];" in code.header.text
    file = tmp_path / "Says.mo"
    assertion = 'assert(x < 2, "x is " + String(x));'
    file.write_text(f"model Says Real x(start = 1, fixed = true); equation der(x) = -x; {assertion} end Says;")
    session = Session()
    says = generate(session.model(f"{file}:Says").process(), session.libraries.sources)
    assert "arena[65536];" in says.header.text


def test_external_symbols_have_the_prefix(code: CProgram) -> None:
    prototypes = re.findall(r"^(?:KHZ_EXPORT )?[\w *]+?(\w+)\([^)]*\);$", code.header.text, re.M)
    assert code.getter in prototypes
    assert all(name.startswith("Loops_") for name in prototypes)


def test_lines_are_short_and_texts_whole() -> None:
    words = " ".join(f"z->w[V_variable_{i}] +" for i in range(20))
    text = '"' + "a b " * 40 + '"'
    lines = wrapped(f"    x = {words} f({text});")
    assert [line for line in lines if len(line) > 120] == [next(line for line in lines if text in line)]
    assert all(line.startswith("        ") for line in lines[1:])
    assert " ".join(" ".join(lines).split()) == " ".join(f"x = {words} f({text});".split())
    assert wrapped("#define " + "x " * 100) == ["#define " + "x " * 100]


def test_identifiers_keep_the_last_parts_of_a_long_name() -> None:
    long = "robot.mechanics.drive1.motor.flange.tau"
    assert identifier(long, 20) == "motor_flange_tau"
    assert identifier("x" * 50, 20) == "x" * 20
    names = Names(longest=20)
    assert [names.another(long, "solve_"), names.another(long, "solve_")] == [
        "solve_motor_flange_tau",
        "solve_motor_flange_tau_2",
    ]


def test_what_a_loop_left_in_a_variable_is_not_computed_again() -> None:
    text = """
        model Crank
          Real x(start = 1.0, fixed = true);
          Real phi(start = 0.5);
          Real s(start = 1.0);
          Real c;
          Real y;
        equation
          c = cos(phi);
          s*c + 0.1*s*s = x;
          phi + 0.2*s*s*s + c = 1.0;
          y = cos(phi)*s;
          der(x) = y - x;
        end Crank;
        """
    program = generate(compile_flat(read_flat(text)), jacobians=Jacobians.NEVER)
    cosines = {name: body.count("cos(") for name, body in functions(program).items() if "initial" not in name}
    assert {name for name, count in cosines.items() if count} == {"solve_s_loop_residual"}, cosines


def test_what_has_no_loops_is_compiled_for_its_size() -> None:
    assert compact(["const double t1 = force * 2.0;", "if (t1 > 0.0) {", "}"]) == "KHZ_COMPACT "
    assert compact(["{", "    for (int32_t i1 = 0; i1 < n; i1++) {", "    }", "}"]) == ""


def test_slopes_of_roots_are_made_of_roots() -> None:
    text = """
        model Slopes
          Real x(start = 1.0, fixed = true);
          Real a(start = 0.0, fixed = true);
          Real b(start = 0.0, fixed = true);
        equation
          der(x) = 1.0;
          der(a) = x^(-0.5);
          der(b) = x^(-0.75);
        end Slopes;
        """
    step = compile_flat(read_flat(text))
    assert not any("pow(" in f.text for f in generate(step, jacobians=Jacobians.NEVER).files)
    program = build_program(step, flags=STRICT)
    instance = Instance(program)
    assert instance.initialize(0.0) == 0
    names = [v.name for v in step.of_kind(Kind.STATE)]
    for x in (1e-300, 1e-9, 0.3, 2.0, 1e5, 1e300):
        states, rates = np.array([x if n == "x" else 0.0 for n in names]), np.empty(3)
        library = program.library
        assert library.khz_derivatives(program.model, instance.address, 0.0, states.ctypes.data, rates.ctypes.data) == 0
        found = dict(zip(names, rates, strict=True))
        assert (found["a"], found["b"]) == pytest.approx((x**-0.5, x**-0.75), rel=5e-16)
    instance.close()


def test_calls_that_all_directions_share_are_made_for_the_first_alone() -> None:
    text = """
        model Called
          function halved
            input Real u;
            output Real y;
          algorithm
            y := u;
            while y > 1.0 loop
              y := y/2.0;
            end while;
          end halved;
          Real p(start = 3.0, fixed = true);
          Real q(start = 2.0, fixed = true);
          Real r(start = 1.0, fixed = true);
        equation
          der(p) = halved(p)*q - r;
          der(q) = halved(q)*r - p;
          der(r) = p*q - halved(r) + (if p > 2.0 then halved(p*q)*r else 0.0);
        end Called;
        """
    step = compile_flat(read_flat(text))
    bodies = {name: body for name, body in functions(generate(step)).items() if "directional_" in name}
    prepared = "".join(body for name, body in bodies.items() if "prepare" in name)
    along = "".join(body for name, body in bodies.items() if "compute" in name)
    assert prepared.count("halved(") == 5  # three slopes, two values
    assert along.count("halved(") == along.count("if (!z->c.is_again) {") > 0  # guarded: in each list of directions
    program = build_program(step, flags=STRICT)
    instance = Instance(program)
    assert instance.initialize(0.0) == 0
    names = [v.name for v in step.of_kind(Kind.STATE)]
    values = {"p": 3.3, "q": 2.9, "r": 0.7}
    states, rates = np.array([values[n] for n in names]), np.empty(3)
    library = program.library
    assert library.khz_derivatives(program.model, instance.address, 0.0, states.ctypes.data, rates.ctypes.data) == 0
    library.khz_jacobian.argtypes = [ctypes.c_void_p] * 4
    jacobian, work = np.empty(9), np.empty(9)
    status = library.khz_jacobian(program.model, instance.address, jacobian.ctypes.data, work.ctypes.data)
    assert status == 0 and instance.context.n_differences == 0
    p, q, r = values.values()
    exact = {
        "p": {"p": q / 4, "q": p / 4, "r": -1.0},
        "q": {"p": -1.0, "q": r / 4, "r": q / 4},
        "r": {"p": q + q * r / 16, "q": p + p * r / 16, "r": -1.0 + p * q / 16},
    }
    assert jacobian.reshape(3, 3) == pytest.approx(np.array([[exact[i][j] for j in names] for i in names]), rel=1e-15)
    instance.close()


def test_an_array_that_a_function_gives_is_copied_at_once(tmp_path: Path) -> None:
    file = tmp_path / "Filled.mo"
    file.write_text(
        """model Filled
          function squares
            input Real u;
            input Integer n;
            output Real y[n];
          algorithm
            y := fill(u, n);
            while y[1] > 1 loop
              y := y/2;
            end while;
            for i in 1:n loop
              y[i] := y[i]*i*i;
            end for;
          end squares;
          Real few[3] = squares(time, 3), many[40] = squares(time, 40), x = few[3] + many[2] + many[40];
        end Filled;"""
    )
    session = Session()
    text = "".join(f.text for f in generate(session.model(f"{file}:Filled").process()).files)
    assert text.count("sizeof(double) * 40);") == 2 and "sizeof(double) * 3" not in text
    assert session.model(f"{file}:Filled").simulate(stop=1.0)["x"][-1] == 1613.0


def test_many_assertions_are_checked_in_parts(tmp_path: Path) -> None:
    """With what a single function does: one that fails leaves the rest to be checked, too."""
    (file := tmp_path / "Many.mo").write_text(
        "model Many Real x[450]; equation for i in 1:450 loop x[i] = i + time;\n"
        '  assert(x[i] < 500 and i <> 449, "x is " + String(i)); end for; end Many;'
    )
    step = Session().model(f"{file}:Many").process()
    code = generate(step)
    parts = re.findall(
        r"^KHZ_NOINLINE static khz_status check_asserts_(\d+)\(", "".join(f.text for f in code.files), re.M
    )
    assert parts == ["1", "2", "3"] and "check_asserts" in functions(code)
    instance = Instance(build_program(step, flags=STRICT))
    assert instance.initialize(0.0) != 0


def test_long_tables_that_nobody_reads_are_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same numbers, negative ones too, in the C of an off-line run alone."""
    lines = array("table", [*range(2000), -1], dense=True)
    assert lines[0] == "static const uint32_t table[] =" and lines[1].startswith('    U"\\x0\\x1\\x2')
    assert lines[-3].endswith('\\xffffffff"') and all(len(line) < 120 for line in lines)
    cells = "\n".join(f"  Real x{i}(start = {i}.0, fixed = true);" for i in range(40))
    rates = "\n".join(f"  der(x{i}) = x{i - 1} - x{i}^2.0;" for i in range(1, 40))
    step = compile_flat(read_flat(f"model Chain\n{cells}\nequation\n  der(x0) = -x0;\n{rates}\nend Chain;\n"))
    monkeypatch.setattr("kilohertz.codegen.plans._LONG", 10)
    texts = ["".join(f.text for f in generate(step, jacobians=j).files) for j in (Jacobians.OFTEN, Jacobians.SELDOM)]
    assert ['U"' in text for text in texts] == [False, True]
    programs = [load_program(model_units(step, jacobians=j)) for j in (Jacobians.OFTEN, Jacobians.SELDOM)]
    finals = [simulate(program, stop=1.0).data[-1] for program in programs]
    assert np.allclose(finals[0], finals[1], rtol=1e-12)


def test_what_branches_with_one_condition_share_and_may_fail_is_written_once(tmp_path: Path) -> None:
    """Each value of a chain in an `if` of its own; neither before the condition nor in every branch that needs it."""
    n = 12
    names = [f"a{k}" for k in range(n)]
    chain = "".join(
        f"{new} := (if u > {k} then {old} + {k} else 0) + (if u < 20 - {k} then {old} - {k} else 1);\n"
        for k, (old, new) in enumerate(pairwise(names))
    )
    text = f"""
        model Chain
          Integer {", ".join(f"{name}(start = 0, fixed = true)" for name in names)};
          Real u = 10*time;
        algorithm
          when sample(0, 0.1) then
            a0 := integer(10/(u - 3));
            {chain}
          end when;
        end Chain;
        """
    file = tmp_path / "Chain.mo"
    file.write_text(text)
    bodies = functions(generate(Session().model(f"{file}:Chain").process())).values()
    counts = [body.count("khz_integer(") for body in bodies if "khz_integer(" in body]
    assert counts == [1] * len(counts) != []


def test_files_are_as_long_as_the_header_that_each_of_them_reads_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the C compiler reads a header that grows with the model in files whose number does."""
    monkeypatch.setattr("kilohertz.codegen.model._LINES_PER_FILE", 1)
    monkeypatch.setattr("kilohertz.cost.rolled.LEAST", 10**9)
    for n in (400, 1600):
        lines = [f"  Real x{i}(start = {i}.0, fixed = true);" for i in range(n)]
        lines += ["equation", *(f"  der(x{i}) = sin(x{i})*x{(7 * i) % n};" for i in range(n))]
        code = generate(compile_flat(read_flat("\n".join(["model Many", *lines, "end Many;"]))))
        n_lines = sum(f.text.count("\n") for f in code.files)
        assert 2 < len(code.files) < 4 + 5 * n_lines / code.header.text.count("\n")
