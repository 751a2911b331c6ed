"""The byte stream of an MQTT connection: `receive` turns bytes into packets, `send` packets into
bytes.

Neither function does input or output, as in h11. The caller reads and writes the socket.
"""

from typing import NamedTuple

from halfway.live.mqtt.packets.decode import decode
from halfway.live.mqtt.packets.encode import encode
from halfway.live.mqtt.packets.fields import Violation, malformed, protocol_error
from halfway.live.mqtt.packets.reasons import Reason
from halfway.live.mqtt.packets.types import MQTT5, ConnectPacket, Packet

_HEADER = 5  # bytes of the longest fixed header


class Broken(NamedTuple):
    """The last item of a stream whose client broke the MQTT standard."""

    reason: Reason  # to close the connection with
    detail: str  # for people


class PacketStream:
    """The packet stream of one MQTT connection.

    version: MQTT3 or MQTT5; None waits for the version of the first CONNECT, as a server does.
    maximum_bytes: the size of the largest packet that is received. A larger one breaks the stream
    as soon as its length is known, before any memory is allocated for it.
    """

    def __init__(self, version: int | None = None, maximum_bytes: int = 128 * 1024) -> None:
        self.version = version
        self._maximum_bytes = maximum_bytes
        self._bytes = bytearray()
        self._needed = 0  # bytes needed until the next packet can be complete
        self._is_broken = False

    def receive(self, data: bytes) -> list[Packet | Broken]:
        """Take received bytes; return the MQTT packets that these bytes complete, in order.

        Broken is the last item where the bytes break the standard; after it nothing is returned.
        No bytes raise an exception. At most one packet is buffered.
        """
        events: list[Packet | Broken] = []
        if self._is_broken:
            return events
        if self._bytes:
            self._bytes += data
            if len(self._bytes) < self._needed:
                return events
            data = bytes(self._bytes)
        at = 0
        try:
            while (extent := self._extent(data, at)) is not None:
                body, end = extent
                events.append(self._decode(data[at], data[body:end]))
                at = end
        except Violation as violation:
            self._is_broken, self._bytes = True, bytearray()
            events.append(Broken(violation.reason, violation.detail))
            return events
        self._bytes = bytearray(data[at:])
        return events

    def _decode(self, first: int, body: bytes) -> Packet:
        packet = decode(first, body, self.version or MQTT5)
        if self.version is None and isinstance(packet, ConnectPacket):
            self.version = packet.version
        return packet

    def _extent(self, content: bytes, at: int) -> tuple[int, int] | None:
        """Return where the body of the packet at an offset begins and ends, or None if the packet
        is incomplete.
        """
        if self.version is None and at < len(content) and content[at] >> 4 != ConnectPacket.type:
            raise protocol_error("the first packet is not CONNECT")
        length = 0
        for k in range(1, _HEADER):
            if at + k >= len(content):
                self._needed = k + 1
                return None
            byte = content[at + k]
            length |= (byte & 0x7F) << 7 * (k - 1)
            if byte < 0x80:
                if byte == 0 and k > 1:
                    raise malformed("the remaining length is longer than necessary")
                size = k + 1 + length
                if size > self._maximum_bytes:
                    raise Violation(Reason.PACKET_TOO_LARGE, f"a packet of {size} bytes")
                self._needed = size
                return (at + k + 1, at + size) if at + size <= len(content) else None
        raise malformed("the remaining length has more than four bytes")

    def send(self, packet: Packet) -> bytes:
        """Return the bytes of a packet for the stream to the client; a CONNECT sets the stream's
        version.

        Raises ValueError for a packet that the version does not have.
        """
        if self.version is None and isinstance(packet, ConnectPacket):
            self.version = packet.version
        return encode(packet, self.version or MQTT5)
