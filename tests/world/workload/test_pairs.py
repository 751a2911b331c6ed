"""Tests of publisher-subscriber pairs and derangements: distinct, uniform."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.world.workload.pairs import derangements, distinct_pairs, involutions


@given(st.integers(2, 40), st.integers(0, 50), st.integers(0, 2**64 - 1))
def test_pairs_are_two_different_rows(n: int, count: int, seed: int) -> None:
    pairs = distinct_pairs(n, count, seed)
    assert pairs.shape == (count, 2)
    assert ((pairs >= 0) & (pairs < n)).all()
    assert (pairs[:, 0] != pairs[:, 1]).all()


@given(st.integers(2, 40), st.integers(1, 5), st.integers(0, 2**64 - 1))
def test_every_row_is_a_target_once_and_never_its_own(n: int, count: int, seed: int) -> None:
    for permutation in derangements(n, count, seed):
        assert sorted(permutation) == list(range(n))
        assert (permutation != np.arange(n)).all()


def test_every_pair_and_every_derangement_is_as_likely() -> None:
    pairs = distinct_pairs(5, 20_000, 1)
    counts = np.bincount(pairs[:, 0] * 5 + pairs[:, 1], minlength=25).reshape(5, 5)
    off = counts[~np.eye(5, dtype=bool)]
    assert ((off - 1000) ** 2 / 1000).sum() < 43.8  # 19 degrees of freedom, one in a thousand
    kinds, counts = np.unique(derangements(4, 9000, 1), axis=0, return_counts=True)
    assert len(kinds) == 9
    assert ((counts - 1000) ** 2 / 1000).sum() < 26.1  # 8 degrees of freedom


def test_an_involution_has_every_row_in_one_pair() -> None:
    """[drw §4.3] "a node is selected only in one pair", and each pair has two paths."""
    drawn = involutions(8, 4000, 3)
    rows = np.arange(8)
    assert (drawn != rows).all()
    assert (np.take_along_axis(drawn, drawn, axis=1) == rows).all()
    partners = np.bincount(drawn[:, 0], minlength=8)[1:]
    assert partners == pytest.approx(4000 / 7, rel=0.15)
    with pytest.raises(ValueError, match="n = 7: expected an even number"):
        involutions(7, 1, 3)
