"""Roles of publishers that begin and end during a run: what each adapter commands its nodes."""

import pytest

from halfway.adapters.registry import named
from halfway.world.workload.demand import Listed
from halfway.world.workload.groups.group_workload import LINGER_S, Groups, Stay

# Row 3 is in both groups, one after the other; row 5 is in the second one to the end.
STAYS = [Stay(3, 0, 10.0, 40.0), Stay(3, 1, 50.0, 90.0), Stay(5, 1, 20.0)]
OVER_S = 90.0 + LINGER_S


def commanded(system: str, *kinds: str) -> list[tuple[float, int, str, int]]:
    """The commands of these kinds in order of time: seconds, row, kind and topic."""
    adapter = named(system).adapter_with({})
    names = adapter.module.KINDS.names
    some = adapter.start_up_commands(Groups(STAYS))
    rows = zip(*(column.tolist() for column in some[:4]), strict=True)
    found = [(at, row, names[kind], topic) for at, row, kind, topic in rows if names[kind] in kinds]
    return sorted(found)


@pytest.mark.parametrize(
    ("system", "ends"),
    [
        ("directional-walk", "withdraw"),
        ("random-walk", "withdraw"),
        ("georendezvous", "unadvertise"),
    ],
)
def test_a_role_by_topic_begins_with_the_stay_and_ends_after_it(system: str, ends: str) -> None:
    assert commanded(system, "advertise", ends) == [
        (10.0, 3, "advertise", 0),
        (20.0, 5, "advertise", 1),
        (40.0 + LINGER_S, 3, ends, 0),
        (50.0, 3, "advertise", 1),
        (OVER_S, 3, ends, 1),
    ]


def test_a_node_of_the_walk_overlay_is_a_publisher_while_it_has_a_stay() -> None:
    assert commanded("walk-overlay", "join", "withdraw") == [
        (10.0, 3, "join", -1), (20.0, 5, "join", -1), (OVER_S, 3, "withdraw", -1)
    ]  # fmt: skip


@pytest.mark.parametrize(
    "system", ["flooding", "directional-walk", "walk-overlay", "georendezvous"]
)
def test_subscriptions_follow_the_stays(system: str) -> None:
    found = [(at, row, kind, topic) for at, row, kind, topic in commanded(
        system, "subscribe", "unsubscribe"
    )]  # fmt: skip
    begins = [one for one in found if one[2] == "subscribe"]
    assert begins == [
        (10.0, 3, "subscribe", 0), (20.0, 5, "subscribe", 1), (50.0, 3, "subscribe", 1)
    ]  # fmt: skip
    ends = [(at, row, topic) for at, row, kind, topic in found if kind == "unsubscribe"]
    assert ends == [(40.0, 3, 0), (90.0, 3, 1)]


def test_publishers_without_a_period_publish_all_the_time() -> None:
    adapter = named("walk-overlay").adapter_with({})
    some = adapter.start_up_commands(Listed([(1, 0)], [(5.0, 2, 0)]))
    kinds = [adapter.module.KINDS.names[kind] for kind in some.kind.tolist()]
    assert sorted(kinds) == ["join", "subscribe"]
    assert some.at.tolist() == [0.0, 0.0]
