"""The fields of MQTT packets: integers, text and binary data [mqtt5 §1.5], and the error
`Violation` of the standard.
"""

from functools import lru_cache

from halfway.live.mqtt.packets.reasons import Reason

VARIABLE_MAXIMUM = 0x0FFF_FFFF  # the largest variable byte integer: 268,435,455
SIZED_MAXIMUM = 0xFFFF  # bytes of a text or of binary data
_SHORT = 256  # bytes of a text that is remembered


class Violation(Exception):
    """The error of bytes or packets that break the MQTT standard; `reason` is the code to close
    with.
    """

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def malformed(detail: str) -> Violation:
    """Return the `Violation` by a malformed MQTT packet or field."""
    return Violation(Reason.MALFORMED_PACKET, detail)


def protocol_error(detail: str) -> Violation:
    """Return the `Violation` by an MQTT packet or field that is not allowed at this point."""
    return Violation(Reason.PROTOCOL_ERROR, detail)


class PacketFields:
    """A reader of the fields of one MQTT packet, in order.

    Every method raises Violation where the bytes end too early or mean nothing.
    """

    __slots__ = ("_at", "_bytes", "_end")

    def __init__(self, content: bytes, start: int = 0, end: int | None = None) -> None:
        self._bytes, self._at = content, start
        self._end = len(content) if end is None else end

    @property
    def left(self) -> int:
        """The number of unread bytes in the fields of an MQTT packet."""
        return self._end - self._at

    def _take(self, count: int) -> int:
        start = self._at
        if start + count > self._end:
            raise malformed("the packet ends within a field")
        self._at = start + count
        return start

    def byte(self) -> int:
        """Read one byte."""
        return self._bytes[self._take(1)]

    def uint16(self) -> int:
        """Read an integer of two bytes."""
        start = self._take(2)
        return int.from_bytes(self._bytes[start : start + 2], "big")

    def uint32(self) -> int:
        """Read an integer of four bytes."""
        start = self._take(4)
        return int.from_bytes(self._bytes[start : start + 4], "big")

    def variable(self) -> int:
        """Read a variable byte integer; only its shortest form is accepted [mqtt5 §1.5.5]."""
        value = 0
        for shift in (0, 7, 14, 21):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                if byte == 0 and shift:
                    raise malformed("a variable byte integer is longer than necessary")
                return value
        raise malformed("a variable byte integer has more than four bytes")

    def raw(self, length: int) -> bytes:
        """Read a number of bytes."""
        start = self._take(length)
        return self._bytes[start : start + length]

    def binary(self) -> bytes:
        """Read binary data behind its length of two bytes."""
        return self.raw(self.uint16())

    def text(self) -> str:
        """Read a text in UTF-8, without surrogates and U+0000 [mqtt5 §1.5.4]."""
        content = self.binary()
        return _text_in(content) if len(content) <= _SHORT else _text_in.__wrapped__(content)

    def part(self, length: int) -> "PacketFields":
        """Return a reader of the next bytes in the fields of an MQTT packet, and skip them here."""
        start = self._take(length)
        return PacketFields(self._bytes, start, start + length)

    def rest(self) -> bytes:
        """Read all bytes that are left."""
        return self.raw(self.left)

    def finish(self) -> None:
        """Require that every byte in the fields of an MQTT packet was read."""
        if self.left:
            raise malformed(f"{self.left} bytes behind the last field")


@lru_cache(maxsize=1024)
def _text_in(content: bytes) -> str:
    """Return the text in some bytes of an MQTT packet's field: clients send the same topics again
    and again.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError:
        raise malformed("a text is not UTF-8") from None
    if "\0" in text:
        raise malformed("a text contains U+0000")
    return text


def variable(value: int) -> bytes:
    """Return a field of an MQTT packet: the shortest variable byte integer. Raises ValueError above
    268,435,455.
    """
    if value < 0x80:
        return bytes((value,))
    if value > VARIABLE_MAXIMUM:
        raise ValueError(f"variable byte integer = {value}: expected at most {VARIABLE_MAXIMUM}")
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def binary(value: bytes) -> bytes:
    """Return a field of an MQTT packet: binary data behind its length. Raises ValueError above
    65,535 bytes.
    """
    if len(value) > SIZED_MAXIMUM:
        raise ValueError(f"length = {len(value)}: expected at most {SIZED_MAXIMUM} bytes")
    return len(value).to_bytes(2, "big") + value


def text(value: str) -> bytes:
    """Return a field of an MQTT packet: a text in UTF-8 behind its length. Raises ValueError above
    65,535 bytes.
    """
    return binary(value.encode())
