"""The wire tables: the same bytes as the codec of records, there and back; nothing else fits."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.compiler.interpreted import interpreted
from halfway.core.kinds import Channel
from halfway.core.message import RECORD
from halfway.live.step import wire_tables
from halfway.live.step.wire_tables import FITS, MOST_BYTES, MOST_TOPICS
from halfway.live.systems.live_systems import live_systems
from tests.core.records.codec import Codec
from tests.core.records.test_wire import CODECS, TABLES, TOY, records

_ALL = {**TABLES, "toy": TOY}
_CODECS = {**CODECS, "toy": Codec(TOY)}
_encode, _decode = interpreted(wire_tables.encode), interpreted(wire_tables.decode)
_KINDS = [
    (name, kind.number)
    for name, kinds in _ALL.items()
    for kind in kinds
    if kind.channel is Channel.NETWORK and name in ("toy", *live_systems())
]


def _pool(record: Any) -> tuple[Any, Any]:
    """A record in a pool of one, and the bytes of the pool."""
    pool = np.zeros(1, RECORD).view(np.recarray)
    pool[0] = record
    return pool, np.asarray(pool.view(np.uint8).reshape(1, -1))


def encoded(tables: Any, record: Any, hashes: Any) -> bytes:
    """A RECORD frame's content for a record."""
    pool, rows = _pool(record)
    buffer = np.zeros(MOST_BYTES, np.uint8)
    listed = np.zeros(MOST_TOPICS, np.int64)
    with np.errstate(over="ignore"):
        end = _encode(tables, pool[0], rows[0], hashes, listed, buffer, 0)
    return bytes(buffer[:end])


def decoded(tables: Any, content: bytes, numbers: list[int]) -> tuple[int, Any]:
    """Why a compact record does not fit, or FITS; and the record."""
    blank = np.zeros((), RECORD)
    for field in ("target", "next", "topic", "event", "publisher"):
        blank[field] = -1
    pool, rows = _pool(blank)
    buffer = np.frombuffer(content + bytes(1), np.uint8)
    table = np.array([*numbers, *[0] * MOST_TOPICS], np.int64)
    with np.errstate(over="ignore"):
        why = _decode(tables, pool[0], rows[0], table, len(numbers), buffer, 0, len(content))
    return int(why), pool[0].copy()


@pytest.mark.parametrize(("system", "number"), _KINDS)
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_the_bytes_are_those_of_the_codec(system: str, number: int, data: st.DataObject) -> None:
    tables = wire_tables.wire_tables(_ALL[system], numbered=False)
    record = data.draw(records(_ALL[system][number]))
    content = encoded(tables, record, np.zeros(1, np.uint64))
    assert content == b"\0" + _CODECS[system].encode(record)
    why, back = decoded(tables, content[1:], [])
    assert why == FITS
    assert back.tobytes() == record.tobytes()


@pytest.mark.parametrize(("system", "number"), _KINDS)
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_what_does_not_come_back_the_same_does_not_fit(
    system: str, number: int, data: st.DataObject
) -> None:
    tables = wire_tables.wire_tables(_ALL[system], numbered=False)
    content = bytearray(_CODECS[system].encode(data.draw(records(_ALL[system][number]))))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    del content[data.draw(st.integers(0, 2 * len(content))) :]
    why, record = decoded(tables, bytes(content), [])
    if why == FITS:
        assert encoded(tables, record, np.zeros(1, np.uint64))[1:] == bytes(content)


@settings(max_examples=2, deadline=None)
@given(data=st.data())
def test_a_changed_byte_is_refused_or_makes_another_record(data: st.DataObject) -> None:
    fits = 0
    for system, number in _KINDS:
        tables = wire_tables.wire_tables(_ALL[system], numbered=False)
        content = bytearray(_CODECS[system].encode(data.draw(records(_ALL[system][number]))))
        content[-1] ^= 1  # in a value of the record's last field
        why, record = decoded(tables, bytes(content), [])
        if why == FITS:
            fits += 1
            assert encoded(tables, record, np.zeros(1, np.uint64))[1:] == bytes(content)
    assert fits > 0


def test_topics_travel_as_a_list_of_their_hashes() -> None:
    kinds = TABLES["rumor-routing"]
    tables = wire_tables.wire_tables(kinds, numbered=True)
    agent = kinds[kinds.number("agent")]
    record = np.zeros((), RECORD)
    for field in ("target", "next", "event", "publisher"):
        record[field] = -1
    record["kind"], record["topic"] = agent.number, 2
    record["args"][agent.args["second_topic"]] = 5
    hashes = np.arange(8, dtype=np.uint64) + np.uint64(2**63)
    content = encoded(tables, record, hashes)
    assert content[0] == 2
    assert np.frombuffer(content, "<u8", 2, 1).tolist() == [2**63 + 2, 2**63 + 5]
    why, back = decoded(tables, content[17:], [41, 42])
    assert why == FITS
    assert (back["topic"], back["args"][agent.args["second_topic"]]) == (41, 42)
    # One topic more or less than the record names, or in another order, does not fit.
    assert decoded(tables, content[17:], [41])[0] != FITS
    assert decoded(tables, content[17:], [41, 42, 43])[0] != FITS
    swapped = bytearray(content[17:])
    at = swapped.index(1, 12)
    swapped[12], swapped[at] = 1, 0
    assert decoded(tables, bytes(swapped), [41, 42])[0] != FITS


def test_compiled_and_interpreted_give_the_same_bytes() -> None:
    kinds = TABLES["walk-overlay"]
    tables = wire_tables.wire_tables(kinds, numbered=False)
    record = np.zeros((), RECORD)
    record["kind"], record["args"] = kinds.number("chunk"), [0, -1, 2**31 - 1, -(2**31), 5, 0, 0, 0]
    pool, rows = _pool(record)
    buffer = np.zeros(MOST_BYTES, np.uint8)
    hashes, listed = np.zeros(1, np.uint64), np.zeros(MOST_TOPICS, np.int64)
    end = interpreted(wire_tables.encode)(tables, pool[0], rows[0], hashes, listed, buffer, 0)
    assert bytes(buffer[:end]) == b"\0" + CODECS["walk-overlay"].encode(record)
