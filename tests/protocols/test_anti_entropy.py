"""Anti-entropy against a slow oracle with the same random numbers: each event reaches all nodes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.message import START
from halfway.protocols.anti_entropy import handler as anti_entropy
from halfway.protocols.anti_entropy.handler import Rules
from halfway.protocols.anti_entropy.messages import DIGEST, EVENT, PAGE, REQUEST, ROUND, SPAN
from halfway.protocols.parts.application import DELIVERED, PUBLISH, SUBSCRIBE
from halfway.world.graphs.network import Network
from tests.networks import disk, line
from tests.protocols.lone import HOP, Command, Driven, World, drive
from tests.protocols.slow_world import SlowWorld
from tests.protocols.worlds import component, networks

Held = dict[int, set[int]]  # publisher -> events


def exchanged(
    network: Network, rules: Rules, commands: list[Command], seed: int, until: float
) -> Driven:
    """A run in which every node subscribes to the one topic."""
    rows = range(network.n)
    first = [Command(0.0, row, SUBSCRIBE, 0) for row in rows]
    first += [Command(0.0, row, START) for row in rows]
    publishers = len({command.row for command in commands})
    return drive(
        World(
            network, anti_entropy, lambda names: anti_entropy.state(names, publishers, 1, seed),
            rules, first + commands, most=max(rules.pages, rules.batch) + 1, until=until,
        )
    )  # fmt: skip


def held(run: Driven, row: int) -> Held:
    """The events of each publisher that a node holds."""
    found = {}
    for there in run.state.held.of[row]:
        bits, newest = int(there["bits"]), int(there["newest"])
        events = {newest - behind for behind in range(SPAN) if bits >> behind & 1}
        if there["publisher"] >= 0:
            found[int(there["publisher"])] = events
    return found


class SlowExchange(SlowWorld):
    """The protocol in plain Python: sets instead of bits."""

    def __init__(self, network: Network, rules: Rules, seed: int) -> None:
        super().__init__(network, seed, HOP)
        self.rules = rules
        self.held: list[Held] = [{} for _ in self.near]
        self.newest: list[dict[int, int]] = [{} for _ in self.near]
        self.turn = [-1 for _ in self.near]

    def start(self, i: int) -> None:
        """Begin at a random time in the first period."""
        self.after(self.rules.period_s * self.random_state[i].real(), self.round, i)

    def round(self, i: int) -> None:
        """Compare with one neighbour: a few publishers at a time, in turn by id."""
        if self.near[i]:
            partner = self.near[i][self.random_state[i].index(len(self.near[i]))]
            for _ in range(self.rules.pages):
                after = self.turn[i]
                page = sorted(p for p in self.held[i] if p > after)[:PAGE]
                rest = [p for p in self.held[i] if p > max([after, *page])]
                upto = max([after, *page]) if rest else 2**31 - 1
                entries = {p: (self.newest[i][p], set(self.held[i][p])) for p in page}
                self.send(partner, "digest", self.compare, i, after, upto, entries)
                self.turn[i] = upto if rest else -1
                if not rest:
                    break
        wait = self.rules.period_s + self.rules.jitter_s * self.random_state[i].real()
        self.after(wait, self.round, i)

    def know_of(self, i: int, publisher: int, event: int) -> None:
        """The newest event moves the window; events below it are forgotten."""
        newest = max(self.newest[i].get(publisher, -1), event)
        self.newest[i][publisher] = newest
        here = self.held[i].get(publisher, set())
        self.held[i][publisher] = {e for e in here if e > newest - SPAN}

    def compare(
        self, i: int, sender: int, after: int, upto: int, entries: dict[int, tuple[int, set[int]]]
    ) -> None:
        """Push what the sender lacks, request what this node lacks."""
        push, lacking = [], []
        for publisher, (newest, theirs) in entries.items():
            self.know_of(i, publisher, newest)
            mine, least = self.held[i][publisher], self.newest[i][publisher] - SPAN
            push += [(publisher, e) for e in sorted(mine - theirs)]
            lacking += [(publisher, e) for e in sorted(theirs - mine) if e > least]
        for publisher in sorted(p for p in self.held[i] if after < p <= upto and p not in entries):
            push += [(publisher, e) for e in sorted(self.held[i][publisher])]
        for one in push[: self.rules.batch]:
            self.send(sender, "event", self.receive, *one)
        if lacking:
            self.send(sender, "request", self.answer, i, lacking[: self.rules.batch])

    def answer(self, i: int, sender: int, lacking: list[tuple[int, int]]) -> None:
        """Send what was requested."""
        for publisher, event in lacking:
            if event in self.held[i].get(publisher, ()):
                self.send(sender, "event", self.receive, publisher, event)

    def receive(self, i: int, publisher: int, event: int, own: bool = False) -> None:
        """An event arrives, from a neighbour or from the application."""
        if event <= self.newest[i].get(publisher, -1) - SPAN:
            return
        self.know_of(i, publisher, event)
        if event not in self.held[i][publisher]:
            self.held[i][publisher].add(event)
            if not own:
                self.delivered.append((self.now, i, event))


RULES = st.builds(
    Rules,
    period_s=st.just(1.0),
    jitter_s=st.sampled_from([0.25, 1.0]),
    pages=st.integers(0, 3),
    batch=st.sampled_from([0, 1, 2, 50]),
)


@given(
    networks(most=8),
    RULES,
    st.integers(0, 2**64 - 1),
    st.sampled_from([1, 40, SPAN, SPAN + 1, 65, 600]),
    st.sampled_from([0.5, 8.0]),
)
def test_it_agrees_with_the_slow_oracle(
    network: Network, rules: Rules, seed: int, events: int, until: float
) -> None:
    """[Demers et al. 1987 §1.3] Push and pull in plain Python, also where numbers outgrow the
    window, so that all nodes forget the old ones.
    """
    ids = {0, events - 1, events // 2, min(31, events - 1), min(32, events - 1), events * 3 // 4}
    order = sorted(ids)
    commands = [Command(k / 4, e % network.n, PUBLISH, 0, e) for k, e in enumerate(order)]
    commands += [Command(2 + k / 8, 0, PUBLISH, 0, 1000 + 9 * e) for k, e in enumerate(order)]
    slow = SlowExchange(network, rules, seed)
    for row in range(network.n):
        slow.after(0.0, slow.start, row)
    for command in commands:
        slow.after(command.at, slow.receive, command.row, command.row, command.event, True)
    slow.run(until)
    run = exchanged(network, rules, commands, seed, until)
    delivered = zip(run.reports["at"], run.report_rows, run.reports["event"], strict=True)
    assert sorted((float(at), int(row), int(event)) for at, row, event in delivered) == sorted(
        slow.delivered
    )
    for row in range(network.n):
        assert held(run, row) == slow.held[row]
    for kind, name in ((DIGEST, "digest"), (REQUEST, "request"), (EVENT, "event")):
        assert len(run.received(kind)) == slow.received[name]


@given(st.integers(0, 2**32), st.integers(1, 3))
def test_the_window_follows_the_newest_event_to_the_last_number(seed: int, pages: int) -> None:
    """No node holds an old event, all hold the newest ones, up to the largest int32."""
    last = 2**31 - 1
    ids = [5, 300, 10_000, last - SPAN + 1, last - 3, last]
    commands = [Command(k / 4, 2, PUBLISH, 0, event) for k, event in enumerate(ids)]
    commands += [Command(5.0, 4, PUBLISH, 0, 0)]
    run = exchanged(disk(6, 0.6, 1), Rules(1.0, 0.5, pages, 3), commands, seed, 80.0)
    for row in range(6):
        assert held(run, row) == {2: {last - SPAN + 1, last - 3, last}, 4: {0}}


@given(networks(connected=False, most=10), st.integers(0, 2**32), st.integers(1, 3))
def test_each_component_ends_with_all_its_events(network: Network, seed: int, batch: int) -> None:
    """[Demers et al. 1987 §1.3] Every pair that compares resolves its differences; with one page a
    round as well, and more publishers than fit a page."""
    events = 6
    commands = [Command(e / 4, e % network.n, PUBLISH, 0, e) for e in range(events)]
    run = exchanged(network, Rules(1.0, 0.5, 1, batch), commands, seed, 300.0)
    expected = []
    for event in range(events):
        publisher = event % network.n
        rows = component(network, publisher)
        assert {
            row for row in range(network.n) if event in held(run, row).get(publisher, ())
        } == rows
        expected += [(row, 0, event) for row in rows - {publisher}]
    assert run.reported(DELIVERED) == sorted(expected)


def test_a_later_epoch_replaces_the_database_of_its_publisher() -> None:
    """[Demers et al. 1987 §1.3] The later value wins: a publisher that lost its memory begins again
    with 0, and its older events do not come back.
    """
    state = anti_entropy.state(np.arange(3, dtype=np.int32), 1, 1, 1)
    network, rules = line(3), Rules(1.0, 0.0, 1, 5)
    commands = [Command(0.0, row, START) for row in range(3)]
    commands += [Command(0.0, 0, PUBLISH, 0, e) for e in range(5)]
    world = World(network, anti_entropy, lambda _: state, rules, commands, until=20.0)
    drive(world)
    state.held.of.epoch[0], state.held.of.newest[0], state.held.of.bits[0] = 2, 0, 1
    run = drive(World(network, anti_entropy, lambda _: state, rules, commands[:3], until=20.0))
    for row in range(3):
        assert held(run, row) == {0: {0}}
        assert run.state.held.of[row, 0].epoch == 2


def test_a_full_window_is_sent_in_batches() -> None:
    """[Demers et al. 1987 §1.3] Push: every bit that a digest has; then nothing more is sent."""
    commands = [Command(0.0, 0, PUBLISH, 0, e) for e in range(SPAN)]
    run = exchanged(line(2), Rules(1.0, 0.0, 1, 20), commands, 1, 20.0)
    assert held(run, 1) == {0: set(range(SPAN))}
    assert len(run.received(EVENT)) == SPAN


@pytest.mark.parametrize("starts", [1, 3])
def test_a_second_start_replaces_the_first(starts: int) -> None:
    """[Demers et al. 1987 §1.3] A node acts once per period, also after more starts."""
    commands = [Command(0.25 * k, 0, START) for k in range(1, starts)]
    run = exchanged(line(2), Rules(1.0, 0.0, 1, 1), commands, 1, 40.0)
    sent = run.records[run.records["kind"] == DIGEST]["source"]
    assert 38 <= (sent == 0).sum() <= 42
    assert (run.records["kind"] == ROUND).sum() >= 80


def test_an_event_reaches_a_disk_in_about_as_many_rounds_as_it_has_hops() -> None:
    """[Demers et al. 1987 §1.3] Push-pull, here between neighbours: not many more rounds than the
    diameter."""
    network = disk(n=100, radius=0.2, seed=2)
    commands = [Command(0.0, 0, PUBLISH, 0, 0)]
    run = exchanged(network, Rules(1.0, 0.5, 1, 5), commands, 3, 60.0)
    assert len(run.reports) == network.n - 1
    assert run.reports["at"].max() < 25.0
