"""The handshake Noise_XXpsk3_25519 with SHA-256, and the ciphers AES-256-GCM and ChaCha20-Poly1305.

The Noise Protocol Framework, revision 34 [noise], on primitives of `cryptography`:

    -> e                  the initiator's ephemeral key
    <- e, ee, s, es       the responder's keys, its static key and its payload encrypted
    -> s, se, psk         the initiator's static key and payload; the secret of the network

Each ephemeral key lives for one handshake. Both ends are authenticated by their static keys, and
an end without the pre-shared secret cannot finish. The class does no I/O.
"""

import hmac
import struct
from collections.abc import Callable
from hashlib import sha256
from typing import NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

KEY_BYTES, TAG_BYTES = 32, 16
Random = Callable[[int], bytes]  # n -> n unpredictable bytes, such as os.urandom
_TOKENS = (("e",), ("e", "ee", "s", "es"), ("s", "se", "psk"))


class NotAuthentic(Exception):
    """The error of bytes that the peer did not send, or that were changed on the way."""


class Cipher(NamedTuple):
    """A cipher (AEAD) as Noise uses it: name, class, and the nonce of a counter."""

    name: str
    make: Callable[[bytes], "AESGCM | ChaCha20Poly1305"]
    nonce: struct.Struct


# The index is the number of the cipher on the wire.
CIPHERS = (
    Cipher("AESGCM", AESGCM, struct.Struct(">4xQ")),
    Cipher("ChaChaPoly", ChaCha20Poly1305, struct.Struct("<4xQ")),
)


class Key:
    """A key of one direction for a Noise cipher, with explicit counters [noise §5.1, §11.4].

    key: 32 bytes. cipher: an index of CIPHERS. A counter must never be used twice to seal.
    """

    def __init__(self, key: bytes, cipher: int) -> None:
        aead = CIPHERS[cipher].make(key)
        self._encrypt, self._decrypt = aead.encrypt, aead.decrypt
        self._nonce = CIPHERS[cipher].nonce.pack

    def seal(self, counter: int, plain: bytes, header: bytes) -> bytes:
        """Return bytes encrypted with a key of the Noise handshake, and their tag of 16 bytes; the
        header is authenticated.
        """
        return self._encrypt(self._nonce(counter), plain, header)

    def open(self, counter: int, sealed: bytes, header: bytes) -> bytes:
        """Return the bytes decrypted with a key of the Noise handshake. Raises NotAuthentic if
        anything was changed.
        """
        try:
            return self._decrypt(self._nonce(counter), sealed, header)
        except (InvalidTag, ValueError) as error:
            raise NotAuthentic from error


def derived(chaining: bytes, material: bytes, count: int) -> list[bytes]:
    """Return `count` keys of 32 bytes by HKDF, as Noise derives them [noise §4.3]."""
    extracted = hmac.digest(chaining, material, sha256)
    keys, last = [], b""
    for number in range(1, count + 1):
        last = hmac.digest(extracted, last + bytes([number]), sha256)
        keys.append(last)
    return keys


