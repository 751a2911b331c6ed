"""Ages of records: a record that a node kept and sends again also carries the time that it was
kept."""

import importlib
from typing import Any, NamedTuple

import numpy as np
import pytest

from halfway.adapters.registry import TABLE
from halfway.core.kinds import Channel, Kinds
from halfway.core.message import RECORD
from halfway.core.outbox import Outbox, emit, outbox
from halfway.protocols import SYSTEMS
from halfway.protocols.parts.reliable_hop import (
    ACK_TIMEOUT,
    ATTEMPT,
    emit_again,
    overdue,
    release,
    reliable_hops,
    restart_timers,
    track,
)
from halfway.protocols.walks.messages import CATCH_UP
from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.workload.demand import Drawn, Listed
from halfway.world.workload.groups.monitoring import Monitoring
from tests.interpreted import uncompiled
from tests.networks import disk, line
from tests.systems import HOPPING

TABLES = {name: importlib.import_module(about.module).KINDS for name, about in SYSTEMS.items()}
AGEING = [name for name in HOPPING if len(TABLES[name].ages)]
TIMES_S = np.array([10.0, 10.3, 11.25, 60.5])  # of the emissions of one record, by the own clock


class HopRules(NamedTuple):
    """The rules of a reliable hop."""

    retries: int = 5
    ack_timeout_s: float = 0.1
    ack_backoff: float = 1.0


@uncompiled
def repeated(hops: Any, rules: Any, kind: Any, times: Any, ages: Any, timer: Any, out: Any) -> Any:
    """The `reals` of one record: as first sent, at each retransmission, and on a detour."""
    sent = np.zeros((times.shape[0], 6))
    for k in range(times.shape[0]):
        place = np.int64(0)
        if k == 0:
            o = emit(out, kind, 0.0, 9)
            for r in range(6):
                o.reals[r] = 1.0 + r
            track(hops, rules, 0, o, times[0], out)
        elif k < times.shape[0] - 1:
            restart_timers(hops, rules, 0, out)  # as after a crash
            timer.at, timer.sequence = times[k], hops.record[0, place].sequence
            timer.args[ATTEMPT] = hops.tries[0, place]
            before = out.tally[0]
            overdue(hops, rules, 0, timer, ages, out)
            o = out.pool[out.free[before - 1]]
        else:
            o = emit_again(hops, 0, place, 8, times[k], ages, out)
        for r in range(6):
            sent[k, r] = o.reals[r]
    release(hops, 0, place)
    return sent


def emitted(kinds: Kinds, number: int, out: Outbox) -> Any:
    """What `repeated` returns for a kind of a table."""
    hops = reliable_hops(np.array([5], np.int32), 1, 1)
    timer = np.zeros(1, RECORD).view(np.recarray)[0]
    timer.kind = ACK_TIMEOUT
    return repeated(hops, HopRules(), np.uint8(number), TIMES_S, kinds.ages, timer, out)


@pytest.mark.parametrize("system", HOPPING)
def test_a_record_that_is_sent_again_carries_the_age_of_this_emission(system: str) -> None:
    kinds, out = TABLES[system], outbox(1000)
    for kind in kinds:
        if kind.channel is not Channel.NETWORK:
            continue
        expected = np.tile(1.0 + np.arange(6.0), (len(TIMES_S), 1))
        if kind.age:
            expected[:, kind.reals[kind.age]] += TIMES_S - TIMES_S[0]
        assert emitted(kinds, kind.number, out) == pytest.approx(expected), kind.name


def lossy_run(system: str) -> Simulation:
    """A run in which half of the records are lost, some nodes crash for a while, and each node has
    a clock of its own."""
    n, detects = 12, TABLE[system].adapter.detects_failures
    options = {"retries": 6, "ack_timeout_s": 0.1, "brokers": 3}
    options |= {"refresh_s": 4.0, "renewal_interval_s": 4.0}
    taken = {name: value for name, value in options.items() if name in TABLE[system].options}
    demand = Drawn(n=n, topics=2, publishers_each=2, subscribers_each=3, events=9, seed=1)
    return Simulation(
        system, disk(n, 0.5, seed=3), seconds=20.0, seed=1, options=taken, stretch=False,
        workload=Monitoring(1.0) if detects else demand,
        radio=IdealRadio(delay_s=0.01, success=0.5),
        faults=[Crash(share=0.5, at=at, for_=2.0) for at in (4.0, 9.0, 14.0)],
        nodes=NodeSettings(clock=ClockErrors(offset_s=1000.0, drift_ppm=100.0)),
        inspection=Inspection(received_records=1 << 17),
    )  # fmt: skip


@pytest.mark.parametrize("system", AGEING)
@pytest.mark.long
def test_all_arrivals_of_one_hop_have_the_same_origin(system: str) -> None:
    """The time of an arrival without the age of the record is the time when the age began."""
    run = lossy_run(system)
    run.run()
    records, _ = run.received_records()
    sent = records[records["sequence"] > 0]
    place = TABLES[system].ages[sent["kind"]]
    aged = place >= 0
    sent["reals"][aged, place[aged]] -= sent["at"][aged]  # the origin, but for its sign
    hop = sent[["source", "incarnation", "sequence", "kind"]]
    _, first, which = np.unique(hop, return_index=True, return_inverse=True)
    again = aged & (first[which] != np.arange(len(sent)))
    assert again.sum() > 20
    # After a crash of its sender; a node of GeoRendezvous forgets its hops at a crash.
    late = sent["at"] - sent["at"][first][which]
    assert late[again].max() > (0.5 if system == "georendezvous" else 1.0)
    # A clock that runs wrong by 100 ppm measures some seconds. No other part of a record changes.
    assert sent["reals"] == pytest.approx(sent["reals"][first][which], abs=1e-3)


@pytest.mark.parametrize("system", ["directional-walk", "random-walk"])
def test_no_event_of_before_its_subscription_arrives(system: str) -> None:
    """The publisher learns the path to the subscriber by several tries, as it needs several tries
    for the event that it buffered; the event is 0.2 s older than the subscription."""
    demand = Listed([(1, 0)], [(10.0, 0, 0), (18.0, 0, 0)], periods={(1, 0): (10.2, np.inf)})
    caught_up = 0
    for seed in range(40):
        run = Simulation(
            system, line(2), workload=demand, seed=seed, seconds=20.0, stretch=False,
            radio=IdealRadio(delay_s=0.001, success=0.6),
            options={"retries": 5, "ack_timeout_s": 0.1, "refresh_s": 20.0},
            inspection=Inspection(received_records=10_000),
        )  # fmt: skip
        outcome = run.run()
        records, rows = run.received_records()
        caught_up += ((records["kind"] == CATCH_UP) & (rows == 1)).any()
        assert (run.deliveries.unsolicited, outcome.expected) == (0, 1)
    assert caught_up > 20  # runs in which the buffered event arrived
