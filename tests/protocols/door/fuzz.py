"""Random and mutated records at the door of every system, after a real run of it.

A node that reads neighbour lists also sends hellos, so records of these are among the others.

    python -m tests.protocols.door.fuzz 10000 flooding gossip

prints one line per system, and ends at the first record after which a handler raises an error, or
emits more than it states. After a record from the network or an application, and after a timer of
the run before, it also ends at an emission that its kind does not declare: on another channel, or
with another field. A field may be out of range, because a random number of a neighbour may be the
greatest that a node can count. With NUMBA_BOUNDSCHECK=1 compiled handlers check their indices; with
NUMBA_DISABLE_JIT=1 Python does. Give the first a compile cache of its own (XDG_CACHE_HOME).
"""

import sys
import warnings
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numba import config

from halfway.adapters.registry import TABLE
from halfway.core.compiled import kernel
from halfway.core.compiler.lent import lent
from halfway.core.door import Door, enter
from halfway.core.message import APP, RECORD
from halfway.core.outbox import outbox
from halfway.core.records.checks import (
    ACCEPTED,
    FROM_APPLICATION,
    FROM_NETWORK,
    FROM_SELF,
    OUT_OF_RANGE,
    REASONS,
    WRONG_CHANNEL,
    record_checks,
    refusal,
)
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.faults import Churn
from halfway.world.workload.demand import Drawn
from tests.networks import disk
from tests.protocols.door.draws import blank, channel, draw, sender, write

TOPICS = 3
NODES, RUN_S = 24, 12.0  # of the run before
# Of the run before a few interpreted records, which takes longer than these.
FEW_NODES, SHORT_S = 12, 3.0
UNTIL_S = 1e6  # until when nodes start timers
HELLOS = SentHellos(period_s=2.0, limit=6)  # with less room than there are neighbours
SEED = 7
# The options of a run that uses as many kinds of records as possible on a few nodes.
OPTIONS: dict[str, dict[str, Any]] = {
    "gossip": {"chance": 0.9},
    "directional-walk": {"retries": 2, "relaunch_s": 3.0, "refresh_s": 5.0},
    "random-walk": {"retries": 2, "relaunch_s": 3.0, "refresh_s": 5.0},
    "walk-overlay": {"retries": 2, "branches": 2, "beta": 0.5, "links": 4},
    "georendezvous": {"retries": 2, "points": 3, "replicas": 2},
    "drip": {"brokers": 7, "replace_brokers": True, "expiry_s": 2.5},
    "siena": {"brokers": 5, "retries": 2},
    "underlay-siena": {"brokers": 5, "retries": 2, "known_brokers": 2, "confirm_timeout_s": 2.0},
    "path-heartbeat": {"retries": 2},
    "path-gossip": {"retries": 2},
}
# Systems whose records carry the values of events: a tree sends a filter of four attributes in two
# records.
ATTRIBUTES = {"walk-overlay": (3, 2, 2, 2), "siena": (3, 2, 2, 2), "underlay-siena": (3, 2, 2, 2)}
_RING = 4096  # emitted records that are mutated in turn
_LAST = (1 << 32) - 1  # the largest incarnation


class Result(NamedTuple):
    """The result of one system: records by reason, those handled by kind, and their emissions."""

    reasons: Any  # [reasons]
    kinds: Any  # [256]
    emitted: int


def recorded(system: str, nodes: int = NODES, run_s: float = RUN_S) -> Simulation:
    """A run of a system on a few nodes that crash and come back, with the received records."""
    network = disk(n=nodes, radius=0.75 if system == "georendezvous" else 0.35, seed=3)
    attributes = ATTRIBUTES.get(system, ())
    each = 1 if attributes else 2
    demand = Drawn(
        n=nodes, topics=prod(attributes) if attributes else TOPICS, subscribers_each=3 * each,
        publishers_each=each, events=16, every_s=0.5, seed=1, width=2 if attributes else 1,
        attributes=attributes,
    )  # fmt: skip
    run = Simulation(
        system, network, workload=demand, seconds=UNTIL_S, seed=SEED, options=OPTIONS.get(system),
        faults=[Churn(mean_up_s=9.0, mean_down_s=2.0, share=0.3, until=run_s)],
        hello=HELLOS, stretch=False, inspection=Inspection(received_records=1 << 20, check=True),
    )  # fmt: skip
    shortfalls = run.run(until=run_s).shortfalls
    assert not [name for name in shortfalls if "refused" in name], f"{system}: {shortfalls}"
    return run


