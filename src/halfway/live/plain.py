"""The plain datagrams of the development network, which has no keys and so uses loopback addresses
only.
"""

import struct
from collections.abc import Callable

from halfway.live.addresses import is_loopback
from halfway.live.security import Address, Opened, Refused

LABEL = "UNSAFE development network on loopback"
_HEAD = struct.Struct("<2sBBII")  # mark, version, flags, network, node id
_MARK, VERSION = b"hw", 1
MOST_PEERS = 4096
_BEACON = 1  # flag: the datagram announces its sender, and has no frames


class Plain:
    """The security of the development network without keys, which accepts every datagram from this
    machine.

    network: 32 bits; nodes of other networks are not heard. trusted: the accepted addresses
    (default: loopback). Any accepted datagram, a beacon or not, makes its sender a peer, without a
    handshake.
    """

    overhead = _HEAD.size
    proves_publishers = False

    def __init__(
        self,
        node_id: int,
        network: int = 0,
        *,
        label: str = LABEL,
        trusted: Callable[[Address], bool] | None = None,
    ) -> None:
        self.node_id, self._network, self.label = node_id, network, label
        self._trusted, self._away = (
            (is_loopback, "not loopback") if trusted is None else (trusted, "not trusted")
        )
        self._peers: set[int] = set()
        self._frames_head = _HEAD.pack(_MARK, VERSION, 0, network, node_id)
        # The bytes before the node id at the start of a peer's datagram.
        self._known_head = self._frames_head[:-4]

    def beacon(self) -> bytes:
        """Return the plain datagram that announces this node."""
        return _HEAD.pack(_MARK, VERSION, _BEACON, self._network, self.node_id)

    def seal(self, peer: int, plain: bytes, now: float) -> bytes | None:
        """Return a plain datagram with these frames."""
        del now
        if peer not in self._peers:
            return None
        return self._frames_head + plain

    def open(self, address: Address, datagram: bytes, now: float) -> Opened | Refused:
        """Return the frames and sender of a plain datagram from this machine."""
        del now
        if datagram.startswith(self._known_head) and self._trusted(address):
            peer = int.from_bytes(datagram[8:12], "little")
            if peer in self._peers:
                return Opened(peer, datagram[_HEAD.size :])
        if len(datagram) < _HEAD.size:
            return Refused("too short")
        mark, version, flags, network, node_id = _HEAD.unpack_from(datagram)
        if mark != _MARK or version != VERSION or flags > _BEACON or node_id >= 2**31:
            return Refused("other version")
        if why := self._why_not(address, network, node_id):
            return Refused(why)
        self._peers.add(node_id)
        return Opened(node_id, b"" if flags & _BEACON else datagram[_HEAD.size :])

    def claimed_sender(self, datagram: bytes) -> int:
        """Return the node id in a plain datagram of a peer, or -1."""
        peer = int.from_bytes(datagram[8:12], "little")
        return peer if datagram.startswith(self._known_head) and peer in self._peers else -1

    def _why_not(self, address: Address, network: int, node_id: int) -> str:
        """Return the reason why the sender of a plain datagram is refused, or ""."""
        if network != self._network:
            return "other network"
        if node_id == self.node_id:
            return "own datagram"
        if not self._trusted(address):
            return self._away
        is_full = node_id not in self._peers and len(self._peers) >= MOST_PEERS
        return "too many nodes" if is_full else ""

    def pending(self) -> list[tuple[Address, bytes]]:
        """Return no datagrams: without keys there is no handshake."""
        return []

    def tick(self, now: float) -> float:
        """Do nothing: a node with plain datagrams has no due work."""
        del now
        return float("inf")

    def peers(self) -> list[int]:
        """Return the nodes from which plain datagrams came."""
        return sorted(self._peers)

    def forget(self, peer: int) -> None:
        """Forget a node of plain datagrams until it is heard again."""
        self._peers.discard(peer)

    def permits(self, peer: int, action: str, topic: str) -> bool:
        """Return True: with plain datagrams every node may publish and subscribe."""
        del peer, action, topic
        return True

    def knows(self, node_id: int) -> bool:
        """Return True: with plain datagrams all nodes have the same rights."""
        del node_id
        return True

    def certificate_of(self, node_id: int) -> bytes:
        """Return empty bytes: with plain datagrams there are no certificates."""
        del node_id
        return b""

    def learn_certificate(self, certificate: bytes) -> bool:
        """Return False: with plain datagrams there are no certificates."""
        del certificate
        return False
