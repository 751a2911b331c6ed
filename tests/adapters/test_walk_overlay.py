"""The walk overlay as a system: deliveries despite loss, crashes, churn and partitions."""

from typing import Any

import pytest

from halfway.adapters.interface import Unsupported
from halfway.adapters.registry import named
from halfway.adapters.walk_overlay import initiators
from halfway.core.missing import NONE
from halfway.protocols.walk_overlay.messages import (
    ESTABLISHED,
    JOIN,
    JOINING,
    UNSUBSCRIBE,
)
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.faults import Churn, Crash, LinkCut, Partition
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import connected_unit_disk
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import from_links, line, star

N = 40


def field(seed: int) -> Network:
    """A connected network of sensors."""
    return connected_unit_disk(N, 0.28, seed=seed).network


def demand(seed: int, **given: Any) -> Drawn:
    """Two topics, a publisher and five subscribers each."""
    usual: dict[str, Any] = {"topics": 2, "subscribers_each": 5, "events": 20, "start_s": 4.0}
    return Drawn(n=N, seed=seed, **{**usual, **given})


def simulated(seed: int, seconds: float = 40.0, **given: Any) -> Simulation:
    """A run of the overlay."""
    usual: dict[str, Any] = {"workload": demand(seed)}
    return Simulation("walk-overlay", field(seed), seconds=seconds, seed=seed, **{**usual, **given})


@pytest.mark.parametrize("seed", range(8))
def test_without_faults_every_subscriber_receives_each_event_once(seed: int) -> None:
    """[dwo §III] "point-to-point communication between publishers and subscribers": all arrive."""
    outcome = simulated(seed).run()
    assert (outcome.delivery_ratio, outcome.expected) == (1.0, 100)
    assert outcome.duplicates == outcome.unsolicited == outcome.late == 0


@pytest.mark.parametrize("options", [
    {"buffered_events": 0, "retries": 0, "relaunch_s": 0.0, "link_check_interval_s": 0.0},
    {"pure": True},
    {"branches": 2, "beta": 0.5, "links": 3},
])  # fmt: skip
def test_without_faults_an_established_overlay_needs_no_acknowledgements(options: Any) -> None:
    for seed in range(3):
        outcome = simulated(seed, options=options, workload=demand(seed, start_s=15.0)).run()
        assert outcome.delivery_ratio == 1.0
        assert outcome.duplicates == outcome.unsolicited == 0
        assert ("ack" in outcome.sent) == ("retries" not in options)


def test_events_published_before_the_overlay_is_established_are_buffered() -> None:
    early = demand(3, start_s=0.0, every_s=0.05)
    assert simulated(3, workload=early).run().delivery_ratio == 1.0
    assert simulated(3, workload=early, options={"buffered_events": 0}).run().delivery_ratio < 1.0


@pytest.mark.parametrize("seed", range(4))
def test_losing_a_tenth_of_all_receptions_loses_no_delivery(seed: int) -> None:
    outcome = simulated(seed, radio=IdealRadio(success=0.9)).run()
    assert outcome.delivery_ratio == 1.0
    assert outcome.duplicates == outcome.unsolicited == 0


def test_without_acknowledgements_it_does() -> None:
    options = {
        "retries": 0, "relaunch_s": 0.0, "link_check_interval_s": 0.0, "buffered_events": 0,
    }  # fmt: skip
    ratios = [
        simulated(seed, radio=IdealRadio(success=0.9), options=options).run().delivery_ratio
        for seed in range(4)
    ]
    assert min(ratios) < 0.9


