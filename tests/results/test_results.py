"""Results survive being written and read, and other people's readers agree with ours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kilohertz.results import CsvWriter, MatWriter, Result, Signal, read, read_csv, read_mat, write


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


@pytest.mark.parametrize("suffix", [".csv", ".mat"])
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
    assert lines[1].startswith("0,1,-1,0.1,")


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
    with pytest.raises(ValueError, match=r"no result format is called `\.xyz`"):
        write(tmp_path / "r.xyz", sample())


@settings(deadline=None)  # writes files
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_every_double_survives_csv(tmp_path_factory: pytest.TempPathFactory, values: list[float]) -> None:
    path = tmp_path_factory.mktemp("csv") / "r.csv"
    column = np.array(values)
    Result.of_columns("M", np.arange(float(len(values))), {"x": column}).to_csv(path)
    back = read_csv(path)["x"]
    assert back.tobytes() == column.tobytes()
