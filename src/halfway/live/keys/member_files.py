"""The files of keys: the identity of a node, the folder of a network, and the member file for a
node.

    kitchen.key         the private keys of a node, two blocks of PEM; stays on the node
    kitchen.pub         the request for a certificate, one line of text; is not a secret
    home/root.key       the root key of network home, PEM; stays offline
    home/network.json   its name, public root key and secret, and the certificates it has signed
    home/members/kitchen.cert   certificate, root key and secret for node kitchen; goes to the node
    shed.secret         the secret of a network without a root key; the same file on all nodes
    home/revoked.list   the signed revocation list; goes to any node, and is not a secret

Files with a secret have mode 0600. No file is ever replaced without being asked for.
"""

import base64
import os
from pathlib import Path
from typing import TypeVar

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from halfway.core.values.field_messages import plain_words
from halfway.files import read_limited, write_whole
from halfway.live.keys.certificates import (
    NotValid,
    network_id_of,
    read_certificate,
    read_revocations,
)
from halfway.live.keys.identity import Identity, requested_keys
from halfway.live.keys.noise import KEY_BYTES
from halfway.problem import Problem, reason_of

MOST_FILE_BYTES = 4_000_000
_REQUEST_WORD = "halfway-node-1"
_SECRET_WORD = "halfway-secret-1"
_END = "-----END PRIVATE KEY-----\n"
_Form = TypeVar("_Form")


class MemberFile(msgspec.Struct, forbid_unknown_fields=True):
    """The file that a network gives to an admitted node."""

    network: str
    certificate: bytes
    root_key: bytes  # public
    secret: bytes  # of the network


class SignedCertificate(msgspec.Struct, forbid_unknown_fields=True):
    """A certificate as the network file lists it."""

    certificate: bytes
    revoked: bool = False


class NetworkFile(msgspec.Struct, forbid_unknown_fields=True):
    """The file in which a network lists its certificates."""

    name: str
    root_key: bytes  # public
    secret: bytes
    list_version: int = 0  # of the last revocation list
    members: list[SignedCertificate] = []


def write_new(path: Path, content: str | bytes, *, secret: bool) -> None:
    """Write a new key file. secret: only the owner of the file may read it, from the beginning.

    Raises Problem if the file exists or cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o600 if secret else 0o644
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError as error:
        what = "the file exists, and is not replaced"
        raise Problem(what, where=str(path), remedy="choose another name") from error
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise _unwritable(path, error) from error


def new_identity(path: Path) -> Identity:
    """Create a node's private keys in a file, and beside it the request for a certificate.

    The request has the name of the file with the suffix .pub. Raises Problem if either exists.
    """
    request_path = path.with_suffix(".pub")
    if request_path.exists():
        what = "the file exists, and is not replaced"
        raise Problem(what, where=str(request_path), remedy="choose another name")
    identity = Identity.new(os.urandom)
    pem = b"".join(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        for key in (identity.signing, identity.static)
    )
    write_new(path, pem, secret=True)
    request = base64.b64encode(identity.request()).decode()
    write_new(request_path, f"{_REQUEST_WORD} {request} {path.stem}\n", secret=False)
    return identity


def read_identity(path: Path) -> Identity:
    """Read the file with a node's private keys. Raises Problem, such as for a file that other users
    may read.
    """
    text = _secret_text(path)
    blocks = [block + _END for block in text.split(_END) if block.strip()]
    try:
        signing, static = (load_pem_private_key(pem.encode(), None) for pem in blocks)
    except (ValueError, TypeError) as error:
        raise _expected(
            path, "the private keys of a node", "make the keys with `halfway net key`"
        ) from error
    if not (isinstance(signing, Ed25519PrivateKey) and isinstance(static, X25519PrivateKey)):
        raise _expected(
            path, "an Ed25519 and an X25519 key", "make the keys with `halfway net key`"
        )
    return Identity(signing, static)


def read_request(path: Path) -> tuple[bytes, bytes]:
    """Read a file with a request for a certificate: signing key and static key, 32 bytes each."""
    words = _text(path).split()
    keys = None
    if len(words) >= 2 and words[0] == _REQUEST_WORD:
        try:
            keys = requested_keys(base64.b64decode(words[1], validate=True))
        except ValueError:
            keys = None
    if keys is None:
        remedy = "give the file NAME.pub, which `halfway net key` writes beside the private keys"
        raise _expected(path, "the request of a node", remedy)
    return keys


def read_member(path: Path) -> MemberFile:
    """Read a node's member file. Raises Problem, such as for a file that other users may read."""
    member = _decoded(path, _secret_text(path), MemberFile)
    try:
        certificate = read_certificate(member.certificate, member.root_key)
        if certificate.network_id != network_id_of(member.root_key):
            raise NotValid("the certificate belongs to another network")
    except NotValid as error:
        raise Problem(
            str(error), where=str(path), remedy="ask the owner of the network for a new certificate"
        ) from error
    if len(member.secret) != KEY_BYTES:
        raise _expected(
            path, f"a secret of {KEY_BYTES} bytes", "ask the owner of the network for a new file"
        )
    return member


