"""Lent tuples: compiled code reads and writes what the tuple holds, through one pointer."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.compiled import kernel
from halfway.core.compiler.lent import Lender, lent


class Inner(NamedTuple):
    words: npt.NDArray[np.uint32]
    pair: tuple[npt.NDArray[np.float64], int]


class Outer(NamedTuple):
    share: float
    count: int
    small: np.uint8
    flag: bool
    low: np.float32
    grid: npt.NDArray[np.int16]
    inner: Inner
    record: npt.NDArray[np.void]
    columns: npt.NDArray[np.float64]  # not contiguous


class Renamed(NamedTuple):
    share: Any


RECORD = np.dtype([("at", "<f8"), ("args", "<i4", (3,))])


def made(grid: npt.NDArray[np.int16], count: int = 3, flag: bool = True) -> Outer:
    record = np.zeros(2, RECORD).view(np.recarray)
    record.at = (0.25, 0.5)
    inner = Inner(np.arange(4, dtype=np.uint32), (np.ones(2), -7))
    columns = np.arange(6.0).reshape(3, 2)[:, 1]
    return Outer(0.75, count, np.uint8(200), flag, np.float32(0.1), grid, inner, record, columns)


@kernel
def read(one):
    total = one.share + one.count + one.small + one.flag + one.low
    for i in range(one.grid.shape[0]):
        for j in range(one.grid.shape[1]):
            total += one.grid[i, j] * (10 * i + j)
    places, shift = one.inner.pair
    total += one.inner.words.sum() + places[1] + shift + one.columns[2]
    return total + one.record[1].at + one.record[0].args[2]


@kernel
def written(one):
    one.grid[:] = 9
    one.inner.words[2] = np.uint32(77)
    one.record[0].args[1] = 5
    row = one.grid[0]
    row[0] = 1


@given(
    rows=st.integers(0, 4), columns=st.integers(1, 4), seed=st.integers(0, 99),
    count=st.integers(-(2**63), 2**63 - 1), flag=st.booleans(),
)  # fmt: skip
def test_a_lent_tuple_reads_as_the_tuple(
    rows: int, columns: int, seed: int, count: int, flag: bool
) -> None:
    grid = np.random.default_rng(seed).integers(-9, 9, (rows, columns), np.int16)
    one = made(grid, count, flag)
    assert read(lent(one)) == pytest.approx(read(one), rel=1e-15)


def test_compiled_code_writes_into_the_tuples_arrays() -> None:
    one = made(np.zeros((2, 3), np.int16))
    written(lent(one))
    assert one.grid.tolist() == [[1, 9, 9], [9, 9, 9]]
    assert one.inner.words.tolist() == [0, 1, 77, 3]
    assert one.record[0].args.tolist() == [0, 5, 0]


def test_the_lender_keeps_the_arrays_alive() -> None:
    given_away = lent(made(np.full((50, 50), 3, np.int16)))
    trash = [np.full((50, 50), 9, np.int16) for _ in range(100)]
    assert read(given_away) == pytest.approx(read(given_away.value))
    assert trash


def test_a_lender_lends_the_same_objects_once() -> None:
    lender, one = Lender(), made(np.zeros((2, 2), np.int16))
    first = lender(one)
    assert lender(one) is first
    assert lender(one._replace()) is first  # another tuple of the same objects
    other = one._replace(grid=np.ones((2, 2), np.int16))
    assert lender(other) is not first
    assert lender(other).value is other


@pytest.mark.parametrize("wrong", ["text", None, [1, 2], {1: 2}])
def test_what_is_neither_array_nor_number_is_refused(wrong: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        lent(Renamed(wrong))


def test_types_with_the_same_fields_differ() -> None:
    class Share(NamedTuple):
        share: Any

    assert lent(Renamed(1.0)).type != lent(Share(1.0)).type
    assert lent(Renamed(1.0)).type == lent(Renamed(2.0)).type
    assert lent(Renamed(1.0)).type != lent(Renamed(2)).type
