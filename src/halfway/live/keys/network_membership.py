"""The membership of a network at one node: its own certificate, other certificates, and
revocations.

A network with a root key admits by certificates. A small network may have one secret only. Then
each node signs its own certificate, any member can add other members, and no member can be revoked.
"""

from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256

from halfway.live.keys.certificates import (
    NETWORK_ID_BYTES,
    Certificate,
    NotValid,
    Revocations,
    is_expired,
    network_id_of,
    read_certificate,
    read_revocations,
    signed_certificate,
)
from halfway.live.keys.identity import Identity
from halfway.live.keys.patterns import any_covers
from halfway.live.topic_filters import OWN

MOST_CERTIFICATES = 4096  # certificates of nodes that are not neighbours; the oldest goes first
_FOR_EVER = 2**63


class Membership:
    """The certificates and revocations of a network that one node knows.

    own: the bytes of the own certificate. root_key: the network's public key, 32 bytes; None in a
    network with one secret. secret: 32 bytes that all members share. network: its name for people.
    wall: the wall clock, seconds since 1970. Raises NotValid if the certificate does not belong to
    the identity or the network.
    """

    def __init__(
        self,
        identity: Identity,
        own: bytes,
        *,
        root_key: bytes | None,
        secret: bytes,
        network: str,
        wall: Callable[[], float],
    ) -> None:
        self.identity, self.own_bytes, self.secret, self.network = identity, own, secret, network
        self.root_key, self._wall = root_key, wall
        self.network_id = (
            _secret_network_id(secret) if root_key is None else network_id_of(root_key)
        )
        self.revocations, self.revocations_bytes = Revocations(), b""
        self._known: OrderedDict[int, Certificate] = OrderedDict()
        self._bytes: dict[int, bytes] = {}  # of these certificates
        self.own = self._read(own)
        self.node_id = self.own.node_id
        if self.own.static_key != identity.static_public:
            raise NotValid("the certificate belongs to the key of another node")

    @property
    def label(self) -> str:
        """A text for people about the kind of network of which the node is a member, and the
        strength of its keys.
        """
        if self.root_key is None:
            return f"one secret for all of network {self.network} (weaker than certificates)"
        return f"keys of network {self.network}"

    @property
    def topic_key(self) -> bytes:
        """The key by which all members of the network hash topics on the wire, 32 bytes."""
        return sha256(b"halfway topic key 1\0" + self.secret).digest()

    def member(self, data: bytes, static_key: bytes) -> Certificate:
        """Return the certificate of a member of the network for a static key that a handshake has
        proven to belong to its peer.

        Raises NotValid: "certificate", "expired", "revoked" or "node id taken", for counters.
        """
        try:
            certificate = self._read(data)
        except NotValid as error:
            raise NotValid("certificate") from error
        if certificate.static_key != static_key:
            raise NotValid("certificate")
        if reason := self.void(certificate) or self._taken(certificate):
            raise NotValid(reason)
        self._keep(certificate, data)
        return certificate

    def learn_certificate(self, data: bytes) -> bool:
        """Learn the certificate of a member of the network that is not a neighbour; return False if
        it is not valid now.

        The key of a known, valid node id is never replaced by another key.
        """
        try:
            certificate = self._read(data)
        except NotValid:
            return False
        if self.void(certificate) or self._taken(certificate):
            return False
        self._keep(certificate, data)
        return True

    def learn_revocations(self, data: bytes) -> bool:
        """Adopt a revocation list of the network at its member.

        Return False if the list is not newer, or if the network's root key did not sign it.
        """
        if self.root_key is None:
            return False
        try:
            revocations = read_revocations(data, self.root_key)
        except NotValid:
            return False
        if revocations.version <= self.revocations.version:
            return False
        self.revocations, self.revocations_bytes = revocations, data
        return True

    def void(self, certificate: Certificate) -> str:
        """Return "expired" or "revoked" for a certificate that is void now, else an empty text."""
        if certificate.serial in self.revocations.serials:
            return "revoked"
        return "expired" if is_expired(certificate, self._wall()) else ""

    def known(self, node_id: int) -> Certificate | None:
        """Return the certificate of a member of the network, this node included, or None if it is
        unknown or void.
        """
        certificate = self.own if node_id == self.node_id else self._known.get(node_id)
        return certificate if certificate and not self.void(certificate) else None

    def certificate_bytes(self, node_id: int) -> bytes:
        """Return the certificate of a member of the network as bytes; empty if it is unknown or
        void.
        """
        if self.known(node_id) is None:
            return b""
        return self.own_bytes if node_id == self.node_id else self._bytes[node_id]

    def _read(self, data: bytes) -> Certificate:
        certificate = read_certificate(data, self.root_key)
        if certificate.network_id != self.network_id:
            raise NotValid("the certificate belongs to another network")
        return certificate

    def _taken(self, certificate: Certificate) -> str:
        known = self.known(certificate.node_id)
        taken = known is not None and known.signing_key != certificate.signing_key
        return "node id taken" if taken else ""

    def _keep(self, certificate: Certificate, data: bytes) -> None:
        self._known[certificate.node_id] = certificate
        self._bytes[certificate.node_id] = data
        self._known.move_to_end(certificate.node_id)
        if len(self._known) > MOST_CERTIFICATES:
            forgotten, _ = self._known.popitem(last=False)
            del self._bytes[forgotten]


def with_one_secret(
    identity: Identity, secret: bytes, *, name: str, network: str, wall: Callable[[], float]
) -> Membership:
    """Return the membership of a network with one secret (32 bytes) and no root key."""
    made = Certificate(
        network_id=_secret_network_id(secret),
        serial=0,
        not_after=_FOR_EVER,
        salt=0,
        signing_key=identity.signing_public,
        static_key=identity.static_public,
        name=name,
        publish=("#", "$SYS/#"),
        subscribe=("#", "$SYS/#"),
    )
    own = signed_certificate(made, identity.signing)
    return Membership(identity, own, root_key=None, secret=secret, network=network, wall=wall)


def _secret_network_id(secret: bytes) -> bytes:
    return sha256(b"halfway secret network 1\0" + secret).digest()[:NETWORK_ID_BYTES]


def allows(certificate: Certificate, action: str, topic: str) -> bool:
    """Return whether the membership of a node in a network permits it to "publish" or "subscribe"
    to a topic or topic filter, by its certificate.
    """
    if topic.startswith(OWN):
        return True  # topics of the runtime, without which no member could read kept events
    patterns = {"publish": certificate.publish, "subscribe": certificate.subscribe}
    return any_covers(patterns.get(action, ()), topic)
