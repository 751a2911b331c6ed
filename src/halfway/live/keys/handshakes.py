"""The handshakes of one node with its peers, from a beacon to the two keys of a session, and their
interface to the sessions.

    A: BEACON    B: COOKIE    A: INIT with the cookie    B: RESPONSE    A: FINISH    B: sealed

B stores nothing about A until the cookie has shown that A receives at its address. A repeats lost
datagrams. Every table has a limit, and every handshake ends within 5 s.
"""

import copy
import struct
from collections import deque
from typing import NamedTuple, Protocol

from halfway.live.keys.certificates import Certificate, NotValid
from halfway.live.keys.datagrams import (
    BOOT_BYTES,
    NOISE_1_BYTES,
    Beacon,
    CookieReply,
    Finish,
    HandshakeCodec,
    Init,
    Response,
)
from halfway.live.keys.network_membership import Membership
from halfway.live.keys.noise import CIPHERS, Handshake, NotAuthentic, Random
from halfway.live.keys.sessions import Session
from halfway.live.keys.strangers import Cookies, SourceLimit
from halfway.live.security import Address, Opened, Refused

MOST_HANDSHAKES = 256  # handshakes begun here; others may begin as many
HANDSHAKE_S, REPEAT_S = 5.0, 0.25
MOST_PENDING = 1024
UNKNOWN = Opened(-1, b"")
_PAYLOAD = struct.Struct(f"<I{BOOT_BYTES}s")  # number of the session, boot; the certificate follows


class SessionTable(Protocol):
    """The interface through which handshakes use a node's sessions."""

    def has_session(self, node_id: int, boot: bytes) -> bool:
        """Return whether the node has a confirmed session with this boot of a peer."""
        ...

    def wants_session(self, node_id: int, boot: bytes) -> bool:
        """Return whether a handshake should start with a peer, because no session exists, or
        because the session needs renewal.
        """
        ...

    def is_taken(self, number: int) -> bool:
        """Return whether a session has a number, so that a handshake draws another one."""
        ...

    def establish(self, session: Session) -> None:
        """Take the session that results from a handshake, whose last message may be lost if this
        node sent it.
        """
        ...

    def confirm_again(self, number: int, now: float) -> bool:
        """Send the first sealed datagram of a session again, after a repeated handshake message.

        Return False if no such datagram exists.
        """
        ...


class _Handshaking(NamedTuple):
    """A handshake in progress, with its last datagram, which the peer may have lost."""

    node_id: int
    address: Address
    handshake: Handshake
    their_number: int  # of the session; 0 as long as it is unknown
    begun: float
    datagram: bytes


