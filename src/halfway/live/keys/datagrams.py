"""The layouts of handshake datagrams between nodes with keys; all numbers are little-endian.

Sealed datagrams: `version u8 · kind u8 · session u32 · counter u64`, then the encrypted content and
its tag. The header is authenticated. The receiver chose the number of the session.

Handshake datagrams end with a MAC by the secret of the network, so that a stranger without it
causes no answer and no key exchange:

    BEACON    network 8 · node u32 · boot 8 · renew u8 · padding to 112 bytes
    COOKIE    network 8 · node u32 · boot 8 · to boot 8 · cookie 16 · padding to 112 bytes
    INIT      network 8 · node u32 · boot 8 · session u32 · cipher u8 · cookie 16 · Noise 1
    RESPONSE  network 8 · to session u32 · Noise 2
    FINISH    network 8 · to session u32 · Noise 3
"""

import hmac
import struct
from hashlib import sha256
from typing import NamedTuple

from halfway.live.keys.noise import TAG_BYTES

VERSION = 1
FRAMES, CONTROL = 0, 1  # kinds of sealed datagrams
HEADER = struct.Struct("<BBIQ")
OVERHEAD = HEADER.size + TAG_BYTES
MAC_BYTES, BOOT_BYTES = 16, 8
PADDED_BYTES = 112  # an answer to a stranger is never longer than its cause
NOISE_1_BYTES = 48
_MOST_HANDSHAKE_BYTES = 1232


class Beacon(NamedTuple):
    """The datagram that announces a node and asks for sessions."""

    node_id: int
    boot: bytes  # 8 random bytes of a start of the node
    renew: bool  # even if a session exists


class CookieReply(NamedTuple):
    """The answer to a beacon; a node that shows the cookie has proven its address."""

    node_id: int
    boot: bytes
    to_boot: bytes  # of the beacon
    cookie: bytes  # 16 bytes


class Init(NamedTuple):
    """The first message of a handshake between nodes with keys, as a datagram."""

    node_id: int
    boot: bytes
    number: int  # the sender's number of the session
    cipher: int  # an index of noise.CIPHERS
    cookie: bytes


class Response(NamedTuple):
    """The second message of a handshake between nodes with keys, as a datagram."""

    to_number: int


class Finish(NamedTuple):
    """The third message of a handshake between nodes with keys, as a datagram."""

    to_number: int


Body = Beacon | CookieReply | Init | Response | Finish
_LAYOUTS: dict[int, tuple[type[Body], struct.Struct]] = {
    16: (Beacon, struct.Struct("<BB8sI8s?")),
    17: (CookieReply, struct.Struct("<BB8sI8s8s16s")),
    18: (Init, struct.Struct("<BB8sI8sIB16s")),
    19: (Response, struct.Struct("<BB8sI")),
    20: (Finish, struct.Struct("<BB8sI")),
}
_KIND_OF = {body: kind for kind, (body, _) in _LAYOUTS.items()}


class HandshakeDatagram(NamedTuple):
    """A handshake datagram with a correct MAC."""

    body: Body
    noise: bytes  # the message of Noise; empty in a beacon or a cookie
    prologue: bytes  # everything before the message of Noise


class HandshakeCodec:
    """The encoder and decoder of a network's handshake datagrams. secret: 32 bytes of the
    network.
    """

    def __init__(self, network_id: bytes, secret: bytes) -> None:
        self._network_id = network_id
        self._mac_key = sha256(b"halfway handshake mac 1\0" + secret).digest()

    def prologue(self, body: Body) -> bytes:
        """Return the part of a handshake datagram that precedes the Noise message."""
        kind = _KIND_OF[type(body)]
        return _LAYOUTS[kind][1].pack(VERSION, kind, self._network_id, *body)

    def finished(self, prologue: bytes, noise: bytes = b"") -> bytes:
        """Return a handshake datagram with its Noise message, padding if due, and MAC."""
        content = prologue + noise
        if not noise:
            content = content.ljust(PADDED_BYTES - MAC_BYTES, b"\0")
        return content + self._mac(content)

    def read(self, datagram: bytes) -> HandshakeDatagram | str:
        """Return the parts of a handshake datagram, or the reason of its refusal."""
        layout = _LAYOUTS.get(datagram[1])
        if layout is None:
            return "unknown kind"
        body_type, packed = layout
        if not packed.size + MAC_BYTES <= len(datagram) <= _MOST_HANDSHAKE_BYTES:
            return "wrong length"
        _, _, network_id, *fields = packed.unpack_from(datagram)
        if network_id != self._network_id:
            return "other network"
        content, mac = datagram[:-MAC_BYTES], datagram[-MAC_BYTES:]
        if not hmac.compare_digest(self._mac(content), mac):
            return "not authentic"
        noise = content[packed.size :]
        if body_type in (Beacon, CookieReply):
            if len(datagram) != PADDED_BYTES or any(noise):
                return "wrong length"
            noise = b""
        return HandshakeDatagram(body_type._make(fields), noise, content[: packed.size])

    def _mac(self, content: bytes) -> bytes:
        return hmac.digest(self._mac_key, content, sha256)[:MAC_BYTES]
