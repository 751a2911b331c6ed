"""The walk overlay's choice of the next node, sentence by sentence of paper 2."""

import numpy as np
import pytest

from halfway.core.missing import NO_PLACE
from halfway.protocols.walk_overlay.bids import MET, PASSED, SILENT, chosen, cost

_VALUES = [np.uint64(k << 32) for k in range(0, 2**32, 2**27)]  # spread over all random values


def places(bids: list[float], pure: bool = False) -> set[int]:
    """All positions that are chosen, over the random values."""
    return {int(chosen(np.array(bids), len(bids), pure, value)) for value in _VALUES}


def test_the_cost_counts_neighbours_in_both_neighbourhoods_of_the_walk() -> None:
    """[dwo §IV, (2); §V-B, (3)] In (3), α = 1 and β = 0."""
    assert cost(0.5, 2.0, 3, 4) == 9.5
    assert cost(1.0, 0.0, 3, 4) == 3.0


def test_the_candidate_with_the_minimum_cost_is_added() -> None:
    """[dwo Alg. 2, line 30; Fig. 5] The costs of its five candidates; z is added."""
    a, b, c, d, z = 3.0, 2.0, 3.0, 2.0, 1.0
    assert places([a, b, c, d, z]) == {4}


def test_ties_are_drawn_from_all_candidates_of_the_minimum_cost() -> None:
    """[dwo §V-B] "if it has the minimum cost between all the candidate nodes": no other is."""
    assert places([2.0, 1.0, PASSED, 1.0, SILENT, 1.0]) == {1, 3, 5}


def test_a_node_of_another_walk_goes_before_any_cost() -> None:
    """[dwo Alg. 2, line 22] also in a pure walk."""
    assert places([0.0, MET, 0.0, MET]) == {1, 3}
    assert places([0.0, MET], pure=True) == {1}


@pytest.mark.parametrize("bids", [[], [PASSED, PASSED], [PASSED, SILENT]])
def test_a_walk_without_candidates_goes_back(bids: list[float]) -> None:
    """[dwo Alg. 2, line 18] no neighbours, or all of them are part of the walk already."""
    assert places(bids) == {int(NO_PLACE)}


def test_a_pure_walk_steps_onto_any_neighbour_that_bid() -> None:
    """[dwo §VI] "which select the next node of the walker randomly": no cost counts."""
    assert places([PASSED, 7.0, SILENT, 0.0], pure=True) == {0, 1, 3}
