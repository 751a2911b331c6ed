"""Environments: nodes know exactly the links that worked `discovery_delay_s` ago."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.neighbourhood import Neighbourhood
from halfway.problem import Problem
from halfway.sim.engine.changes import FORGOTTEN, KNOWN, LINK_GONE, LINK_NEAR
from halfway.sim.environment.environment import Environment
from halfway.sim.environment.mobility import Motion
from halfway.world.fault_times import schedule
from halfway.world.faults import Churn, Crash, LinkCut, Partition
from halfway.world.graphs.network import Network
from halfway.world.mobility.motion import Legs, Presence
from halfway.world.mobility.moving_grid import network_at
from halfway.world.mobility.random_waypoint import random_waypoint
from halfway.world.outages import LINK_DOWN, NODE_DOWN, FaultEvents
from tests.networks import disk

SECONDS, RADIUS = 8.0, 30.0
FAULTS = [
    Churn(mean_up_s=3.0, mean_down_s=1.0, share=0.5),
    Crash(node=1, at=2.5, for_=2.0),
    Partition(nodes=frozenset({0, 2, 4, 6}), at=1.25, for_=3.0),
]

Links = set[tuple[int, int]]


def lists(neighbourhood: Neighbourhood) -> Links:
    return {
        (row, int(b))
        for row in range(len(neighbourhood.first))
        for b in neighbourhood.who[neighbourhood.first[row] : neighbourhood.last[row]]
    }


def links_of(network: Network) -> Links:
    return lists(network.neighbourhood())


def state_at(events: FaultEvents, t: float) -> tuple[set[int], Links]:
    """Nodes that are down, and links that are cut, just before t."""
    down: set[int] = set()
    cut: Links = set()
    for k in range(int(np.searchsorted(events.t, t, side="left"))):
        a, b = int(events.a[k]), int(events.b[k])
        holder: set = down if events.kind[k] < LINK_DOWN else cut  # type: ignore[type-arg]
        for thing in [a] if events.kind[k] < LINK_DOWN else [(a, b), (b, a)]:
            (holder.add if events.kind[k] in (NODE_DOWN, LINK_DOWN) else holder.discard)(thing)
    return down, cut


def works(near: Links, events: FaultEvents, t: float) -> Links:
    down, cut = state_at(events, t)
    return {(a, b) for a, b in near - cut if a not in down and b not in down}


class Followed:
    """An environment whose changes are applied to sets, window by window."""

    def __init__(self, environment: Environment) -> None:
        self.environment, self.reach, self.known = (
            environment,
            lists(environment.reach),
            lists(environment.neighbourhood),
        )

    def go(self, end: float) -> None:
        result = self.environment.advance(end)
        assert (np.diff(result.t) >= 0).all()
        for kind, a, b in zip(
            result.kind.tolist(), result.a.tolist(), result.b.tolist(), strict=True
        ):
            both = {(a, b), (b, a)}
            if kind in (LINK_NEAR, LINK_GONE):
                assert (kind == LINK_NEAR) != (both <= self.reach)
                self.reach = self.reach | both if kind == LINK_NEAR else self.reach - both
            elif kind in (KNOWN, FORGOTTEN):
                self.known = self.known | both if kind == KNOWN else self.known - both


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.5, 2.0]), st.integers(1, 5))
def test_static_nodes_know_the_links_of_one_delay_ago(
    seed: int, discovery_delay_s: float, pieces: int
) -> None:
    network = disk(n=12, radius=0.5, seed=seed % 7)
    a = int(np.argmax(network.degree))
    ends = network.label(a), network.label(int(network.neighbours(a)[0]))
    faults = [*FAULTS, LinkCut(a=ends[0], b=ends[1], at=0.5, for_=5.0)]
    environment = Environment(
        network, None, faults, seed=seed, seconds=SECONDS, discovery_delay_s=discovery_delay_s
    )
    events = schedule(faults, network, seed, SECONDS)
    followed = Followed(environment)
    for end in np.linspace(0.0, SECONDS, pieces + 1)[1:]:
        followed.go(float(end))
        assert followed.known == works(links_of(network), events, end - discovery_delay_s)
        down, _ = state_at(events, float(end))
        assert set(np.flatnonzero(~environment.up)) == down


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([0.5, 2.0]), st.booleans())
def test_moving_nodes_know_the_links_of_one_delay_ago(
    seed: int, discovery_delay_s: float, windows: bool
) -> None:
    n = 12
    legs = random_waypoint(n, 100.0, 60.0, speed=(5, 20), pause=(0, 1), seconds=SECONDS, seed=seed)
    motion = Motion(Windows(legs) if windows else legs, RADIUS)
    environment = Environment(
        None, motion, FAULTS, seed=seed, seconds=SECONDS, discovery_delay_s=discovery_delay_s
    )
    events = schedule(FAULTS, n, seed, SECONDS)
    followed = Followed(environment)
    while environment.at < SECONDS:
        end = environment.window_end(SECONDS)
        followed.go(end)
        _, cut = state_at(events, end)
        # Just before the end: a change at the end belongs to the next window.
        assert followed.reach == links_of(network_at(legs, RADIUS, np.nextafter(end, 0.0))) - cut
        if end > discovery_delay_s:
            ago = np.nextafter(end - discovery_delay_s, 0.0)
            near = links_of(network_at(legs, RADIUS, ago))
            assert followed.known == works(near, events, end - discovery_delay_s)


class Windows:
    """Legs given one window at a time."""

    def __init__(self, legs: Legs) -> None:
        self.whole, self.n = legs, legs.n

    def legs(self, t0: float, t1: float) -> Legs:
        kept = []
        for i in range(self.n):
            mine = np.arange(self.whole.first[i], self.whole.first[i + 1])
            begun = int((self.whole.t0[mine] <= t0).sum())
            mine = mine[max(begun - 1, 0) :]
            kept.append(mine[: max(int((self.whole.t0[mine] <= t1).sum()), 1)])
        first = np.cumsum([0, *map(len, kept)])
        order = np.concatenate(kept)
        return Legs(first, *(column[order] for column in self.whole[1:]))


def test_an_absent_node_is_down_until_it_arrives() -> None:
    legs = random_waypoint(3, 10.0, 10.0, speed=(1, 2), seconds=10.0, seed=1)
    presence = Presence(np.array([0, 1, 3, 4]), np.array([0.0, 2.0, 6.0, 0.0]),
                        np.array([np.inf, 4.0, 9.0, 5.0]))  # fmt: skip
    crash = [Crash(node=1, at=3.0, for_=4.0), Crash(node=2, at=4.0, for_=2.0)]
    motion = Motion(legs, 20.0, presence)
    environment = Environment(None, motion, crash, seed=1, seconds=10.0)
    while environment.at < 10.0:
        environment.advance(environment.window_end(10.0))
    # Row 1 is there in [2, 4) and [6, 9) but crashed in [3, 7); row 2 leaves at 5 for good.
    assert list(10.0 - environment.down_s(10.0)) == pytest.approx([10.0, 3.0, 4.0])


def test_churn_is_drawn_span_by_span_and_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    network = disk(n=12, radius=0.5, seed=1)
    faults = [Churn(mean_up_s=1.0, mean_down_s=0.5), Crash(node=3, at=7.0, for_=9.0)]

    def result() -> tuple[list[tuple[float, int, int]], int]:
        environment = Environment(
            network, None, faults, seed=5, seconds=60.0, discovery_delay_s=np.inf
        )
        found: list[tuple[float, int, int]] = []
        longest = 0
        while environment.at < 60.0:
            some = environment.advance(environment.window_end(60.0))
            longest = max(longest, len(some.t))
            found += zip(some.t.tolist(), some.kind.tolist(), some.a.tolist(), strict=True)
        return found, longest

    whole, longest = result()
    assert longest == len(whole)
    monkeypatch.setattr("halfway.sim.environment.fault_schedule._MAX_TURNS", 40)
    pieces, longest = result()
    assert pieces == whole
    assert longest < len(whole) / 5


def test_without_changes_nodes_share_the_lists_of_the_network() -> None:
    network = disk(n=12, radius=0.5, seed=1)
    environment = Environment(network, None, [], seed=1, seconds=5.0)
    assert environment.neighbourhood is environment.reach


def test_an_environment_is_either_static_or_moving() -> None:
    network = disk(n=5, radius=0.9, seed=1)
    legs = random_waypoint(3, 10.0, 10.0, speed=(1, 2), seconds=10.0, seed=1)
    for pair in ((None, None), (network, Motion(legs, 1.0))):
        with pytest.raises(Problem, match=r"network, motion: .* expected exactly one"):
            Environment(*pair, [], seed=1, seconds=5.0)
    with pytest.raises(Problem, match="discovery_delay_s = -1"):
        Environment(network, None, [], seed=1, seconds=5.0, discovery_delay_s=-1.0)
