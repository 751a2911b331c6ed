"""The security of a node with keys: sessions, permissions, revocation.

It does no I/O. The endpoint passes in datagrams and the time, and transmits what `pending` returns.
"""

import struct

from halfway.live.keys.datagrams import (
    CONTROL,
    FRAMES,
    HEADER,
    OVERHEAD,
    VERSION,
)
from halfway.live.keys.handshakes import HANDSHAKE_S, Handshakes
from halfway.live.keys.network_membership import Membership, allows
from halfway.live.keys.noise import Random
from halfway.live.keys.sessions import PeerSessions, Session
from halfway.live.keys.strangers import HANDSHAKE_RATE
from halfway.live.security import Address, Opened, Refused

MOST_PEERS = 1024
SILENCE_S, BEACON_S = 3.0, 1.0  # a silent peer may have restarted: send it a beacon once a second
DEAD_S = 60.0
# Kinds of control messages between the securities of two nodes in a session.
_VERSION, _REVOCATIONS = range(2)
_LIST_VERSION = struct.Struct("<I")


class KeyedSecurity:
    """The `Security` of a node with keys: certificates, or one secret for the whole network.

    cipher: an index of noise.CIPHERS. random: the source of all fresh keys, such as os.urandom.
    handshake_rate: handshakes per second that each host may begin with this node.
    """

    overhead = OVERHEAD

    def __init__(
        self,
        membership: Membership,
        *,
        random: Random,
        cipher: int = 0,
        handshake_rate: float = HANDSHAKE_RATE,
    ) -> None:
        self.membership, self.label = membership, membership.label
        self.node_id = membership.own.node_id
        # With one secret, any member can add other members.
        self.proves_publishers = membership.root_key is not None
        self._handshakes = Handshakes(
            membership, self, cipher=cipher, random=random, rate=handshake_rate
        )
        self._by_number: dict[int, Session] = {}  # own number of the session
        self._peers: dict[int, PeerSessions] = {}
        self._versions: dict[int, int] = {}  # of the revocation lists that peers have
        self._asked: dict[int, float] = {}  # when a peer was last sent a beacon

    # What the runtime calls (`Security` in live/security.py)

    def beacon(self) -> bytes:
        """Return the datagram by which keyed security announces this node."""
        return self._handshakes.beacon()

    def seal(self, peer: int, plain: bytes, now: float) -> bytes | None:
        """Return a datagram sealed by keyed security for a peer, or None without a session."""
        sessions = self._peers.get(peer)
        return sessions.current.seal(plain, now) if sessions else None

    def open(self, address: Address, datagram: bytes, now: float) -> Opened | Refused:
        """Return the frames and the sender of a datagram that keyed security opens, or the reason
        of its refusal. Never raises.
        """
        if len(datagram) < 2 or datagram[0] != VERSION:
            return Refused("version")
        if datagram[1] > CONTROL:
            return self._handshakes.receive(address, datagram, now)
        if len(datagram) < OVERHEAD:
            return Refused("wrong length")
        _, kind, number, counter = HEADER.unpack_from(datagram)
        session = self._by_number.get(number)
        if session is None:
            return Refused("no session")
        plain = session.open(counter, datagram, address, now)
        return plain if isinstance(plain, Refused) else self._opened(session, kind, plain, now)

    def claimed_sender(self, datagram: bytes) -> int:
        """Return the peer whose session with this node has the number in a datagram, or -1."""
        if len(datagram) < OVERHEAD or datagram[0] != VERSION or datagram[1] > CONTROL:
            return -1
        session = self._by_number.get(int.from_bytes(datagram[2:6], "little"))
        return -1 if session is None else session.node_id

    def pending(self) -> list[tuple[Address, bytes]]:
        """Take the datagrams for handshakes and sessions of keyed security that wait for
        transmission.
        """
        return self._handshakes.taken_pending()

    def tick(self, now: float) -> float:
        """Repeat handshakes, renew and end sessions of keyed security. Return when to call again,
        or inf if no call is needed.
        """
        next_at = self._handshakes.tick(now)
        for session in list(self._by_number.values()):
            if self._is_over(session, now):
                self._end(session)
        for peer, sessions in self._peers.items():
            self._ask(peer, sessions.current, now)
            self._send_revocations(peer, now)
        return min(next_at, now + BEACON_S) if self._by_number else next_at

    def peers(self) -> list[int]:
        """Return the ids of the peers of keyed security: nodes with a session now, ascending."""
        return sorted(self._peers)

    def forget(self, peer: int) -> None:
        """End the sessions of keyed security with a peer."""
        for session in [one for one in self._by_number.values() if one.node_id == peer]:
            self._end(session)

    def permits(self, peer: int, action: str, topic: str) -> bool:
        """Return whether keyed security permits a node to "publish" or "subscribe" to a topic, by
        its certificate.
        """
        sessions = self._peers.get(peer)
        certificate = sessions.current.peer if sessions else self.membership.known(peer)
        return certificate is not None and allows(certificate, action, topic)

    def knows(self, node_id: int) -> bool:
        """Return whether keyed security has a valid certificate of a node."""
        return self.membership.known(node_id) is not None

    def certificate_of(self, node_id: int) -> bytes:
        """Return a node's certificate from keyed security for a neighbour, or empty bytes if it is
        unknown.
        """
        return self.membership.certificate_bytes(node_id)

    def learn_certificate(self, certificate: bytes) -> bool:
        """Learn the certificate of any node for keyed security; return False if it is not valid
        now.
        """
        return self.membership.learn_certificate(certificate)

    # Revocation

    def learn_revocations(self, data: bytes, now: float) -> bool:
        """Let keyed security adopt a revocation list: end the sessions of revoked nodes, and send
        the list to all peers.

        Return False if the list is not newer than the list in force, or not signed by the root key.
        """
        if not self.membership.learn_revocations(data):
            return False
        for peer in self.peers():
            if self.membership.void(self._peers[peer].current.peer):
                self.forget(peer)
        for peer in self._peers:
            self._send_revocations(peer, now)
        return True

    # What the handshakes call (`SessionTable` in handshakes.py)

    def has_session(self, node_id: int, boot: bytes) -> bool:
        """Return whether keyed security has a session with this boot of a node, and the node has
        used it.
        """
        sessions = self._peers.get(node_id)
        return sessions is not None and sessions.current.boot == boot and sessions.current.heard

    def wants_session(self, node_id: int, boot: bytes) -> bool:
        """Return whether keyed security lacks a session with a node, or the session needs
        renewal.
        """
        return not self.has_session(node_id, boot) or node_id in self._asked

    def is_taken(self, number: int) -> bool:
        """Return whether one of the sessions of keyed security has a number."""
        return number in self._by_number

    def establish(self, session: Session) -> None:
        """Add a session to keyed security; seal with it at once if the peer certainly has its
        keys.
        """
        self._by_number[session.own_number] = session
        if not session.initiator:
            self._begin(session, session.begun)

    def confirm_again(self, number: int, now: float) -> bool:
        """Let keyed security repeat the first sealed datagram of a session that the peer has not
        used yet.
        """
        session = self._by_number.get(number)
        if session is None or session.heard:
            return False
        self._introduce(session, now)
        return True

    def _opened(self, session: Session, kind: int, plain: bytes, now: float) -> Opened | Refused:
        """Act on the authentic content of a datagram in a keyed session."""
        if session.initiator and not session.heard:
            self._handshakes.confirmed(session.own_number)
            self._begin(session, now)
        if session.own_number not in self._by_number:
            return Refused("full")
        session.heard = True
        if kind == FRAMES:
            return Opened(session.node_id, plain)
        self._control(session, plain, now)
        return Opened(session.node_id, b"")

    def _begin(self, session: Session, now: float) -> None:
        """Begin to seal with a new keyed session; the previous one still opens datagrams in
        flight.
        """
        peer, known = session.node_id, self._peers.get(session.node_id)
        if known is None and len(self._peers) >= MOST_PEERS:
            self._end(session)
            return
        if known and known.previous:
            self._by_number.pop(known.previous.own_number, None)
        if known:
            self._peers[peer] = known.with_newer(session, self.node_id)
        else:
            self._peers[peer] = PeerSessions(session)
        self._asked.pop(peer, None)
        self._introduce(session, now)

    def _introduce(self, session: Session, now: float) -> None:
        """Send a peer the version of the known revocation list, which also confirms the session."""
        version = self.membership.revocations.version
        self._say(session, _VERSION, _LIST_VERSION.pack(version), now)

    def _say(self, session: Session, kind: int, content: bytes, now: float) -> None:
        datagram = session.seal(bytes([kind]) + content, now, CONTROL)
        if datagram is not None:
            self._handshakes.send(session.address, datagram)

    def _control(self, session: Session, plain: bytes, now: float) -> None:
        """Handle a control message of a peer's security; a malformed one is ignored."""
        kind, content, peer = plain[0] if plain else -1, plain[1:], session.node_id
        if kind == _VERSION and len(content) == _LIST_VERSION.size:
            (self._versions[peer],) = _LIST_VERSION.unpack(content)
            self._send_revocations(peer, now)
        elif kind == _REVOCATIONS:
            self.learn_revocations(content, now)
            if self.has_session(peer, session.boot):
                self._introduce(session, now)

    def _send_revocations(self, peer: int, now: float) -> None:
        """Send the revocation list to a peer until the peer confirms the list."""
        if self._versions.get(peer, 0) < self.membership.revocations.version:
            content = self.membership.revocations_bytes
            self._say(self._peers[peer].current, _REVOCATIONS, content, now)

    def _ask(self, peer: int, session: Session, now: float) -> None:
        """Send a beacon of keyed security to a peer with an old session, or to a silent peer that
        has restarted.
        """
        renew = session.needs_renewal(now)
        silent = session.sent_at > session.heard_at and now > session.heard_at + SILENCE_S
        if (renew or silent) and now >= self._asked.get(peer, now - BEACON_S) + BEACON_S:
            self._asked[peer] = now
            self._handshakes.send(session.address, self._handshakes.beacon(renew=renew))

    def _is_over(self, session: Session, now: float) -> bool:
        if session.initiator and not session.heard:
            return now >= session.begun + HANDSHAKE_S
        dead = now >= session.heard_at + DEAD_S
        return dead or session.is_used_up(now) or bool(self.membership.void(session.peer))

    def _end(self, session: Session) -> None:
        """End a keyed session; with a peer's last session, forget the peer."""
        self._by_number.pop(session.own_number, None)
        sessions = self._peers.get(session.node_id)
        if sessions is None or session not in sessions:
            return
        others = [other for other in sessions if other is not None and other is not session]
        if others:
            self._peers[session.node_id] = PeerSessions(others[0])
            return
        del self._peers[session.node_id]
        for table in (self._asked, self._versions):
            table.pop(session.node_id, None)