class Handshakes:
    """The handshakes of one node. sessions: the table of the resulting sessions.

    cipher: an index of CIPHERS for the handshakes that this node begins. rate: handshakes per
    second that each host may begin with this node.
    """

    def __init__(
        self, membership: Membership, sessions: SessionTable, *, cipher: int, random: Random,
        rate: float,
    ) -> None:  # fmt: skip
        self._membership, self._sessions = membership, sessions
        self._cipher, self._random = cipher, random
        self._codec = HandshakeCodec(membership.network_id, membership.secret)
        self.node_id, self.boot = membership.own.node_id, random(BOOT_BYTES)
        self._cookies = Cookies(random)
        self._cookie_limit, self._limit = SourceLimit(rate), SourceLimit(rate)
        self._opening: dict[int, _Handshaking] = {}  # by own number
        self._answering: dict[int, _Handshaking] = {}
        self._repeat_at = float("inf")
        self._pending: deque[tuple[Address, bytes]] = deque(maxlen=MOST_PENDING)

    def beacon(self, *, renew: bool = False) -> bytes:
        """Return the beacon for handshakes, which announces this node. renew: whether to ask for
        new sessions too.
        """
        return self._packed(Beacon(self.node_id, self.boot, renew))

    def send(self, address: Address, datagram: bytes) -> None:
        """Queue a handshake datagram for transmission; of 1,024 the oldest is dropped."""
        self._pending.append((address, datagram))

    def taken_pending(self) -> list[tuple[Address, bytes]]:
        """Take the queued handshake datagrams for transmission."""
        taken = list(self._pending)
        self._pending.clear()
        return taken

    def receive(self, address: Address, datagram: bytes, now: float) -> Opened | Refused:
        """Advance a handshake by a datagram of at least two bytes."""
        read = self._codec.read(datagram)
        if isinstance(read, str):
            return Refused(read)
        match read.body:
            case Beacon():
                return self._beacon(address, read.body, now)
            case CookieReply():
                return self._cookie(address, read.body, now)
            case Init():
                return self._init(address, read.body, (read.prologue, read.noise), now)
            case Response():
                return self._response(address, read.body.to_number, read.noise, now)
            case Finish():
                return self._finish(address, read.body.to_number, read.noise, now)

    def tick(self, now: float) -> float:
        """Repeat handshake datagrams that may be lost, drop old handshakes; return when to call
        again.
        """
        for table in (self._opening, self._answering):
            for number in [
                n for n, handshaking in table.items() if now >= handshaking.begun + HANDSHAKE_S
            ]:
                del table[number]
        if not self._opening:
            return float("inf")
        if now >= self._repeat_at:
            for handshaking in self._opening.values():
                self.send(handshaking.address, handshaking.datagram)
            self._repeat_at = now + REPEAT_S
        return self._repeat_at

    def confirmed(self, number: int) -> None:
        """End the handshake of a session over which the peer has sent sealed data."""
        self._opening.pop(number, None)

    def _beacon(self, address: Address, beacon: Beacon, now: float) -> Opened | Refused:
        if beacon.boot == self.boot:
            return Refused("own datagram")
        if beacon.node_id == self.node_id:
            return Refused("node id taken")
        if self._sessions.has_session(beacon.node_id, beacon.boot) and not beacon.renew:
            return UNKNOWN
        if not self._cookie_limit.admits(address[0], now):
            return Refused("rate")
        cookie = self._cookies.cookie(address, beacon.boot, now)
        reply = CookieReply(self.node_id, self.boot, beacon.boot, cookie)
        self.send(address, self._packed(reply))
        return UNKNOWN

    def _cookie(self, address: Address, reply: CookieReply, now: float) -> Opened | Refused:
        if reply.to_boot != self.boot or reply.node_id == self.node_id:
            return Refused("cookie")
        begun = any(
            (handshaking.node_id, handshaking.address) == (reply.node_id, address)
            for handshaking in self._opening.values()
        )
        if begun or not self._sessions.wants_session(reply.node_id, reply.boot):
            return UNKNOWN
        if len(self._opening) >= MOST_HANDSHAKES:
            return Refused("full")
        number = self._new_number()
        init = Init(self.node_id, self.boot, number, self._cipher, reply.cookie)
        prologue = self._codec.prologue(init)
        handshake = self._handshake(prologue, self._cipher, initiator=True)
        datagram = self._codec.finished(prologue, handshake.write_message(b""))
        self._opening[number] = _Handshaking(reply.node_id, address, handshake, 0, now, datagram)
        self._repeat_at = min(self._repeat_at, now + REPEAT_S)
        self.send(address, datagram)
        return UNKNOWN

    def _init(
        self, address: Address, init: Init, message: tuple[bytes, bytes], now: float
    ) -> Opened | Refused:
        """Answer the first message of a handshake. message: the datagram's prologue and its message
        of Noise.
        """
        prologue, noise = message
        same = (init.node_id, address, init.number)
        for answering in self._answering.values():
            if (answering.node_id, answering.address, answering.their_number) == same:
                self.send(address, answering.datagram)  # the first response was lost
                return UNKNOWN
        if reason := self._unanswered(address, init, noise, now):
            return Refused(reason)
        number = self._new_number()
        handshake = self._handshake(prologue, init.cipher, initiator=False)
        try:
            handshake.read_message(noise)
            answer = handshake.write_message(self._payload(number))
        except NotAuthentic:
            return Refused("not authentic")
        datagram = self._codec.finished(self._codec.prologue(Response(init.number)), answer)
        self._answering[number] = _Handshaking(
            init.node_id, address, handshake, init.number, now, datagram
        )
        self.send(address, datagram)
        return UNKNOWN

    def _unanswered(self, address: Address, init: Init, noise: bytes, now: float) -> str:
        """Return the reason why the first message of a handshake gets no answer, or an empty
        text.
        """
        if not self._cookies.is_valid(init.cookie, address, init.boot, now):
            return "cookie"
        if init.cipher >= len(CIPHERS) or len(noise) != NOISE_1_BYTES:
            return "wrong length"
        if len(self._answering) >= MOST_HANDSHAKES:
            return "full"
        return "" if self._limit.admits(address[0], now) else "rate"

    def _response(
        self, address: Address, number: int, noise: bytes, now: float
    ) -> Opened | Refused:
        opening = self._opening.get(number)
        if opening is None or opening.address != address:
            return Refused("no session")
        if opening.handshake.finished:
            self.send(address, opening.datagram)
            return UNKNOWN
        authentic = self._authentic(opening, noise)
        if isinstance(authentic, Refused):
            return authentic
        handshake, peer, their_number, boot = authentic
        finish = self._codec.prologue(Finish(their_number))
        datagram = self._codec.finished(finish, handshake.write_message(self._payload(number)))
        self._opening[number] = opening._replace(handshake=handshake, datagram=datagram)
        self.send(address, datagram)
        session = Session(
            peer, boot, (number, their_number), handshake.transport_keys(), initiator=True,
            address=address, now=now,
        )  # fmt: skip
        self._sessions.establish(session)
        return Opened(peer.node_id, b"")

    def _finish(self, address: Address, number: int, noise: bytes, now: float) -> Opened | Refused:
        handshaking = self._answering.get(number)
        if handshaking is None or handshaking.address != address:
            again = self._sessions.confirm_again(number, now)
            return UNKNOWN if again else Refused("no session")
        payload = self._authentic(handshaking, noise)
        if isinstance(payload, Refused):
            return payload
        handshake, peer, their_number, boot = payload
        if their_number != handshaking.their_number:
            return Refused("not authentic")
        del self._answering[number]
        session = Session(
            peer, boot, (number, their_number), handshake.transport_keys(), initiator=False,
            address=address, now=now,
        )  # fmt: skip
        self._sessions.establish(session)
        return Opened(peer.node_id, b"")

    def _authentic(
        self, handshaking: _Handshaking, message: bytes
    ) -> tuple[Handshake, Certificate, int, bytes] | Refused:
        """Read a handshake message on a copy, so that a forged message changes no handshake.

        Return the copy with its peer, and the peer's session number and boot.
        """
        handshake = copy.copy(handshaking.handshake)
        try:
            payload = handshake.read_message(message)
            certificate = payload[_PAYLOAD.size :]
            peer = self._membership.member(certificate, handshake.their_static)
        except NotAuthentic:
            return Refused("not authentic")
        except NotValid as error:
            return Refused(str(error))
        if peer.node_id != handshaking.node_id or peer.node_id == self.node_id:
            return Refused("certificate")
        return handshake, peer, *_PAYLOAD.unpack_from(payload)

    def _handshake(self, prologue: bytes, cipher: int, *, initiator: bool) -> Handshake:
        return Handshake(
            initiator=initiator, static=self._membership.identity.static, prologue=prologue,
            secret=self._membership.secret, cipher=cipher, random=self._random,
        )  # fmt: skip

    def _payload(self, number: int) -> bytes:
        return _PAYLOAD.pack(number, self.boot) + self._membership.own_bytes

    def _packed(self, body: Beacon | CookieReply) -> bytes:
        return self._codec.finished(self._codec.prologue(body))

    def _new_number(self) -> int:
        """Draw a number that no session and no handshake of this node uses."""
        while True:
            number = int.from_bytes(self._random(4), "little")
            taken = number in self._opening or number in self._answering
            if not taken and not self._sessions.is_taken(number):
                return number
