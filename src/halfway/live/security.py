"""The interface `Security` between the live runtime and keys: it seals, opens and judges datagrams.

A `Security` belongs to one node and does no I/O. The endpoint passes every received datagram and
the time to the `Security`, and transmits the datagrams that `pending` returns. The endpoint calls
`tick` at the time that the last call returned. Only `open` may state that a datagram is from a
peer. The runtime takes the sender of a record from `open`, and never from the record.
"""

from typing import NamedTuple, Protocol

Address = tuple[str, int]  # host in numbers, UDP port


class Opened(NamedTuple):
    """A datagram that a security accepts."""

    peer: int  # node id of the sender, 31 bits
    plain: bytes  # frames; empty for a datagram of the security itself


class Refused(NamedTuple):
    """A datagram that a security refuses, with a reason under which the runtime counts it. Reasons
    are few, so that they can be labels.
    """

    reason: str  # from a fixed list of a few words: "no session", "replay", "not authentic", …


class Security(Protocol):
    """The part that seals the datagrams of one node, and opens those of its peers.

    `now` is in seconds of a clock that never goes back, with any origin. No method blocks.
    """

    node_id: int  # 31 bits; with keys it follows from the certificate
    label: str  # for people: "keys of network home", or "UNSAFE development network on loopback"
    overhead: int  # bytes that `seal` adds to `plain`
    # Whether `knows` is true only for nodes that the owner of the network admitted, so that no
    # member can invent publishers.
    proves_publishers: bool

    def beacon(self) -> bytes:
        """Return a datagram of a node's security for strangers, which announces the node and asks
        for sessions.

        The runtime transmits it to the discovery group and to static peers without a session, at
        most once a second each. A peer answers by `open` and `pending`.
        """
        ...

    def seal(self, peer: int, plain: bytes, now: float) -> bytes | None:
        """Return the datagram in which a node's security seals frames for a peer, or None without a
        session.

        plain: at most the MTU less `overhead` bytes. The runtime counts None as "no session" and
        does not keep the frames: hellos begin only once `peers` has the peer.
        """
        ...

    def open(self, address: Address, datagram: bytes, now: float) -> Opened | Refused:
        """Return the frames and the sender of a datagram that a node's security opens, or the
        reason of a refusal.

        No exception, whatever the bytes are. A handshake in progress returns Opened with no
        frames and the peer, or -1 as long as the peer is not known. The runtime then transmits
        what `pending` has.
        """
        ...

    def claimed_sender(self, datagram: bytes) -> int:
        """Return the peer that a datagram claims as its sender, or -1. No proof: the datagram is
        not opened.
        """
        ...

    def pending(self) -> list[tuple[Address, bytes]]:
        """Take the datagrams of the security itself for transmission: handshakes and cookies.

        The list is bounded. An unproven address gets at most one datagram, which is not longer than
        its cause.
        """
        ...

    def tick(self, now: float) -> float:
        """Expire sessions of a node's security and repeat handshakes. Return when to call again, or
        inf if no call is needed.
        """
        ...

    def peers(self) -> list[int]:
        """Return the ids of the nodes with which a node behind this interface has a session now,
        ascending.
        """
        ...

    def forget(self, peer: int) -> None:
        """End the session of a node's security with a peer, for instance because its certificate
        was revoked.
        """
        ...

    def permits(self, peer: int, action: str, topic: str) -> bool:
        """Return whether a node's security permits another node to "publish" or "subscribe" to a
        topic, by its certificate.

        peer: a node id, also this node's own. False for a node that is not known.
        """
        ...

    def knows(self, node_id: int) -> bool:
        """Return whether a node's security knows the rights of another node; if not, a neighbour
        may state them.
        """
        ...

    def certificate_of(self, node_id: int) -> bytes:
        """Return another node's certificate from a node's security, for a neighbour; empty if it is
        not known.
        """
        ...

    def learn_certificate(self, certificate: bytes) -> bool:
        """Take the certificate of another node into this `Security`. Return False if the
        certificate is not valid now.
        """
        ...
