"""Tables that stay mostly empty: an entry for each neighbour, on every node, on a network with a
hub.

All rows have the length of the longest list of neighbours, but most nodes use only the begin of
their row. In pages of usual size, the rest of a long row takes no memory. numpy asks for pages of
2 MB, which contain many rows.
"""

import contextlib
import math
import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

_LONG_ROW = 8192  # bytes: two pages of usual size
_LARGE = 1 << 24  # bytes of a table; numpy asks for large pages from 4 MB on


def sparse_table(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return a table of zeros whose rows, along the last axis, are mostly empty.

    Raises MemoryError if the system refuses the memory.
    """
    entry = np.dtype(dtype)
    size = math.prod(shape) * entry.itemsize
    if shape[-1] * entry.itemsize < _LONG_ROW or size < _LARGE or not _can_choose_pages():
        return np.zeros(shape, entry)
    try:
        pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        what = f"unable to allocate {size / 1e9:.1f} GB for a table of shape {shape}"
        raise MemoryError(what) from None
    with contextlib.suppress(OSError):  # a kernel without large pages refuses this
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    return np.frombuffer(pages, entry).reshape(shape)


def _can_choose_pages() -> bool:
    return hasattr(mmap, "MADV_NOHUGEPAGE")  # only on Linux
