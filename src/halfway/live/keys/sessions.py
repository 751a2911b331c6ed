"""The sessions between two nodes with keys: keys, counters, replay window, renewal."""

from typing import NamedTuple

from halfway.live.keys.certificates import Certificate
from halfway.live.keys.datagrams import FRAMES, HEADER, VERSION
from halfway.live.keys.noise import Key, NotAuthentic
from halfway.live.security import Address, Refused

MOST_DATAGRAMS = 2**32  # of one key
MOST_AGE_S = 3600.0
RENEW_BEFORE_S, RENEW_BEFORE_DATAGRAMS = 60.0, 2**20
_TOGETHER_S = 10.0
WINDOW = 1024  # late counters may be this far behind the highest counter
_MASK = (1 << WINDOW) - 1


class ReplayWindow:
    """The replay window of a session: the counters that it accepted."""

    def __init__(self) -> None:
        self._highest = -1
        self._accepted = 0  # bit i: the counter `highest - i` was accepted

    def is_new(self, counter: int) -> bool:
        """Return whether a counter is new to the replay window and not too old for it."""
        behind = self._highest - counter
        if behind < 0:
            return True
        return behind < WINDOW and not self._accepted >> behind & 1

    def accept(self, counter: int) -> None:
        """Enter a new counter into the replay window, once its datagram is authentic."""
        ahead = counter - self._highest
        if ahead <= 0:
            self._accepted |= 1 << -ahead
            return
        self._accepted = (self._accepted << ahead & _MASK | 1) if ahead < WINDOW else 1
        self._highest = counter


class Session:
    """A session with one peer: a key in each direction, counters, and a replay window.

    boot: boot of the peer. numbers: number of the session at this end, and at the peer. keys: keys
    to send and to receive. begun, heard_at, sent_at: times in seconds.
    """

    def __init__(
        self,
        peer: Certificate,
        boot: bytes,
        numbers: tuple[int, int],
        keys: tuple[Key, Key],
        *,
        initiator: bool,
        address: Address,
        now: float,
    ) -> None:
        self.peer, self.boot, self.address, self.initiator = peer, boot, address, initiator
        self.node_id = peer.node_id  # of the peer
        self.own_number, self.their_number = numbers
        self._send, self._receive = keys
        self._counter, self._window = 0, ReplayWindow()
        self.begun, self._void_at = now, now + MOST_AGE_S + RENEW_BEFORE_S
        self.heard_at, self.sent_at = now, now
        self.heard = False  # whether the peer has sealed a datagram in this session

    def seal(self, plain: bytes, now: float, kind: int = FRAMES) -> bytes | None:
        """Return a datagram sealed by the session, or None when its keys are used up."""
        if self._counter >= MOST_DATAGRAMS or now >= self.begun + MOST_AGE_S:
            return None
        header = HEADER.pack(VERSION, kind, self.their_number, self._counter)
        sealed = self._send.seal(self._counter, plain, header)
        self._counter += 1
        self.sent_at = now
        return header + sealed

    def open(self, counter: int, datagram: bytes, address: Address, now: float) -> bytes | Refused:
        """Return the content of a datagram that the peer's session sealed, once, or the reason of
        its refusal.
        """
        if now >= self._void_at:
            return Refused("no session")
        if not self._window.is_new(counter):
            return Refused("replay")
        try:
            plain = self._receive.open(counter, datagram[HEADER.size :], datagram[: HEADER.size])
        except NotAuthentic:
            return Refused("not authentic")
        self._window.accept(counter)
        self.address, self.heard_at = address, now  # a peer may move
        return plain

    def is_used_up(self, now: float) -> bool:
        """Return whether the session with keys is too old to seal, and awaits no datagram."""
        return now >= self._void_at

    def needs_renewal(self, now: float) -> bool:
        """Return whether a renewal of the session is due: first for the initiator, later for the
        other side.
        """
        extra_s = 0.0 if self.initiator else RENEW_BEFORE_S / 3
        return (
            now >= self.begun + MOST_AGE_S - RENEW_BEFORE_S + extra_s
            or self._counter >= MOST_DATAGRAMS - RENEW_BEFORE_DATAGRAMS
        )


class PeerSessions(NamedTuple):
    """The sessions with one peer: the newest session seals datagrams, and the session before it
    still opens datagrams.
    """

    current: Session
    previous: Session | None = None

    def with_newer(self, newer: Session, own_id: int) -> "PeerSessions":
        """Return a peer's sessions after one more handshake.

        Two nodes may open at the same time. Then both keep both sessions, and seal with the session
        that the lower node id initiated.
        """
        current = self.current
        together = newer.boot == current.boot and newer.begun - current.begun < _TOGETHER_S
        if together and newer.initiator != current.initiator:
            low_initiated = current.initiator == (own_id < current.node_id)
            if low_initiated:
                return PeerSessions(current, newer)
        return PeerSessions(newer, current)
