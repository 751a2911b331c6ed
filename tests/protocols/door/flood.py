"""Floods of plausible records at single nodes of every system: no call emits more than its system
states.

A node receives one kind of record many times, then another kind. Half of the senders are
strangers. Of the large integers in a record, three quarters are ids of strangers, and the others
ascend. So the tables of a node fill up, and timers come when they are full. Detectors have more
members than a node has neighbours.

    python -m tests.protocols.door.flood 10000 path-gossip

prints one line per system: the accepted and the refused records, the most emissions of one call,
and the stated most. It ends with an error where a call emits more.
"""

import sys
import warnings
from typing import NamedTuple

import numpy as np
from numba import config

from halfway.adapters.registry import TABLE
from halfway.core.compiled import kernel
from halfway.core.compiler.lent import lent
from halfway.core.door import Door, enter
from halfway.core.message import RECORD
from halfway.core.outbox import outbox
from halfway.core.records.checks import (
    ACCEPTED,
    FROM_APPLICATION,
    FROM_NETWORK,
    record_checks,
    refusal,
)
from halfway.sim.simulation import Simulation
from halfway.world.workload.groups.monitoring import Monitoring
from tests.networks import line
from tests.protocols.door.draws import blank, channel, draw, sender, stranger, write
from tests.protocols.door.fuzz import (
    FEW_NODES,
    OPTIONS,
    SEED,
    SHORT_S,
    UNTIL_S,
    described,
    recorded,
)

MEMBERS = 100  # nodes of a run of a failure detector
ROWS = 2  # nodes that receive records
_LONGEST = 10  # log2 of the longest flood of one kind
_SMALL = 64.0  # a range up to this is a choice, and no number or id


class Flooded(NamedTuple):
    """The result of one system."""

    accepted: int
    refused: int
    most: int  # emissions of one call
    stated: int


def prepared(system: str) -> Simulation:
    """A run of a system on a few nodes; of a failure detector on a long line, at its beginning."""
    if TABLE[system].adapter.detects_failures:
        return Simulation(
            system, line(MEMBERS), workload=Monitoring(0.0), seconds=UNTIL_S, seed=SEED,
            options=OPTIONS.get(system), stretch=False,
        )  # fmt: skip
    return recorded(system, *((FEW_NODES, SHORT_S) if config.DISABLE_JIT else ()))


def flood(run: Simulation, count: int, seed: int = SEED) -> Flooded:
    """Let nodes of a run handle so many plausible records."""
    instance, stated = run.instance, run.instance.most_emissions
    checks, out = record_checks(instance.kinds, instance.limits), outbox(stated)
    declared = np.flatnonzero(checks.origins & 7).astype(np.uint8)
    state, work = np.array([seed, 0], np.uint64), np.zeros(1, RECORD).view(np.recarray)
    door = Door(*run.neighbours.node(instance, out), run.neighbours.neighbourhood, out)
    most = _flood(door, lent(out), checks, declared, work, state, run.at, run.environment.n, count)
    assert out.tally[1] == 0, f"{described(run, work[0])}: more than {stated} emissions"
    refused = int(checks.refused.sum())
    return Flooded(count - refused, refused, int(most), stated)


@kernel
def _flood(door, out, checks, declared, work, state, now, n, count):
    record, slots, most = work[0], np.int64(out.free.shape[0]), np.int64(0)
    left, row, kind = np.int64(0), np.int64(0), declared[0]
    for turn in range(count):
        now += 1e-4
        if left == 0:
            row = draw(state, ROWS) if draw(state, 16) == 0 else row
            kind = declared[draw(state, declared.shape[0])]
            left = 1 + draw(state, 1 << draw(state, _LONGEST))
        left -= 1
        blank(record)
        record.kind, record.at, record.source = kind, now, row
        origin = channel(checks.origins[kind], state)
        form = checks.command[kind] if origin == FROM_APPLICATION else np.int64(kind)
        for column in range(checks.bounds.shape[1]):
            if checks.declared[form, column] == 1:
                write(record, column, _plausible(checks, form, column, turn, state))
        if origin == FROM_NETWORK:
            record.source = sender(state, n, row)
        why = refusal(checks, record, origin)
        if why != ACCEPTED:
            checks.refused[why] += 1
            continue
        enter(door, np.uint32(row), record)
        if out.tally[1] > 0:
            return most
        most = max(most, slots - np.int64(out.tally[0]))
        out.tally[0] = slots
    return most


@kernel
def _plausible(checks, form, column, turn, state):
    """A value within the range of a column: a choice, an id of a stranger, or a number that ascends
    with the records; for a real number, a small one."""
    low, high = checks.bounds[form, column, 0], checks.bounds[form, column, 1]
    part = np.float64(draw(state, 1 << 30)) / (1 << 30)
    if low == -np.inf:
        return part
    if checks.whole[form, column] == 0:
        return low + part * min(high - low, 1.0)
    if high - low <= _SMALL:
        return low + np.floor(part * (high - low + 1.0))
    if high > 2.0**32:
        value = np.float64(turn + 1) * 2.0**20
    elif draw(state, 4) > 0:
        value = np.float64(stranger(draw(state, 128)))
    else:
        value = np.float64(turn)
    return min(max(value, low), high)


def main() -> None:
    """Flood the systems that the arguments name, or all."""
    warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)
    count, *systems = sys.argv[1:]
    for system in systems or TABLE:
        result = flood(prepared(system), int(count))
        sys.stdout.write(f"{system} {result._asdict()}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
