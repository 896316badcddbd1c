"""Results survive being written and read, and other people's readers agree with ours."""

from __future__ import annotations

import struct
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kilohertz import runtime
from kilohertz.base import ModelError
from kilohertz.results import (
    FORMATS,
    CsvWriter,
    MatWriter,
    Result,
    Signal,
    check_output,
    read,
    read_csv,
    read_mat,
    rows_text,
    write,
)
from kilohertz.toolchain import Source, Unit, build_shared, load_library


def sample() -> Result:
    time = np.array([0.0, 0.5, 0.5, 1.0])  # an event at 0.5
    data = np.array([[1.0, 0.1], [0.5, 1 / 3], [2.0, 1e-300], [1.5, -4.0]])
    signals = {
        "r.p.i": Signal(0, 1, "A", "Current into the pin"),
        "r.n.i": Signal(0, -1, "A"),
        "x[1,2]": Signal(1),
        "r.R": Signal(None, 1, "Ohm", "Resistance", 100.0),
        "'odd \"name'.µ": Signal(1, -1),
    }
    return Result("Circuit", time, data, signals)


@pytest.mark.parametrize("suffix", [f.suffix for f in FORMATS if f.write])
def test_what_is_written_reads_back_bit_for_bit(tmp_path: Path, suffix: str) -> None:
    result = sample()
    write(tmp_path / f"r{suffix}", result)
    back = read(tmp_path / f"r{suffix}")
    assert back.names == result.names
    assert np.array_equal(back.time, result.time)
    for name in result.names:
        assert np.array_equal(back[name], result[name]), name


def test_mat_keeps_aliases_units_descriptions_and_parameters(tmp_path: Path) -> None:
    sample().to_mat(tmp_path / "r.mat")
    back = read_mat(tmp_path / "r.mat")
    assert back.data.shape == (4, 2)
    assert back.signals["r.n.i"] == Signal(0, -1, "A")
    assert back.description("r.p.i") == "Current into the pin"
    assert back.parameters == {"r.R": 100.0}
    assert back.unit("r.R") == "Ohm"


@pytest.mark.filterwarnings("ignore")  # DyMat is old; its warnings are its own
def test_dymat_reads_it(tmp_path: Path) -> None:
    DyMat = pytest.importorskip("DyMat")
    result = sample()
    result.to_mat(tmp_path / "r.mat")
    file = DyMat.DyMatFile(str(tmp_path / "r.mat"))
    for name in ("r.p.i", "r.n.i", "x[1,2]"):
        assert np.array_equal(file.data(name), result[name])
    assert np.array_equal(file.abscissa("r.p.i", valuesOnly=True), result.time)
    assert file.description("r.p.i") == "Current into the pin [A]"
    assert list(file.data("r.R")) == [100.0, 100.0]
    assert file.sharedData("r.p.i") == [("r.n.i", -1.0)]


def test_rows_may_come_in_pieces(tmp_path: Path) -> None:
    result = sample()
    with (
        MatWriter(tmp_path / "r.mat", result.signals, 2, 0.0, 1.0) as mat,
        CsvWriter(tmp_path / "r.csv", "ab") as table,
    ):
        for i in range(0, 4, 2):
            mat.rows(result.time[i : i + 2], result.data[i : i + 2])
            table.rows(result.time[i : i + 2], result.data[i : i + 2])
    assert np.array_equal(read_mat(tmp_path / "r.mat").data, result.data)
    assert np.array_equal(read_csv(tmp_path / "r.csv").data, result.data)


