"""The acknowledgement of a hop whose record a node refuses before its system sees the record.

A neighbour retransmits a hop that is not acknowledged, and then takes the receiver for a deaf
neighbour. So a node also acknowledges the hops of the records that it refuses for want of time.
"""

import struct

from halfway.core.kinds import Kinds, carrying
from halfway.core.records.wire import HEADER_BYTES, wire_parts
from halfway.live.wire.frames import record_begin
from halfway.protocols.parts.reliable_hop import ACK

# No topic; kind, flags, hops, sender, incarnation; the sequence number of the hop.
_ACK = struct.Struct("<xBBHIII")
_SEQUENCE = struct.Struct("<I")


class RefusedHops:
    """The acknowledgements of one node for records of events that it refuses."""

    def __init__(self, kinds: Kinds, node_id: int, incarnation: int) -> None:
        self._node_id, self._incarnation = node_id, incarnation
        self._sequence_at = _sequence_places(kinds)  # in the compact form, by kind

    def acknowledgement(self, content: bytes) -> bytes:
        """Return the content of the RECORD frame that acknowledges the hop of a record, given as
        the content of its frame. Return empty bytes if its sender asks for none.
        """
        begin = record_begin(content)
        at = begin + self._sequence_at.get(content[begin], len(content))
        if at + _SEQUENCE.size > len(content):
            return b""
        (sequence,) = _SEQUENCE.unpack_from(content, at)
        if sequence == 0:
            return b""
        return _ACK.pack(int(ACK), 0, 1, self._node_id, self._incarnation, sequence)


def _sequence_places(kinds: Kinds) -> dict[int, int]:
    """Return the place of the hop's sequence number, for the kinds of record with an event."""
    places = dict[int, int]()
    for number in carrying(kinds) if int(ACK) in kinds else ():
        at = HEADER_BYTES
        for part in wire_parts(kinds[number]):
            if part.field == "sequence":
                places[int(number)] = at
            at += part.range.form.itemsize * len(part.indices)
    return places
