"""The key files of a running node: they give its security, and the revocation list in use."""

import logging
import os
import time
from pathlib import Path

from halfway.live.keys.certificates import NotValid
from halfway.live.keys.identity import Identity
from halfway.live.keys.keyed_security import KeyedSecurity
from halfway.live.keys.member_files import (
    read_identity,
    read_member,
    read_revocation_list,
    read_secret,
)
from halfway.live.keys.network_membership import Membership, with_one_secret
from halfway.live.keys.processor import suitable_cipher
from halfway.live.runtime.settings import Settings
from halfway.live.step.scheduler import Scheduler
from halfway.problem import Problem

_LOG = logging.getLogger("halfway.live")


def keyed_security(settings: Settings) -> KeyedSecurity:
    """Return the security of a running node from the key files in its settings.

    Raises Problem for a file that is not a certificate or key, and for a certificate of another
    key, of another name or of another network than the settings have.
    """
    assert settings.key is not None
    identity = read_identity(settings.key)
    if settings.secret is not None:
        secret, name = read_secret(settings.secret), settings.name or settings.key.stem
        membership = with_one_secret(
            identity, secret, name=name, network=settings.network_name, wall=time.time
        )
    else:
        assert settings.certificate is not None
        membership = _certified(settings.certificate, identity)
        for field, wanted, own in (
            ("network", settings.network, membership.network),
            ("name", settings.name, membership.own.name),
        ):
            if wanted not in ("", own):
                what = f"{field} = {wanted}: expected {own}, the {field} in the certificate"
                remedy = f"leave out --{field}, or give a certificate with this {field}"
                raise Problem(what, where=str(settings.certificate), remedy=remedy)
    return KeyedSecurity(membership, random=os.urandom, cipher=suitable_cipher())


def _certified(path: Path, identity: Identity) -> Membership:
    """Return the membership by the certificate in a file, which a running node has."""
    member = read_member(path)
    try:
        return Membership(
            identity,
            member.certificate,
            root_key=member.root_key,
            secret=member.secret,
            network=member.network,
            wall=time.time,
        )
    except NotValid as error:
        what = f"the certificate is not valid: {error}"
        remedy = "admit the node again with `halfway net admit`"
        raise Problem(what, where=str(path), remedy=remedy) from None


class RevocationFile:
    """The revocation list in a file, which a node reads again whenever it changes.

    every_s: seconds between two checks. Raises Problem at the start for a file that is not such a
    list of the network. Later, the log names this file, and the present list stays in force.
    """

    def __init__(
        self, path: Path, security: KeyedSecurity, scheduler: Scheduler, every_s: float
    ) -> None:
        self._path, self._security, self._scheduler = path, security, scheduler
        self._every_s, self._stamp = every_s, (0, 0)
        self._read(scheduler.now())
        scheduler.after(every_s, self._look, None)

    def _look(self, now: float, _: None) -> None:
        try:
            known = self._path.stat()
            if (known.st_mtime_ns, known.st_size) != self._stamp:
                self._read(now)
        except (Problem, OSError) as error:
            _LOG.warning("revoked = %s: not read: %s", self._path, error)
        self._scheduler.after(self._every_s, self._look, None)

    def _read(self, now: float) -> None:
        root_key = self._security.membership.root_key
        assert root_key is not None
        try:
            known = self._path.stat()
        except OSError as error:
            what = f"revoked = {self._path}: {(error.strerror or str(error)).lower()}"
            raise Problem(what, remedy="copy revoked.list from the network's folder") from None
        self._stamp = known.st_mtime_ns, known.st_size
        data = read_revocation_list(self._path, root_key)
        if self._security.learn_revocations(data, now):
            _LOG.info("a new revocation list is in force")
