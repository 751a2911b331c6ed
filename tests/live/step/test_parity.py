"""[R12] The memory bed decides what the simulator decides, for random schedules of every system."""

from typing import Any

import numpy as np
import pytest

from halfway.core.message import RECORD
from halfway.live.systems.live_systems import live_systems, roles_of, uses_position
from halfway.protocols.failure_detectors.reports import SUSPECTED, TRUSTED
from halfway.protocols.georendezvous.cells import CELL_SIDE_RADII
from halfway.world.graphs.common_reach import common_reach
from halfway.world.graphs.components import components
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import unit_disk
from halfway.world.workload.demand import Drawn
from halfway.world.workload.groups.monitoring import Monitoring
from halfway.world.workload.named_roles import DRAWN, BrokerPeriod, GivenRoles
from tests.live.step.loopback import LoopbackBed
from tests.live.step.parity import Result, Schedule, lived, simulated
from tests.networks import from_links, line, star
from tests.systems import DETECTORS, HOPPING, LIVE_SIMPLE

pytestmark = pytest.mark.one_clock  # records of both beds at the same times

_SLOW_SCHEDULES = 1000
_SECONDS = 30.0
# Options with which a detector suspects and trusts again within a schedule.
_FAST: dict[str, dict[str, Any]] = {name: {"timeout_s": 2.0} for name in DETECTORS} | {
    "swim": {"suspicion_factor": 1.0},
    "lifeguard": {"suspicion_factor": 1.0, "suspicion_most": 2.0},
}
TREES = [system for system in live_systems() if roles_of(system)]


def _bridge(n: int) -> Network:
    """Two full halves with one link between them."""
    half = n // 2
    ends = [(a, b) for a in range(n) for b in range(a) if (a < half) == (b < half)]
    return from_links(n, [*ends, (half - 1, half)])


def _random(n: int, random: np.random.Generator) -> Network:
    """A random tree with some links more."""
    tree = [(k, int(random.integers(k))) for k in range(1, n)]
    more = [(int(a), int(b)) for a, b in random.integers(n, size=(n, 2)) if a != b]
    return from_links(n, tree + more)


def _placed(n: int, random: np.random.Generator) -> Network:
    """Nodes at random places with links within 0.5, whose cells keep them connected."""
    wide = random.uniform(0.3, 0.8)
    while True:
        network = unit_disk(random.uniform(0.0, wide, (n, 2)), 0.5)
        cells = np.floor(network.position / (common_reach(network) * CELL_SIDE_RADII))
        if len(np.unique(components(unit_disk(cells, 1.5)))) == 1:
            return network


