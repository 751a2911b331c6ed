"""The identity of a running node: name, system, incarnation, and a digest of system and options."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from halfway.core.options import Value
from halfway.live.limits import Limits
from halfway.live.systems.face import Face, NodeParameters
from halfway.live.systems.live_systems import face_of


class NodeIdentity(NamedTuple):
    """The name of a running node for people, its system, and its incarnation."""

    name: str
    system: str
    incarnation: int
    rules: int  # 64 bits, see `rules_digest`
    hash_key: bytes  # of topics on the wire, equal on all nodes of a network
    period_s: float  # of hellos


def rules_digest(system: str, options: Mapping[str, Value], names: Sequence[str]) -> int:
    """Return 64 bits that are equal on nodes with the same system, options and record kinds."""
    words = repr((system, sorted(options.items()), list(names))).encode()
    return int.from_bytes(hashlib.blake2b(words, digest_size=8).digest(), "little")


def faced(
    system: str,
    options: Mapping[str, Value],
    limits: Limits,
    hash_key: bytes,
    *,
    node_id: int,
    seed: int,
    name: str,
    incarnation: int,
    period_s: float,
) -> tuple[Face, NodeIdentity]:
    """Return the live face of a node's system, and the identity of the node.

    seed: seed of the node's random numbers. Raises Problem for a system that does not run live, or
    an option.
    """
    key = int.from_bytes(hash_key[:8], "little") >> 1
    face = face_of(system, options, NodeParameters(node_id, key, seed, limits))
    rules = rules_digest(system, face.values, list(face.node.kinds.names.values()))
    return face, NodeIdentity(name, system, incarnation, rules, hash_key, period_s)
