"""The attackers of a run: a black hole withholds records with events, and a liar falsifies all
other records.

A black hole withholds every record that carries an event of another node. A record of a liar has
random values within the ranges of its kind. The addresses and the sequence number of the hop stay
true, so that neighbours receive the record, and acknowledgements match.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.kinds import Kinds, carrying
from halfway.core.prng import advanced, mixed, random_states, uniform
from halfway.core.records.checks import (
    COLUMNS,
    OF_HOP,
    RecordChecks,
    no_checks,
    record_checks,
    write_column,
)
from halfway.world.outages import BLACK_HOLE_BEGINS

# Bits of `conduct`, in the order of the kinds of events from BLACK_HOLE_BEGINS on.
BLACK_HOLE, LIAR = np.uint8(1), np.uint8(2)
_MOST = 2.0**31 - 1.0  # largest random value of a real field without a limit


class Attackers(NamedTuple):
    """The attackers among the engine's nodes, and the ranges of the fields that they falsify."""

    conduct: npt.NDArray[np.uint8]  # [n] bits; [0] where no node ever attacks
    random_state: npt.NDArray[np.uint64]  # [n] random state of the lies; or [0]
    ranges: RecordChecks  # ranges of the fields of each kind; no rows without attacks
    carried: npt.NDArray[np.uint8]  # [256] 1 for kinds whose records carry an event; or [0]


def no_attackers() -> Attackers:
    """Return the attackers of a run without attacks."""
    return Attackers(
        np.zeros(0, np.uint8), np.zeros(0, np.uint64), no_checks(), np.zeros(0, np.uint8)
    )


def attackers_of(
    node_ids: npt.NDArray[np.int32], kinds: Kinds, limits: Mapping[str, int], seed: int
) -> Attackers:
    """Return the attackers of a run before the first attack begins.

    node_ids: [n]. limits: sizes of the state by name, see `record_checks`. seed: seed of the
    falsified values.
    """
    carried = np.zeros(256, np.uint8)
    carried[carrying(kinds)] = 1
    return Attackers(
        np.zeros(len(node_ids), np.uint8),
        random_states(node_ids, seed),
        record_checks(kinds, limits),
        carried,
    )


@inlined
def change_attack(attacks, kind, row):
    """Begin or end the attack of an attacker, a row of the engine, by a change number from
    BLACK_HOLE_BEGINS on.
    """
    attack = np.uint8(1) << np.uint8((kind - BLACK_HOLE_BEGINS) >> 1)
    if (kind - BLACK_HOLE_BEGINS) & 1 == 0:
        attacks.conduct[row] |= attack
    else:
        attacks.conduct[row] &= ~attack


@inlined
def is_withheld(attacks, row, own_id, record):
    """Return whether an attacking row of the engine withholds a record: a black hole withholds the
    events of other nodes.
    """
    if attacks.conduct.shape[0] == 0 or attacks.conduct[row] & BLACK_HOLE == 0:
        return False
    return attacks.carried[record.kind] == 1 and record.publisher != own_id


@inlined
def lie(attacks, row, record):
    """Falsify a record that an attacking row of the engine transmits; do nothing for an honest
    row.
    """
    if attacks.conduct.shape[0] == 0 or attacks.conduct[row] & LIAR == 0:
        return
    if attacks.carried[record.kind] == 0:
        falsify(attacks, row, record)


@apart
def falsify(attacks, row, record):
    """Write random values into all fields of an attacker's record, except the fields of its hop."""
    kind, word = record.kind, attacks.random_state[row]
    for column in range(COLUMNS):
        if attacks.ranges.declared[kind, column] == 0 or column in OF_HOP:
            continue
        low = max(attacks.ranges.bounds[kind, column, 0], -_MOST)
        high = min(attacks.ranges.bounds[kind, column, 1], _MOST)
        word = advanced(word)
        value = low + uniform(mixed(word)) * (high - low)
        if attacks.ranges.whole[kind, column] == 1:
            value = np.floor(value + 0.5)
        write_column(record, column, value)
    attacks.random_state[row] = word
