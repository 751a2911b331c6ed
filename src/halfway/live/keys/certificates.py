"""Certificates and revocation lists of a network, each in one canonical form of bytes.

A certificate states that the owner of two keys is a node of a network. It has the node's name and
id, the topics that the node may publish and subscribe to, and the expiry. A revocation list names
certificates by serial number; the list with the higher version counts. The root key of the network
signs both. Decoding accepts only what encoding produces, and has a limit for every length.
"""

import struct
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from halfway.live.keys.identity import SIGNATURE_BYTES, is_signed, node_id_of
from halfway.live.keys.patterns import pattern_error

MOST_CERTIFICATE_BYTES = 900  # a handshake's datagram has room for it
MOST_NAME_BYTES, MOST_PATTERNS, MOST_REVOKED = 63, 32, 256
CLOCK_TOLERANCE_S = 3600.0
NETWORK_ID_BYTES = 8
_CERTIFICATE, _REVOKED = b"HWC1", b"HWR1"
_HEAD = struct.Struct("<4s8sIQI32s32s")
_LIST_HEAD = struct.Struct("<4s8sIH")


class NotValid(Exception):
    """The error of bytes that are not a valid certificate or revocation list of this network,
    with the reason.
    """


class Certificate(NamedTuple):
    """A certificate: the statement of a network's root key about one node."""

    network_id: bytes  # 8 bytes
    serial: int  # 32 bits, unique in the network
    not_after: int  # seconds since 1970; the certificate is void afterwards
    salt: int  # 32 bits; with the signing key it gives the node id
    signing_key: bytes  # Ed25519, 32 public bytes
    static_key: bytes  # X25519, 32 public bytes
    name: str
    publish: tuple[str, ...]  # patterns of topics
    subscribe: tuple[str, ...]

    @property
    def node_id(self) -> int:
        """The node id in the certificate, 31 bits."""
        return node_id_of(self.signing_key, self.salt)


class Revocations(NamedTuple):
    """The list of the certificates that a network has revoked."""

    version: int = 0  # 0: the network has never revoked one
    serials: tuple[int, ...] = ()  # ascending, at most 256


def network_id_of(root_key: bytes) -> bytes:
    """Return the id by which certificates name a network: 8 bytes of a hash of its public Ed25519
    root key (32 bytes).
    """
    return sha256(b"halfway network id 1\0" + root_key).digest()[:NETWORK_ID_BYTES]


def signed_certificate(certificate: Certificate, root: Ed25519PrivateKey) -> bytes:
    """Return the bytes of a certificate, signed by the root key.

    Raises NotValid for a name, a pattern or a number of them over its limit.
    """
    content = _certificate_content(certificate)
    if len(content) + SIGNATURE_BYTES > MOST_CERTIFICATE_BYTES:
        most = MOST_CERTIFICATE_BYTES
        raise NotValid(f"the certificate is too long: expected at most {most} bytes of patterns")
    return content + root.sign(content)


def read_certificate(data: bytes, signing_key: bytes | None) -> Certificate:
    """Return the certificate in these bytes. Raises NotValid, also for a wrong signature.

    signing_key: the public root key; None for the certificate's own key, as small networks with
    one secret use it. The caller checks time and revocation.
    """
    if not _HEAD.size + SIGNATURE_BYTES < len(data) <= MOST_CERTIFICATE_BYTES:
        raise NotValid("no certificate: wrong length")
    content, signature = data[:-SIGNATURE_BYTES], data[-SIGNATURE_BYTES:]
    magic, network_id, serial, not_after, salt, signing, static = _HEAD.unpack_from(content)
    if magic != _CERTIFICATE:
        raise NotValid("no certificate: unknown form")
    reader = _Reader(content, _HEAD.size)
    name = reader.text(MOST_NAME_BYTES)
    publish, subscribe = (
        tuple(reader.text(255) for _ in range(reader.count(MOST_PATTERNS))) for _ in range(2)
    )
    certificate = Certificate(
        network_id=network_id,
        serial=serial,
        not_after=not_after,
        salt=salt,
        signing_key=signing,
        static_key=static,
        name=name,
        publish=publish,
        subscribe=subscribe,
    )
    if _certificate_content(certificate) != content:
        raise NotValid("no certificate: not in canonical form")
    if not is_signed(signing if signing_key is None else signing_key, signature, content):
        raise NotValid("the certificate is not signed by the network")
    return certificate


