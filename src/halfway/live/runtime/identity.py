"""What a live node is, for people and for its neighbours."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from halfway.core.options import Value


class NodeIdentity(NamedTuple):
    """What a node is: its name for people, and its present life."""

    name: str
    system: str
    incarnation: int
    rules: int  # 64 bits that nodes of the same system and options share
    hash_key: bytes  # of topics on the wire, equal on all nodes of a network
    period_s: float = 1.0  # of hellos


def rules_digest(system: str, options: Mapping[str, Value], names: Sequence[str]) -> int:
    """Return the 64 bits that equal nodes share: system, options and message kinds."""
    words = repr((system, sorted(options.items()), list(names))).encode()
    return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "little")