def fuzz(run: Simulation, count: int, seed: int = SEED) -> Result:
    """Let the nodes of a run handle so many mutated and random records."""
    instance, n = run.instance, run.environment.n
    known, rows = run.received_records()
    # The last places are a ring of emitted records.
    records = np.concatenate([known, known[:1].repeat(_RING)]).view(np.recarray)
    checks, kinds = record_checks(instance.kinds, instance.limits), np.zeros(256, np.int64)
    declared, most = np.flatnonzero(checks.origins & 7).astype(np.uint8), instance.most_emissions
    out, state = outbox(most), np.array([seed, 0], np.uint64)
    door = Door(*run.neighbours.node(instance, out), run.neighbours.neighbourhood, out)
    work, left = np.zeros(2, RECORD).view(np.recarray), count  # received, and emitted in reply
    while left > 0:
        piece = min(left, 1 << 20)
        try:
            why = _fuzz(
                door, lent(out), checks, records, rows, declared, work, state, kinds,
                run.at, n, piece,
            )  # fmt: skip
        except Exception as error:
            raise AssertionError(f"{described(run, work[0])}: {error!r}") from error
        assert out.tally[1] == 0, f"{described(run, work[0])}: more than {most} emissions"
        assert why == ACCEPTED, (
            f"{described(run, work[0])}: emits {described(run, work[1])}: {REASONS[why]}"
        )
        left -= piece
    return Result(checks.refused, kinds, int(state[1]))


def described(run: Simulation, record: Any) -> str:
    """A record of a run for a message."""
    return f"{run.system}: {run.instance.kinds.names.get(int(record.kind), '?')} {record}"


@kernel
def _fuzz(door, out, checks, records, rows, declared, work, state, kinds, now, n, count):
    record, slots, ring = work[0], out.free.shape[0], records.shape[0] - _RING
    for _ in range(count):
        now += 1e-4
        row = np.int64(rows[draw(state, rows.shape[0])])
        made = draw(state, 4) == 0
        record.kind = declared[draw(state, declared.shape[0])]
        if not made:
            place = draw(state, records.shape[0])
            work[0] = records[place]
            row = np.int64(rows[place]) if draw(state, 2) == 0 and place < rows.shape[0] else row
        origin = channel(checks.origins[record.kind], state)
        form = checks.command[record.kind] if origin == FROM_APPLICATION else np.int64(record.kind)
        sound = origin != FROM_SELF
        if made:
            _make(record, checks, form, now, state)
        elif not _mutate(record, checks, form, now, state):
            # A timer that this node had started in the run before.
            sound |= record.source == row and checks.origins[record.kind] & 7 == FROM_SELF
        record.at, record.source = now, row
        if origin == FROM_NETWORK:
            record.source, record.incarnation = sender(state, n, row), _incarnation(record, state)
            record.hops = record.hops if draw(state, 4) > 0 else np.uint16(draw(state, 1 << 16))
        why = refusal(checks, record, origin)
        if why != ACCEPTED:
            checks.refused[why] += 1
            continue
        kinds[record.kind] += 1
        enter(door, np.uint32(row), record)
        if out.tally[1] > 0:
            return ACCEPTED
        why = undeclared(checks, out, row, work) if sound else ACCEPTED
        if why != ACCEPTED:
            return why
        for stacked in range(out.tally[0], slots):
            records[ring + np.int64(state[1] % np.uint64(_RING))] = out.pool[out.free[stacked]]
            state[1] += np.uint64(1)
        out.tally[0] = slots
    return ACCEPTED


