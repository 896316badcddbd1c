"""Types: equal ones are one object, wherever they come from; and they do not change."""

from __future__ import annotations

import copy
import pickle

import pytest

from kilohertz.ir.types import BOOLEAN, REAL, EnumType, Primitive, RecordType, TupleType, Type


def test_equal_types_are_one_object() -> None:
    assert Type(Primitive("Real")) is REAL
    assert REAL.array_of(2, 3).element() is REAL.array_of(3)
    assert RecordType("R", (("x", REAL),)) is RecordType("R", (("x", REAL),))
    assert REAL.array_of(2) != REAL.array_of(3) and REAL != BOOLEAN
    assert EnumType("E", ("a",)) != EnumType("E", ("a", "b"))


@pytest.mark.parametrize("ty", [REAL.array_of(2, None), Type(TupleType((REAL, BOOLEAN))), Type(EnumType("E", ("a",)))])
def test_a_copy_is_the_same_type(ty: Type) -> None:
    assert copy.deepcopy(ty) is ty
    assert pickle.loads(pickle.dumps(ty)) is ty


def test_a_type_does_not_change() -> None:
    with pytest.raises(AttributeError, match="a Type does not change"):
        REAL.dims = (3,)
    assert repr(REAL.array_of(3)) == "Type(base=Primitive(name='Real'), dims=(3,))"