def test_a_csv_header_is_quoted_and_time_comes_first(tmp_path: Path) -> None:
    sample().to_csv(tmp_path / "r.csv")
    lines = (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == '"time","r.p.i","r.n.i","x[1,2]","\'odd ""name\'.µ"'
    assert lines[1].startswith("0.0,1.0,-1.0,0.1,")


def test_names_of_one_column_are_written_as_if_each_had_its_own(tmp_path: Path) -> None:
    time = np.linspace(0.0, 1.0, 5)
    x, y = np.array([0.0, -1.5, np.nan, 1e300, 1 / 3]), np.arange(5.0)
    signals = {"y": Signal(1), "x": Signal(0), "minus": Signal(0, -1), "again": Signal(0), "p": Signal(None, value=2.0)}
    Result("M", time, np.column_stack([x, y]), signals).to_csv(tmp_path / "shared.csv")
    Result.of_columns("M", time, {"y": y, "x": x, "minus": -x, "again": x}).to_csv(tmp_path / "own.csv")
    assert (tmp_path / "shared.csv").read_bytes() == (tmp_path / "own.csv").read_bytes()


def test_c_writes_the_rows_that_python_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where they take several calls, and from a number on that is longer than any of ours."""
    sources = [Source(name, text) for name, text in runtime.offline_sources() if name == "khz_rows_text.c"]
    headers = tuple(Source(name, text) for name, text in runtime.headers())
    library = load_library(build_shared([Unit(tuple(sources), headers)]))
    shown = rows_text.ShownNumbers(4, [0, 2, 2, 3, 1])
    numbers = [repr(x).encode() for x in np.random.default_rng(1).normal(size=4 * 60_000).tolist()]
    long = [*numbers[:4], b"1" * 40, *numbers[5:16]]
    written = []
    for offered in (False, True):
        monkeypatch.setattr(rows_text, "_in_c", [])
        if offered:
            rows_text.offer(library)
        for rows in (numbers, long):
            digits = BytesIO()
            digits.write(b"".join(number + b"\n" for number in rows))
            written.append(b"".join(map(bytes, shown.texts(digits, len(rows) // 4))))
    assert written[:2] == written[2:]
    assert written[1].splitlines()[1] == b",".join([long[4], long[6], long[6], long[7], long[5]])


def test_other_tools_csv(tmp_path: Path) -> None:
    file = tmp_path / "other.csv"
    file.write_text('\ufeff# made elsewhere\n"x";"time";"on";\n"1.5";0;true;\n2;1;false;\n', encoding="utf-8")
    result = read_csv(file)
    assert list(result.time) == [0.0, 1.0]
    assert list(result["x"]) == [1.5, 2.0]
    assert list(result["on"]) == [1.0, 0.0]


def test_a_name_that_is_not_there_names_its_neighbours() -> None:
    with pytest.raises(KeyError, match=r"did you mean r\.p\.i"):
        sample()["r.p.ii"]


def test_an_array_is_read_whole() -> None:
    time = np.array([0.0, 1.0])
    result = Result.of_columns("M", time, {"x[1]": time, "x[2]": time + 1, "xx": time})
    assert result["x"].tolist() == [[0.0, 1.0], [1.0, 2.0]]


def test_a_truncated_mat_file_is_refused(tmp_path: Path) -> None:
    sample().to_mat(tmp_path / "r.mat")
    (tmp_path / "cut.mat").write_bytes((tmp_path / "r.mat").read_bytes()[:-8])
    with pytest.raises(ValueError, match="ends in the middle of `data_2`"):
        read_mat(tmp_path / "cut.mat")


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no result format is called `\.xyz`; use \.csv, \.mat"):
        write(tmp_path / "r.xyz", sample())


@settings(deadline=None)  # writes files
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_every_double_survives_csv(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    path = tmp_path_factory.mktemp("csv") / "r.csv"
    column = np.array(values)
    Result.of_columns("M", np.arange(float(len(values))), {"x": column}).to_csv(path)
    back = read_csv(path)["x"]
    assert back.tobytes() == column.tobytes()


@pytest.mark.parametrize("suffix", [".mat", ".parquet", ".mf4"])
def test_units_descriptions_and_parameters_come_along(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"r{suffix}"
    write(file, sample())
    back = read(file)
    assert back.unit("r.p.i") == "A"
    assert back.description("r.p.i") == "Current into the pin"
    assert back.parameters == {"r.R": 100.0}
    assert back.unit("r.R") == "Ohm"


def test_a_mat_file_of_version_7(tmp_path: Path) -> None:
    scipy_io = pytest.importorskip("scipy.io")
    sample().to_mat(tmp_path / "r.mat")
    matrices = {k: v for k, v in _matrices(tmp_path / "r.mat").items() if not k.startswith("__")}
    scipy_io.savemat(tmp_path / "v7.mat", matrices, format="5", do_compression=True)
    back = read(tmp_path / "v7.mat")
    assert back.names == sample().names
    for name in back.names:
        assert np.array_equal(back[name], sample()[name])
    (tmp_path / "cut.mat").write_bytes((tmp_path / "v7.mat").read_bytes()[:200])
    with pytest.raises(ModelError, match=r"\[R703\]|not a whole MAT file"):
        read(tmp_path / "cut.mat")


def _matrices(file: Path) -> dict[str, object]:
    """The matrices of a v4 file with texts as characters, as MATLAB would write them again."""
    from scipy.io import loadmat

    return dict(loadmat(file, chars_as_strings=False))


@pytest.mark.parametrize("suffix", [".csv", ".mat", ".parquet", ".mf4", ".recording"])
def test_what_is_no_result_is_refused(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"r{suffix}"
    file.write_bytes(b"" if suffix == ".csv" else b"no result at all\n" * 20)
    with pytest.raises(ModelError) as caught:
        read(file)
    assert caught.value.diagnostics[0].code == "R703"
    with pytest.raises(ModelError, match="No such file") as caught:
        read(tmp_path / f"gone{suffix}")
    assert caught.value.diagnostics[0].code == "R701"


def test_any_table_with_a_time_is_a_result(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"x": [1, 2], "Time": [0.0, 0.5], "on": [True, False], "word": ["a", "b"]})
    table.write_parquet(tmp_path / "other.parquet")
    back = read(tmp_path / "other.parquet")
    assert back.names == ("x", "on")
    assert back.time.tolist() == [0.0, 0.5]
    assert back["on"].tolist() == [1.0, 0.0]


def test_where_a_result_cannot_be_written_is_said_before_the_run(tmp_path: Path) -> None:
    check_output(tmp_path / "fine.csv")
    (tmp_path / "folder.csv").mkdir()
    for path, words in (
        (tmp_path / "none" / "r.csv", "there is no such folder"),
        (tmp_path / "folder.csv", "it is a folder"),
        (tmp_path / "r.recording", "no result format"),
    ):
        with pytest.raises(ModelError, match=words):
            check_output(path)


def test_comments_above_the_header_and_quoted_numbers(tmp_path: Path) -> None:
    file = tmp_path / "odd.csv"
    file.write_text('# made by hand\n\n"time";"x"\n0;"1"\n# half way\n1;true\n', encoding="utf-8")
    assert read(file)["x"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time,y\ns,V\n0,1\n", "line 2, column `time`: `s` is not a number"),
        ("time,y\n0,1\n# a remark\n1,1d-3\n", "line 4, column `y`: `1d-3` is not a number"),
        ("time,y\n0,1\n0,5,2\n", "line 3 has 3 values for 2 columns"),
        ("time,y\n0,5,2\n1,2,3\n", "line 2 has 3 values for 2 columns"),
        ("time;y\n0;1.234,5\n", "line 2, column `y`: `1.234,5` is not a number"),
        ("time,y,y\n0,1,2\n", "two columns are called `y`"),
        ("time [furlong],y\n0,1\n", "the time column `time [furlong]` has no unit of time"),
        ("time [V],y\n0,1\n", "the time column `time [V]` has no unit of time"),
    ],
)
def test_what_is_no_number_in_a_table_is_refused_with_its_place(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "odd.csv").write_text(text)
    with pytest.raises(ModelError) as caught:
        read(tmp_path / "odd.csv")
    assert caught.value.diagnostics[0].code == "R703" and words in caught.value.diagnostics[0].message


@pytest.mark.parametrize("separator", [";", "\t"])
def test_decimal_commas(tmp_path: Path, separator: str) -> None:
    rows = [("0", "1"), ("0,5", "-2,25"), ("1e0", "3,5e-2")]
    (tmp_path / "odd.csv").write_text("\n".join(separator.join(row) for row in [("time", "y"), *rows]) + "\n")
    result = read(tmp_path / "odd.csv")
    assert result.time.tolist() == [0, 0.5, 1] and result["y"].tolist() == [1, -2.25, 0.035]


@pytest.mark.parametrize("name", ["time [ms]", "t/ms", "Time (ms)"])
def test_time_in_another_unit(tmp_path: Path, name: str) -> None:
    (tmp_path / "ms.csv").write_text(f"{name},y\n0,1\n500,2\n")
    assert read(tmp_path / "ms.csv").time.tolist() == [0, 0.5]


def mat(path: Path, matrices: dict[str, Any]) -> Path:
    """A MAT v4 file; lists of texts are matrices of characters."""
    parts = []
    for name, held in matrices.items():
        is_text = isinstance(held, list) and isinstance(held[0], str)
        width = max(map(len, held)) if is_text else 0
        lines = [list(line.ljust(width).encode()) for line in held] if is_text else held
        values = np.array(lines, "u1") if is_text else np.asarray(held)
        code = 51 if is_text else {"f8": 0, "f4": 10, "i4": 20}[values.dtype.str[1:]]
        parts += [struct.pack("<5i", code, *values.shape, 0, len(name) + 1), name.encode(), b"\0", values.tobytes("F")]
    path.write_bytes(b"".join(parts))
    return path


def trajectory(path: Path, tables: dict[str, Any], info: list[list[int]], names: list[str]) -> Path:
    """A trajectory with any number of tables, as some tools write them."""
    head = {"Aclass": ["Atrajectory", "1.1", "", "binNormal"], "name": names, "dataInfo": np.array(info, np.int32)}
    return mat(path, head | {n: np.array(v, float) for n, v in tables.items()})


@pytest.mark.parametrize("way", ["binNormal", "binTrans"])
def test_what_dymola_exports_as_plotted(tmp_path: Path, way: str) -> None:
    """Version 1.0: one table, a name for each column."""
    names, data = ["Time", "j.w", "g"], np.array([[0.0, 1.0, 9.0], [1.0, 2.0, 9.0]], "f4")
    about = ["Atrajectory", "1.0", "Stored by Dymola", way]
    if way == "binTrans":
        characters = np.array([list(n.ljust(4).encode()) for n in names], float).T
        file = mat(tmp_path / "r.mat", {"Aclass": about, "names": characters, "data": data.T})
    else:
        file = mat(tmp_path / "r.mat", {"Aclass": about, "names": names, "data": data})
    result = read(file)
    assert list(result) == ["j.w", "g"] and result.time.tolist() == [0, 1] and result["j.w"].tolist() == [1, 2]
    for changed, words in (({"names": ["x", "j.w", "g"]}, "called `time`"), ({"names": ["Time"]}, "1 names for 3")):
        with pytest.raises(ModelError, match=words):
            read(mat(tmp_path / "r.mat", {"Aclass": [*about[:3], "binNormal"], "data": data} | changed))


@pytest.mark.parametrize("version", ["4", "5"])
def test_vectors_as_matlab_saves_them(tmp_path: Path, version: str) -> None:
    scipy_io = pytest.importorskip("scipy.io")
    t = np.array([[0.0], [0.5], [1.0]])
    scipy_io.savemat(tmp_path / "m.mat", {"t": t, "u": 2 * t, "y": (3 * t).T, "k": 7.0}, format=version)
    result = read(tmp_path / "m.mat")
    assert result.time.tolist() == [0, 0.5, 1] and result["u"].tolist() == [0, 1, 2]
    assert result["y"].tolist() == [0, 1.5, 3] and result.parameters == {"k": 7.0}
    scipy_io.savemat(tmp_path / "m.mat", {"t": t, "path": np.zeros((4, 2))}, format=version)
    with pytest.raises(ModelError, match="`path` is no signal: it is 4 x 2, and `t` has 3 values"):
        read(tmp_path / "m.mat")


@pytest.mark.parametrize(
    ("matrices", "words"),
    [
        ({"Aclass": ["AlinearSystem", "1.0", "", "binNormal"], "ABCD": np.eye(2)}, "its class is `AlinearSystem`"),
        (
            {"Aclass": ["Atrajectory", "1.1", "", "binTrans"], "name": ["time"]},
            "not a whole trajectory file: no `dataI",
        ),
        ({"table": np.eye(2)}, "not a trajectory file: it holds `table`"),
        ({}, "it holds nothing"),
    ],
)
def test_a_mat_file_of_another_kind(tmp_path: Path, matrices: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        read(mat(tmp_path / "other.mat", matrices))
    assert caught.value.diagnostics[0].code == "R703"


def test_a_trajectory_with_three_tables_and_another_name_of_the_time(tmp_path: Path) -> None:
    names, info = ["Time", "y", "clock", "k"], [[0, 1, 0, -1], [3, -2, 0, -1], [2, 1, 0, -1], [1, 2, 0, 0]]
    tables = {
        "data_1": [[0.0, 7.0], [1.0, 7.0]],
        "data_2": [[0.0, 5.0], [1.0, 6.0]],
        "data_3": [[0.0, 2.0], [1.0, 3.0]],
    }
    result = read(trajectory(tmp_path / "three.mat", tables, info, names))
    assert result["y"].tolist() == [-2, -3] and result["clock"].tolist() == [0, 1] and result["k"].tolist() == [7, 7]
    for third, words in (([[0.0, 2.0], [2.0, 3.0]], "times of its own"), ([[0.0], [1.0]], "which is not there")):
        with pytest.raises(ModelError) as caught:
            read(trajectory(tmp_path / "three.mat", tables | {"data_3": third}, info, names))
        assert caught.value.diagnostics[0].code == "R703" and words in caught.value.diagnostics[0].message


_FILL = """
import resource, signal, sys
import numpy as np
from kilohertz.base import ModelError
from kilohertz.results import Result, write
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
t = np.linspace(0, 1, 10_001)
try:
    write(sys.argv[1], Result.of_columns("r", t, {"x": np.sin(t), "y": np.cos(t)}))
except ModelError as error:
    print(error.diagnostics[0].code, error, *(n.text for n in error.diagnostics[0].notes))
"""


@pytest.mark.parametrize("suffix", [".csv", ".mat", ".parquet", ".mf4"])
def test_a_file_that_does_not_fit(tmp_path: Path, suffix: str) -> None:
    """As where the disk is full: the write goes on until the limit and fails then.  The rows that fit are kept, or no
    file is left that nobody can read."""
    file = tmp_path / f"r{suffix}"
    done = subprocess.run([sys.executable, "-c", _FILL, str(file)], capture_output=True, text=True, check=True)
    assert f"R702 cannot write `{file}`" in done.stdout, done.stderr
    assert ("the rows that fit are in it" in done.stdout) == file.exists() == (suffix in (".csv", ".mat"))
    if file.exists():
        kept = read(file)
        assert 1000 < len(kept.time) < 10_000 and file.stat().st_size <= 100_000
        assert np.array_equal(kept.time, np.linspace(0, 1, 10_001)[: len(kept.time)])
        assert np.array_equal(kept["y"], np.cos(kept.time))
