"""Counter-based broadcast against a slow oracle with the same random numbers, and its limits."""

from hypothesis import given
from hypothesis import strategies as st

from halfway.protocols import counter_broadcast
from halfway.protocols.counter_broadcast import Rules
from halfway.protocols.parts.application import PUBLISH, SUBSCRIBE
from halfway.world.graphs.network import Network
from tests.networks import disk, from_links
from tests.protocols.lone import HOP, Command, Driven, World, drive
from tests.protocols.slow_world import SlowWorld
from tests.protocols.worlds import networks

EVENTS = 3


def broadcast(network: Network, rules: Rules, seed: int, events: int = EVENTS) -> Driven:
    """A run in which every node subscribes to the one topic."""
    commands = [Command(0.0, row, SUBSCRIBE, 0) for row in range(network.n)]
    commands += [Command(e, e % network.n, PUBLISH, 0, e) for e in range(events)]
    return drive(
        World(
            network, counter_broadcast,
            lambda node_ids: counter_broadcast.state(node_ids, EVENTS, 1, seed),
            rules, commands, most=2,
        )
    )  # fmt: skip


class SlowCounterBroadcast(SlowWorld):
    """The protocol in plain Python."""

    def __init__(self, network: Network, rules: Rules, seed: int) -> None:
        super().__init__(network, seed, HOP)
        self.rules = rules
        self.copies: dict[tuple[int, int], int] = {}

    def receive(self, i: int, event: int, own: bool = False) -> None:
        """An event arrives, from a neighbour or from the application."""
        if (i, event) in self.copies:
            self.copies[i, event] += 1
            return
        self.copies[i, event] = 1
        self.after(self.rules.wait_s * self.random_state[i].real(), self.decide, i, event)
        if not own:
            self.delivered.append((self.now, i, event))

    def decide(self, i: int, event: int) -> None:
        """[Ni et al. 1999 §3.2] Repeat the event unless enough copies arrived during the wait."""
        if self.copies[i, event] < self.rules.enough:
            for z in self.near[i]:
                self.send(z, "copy", self.receive, event)


@given(
    networks(),
    st.builds(Rules, wait_s=st.sampled_from([0.0, 0.0031, 0.2]), enough=st.integers(1, 5)),
    st.integers(0, 2**64 - 1),
)
def test_it_agrees_with_the_slow_oracle(network: Network, rules: Rules, seed: int) -> None:
    """[Ni et al. 1999 §3.2] A random wait for each new event, in which copies count."""
    slow = SlowCounterBroadcast(network, rules, seed)
    for event in range(EVENTS):
        slow.after(event, slow.receive, event % network.n, event, True)
    slow.run()
    run = broadcast(network, rules, seed)
    delivered = zip(run.reports["at"], run.report_rows, run.reports["event"], strict=True)
    found = sorted((float(at), int(row), int(event)) for at, row, event in delivered)
    assert found == sorted(slow.delivered)
    assert len(run.received(counter_broadcast.COPY)) == slow.received["copy"]


@given(networks(), st.integers(0, 2**32))
def test_more_copies_than_neighbours_can_send_is_flooding(network: Network, seed: int) -> None:
    """[Ni et al. 1999 §3.2] Below the threshold a node repeats the event."""
    run = broadcast(network, Rules(0.05, network.n + 1), seed, events=1)
    assert len(run.received(counter_broadcast.COPY)) == network.degree.sum()


def test_enough_of_one_copy_silences_every_receiver() -> None:
    """[Ni et al. 1999 §3.2] A node with that many copies does not repeat the event."""
    star = from_links(5, [(0, z) for z in range(1, 5)])
    run = broadcast(star, Rules(0.05, 1), 1, events=1)
    assert len(run.received(counter_broadcast.COPY)) == 0


def test_a_dense_network_saves_most_transmissions() -> None:
    """[Ni et al. 1999 §3.2] The more copies a node has received, the less a further one covers."""
    network = disk(n=80, radius=0.35, seed=3)
    sent = [
        len(broadcast(network, Rules(0.05, enough), 1, events=1).received(counter_broadcast.COPY))
        for enough in (2, 4, 1000)
    ]
    assert sent[0] < sent[1] < sent[2] / 2
