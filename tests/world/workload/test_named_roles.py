"""Tests of workload roles by name: topics, publishers, subscriptions and their periods."""

import math

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.world.workload.demand import Drawn, Listed
from halfway.world.workload.named_roles import (
    GivenRoles,
    NamedRole,
    Names,
    RolePeriods,
    publishing_rows,
    subscribing_rows,
    topic_names,
)

NODES = Names("node", ["gate", "roof", "yard"])
TOPICS = Names("topic", ["heat", "rain"])


def test_whole_numbers_are_topics_in_ascending_order_before_other_names() -> None:
    assert topic_names(["rain", "10", "2", "heat", "10"]) == ["2", "10", "heat", "rain"]


def test_a_publisher_without_a_topic_publishes_on_all_topics() -> None:
    some = [NamedRole("yard", None), NamedRole("gate", "rain")]
    assert publishing_rows([*some, *some], NODES, TOPICS, "here") == (((2,), (0, 2)), {})


def test_an_unknown_name_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(Problem, match="'rooof': the network has no such node") as caught:
        publishing_rows([NamedRole("rooof", None)], NODES, TOPICS, "here")
    assert caught.value.remedy.startswith("use one of its 3 nodes, such as roof")
    with pytest.raises(Problem, match="'rane': the workload has no such topic"):
        subscribing_rows([NamedRole("gate", "rane")], NODES, TOPICS, "here")


def test_only_subscriptions_that_begin_or_end_have_a_period() -> None:
    some = [NamedRole("gate", "heat"), NamedRole("roof", None, 3.0, 9.0)]
    rows, periods = subscribing_rows(some, NODES, TOPICS, "")
    assert rows == ((0, 1), (1,))
    assert periods == {(1, 0): (3.0, 9.0), (1, 1): (3.0, 9.0)}


@pytest.mark.parametrize(("from_s", "until_s"), [(5.0, 5.0), (-1.0, 5.0), (9.0, 3.0)])
def test_a_period_without_length_is_an_error(from_s: float, until_s: float) -> None:
    with pytest.raises(Problem, match="expected 0 <= from_s < until_s"):
        subscribing_rows([NamedRole("gate", None, from_s, until_s)], NODES, TOPICS, "")


def test_a_pair_that_is_given_twice_is_an_error() -> None:
    some = [NamedRole("gate", None), NamedRole("gate", "rain")]
    with pytest.raises(Problem, match="'gate' subscribes to topic 'rain' twice"):
        subscribing_rows(some, NODES, TOPICS, "")


def test_a_period_holds_from_its_beginning_until_before_its_end() -> None:
    periods = RolePeriods({(1, 0): (2.0, 4.0), (0, 1): (5.0, math.inf)}, 2)
    row, topic = np.array([1, 1, 1, 1, 0, 0, 2]), np.array([0, 0, 0, 0, 1, 1, 1])
    at = np.array([1.9, 2.0, 3.9, 4.0, 4.9, 1e9, 0.0])
    assert periods.hold(row, topic, at).tolist() == [False, True, True, False, False, True, True]
    assert periods.begin_times(row, topic).tolist() == [2.0] * 4 + [5.0] * 2 + [0.0]


def test_given_publishers_publish_and_the_drawn_subscribers_are_others() -> None:
    given = GivenRoles(publishers=((0, 4), (7,)))
    demand = Drawn(8, 2, 1, 6, events=200, seed=3, roles=given)
    events = demand.next_publications(1e9, 1000)
    assert set(events.row[events.topic == 0].tolist()) == {0, 4}
    assert set(events.row[events.topic == 1].tolist()) == {7}
    assert set(demand.subscribers[0].tolist()) == {1, 2, 3, 5, 6, 7}
    assert 7 not in demand.subscribers[1]


def test_too_few_nodes_remain_for_the_drawn_roles() -> None:
    with pytest.raises(Problem, match="subscribers_each = 7: expected at most 6"):
        Drawn(8, 1, 1, 7, roles=GivenRoles(publishers=((0, 4),)))


def test_given_subscribers_leave_the_publications_as_they_are() -> None:
    free = Drawn(30, 3, 2, 4, events=50, seed=9)
    rows = tuple(tuple(some.tolist()) for some in free.publishers)
    again = Drawn(30, 3, 2, 4, events=50, seed=9, roles=GivenRoles(publishers=rows))
    one, other = free.next_publications(1e9, 99), again.next_publications(1e9, 99)
    assert one.row.tolist() == other.row.tolist()
    assert one.topic.tolist() == other.topic.tolist()


def test_a_topic_without_publishers_has_no_events() -> None:
    demand = Drawn(8, 3, 1, 1, events=60, seed=1, roles=GivenRoles(publishers=((), (2,), ())))
    assert set(demand.next_publications(1e9, 99).topic.tolist()) == {1}
    with pytest.raises(Problem, match="publishers: expected at least one"):
        Drawn(8, 1, roles=GivenRoles(publishers=((),)))


def test_zipf_topics_are_drawn_in_proportion_to_a_power_of_their_rank() -> None:
    demand = Drawn(10, 4, 1, 1, events=20_000, seed=5, exponent=1.0)
    share = np.bincount(demand.next_publications(1e9, 1 << 20).topic, minlength=4) / 20_000
    expected = np.array([12, 6, 4, 3]) / 25
    assert np.abs(share - expected).max() < 5 * np.sqrt(0.25 / 20_000)


def test_payloads_follow_the_topic_or_the_list() -> None:
    drawn = Drawn(10, 2, 1, 1, events=30, seed=5, payload=(40, 7)).next_publications(1e9, 99)
    assert drawn.size is not None
    assert drawn.size.tolist() == [40 if topic == 0 else 7 for topic in drawn.topic]
    listed = Listed([(0, 0)], [(2.0, 1, 0), (1.0, 1, 0)], sizes=[200, 100])
    assert (found := listed.next_publications(9.0, 9)).size is not None
    assert found.size.tolist() == [100, 200]
    with pytest.raises(Problem, match="sizes: expected one for each of 2 publications, not 1"):
        Listed([], [(2.0, 1, 0), (1.0, 1, 0)], sizes=[200])
