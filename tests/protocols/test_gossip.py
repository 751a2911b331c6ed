"""Gossip against a slow oracle with the same random numbers, and its coverage."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.protocols import gossip
from halfway.protocols.parts.application import PUBLISH, SUBSCRIBE
from halfway.world.graphs.network import Network
from tests.networks import disk, from_links, line
from tests.protocols.lone import HOP, Command, Driven, World, drive
from tests.protocols.received import received, rows_with
from tests.protocols.slow_world import SlowWorld
from tests.protocols.worlds import coverage, networks

EVENTS = 3


def gossiped(network: Network, rules: gossip.Rules, commands: list[Command], seed: int) -> Driven:
    """A run of gossip in which every node subscribes to the one topic."""
    subscriptions = [Command(0.0, row, SUBSCRIBE, 0) for row in range(network.n)]
    return drive(
        World(
            network, gossip, lambda names: gossip.state(names, EVENTS, 1, seed),
            rules, subscriptions + commands, most=max(rules.fanout, 1) + 1,
        )
    )  # fmt: skip


class SlowGossip(SlowWorld):
    """The protocol in plain Python."""

    def __init__(self, network: Network, rules: gossip.Rules, seed: int) -> None:
        super().__init__(network, seed, HOP)
        self.rules = rules
        self.seen: set[tuple[int, int]] = set()

    def receive(self, i: int, event: int, hops: int) -> None:
        """An event arrives; with 0 hops, from the application."""
        if (i, event) in self.seen:
            return
        self.seen.add((i, event))
        sure = hops < self.rules.sure_hops or self.random_state[i].real() < self.rules.chance
        if sure and self.rules.rounds:
            self.after(
                self.rules.jitter_s * self.random_state[i].real(), self.round, i, event, hops, 1
            )
        if hops:
            self.delivered.append((self.now, i, event))

    def round(self, i: int, event: int, hops: int, number: int) -> None:
        """Send to some neighbours, or to all."""
        for z in self.near[i] if self.rules.fanout == gossip.BROADCAST else self.chosen(i):
            self.send(z, "push", self.receive, event, hops + 1)
        if number < self.rules.rounds:
            wait = self.rules.period_s + self.rules.jitter_s * self.random_state[i].real()
            self.after(wait, self.round, i, event, hops, number + 1)

    def chosen(self, i: int) -> Iterator[int]:
        """Pick each neighbour in turn with the probability that is left for it."""
        missing = min(self.rules.fanout, len(self.near[i]))
        for place, z in enumerate(self.near[i]):
            if self.random_state[i].index(len(self.near[i]) - place) < missing:
                missing -= 1
                yield z


RULES = st.builds(
    gossip.Rules,
    fanout=st.sampled_from([gossip.BROADCAST, 0, 1, 2, 3, 20]),
    rounds=st.integers(0, 3),
    period_s=st.just(1.0),
    jitter_s=st.sampled_from([0.25, 2.0]),
    chance=st.sampled_from([0.0, 0.5, 1.0]),
    sure_hops=st.integers(0, 2),
)


@given(networks(), RULES, st.integers(0, 2**64 - 1))
def test_it_agrees_with_the_slow_oracle(network: Network, rules: gossip.Rules, seed: int) -> None:
    """[Demers et al. 1987 §1.4] A node passes an event on that it receives for the first time."""
    slow = SlowGossip(network, rules, seed)
    commands = [Command(e, e % network.n, PUBLISH, 0, e) for e in range(EVENTS)]
    for command in commands:
        slow.after(command.at, slow.receive, command.row, command.event, 0)
    slow.run()
    run = gossiped(network, rules, commands, seed)
    delivered = zip(run.reports["at"], run.report_rows, run.reports["event"], strict=True)
    assert sorted((float(at), int(row), int(event)) for at, row, event in delivered) == sorted(
        slow.delivered
    )
    assert len(run.received(gossip.PUSH)) == slow.received["push"]
    assert received(run.state.seen) == slow.seen


@given(networks(), st.integers(0, 2**32))
def test_a_fanout_of_all_neighbours_reaches_all_nodes(network: Network, seed: int) -> None:
    most = int(network.degree.max())
    commands = [Command(0.0, 0, PUBLISH, 0, 0)]
    for fanout in (most, most + 5, gossip.BROADCAST):
        run = gossiped(network, gossip.Rules(fanout, 1, 1.0, 0.5, 1.0, 1), commands, seed)
        assert len(rows_with(run.state.seen)) == network.n
        assert len(run.received(gossip.PUSH)) == network.degree.sum()


def reached(rules: gossip.Rules, runs: int = 40) -> float:
    """Mean share of the nodes of a unit disk graph that receive an event."""
    network = disk(n=80, radius=0.2, seed=3)
    commands = [Command(0.0, 0, PUBLISH, 0, 0)]
    shares = []
    for seed in range(runs):
        seen = rows_with(gossiped(network, rules, commands, seed).state.seen)
        shares.append(coverage(seen, network))
    return float(np.mean(shares))


def test_coverage_grows_with_fanout_and_with_rounds() -> None:
    """[Demers et al. 1987 §1.4] More receivers and later loss of interest reach more nodes."""
    share = {
        (fanout, rounds): reached(gossip.Rules(fanout, rounds, 1.0, 0.5, 1.0, 1))
        for fanout in (1, 2, 4)
        for rounds in (1, 2, 4)
    }
    for small, large in ((1, 2), (2, 4)):
        for other in (1, 2, 4):
            assert share[small, other] <= share[large, other]
            assert share[other, small] <= share[other, large]
    assert share[1, 1] < 0.5
    assert share[4, 4] > 0.99


def test_coverage_grows_with_the_chance_and_flooding_is_its_end() -> None:
    """[Haas et al. 2002] GOSSIP1(p, k); GOSSIP1(1, 1) is flooding."""
    shares = [
        reached(gossip.Rules(gossip.BROADCAST, 1, 1.0, 0.5, p, 1)) for p in (0.0, 0.3, 0.6, 1.0)
    ]
    assert shares == sorted(shares)
    assert shares[0] < 0.3
    assert shares[3] == 1.0


@pytest.mark.parametrize("sure", [1, 2, 5])
def test_the_first_hops_are_certain(sure: int) -> None:
    """[Haas et al. 2002] With p = 0 an event makes exactly the first k hops."""
    rules = gossip.Rules(gossip.BROADCAST, 1, 1.0, 0.5, 0.0, sure)
    run = gossiped(line(9), rules, [Command(0.0, 0, PUBLISH, 0, 0)], seed=1)
    assert rows_with(run.state.seen) == list(range(sure + 1))


def test_every_set_of_neighbours_is_equally_likely() -> None:
    """[Demers et al. 1987 §1.4] Receivers are random. Two of four neighbours: six sets, over many
    seeds."""
    star = from_links(5, [(0, z) for z in range(1, 5)])
    rules = gossip.Rules(2, 1, 1.0, 0.0, 1.0, 1)
    seen: dict[tuple[int, ...], int] = {}
    for seed in range(600):
        run = gossiped(star, rules, [Command(0.0, 0, PUBLISH, 0, 0)], seed)
        reached = tuple(row - 1 for row in rows_with(run.state.seen) if row > 0)
        seen[reached] = seen.get(reached, 0) + 1
    assert len(seen) == 6
    assert sum((count - 100) ** 2 / 100 for count in seen.values()) < 20.5  # chi2, 5 df, 0.1 %
