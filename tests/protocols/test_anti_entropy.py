"""Anti-entropy against a slow oracle with the same random numbers: each event reaches all nodes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.message import START
from halfway.protocols import anti_entropy
from halfway.protocols.anti_entropy import PAGE, Rules
from halfway.protocols.application import DELIVERED, PUBLISH, SUBSCRIBE
from halfway.world.graphs.network import Network
from tests.networks import disk, line
from tests.protocols.lone import HOP, Command, Driven, World, drive
from tests.protocols.slow_world import SlowWorld
from tests.protocols.worlds import component, networks


def exchanged(
    network: Network, rules: Rules, commands: list[Command], seed: int, window: int
) -> Driven:
    """A run in which every node subscribes to the one topic."""
    rows = range(network.n)
    first = [Command(0.0, row, SUBSCRIBE, 0) for row in rows]
    first += [Command(0.0, row, START) for row in rows]
    return drive(
        World(
            network, anti_entropy, lambda names: anti_entropy.state(names, window, 1, seed),
            rules, first + commands,
            most=max(rules.pages, rules.batch) + 1,
        )
    )  # fmt: skip


def held(run: Driven, row: int) -> set[int]:
    """The events of a node's window that it holds."""
    state = run.state
    floor = int(state.newest[row]) - state.held.shape[1]
    return {int(e) for e in state.held[row] if e >= 0 and e > floor}