class Handshake:
    """One side of a Noise handshake of three messages, written and read in turn.

    static: the own static key. secret: the pre-shared 32 bytes. prologue: bytes on which both ends
    must agree. cipher: an index of CIPHERS. random: the source of the ephemeral key.
    """

    def __init__(
        self,
        *,
        initiator: bool,
        static: X25519PrivateKey,
        secret: bytes,
        prologue: bytes,
        cipher: int,
        random: Random,
    ) -> None:
        self._initiator, self._static, self._secret = initiator, static, secret
        self._cipher, self._random = cipher, random
        name = f"Noise_XXpsk3_25519_{CIPHERS[cipher].name}_SHA256".encode()
        self._hash = (
            name.ljust(KEY_BYTES, b"\0") if len(name) <= KEY_BYTES else sha256(name).digest()
        )
        self._chaining, self._key, self._counter = self._hash, None, 0
        self._mix_hash(prologue)
        self._ephemeral: X25519PrivateKey | None = None
        self._their_ephemeral = b""
        self.their_static = b""  # 32 bytes once received; their owner is proven when `finished`
        self._message = 0

    _key: Key | None

    @property
    def finished(self) -> bool:
        """Whether all three messages of the Noise handshake are written or read."""
        return self._message == len(_TOKENS)

    def write_message(self, payload: bytes) -> bytes:
        """Return the next message of the Noise handshake with a payload; the first payload is not
        encrypted.
        """
        out = b""
        for token in self._next_tokens():
            if token == "e":
                self._ephemeral = X25519PrivateKey.from_private_bytes(self._random(KEY_BYTES))
                out += self._mixed_ephemeral(_public(self._ephemeral))
            elif token == "s":
                out += self._encrypt(_public(self._static))
            else:
                self._mix_token(token)
        return out + self._encrypt(payload)

    def read_message(self, message: bytes) -> bytes:
        """Return the payload of the next message of the Noise handshake. NotAuthentic ends the
        handshake.
        """
        at = 0
        for token in self._next_tokens():
            if token == "e":
                at = KEY_BYTES
                if len(message) < at:
                    raise NotAuthentic
                self._their_ephemeral = self._mixed_ephemeral(message[:at])
            elif token == "s":
                end = at + KEY_BYTES + TAG_BYTES
                self.their_static = self._decrypt(message[at:end])
                at = end
            else:
                self._mix_token(token)
        return self._decrypt(message[at:])

    def transport_keys(self) -> tuple[Key, Key]:
        """Return the keys to send and to receive with, after the last message of the Noise
        handshake [noise §5.2].
        """
        if not self.finished:
            raise RuntimeError("the handshake has messages left")
        first, second = (Key(key, self._cipher) for key in derived(self._chaining, b"", 2))
        return (first, second) if self._initiator else (second, first)

    @property
    def hash(self) -> bytes:
        """The hash of the whole Noise handshake, equal on both sides at its end."""
        return self._hash

    def _next_tokens(self) -> tuple[str, ...]:
        tokens = _TOKENS[self._message]
        self._message += 1
        return tokens

    def _mixed_ephemeral(self, public: bytes) -> bytes:
        """Mix an ephemeral public key; with a secret, into the key too [noise §9.2]."""
        self._mix_hash(public)
        self._mix_key(public)
        return public

    def _mix_token(self, token: str) -> None:
        if token == "psk":
            self._chaining, mixed, key = derived(self._chaining, self._secret, 3)
            self._mix_hash(mixed)
            self._key, self._counter = Key(key, self._cipher), 0
            return
        # The first letter is the initiator's key, the second the responder's [noise §5.3].
        own = token[0] if self._initiator else token[1]
        theirs = token[1] if self._initiator else token[0]
        private = self._ephemeral if own == "e" else self._static
        public = self._their_ephemeral if theirs == "e" else self.their_static
        if private is None:
            raise RuntimeError("the own message makes the ephemeral key")
        try:
            self._mix_key(private.exchange(X25519PublicKey.from_public_bytes(public)))
        except ValueError as error:  # a public key of low order
            raise NotAuthentic from error

    def _mix_key(self, material: bytes) -> None:
        self._chaining, key = derived(self._chaining, material, 2)
        self._key, self._counter = Key(key, self._cipher), 0

    def _mix_hash(self, data: bytes) -> None:
        self._hash = sha256(self._hash + data).digest()

    def _encrypt(self, plain: bytes) -> bytes:
        if self._key is None:
            sealed = plain
        else:
            sealed = self._key.seal(self._counter, plain, self._hash)
            self._counter += 1
        self._mix_hash(sealed)
        return sealed

    def _decrypt(self, sealed: bytes) -> bytes:
        if self._key is None:
            plain = sealed
        else:
            plain = self._key.open(self._counter, sealed, self._hash)
            self._counter += 1
        self._mix_hash(sealed)
        return plain


def _public(private: X25519PrivateKey) -> bytes:
    return private.public_key().public_bytes_raw()
