"""The LAPACK routines Modelica.Math.Matrices calls as "FORTRAN 77", through scipy.

Arguments stand as in LAPACK; matrices arrive and leave row by row, since Modelica passes what the mathematics means.
Positions written back are those of the routine's own outputs; work areas are left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kilohertz.interp.errors import NotConstant
from kilohertz.interp.externals.protocol import Outputs, Symbol
from kilohertz.interp.values import ArrayValue, Value

if TYPE_CHECKING:
    import numpy


def _matrix(value: ArrayValue) -> numpy.ndarray[Any, Any]:
    return value.to_numpy().astype(float)


def _columns(value: ArrayValue, rows: int) -> numpy.ndarray[Any, Any]:
    """A right-hand side as a matrix, even if a vector was handed over."""
    return _matrix(value).reshape(rows, -1)


def _out(array: Any) -> ArrayValue:
    return ArrayValue.of(array)


def _pivots(piv: Any) -> ArrayValue:
    """scipy counts pivots from zero, LAPACK from one."""
    return ArrayValue.of(piv + 1)


def _library() -> Any:
    from scipy.linalg import lapack

    return lapack


def _dgesv(a: list[Value]) -> Outputs:
    lu, piv, x, info = _library().dgesv(_matrix(a[2]), _columns(a[5], a[0]))
    return Outputs({2: _out(lu), 4: _pivots(piv), 5: _out(x), 7: info})


def _dgetrf(a: list[Value]) -> Outputs:
    lu, piv, info = _library().dgetrf(_matrix(a[2]))
    return Outputs({2: _out(lu), 4: _pivots(piv), 5: info})


def _dgetri(a: list[Value]) -> Outputs:
    inverse, info = _library().dgetri(_matrix(a[1]), a[3].to_numpy() - 1)
    return Outputs({1: _out(inverse), 6: info})


def _dgetrs(a: list[Value]) -> Outputs:
    trans = 0 if a[0] == "N" else 1
    x, info = _library().dgetrs(_matrix(a[3]), a[5].to_numpy() - 1, _columns(a[6], a[1]), trans=trans)
    return Outputs({6: _out(x), 8: info})


def _dgeev(a: list[Value]) -> Outputs:
    wr, wi, vl, vr, info = _library().dgeev(_matrix(a[3]), compute_vl=a[0] == "V", compute_vr=a[1] == "V")
    written = {5: _out(wr), 6: _out(wi), 13: info}
    if a[0] == "V":
        written[7] = _out(vl)
    if a[1] == "V":
        written[9] = _out(vr)
    return Outputs(written)


def _dgesvd(a: list[Value]) -> Outputs:
    full = a[0] == "A"
    u, s, vt, info = _library().dgesvd(_matrix(a[4]), compute_uv=full, full_matrices=full)
    return Outputs({6: _out(s), 13: info, **({7: _out(u), 9: _out(vt)} if full else {})})


def _dgesdd(a: list[Value]) -> Outputs:
    u, s, vt, info = _library().dgesdd(_matrix(a[3]), compute_uv=a[0] != "N", full_matrices=a[0] == "A")
    return Outputs({5: _out(s), 13: info, **({6: _out(u), 8: _out(vt)} if a[0] != "N" else {})})


def _dgeqp3(a: list[Value]) -> Outputs:
    qr, pivots, tau, _, info = _library().dgeqp3(_matrix(a[2]))
    return Outputs({2: _out(qr), 4: _out(pivots), 5: _out(tau), 8: info})


def _dgeqrf(a: list[Value]) -> Outputs:
    qr, tau, _, info = _library().dgeqrf(_matrix(a[2]))
    return Outputs({2: _out(qr), 4: _out(tau), 7: info})


def _dorgqr(a: list[Value]) -> Outputs:
    q, _, info = _library().dorgqr(_matrix(a[3])[:, : a[1]], _matrix(a[5]))
    return Outputs({3: _out(q), 8: info})


def _dgels(a: list[Value]) -> Outputs:
    trans, rows, columns = a[0], a[1], a[2]
    b = _columns(a[6], max(rows, columns))
    _, x, info = _library().dgels(_matrix(a[4]), b, trans=trans)
    return Outputs({6: _out(x), 10: info})


def _dgelsy(a: list[Value]) -> Outputs:
    rows, columns = a[0], a[1]
    b = _columns(a[5], max(rows, columns))
    pivots = a[7].to_numpy() if a[7] is not None and None not in a[7].data else _zeros(columns)
    lwork = max(64, 4 * (rows + columns + b.shape[1]) * 32)
    _, x, j, rank, info = _library().dgelsy(_matrix(a[3]), b, pivots.astype("int32"), a[8], lwork)
    return Outputs({5: _out(x), 7: _out(j), 9: int(rank), 12: info})


def _zeros(n: int) -> Any:
    import numpy as np

    return np.zeros(n, dtype="int32")


def _dgtsv(a: list[Value]) -> Outputs:
    *_, x, info = _library().dgtsv(_matrix(a[2]), _matrix(a[3]), _matrix(a[4]), _columns(a[5], a[0]))
    return Outputs({5: _out(x), 7: info})


def _dgbsv(a: list[Value]) -> Outputs:
    lu, piv, x, info = _library().dgbsv(a[1], a[2], _matrix(a[4]), _columns(a[7], a[0]))
    return Outputs({4: _out(lu), 6: _pivots(piv), 7: _out(x), 9: info})


def _dlange(a: list[Value]) -> float:
    return float(_library().dlange(a[0], _matrix(a[3])))


def _dgecon(a: list[Value]) -> Outputs:
    rcond, info = _library().dgecon(_matrix(a[2]), a[4], norm=a[0])
    return Outputs({5: float(rcond), 8: info})


def _dgehrd(a: list[Value]) -> Outputs:
    h, tau, info = _library().dgehrd(_matrix(a[3]), lo=a[1] - 1, hi=a[2] - 1)
    return Outputs({3: _out(h), 5: _out(tau), 8: info})


def _dorghr(a: list[Value]) -> Outputs:
    q, info = _library().dorghr(_matrix(a[3]), _matrix(a[5]), lo=a[1] - 1, hi=a[2] - 1)
    return Outputs({3: _out(q), 8: info})


def _dgees(a: list[Value]) -> Outputs:
    t, sdim, wr, wi, vs, _, info = _library().dgees(lambda *_: None, _matrix(a[4]), compute_v=a[0] == "V")
    return Outputs({4: _out(t), 6: int(sdim), 7: _out(wr), 8: _out(wi), 9: _out(vs), 14: info})


def _dhseqr(a: list[Value]) -> Outputs:
    """Eigenvalues of an upper Hessenberg matrix, with its Schur form where asked for, by way of DGEES."""
    import numpy as np

    job, compz, n = a[0], a[1], a[2]
    h = _matrix(a[5])
    t, _, wr, wi, vs, _, info = _library().dgees(lambda *_: None, h)
    written = {7: _out(wr), 8: _out(wi), 13: info}
    if job == "S":
        written[5] = _out(t)
    if compz == "I":
        written[9] = _out(vs)
    elif compz == "V":
        start = _matrix(a[9]) if a[9] is not None and None not in a[9].data else np.eye(n)
        written[9] = _out(start @ vs)
    return Outputs(written)


def _dpotrf(a: list[Value]) -> Outputs:
    c, info = _library().dpotrf(_matrix(a[2]), lower=a[0] == "L", clean=False)
    return Outputs({2: _out(c), 4: info})


def _dtrsm(a: list[Value]) -> Outputs:
    from scipy.linalg import blas

    side, lower, trans, unit = a[0] == "R", a[1] == "L", a[2] != "N", a[3] == "U"
    x = blas.dtrsm(a[6], _matrix(a[7]), _matrix(a[9]), side=side, lower=lower, trans_a=trans, diag=unit)
    return Outputs({9: _out(x)})


def _dtrsyl(a: list[Value]) -> Outputs:
    x, scale, info = _library().dtrsyl(_matrix(a[5]), _matrix(a[7]), _matrix(a[9]), trana=a[0], tranb=a[1], isgn=a[2])
    return Outputs({9: _out(x), 11: float(scale), 12: info})


def _dggev(a: list[Value]) -> Outputs:
    if a[0] != "V" or a[1] != "V":
        raise NotConstant("dggev without eigenvectors")
    alpha_r, alpha_i, beta, vl, vr, _, info = _library().dggev(_matrix(a[3]), _matrix(a[5]))
    return Outputs({7: _out(alpha_r), 8: _out(alpha_i), 9: _out(beta), 10: _out(vl), 12: _out(vr), 16: info})


def _dgglse(a: list[Value]) -> Outputs:
    *_, x, info = _library().dgglse(_matrix(a[3]), _matrix(a[5]), _matrix(a[7]), _matrix(a[8]))
    return Outputs({9: _out(x), 12: info})


def _dormqr(a: list[Value]) -> Outputs:
    c = _matrix(a[8])
    product, _, info = _library().dormqr(a[0], a[1], _matrix(a[5]), _matrix(a[7]), c, max(1, 64 * max(c.shape)))
    return Outputs({8: _out(product), 12: info})


SYMBOLS: dict[str, Symbol] = {
    "dgesv": _dgesv,
    "dgetrf": _dgetrf,
    "dgetri": _dgetri,
    "dgetrs": _dgetrs,
    "dgeev": _dgeev,
    "dgesvd": _dgesvd,
    "dgesdd": _dgesdd,
    "dgeqp3": _dgeqp3,
    "dgeqrf": _dgeqrf,
    "dorgqr": _dorgqr,
    "dgels": _dgels,
    "dgelsy": _dgelsy,
    "dgelsx": lambda a: _without_lwork(_dgelsy, a),
    "dgtsv": _dgtsv,
    "dgbsv": _dgbsv,
    "dlange": _dlange,
    "dgecon": _dgecon,
    "dgehrd": _dgehrd,
    "dorghr": _dorghr,
    "dgees": _dgees,
    "dhseqr": _dhseqr,
    "dpotrf": _dpotrf,
    "dtrsm": _dtrsm,
    "dtrsyl": _dtrsyl,
    "dggev": _dggev,
    "dgglse": _dgglse,
    "dormqr": _dormqr,
}


def _without_lwork(routine: Symbol, a: list[Value]) -> Outputs:
    """DGELSX, the older DGELSY, has no `lwork`: info stands one place earlier."""
    answer: Outputs = routine(a)
    return Outputs({(11 if k == 12 else k): v for k, v in answer.written.items()})