FAULTS = {
    "crash": Crash(share=0.2, at=15.0),
    "churn": Churn(mean_up_s=30.0, mean_down_s=5.0, share=0.3, until=30.0),
    "partition": Partition(line=(0.5, 0.0, 0.5, 1.0), at=10.0, for_=8.0),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_the_overlay_recovers_from(fault: str) -> None:
    delivered = expected = further = 0
    for seed in range(4):
        outcome = simulated(seed, seconds=60.0, faults=[FAULTS[fault]]).run()
        delivered += outcome.delivered
        expected += outcome.expected
        assert outcome.unsolicited == outcome.duplicates == 0
        further += outcome.sent["link"] - simulated(seed).run().sent["link"]
    assert further > 0
    assert delivered >= 0.97 * expected


def test_a_late_subscriber_receives_buffered_and_later_events() -> None:
    late = Crash(node=8, at=0.0, for_=10.0)
    listed = Listed([(8, 0), (3, 0)], [(2.0 + k, 0, 0) for k in range(20)])
    outcome = Simulation(
        "walk-overlay", line(9), workload=listed, seconds=60.0, faults=[late]
    ).run()
    assert outcome.delivery_ratio == 1.0
    assert outcome.caught_up == 8  # buffered while it was down


def test_a_subscriber_that_is_down_at_its_launch_joins_when_it_restarts() -> None:
    down = Crash(node=3, at=0.05, for_=3.0)
    listed = Listed([(1, 0), (2, 0), (3, 0)], [(10.0 + k, 0, 0) for k in range(4)])
    outcome = Simulation(
        "walk-overlay", line(4), workload=listed, seconds=40.0, faults=[down]
    ).run()
    assert outcome.delivery_ratio == 1.0


@pytest.mark.parametrize(("cut_s", "options"), [(6.0, {}), (40.0, {"quick_launches": 2})])
@pytest.mark.parametrize("subscriber", [1, 2])
def test_the_overlay_recovers_from_a_link_cut_of_any_length(
    cut_s: float, options: Any, subscriber: int
) -> None:
    """The successor takes over the fragment behind the cut; the root itself lost only a child."""
    listed = Listed([(subscriber, 0)], [(100.0 + k, 0, 0) for k in range(10)])
    cut = LinkCut(a=0, b=1, at=8.0, for_=cut_s)
    outcome = Simulation(
        "walk-overlay", line(3), workload=listed, seconds=120.0, faults=[cut], options=options
    ).run()
    assert outcome.delivery_ratio == 1.0


def test_every_publisher_and_subscriber_walks_once() -> None:
    """[dwo §V-B] "Publishers and subscribers are considered as initiators of a DRW": once each."""
    some = Listed([(1, 0), (2, 0), (1, 1)], [(1.0, 5, 0), (2.0, 1, 1), (3.0, 2, 0)])
    assert initiators(some).tolist() == [2, 5, 1]
    adapter = named("walk-overlay").adapter_with({})
    given = adapter.start_up_commands(some)
    assert sorted(given.row[given.kind == JOIN].tolist()) == [1, 2, 5]
    run = Simulation("walk-overlay", line(9), workload=some, seconds=40.0)
    assert run.run().delivery_ratio == 1.0
    assert run.state.members.walks[[1, 2, 5]].max() == 1
    assert run.state.members.walks.sum() <= 3


def test_initiators_wait_a_random_time_of_their_own() -> None:
    """No list says who walks first: the start of each walk is drawn by its node."""
    network, apart = star(40), {}
    for delay in (0.0, 2.0):
        some = Listed([], [(30.0, row, 0) for row in range(1, 31)])
        run = Simulation("walk-overlay", network, workload=some, seconds=0.5, seed=4,
                         options={"launch_jitter_s": delay})  # fmt: skip
        run.run()
        apart[delay] = int((run.state.members.walks > 0).sum())
    assert apart[0.0] == 30
    assert 1 <= apart[2.0] < 20


def test_an_initiator_that_hears_of_no_overlay_founds_one() -> None:
    """[dwo Alg. 1, lines 1-4] the first walks start without another one to meet."""
    alone = Listed([(0, 0)], [(30.0, 0, 0)])
    run = Simulation(
        "walk-overlay", line(400), workload=alone, seconds=20.0,
        options={"launch_jitter_s": 0.0, "founding_time_s": 5.0},
    )  # fmt: skip
    run.advance(4.9)
    assert run.state.members.rank[0] == JOINING
    run.advance(5.1)
    assert (run.state.members.rank[0], run.state.members.root[0]) == (ESTABLISHED, 0)


def test_overlays_that_were_founded_apart_merge() -> None:
    """Two sides of a cut found an overlay each. A probe of one finds the other."""
    some = Listed(
        [(0, 0), (2, 0), (9, 0), (11, 0)], [(150.0 + k, (0, 11)[k % 2], 0) for k in range(6)]
    )
    cut = LinkCut(a=5, b=6, at=0.0, for_=60.0)
    run = Simulation("walk-overlay", line(12), workload=some, seconds=170.0, faults=[cut],
                     options={"quick_launches": 4})  # fmt: skip
    run.advance(50.0)
    roots = set(run.state.members.root[[0, 2, 9, 11]].tolist())
    assert len(roots) == 2
    assert set(run.state.members.rank[sorted(roots)].tolist()) == {ESTABLISHED}
    assert run.run().delivery_ratio == 1.0
    assert len(set(run.state.members.root[[0, 2, 9, 11]].tolist())) == 1


def test_a_subscription_begins_and_ends_at_any_time() -> None:
    """[dwo §I] "a boolean function that depends on the set of subscriptions": filters follow it.

    A new subscription also asks for the events that wait in the nodes' buffers.
    """
    periods = {(8, 0): (20.0, 40.0), (5, 0): (0.0, 30.0)}
    some = Listed([(8, 0), (5, 0)], [(10.5 + k, 0, 0) for k in range(50)], periods=periods)
    run = Simulation("walk-overlay", line(9), workload=some, seconds=70.0)
    given = run._adapter.start_up_commands(some)
    assert given.at[given.kind == UNSUBSCRIBE].tolist() == [40.0, 30.0]
    run.advance(50.0)
    sent = run.outcome().sent["event"]
    found = run.run()
    assert found.delivery_ratio == 1.0
    assert found.unsolicited == 10  # published before 20 s
    assert found.sent["event"] == sent  # no filter admits an event any more
    assert not run.state.received.any()
    assert run.state.members.root[8] == NONE  # a leaf without a role leaves the overlay


def test_state_grows_with_subscriptions_and_not_with_events() -> None:
    """[dwo §III] "filters only manage information about subscriptions": events add no state."""
    few, many = (
        simulated(1, workload=demand(1, topics=topics)).run().state_bytes_per_node
        for topics in (1, 6)
    )
    assert few < many < 2 * few
    short, long = (
        simulated(1, seconds=80.0, workload=demand(1, events=events)) for events in (1, 60)
    )
    few_events, many_events = (run.instance.rules.catalogue for run in (short, long))
    assert few_events.topic.nbytes == many_events.topic.nbytes
    assert many_events.event_topic.nbytes == 0
    assert short.run().state_bytes_per_node == long.run().state_bytes_per_node


def test_filters_that_do_not_fit_in_memory_are_refused() -> None:
    wide = Listed([(topic % 400, topic) for topic in range(100_000)], [])
    network = connected_unit_disk(400, 0.12, seed=1).network
    options = {"false_positives": 1e-6}
    with pytest.raises(Unsupported, match="GB"):
        Simulation("walk-overlay", network, workload=wide, seconds=1.0, options=options)


def test_lost_acknowledgements_do_not_multiply_a_walk() -> None:
    """One initiator visits its whole component; a duplicate head ends on the other's trail."""
    alone = Listed([], [(1.0, 12, 0)])
    rows = [(5 * r + c, 5 * r + c + 1) for r in range(5) for c in range(4)]
    columns = [(5 * r + c, 5 * r + c + 5) for r in range(4) for c in range(5)]
    grid = from_links(25, rows + columns)
    asks = []
    for success in (1.0, 0.7):
        run = Simulation(
            "walk-overlay", grid, workload=alone, seconds=60.0, radio=IdealRadio(success=success),
            options={"relaunch_s": 0.0},
        )  # fmt: skip
        asks.append(run.run().sent["ask"])
        assert run.instance.state.members.open_branches.min() == 0
    assert asks[0] == 49  # there and back over each of its 24 links
    assert asks[1] < 3 * asks[0]


@pytest.mark.parametrize("seed", range(3))
def test_a_founder_that_loses_its_memory_again_is_back_at_once(seed: int) -> None:
    """Its neighbours have trails of its earlier walks. They do not take a new walk for one."""
    founder, returns = 2, (0.0, 21.0, 61.0)
    run = Simulation(
        "walk-overlay", line(3), seconds=80.0, seed=seed, discovery_delay_s=0.0,
        workload=Listed([(0, 0)], [(5.0, founder, 0), (76.0, founder, 0)]),
        faults=[Crash(node=founder, at=at - 1.0, for_=1.0, memory="lost") for at in returns[1:]],
    )  # fmt: skip
    members, waits = run.instance.state.members, []
    for up in returns:
        tenths = 0
        while tenths == 0 or members.root[founder] == NONE or members.rank[founder] == JOINING:
            tenths += 1
            run.advance(up + 0.1 * tenths)
        waits.append(tenths)
    assert max(waits[1:]) <= waits[0]
    assert members.walks[founder] == members.probes[founder] + 1 == (2 << 16) + 1
    assert run.run().delivery_ratio == 1.0


def test_full_tables_are_reported() -> None:
    run = simulated(1)
    assert run.run().shortfalls == {}
    run.instance.state.members.refused[3] = 2
    run.instance.state.members.links_refused[4] = 3
    run.instance.state.members.overrun[5] = 1
    run.instance.state.members.trails_evicted[:] = 1
    assert run.run().shortfalls == {
        "overlay links without room (option links)": 3,
        "subscriptions without room": 2,
        "events that left the buffer unsent (options buffered_events, buffer_time_s)": 1,
        "evicted trails of walks": N,
    }
