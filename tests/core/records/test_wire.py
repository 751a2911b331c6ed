"""Records on the wire: every kind of every system there and back, and bytes of another form."""

import importlib
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.kinds import Channel, Kind, Kinds
from halfway.core.message import EVERYONE, RECORD
from halfway.core.outbox import outbox
from halfway.core.records.wire import (
    fixed_sizes,
    record_bytes,
    record_sizes,
    wire_bytes,
)
from halfway.core.values.ranges import BITS, DOUBLE, NODE_OR_NONE, REAL, SWITCH, whole
from halfway.protocols import SYSTEMS
from tests.core.records.codec import Codec

TABLES = {name: importlib.import_module(about.module).KINDS for name, about in SYSTEMS.items()}
CODECS = {name: Codec(kinds) for name, kinds in TABLES.items()}
SIZES = {name: record_sizes(kinds) for name, kinds in TABLES.items()}
TOY = Kinds(
    {"near": NODE_OR_NONE, "word": BITS, "cell": whole(-100, 100), "gone": SWITCH, "at": REAL}
)  # fmt: skip
TOY.network(
    7, "toy", "a toy", "event", {"near[k]": 0, "gone": 3, "word[k]": 4}, {"cell": 1, "at": 5}
)


def blank(kind: int) -> Any:
    """A record without contents."""
    record = outbox(1).pool[0]
    for field in ("target", "next", "topic", "event", "publisher"):
        record[field] = -1
    record.kind = kind
    return record


@st.composite
def records(draw: st.DrawFn, kind: Kind) -> Any:
    """A record of a kind with any values of its ranges; the driver's fields too."""
    record = blank(kind.number)
    record.source = draw(st.integers(0, 2**31 - 1))
    record.hops = draw(st.integers(0, 2**16 - 1))
    record.incarnation = draw(st.integers(0, 2**32 - 1))
    for part in kind.parts():
        low, high = part.range.low, part.range.high
        value = st.integers(int(low), int(high)) if part.range.whole else st.floats(low, high)
        if not part.range.finite:
            value = st.floats()
        full = len(part.indices)
        values = draw(st.lists(value, min_size=0 if part.varies else full, max_size=full))
        if part.field in ("args", "reals"):
            for index, one in zip(part.indices, values, strict=False):
                record[part.field][index] = one
        else:
            record[part.field] = draw(value)
    record["reals"] += 0.0  # -0.0 is a zero at the end of a vector, which no frame carries
    return record


def _systems_of_kinds() -> list[list[tuple[str, int]]]:
    """The systems of each kind, with its number; many share those of applications, for example."""
    found: dict[int, list[tuple[str, int]]] = {}
    for name, kinds in TABLES.items():
        for kind in kinds:
            found.setdefault(id(kind), []).append((name, kind.number))
    return list(found.values())


@pytest.mark.parametrize(
    "systems", _systems_of_kinds(), ids=lambda systems: "-".join(map(str, systems[0]))
)
@settings(max_examples=15)
@given(data=st.data())
@pytest.mark.long
def test_every_record_comes_back_as_it_was_sent(
    systems: list[tuple[str, int]], data: st.DataObject
) -> None:
    first, number = systems[0]
    kind = TABLES[first][number]
    record = data.draw(records(kind))
    least, most = wire_bytes(kind)
    for system, _ in systems:
        sent = CODECS[system].encode(record)
        assert CODECS[system].decode(sent).tobytes() == record.tobytes()
        assert least <= len(sent) <= most
        if kind.channel is Channel.NETWORK:
            assert record_bytes(SIZES[system], record) == len(sent)


