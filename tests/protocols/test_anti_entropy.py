"""Anti-entropy: in the end everybody knows everything, as a slow oracle with the same dice says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.protocols import anti_entropy
from halfway.protocols.anti_entropy import WINDOW, Rules
from halfway.world.network import Network
from tests.networks import disk, line
from tests.protocols.lone import HOP, Driven, Letter, World, drive
from tests.protocols.slow_world import SlowWorld
from tests.protocols.worlds import component, networks


def exchanged(
    network: Network, rules: Rules, letters: list[Letter], seed: int, events: int
) -> Driven:
    """A run in which everybody wants the one topic."""
    rows = range(network.n)
    first = [Letter(0.0, row, anti_entropy.SUBSCRIBE, 0) for row in rows]
    first += [Letter(0.0, row, anti_entropy.START) for row in rows]
    return drive(
        World(
            network, anti_entropy, lambda names: anti_entropy.state(names, events, 1, seed),
            rules, anti_entropy.Book(events), first + letters,
            most=max(rules.windows, rules.batch) + 1,
        )
    )  # fmt: skip


class SlowExchange(SlowWorld):
    """The rule in words of plain Python: sets instead of bits."""

    def __init__(self, network: Network, rules: Rules, seed: int, events: int) -> None:
        super().__init__(network, seed, HOP)
        self.rules = rules
        self.held: list[set[int]] = [set() for _ in self.near]
        self.windows = -(-events // WINDOW)
        self.window = [0 for _ in self.near]

    def start(self, i: int) -> None:
        """Begin somewhere in the first period."""
        self.plan(i, self.rules.period * self.dice[i].real())

    def plan(self, i: int, wait: float) -> None:
        """The next round, if there is to be one."""
        if self.now + wait <= self.rules.until:
            self.after(wait, self.round, i)

    def round(self, i: int) -> None:
        """Compare with one neighbour."""
        if self.near[i]:
            partner = self.near[i][self.dice[i].index(len(self.near[i]))]
            for _ in range(min(self.rules.windows, self.windows)):
                w = self.window[i]
                mine = {e for e in self.held[i] if e // WINDOW == w}
                self.send(partner, "digest", self.compare, i, w, mine)
                self.window[i] = (w + 1) % self.windows
        self.plan(i, self.rules.period + self.rules.jitter * self.dice[i].real())

    def compare(self, i: int, sender: int, w: int, theirs: set[int]) -> None:
        """Push what they lack, wish for what I lack."""
        mine = {e for e in self.held[i] if e // WINDOW == w}
        for e in sorted(mine - theirs)[: self.rules.batch]:
            self.send(sender, "event", self.hear, e)
        wish = sorted(theirs - mine)[: self.rules.batch]
        if theirs - mine:
            self.send(sender, "wish", self.grant, i, wish)

    def grant(self, i: int, sender: int, wish: list[int]) -> None:
        """Send what was wished for."""
        for e in [e for e in wish if e in self.held[i]][: self.rules.batch]:
            self.send(sender, "event", self.hear, e)

    def hear(self, i: int, event: int, own: bool = False) -> None:
        """An event arrives, or is the application's own."""
        if event not in self.held[i]:
            self.held[i].add(event)
            if not own:
                self.told.append((self.now, i, event))


RULES = st.builds(
    Rules,
    period=st.just(1.0),
    jitter=st.sampled_from([0.25, 1.0]),
    until=st.sampled_from([0.5, 8.0]),
    windows=st.integers(0, 3),
    batch=st.sampled_from([0, 1, 2, 50]),
)


@given(networks(most=8), RULES, st.integers(0, 2**64 - 1), st.sampled_from([1, 40, 256, 257, 600]))
def test_it_does_what_the_slow_oracle_does(
    network: Network, rules: Rules, seed: int, events: int
) -> None:
    ids = sorted({0, events - 1, events // 2, min(31, events - 1), min(32, events - 1)})
    letters = [Letter(k / 2, e % network.n, anti_entropy.PUBLISH, 0, e) for k, e in enumerate(ids)]
    slow = SlowExchange(network, rules, seed, events)
    for row in range(network.n):
        slow.after(0.0, slow.start, row)
    for letter in letters:
        slow.after(letter.at, slow.hear, letter.row, letter.event, True)
    slow.run()
    run = exchanged(network, rules, letters, seed, events)
    told = zip(run.told["at"], run.told_rows, run.told["event"], strict=True)
    assert sorted((float(at), int(row), int(event)) for at, row, event in told) == sorted(slow.told)
    for row in range(network.n):
        assert set(np.flatnonzero(run.state.held[row] >= 0)) == slow.held[row]
    for kind, name in ((2, "digest"), (7, "wish"), (8, "event")):
        assert len(run.received(kind)) == slow.received[name]


@given(networks(connected=False, most=10), st.integers(0, 2**32), st.integers(1, 3))
def test_each_component_ends_up_with_all_its_events(
    network: Network, seed: int, batch: int
) -> None:
    events = 6
    letters = [Letter(e / 4, e % network.n, anti_entropy.PUBLISH, 0, e) for e in range(events)]
    run = exchanged(network, Rules(1.0, 0.5, 200.0, 1, batch), letters, seed, events)
    expected = []
    for event in range(events):
        rows = component(network, event % network.n)
        assert set(np.flatnonzero(run.state.held[:, event] >= 0)) == rows
        expected += [(row, 0, event) for row in rows - {event % network.n}]
    assert run.letters(anti_entropy.DELIVERED) == sorted(expected)


def test_a_late_event_meets_no_rounds_any_more() -> None:
    letters = [Letter(99.0, 0, anti_entropy.PUBLISH, 0, 0)]
    run = exchanged(line(3), Rules(1.0, 0.0, 50.0, 1, 5), letters, 1, 1)
    assert (run.state.held[:, 0] >= 0).tolist() == [True, False, False]
    assert run.records["at"][run.records["kind"] == anti_entropy.ROUND].max() <= 50.0


def test_a_full_window_goes_through_in_batches() -> None:
    """Every bit of the eight integers, the sign bits among them; then nothing more is sent."""
    letters = [Letter(0.0, 0, anti_entropy.PUBLISH, 0, e) for e in range(WINDOW)]
    run = exchanged(line(2), Rules(1.0, 0.0, 20.0, 1, 20), letters, 1, WINDOW)
    assert (run.state.held == 0).all()
    assert len(run.received(anti_entropy.EVENT)) == WINDOW


@pytest.mark.parametrize("starts", [1, 3])
def test_a_second_start_replaces_the_first(starts: int) -> None:
    letters = [Letter(0.25 * k, 0, anti_entropy.START) for k in range(1, starts)]
    run = exchanged(line(2), Rules(1.0, 0.0, 40.0, 1, 1), letters, 1, 1)
    sent = run.records[run.records["kind"] == anti_entropy.DIGEST]["source"]
    assert 38 <= (sent == 0).sum() <= 42


def test_time_to_know_grows_slowly_with_a_disk() -> None:
    """Push-pull between neighbours: about as many rounds as the network is wide, no more."""
    network = disk(n=100, radius=0.2, seed=2)
    letters = [Letter(0.0, 0, anti_entropy.PUBLISH, 0, 0)]
    run = exchanged(network, Rules(1.0, 0.5, 60.0, 1, 5), letters, 3, 1)
    assert len(run.told) == network.n - 1
    assert run.told["at"].max() < 25.0
