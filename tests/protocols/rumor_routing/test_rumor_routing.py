"""Rumor routing: paths lead to publishers, queries that live long enough arrive, data follow."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.message import START
from halfway.protocols.parts.application import DELIVERED, PUBLISH, SUBSCRIBE, UNSUBSCRIBE
from halfway.protocols.rumor_routing import handler as rumor
from halfway.protocols.rumor_routing.messages import AGENT, ANSWER, ATTACHED, QUERY, UNANSWERED
from halfway.protocols.rumor_routing.state import TRAILS_EACH
from halfway.world.graphs.network import Network
from tests.networks import disk, from_links, line
from tests.protocols.lone import Command, Driven, World, drive
from tests.protocols.worlds import component, networks

EVENTS, TOPICS = 8, 3
NO_AGENTS = rumor.Rules(
    agent_probability=0.0, agent_steps=0, query_steps=2000, query_timeout_s=50.0, query_retries=3
)


def routed(
    network: Network, rules: rumor.Rules, commands: list[Command], seed: int, **memory: int
) -> Driven:
    """A run of rumor routing."""
    return drive(
        World(
            network, rumor, lambda node_ids: rumor.state(node_ids, EVENTS, TOPICS, seed, **memory),
            rules, commands, most=66,
        )
    )  # fmt: skip


def agents_only(network: Network, seed: int, publishers: list[int], steps: int) -> Driven:
    """Each publisher of its own topic sends an agent, one after the other."""
    commands = [
        Command(10.0 * topic, row, PUBLISH, topic, topic) for topic, row in enumerate(publishers)
    ]
    return routed(network, rumor.Rules(1.0, steps, 0, 1.0, 0), commands, seed)


def check_paths(run: Driven, network: Network, publishers: list[int]) -> None:
    """Every path follows links, each hop closer, down to 0 at the publisher of its topic."""
    for topic, publisher in enumerate(publishers):
        for row in range(network.n):
            length = run.state.distance[row, topic]
            assert (length == -1) == (run.state.next_hop[row, topic] == -1)
            while length > 0:
                hop = int(run.state.next_hop[row, topic])
                assert hop in network.neighbours(row)
                assert 0 <= run.state.distance[hop, topic] < length
                row, length = hop, run.state.distance[hop, topic]  # noqa: PLW2901
            assert length == -1 or row == publisher


@given(networks(), st.integers(0, 2**64 - 1), st.integers(0, 60), st.data())
def test_paths_get_closer_hop_by_hop(
    network: Network, seed: int, steps: int, data: st.DataObject
) -> None:
    """[Braginsky & Estrin 2002] An agent and a node keep the shorter one of two paths."""
    row = st.integers(0, network.n - 1)
    publishers = data.draw(st.lists(row, min_size=1, max_size=TOPICS))
    run = agents_only(network, seed, publishers, steps)
    check_paths(run, network, publishers)
    assert len(run.received(AGENT)) == steps * len(publishers)


def test_agents_make_their_steps_and_leave_a_path() -> None:
    """[Braginsky & Estrin 2002] On a ring an agent goes straight on, and every node it visits knows
    the path back."""
    ring = from_links(20, [(i, (i + 1) % 20) for i in range(20)])
    run = agents_only(ring, 1, [5], 8)
    rows = [5, *map(int, run.received(AGENT))]
    assert {(b - a) % 20 for a, b in pairwise(rows)} in ({1}, {19})
    assert [int(run.state.distance[row, 0]) for row in rows] == list(range(9))
    assert (run.state.distance[:, 0] >= 0).sum() == 9


def test_an_agent_carries_a_second_path() -> None:
    """[Braginsky & Estrin 2002] The agent of topic 1 starts where topic 0's ended. It carries both
    paths."""
    continued = 0
    for seed in range(8):
        run = agents_only(line(8), seed, [0, 3], 3)
        if list(run.received(AGENT)) == [1, 2, 3, 4, 5, 6]:
            continued += 1
            assert list(run.state.distance[:, 0]) == [0, 1, 2, 3, 4, 5, 6, -1]
            assert list(run.state.distance[:, 1]) == [-1, -1, -1, 0, 1, 2, 3, -1]
    assert continued > 0


def test_walkers_avoid_their_last_five_nodes_where_they_can() -> None:
    """[Braginsky & Estrin 2002] A walk goes straight by the nodes that it has seen; five here."""
    network = disk(n=80, radius=0.22, seed=5)
    run = agents_only(network, 4, [0], 200)
    rows = [0, *map(int, run.received(AGENT))]
    free = 0
    for place in range(6, len(rows)):
        past, here = set(rows[place - 6 : place - 1]), rows[place - 1]
        if set(map(int, network.neighbours(here))) - past:
            free += 1
            assert rows[place] not in past
    assert free > 100


@settings(max_examples=30)
@given(networks(), st.integers(0, 2**64 - 1), st.data(), st.booleans())
def test_with_a_long_life_every_query_arrives_and_all_data_with_it(
    network: Network, seed: int, data: st.DataObject, agents: bool
) -> None:
    """[Braginsky & Estrin 2002] A query walks until it meets a path or the source of the event."""
    row = st.integers(0, network.n - 1)
    publishers = data.draw(st.lists(row, min_size=2, max_size=2))
    wanted = data.draw(st.sets(st.tuples(row, st.integers(0, 1)), max_size=8))
    rules = NO_AGENTS._replace(agent_probability=0.5, agent_steps=5) if agents else NO_AGENTS
    commands = [Command(0.0, row, PUBLISH, t, t) for t, row in enumerate(publishers)]
    commands += [Command(0.0, row, PUBLISH, t, 2 + t) for t, row in enumerate(publishers)]
    commands += [Command(1.0, row, SUBSCRIBE, topic) for row, topic in sorted(wanted)]
    commands += [Command(900.0, row, PUBLISH, t, 4 + t) for t, row in enumerate(publishers)]
    run = routed(network, rules, commands, seed)
    others = [(row, topic) for row, topic in sorted(wanted) if row != publishers[topic]]
    assert [attached[:2] for attached in run.reported(ATTACHED)] == others
    assert run.reported(UNANSWERED) == []
    # Loops of a walk add no trail, and many queries of a subscription have few trails.
    assert run.state.trails.max() <= min(run.state.queries.sum(), TRAILS_EACH * len(wanted))
    # The answer has the latest event of the topic, not the earlier one.
    assert run.reported(DELIVERED) == sorted(
        (row, topic, event) for row, topic in others for event in (2 + topic, 4 + topic)
    )


@given(networks(connected=False), st.integers(0, 2**32), st.integers(0, 6), st.integers(0, 6))
def test_only_subscribed_events_arrive_and_each_query_ends(
    network: Network, seed: int, agent_steps: int, query_steps: int
) -> None:
    rules = rumor.Rules(0.7, agent_steps, query_steps, 1.0, 2)
    commands = [Command(e / 2, 0, PUBLISH, 1, e) for e in range(EVENTS)]
    commands += [Command(0.1, row, SUBSCRIBE, 1) for row in range(1, network.n)]
    run = routed(network, rules, commands, seed)
    delivered = run.reported(DELIVERED)
    attached = {row for row, _, _ in run.reported(ATTACHED)}
    given_up = {row for row, _, _ in run.reported(UNANSWERED)}
    assert len(delivered) == len(set(delivered))
    assert {topic for _, topic, _ in delivered} <= {1}
    assert attached <= component(network, 0)
    assert attached | given_up == set(range(1, network.n))
    assert not attached & given_up
    attaches = run.reports["kind"] == ATTACHED
    for row, at in zip(run.report_rows[attaches], run.reports["at"][attaches], strict=True):
        later = {(int(row), 1, event) for event in range(EVENTS) if event / 2 > at}
        assert later <= set(delivered)


def test_a_query_without_an_answer_is_repeated_and_given_up() -> None:
    """[Braginsky & Estrin 2002] The source of a query may send it again, or give up."""
    rules = rumor.Rules(0.0, 0, 4, 1.0, 3)
    run = routed(line(9), rules, [Command(0.0, 0, SUBSCRIBE, 2)], 1)
    assert len(run.received(QUERY)) == 4 * (1 + 3)
    assert run.reported(UNANSWERED) == [(0, 2, -1)]
    assert run.reports["at"] == pytest.approx(4.0)


def test_a_query_follows_a_path_once_it_has_met_it() -> None:
    """[Braginsky & Estrin 2002] The agent has gone to the end of a line; the query goes straight to
    the publisher."""
    commands = [Command(0.0, 0, PUBLISH, 0, 3), Command(5.0, 19, SUBSCRIBE, 0)]
    run = routed(line(20), rumor.Rules(1.0, 19, 19, 100.0, 0), commands, 1)
    assert list(run.received(QUERY)) == list(range(18, -1, -1))
    assert list(run.received(ANSWER)) == list(range(1, 20))
    assert list(run.reports["kind"]) == [ATTACHED, DELIVERED]
    assert list(run.reports["hops"]) == [38, 38]


def test_agents_raise_the_share_of_queries_that_arrive() -> None:
    """[Braginsky & Estrin 2002] The more agents, the more queries of the same life get through."""
    network = disk(n=150, radius=0.14, seed=2)

    def share(steps: int) -> float:
        arrived = 0
        for seed in range(12):
            commands = [Command(0.0, 75, PUBLISH, 0, 0)]
            commands += [Command(9.0, row, SUBSCRIBE, 0) for row in range(0, 150, 10)]
            run = routed(network, rumor.Rules(1.0, steps, 25, 9.0, 0), commands, seed)
            arrived += len(run.reported(ATTACHED))
        return arrived / (12 * 15)

    shares = [share(steps) for steps in (0, 20, 200)]
    assert shares == sorted(shares)
    assert shares[2] > shares[0] + 0.3


def test_a_full_table_replaces_its_oldest_entry_and_counts_it() -> None:
    star = from_links(7, [(0, z) for z in range(1, 7)])
    commands = [Command(0.0, 0, PUBLISH, 0, 0)]
    commands += [Command(row, row, SUBSCRIBE, 0) for row in range(1, 7)]
    commands += [Command(99.0, 0, PUBLISH, 0, 1)]
    run = routed(star, NO_AGENTS, commands, 1, branches=4)
    assert [row for row, _, event in run.reported(DELIVERED) if event == 1] == [3, 4, 5, 6]
    assert run.state.branches[0] == 6


def test_a_node_keeps_the_trails_of_the_latest_queries() -> None:
    """A subscriber repeats a query whose answer is still under way. The node in between keeps the
    trails of its four latest queries, so the answer arrives if it is to one of these."""
    rules = rumor.Rules(0.0, 0, 1, 1.0, 9)  # a query makes one step, to a node without a path
    run = routed(line(2), rules, [Command(0.0, 0, SUBSCRIBE, 0)], 1)
    assert run.state.queries[0] == 10
    assert run.state.trails[1] == TRAILS_EACH
    assert sorted(run.state.trail_number[1, :TRAILS_EACH] & 0xFFFF) == [6, 7, 8, 9]


def test_an_answer_on_a_replaced_trail_ends() -> None:
    """The hub has room for one trail. So a later visit of a query leaves a trail to a leaf that has
    a trail to the hub, and the answer would run between them for ever.
    """
    star = from_links(12, [(0, z) for z in range(1, 12)])
    rules = rumor.Rules(0.0, 0, 40, 5.0, 1)
    commands = [Command(0.0, row, SUBSCRIBE, 0) for row in range(2, 12)]
    commands += [Command(0.01, 1, PUBLISH, 0, 0)]
    circles = 0
    for seed in range(6):
        run = routed(star, rules, commands, seed, trails=1)
        answers = run.records[run.records["kind"] == ANSWER]
        assert answers["hops"].max(initial=0) <= 2 * 40
        circles += int((answers["hops"] == 2 * 40).any())
    assert circles > 0


def test_a_node_that_comes_back_repeats_its_open_queries_once() -> None:
    """Whether or not its timers died: those from before the start event are void."""
    commands = [Command(0.0, 0, SUBSCRIBE, topic) for topic in (0, 2)]
    commands += [Command(0.5, 0, int(START)), Command(50.0, 0, int(START))]
    run = routed(line(9), rumor.Rules(0.0, 0, 4, 1.0, 3), commands, 1)
    assert len(run.received(QUERY)) == 2 * 4 * (2 + 3)
    assert run.reported(UNANSWERED) == [(0, 0, -1), (0, 2, -1)]
    assert run.reports["at"] == pytest.approx(4.5)


def test_an_answered_query_is_not_repeated_after_a_crash() -> None:
    commands = [Command(0.0, 0, PUBLISH, 0, 0), Command(1.0, 3, SUBSCRIBE, 0)]
    commands += [Command(40.0, 3, int(START))]
    run = routed(line(4), NO_AGENTS, commands, 1)
    assert run.reported(ATTACHED) == [(3, 0, 0)]
    assert run.records["at"][run.records["kind"] == QUERY].max() < 40.0


@pytest.mark.parametrize("topics", [(2,), (0, 2)])
def test_the_end_of_a_subscription_ends_its_query(topics: tuple[int, ...]) -> None:
    """Also after a crash with kept memory. The queries of other topics continue."""
    commands = [Command(0.0, 0, SUBSCRIBE, topic) for topic in topics]
    commands += [Command(0.5, 0, UNSUBSCRIBE, 2), Command(0.6, 0, int(START))]
    run = routed(line(9), rumor.Rules(0.0, 0, 4, 1.0, 3), commands, 1)
    queries = run.records[run.records["kind"] == QUERY]
    assert (queries["topic"] == 2).sum() == 4
    assert (queries["topic"] == 0).sum() == 4 * (2 + 3) * (0 in topics)
    assert run.reported(UNANSWERED) == [(0, 0, -1)] * (0 in topics)


def test_a_subscription_has_one_open_query() -> None:
    """Each of five subscriptions sends a query, and the last one repeats its query."""
    commands = [Command(turn / 10, 0, SUBSCRIBE, 2) for turn in range(5)]
    commands += [Command(turn / 10 + 0.05, 0, UNSUBSCRIBE, 2) for turn in range(4)]
    run = routed(line(9), rumor.Rules(0.0, 0, 4, 1.0, 3), sorted(commands), 1)
    assert len(run.received(QUERY)) == 4 * (5 + 3)
    assert run.reported(UNANSWERED) == [(0, 2, -1)]
    assert run.reports["at"] == pytest.approx(4.4)


def test_an_agent_ends_a_cycle_that_a_loss_of_memory_made() -> None:
    """Node 2 forgets its distance 2 from the publisher, and learns the distance 4 from node 3,
    which leads back to node 2. A query ends after its steps. The next agent leads the next one on.
    """
    network = line(4)
    state = rumor.state(np.arange(4, dtype=np.int32), EVENTS, TOPICS, 1)
    state.distance[:, 0], state.next_hop[:, 0] = [0, 1, 4, 3], [0, 0, 3, 2]
    commands = [Command(0.0, 3, SUBSCRIBE, 0), Command(9.0, 0, PUBLISH, 0, 1)]
    rules = rumor.Rules(1.0, 3, 6, 20.0, 1)
    run = drive(World(network, rumor, lambda _: state, rules, commands, most=66))
    cycle = run.records["at"] < 9.0
    assert list(run.rows[(run.records["kind"] == QUERY) & cycle]) == [2, 3] * 3
    assert list(run.received(AGENT)) == [1, 2, 3]
    assert list(run.state.distance[:, 0]) == [0, 1, 2, 3]
    assert run.reported(ATTACHED) == [(3, 0, 1)]
