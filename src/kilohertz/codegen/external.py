"""Calls of external functions: the wrapper's body, and a declaration where no Include brings one (MLS 12.9).

ModelicaError in external code jumps back to the wrapper (see khz_text.h).  FORTRAN 77 takes everything by reference and
matrices by columns: they are turned round before the call and, where the function may write to them, after it.
"""

from __future__ import annotations

from kilohertz.codegen.writing.expressions import Writer
from kilohertz.codegen.writing.values import ArrayValue, TypeTable, is_string
from kilohertz.ir import expr as x
from kilohertz.ir.expr import Expr
from kilohertz.ir.flat import Function

FORTRAN = "FORTRAN 77"


def write_external(w: Writer, function: Function) -> None:
    """The call, guarded."""
    call = function.external
    assert call is not None
    written = {v.name for v in (*function.outputs, *function.locals)}
    after: list[str] = []
    if call.language == FORTRAN:
        text, after = _fortran_call(w, call.symbol, call.args, written)
    else:
        text = f"{call.symbol}({', '.join(_c_argument(w, e, written) for e in call.args)})"
    if call.result is not None:
        cast = "(void *)" if w.types.of(call.result.ty) == "void *" else ""
        text = f"{w.text(call.result)} = {cast}{text}"
    w.put("jmp_buf *const outer = khz_guard;", "jmp_buf guard;", "khz_guard = &guard;", "khz_caller = c;")
    w.put(
        "if (setjmp(guard) == 0) {", f"    {w.taking(text)};", "}", "khz_guard = outer;", "khz_heed_threads(c);", *after
    )


def _c_argument(w: Writer, e: Expr, written: set[str]) -> str:
    if isinstance(e, x.Builtin) and e.name == "size":
        return f"(size_t)({w.text(e)})"
    if e.ty.dims:
        return _pointer(w, w.array(e))
    if w.types.is_record(e.ty):
        return f"(void *)(size_t)&{w.record(e)}"
    if isinstance(e, x.Ref) and e.name in written:
        return f"&{w.text(e)}"
    return w.text(e)


def _pointer(w: Writer, a: ArrayValue) -> str:
    """A pointer to the elements without `const`: many headers forget it."""
    ctype = w.types.of(a.element)
    return f"({ctype}{'*' if ctype.endswith('*') else ' *'})(void *)(size_t)({a.pointer})"


def _fortran_call(w: Writer, symbol: str, args: tuple[Expr, ...], written: set[str]) -> tuple[str, list[str]]:
    arguments: list[str] = []
    lengths: list[str] = []
    after: list[str] = []
    for e in args:
        is_written = isinstance(e, x.Ref) and e.name in written
        if len(e.ty.dims) == 2:
            arguments.append(_by_columns(w, w.array(e), is_written, after))
        elif e.ty.dims:
            arguments.append(_pointer(w, w.array(e)))
        elif is_string(e.ty):
            text = w.text(e)
            arguments.append(_own_text(w, text) if is_written else text)
            lengths.append(f"strlen({text})")
        elif is_written:
            arguments.append(f"&{w.text(e)}")
        else:
            name = w.fresh("f")
            w.put(f"{w.types.declare(e.ty, name)} = {w.text(e)};")
            arguments.append(f"&{name}")
    return f"{symbol.lower()}_({', '.join([*arguments, *lengths])})", after


def _own_text(w: Writer, text: str) -> str:
    """A text that may be written to: LAPACK tells in one what it did to the matrix."""
    name = w.fresh("f")
    w.put(f"char *const {name} = (char *){w.taking(f'khz_arena(c, strlen({text}) + 1)')};")
    w.put(f"if ({name} == NULL) {{", f"    {w.leave}", "}", f"strcpy({name}, {text});")
    return name


def _by_columns(w: Writer, a: ArrayValue, is_written: bool, after: list[str]) -> str:
    room = w.room(a.dims, a.element)
    rows, columns = a.dims
    i = w.fresh("i")
    head = f"for (int32_t {i} = 0; {i} < {rows} * {columns}; {i}++) {{"
    element, turned = f"{a.pointer}[{i}]", f"{room.pointer}[{i} % {columns} * {rows} + {i} / {columns}]"
    w.put(head, f"    {turned} = {element};", "}")
    if is_written:
        after += [head, f"    {element} = {turned};", "}"]
    return room.pointer


def prototype_of_external(function: Function, types: TypeTable) -> str:
    """A declaration for an external function that comes without an Include."""
    call = function.external
    assert call is not None
    result = "void" if call.result is None else types.of(call.result.ty).rstrip()
    if call.language == FORTRAN:
        return f"extern {result} {call.symbol.lower()}_();"
    written = {v.name for v in (*function.outputs, *function.locals)}
    parameters = []
    for e in call.args:
        ctype = types.of(e.ty)
        if isinstance(e, x.Builtin) and e.name == "size":
            parameters.append("size_t")
        elif isinstance(e, x.Ref) and e.name in written:
            parameters.append(ctype + "*" if ctype.endswith("*") else ctype + " *")
        elif e.ty.dims:  # an input array (MLS 12.9.1.2)
            parameters.append(ctype + "*" if ctype.endswith("*") else f"const {ctype} *")
        elif types.is_record(e.ty):
            parameters.append("void *")
        else:
            parameters.append(ctype.rstrip())
    return f"extern {result} {call.symbol}({', '.join(parameters) or 'void'});"
