"""Records on the wire: a header, then the parts that the record kind declares, in fixed widths.

Numbers are little-endian. The header has kind, flags, hops, sender and the sender's incarnation, 12
bytes. The other header fields of the kind, its places in `args` and its places in `reals` follow in
the order of the record, each in the form of its range. A vector of variable length has its length
in one byte before it, and ends with its last used entry. The receiver and the field "at" are not on
the wire: the link layer knows the receiver, and "at" is the receiver's own time. A payload follows
the record.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart
from halfway.core.kinds import Channel, Kind, Kinds, Part
from halfway.core.message import RECORD

HEADER_BYTES = 12
_LENGTH_BYTES = 1  # bytes of the length of a vector
_ARGS = RECORD["args"].shape[0]


def fill_of(part: Part) -> float:
    """Return the value that pads a vector of a record; the padding is not sent on the wire."""
    return -1.0 if part.range.low == -1.0 else 0.0


def wire_parts(kind: Kind) -> list[Part]:
    """Return the parts of a record kind that follow the header on the wire, in order."""
    return [part for part in kind.parts() if part.field != "flags"]


def wire_bytes(kind: Kind) -> tuple[int, int]:
    """Return the least and the most bytes of a kind's records on the wire."""
    least = most = HEADER_BYTES
    for part in wire_parts(kind):
        entries = part.range.form.itemsize * len(part.indices)
        most += entries + _LENGTH_BYTES * part.varies
        least += _LENGTH_BYTES if part.varies else entries
    return least, most


class RecordSizes(NamedTuple):
    """The sizes of records on the wire by kind, in bytes: fixed parts, and vectors of varying
    length.

    The vectors of kind k are vectors first[k]:first[k + 1].
    """

    fixed: npt.NDArray[np.int64]  # [256] bytes without the entries of vectors
    first: npt.NDArray[np.int64]  # [257]
    begin: npt.NDArray[np.int64]  # [vectors] first place in `args`, or in `reals` plus 8
    end: npt.NDArray[np.int64]  # [vectors] exclusive
    each: npt.NDArray[np.int64]  # [vectors] bytes of an entry
    fill: npt.NDArray[np.float64]  # [vectors] value of unused entries

    @property
    def common(self) -> int:
        """The size of every record on the wire in bytes, or 0 if records differ in size."""
        sizes = np.unique(self.fixed[self.fixed > 0])
        return int(sizes[0]) if len(sizes) == 1 and len(self.begin) == 0 else 0


def fixed_sizes(bytes_of: npt.ArrayLike) -> RecordSizes:
    """Return the sizes of records on the wire without vectors: equal for all kinds, or by kind."""
    fixed = np.broadcast_to(np.asarray(bytes_of, np.int64), 256).copy()
    none = np.zeros(0, np.int64)
    return RecordSizes(fixed, np.zeros(257, np.int64), none, none, none, np.zeros(0))


def record_sizes(kinds: Kinds) -> RecordSizes:
    """Return the sizes of a protocol's records on the wire; kinds that stay at a node have
    size 0.
    """
    fixed, first = np.zeros(256, np.int64), np.zeros(257, np.int64)
    vectors: list[tuple[int, int, int, float]] = []
    for number in range(256):
        first[number] = len(vectors)
        if number in kinds and kinds[number].channel is Channel.NETWORK:
            fixed[number] = wire_bytes(kinds[number])[0]
            for part in wire_parts(kinds[number]):
                base = _ARGS * (part.field == "reals")
                begin, end = part.indices.start + base, part.indices.stop + base
                if part.varies:
                    vectors.append((begin, end, part.range.form.itemsize, fill_of(part)))
    first[256] = len(vectors)
    columns = np.array(vectors, np.float64).reshape(-1, 4).T
    # The arrays are contiguous, like those of `fixed_sizes`, because another type would need
    # another compiled engine.
    begins, ends, each = columns[:3].astype(np.int64, order="C")
    return RecordSizes(fixed, first, begins, ends, each, columns[3].copy())


@apart
def record_bytes(sizes, record):
    """Return the bytes of one record on the wire, without its payload."""
    size = sizes.fixed[record.kind]
    for v in range(sizes.first[record.kind], sizes.first[record.kind + 1]):
        last = sizes.end[v]
        while last > sizes.begin[v]:
            place = last - 1
            value = record.reals[place - _ARGS] if place >= _ARGS else record.args[place]
            if value != sizes.fill[v]:
                break
            last -= 1
        size += (last - sizes.begin[v]) * sizes.each[v]
    return size
