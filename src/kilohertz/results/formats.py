"""The formats of result files: one record each, found by the end of a file's name.  All doors read this table.

A new format is a file with its `read` and `write`, and a line here.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kilohertz.base import Diagnostic, ModelError, Note

if TYPE_CHECKING:
    from kilohertz.results.result import Result


@dataclass(frozen=True, slots=True)
class Format:
    """How files with this ending are read and written; what only one side writes has None for the other."""

    suffix: str
    words: str
    read: Callable[[Path], Result] | None
    write: Callable[[Path, Result], None] | None
    can_be_partial: bool = False  # where the disk is full the first rows are in the file; else none is left


def _later(module: str, name: str) -> Callable[..., Any]:
    """A function of a format, imported when it is called: a run loads the formats it uses."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(f"kilohertz.results.{module}"), name)(*arguments)

    return call


FORMATS = (
    Format(".csv", "text, `time` first", _later("csv_read", "read_csv"), _later("csv_write", "write_csv"), True),
    Format(
        ".mat",
        "MAT v4 of Dymola and OpenModelica",
        _later("mat_read", "read_mat"),
        _later("mat_write", "write_mat"),
        True,
    ),
    Format(
        ".parquet",
        "columns for pandas, polars, DuckDB",
        _later("parquet", "read_parquet"),
        _later("parquet", "write_parquet"),
    ),
    Format(".mf4", "ASAM MDF 4, with the extra `mdf`", _later("mdf", "read_mdf"), _later("mdf", "write_mdf")),
    Format(".recording", "of a real-time task", _later("recording", "read_recording"), None),
)


_LEAST_ROOM = 1 << 12  # bytes: with less nothing fits


def endings(*, to_write: bool = False) -> str:
    """`.csv, .mat or .parquet`: for help and messages."""
    names = [f.suffix for f in FORMATS if not to_write or f.write is not None]
    return f"{', '.join(names[:-1])} or {names[-1]}"


def is_result(path: str | Path) -> bool:
    """Whether a name ends as a result file does."""
    return any(Path(path).suffix.lower() == f.suffix for f in FORMATS)


def format_of(path: str | Path, *, to_write: bool = False) -> Format:
    """The format of a file by its ending; R704 where there is none."""
    suffix = Path(path).suffix.lower()
    for candidate in FORMATS:
        if candidate.suffix == suffix and (candidate.write if to_write else candidate.read) is not None:
            return candidate
    model = suffix in (".mo", ".fmu") and not to_write
    notes = (Note(f"a model is run first: `khz simulate {path} -o result.csv`"),) if model else ()
    message = f"no result format is called `{suffix}`; use {endings(to_write=to_write)}"
    raise ModelError(Diagnostic("R704", message, notes=notes))


def check_output(path: str | Path) -> None:
    """Refuse a file that cannot be written before an hour of simulation, not after: its ending, its folder."""
    format_of(path, to_write=True)
    check_place(path)


def check_place(path: str | Path) -> None:
    """Refuse a place where no file can be written: R702."""
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: there is no such folder"))
    if Path(path).is_dir():
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: it is a folder"))
    target = Path(path) if Path(path).exists() else folder
    if not os.access(target, os.W_OK):
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: no permission"))
    if shutil.disk_usage(folder).free < _LEAST_ROOM:
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: no space left on the disk"))


def write(path: str | Path, result: Result) -> None:
    """Write a result in the format that the file's ending says."""
    kind = format_of(path, to_write=True)
    assert kind.write is not None
    try:
        kind.write(Path(path), result)
    except OSError as error:
        is_kept = kind.can_be_partial and Path(path).is_file()
        if not is_kept and Path(path).is_file():
            Path(path).unlink()  # half a file of this format is none
        notes = (Note("the rows that fit are in it"),) if is_kept else ()
        raise ModelError(Diagnostic("R702", f"cannot write `{path}`: {_why(error)}", notes=notes)) from error


def read(path: str | Path) -> Result:
    """Read a result in the format that the file's ending says."""
    reader = format_of(path).read
    assert reader is not None
    try:
        return reader(Path(path))
    except OSError as error:
        raise ModelError(Diagnostic("R701", f"cannot read `{path}`: {_why(error)}")) from error
    except ValueError as error:
        text = str(error)
        raise ModelError(Diagnostic("R703", text if str(path) in text else f"{path}: {text}")) from error


def _why(error: OSError) -> str:
    told = re.search(r"(?:os error|Errno) (\d+)", str(error))  # polars has the number in its words alone
    number = error.errno if error.errno is not None or told is None else int(told[1])
    if number == errno.ENOSPC:
        where = f" of {error.filename}" if error.filename is not None else ""
        return f"no space left on the disk{where}"
    return error.strerror or (os.strerror(number) if number is not None else str(error))
