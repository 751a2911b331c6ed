"""Quick records: the bytes, types and values of `np.recarray`, for interpreted code."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from halfway.core.compiler.quick_records import QuickRecords, quick
from halfway.core.message import RECORD
from halfway.core.outbox import Outbox, outbox


class Pair(NamedTuple):
    """A tuple in a tuple, as in the state of many systems."""

    inner: Outbox
    number: int


def records() -> Any:
    """Records with different values in all fields."""
    made = np.frombuffer(bytes(range(1, 129)) + bytes(range(2, 130)) + bytes(128), RECORD).copy()
    made["reals"] = np.arange(18).reshape(3, 6) / 7.0
    made["at"] = 1.5, np.inf, -0.0
    return made.view(np.recarray)


@pytest.mark.parametrize("name", RECORD.names or ())
def test_a_field_has_the_same_type_and_value(name: str) -> None:
    usual = records()
    fast = quick(usual)
    for old, new in zip(usual, fast, strict=True):
        assert type(new[name]) is type(old[name])
        assert np.array_equal(new[name], old[name])
        assert type(getattr(new, name)) is type(getattr(old, name))
        if name != "flags":  # an attribute of all numpy arrays and numbers, in both
            assert np.array_equal(getattr(new, name), getattr(old, name))
    if name != "flags":
        assert getattr(fast, name).tobytes() == getattr(usual, name).tobytes()
        assert getattr(fast, name).dtype == getattr(usual, name).dtype
    assert fast[name].tobytes() == usual[name].tobytes()


@pytest.mark.parametrize("name", RECORD.names or ())
def test_a_write_has_the_same_bytes(name: str) -> None:
    usual, other = records(), records()
    fast = quick(other)
    value = usual[0][name].copy()
    setattr(usual[2], name, value)
    setattr(fast[2], name, value)
    assert other.tobytes() == usual.tobytes()
    assert other.tobytes() != records().tobytes()
    fast[1] = fast[0]
    usual[1] = usual[0]
    assert other.tobytes() == usual.tobytes()


def test_values_out_of_range_raise_the_same_errors() -> None:
    usual, fast = records()[0], quick(records())[0]
    for record in (usual, fast):
        with pytest.raises(OverflowError):
            record.kind = 256
        with pytest.raises(AttributeError):
            _ = record.no_field
    with pytest.raises(AttributeError, match="no attribute 'no_field'"):  # np.recarray accepts it
        fast.no_field = 1


def test_tuples_keep_their_class_and_the_memory_of_their_arrays() -> None:
    given = Pair(outbox(3), 5)
    made = quick(given)
    assert type(made) is Pair
    assert type(made.inner) is Outbox
    assert made.inner.free is given.inner.free
    assert type(made.inner.pool) is QuickRecords
    assert np.shares_memory(made.inner.pool, given.inner.pool)
    made.inner.pool[1].topic = 7
    assert given.inner.pool[1].topic == 7
    assert quick(made) is made
    plain = Pair(outbox(3)._replace(pool=np.zeros(3)), 5)
    assert quick(plain) is plain
    with pytest.raises(AttributeError):
        made.inner.pool.no_field = 1


def test_records_in_records_stay_as_they_are() -> None:
    nested = np.zeros(2, [("inner", RECORD), ("number", "<i4")]).view(np.recarray)
    assert quick(nested) is nested