def _tree(
    n: int, random: np.random.Generator, *, all_late: bool
) -> tuple[dict[str, Any], GivenRoles]:
    """Options of a broker tree, and its brokers, of which some enter late, and some leave again.

    all_late: whether no broker is in the tree at first, as live nodes are that learn the root.
    """
    count = int(random.integers(2, max(n // 2, 2) + 1))
    rows = random.choice(n, count, replace=False).tolist()
    brokers = []
    for place, row in enumerate(rows):
        late = float(0.2 if place == 0 else random.uniform(0.3, 4.0))
        from_s = late if all_late or (place > 0 and random.random() < 0.5) else 0.0
        leaves = place > 0 and random.random() < 0.3
        until_s = float(random.uniform(6.0, 14.0)) if leaves else np.inf
        brokers.append(BrokerPeriod(row, from_s, until_s))
    options = {
        "refresh_s": 1.0,
        "join_delay_s": 0.5,
        "retries": int(random.integers(3)),
        "ack_timeout_s": 0.2,
    }
    return options, GivenRoles(brokers=tuple(brokers))


def schedule(number: int, system: str) -> Schedule:
    """Random schedule of that number: network, ids, demand, delay, crashes."""
    random = np.random.default_rng([number, len(system)])
    n = int(random.integers(4, 13))
    shape = int(random.integers(4))
    network = (line(n), star(n), _bridge(n), _random(n, random))[shape]
    if uses_position(system):
        network = _placed(n, random)
    publishers, subscribers = 1 + number % 2, int(random.integers(1, max(n - 2, 2)))
    crashes = [
        (int(row), float(random.uniform(2.0, 15.0)), float(random.uniform(15.0, 29.0)))
        for row in random.choice(n, size=int(random.integers(3)), replace=False)
    ]
    if system in DETECTORS:  # their nodes have no events, so `retries` is what else may vary
        options = {"retries": 2} if number % 2 and system in HOPPING else {}
        return Schedule(
            system, network, random.choice(2**31 - 1, n, replace=False).astype(np.int32),
            Monitoring(), float(random.uniform(0.001, 0.02)), _SECONDS, number,
            {**_FAST[system], **options}, crashes,
        )  # fmt: skip
    options: dict[str, Any] = {}
    roles = DRAWN
    if roles_of(system):
        options, roles = _tree(n, random, all_late=number % 2 == 1)
        if system == "underlay-siena":
            options["known_brokers"] = 1 + number % 4 // 2
    demand = Drawn(
        n=n, topics=int(random.integers(1, 4)), publishers_each=publishers,
        subscribers_each=min(subscribers, n - publishers), events=6,
        every_s=float(random.uniform(0.5, 4.0)), start_s=float(random.uniform(0.1, 8.0)),
        seed=number, roles=roles,
    )  # fmt: skip
    return Schedule(
        system, network, random.choice(2**31 - 1, n, replace=False).astype(np.int32), demand,
        float(random.uniform(0.001, 0.02)), _SECONDS, number, options, crashes,
        learns_root=number % 2 == 1,
    )  # fmt: skip


# The interpreted handlers of the other systems take longer: see the slow test.
@pytest.mark.parametrize("system", LIVE_SIMPLE)
def test_the_interpreted_node_decides_what_the_simulator_decides(system: str) -> None:
    few = schedule(len(system), system)._replace(seconds=12.0)
    expected = simulated(few)
    found = lived(few)
    assert found.reports == expected.reports
    assert found.states == expected.states
    assert expected.reports


@pytest.mark.parametrize("number", [0, 1, 3])
@pytest.mark.parametrize("system", TREES)
@pytest.mark.long
def test_an_interpreted_node_of_a_broker_tree_decides_the_same(system: str, number: int) -> None:
    """Brokers enter and leave, and are given the root or learn it; nodes keep or lose memory."""
    few = troubled(number, system)
    expected = simulated(few)
    assert lived(few) == expected
    assert expected.reports


def test_a_node_that_changes_over_to_machine_code_gives_the_same_bytes() -> None:
    some = schedule(3, "gossip")._replace(seconds=10.0)
    expected = simulated(some)
    half = range(0, some.network.n, 2)
    assert lived(some, compiled=half) == expected
    assert lived(some, compiled=range(some.network.n), from_s=5.0) == expected


def of_each_way(one: Schedule) -> list[Result]:
    """The result of a schedule in the memory bed, over sockets, and in the simulator.

    The simulator has no links that lose, double and reorder records by the number of a record.
    """
    found = [lived(one, compiled=range(one.network.n)), lived(one, bed_type=LoopbackBed)]
    return found if one.disturbed else [simulated(one), *found]


def troubled(number: int, system: str) -> Schedule:
    """Schedule of that number: crashes that keep the memory, that take it, or disturbed links.

    It lasts half as long as `schedule`, and its crashes begin and end at half the time.
    """
    one = schedule(number, system)
    return one._replace(
        forgets=number % 3 == 1,
        disturbed=number % 3 == 2,
        seconds=_SECONDS / 2,
        crashes=[(row, down / 2, up / 2) for row, down, up in one.crashes],
    )


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("system", ["gossip", "siena"])
def test_datagrams_on_the_loopback_decide_the_same(system: str, number: int) -> None:
    first, *others = of_each_way(troubled(number, system)._replace(seconds=10.0))
    assert first.reports
    for other in others:
        assert other.reports == first.reports
        assert other.states == first.states


@pytest.mark.slow
@pytest.mark.parametrize("system", live_systems())
def test_many_schedules_decide_the_same_in_three_ways(system: str) -> None:
    reports, kinds = 0, set[int]()
    schedules = _SLOW_SCHEDULES // len(live_systems()) + 1
    for number in range(schedules):
        first, *others = of_each_way(troubled(number, system))
        for other in others:
            assert other.reports == first.reports, number
            assert other.states == first.states, number
        reports += len(first.reports)
        kinds |= kinds_of(first)
    assert reports > schedules
    assert system not in DETECTORS or {int(SUSPECTED), int(TRUSTED)} <= kinds


@pytest.mark.slow
@pytest.mark.parametrize("system", live_systems())
def test_the_bed_decides_what_the_simulator_decides_in_many_schedules(system: str) -> None:
    schedules = _SLOW_SCHEDULES // len(live_systems()) + 1
    reports = 0
    for number in range(schedules):
        one = schedule(number, system)
        expected = simulated(one)
        found = lived(one, compiled=range(one.network.n), from_s=float(number % 3) * 4.0)
        assert found.reports == expected.reports, number
        assert found.states == expected.states, number
        reports += len(found.reports)
    assert reports > schedules


@pytest.mark.parametrize("system", DETECTORS)
@pytest.mark.long
def test_failure_detectors_decide_the_same_in_three_ways(system: str) -> None:
    kinds = set[int]()
    for number in (1, 2, 3):
        first, *others = of_each_way(troubled(number, system))
        kinds |= kinds_of(first)
        for other in others:
            assert other.reports == first.reports, number
            assert other.states == first.states, number
    assert {int(SUSPECTED), int(TRUSTED)} <= kinds


@pytest.mark.parametrize("system", ["heartbeat", "gossip-counters", "swim", "lifeguard"])
def test_an_interpreted_failure_detector_decides_what_the_simulator_decides(system: str) -> None:
    few = schedule(1, system)._replace(seconds=4.0)
    expected = simulated(few)
    assert lived(few) == expected
    assert expected.reports


def kinds_of(found: Result) -> set[int]:
    """The kinds of the reports of a run."""
    return {int(np.frombuffer(record, RECORD)["kind"][0]) for _, record in found.reports}