@pytest.mark.parametrize("system", TABLES)
@given(data=st.data())
def test_bytes_are_a_record_or_refused_and_a_record_has_one_form(
    system: str, data: st.DataObject
) -> None:
    """Bytes that some record has not, such as a vector with unused entries at its end, are read
    all the same; the record read has one form."""
    codec = CODECS[system]
    kind = data.draw(st.sampled_from(list(TABLES[system])))
    sent = bytearray(codec.encode(data.draw(records(kind))))
    for _ in range(data.draw(st.integers(1, 4))):
        sent[data.draw(st.integers(0, len(sent) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(sent[: data.draw(st.integers(0, len(sent)))])
    for some in (bytes(sent), cut):
        try:
            record = codec.decode(some)
        except ValueError:
            continue
        assert codec.decode(codec.encode(record)).tobytes() == record.tobytes()


def test_the_form_is_the_shortest_with_room() -> None:
    record = blank(7)
    record.source, record.hops, record.incarnation = 0x01020304, 5, 6
    record.event = 258
    record.args[:] = [9, -1, -1, 1, -1, 0, 3, 0]
    record.reals[1], record.reals[5] = -2.0, 0.5
    # kind, flags, hops, source, incarnation; event; near: one; gone; word: three; cell; at.
    expected = (
        bytes([7, 0, 5, 0, 4, 3, 2, 1, 6, 0, 0, 0]) + bytes([2, 1, 0, 0])
        + bytes([1, 9, 0, 0, 0]) + bytes([1])
        + bytes([3, 255, 255, 255, 255, 0, 0, 0, 0, 3, 0, 0, 0])
        + bytes([254]) + np.float64(0.5).tobytes()
    )  # fmt: skip
    assert Codec(TOY).encode(record) == expected
    assert record_bytes(record_sizes(TOY), record) == len(expected)
    back = Codec(TOY).decode(expected)
    assert back.tobytes() == record.tobytes()
    assert back["next"] == EVERYONE


def test_an_acknowledgement_has_16_bytes() -> None:
    ack = next(kind for kind in TABLES["siena"] if kind.name == "ack")
    assert wire_bytes(ack) == (16, 16)
    assert max(wire_bytes(kind)[1] for table in TABLES.values() for kind in table
               if kind.channel is Channel.NETWORK) < RECORD.itemsize  # fmt: skip


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda data: data[:11], "expected a header of 12 bytes"),
        (lambda data: data[:-1], "at: expected at most 1 entries"),
        (lambda data: data + b"\0", "bytes: expected"),
        (lambda data: b"\x09" + data[1:], "kind 9: unknown"),
        (lambda data: data[:7] + b"\xff" + data[8:], "expected a node id below 2"),
        (lambda data: data[:16] + b"\x04" + data[17:], "near: expected at most 3 entries"),
        (lambda data: data[:17] + b"\x02" + data[18:], "gone: expected 0 to 1"),
    ],
)
def test_bytes_that_are_no_record_are_refused(change: Any, error: str) -> None:
    sent = Codec(TOY).encode(_toy())
    with pytest.raises(ValueError, match=error):
        Codec(TOY).decode(change(sent))


def test_any_double_comes_back_bit_by_bit() -> None:
    kinds = Kinds({"interval": DOUBLE})
    kinds.network(7, "toy", "a toy", reals={"interval[6]": 0})
    record = blank(7)
    record.source = 1
    record.reals[:] = [np.nan, np.inf, -np.inf, -0.0, 5e-324, np.finfo(float).max]
    sent = Codec(kinds).encode(record)
    assert sent[12:] == record.reals.tobytes()
    assert Codec(kinds).decode(sent).tobytes() == record.tobytes()


def test_a_finite_range_has_no_other_number_on_the_wire() -> None:
    for value in (np.nan, np.inf, -np.inf):
        record = _toy()
        record.reals[5] = value
        with pytest.raises(ValueError, match="at = "):
            Codec(TOY).encode(record)
        record.reals[5] = 0.5
        sent = Codec(TOY).encode(record)[:-8] + np.float64(value).tobytes()
        with pytest.raises(ValueError, match="at: expected -1e"):
            Codec(TOY).decode(sent)


def _toy() -> Any:
    record = blank(7)
    record.event = 0
    record.args[:3] = -1
    return record


def test_a_value_beyond_its_range_is_not_sent() -> None:
    record = _toy()
    record.reals[1] = 101.0
    with pytest.raises(ValueError, match=r"cell = .*expected -100 to 100"):
        Codec(TOY).encode(record)
    record.kind = 8
    with pytest.raises(ValueError, match="kind 8: unknown"):
        Codec(TOY).encode(record)


def test_kinds_of_one_length_have_a_common_size() -> None:
    flood, rumor = (record_sizes(TABLES[name]) for name in ("flooding", "rumor-routing"))
    assert (flood.common, rumor.common) == (wire_bytes(TABLES["flooding"][2])[0], 0)
    assert (fixed_sizes(50).common, fixed_sizes(np.arange(256)).common) == (50, 0)


def test_the_sizes_of_all_systems_have_one_type() -> None:
    """Otherwise some systems would need an engine of their own, which takes seconds to compile."""
    types = {str(numba.typeof(sizes)) for sizes in (*SIZES.values(), fixed_sizes(50))}
    assert len(types) == 1
