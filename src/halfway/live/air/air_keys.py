"""The keys of the nodes of an air: one root key, and a certificate for each node, all in memory."""

import os
import time

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from halfway.live.keys.certificates import (
    Certificate,
    Revocations,
    network_id_of,
    signed_certificate,
    signed_revocations,
)
from halfway.live.keys.identity import Identity, node_id_of
from halfway.live.keys.keyed_security import KeyedSecurity
from halfway.live.keys.network_membership import Membership
from halfway.live.keys.noise import KEY_BYTES
from halfway.live.keys.processor import suitable_cipher

_VALID_S = 86_400.0  # longer than any run on the air
_NETWORK_NAME = "air"


class AirKeys:
    """A network with a root key that admits n nodes of an air. A node is known by its place.

    topics: the pattern of the topics on which the nodes may publish and subscribe. Make the keys
    before a process forks, so that the nodes of all processes belong to the same network.
    """

    def __init__(self, n: int, *, topics: str = "#") -> None:
        self._root = Ed25519PrivateKey.generate()
        self._root_key = self._root.public_key().public_bytes_raw()
        self._network_id, self._secret = network_id_of(self._root_key), os.urandom(KEY_BYTES)
        self._identities = [Identity.new(os.urandom) for _ in range(n)]
        self._version, self._revoked = 0, set[int]()  # of the revocation list; serial numbers
        self._certificates: list[bytes] = []
        node_ids = set[int]()
        for place, identity in enumerate(self._identities):
            signing = identity.signing_public
            salt = next(k for k in range(2**32) if node_id_of(signing, k) not in node_ids)
            node_ids.add(node_id_of(signing, salt))
            self._certificates.append(self._signed(place, salt, topics))

    def security(self, place: int) -> KeyedSecurity:
        """Return the security of a node of the air with keys, as at the start of the node."""
        membership = Membership(
            self._identities[place],
            self._certificates[place],
            root_key=self._root_key,
            secret=self._secret,
            network=_NETWORK_NAME,
            wall=time.time,
        )
        return KeyedSecurity(membership, random=os.urandom, cipher=suitable_cipher())

    def revoke(self, place: int) -> bytes:
        """Revoke the certificate of a node of the air with keys; return the network's new
        revocation list, for `KeyedSecurity.learn_revocations`.
        """
        self._version += 1
        self._revoked.add(_serial(place))
        revocations = Revocations(self._version, tuple(sorted(self._revoked)))
        return signed_revocations(revocations, self._network_id, self._root)

    def _signed(self, place: int, salt: int, topics: str) -> bytes:
        """Return the certificate of a node of the air."""
        identity = self._identities[place]
        certificate = Certificate(
            network_id=self._network_id,
            serial=_serial(place),
            not_after=int(time.time() + _VALID_S),
            salt=salt,
            signing_key=identity.signing_public,
            static_key=identity.static_public,
            name=str(place),
            publish=(topics,),
            subscribe=(topics,),
        )
        return signed_certificate(certificate, self._root)


def _serial(place: int) -> int:
    return place + 1