class SlowExchange(SlowWorld):
    """The protocol in plain Python: sets instead of bits."""

    def __init__(self, network: Network, rules: Rules, seed: int, window: int) -> None:
        super().__init__(network, seed, HOP)
        self.rules = rules
        self.held: list[set[int]] = [set() for _ in self.near]
        self.newest = [-1 for _ in self.near]
        self.room = -(-window // PAGE) * PAGE
        self.turn = [0 for _ in self.near]

    def start(self, i: int) -> None:
        """Begin at a random time in the first period."""
        self.plan(i, self.rules.period_s * self.random_state[i].real())

    def plan(self, i: int, wait: float) -> None:
        """The next round, unless it is after the end."""
        if self.now + wait <= self.rules.until_s:
            self.after(wait, self.round, i)

    def round(self, i: int) -> None:
        """Compare with one neighbour: pages of the window in turn, the newest first."""
        if self.near[i]:
            partner = self.near[i][self.random_state[i].index(len(self.near[i]))]
            oldest = max(self.newest[i] - self.room + 1, 0)
            pages = list(range(max(self.newest[i], 0) // PAGE, oldest // PAGE - 1, -1))
            for _ in range(min(self.rules.pages, len(pages))):
                behind = self.turn[i] % len(pages)
                page = pages[behind]
                mine = {e for e in self.held[i] if e // PAGE == page}
                self.send(partner, "digest", self.compare, i, page, mine, self.newest[i])
                self.turn[i] = (behind + 1) % len(pages)
        self.plan(i, self.rules.period_s + self.rules.jitter_s * self.random_state[i].real())

    def know_of(self, i: int, event: int) -> None:
        """The newest event moves the window; events below it are forgotten."""
        self.newest[i] = max(self.newest[i], event)
        self.held[i] = {e for e in self.held[i] if e > self.newest[i] - self.room}

    def compare(self, i: int, sender: int, page: int, theirs: set[int], newest: int) -> None:
        """Push what the sender lacks, request what this node lacks."""
        self.know_of(i, newest)
        mine = {e for e in self.held[i] if e // PAGE == page}
        theirs = {e for e in theirs if e > self.newest[i] - self.room}
        for e in sorted(mine - theirs)[: self.rules.batch]:
            self.send(sender, "event", self.receive, e)
        if theirs - mine:
            lacking = sorted(theirs - mine)[: self.rules.batch]
            self.send(sender, "request", self.answer, i, lacking)

    def answer(self, i: int, sender: int, lacking: list[int]) -> None:
        """Send what was requested."""
        for e in [e for e in lacking if e in self.held[i]][: self.rules.batch]:
            self.send(sender, "event", self.receive, e)

    def receive(self, i: int, event: int, own: bool = False) -> None:
        """An event arrives, from a neighbour or from the application."""
        self.know_of(i, event)
        if event not in self.held[i] and event > self.newest[i] - self.room:
            self.held[i].add(event)
            if not own:
                self.delivered.append((self.now, i, event))


RULES = st.builds(
    Rules,
    period_s=st.just(1.0),
    jitter_s=st.sampled_from([0.25, 1.0]),
    until_s=st.sampled_from([0.5, 8.0]),
    pages=st.integers(0, 3),
    batch=st.sampled_from([0, 1, 2, 50]),
)


@given(
    networks(most=8),
    RULES,
    st.integers(0, 2**64 - 1),
    st.sampled_from([1, 40, 256, 257, 600, 2000]),
    st.sampled_from([1, 256, 257, 2000]),
)
def test_it_agrees_with_the_slow_oracle(
    network: Network, rules: Rules, seed: int, events: int, window: int
) -> None:
    """Also where ids outgrow the window, so that all nodes forget the old ones."""
    ids = {0, events - 1, events // 2, min(31, events - 1), min(32, events - 1), events * 3 // 4}
    commands = [Command(k / 2, e % network.n, PUBLISH, 0, e) for k, e in enumerate(sorted(ids))]
    slow = SlowExchange(network, rules, seed, window)
    for row in range(network.n):
        slow.after(0.0, slow.start, row)
    for command in commands:
        slow.after(command.at, slow.receive, command.row, command.event, True)
    slow.run()
    run = exchanged(network, rules, commands, seed, window)
    delivered = zip(run.reports["at"], run.report_rows, run.reports["event"], strict=True)
    assert sorted((float(at), int(row), int(event)) for at, row, event in delivered) == sorted(
        slow.delivered
    )
    for row in range(network.n):
        assert held(run, row) == slow.held[row]
    for kind, name in ((2, "digest"), (7, "request"), (8, "event")):
        assert len(run.received(kind)) == slow.received[name]


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_the_window_follows_the_newest_event_to_the_last_id(seed: int, pages: int) -> None:
    """No node holds an old event, all hold the newest ones, up to the largest int32."""
    last = 2**31 - 1
    ids = [5, 300, 10_000, last - 255, last - 3, last]
    commands = [Command(e / 4, e % 6, PUBLISH, 0, ids[e]) for e in range(len(ids))]
    run = exchanged(disk(6, 0.6, 1), Rules(1.0, 0.5, 80.0, pages, 3), commands, seed, PAGE)
    for row in range(6):
        assert held(run, row) == {last - 255, last - 3, last}


@given(networks(connected=False, most=10), st.integers(0, 2**32), st.integers(1, 3))
def test_each_component_ends_with_all_its_events(network: Network, seed: int, batch: int) -> None:
    """[Demers et al. 1987 §1.3] Every pair that compares resolves its differences."""
    events = 6
    commands = [Command(e / 4, e % network.n, PUBLISH, 0, e) for e in range(events)]
    run = exchanged(network, Rules(1.0, 0.5, 200.0, 1, batch), commands, seed, events)
    expected = []
    for event in range(events):
        rows = component(network, event % network.n)
        assert set(np.flatnonzero(run.state.held[:, event] == event)) == rows
        expected += [(row, 0, event) for row in rows - {event % network.n}]
    assert run.reported(DELIVERED) == sorted(expected)


def test_an_event_after_the_last_round_stays_with_its_publisher() -> None:
    commands = [Command(99.0, 0, PUBLISH, 0, 0)]
    run = exchanged(line(3), Rules(1.0, 0.0, 50.0, 1, 5), commands, 1, 1)
    assert (run.state.held[:, 0] >= 0).tolist() == [True, False, False]
    assert run.records["at"][run.records["kind"] == anti_entropy.ROUND].max() <= 50.0


def test_a_full_window_is_sent_in_batches() -> None:
    """Every bit of the eight integers, the sign bits among them; then nothing more is sent."""
    commands = [Command(0.0, 0, PUBLISH, 0, e) for e in range(PAGE)]
    run = exchanged(line(2), Rules(1.0, 0.0, 20.0, 1, 20), commands, 1, PAGE)
    assert (run.state.held == np.arange(PAGE)).all()
    assert len(run.received(anti_entropy.EVENT)) == PAGE


@pytest.mark.parametrize("starts", [1, 3])
def test_a_second_start_replaces_the_first(starts: int) -> None:
    commands = [Command(0.25 * k, 0, START) for k in range(1, starts)]
    run = exchanged(line(2), Rules(1.0, 0.0, 40.0, 1, 1), commands, 1, 1)
    sent = run.records[run.records["kind"] == anti_entropy.DIGEST]["source"]
    assert 38 <= (sent == 0).sum() <= 42


def test_an_event_reaches_a_disk_in_about_as_many_rounds_as_it_has_hops() -> None:
    """[Demers et al. 1987 §1.3] Push-pull, here between neighbours: not many more rounds than the
    diameter."""
    network = disk(n=100, radius=0.2, seed=2)
    commands = [Command(0.0, 0, PUBLISH, 0, 0)]
    run = exchanged(network, Rules(1.0, 0.5, 60.0, 1, 5), commands, 3, 1)
    assert len(run.reports) == network.n - 1
    assert run.reports["at"].max() < 25.0
