"""The attackers of a run: which nodes attack, and how liars and black holes change the records that
they send.

A black hole withholds every record that carries an event of another node. A record of a liar has
random values within the ranges of its kind, or filters with all bits set. The addresses and the
sequence number of the hop stay true, so that neighbours receive the record, and acknowledgements
match. The module `repeated_records.py` has replays and wormholes. The workload has floods.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.hello.messages import HELLO_KIND, HELLO_NAME
from halfway.core.kinds import Kinds, carrying
from halfway.core.prng import advanced, mixed, random_states, uniform
from halfway.core.records.checks import (
    COLUMNS,
    OF_HOP,
    RecordChecks,
    columns_of,
    no_checks,
    record_checks,
    write_column,
)
from halfway.world.attacks import Attack
from halfway.world.faults import Fault
from halfway.world.outages import BLACK_HOLE_BEGINS

# Bits of `conduct`, in the order of the kinds of events from BLACK_HOLE_BEGINS on. The engine does
# nothing for FLOOD.
BLACK_HOLE, LIAR, REPLAYS, WORMHOLE, DROPPING_WORMHOLE, FLOOD, FALSE_HELLOS, FULL_FILTERS = (
    np.uint8(1 << bit) for bit in range(8)
)
ANY_WORMHOLE = WORMHOLE | DROPPING_WORMHOLE
_ANY_LIES = LIAR | FALSE_HELLOS | FULL_FILTERS
# Names of fields with the bits of Bloom filters, and of digests of events.
_FILTERS = ("filter words", "digest", "more digest", "held bits")
_MOST = 2.0**31 - 1.0  # largest random value of a real field without a limit


class Attackers(NamedTuple):
    """The attackers among the engine's nodes, and the ranges of the fields that they falsify."""

    conduct: npt.NDArray[np.uint8]  # [n] bits; [0] where no node ever attacks
    random_state: npt.NDArray[np.uint64]  # [n] random state of the lies; or [0]
    ranges: RecordChecks  # ranges of the fields of each kind; no rows without attacks
    carried: npt.NDArray[np.uint8]  # [256] 1 for kinds whose records carry an event; or [0]
    filters: npt.NDArray[np.uint8]  # [256, columns] 1: the column is a part of a filter; or [0, 0]
    is_hello: npt.NDArray[np.uint8]  # [256] 1 for the kind of hellos; or [0]
    peer: npt.NDArray[np.int32]  # [n] row at the other end of a wormhole; or [0]
    fault: npt.NDArray[np.int32]  # [n] index of the fault whose replay began last; or [0]
    wait_s: npt.NDArray[np.float64]  # [faults] time from a reception to its replay
    # [slots] id of the receiver behind a wormhole of a record for one node; -1: none. [0] without
    # wormholes and replays.
    onward: npt.NDArray[np.int32]


def no_attackers() -> Attackers:
    """Return the attackers of a run without attacks."""
    bytes_, numbers = np.zeros(0, np.uint8), np.zeros(0, np.int32)
    return Attackers(
        conduct=bytes_,
        random_state=np.zeros(0, np.uint64),
        ranges=no_checks(),
        carried=bytes_,
        filters=np.zeros((0, 0), np.uint8),
        is_hello=bytes_,
        peer=numbers,
        fault=numbers,
        wait_s=np.zeros(0),
        onward=numbers,
    )


def attackers_of(
    node_ids: npt.NDArray[np.int32],
    kinds: Kinds,
    limits: Mapping[str, int],
    seed: int,
    faults: Sequence[Fault],
    slots: int,
) -> Attackers:
    """Return the attackers of a run before the first attack begins.

    node_ids: [n]. limits: sizes of the state by name, see `record_checks`. seed: seed of the
    falsified values. slots: number of records in flight.
    """
    carried, is_hello = np.zeros((2, 256), np.uint8)
    carried[carrying(kinds)] = 1
    is_hello[HELLO_KIND] = HELLO_NAME in kinds.names.values()
    n, waits = len(node_ids), [getattr(fault, "delay_s", 0.0) for fault in faults]
    return Attackers(
        conduct=np.zeros(n, np.uint8),
        random_state=random_states(node_ids, seed),
        ranges=record_checks(kinds, limits),
        carried=carried,
        filters=_filters(kinds),
        is_hello=is_hello,
        peer=np.full(n, -1, np.int32),
        fault=np.zeros(n, np.int32),
        wait_s=np.array(waits),
        onward=np.full(slots * repeats_records(faults), -1, np.int32),
    )


def repeats_records(faults: Sequence[Fault]) -> bool:
    """Return whether attackers transmit records of others: replays and wormholes."""
    kinds = ("replay", "wormhole")
    return any(isinstance(fault, Attack) and fault.kind in kinds for fault in faults)


def _filters(kinds: Kinds) -> npt.NDArray[np.uint8]:
    """Return which columns of records have words of Bloom filters, by the names of their fields."""
    columns = np.zeros((256, COLUMNS), np.uint8)
    for kind in kinds:
        for part in kind.parts():
            if part.name in _FILTERS:
                columns[kind.number, columns_of(part)] = 1
    return columns


@inlined
def change_attack(attacks, kind, row, other):
    """Begin or end the attack of an attacker, a row of the engine, by a change number from
    BLACK_HOLE_BEGINS on.

    other: the other end of a wormhole, or the index of the fault of a replay.
    """
    attack = np.uint8(1) << np.uint8((kind - BLACK_HOLE_BEGINS) >> 1)
    begins = (kind - BLACK_HOLE_BEGINS) & 1 == 0
    set_conduct(attacks, row, attack, begins)
    if attack & ANY_WORMHOLE:
        set_conduct(attacks, other, attack, begins)
        attacks.peer[row], attacks.peer[other] = other, row
    elif attack & REPLAYS:
        attacks.fault[row] = other


@inlined
def set_conduct(attacks, row, attack, begins):
    """Set or clear the bit of an attack in the conduct of an attacker."""
    if begins:
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
    if attacks.conduct.shape[0] == 0 or attacks.conduct[row] & _ANY_LIES == 0:
        return
    conduct = attacks.conduct[row]
    if attacks.carried[record.kind] == 1:
        return
    if conduct & LIAR != 0 or (conduct & FALSE_HELLOS != 0 and attacks.is_hello[record.kind] == 1):
        falsify(attacks, row, record)
    if conduct & FULL_FILTERS != 0:
        fill_filters(attacks, record)


@apart
def fill_filters(attacks, record):
    """Set all bits of the Bloom filters in an attacker's record."""
    kind = record.kind
    for column in range(COLUMNS):
        if attacks.filters[kind, column] == 1:
            low, high = attacks.ranges.bounds[kind, column]
            # A word of an integer that may be negative has all bits set at -1.
            write_column(record, column, -1.0 if low < 0.0 else high)


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
