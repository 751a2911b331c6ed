"""A state whose arrays are parts of one block of bytes, with a copy that shows who wrote where."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

_LINE = 64  # bytes: each array begins at a multiple


def arrays(state: Any) -> Iterator[Any]:
    """Every array of a state, with those of nested tuples."""
    for part in state:
        if isinstance(part, tuple):
            yield from arrays(part)
        else:
            yield part


def is_same(one: Any, other: Any) -> bool:
    """Whether two arrays of a state are equal, NaN included; bytes between fields do not count."""
    if one.dtype.names:
        return all(is_same(one[name], other[name]) for name in one.dtype.names)
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _replaced(state: Any, make: Callable[[Any], Any]) -> Any:
    """The same nested tuples with another array in the place of each array."""
    parts = [_replaced(one, make) if isinstance(one, tuple) else make(one) for one in state]
    return type(state)(*parts) if hasattr(state, "_fields") else tuple(parts)


class Watched:
    """A state that notices which rows change.

    The comparison of a whole state is one comparison of bytes. Only where bytes differ, the arrays
    are compared one by one.

    rows: the number of nodes. row_maps: for arrays with rows for some nodes only, by their length:
    node's row -> row there.
    """

    def __init__(
        self, state: Any, rows: int, row_maps: Mapping[int, Mapping[int, int]] | None = None
    ) -> None:
        self._rows, self._row_maps = rows, row_maps
        most_bytes = sum(_LINE + part.nbytes for part in arrays(state))
        self._bytes = np.zeros(most_bytes // _LINE * _LINE + _LINE, np.uint8)
        skip = -self._bytes.ctypes.data % _LINE
        self._offsets: list[int] = []

        def moved(part: Any) -> Any:
            nonlocal skip
            assert part.flags.c_contiguous, "an array of a state has gaps"
            made = np.ndarray(part.shape, part.dtype, self._bytes, skip).view(type(part))
            made[...] = part
            made.flags.writeable = part.flags.writeable
            assert made.dtype == part.dtype
            self._offsets.append(skip)
            skip += -(-part.nbytes // _LINE) * _LINE
            return made

        self.state = _replaced(state, moved)
        self._arrays = list(arrays(self.state))
        self._before = self._bytes.copy()
        self._places: dict[int, Any] = {}  # row -> the places of its bytes in the block

    def _of_row(self, row: int) -> Any:
        """The places of all bytes that belong to a row."""
        if row not in self._places:
            found = []
            for offset, part in zip(self._offsets, self._arrays, strict=True):
                here = row
                if self._row_maps is not None and len(part) != self._rows:
                    here = self._row_maps.get(len(part), {}).get(row, len(part))
                if here < len(part):
                    size = part.nbytes // len(part)
                    found.append(np.arange(size) + (offset + here * size))
            self._places[row] = np.concatenate(found)
        return self._places[row]

    def wrote_only(self, row: int) -> bool:
        """Whether, since the last call of this method, no row but this one has changed."""
        own = self._of_row(row)
        self._before[own] = self._bytes[own]
        if np.array_equal(self._before, self._bytes):
            return True
        parts = zip(self._offsets, self._arrays, strict=True)
        same = all(
            is_same(
                np.ndarray(part.shape, part.dtype, self._before, offset),
                np.ndarray(part.shape, part.dtype, self._bytes, offset),
            )
            for offset, part in parts
        )
        self._before[:] = self._bytes
        return same
