"""Networks, identities and securities that tests of keys make, without any file."""

import random
from collections.abc import Callable

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from halfway.live.keys.certificates import (
    Certificate, Revocations, network_id_of, signed_certificate, signed_revocations,
)  # fmt: skip
from halfway.live.keys.identity import Identity

DAY = 86_400
NOW = 1_800_000_000.0  # a wall clock, seconds since 1970


def source(seed: int) -> Callable[[int], bytes]:
    return random.Random(seed).randbytes


class MadeNetwork:
    """A network with a root key, which admits and revokes without files."""

    def __init__(self, seed: int = 0) -> None:
        self.random = source(seed)
        self.root = Ed25519PrivateKey.from_private_bytes(self.random(32))
        self.root_key = self.root.public_key().public_bytes_raw()
        self.id, self.secret = network_id_of(self.root_key), self.random(32)
        self.serials = 0

    def certificate(
        self, identity: Identity, *, name: str = "kitchen", publish: tuple[str, ...] = ("#",),
        subscribe: tuple[str, ...] = ("#",), not_after: float = NOW + 30 * DAY, salt: int = 0,
    ) -> bytes:  # fmt: skip
        self.serials += 1
        made = Certificate(
            self.id, self.serials, int(not_after), salt, identity.signing_public,
            identity.static_public, name, publish, subscribe,
        )  # fmt: skip
        return signed_certificate(made, self.root)

    def revocations(self, version: int, *serials: int) -> bytes:
        return signed_revocations(Revocations(version, serials), self.id, self.root)
