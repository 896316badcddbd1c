"""What Python reads in the headers is what the compiler made of them; a layout that is not is an error at load."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

import kilohertz
from kilohertz import runtime
from kilohertz.base import InternalError
from kilohertz.runtime.checked_layout import model_layout
from kilohertz.runtime.definitions import read
from kilohertz.toolchain import Source, Unit, build_shared, load_library

TEXT = """
enum { KHZ_A = 2, KHZ_B, KHZ_C = 1u << 4, /* KHZ_OLD = 9, */ KHZ_D = KHZ_B * (KHZ_C - 1), KHZ_E = -3 };
typedef enum khz_colour { KHZ_COLOUR_RED, KHZ_COLOUR_DARK_RED } khz_colour;
#define KHZ_INNER(n) (3 * (n))
#define KHZ_ROOM(n, m) (2 * (n) * (n) + KHZ_INNER(m) + KHZ_A)
typedef int (*khz_call_fn)(int a, double b);
typedef struct khz_small {
    int32_t a, b; /* two; of them */
} khz_small;
typedef struct khz_all {
    const double *x, *y;
    char name[KHZ_C];
    _Atomic uint64_t count;
    KHZ_ATOMIC(uint32_t) bell, sleepers;
    khz_small pair[2];
    int (*apply)(void *z, int (*inner)(double, void *));
    khz_call_fn call;
    uint64_t rest[];
} khz_all;
"""


def test_constants() -> None:
    d = read(TEXT)
    assert [d.constant(f"KHZ_{n}") for n in "ABCDE"] == [2, 3, 16, 45, -3]
    assert d.family("KHZ_COLOUR_") == {"red": 0, "dark_red": 1}
    assert d.formula("KHZ_ROOM", 4, 5) == 2 * 16 + 15 + 2
    assert "KHZ_OLD" not in d.constants


def test_structures() -> None:
    d = read(TEXT)
    found = [(name, ctypes.sizeof(kind)) for name, kind in d.fields("khz_all")]
    assert found == [
        *(("x", 8), ("y", 8), ("name", 16), ("count", 8), ("bell", 4), ("sleepers", 4)),
        *(("pair", 16), ("apply", 8), ("call", 8), ("rest", 0)),
    ]


@pytest.mark.parametrize("body", ["khz_unknown a;", "int a : 3;", "union { int a; } b;"])
def test_what_python_cannot_share_is_refused(body: str) -> None:
    with pytest.raises(InternalError, match=r"not a declaration that Python can share|no header defines"):
        read(f"typedef struct khz_odd {{\n    {body}\n}} khz_odd;\n").fields("khz_odd")


def test_what_no_header_defines_is_refused() -> None:
    for ask in (
        lambda: runtime.constant("KHZ_NEVER"),
        lambda: runtime.family("KHZ_NEVER_"),
        lambda: runtime.formula("KHZ_NEVER", 1),
        lambda: runtime.fields("khz_never"),
    ):
        with pytest.raises(InternalError, match="no header defines"):
            ask()


def test_words_are_in_the_order_of_their_values() -> None:
    assert runtime.words("KHZ_EVENTS_")[:4] == ("none", "mid", "linear", "catch-up")
    with pytest.raises(InternalError, match="are not 0, 1, 2"):
        runtime.words("KHZ_STEP_")


def library(headers: tuple[tuple[str, str], ...]) -> ctypes.CDLL:
    """The table of the runtime, compiled with these headers."""
    table = next(Source(n, t) for n, t in runtime.step_sources() if n == "khz_model_layout.c")
    return load_library(build_shared([Unit((table,), tuple(Source(n, t) for n, t in headers))]))


def test_the_compiler_has_the_layout_of_the_headers() -> None:
    runtime.check_layout(library(runtime.headers()))


@pytest.mark.parametrize(
    "file, text, planted, message",
    [
        ("khz_stepper.h", "uint64_t steps, rhs,", "uint32_t steps; uint64_t rhs,", "khz_step_counts.steps is"),
        ("khz_stepper.h", "uint64_t steps, rhs,", "uint64_t rhs, steps,", "khz_step_counts.rhs is"),
        ("khz_base.h", "KHZ_MESSAGE_SIZE = 1024", "KHZ_MESSAGE_SIZE = 2048", "khz_context.message is"),
        ("khz_base.h", "KHZ_DOMAIN = -8", "KHZ_DOMAIN = -80", "khz_domain is -80, by the headers -8"),
    ],
)
def test_another_layout_is_an_error_at_load(file: str, text: str, planted: str, message: str) -> None:
    headers = dict(runtime.headers())
    assert text in headers[file]
    headers[file] = headers[file].replace(text, planted)
    with pytest.raises(InternalError, match="do not share one layout") as caught:
        runtime.check_layout(library(tuple(headers.items())))
    assert message in str(caught.value)


def test_every_loaded_model_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(model_layout().enumerators, "khz_planted", 1)
    model = kilohertz.load(f"{Path(__file__).parent / 'stepping.mo'}:Stepping.Decay")
    with pytest.raises(InternalError, match="khz_planted is not there, by the headers 1"):
        model.simulate(stop=0.1)


def test_the_digest_is_that_of_c() -> None:
    table = dict((*runtime.step_sources(), *runtime.task_sources()))
    names = ("khz_task_layout.c", "khz_layout.c")
    probe = Source(
        "probe.c",
        '#include "khz_live.h"\nKHZ_EXPORT uint32_t probe(void);\n'
        "uint32_t probe(void) { return khz_layout_digest(&khz_task_layout); }\n",
    )
    headers = (*runtime.headers(), *runtime.device_headers(), *runtime.task_headers())
    unit = Unit((probe, *(Source(n, table[n]) for n in names)), tuple(Source(n, t) for n, t in headers))
    found = load_library(build_shared([unit])).probe
    found.restype = ctypes.c_uint32
    assert found() == runtime.task_layout().digest()


def test_no_structure_is_typed_twice() -> None:
    """Python takes the fields of a structure from the headers; those of FMI's standard have none here."""
    root = Path(runtime.__file__).parents[1]
    for file in sorted(set(root.rglob("*.py")) - set(root.glob("fmi/importing/*.py"))):
        text = file.read_text(encoding="utf-8")
        assert text.count("(ctypes.Structure):") == text.count("_fields_ = fields(") + text.count(
            "_fields_ = runtime.fields("
        ), file
