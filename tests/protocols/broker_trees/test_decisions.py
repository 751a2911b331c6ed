"""The decisions of the underlay-aware tree: each rule of the paper as a table."""

import itertools

import pytest

from halfway.protocols.broker_trees.paths.decisions import (
    ALTERNATE,
    BALANCES,
    CUT_OFF,
    DIRECT,
    FALLBACKS,
    GRANDPARENT,
    OTHERS,
    PARENT,
    SECOND,
    UPPER,
    balanced,
    fallback,
    is_nearer,
    next_hop_up,
)
from halfway.protocols.broker_trees.paths.peer_paths import waiting_s


@pytest.mark.parametrize(
    ("direct", "second", "upper", "expected"),
    [
        (True, True, True, DIRECT),
        (True, False, False, DIRECT),
        (False, True, True, SECOND),
        (False, True, False, SECOND),
        (False, False, True, UPPER),
        (False, False, False, CUT_OFF),
    ],
)
def test_the_next_hop_up(direct: bool, second: bool, upper: bool, expected: int) -> None:
    """[uas §4.1] "In case of failure of the direct link, the alternate link is used"."""
    assert next_hop_up(direct, second, upper) == expected


def chosen(rule: str, turn: int = 0, waits: tuple[float, float] = (0.0, 0.0)) -> int:
    """The balanced path, where the second one takes 3 s unloaded and the direct one 2 s."""
    return int(balanced(BALANCES.index(rule), turn, *waits, 2.0, 3.0))


def test_the_rules_of_balance() -> None:
    """[uas §5] "distributed among the two different paths": three interpretations."""
    assert {chosen("direct", turn, (9.0, 0.0)) for turn in (0, 1)} == {DIRECT}
    assert [chosen("halves", turn, (9.0, 0.0)) for turn in (0, 1)] == [DIRECT, SECOND]
    assert chosen("least-wait", waits=(0.5, 0.5)) == DIRECT
    assert chosen("least-wait", waits=(0.5, 0.4)) == SECOND
    assert chosen("earliest", waits=(0.5, 0.0)) == DIRECT
    assert chosen("earliest", waits=(1.0, 0.0)) == DIRECT
    assert chosen("earliest", waits=(1.1, 0.0)) == SECOND


def test_the_order_of_fallback_parents() -> None:
    """[uas §4.1] "has to join its grand parent or the alternate": two interpretations."""
    asked = [[fallback(attempt, first) for attempt in range(FALLBACKS)] for first in (False, True)]
    assert asked == [
        [GRANDPARENT, ALTERNATE, PARENT, OTHERS],
        [ALTERNATE, GRANDPARENT, PARENT, OTHERS],
    ]


def test_the_alternate_is_the_nearest_and_of_these_the_first() -> None:
    """[uas §4] "proximity … in terms of number of IP hops": any order of candidates, one choice."""
    candidates = [(2, 7), (3, 1), (2, 4)]
    for order in itertools.permutations(candidates):
        best = order[0]
        for one in order[1:]:
            best = one if is_nearer(*one, *best) else best
        assert best == (2, 4)


def test_a_wait_is_half_of_what_a_round_trip_takes_beyond_the_least() -> None:
    assert waiting_s(0.5, 0.3) == pytest.approx(0.1)
    assert waiting_s(0.3 + 1e-9, 0.3) == 0.0  # the clock is not that exact
