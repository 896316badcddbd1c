"""External symbols: LAPACK against numpy, files on disk, random generators against the C sources' first numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.io import savemat

from kilohertz.interp import ArrayValue, EvaluationError
from kilohertz.interp.externals import Message, Outputs, find

A = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [2.0, 3.0, 6.0]])
B = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
TALL = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])


def call(symbol: str, *args: Any) -> Any:
    found = find(symbol)
    assert found is not None, symbol
    return found([ArrayValue.of(a) if isinstance(a, np.ndarray) else a for a in args])


def written(symbol: str, *args: Any) -> dict[int, Any]:
    answer = call(symbol, *args)
    assert isinstance(answer, Outputs)
    return {k: v.to_numpy() if isinstance(v, ArrayValue) else v for k, v in answer.written.items()}


# ------------------------------------------------------------------------------------------------------------- LAPACK


def test_linear_systems() -> None:
    solved = written("dgesv", 3, 2, A, 3, None, B, 3, None)
    assert_allclose(A @ solved[5], B)
    assert solved[7] == 0
    factors = written("dgetrf", 3, 3, A, 3, None, None)
    pivots = ArrayValue.of(factors[4])
    inverse = written("dgetri", 3, factors[2], 3, pivots, None, 1, None)
    assert_allclose(inverse[1], np.linalg.inv(A))
    for trans, matrix in (("N", A), ("T", A.T)):
        solved = written("dgetrs", trans, 3, 2, factors[2], 3, pivots, B, 3, None)
        assert_allclose(matrix @ solved[6], B)
    singular = written("dgesv", 2, 1, np.ones((2, 2)), 2, None, np.ones(2), 2, None)
    assert singular[7] > 0


def test_band_and_triangular_systems() -> None:
    low, mid, up = np.array([1.0, 2.0]), np.array([4.0, 5.0, 6.0]), np.array([0.5, 0.25])
    T = np.diag(mid) + np.diag(low, -1) + np.diag(up, 1)
    assert_allclose(T @ written("dgtsv", 3, 2, low, mid, up, B, 3, None)[5], B)
    band = np.zeros((4, 3))
    band[1, 1:], band[2], band[3, :2] = up, mid, low
    assert_allclose(T @ written("dgbsv", 3, 1, 1, 2, band, 4, None, B, 3, None)[7], B)
    lower = np.tril(A)
    assert_allclose(lower @ written("dtrsm", "L", "L", "N", "N", 3, 2, 1.0, lower, 3, B, 3)[9], B)
    assert_allclose(lower.T @ written("dtrsm", "L", "L", "T", "N", 3, 2, 1.0, lower, 3, B, 3)[9], B)


def test_least_squares() -> None:
    b = np.array([1.0, 2.0, 4.0])
    expected = np.linalg.lstsq(TALL, b, rcond=None)[0]
    assert_allclose(written("dgels", "N", 3, 2, 1, TALL, 3, b, 3, None, 10, None)[6].ravel()[:2], expected)
    pivots = np.zeros(2, dtype=int)
    answer = written("dgelsy", 3, 2, 1, TALL, 3, b, 3, pivots, 1e-10, None, None, 10, None)
    assert_allclose(answer[5].ravel()[:2], expected)
    assert answer[9] == 2
    answer = written("dgelsx", 3, 2, 1, TALL, 3, b, 3, pivots, 1e-10, None, None, None)
    assert answer[11] == 0
    constrained = written(
        "dgglse", 3, 2, 1, TALL, 3, np.array([[1.0, 1.0]]), 1, b, np.array([1.0]), None, None, 20, None
    )
    assert_allclose(constrained[9].sum(), 1.0)


def test_orthogonal_factors() -> None:
    factors = written("dgeqrf", 3, 2, TALL, 3, None, None, 10, None)
    q = written("dorgqr", 3, 2, 2, factors[2], 3, factors[4], None, 10, None)[3]
    assert_allclose(q @ np.triu(factors[2])[:2], TALL)
    product = written("dormqr", "L", "T", 3, 2, 2, factors[2], 3, factors[4], TALL, 3, None, 10, None)[8]
    assert_allclose(product[:2], np.triu(factors[2])[:2], atol=1e-12)
    pivoted = written("dgeqp3", 3, 2, TALL, 3, None, None, None, 10, None)
    q = written("dorgqr", 3, 2, 2, pivoted[2], 3, pivoted[5], None, 10, None)[3]
    assert_allclose(q @ np.triu(pivoted[2])[:2], TALL[:, pivoted[4] - 1])


def test_values_of_matrices() -> None:
    answer = written("dgeev", "N", "V", 3, A, 3, None, None, None, 1, None, 3, None, 40, None)
    assert_allclose(sorted(answer[5]), np.linalg.eigvalsh(A))
    assert_allclose(A @ answer[9], answer[9] * answer[5])
    values = written("dgesvd", "N", "N", 3, 2, TALL, 3, None, None, 3, None, 2, None, 40, None)
    assert_allclose(values[6], np.linalg.svd(TALL, compute_uv=False))
    full = written("dgesvd", "A", "A", 3, 2, TALL, 3, None, None, 3, None, 2, None, 40, None)
    assert_allclose(full[7][:, :2] * full[6] @ full[9], TALL)
    full = written("dgesdd", "A", 3, 2, TALL, 3, None, None, 3, None, 2, None, 40, None, None)
    assert_allclose(full[6][:, :2] * full[5] @ full[8], TALL)
    assert call("dlange", "1", 3, 3, A, 3, None) == np.linalg.norm(A, 1)
    factors = written("dgetrf", 3, 3, A, 3, None, None)
    rcond = written("dgecon", "1", 3, factors[2], 3, float(np.linalg.norm(A, 1)), None, None, None, None)[5]
    assert rcond == pytest.approx(1 / np.linalg.cond(A, 1))
    cholesky = written("dpotrf", "U", 3, A, 3, None)
    assert_allclose(np.triu(cholesky[2]).T @ np.triu(cholesky[2]), A)


def test_schur_and_hessenberg() -> None:
    M = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 10.0]])
    schur = written("dgees", "V", "N", None, 3, M, 3, None, None, None, None, 3, None, 40, None, None)
    assert_allclose(schur[9] @ schur[4] @ schur[9].T, M)
    reduced = written("dgehrd", 3, 1, 3, M, 3, None, None, 40, None)
    q = written("dorghr", 3, 1, 3, reduced[3], 3, reduced[5], None, 40, None)[3]
    hessenberg = np.triu(reduced[3], -1)
    assert_allclose(q @ hessenberg @ q.T, M)
    values = written("dhseqr", "S", "V", 3, 1, 3, hessenberg, 3, None, None, q, 3, None, 40, None)
    assert_allclose(values[9] @ values[5] @ values[9].T, M)
    general = written("dggev", "V", "V", 3, M, 3, A, 3, None, None, None, None, 3, None, 3, None, 40, None)
    ratio = (general[7] + 1j * general[8]) / general[9]
    assert_allclose(sorted(ratio.real), sorted(np.linalg.eigvals(np.linalg.solve(A, M)).real))
    upper = np.triu(A)
    solved = written("dtrsyl", "N", "N", 1, 3, 3, upper, 3, upper, 3, np.eye(3), 3, None, None)
    assert_allclose(upper @ solved[9] + solved[9] @ upper, solved[11] * np.eye(3), atol=1e-12)


# -------------------------------------------------------------------------------------------------------------- files


def test_matrices_from_files(tmp_path: Path) -> None:
    text = tmp_path / "t.txt"
    text.write_text("#1\ndouble other(1,1)\n7\n# a comment\ndouble tab (2, 3) # rows\n1 2 3\n4,5;6e0\n")
    assert written("ModelicaIO_readMatrixSizes", str(text), "tab", None)[2].tolist() == [2, 3]
    matrix = written("ModelicaIO_readRealMatrix", str(text), "tab", None, 2, 3, True)[2]
    assert matrix.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    for version in ("4", "5"):
        mat = tmp_path / f"v{version}.mat"
        savemat(mat, {"tab": TALL}, format=version)
        assert_allclose(written("ModelicaIO_readRealMatrix", str(mat), "tab", None, 3, 2, True)[2], TALL)
    savemat(tmp_path / "s.mat", {"s": {"tab": TALL}})
    assert_allclose(written("ModelicaIO_readRealMatrix", str(tmp_path / "s.mat"), "s.tab", None, 3, 2, True)[2], TALL)
    with pytest.raises(EvaluationError, match='no table "x"'):
        written("ModelicaIO_readMatrixSizes", str(text), "x", None)
    with pytest.raises(EvaluationError, match="has size"):
        written("ModelicaIO_readRealMatrix", str(text), "tab", None, 3, 3, True)
    with pytest.raises(EvaluationError, match="no such file"):
        written("ModelicaIO_readMatrixSizes", str(tmp_path / "none.txt"), "x", None)


def test_lines_of_files(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_bytes(b"one\r\ntwo\n\nfour")
    name = str(file)
    assert call("ModelicaInternal_countLines", name) == 4
    assert call("ModelicaInternal_stat", name) == 2
    assert call("ModelicaInternal_stat", str(tmp_path)) == 3
    assert call("ModelicaInternal_stat", str(tmp_path / "none")) == 1
    assert call("ModelicaInternal_readLine", name, 1, None) == Outputs({2: False}, "one")
    assert call("ModelicaInternal_readLine", name, 5, None) == Outputs({2: True}, "")
    assert call("ModelicaInternal_readFile", name, None, 4).written[1].data == ["one", "two", "", "four"]
    assert call("ModelicaInternal_readDirectory", str(tmp_path), 1, None).written[2].data == ["lines.txt"]
    assert call("ModelicaInternal_fullPathName", name) == str(file.resolve())
    assert call("ModelicaInternal_print", "hello", "") == Message("hello")
    assert find("ModelicaInternal_removeFile") is None


def test_generators() -> None:
    """Expected: computed with ModelicaRandom.c of the Modelica Standard Library 4.0."""
    state = written("ModelicaRandom_xorshift64star", np.array([126247697, 1]), None, None)
    assert (state[1].tolist(), state[2]) == ([-263128414, 758157383], 0.6765222716933897)
    more = written("ModelicaRandom_xorshift128plus", np.array([1, 2, 3, -4]), None, None)
    assert (more[1].tolist(), more[2]) == ([3, -4, -8454331, -16777411], 0.49609370483039683)
    long = written("ModelicaRandom_xorshift1024star", np.array([*range(1, 33), 0]), None, None)
    assert (long[1][2:4].tolist(), long[1][32], long[2]) == ([-2135949302, 7], 1, 0.37670097295847393)