@kernel
def undeclared(checks, out, row, work):
    """The first reason for which an emission of a row does not fit the declaration of its kind,
    apart from ranges; the emission is then the second record of `work`. Otherwise ACCEPTED."""
    for stacked in range(out.tally[0], out.free.shape[0]):
        emitted = out.pool[out.free[stacked]]
        emitted.source = row
        allowed, reports = checks.origins[emitted.kind], emitted.next == APP
        origin = FROM_SELF if emitted.next == row else FROM_NETWORK
        why = refusal(checks, emitted, allowed if reports else origin)
        if reports and allowed & 7 != 0:
            why = WRONG_CHANNEL  # a kind that nodes receive
        if why != ACCEPTED and why != OUT_OF_RANGE:
            work[1] = emitted
            return why
    return ACCEPTED


@kernel
def _make(record, checks, form, now, state):
    """Make a record of its kind with any values that fit a row of the checks."""
    blank(record)
    for column in range(checks.bounds.shape[1]):
        if checks.declared[form, column] == 1:
            write(record, column, _fitting(checks, form, column, now, state))


@kernel
def _mutate(record, checks, form, now, state):
    """Change up to three columns of a record, and sometimes its kind; return whether there are
    changes."""
    changes = draw(state, 4)
    for _ in range(changes):
        column = draw(state, checks.bounds.shape[1])
        if draw(state, 4) == 0:
            write(record, column, _wild(state))
        elif checks.declared[form, column] == 1:
            write(record, column, _fitting(checks, form, column, now, state))
    if draw(state, 50) == 0:
        record.kind, changes = draw(state, 256), np.int64(1)
    return changes > 0


@kernel
def _incarnation(record, state):
    """The incarnation of a sender: that of the record, a small one, a large one, or any."""
    turn = draw(state, 8)
    if turn < 4:
        return record.incarnation
    if turn < 6:
        return np.uint32(draw(state, 4))
    return np.uint32(_LAST - draw(state, 2 if turn == 6 else 1 << 32))


@kernel
def _fitting(checks, form, column, now, state):
    """A value within the range of a column: an end, near its lowest, the time, or any."""
    low, high = checks.bounds[form, column, 0], checks.bounds[form, column, 1]
    turn = draw(state, 8)
    if low == -np.inf:
        ends = np.nan, low, high, 0.0, 1.0, 2.0, -1e300, 1e300
        return ends[turn]
    part = np.float64(draw(state, 1 << 30)) / (1 << 30)
    if turn == 0:
        value = low
    elif turn == 1:
        value = high
    elif turn < 6:
        value = max(low, np.float64(draw(state, 20) - 2))
    elif turn == 6:
        value = now - 10.0 * part
    else:
        value = low * (1.0 - part) + high * part
    if checks.whole[form, column] == 1:
        value = np.floor(value)
    return min(max(value, low), high)


@kernel
def _wild(state):
    """A value that no protocol expects."""
    turn = draw(state, 8)
    if turn < 3:
        return (np.nan, np.inf, -1e300)[turn]
    if turn == 3:
        return np.float64(draw(state, 70)) - 3.0
    if turn == 4:
        return np.float64(draw(state, 1000)) / 8.0
    if turn == 5:
        return 2.0**31 - 1.0 - draw(state, 2)
    return np.float64(draw(state, 1 << 32)) - 2.0**31


def main() -> None:
    """Fuzz the systems that the arguments name, or all."""
    warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)
    count, *systems = sys.argv[1:]
    for system in systems or TABLE:
        few = (FEW_NODES, SHORT_S) if config.DISABLE_JIT else ()
        result = fuzz(recorded(system, *few), int(count))
        reasons = dict(zip(REASONS, result.reasons.tolist(), strict=True))
        reasons["accepted"] = int(result.kinds.sum())
        sys.stdout.write(f"{system} {reasons} emitted {result.emitted}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
