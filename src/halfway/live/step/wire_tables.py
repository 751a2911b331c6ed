"""The wire form of records as tables for compiled code; `core.records.wire` states its lengths.

A RECORD frame has three parts: the number of its topics in one byte; the topics, 64 bits each, in
the order of their first use in the record; and the compact form of the record, in which a topic is
a place in the list. The list is necessary because each node has its own numbers of topics.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.kinds import Channel, Kinds, Part
from halfway.core.message import RECORD
from halfway.core.missing import NO_PLACE
from halfway.core.records.wire import HEADER_BYTES, fill_of, wire_parts

TOPICS = "topics"  # the limit of a range of topics
MOST_TOPICS = 15  # of one record: a header field and two arrays have no more places
_REALS = RECORD.itemsize - RECORD["reals"].itemsize  # where the doubles of a record begin
MOST_BYTES = 1 + 8 * MOST_TOPICS + RECORD.itemsize + 16  # of a RECORD frame
_WORD_BYTES = 8
_INTEGER, _WHOLE_REAL, _DOUBLE = 0, 1, 2  # types of the values in a part

# The reasons why bytes are not a record.
FITS, TOO_SHORT, UNKNOWN_KIND, NOT_CANONICAL, BAD_SOURCE = range(5)
REASONS = ("fits", "too short", "unknown kind", "not canonical", "not a node id")


class WireTables(NamedTuple):
    """The parts of each kind on the wire: the parts of kind k are first[k]:first[k + 1]."""

    first: npt.NDArray[np.int64]  # [257]
    known: npt.NDArray[np.uint8]  # [256] 1 for the kinds of the network
    offset: npt.NDArray[np.int64]  # [parts] of the first entry in a record, bytes
    stride: npt.NDArray[np.int64]  # [parts] bytes of an entry in a record
    entries: npt.NDArray[np.int64]  # [parts]
    size: npt.NDArray[np.int64]  # [parts] bytes of an entry on the wire
    signed: npt.NDArray[np.uint8]  # [parts] 1 for a signed integer on the wire
    value_type: npt.NDArray[np.uint8]  # [parts] an integer, a double, or a double that is whole
    varies: npt.NDArray[np.uint8]  # [parts] 1 for a vector of variable length
    fill: npt.NDArray[np.float64]  # [parts] value of unused entries
    topic: npt.NDArray[np.uint8]  # [parts] 1 where the entries are topics


def wire_tables(kinds: Kinds, *, numbered: bool) -> WireTables:
    """Return the wire tables of a protocol's kinds.

    numbered: whether topics are numbers of the node's own; else they are equal on all nodes, and
    are on the wire as they are in the record.
    """
    first, known = np.zeros(257, np.int64), np.zeros(256, np.uint8)
    rows: list[tuple[float, ...]] = []
    for number in range(256):
        first[number] = len(rows)
        if number in kinds and kinds[number].channel is Channel.NETWORK:
            known[number] = 1
            rows += [_row(part, numbered) for part in wire_parts(kinds[number])]
    first[256] = len(rows)
    columns = np.array(rows, np.float64).reshape(-1, 9).T
    offset, stride, entries, size = (column.astype(np.int64) for column in columns[:4])
    signed, value_type, varies, topic = (column.astype(np.uint8) for column in columns[4:8])
    fill = columns[8].copy()
    return WireTables(
        first=first,
        known=known,
        offset=offset,
        stride=stride,
        entries=entries,
        size=size,
        signed=signed,
        value_type=value_type,
        varies=varies,
        fill=fill,
        topic=topic,
    )


def _row(part: Part, numbered: bool) -> tuple[float, ...]:
    fields = RECORD.fields
    assert fields is not None
    width, form = RECORD[part.field].base.itemsize, part.range.form
    real = part.field == "reals"
    value_type = (_DOUBLE if form.kind == "f" else _WHOLE_REAL) if real else _INTEGER
    return (
        fields[part.field][1] + width * part.indices.start, width, len(part.indices),
        form.itemsize, form.kind == "i", value_type, part.varies,
        numbered and part.range.limit == TOPICS, fill_of(part),
    )  # fmt: skip


@inlined
def put(buffer, at, word, size):
    """Write the low `size` bytes of a word into a buffer with the wire form of a record,
    little-endian; return the next place.
    """
    for k in range(size):
        buffer[at + k] = np.uint8((word >> np.uint64(8 * k)) & np.uint64(255))
    return at + size


@inlined
def taken(buffer, at, size):
    """Return the word in `size` bytes of a buffer with the wire form of a record, little-endian."""
    word = np.uint64(0)
    for k in range(size):
        word |= np.uint64(buffer[at + k]) << np.uint64(8 * k)
    return word


@inlined
def signed(word, size):
    """Return the signed number in the low `size` bytes of a word from the wire form of a record."""
    if size < 8 and (word >> np.uint64(8 * size - 1)) & np.uint64(1) == np.uint64(1):
        word |= np.uint64(0xFFFFFFFFFFFFFFFF) << np.uint64(8 * size)
    return np.int64(word)


@inlined
def _word_at(wire, p, record, row, e):
    """Return the word of entry e in a record's part p of the wire tables; `row` are the bytes of
    the record.
    """
    if wire.value_type[p] == _WHOLE_REAL:
        return np.uint64(np.int64(record.reals[(wire.offset[p] - _REALS) // 8 + e]))
    return taken(row, wire.offset[p] + e * wire.stride[p], wire.stride[p])


@inlined
def _is_fill(wire, p, record, row, e):
    if wire.value_type[p] == _INTEGER:
        word = _word_at(wire, p, record, row, e)
        return np.float64(signed(word, wire.stride[p])) == wire.fill[p]
    return record.reals[(wire.offset[p] - _REALS) // 8 + e] == wire.fill[p]


@inlined
def _used(wire, p, record, row):
    """Return how many entries of a part the wire form of a record has."""
    count = wire.entries[p]
    if wire.varies[p] == 1:
        while count > 0 and _is_fill(wire, p, record, row, count - 1):
            count -= 1
    return count


@inlined
def _place_of(listed, count, topic):
    for k in range(count):
        if listed[k] == topic:
            return np.int64(k)
    return np.int64(NO_PLACE)


@apart
def listed_topics(wire, record, row, listed):
    """List the topics in the wire form of a record once each, by the node's numbers; return their
    count.
    """
    count = 0
    for p in range(wire.first[record.kind], wire.first[record.kind + 1]):
        if wire.topic[p] == 1:
            for e in range(_used(wire, p, record, row)):
                topic = signed(_word_at(wire, p, record, row, e), wire.stride[p])
                if topic >= 0 and _place_of(listed, count, topic) == NO_PLACE:
                    listed[count] = topic
                    count += 1
    return count


@apart
def encode(wire, record, row, hashes, listed, buffer, at):
    """Write a record by the wire tables as the content of a RECORD frame; return the end of its
    bytes.

    row: [128] the bytes of the record. hashes: [topics] 64 bits of each topic, by the node's
    number. listed: [MOST_TOPICS] scratch. The buffer has MOST_BYTES of room.
    """
    topics = listed_topics(wire, record, row, listed)
    at = put(buffer, at, np.uint64(topics), 1)
    for k in range(topics):
        at = put(buffer, at, hashes[listed[k]], 8)
    at = put(buffer, at, np.uint64(record.kind), 1)
    at = put(buffer, at, np.uint64(record["flags"]), 1)
    at = put(buffer, at, np.uint64(record.hops), 2)
    at = put(buffer, at, np.uint64(np.uint32(record.source)), 4)
    at = put(buffer, at, np.uint64(record.incarnation), 4)
    for p in range(wire.first[record.kind], wire.first[record.kind + 1]):
        count = _used(wire, p, record, row)
        if wire.varies[p] == 1:
            at = put(buffer, at, np.uint64(count), 1)
        for e in range(count):
            word = _word_at(wire, p, record, row, e)
            if wire.topic[p] == 1:
                topic = signed(word, wire.stride[p])
                if topic >= 0:
                    word = np.uint64(_place_of(listed, topics, topic))
            at = put(buffer, at, word, wire.size[p])
    return at


@apart
def decode(wire, record, row, numbers, topics, buffer, at, end):
    """Read a record by the wire tables, after its list of topics, into a blank record; return FITS,
    or the reason of a failure.

    row: [128] the bytes of the record. numbers: [topics] the node's numbers of the listed topics.
    The record has not passed the check at the door yet. Only bytes that `encode` writes fit: the
    topics are listed in the order of their first use, and all are used.
    """
    if end - at < HEADER_BYTES:
        return TOO_SHORT
    kind, source = np.uint8(buffer[at]), taken(buffer, at + 4, 4)
    if wire.known[kind] == 0:
        return UNKNOWN_KIND
    if source >= np.uint64(0x80000000):
        return BAD_SOURCE
    record.kind = kind
    record["flags"] = buffer[at + 1]
    record.hops = np.uint16(taken(buffer, at + 2, 2))
    record.source = np.int32(np.int64(source))
    record.incarnation = np.uint32(taken(buffer, at + 8, 4))
    at += HEADER_BYTES
    listed = np.int64(0)
    for p in range(wire.first[kind], wire.first[kind + 1]):
        at, listed = _read_part(wire, p, record, row, numbers[:topics], listed, buffer[:end], at)
        if at < 0:
            return NOT_CANONICAL
    return FITS if at == end and listed == topics else NOT_CANONICAL


@inlined
def _read_part(wire, p, record, row, numbers, listed, buffer, at):
    """Read part p of a record by the wire tables; return its end, or -1 for wrong bytes, and the
    number of named topics so far.
    """
    bad, count, end = np.int64(-1), wire.entries[p], buffer.shape[0]
    if wire.varies[p] == 1:
        if at >= end or np.int64(buffer[at]) > count:
            return bad, listed
        count = np.int64(buffer[at])
        at += 1
        _blank_vector(wire, p, record, row)
    if at + count * wire.size[p] > end:
        return bad, listed
    for e in range(count):
        word = taken(buffer, at, wire.size[p])
        at += wire.size[p]
        if wire.topic[p] == 1 and signed(word, wire.size[p]) >= 0:
            if word > np.uint64(listed) or word >= np.uint64(numbers.shape[0]):
                return bad, listed
            listed += np.int64(word == np.uint64(listed))
            word = np.uint64(numbers[np.int64(word)])
        _set(wire, p, record, row, e, word)
        # A double cannot represent every whole number of 64 bits.
        is_large = wire.value_type[p] == _WHOLE_REAL and wire.size[p] == _WORD_BYTES
        if is_large and word != _word_at(wire, p, record, row, e):
            return bad, listed
    if wire.varies[p] == 1 and count > 0 and _is_fill(wire, p, record, row, count - 1):
        return bad, listed
    return np.int64(at), listed


@inlined
def _set(wire, p, record, row, e, word):
    if wire.signed[p] == 1 and wire.value_type[p] != _DOUBLE:
        word = np.uint64(signed(word, wire.size[p]))
    if wire.value_type[p] == _WHOLE_REAL:
        number = np.float64(np.int64(word)) if wire.signed[p] == 1 else np.float64(word)
        record.reals[(wire.offset[p] - _REALS) // 8 + e] = number
    else:
        put(row, wire.offset[p] + e * wire.stride[p], word, wire.stride[p])


@inlined
def _blank_vector(wire, p, record, row):
    for e in range(wire.entries[p]):
        if wire.value_type[p] == _INTEGER:
            word = np.uint64(np.int64(wire.fill[p]))
            put(row, wire.offset[p] + e * wire.stride[p], word, wire.stride[p])
        else:
            record.reals[(wire.offset[p] - _REALS) // 8 + e] = wire.fill[p]
