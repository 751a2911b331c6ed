"""One transmission for all neighbours: the sender's own key, and the keys of its neighbours.

On a radio or in a multicast group, a node transmits once. It seals with a key of its own, which it
hands to each neighbour in their session, until the neighbour has acknowledged it. The session is
fresh, so a recorded transmission of an earlier start of the sender is never believed.
"""

import struct

from halfway.live.keys.datagrams import EVERYONE, HEADER, VERSION
from halfway.live.keys.noise import KEY_BYTES, Key, NotAuthentic, Random
from halfway.live.keys.sessions import MOST_AGE_S, MOST_DATAGRAMS, ReplayWindow
from halfway.live.security import Opened, Refused

_HANDOVER = struct.Struct("<IQB32s")  # number, first counter, cipher, key
MOST_PER_PEER, _MOST_PER_NUMBER = 2, 4
REPEAT_S = 1.0


class SenderKey:
    """A node's own key for transmissions that all its neighbours hear."""

    def __init__(self, random: Random, cipher: int, now: float) -> None:
        self._material, self._cipher, self.begun = random(KEY_BYTES), cipher, now
        self._key = Key(self._material, cipher)
        self.number = int.from_bytes(random(4), "little")
        self._counter = 0

    def seal(self, plain: bytes) -> bytes:
        """Return a sealed datagram for all."""
        header = HEADER.pack(VERSION, EVERYONE, self.number, self._counter)
        sealed = self._key.seal(self._counter, plain, header)
        self._counter += 1
        return header + sealed

    def is_used_up(self, now: float) -> bool:
        """Return whether a new key must take its place."""
        return self._counter >= MOST_DATAGRAMS - 1 or now >= self.begun + MOST_AGE_S

    def handover(self) -> bytes:
        """Return the key as a peer needs it: what was sent before stays closed to the peer."""
        return _HANDOVER.pack(self.number, self._counter, self._cipher, self._material)


class HeardKey:
    """A peer's key for transmissions for all, as its session handed it over.

    Raises struct.error or IndexError for a handover of another form.
    """

    def __init__(self, peer: int, handover: bytes) -> None:
        self.number, first, cipher, material = _HANDOVER.unpack(handover)
        self.peer, self._key = peer, Key(material, cipher)
        self._window = ReplayWindow(first)

    def open(self, counter: int, datagram: bytes) -> bytes | Refused:
        """Return the plain content of a transmission, once; or why it is refused."""
        if not self._window.is_new(counter):
            return Refused("replay")
        try:
            plain = self._key.open(counter, datagram[HEADER.size :], datagram[: HEADER.size])
        except NotAuthentic:
            return Refused("not authentic")
        self._window.accept(counter)
        return plain


class KeysForAll:
    """The key of this node, which peers have it, and the keys of the peers."""

    def __init__(self, random: Random, cipher: int) -> None:
        self._random, self._cipher = random, cipher
        self._own: SenderKey | None = None
        self._have_own: set[int] = set()  # peers
        self._handed_at: dict[int, float] = {}  # by peer
        self._heard: dict[int, list[HeardKey]] = {}  # by number

    def refreshed(self, now: float) -> SenderKey:
        """Return the own key to seal with. A key that is used up is replaced."""
        if self._own is None or self._own.is_used_up(now):
            self._own = SenderKey(self._random, self._cipher, now)
            self._have_own.clear()
            self._handed_at.clear()
        return self._own

    def open(self, number: int, counter: int, datagram: bytes) -> Opened | Refused:
        """Return the content of a transmission and its sender, or why it is refused."""
        if self._own is not None and number == self._own.number:
            return Refused("own datagram")
        refused = Refused("no session")
        for key in self._heard.get(number, ()):
            plain = key.open(counter, datagram)
            if not isinstance(plain, Refused):
                return Opened(key.peer, plain)
            refused = plain
        return refused

    def handover_for(self, peer: int, now: float) -> bytes | None:
        """Return what hands the own key to a peer, or None if it has it, or was handed it just
        now.
        """
        if self._own is None or peer in self._have_own:
            return None
        if now < self._handed_at.get(peer, now - REPEAT_S) + REPEAT_S:
            return None
        self._handed_at[peer] = now
        return self._own.handover()

    def acknowledged(self, peer: int, number: bytes) -> None:
        """Note that a peer has the key of a number (4 bytes)."""
        if self._own is not None and number == self._own.number.to_bytes(4, "little"):
            self._have_own.add(peer)

    def hear(self, peer: int, handover: bytes) -> bytes | None:
        """Believe a peer's key: return the number to acknowledge, None for another form.

        Of each peer the newest two keys count. Several peers may have chosen the same number.
        """
        try:
            key = HeardKey(peer, handover)
        except (struct.error, IndexError):
            return None
        keys = self._heard.setdefault(key.number, [])
        if all(one.peer != peer for one in keys):
            if len(keys) >= _MOST_PER_NUMBER:
                return None
            keys.append(key)
            own = [one for known in self._heard.values() for one in known if one.peer == peer]
            for old in own[:-MOST_PER_PEER]:
                self._drop(old)
        return handover[:4]

    def forget(self, peer: int, *, renew: bool) -> None:
        """Drop the keys of a peer; renew: the peer must not open what comes, so change the own."""
        self.restarted(peer)
        for key in [one for keys in self._heard.values() for one in keys if one.peer == peer]:
            self._drop(key)
        if renew:
            self._own = None

    def restarted(self, peer: int) -> None:
        """Hand the own key to a peer again: its new session may be of a new start."""
        self._have_own.discard(peer)
        self._handed_at.pop(peer, None)

    def _drop(self, key: HeardKey) -> None:
        keys = self._heard[key.number]
        keys.remove(key)
        if not keys:
            del self._heard[key.number]
