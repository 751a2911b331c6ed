"""The keys of a node that runs: from its two files to a security."""

import os
import time
from pathlib import Path

from halfway.live.keys.certificates import NotValid
from halfway.live.keys.files import read_identity, read_member
from halfway.live.keys.keyed_security import KeyedSecurity
from halfway.live.keys.membership import Membership
from halfway.live.keys.processor import suitable_cipher
from halfway.problem import Problem


def keyed_security(certificate: Path, key: Path) -> KeyedSecurity:
    """Return the security of a node with a certificate, from `halfway net admit`, and its key.

    Raises Problem for a file that is none, or for a certificate of another key.
    """
    member, identity = read_member(certificate), read_identity(key)
    try:
        membership = Membership(
            identity, member.certificate, root_key=member.root_key, secret=member.secret,
            network=member.network, wall=time.time,
        )  # fmt: skip
    except NotValid as error:
        remedy = "admit the node again with `halfway net admit`"
        raise Problem(f"the certificate is not valid: {error}", where=str(certificate),
                      remedy=remedy) from None  # fmt: skip
    return KeyedSecurity(membership, random=os.urandom, cipher=suitable_cipher())