def read_network(folder: Path) -> NetworkFile:
    """Read the network file in a folder. Raises Problem."""
    path = folder / "network.json"
    if not path.exists():
        remedy = f"make a network with `halfway net new {folder}`"
        raise Problem("this folder has no network", where=str(folder), remedy=remedy)
    return _decoded(path, _secret_text(path), NetworkFile)


def write_network(folder: Path, network: NetworkFile) -> None:
    """Write the network file into the folder of a network, entirely or not at all."""
    path = folder / "network.json"
    write_whole(path, msgspec.json.format(msgspec.json.encode(network), indent=2))
    path.chmod(0o600)


def read_root_key(folder: Path) -> Ed25519PrivateKey:
    """Read the file of a network's root key. Raises Problem if it is missing or unreadable."""
    path = folder / "root.key"
    if not path.exists():
        remedy = "run the command where the root key is kept"
        raise Problem("this folder has no root key", where=str(folder), remedy=remedy)
    try:
        key = load_pem_private_key(_secret_text(path).encode(), None)
    except (ValueError, TypeError) as error:
        raise _expected(path, "the root key of a network", "restore it from a backup") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise _expected(path, "an Ed25519 key", "restore it from a backup")
    return key


def new_secret(path: Path) -> None:
    """Create the file with the secret of a network without a root key. Raises Problem if the file
    exists.
    """
    secret = base64.b64encode(os.urandom(KEY_BYTES)).decode()
    write_new(path, f"{_SECRET_WORD} {secret}\n", secret=True)


def read_secret(path: Path) -> bytes:
    """Read the file with the secret of a network without a root key, 32 bytes. Raises Problem."""
    words = _secret_text(path).split()
    try:
        secret = base64.b64decode(words[1], validate=True) if len(words) == 2 else b""
    except ValueError:
        secret = b""
    if words[:1] != [_SECRET_WORD] or len(secret) != KEY_BYTES:
        raise _expected(
            path, "the secret of a network", "make the secret with `halfway net secret`"
        )
    return secret


def read_revocation_list(path: Path, root_key: bytes) -> bytes:
    """Return the bytes of a file of revocations, for `KeyedSecurity.learn_revocations`. Raises
    Problem.
    """
    try:
        data = base64.b64decode("".join(_text(path).split()), validate=True)
        read_revocations(data, root_key)
    except (ValueError, NotValid) as error:
        remedy = "copy revoked.list from the network's folder again"
        raise _expected(path, "a revocation list of this network", remedy) from error
    return data


def as_text(data: bytes) -> str:
    """Return bytes as base64 lines for a key file."""
    return base64.encodebytes(data).decode()


def private_pem(key: Ed25519PrivateKey) -> bytes:
    """Return a private key as unencrypted PEM, for a key file."""
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _text(path: Path) -> str:
    try:
        return read_limited(path, MOST_FILE_BYTES).decode()
    except FileNotFoundError as error:
        what = "the file does not exist: expected a file of `halfway net`"
        raise Problem(what, where=str(path)) from error
    except UnicodeDecodeError as error:
        raise Problem(
            "the file is not text: expected a file of `halfway net`", where=str(path)
        ) from error


def _secret_text(path: Path) -> str:
    text = _text(path)
    if path.stat().st_mode & 0o077:
        what = "other users may read this file: expected a file that only its owner may read"
        raise Problem(what, where=str(path), remedy=f"run `chmod 600 {path}`")
    return text


def _decoded(path: Path, text: str, form: type[_Form]) -> _Form:
    try:
        return msgspec.json.decode(text, type=form)
    except msgspec.MsgspecError as error:
        remedy = "restore the file that `halfway net` wrote"
        raise Problem(plain_words(str(error)), where=str(path), remedy=remedy) from error


def _expected(path: Path, what: str, remedy: str) -> Problem:
    return Problem(f"expected {what}", where=str(path), remedy=remedy)


def _unwritable(path: Path, error: OSError) -> Problem:
    what = f"could not be written: {reason_of(error)}"
    return Problem(what, where=str(path), remedy="choose a writable folder with free space")
