"""The identity of a running node: its id, name, system and incarnation, and a digest of system and
options.
"""

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from halfway.core.options import Value
from halfway.files import write_whole
from halfway.live.limits import Limits
from halfway.live.link.links import OwnHello
from halfway.live.systems.face import Face, NodeParameters
from halfway.live.systems.live_systems import face_of
from halfway.live.systems.positions import Position
from halfway.problem import Problem, reason_of

_FIRST_S = 1_577_836_800  # begin of 2020: incarnations without a folder are seconds since then


class NodeIdentity(NamedTuple):
    """The identity of a running node: its name for people, its system, and its incarnation."""

    name: str
    system: str
    incarnation: int
    rules: int  # 64 bits, see `rules_digest`
    hash_key: bytes  # of topics on the wire, equal on all nodes of a network
    period_s: float  # of hellos
    position: Position | None = None  # at the start

    def own_hello(self) -> OwnHello:
        """Return what the hellos of the running node say about its identity."""
        return OwnHello(self.incarnation, self.rules, self.name, self.period_s, self.position)


def rules_digest(system: str, options: Mapping[str, Value], names: Sequence[str]) -> int:
    """Return the 64-bit digest in a node's identity, equal on nodes with the same system, options
    and record kinds.
    """
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
    position: Position | None = None,
    role: str = "",
) -> tuple[Face, NodeIdentity]:
    """Return the live face of a node's system, and the identity of the running node.

    seed: seed of the node's random numbers. Raises Problem for a system that does not run live, for
    an option, or for a position.
    """
    key = int.from_bytes(hash_key[:8], "little") >> 1
    face = face_of(system, options, NodeParameters(node_id, key, seed, limits, position, role))
    rules = rules_digest(system, face.values, list(face.node.kinds.names.values()))
    return face, NodeIdentity(name, system, incarnation, rules, hash_key, period_s, position)


def random_id() -> int:
    """Return a new node id at random, 31 bits."""
    return int.from_bytes(os.urandom(4)) >> 1


def drawn_id(seed: int, place: int) -> int:
    """Return the id of a running node that follows from a seed and the place of the node."""
    return int(np.random.default_rng([seed, place]).integers(2**31))


def own_id(state: Path | None, node: int) -> int:
    """Return the id of a running node without a certificate; with a folder, the id is the same at
    each start.

    Raises Problem if the folder cannot be used.
    """
    if state is None:
        return random_id()
    path = state / f"node-id-{node}"
    try:
        state.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write_whole(path, str(random_id()))
        return int(path.read_text()) % 2**31
    except (OSError, ValueError) as error:
        what = f"state: cannot keep the id of the node: {error}"
        raise Problem(what, where=str(path), remedy="choose a folder that can be written") from None


def next_incarnation(state: Path | None, node: int, most: int = 2**32 - 1) -> int:
    """Return the incarnation of a node that starts now, which is larger than at any earlier start.

    A folder counts the starts. Without a folder, the incarnation is the time in seconds, so that a
    node which starts twice within a second keeps its incarnation. most: the largest incarnation of
    the node's system. Where it is less than the time, only a node with a new id starts without a
    folder, and so any incarnation is right. Raises Problem if the folder cannot be written, or has
    counted too many starts.
    """
    if state is None:
        return (int(time.time()) - _FIRST_S) % (most + 1)
    path = state / f"incarnation-{node}"
    try:
        state.mkdir(parents=True, exist_ok=True)
        known = int(path.read_text()) if path.exists() else 0
        if known >= most:
            what = f"the folder counted {known:,} starts of the node: expected fewer than {most:,}"
            raise Problem(what, where=str(path), remedy="choose another state folder")
        write_whole(path, str(known + 1))
    except OSError as error:
        what = f"the node cannot count its starts: {reason_of(error)}"
        raise Problem(what, where=str(path), remedy="choose a writable state folder") from None
    except ValueError:
        what = "the node cannot count its starts: expected a whole number in this file"
        raise Problem(what, where=str(path), remedy="choose another state folder") from None
    return known + 1
