"""[R34] Millions of drawn records of every kind of each live system, there and back."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from halfway.core.compiled import kernel
from halfway.core.kinds import Channel, Kind, Part
from halfway.core.message import EVERYONE, RECORD
from halfway.core.records.wire import fill_of, record_bytes, record_sizes
from halfway.live.step.wire_tables import (
    FITS,
    MOST_BYTES,
    MOST_TOPICS,
    TOPICS,
    decode,
    encode,
    wire_tables,
)
from halfway.live.systems.live_systems import live_systems
from tests.core.records.test_wire import CODECS, TABLES

_TOPICS = 1000
_AT_ONCE = 100_000
KINDS = [
    (system, kind.number)
    for system in live_systems()
    for kind in TABLES[system]
    if kind.channel is Channel.NETWORK
]


@kernel
def come_back(
    tables: Any, pool: Any, rows: Any, blank: Any, hashes: Any, sizes: Any, lengths: Any
) -> Any:
    """The number of records that do not come back as they were, byte by byte.

    lengths[k]: bytes of record k on the wire, without its topics.
    """
    back, found = pool[:1].copy(), rows[:1].copy()
    back_rows = found
    buffer, listed = np.zeros(MOST_BYTES, np.uint8), np.zeros(MOST_TOPICS, np.int64)
    wrong = 0
    for k in range(pool.shape[0]):
        end = encode(tables, pool[k], rows[k], hashes, listed, buffer, 0)
        begin = 1 + 8 * int(buffer[0])
        lengths[k] = end - begin
        back[0] = blank[0]
        back_rows = back.view(np.uint8).reshape(1, rows.shape[1])
        why = decode(tables, back[0], back_rows[0], listed, int(buffer[0]), buffer, begin, end)
        same = why == FITS and lengths[k] == record_bytes(sizes, pool[k])
        for byte in range(rows.shape[1]):
            same = same and rows[k, byte] == back_rows[0, byte]
        wrong += not same
    return wrong


def drawn(random: np.random.Generator, part: Part, shape: Any) -> npt.NDArray[Any]:
    """Values of a part: the ends of its range, values next to them, and any others."""
    low, high = part.range.low, part.range.highest({TOPICS: _TOPICS})
    if not part.range.finite:  # every double
        return random.integers(2**63, size=shape, dtype=np.int64).view(np.float64) * random.choice(
            [1.0, -1.0], size=shape
        )
    any_value = random.uniform(low, high, shape)
    ends = random.choice([low, high, min(low + 1, high), max(high - 1, low)], size=shape)
    small = low + np.minimum(random.integers(0, 300, size=shape), high - low)
    values = np.where(random.random(shape) < 0.5, any_value, ends)
    values = np.where(random.random(shape) < 0.3, small, values)
    return np.floor(values) if part.range.whole else values


def records(random: np.random.Generator, kind: Kind, count: int) -> Any:
    """Drawn records of a kind, with any values of its ranges."""
    pool = np.zeros(count, RECORD)
    for field in ("target", "topic", "event", "publisher"):
        pool[field] = -1
    pool["kind"], pool["next"] = kind.number, EVERYONE
    pool["source"] = random.integers(2**31, size=count)
    pool["hops"] = random.integers(2**16, size=count)
    pool["incarnation"] = random.integers(2**32, size=count)
    for part in kind.parts():
        if part.field not in ("args", "reals"):
            pool[part.field] = drawn(random, part, count)
            continue
        places = slice(part.indices.start, part.indices.stop)
        values = drawn(random, part, (count, len(part.indices)))
        if part.varies:
            used = random.integers(len(part.indices) + 1, size=(count, 1))
            values = np.where(np.arange(len(part.indices)) < used, values, fill_of(part))
        pool[part.field][:, places] = values
    return pool.view(np.recarray)


def there_and_back(system: str, number: int, count: int, *, numbered: bool) -> int:
    """Let drawn records of a kind travel; return the sum of their bytes."""
    kinds, total = TABLES[system], 0
    tables, sizes = wire_tables(kinds, numbered=numbered), record_sizes(kinds)
    hashes = np.random.default_rng(7).integers(2**63, size=_TOPICS, dtype=np.uint64)
    random = np.random.default_rng([number, count, len(system)])
    blank = np.zeros(1, RECORD).view(np.recarray)
    for field in ("target", "topic", "event", "publisher"):
        blank[field] = -1
    blank["next"] = EVERYONE
    for begin in range(0, count, _AT_ONCE):
        pool = records(random, kinds[number], min(_AT_ONCE, count - begin))
        lengths = np.zeros(len(pool), np.int64)
        rows = pool.view(np.uint8).reshape(len(pool), -1)
        assert come_back(tables, pool, rows, blank, hashes, sizes, lengths) == 0
        if not numbered:
            assert lengths[0] == len(CODECS[system].encode(pool[0]))
        total += int(lengths.sum())
    return total


@pytest.mark.parametrize("numbered", [True, False])
def test_a_thousand_records_of_every_kind_come_back(numbered: bool) -> None:
    for system, number in KINDS:
        assert there_and_back(system, number, 1000, numbered=numbered) >= 12_000


@pytest.mark.slow
def test_ten_million_records_come_back() -> None:
    each = 10_000_000 // len(KINDS) + 1
    for place, (system, number) in enumerate(KINDS):
        there_and_back(system, number, each, numbered=place % 2 == 0)
