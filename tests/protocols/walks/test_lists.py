"""Lists of members on the walks: complete in MERGE over random histories, and incomplete in STOP.

    python -m tests.protocols.walks.test_lists 0 1000

runs the histories of these seeds and prints each one that fails.
"""

import sys

import pytest

from halfway.protocols.walks.messages import GO_ON, STOP
from tests.protocols.walks.group_histories import failure, lists_of, wrong_paths


def run(first: int, last: int) -> list[str]:
    """The failures of the histories of these seeds."""
    return [line for seed in range(first, last) if (line := failure(seed))]


def test_in_merge_each_member_lists_all_others_with_a_path_to_each() -> None:
    assert run(0, 20) == []


@pytest.mark.slow
def test_in_merge_a_thousand_histories_have_no_wrong_list() -> None:
    assert run(0, 1000) == []


def test_in_stop_lists_are_incomplete_and_paths_end_at_their_members() -> None:
    found = [lists_of(seed, STOP) for seed in range(20)]
    assert [way for lists in found for way in wrong_paths(lists)] == []
    assert 0.4 < sum(lists.completeness for lists in found) / len(found) < 0.9


def test_in_go_on_walks_find_more_members() -> None:
    found = [lists_of(seed, GO_ON) for seed in range(20)]
    assert [way for lists in found for way in wrong_paths(lists)] == []
    assert sum(lists.completeness for lists in found) / len(found) > 0.95


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in run(int(sys.argv[1]), int(sys.argv[2])))
