"""Lists of members on the walks: complete in MERGE over random histories, and incomplete in STOP.

    python -m tests.protocols.walks.test_lists 0 1000
    python -m tests.protocols.walks.test_lists 0 1000 churn
    python -m tests.protocols.walks.test_lists 0 1000 roles
    python -m tests.protocols.walks.test_lists 0 1000 stop

The first command runs the histories of these seeds in MERGE and prints each one that fails. In the
second one, nodes also crash, and links are cut. In the third one, they do, and members have one
role or both. The fourth one prints how complete the lists are in an interpretation: `merge`, `stop`
or `go-on`.
"""

import sys

import numpy as np
import pytest

from halfway.pipeline.statistics.estimates import mean_interval
from halfway.protocols.walks.messages import GO_ON, MERGE, STOP
from tests.protocols.walks.group_histories import failure, lists_of, wrong_paths


def run(first: int, last: int, *, churn: bool = False, mixed: bool = False) -> list[str]:
    """The failures of the histories of these seeds."""
    found = (failure(seed, churn=churn, mixed=mixed) for seed in range(first, last))
    return [line for line in found if line]


def completeness(first: int, last: int, at_meeting: int) -> str:
    """The share of the other members that a member lists in an interpretation, over these seeds."""
    shares, wrong = np.ones(last - first), 0
    for seed in range(first, last):
        lists = lists_of(seed, at_meeting)
        shares[seed - first] = lists.completeness
        wrong += bool(wrong_paths(lists))
    mean, low, high = mean_interval(shares, bounds=(0.0, 1.0))
    return (
        f"share {mean:.4f} ({low:.4f} to {high:.4f}), {(shares < 1.0).sum()} of {len(shares)} "
        f"histories with incomplete lists, {wrong} with wrong paths"
    )


def test_in_merge_each_member_lists_all_others_with_a_path_to_each() -> None:
    """[drw §2] "each node gets the list of all the members of the group", with a path to each."""
    assert run(0, 20) == []


@pytest.mark.slow
def test_in_merge_a_thousand_histories_have_no_wrong_list() -> None:
    """[drw §2] "each node gets the list of all the members of the group"."""
    assert run(0, 1000) == []


def test_in_merge_members_that_are_up_list_each_other_after_crashes_and_cuts() -> None:
    """[drw §2] "membership must be dynamic": crashes and cut links."""
    assert run(0, 20, churn=True) == []


@pytest.mark.slow
def test_in_merge_two_thousand_histories_with_churn_have_no_wrong_list() -> None:
    """[drw §2] "membership must be dynamic"."""
    assert run(0, 2000, churn=True) == []


def test_in_merge_a_member_that_publishes_has_a_path_to_each_one_that_subscribes() -> None:
    """[drw §2] "provides the routing paths towards the nodes": to those of the other side."""
    assert run(0, 20, mixed=True) == []
    one_role = [lists_of(seed, mixed=True) for seed in range(5)]
    viewers = [(one, row) for one in one_role for row, stay in one.members.items()
               if stay.publishes != stay.subscribes]  # fmt: skip
    assert len(viewers) > 5
    assert sum(len(one.known(row)) for one, row in viewers) > 5
    assert all(one.listed[row] == set() for one, row in viewers)


@pytest.mark.slow
def test_in_merge_two_thousand_histories_with_mixed_roles_and_churn_have_no_wrong_list() -> None:
    """[drw §2] "membership must be dynamic": a member with one role lists the other side."""
    assert run(0, 2000, churn=True, mixed=True) == []


def test_in_stop_lists_are_incomplete_and_paths_end_at_their_members() -> None:
    """[drw §3] "It then stops the dissemination of information": as printed, lists have gaps."""
    found = [lists_of(seed, STOP) for seed in range(20)]
    assert [way for lists in found for way in wrong_paths(lists)] == []
    assert 0.4 < sum(lists.completeness for lists in found) / len(found) < 0.9


def test_in_go_on_walks_find_more_members() -> None:
    found = [lists_of(seed, GO_ON) for seed in range(20)]
    assert [way for lists in found for way in wrong_paths(lists)] == []
    assert sum(lists.completeness for lists in found) / len(found) > 0.95


if __name__ == "__main__":
    seeds = int(sys.argv[1]), int(sys.argv[2])
    if sys.argv[3:] in (["churn"], ["roles"]):
        lines = run(*seeds, churn=True, mixed=sys.argv[3] == "roles")
        sys.stdout.writelines(f"{line}\n" for line in lines)
    elif len(sys.argv) > 3:
        at_meeting = {"merge": MERGE, "stop": STOP, "go-on": GO_ON}[sys.argv[3]]
        sys.stdout.write(f"{completeness(*seeds, at_meeting)}\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in run(*seeds))
