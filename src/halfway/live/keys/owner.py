"""The owner's side of a network with keys: create the network, admit and revoke nodes, and list
certificates.
"""

import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from halfway.files import write_whole
from halfway.live.keys.certificates import (
    MOST_REVOKED,
    Certificate,
    NotValid,
    Revocations,
    is_expired,
    network_id_of,
    read_certificate,
    signed_certificate,
    signed_revocations,
)
from halfway.live.keys.identity import node_id_of
from halfway.live.keys.member_files import (
    MemberFile,
    NetworkFile,
    SignedCertificate,
    as_text,
    private_pem,
    read_network,
    read_request,
    read_root_key,
    write_network,
    write_new,
)
from halfway.live.keys.noise import KEY_BYTES
from halfway.problem import Problem

DAY_S = 86_400
_NAME = re.compile(r"\w[\w.-]{0,62}")


class Admission(NamedTuple):
    """The content of a certificate that the owner of a network signs. days: until it expires."""

    name: str
    publish: Sequence[str]
    subscribe: Sequence[str]
    days: float


class MemberRow(NamedTuple):
    """A row of `halfway net show`: one certificate of the network."""

    name: str
    node_id: int
    serial: int
    publish: list[str]
    subscribe: list[str]
    not_after: int  # seconds since 1970
    state: str  # valid, expired or revoked


def new_network(folder: Path) -> NetworkFile:
    """Create a network in a new folder: its root key, its secret, and an empty revocation list.

    The empty list lets nodes name the file of the list from their first start. Raises Problem.
    """
    name = folder.resolve().name
    if folder.exists() and any(folder.iterdir()):
        what = "the folder already exists, and is not empty"
        raise Problem(what, where=str(folder), remedy="choose another folder for the network")
    root = Ed25519PrivateKey.generate()
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    write_new(folder / "root.key", private_pem(root), secret=True)
    network = NetworkFile(name, root.public_key().public_bytes_raw(), os.urandom(KEY_BYTES))
    write_new(folder / "network.json", b"", secret=True)
    write_network(folder, network)
    _write_list(folder, network, root, [])
    return network


def admit(folder: Path, request: Path, admission: Admission) -> tuple[Path, Certificate]:
    """Sign a certificate for a node; return the member file for the node, and the certificate.

    Raises Problem for an admitted name, and for a wrong request or pattern.
    """
    network, root = read_network(folder), read_root_key(folder)
    signing, static = read_request(request)
    rows = [read_certificate(member.certificate, network.root_key) for member in network.members]
    pairs = zip(rows, network.members, strict=True)
    valid = [row for row, member in pairs if not (member.revoked or is_expired(row, time.time()))]
    where = f"name = {admission.name}"
    if not _NAME.fullmatch(admission.name):
        what = "expected letters and digits, and . _ - between them"
        raise Problem(what, where=where, remedy="choose another name with --name")
    if any(row.name == admission.name for row in valid):
        remedy = f"revoke the name first: halfway net revoke {folder} {admission.name}"
        raise Problem("the name is already admitted", where=where, remedy=remedy)
    others = {row.node_id for row in valid if row.signing_key != signing}
    salt = next(salt for salt in range(2**32) if node_id_of(signing, salt) not in others)
    serial = max((row.serial for row in rows), default=0) + 1
    not_after = int(time.time() + admission.days * DAY_S)
    certificate = Certificate(
        network_id=network_id_of(network.root_key), serial=serial, not_after=not_after, salt=salt,
        signing_key=signing, static_key=static, name=admission.name,
        publish=tuple(admission.publish), subscribe=tuple(admission.subscribe),
    )  # fmt: skip
    try:
        data = signed_certificate(certificate, root)
    except NotValid as error:
        raise Problem(str(error), remedy="see `halfway net admit --help` for patterns") from error
    path = folder / "members" / f"{admission.name}.cert"
    file = MemberFile(network.name, data, network.root_key, network.secret)
    if path.exists():  # of a certificate that is void
        path.rename(path.with_suffix(f".{serial}.old"))
    write_new(path, msgspec.json.format(msgspec.json.encode(file), indent=2), secret=True)
    network.members.append(SignedCertificate(data))
    write_network(folder, network)
    return path, certificate


def revoke(folder: Path, name: str) -> tuple[Path, list[int]]:
    """Revoke all certificates of a name; return the new revocation list and the serial numbers.

    Raises Problem for a name that has no valid certificate, and at 256 revoked certificates that
    have not expired.
    """
    network, root = read_network(folder), read_root_key(folder)
    now, serials, newly = time.time(), [], []
    for member in network.members:
        certificate = read_certificate(member.certificate, network.root_key)
        if certificate.name == name and not member.revoked and not is_expired(certificate, now):
            member.revoked = True
            newly.append(certificate.serial)
        if member.revoked and not is_expired(certificate, now):
            serials.append(certificate.serial)
    if not newly:
        remedy = f"`halfway net show {folder}` lists the valid certificates"
        raise Problem(
            "expected the name of a valid certificate", where=f"name = {name}", remedy=remedy
        )
    if len(serials) > MOST_REVOKED:
        what = f"expected at most {MOST_REVOKED} revoked certificates that have not expired"
        remedy = "make a new network, and admit its nodes for fewer days"
        raise Problem(what, where=str(folder), remedy=remedy)
    network.list_version += 1
    write_network(folder, network)
    return _write_list(folder, network, root, serials), newly


def _write_list(
    folder: Path, network: NetworkFile, root: Ed25519PrivateKey, serials: list[int]
) -> Path:
    made = Revocations(network.list_version, tuple(sorted(serials)))
    data = signed_revocations(made, network_id_of(network.root_key), root)
    write_whole(folder / "revoked.list", as_text(data))
    return folder / "revoked.list"


def members(folder: Path) -> list[MemberRow]:
    """Return the certificates that a network's owner signed, by ascending serial number."""
    network = read_network(folder)
    return [
        member_row(read_certificate(one.certificate, network.root_key), revoked=one.revoked)
        for one in network.members
    ]


def member_row(certificate: Certificate, *, revoked: bool) -> MemberRow:
    """Return a certificate that the owner of a network has signed, as a row of `halfway net
    show`.
    """
    state = "revoked" if revoked else "expired" if is_expired(certificate, time.time()) else "valid"
    return MemberRow(
        name=certificate.name,
        node_id=certificate.node_id,
        serial=certificate.serial,
        publish=list(certificate.publish),
        subscribe=list(certificate.subscribe),
        not_after=certificate.not_after,
        state=state,
    )
