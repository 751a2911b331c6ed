"""A table for the neighbours of a hub is a table of zeros, and takes memory where it is used."""

import mmap
from pathlib import Path

import numpy as np
import pytest

from halfway.protocols.parts import sparse_table as module
from halfway.protocols.parts.sparse_table import sparse_table
from halfway.protocols.walks.tables.entries import SWEPT

_LONG = (2000, 4, 1100)  # 70 MB of SWEPT, in rows of 8,800 bytes
_KNOWN = Path("/proc/self/statm")


def _resident_bytes() -> int:
    return int(_KNOWN.read_text().split()[1]) * mmap.PAGESIZE


@pytest.mark.parametrize("shape", [_LONG, (3, 4, 1100), (9000, 4, 300), (0, 4, 1100), (5, 0)])
def test_a_sparse_table_is_a_table_of_zeros(shape: tuple[int, ...]) -> None:
    table = sparse_table(shape, SWEPT)
    assert table.shape == shape
    assert table.dtype == SWEPT
    assert table.flags.c_contiguous
    assert table.flags.writeable
    assert not table["key"].any()
    assert not table["hops"].any()
    table["hops"][:] = 7
    assert (table["hops"] == 7).all()


@pytest.mark.skipif(not module._can_choose_pages() or not _KNOWN.exists(), reason="needs Linux")
def test_unused_parts_of_long_rows_take_no_memory() -> None:
    table, before = sparse_table(_LONG, SWEPT), _resident_bytes()
    table["key"][::4, :, 0] = 1  # 500 x 4 of 8000 rows
    assert _resident_bytes() - before < table.nbytes / 4
    assert int(table["key"].sum()) == 2000


def test_a_refused_table_is_a_memory_error() -> None:
    with pytest.raises(MemoryError):
        sparse_table((1 << 40, 1 << 20), np.int32)


def test_without_a_choice_of_pages_the_table_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_can_choose_pages", lambda: False)
    assert sparse_table(_LONG, SWEPT).flags.owndata
