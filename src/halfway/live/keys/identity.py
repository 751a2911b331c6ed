"""The identity of a node: two key pairs, and the node id derived from them.

The Ed25519 key signs: a node's own publications, and the request for a certificate. The X25519 key
proves the node in a handshake. The node id is the first 31 bits of a hash of the Ed25519 key and a
salt, which the certificate fixes: if the id is taken, another salt gives another id.
"""

from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from halfway.live.keys.noise import KEY_BYTES, Random

SIGNATURE_BYTES = 64
_REQUEST = b"halfway node request 1\0"


def node_id_of(signing_key: bytes, salt: int) -> int:
    """Return the node id of an identity, 0 to 2³¹ - 1. signing_key: 32 public bytes. salt: 0 to 2³²
    - 1.
    """
    hashed = sha256(b"halfway node id 1\0" + signing_key + salt.to_bytes(4, "big")).digest()
    return int.from_bytes(hashed[:4], "big") >> 1


def is_signed(signing_key: bytes, signature: bytes, content: bytes) -> bool:
    """Return whether a 64-byte signature of a content was made with the public key of an identity,
    32 bytes.
    """
    try:
        Ed25519PublicKey.from_public_bytes(signing_key).verify(signature, content)
    except (InvalidSignature, ValueError):
        return False
    return True


class Identity:
    """The private keys of a node."""

    def __init__(self, signing: Ed25519PrivateKey, static: X25519PrivateKey) -> None:
        self.signing, self.static = signing, static
        self.signing_public = signing.public_key().public_bytes_raw()
        self.static_public = static.public_key().public_bytes_raw()

    @classmethod
    def new(cls, random: Random) -> "Identity":
        """Create an identity. random: the source of its 64 bytes."""
        return cls(
            Ed25519PrivateKey.from_private_bytes(random(KEY_BYTES)),
            X25519PrivateKey.from_private_bytes(random(KEY_BYTES)),
        )

    def request(self) -> bytes:
        """Return the node's request for a certificate, 128 bytes: public keys and a signature."""
        keys = self.signing_public + self.static_public
        return keys + self.signing.sign(_REQUEST + keys)


def requested_keys(request: bytes) -> tuple[bytes, bytes] | None:
    """Return the signing key and the static key of the identity in a request, or None if its
    signature is wrong.
    """
    keys, signature = request[: 2 * KEY_BYTES], request[2 * KEY_BYTES :]
    signing, static = keys[:KEY_BYTES], keys[KEY_BYTES:]
    if len(signature) != SIGNATURE_BYTES or not is_signed(signing, signature, _REQUEST + keys):
        return None
    return signing, static
