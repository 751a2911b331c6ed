"""Gossip against a slow oracle with the same dice, and how far it gets."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.protocols import flooding, gossip
from halfway.world.graphs.network import Network
from tests.networks import disk, from_links, line
from tests.protocols.lone import HOP, Driven, Letter, World, drive
from tests.protocols.slow_world import SlowWorld
from tests.protocols.worlds import coverage, networks

EVENTS = 3


def gossiped(network: Network, rules: gossip.Rules, commands: list[Letter], seed: int) -> Driven:
    """A run of gossip in which everybody wants the one topic."""
    wishes = [Letter(0.0, row, gossip.SUBSCRIBE, 0) for row in range(network.n)]
    return drive(
        World(
            network, gossip, lambda names: gossip.state(names, EVENTS, 1, seed),
            rules, wishes + commands, most=max(rules.fanout, 1) + 1,
        )
    )  # fmt: skip


class SlowGossip(SlowWorld):
    """The rule in words of plain Python."""

    def __init__(self, network: Network, rules: gossip.Rules, seed: int) -> None:
        super().__init__(network, seed, HOP)
        self.rules = rules
        self.seen: set[tuple[int, int]] = set()

    def hear(self, i: int, event: int, hops: int) -> None:
        """An event arrives; with no hops behind it, from the application."""
        if (i, event) in self.seen:
            return
        self.seen.add((i, event))
        sure = hops < self.rules.sure_hops or self.random_state[i].real() < self.rules.chance
        if sure and self.rules.rounds:
            self.after(
                self.rules.jitter * self.random_state[i].real(), self.round, i, event, hops, 1
            )
        if hops:
            self.told.append((self.now, i, event))

    def round(self, i: int, event: int, hops: int, number: int) -> None:
        """Tell some, or all."""
        for z in self.near[i] if self.rules.fanout == gossip.WHOLE else self.chosen(i):
            self.send(z, "push", self.hear, event, hops + 1)
        if number < self.rules.rounds:
            wait = self.rules.period + self.rules.jitter * self.random_state[i].real()
            self.after(wait, self.round, i, event, hops, number + 1)

    def chosen(self, i: int) -> Iterator[int]:
        """Walk along the neighbours, take each with the share that is still wanted of the rest."""
        wanted = min(self.rules.fanout, len(self.near[i]))
        for place, z in enumerate(self.near[i]):
            if self.random_state[i].index(len(self.near[i]) - place) < wanted:
                wanted -= 1
                yield z


RULES = st.builds(
    gossip.Rules,
    fanout=st.sampled_from([gossip.WHOLE, 0, 1, 2, 3, 20]),
    rounds=st.integers(0, 3),
    period=st.just(1.0),
    jitter=st.sampled_from([0.25, 2.0]),
    chance=st.sampled_from([0.0, 0.5, 1.0]),
    sure_hops=st.integers(0, 2),
)


@given(networks(), RULES, st.integers(0, 2**64 - 1))
def test_it_does_what_the_slow_oracle_does(
    network: Network, rules: gossip.Rules, seed: int
) -> None:
    slow = SlowGossip(network, rules, seed)
    commands = [Letter(e, e % network.n, gossip.PUBLISH, 0, e) for e in range(EVENTS)]
    for letter in commands:
        slow.after(letter.at, slow.hear, letter.row, letter.event, 0)
    slow.run()
    run = gossiped(network, rules, commands, seed)
    told = zip(run.told["at"], run.told_rows, run.told["event"], strict=True)
    assert sorted((float(at), int(row), int(event)) for at, row, event in told) == sorted(slow.told)
    assert len(run.received(gossip.PUSH)) == slow.received["push"]
    assert set(zip(*map(list, np.nonzero(run.state.seen >= 0)), strict=True)) == slow.seen


@given(networks(), st.integers(0, 2**32))
def test_a_fanout_of_everybody_reaches_everybody(network: Network, seed: int) -> None:
    everybody = int(network.degree.max())
    commands = [Letter(0.0, 0, gossip.PUBLISH, 0, 0)]
    for fanout in (everybody, everybody + 5, gossip.WHOLE):
        run = gossiped(network, gossip.Rules(fanout, 1, 1.0, 0.5), commands, seed)
        assert (run.state.seen[:, 0] == 0).all()
        assert len(run.received(gossip.PUSH)) == network.degree.sum()


def reached(rules: gossip.Rules, runs: int = 40) -> float:
    """Mean share of a unit disk graph that hears an event."""
    network = disk(n=80, radius=0.2, seed=3)
    commands = [Letter(0.0, 0, gossip.PUBLISH, 0, 0)]
    shares = []
    for seed in range(runs):
        seen = gossiped(network, rules, commands, seed).state.seen[:, 0] == 0
        shares.append(coverage(np.flatnonzero(seen).tolist(), network))
    return float(np.mean(shares))


def test_coverage_grows_with_fanout_and_with_rounds() -> None:
    share = {
        (fanout, rounds): reached(gossip.Rules(fanout, rounds, 1.0, 0.5))
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
    """[Haas et al.] GOSSIP1(p, k); GOSSIP1(1, 1) is flooding."""
    shares = [reached(gossip.Rules(gossip.WHOLE, 1, 1.0, 0.5, p, 1)) for p in (0.0, 0.3, 0.6, 1.0)]
    assert shares == sorted(shares)
    assert shares[0] < 0.3
    assert shares[3] == 1.0


@pytest.mark.parametrize("sure", [1, 2, 5])
def test_the_first_hops_are_certain(sure: int) -> None:
    """[Haas et al.] with p = 0 exactly the first k hops are made."""
    rules = gossip.Rules(gossip.WHOLE, 1, 1.0, 0.5, 0.0, sure)
    run = gossiped(line(9), rules, [Letter(0.0, 0, gossip.PUBLISH, 0, 0)], seed=1)
    assert list(np.flatnonzero(run.state.seen[:, 0] == 0)) == list(range(sure + 1))


def test_every_set_of_neighbours_is_equally_likely() -> None:
    """Two of four neighbours: six sets, over the nodes' own names' dice."""
    star = from_links(5, [(0, z) for z in range(1, 5)])
    rules = gossip.Rules(2, 1, 1.0, 0.0)
    seen: dict[tuple[int, ...], int] = {}
    for seed in range(600):
        run = gossiped(star, rules, [Letter(0.0, 0, gossip.PUBLISH, 0, 0)], seed)
        told = tuple(np.flatnonzero(run.state.seen[1:, 0] == 0))
        seen[told] = seen.get(told, 0) + 1
    assert len(seen) == 6
    assert sum((count - 100) ** 2 / 100 for count in seen.values()) < 20.5  # chi2, 5 df, 0.1 %


def test_dice_and_letters_are_shared_with_flooding() -> None:
    """Workloads name kinds once for all systems of this family."""
    assert (gossip.PUBLISH, gossip.SUBSCRIBE, gossip.DELIVERED) == (
        flooding.PUBLISH,
        flooding.SUBSCRIBE,
        flooding.DELIVERED,
    )
