"""The workload of groups: announcements, leaves, roles and drawn members."""

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.world.workload.groups.group_workload import LEAVES, LINGER_S, Groups, Stay, drawn_stays


def test_a_member_announces_itself_from_its_join_to_its_leave() -> None:
    groups = Groups([Stay(4, 0, 10.0, 60.0)], announce_s=5.0, lifetime_s=20.0, seed=3)
    found = groups.next_publications(1000.0, 1000)
    assert 10.0 <= found.t[0] <= 10.5
    gaps = np.diff(found.t)[:-1]
    assert len(gaps) >= 8
    assert (gaps >= 4.5).all()
    assert (gaps <= 5.5).all()
    assert len(set(gaps.tolist())) == len(gaps)
    assert groups.said[-1] == (0, LEAVES)
    assert found.t[-1] == 60.0
    assert sum(what == LEAVES for _, what in groups.said) == 1
    assert found.event.tolist() == list(range(len(found.t)))
    assert groups.next_at() == np.inf


def test_parts_are_the_whole_and_a_demand_begins_again() -> None:
    stays = drawn_stays(
        30, 2, 6, join_s=(0.0, 9.0), stay_s=40.0, publishes=True, subscribes=True, seed=1
    )
    groups = Groups(stays, 5.0, 20.0)
    whole = groups.next_publications(100.0, 10_000)
    again = groups.begun_again()
    parts = []
    while again.next_at() < 100.0:
        parts.append(again.next_publications(100.0, 7))
    assert np.concatenate([part.t for part in parts]).tolist() == whole.t.tolist()
    assert np.concatenate([part.row for part in parts]).tolist() == whole.row.tolist()
    assert again.said == groups.said


def test_roles_say_who_subscribes_and_who_publishes() -> None:
    stays = [Stay(5, 1, 2.0), Stay(3, 0, publishes=False), Stay(2, 0, 1.0, 9.0, subscribes=False)]
    groups = Groups(stays)
    assert [rows.tolist() for rows in groups.publishers] == [[2], [5]]
    assert [rows.tolist() for rows in groups.subscribers] == [[3], [5]]
    assert groups.periods == {(5, 1): (2.0, np.inf), (3, 0): (0.0, np.inf)}
    assert groups.publishing_periods == {(5, 1): (2.0, np.inf), (2, 0): (1.0, 9.0 + LINGER_S)}
    assert set(groups.next_publications(50.0, 1000).row.tolist()) == {2, 5}


def test_drawn_members_are_distinct_and_follow_their_seed() -> None:
    def drawn(seed: int) -> list[Stay]:
        return drawn_stays(
            20, 3, 8, join_s=(5.0, 15.0), stay_s=None, publishes=True, subscribes=True, seed=seed
        )

    stays = drawn(1)
    assert [sum(stay.group == group for stay in stays) for group in range(3)] == [8, 8, 8]
    assert len({(stay.row, stay.group) for stay in stays}) == 24
    assert all(5.0 <= stay.from_s <= 15.0 and stay.until_s == np.inf for stay in stays)
    assert drawn(1) == stays != drawn(2)


@pytest.mark.parametrize(
    ("stays", "announce_s", "lifetime_s", "words"),
    [
        ([Stay(1, 0), Stay(1, 0, 50.0)], 5.0, 20.0, "node 1 joins group 0 twice"),
        ([Stay(1, 0, 50.0, 50.0)], 5.0, 20.0, "from_s = 50, until_s = 50"),
        ([Stay(1, 0)], 5.0, 5.0, "lifetime_s = 5: expected a finite time above announce_s = 5"),
        ([Stay(1, 0)], -1.0, 5.0, "announce_s = -1"),
    ],
)
def test_what_does_not_fit_is_refused(
    stays: list[Stay], announce_s: float, lifetime_s: float, words: str
) -> None:
    with pytest.raises(Problem, match=words):
        Groups(stays, announce_s, lifetime_s)


def test_too_many_members_are_refused() -> None:
    with pytest.raises(Problem, match="members_each = 9: expected at most 8"):
        drawn_stays(8, 1, 9, join_s=(0, 1), stay_s=None, publishes=True, subscribes=True, seed=0)
