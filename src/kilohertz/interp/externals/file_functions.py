"""ModelicaInternal.c and ModelicaIO.c: questions about files, and matrices read from text and MAT files.

The one place of this room that touches the disk, and only to read: what writes or deletes has no constant value.
"""

from __future__ import annotations

import re
from typing import Any

from kilohertz.base.outside import the_outside
from kilohertz.interp.errors import EvaluationError
from kilohertz.interp.externals.protocol import Message, Outputs, Symbol
from kilohertz.interp.values import ArrayValue, Value

_HEADER = re.compile(r"\s*(?:double|float)[ \t(,)]+([^ \t(,)\r\n]+)[ \t(,)]+(\d+)[ \t(,)]+(\d+)")


def _stat(args: list[Value]) -> int:
    """FileType.NoFile, .RegularFile, .Directory, .SpecialFile."""
    return {"": 1, "file": 2, "folder": 3, "other": 4}[the_outside().kind(args[0])]


def _full_path_name(args: list[Value]) -> str:
    name = str(args[0])
    full = the_outside().real_path(name).replace("\\", "/")
    return full + "/" if name.endswith("/") and full != "/" else full


def _text(name: str) -> str:
    the_outside().reads(name)
    try:
        with open(name, encoding="utf-8", errors="replace", newline="") as file:
            return file.read()
    except OSError as error:
        raise EvaluationError(f'cannot read file "{name}": {error.strerror}') from error


def _lines(name: str) -> list[str]:
    lines = _text(name).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _count_lines(args: list[Value]) -> int:
    return len(_lines(args[0]))


def _read_file(args: list[Value]) -> Outputs:
    lines = _lines(args[0])[: args[2]]
    return Outputs({1: ArrayValue((len(lines),), list(lines))})


def _read_line(args: list[Value]) -> Outputs:
    lines = _lines(args[0])
    number = args[1]
    past = number > len(lines)
    return Outputs({2: past}, "" if past else lines[number - 1])


def _number_of_files(args: list[Value]) -> int:
    return len(_directory(args[0]))


def _directory(name: str) -> list[str]:
    try:
        return the_outside().names(name)
    except OSError as error:
        raise EvaluationError(f'cannot read directory "{name}": {error.strerror}') from error


def _read_directory(args: list[Value]) -> Outputs:
    names = _directory(args[0])
    return Outputs({2: ArrayValue((len(names),), list(names))})


def _getenv(args: list[Value]) -> Outputs:
    name, slashes = args[:2]
    content = the_outside().variable(name)
    text = content or ""
    return Outputs({2: text.replace("\\", "/") if slashes else text, 3: content is not None})


def _getcwd(_: list[Value]) -> str:
    return the_outside().working_folder().replace("\\", "/")


def _print(args: list[Value]) -> Message:
    return Message(str(args[0]))


def _nothing(_: list[Value]) -> None:
    return None


# ----------------------------------------------------------------------------------------------------------- matrices


def read_matrix(file: str, name: str) -> ArrayValue:
    """A Real matrix by name from a text file (`double name(n, m)`) or a MAT file (v4, v6, v7)."""
    the_outside().reads(file)
    if the_outside().kind(file) != "file":
        raise EvaluationError(f'cannot read file "{file}": no such file')
    if file.lower().endswith(".mat"):
        return _mat_matrix(file, name)
    if file.lower().endswith(".csv"):
        return _csv_matrix(file)
    return _text_matrix(file, name)


def _text_matrix(file: str, name: str) -> ArrayValue:
    text = _text(file).removeprefix("\ufeff")
    if not text.startswith("#1"):
        raise EvaluationError(f'the first line of file "{file}" should be "#1"')
    lines = text.split("\n")
    for k, line in enumerate(lines):
        match = _HEADER.match(line)
        if match is not None and match.group(1) == name:
            n, m = int(match.group(2)), int(match.group(3))
            return ArrayValue((n, m), _numbers(lines, k, line[match.end() :], n * m, file))
    raise EvaluationError(f'file "{file}" has no table "{name}"')


def _numbers(lines: list[str], header: int, rest: str, count: int, file: str) -> list[float]:
    """The numbers after a header, which may go on behind its closing parenthesis."""
    values: list[float] = []
    for k in range(header, len(lines)):
        line = rest.lstrip(" \t)") if k == header else lines[k]
        tokens = re.split(r"[ \t,;\r]+", line.partition("#")[0].strip(" \t,;\r"))
        values.extend(_number(token, file, k + 1) for token in tokens if token)
        if len(values) >= count:
            return values[:count]
    raise EvaluationError(f'file "{file}" ends before the {count} numbers of a table')


def _number(token: str, file: str, line: int) -> float:
    try:
        return float(token)
    except ValueError:
        raise EvaluationError(f'file "{file}", line {line}: "{token}" is not a number') from None


def _csv_matrix(file: str) -> ArrayValue:
    rows = [line for line in _lines(file) if line.strip()]
    separator = next((s for s in (";", "\t", ",") if rows and s in rows[0]), ",")
    parsed = []
    for k, row in enumerate(rows):
        cells = [c.strip().strip('"') for c in row.rstrip(separator).split(separator)]
        if k == 0 and not _is_number(cells[0]):
            continue
        parsed.append([_number(c, file, k + 1) for c in cells])
    return ArrayValue.of(parsed)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _mat_matrix(file: str, name: str) -> ArrayValue:
    from scipy.io import loadmat

    variable, *fields = name.split(".")
    try:
        matrix: Any = loadmat(file)[variable]
        for field in fields:
            matrix = matrix[field][0, 0]
    except (KeyError, ValueError, IndexError, NotImplementedError):
        raise EvaluationError(f'file "{file}" has no matrix "{name}"') from None
    return ArrayValue.of(matrix.astype(float))


def _read_matrix_sizes(args: list[Value]) -> Outputs:
    return Outputs({2: ArrayValue((2,), list(read_matrix(args[0], args[1]).shape))})


def _read_real_matrix(args: list[Value]) -> Outputs:
    matrix = read_matrix(args[0], args[1])
    if matrix.shape != (args[3], args[4]):
        raise EvaluationError(f'matrix "{args[1]}" has size {list(matrix.shape)}, not [{args[3]}, {args[4]}]')
    return Outputs({2: matrix})


SYMBOLS: dict[str, Symbol] = {
    "ModelicaInternal_stat": _stat,
    "ModelicaInternal_fullPathName": _full_path_name,
    "ModelicaInternal_countLines": _count_lines,
    "ModelicaInternal_readFile": _read_file,
    "ModelicaInternal_readLine": _read_line,
    "ModelicaInternal_getNumberOfFiles": _number_of_files,
    "ModelicaInternal_readDirectory": _read_directory,
    "ModelicaInternal_getenv": _getenv,
    "ModelicaInternal_getcwd": _getcwd,
    "ModelicaInternal_print": _print,
    "ModelicaStreams_closeFile": _nothing,
    "ModelicaIO_readMatrixSizes": _read_matrix_sizes,
    "ModelicaIO_readRealMatrix": _read_real_matrix,
}