def is_expired(certificate: Certificate, wall: float) -> bool:
    """Return whether a certificate expired more than an hour before `wall` (seconds since 1970)."""
    return wall > certificate.not_after + CLOCK_TOLERANCE_S


def signed_revocations(
    revocations: Revocations, network_id: bytes, root: Ed25519PrivateKey
) -> bytes:
    """Return a revocation list's bytes, signed by the root key. Raises NotValid if it is
    too long.
    """
    content = _list_content(revocations, network_id)
    return content + root.sign(content)


def read_revocations(data: bytes, root_key: bytes) -> Revocations:
    """Return the revocation list in these bytes. Raises NotValid, also for a wrong signature."""
    content, signature = data[:-SIGNATURE_BYTES], data[-SIGNATURE_BYTES:]
    if len(content) < _LIST_HEAD.size:
        raise NotValid("no revocation list: wrong length")
    magic, network_id, version, count = _LIST_HEAD.unpack_from(content)
    if magic != _REVOKED or len(content) != _LIST_HEAD.size + 4 * count:
        raise NotValid("no revocation list: unknown form")
    serials = struct.unpack_from(f"<{count}I", content, _LIST_HEAD.size)
    revocations = Revocations(version, serials)
    if network_id != network_id_of(root_key):
        raise NotValid("the revocation list is of another network")
    if _list_content(revocations, network_id) != content:
        raise NotValid("no revocation list: not in canonical form")
    if not is_signed(root_key, signature, content):
        raise NotValid("the revocation list is not signed by the network")
    return revocations


def _certificate_content(certificate: Certificate) -> bytes:
    name = _text(certificate.name, MOST_NAME_BYTES, "name")
    for pattern in (*certificate.publish, *certificate.subscribe):
        if error := pattern_error(pattern):
            raise NotValid(f"pattern = {pattern!r}: {error}")
    lists = b"".join(_texts(patterns) for patterns in (certificate.publish, certificate.subscribe))
    head = _HEAD.pack(
        _CERTIFICATE, certificate.network_id, certificate.serial, certificate.not_after,
        certificate.salt, certificate.signing_key, certificate.static_key,
    )  # fmt: skip
    return head + name + lists


def _list_content(revocations: Revocations, network_id: bytes) -> bytes:
    serials = revocations.serials
    if len(serials) > MOST_REVOKED:
        raise NotValid(f"revoked certificates = {len(serials)}: expected at most {MOST_REVOKED}")
    if list(serials) != sorted(set(serials)):
        raise NotValid("serials: expected ascending numbers")
    head = _LIST_HEAD.pack(_REVOKED, network_id, revocations.version, len(serials))
    return head + struct.pack(f"<{len(serials)}I", *serials)


def _texts(patterns: Sequence[str]) -> bytes:
    if len(patterns) > MOST_PATTERNS:
        raise NotValid(f"patterns = {len(patterns)}: expected at most {MOST_PATTERNS}")
    return bytes([len(patterns)]) + b"".join(_text(one, 255, "pattern") for one in patterns)


def _text(text: str, most: int, field: str) -> bytes:
    data = text.encode()
    if not 0 < len(data) <= most or not text.isprintable():
        raise NotValid(f"{field} = {text!r}: expected 1 to {most} bytes of printable text")
    return bytes([len(data)]) + data


class _Reader:
    """A reader of texts and counts at the end of a certificate. Raises NotValid where they do not
    fit.
    """

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at

    def count(self, most: int) -> int:
        if self._at >= len(self._data) or self._data[self._at] > most:
            raise NotValid("no certificate: a length is over its limit")
        self._at += 1
        return self._data[self._at - 1]

    def text(self, most: int) -> str:
        length = self.count(most)
        self._at += length
        try:
            return self._data[self._at - length : self._at].decode()
        except UnicodeDecodeError as error:
            raise NotValid("no certificate: a text is not UTF-8") from error
