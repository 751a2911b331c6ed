"""Bloom filters: no false negatives, false positives as predicted, the same bytes anywhere."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.bloom import (
    Size,
    expected_false_positives,
    insert,
    may_hold,
    sized,
    with_bits,
)
from halfway.problem import Problem

_ITEMS = st.lists(st.integers(0, 2**64 - 1), max_size=60)


def filled(items: list[int], size: Size) -> np.ndarray:
    words = np.zeros(size.words, np.uint32)
    for item in items:
        insert(words, np.uint64(item), size.bits, size.hashes)
    return words


@given(_ITEMS, st.integers(1, 9), st.integers(1, 12))
def test_inserted_items_are_always_found(items: list[int], words: int, hashes: int) -> None:
    size = Size(32 * words, hashes)
    bits = filled(items, size)
    assert all(may_hold(bits, np.uint64(item), size.bits, size.hashes) for item in items)
    assert int(np.bitwise_count(bits).sum()) <= hashes * len(items)


@given(_ITEMS, _ITEMS)
def test_a_union_of_filters_is_the_filter_of_the_union(a: list[int], b: list[int]) -> None:
    size = Size(96, 3)
    assert np.array_equal(filled(a, size) | filled(b, size), filled(a + b, size))


@pytest.mark.parametrize("rate", [0.2, 0.05, 0.01])
def test_false_positives_agree_with_the_target_and_the_formula(rate: float) -> None:
    random_state = np.random.default_rng(1)
    size, queries = sized(200, rate), 20_000
    bits = filled(list(map(int, random_state.integers(2**63, size=200))), size)
    absent = random_state.integers(2**63, 2**64, size=queries, dtype=np.uint64)
    false = sum(bool(may_hold(bits, item, size.bits, size.hashes)) for item in absent)
    expected = expected_false_positives(size, 200)
    assert expected <= 1.05 * rate
    # One filter's fill varies as well: three standard deviations of both.
    assert (
        abs(false - queries * expected) < 3 * (queries * expected) ** 0.5 + 0.2 * queries * expected
    )


def test_the_bytes_are_the_same_in_every_process() -> None:
    code = (
        "from tests.core.test_bloom import *\n"
        "print(hashlib.sha256(filled([3, 2**63, 17], Size(256, 5)).tobytes()).hexdigest())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = hashlib.sha256(filled([3, 2**63, 17], Size(256, 5)).tobytes()).hexdigest()
    assert run.stdout.strip() == here
    assert here.startswith("4aa993741ba8")


@pytest.mark.parametrize("given", [(0, 0.1), (5, 0.0), (5, 1.0)])
def test_invalid_sizes_are_refused(given: tuple[int, float]) -> None:
    with pytest.raises(Problem):
        sized(*given)
    with pytest.raises(Problem, match="multiple of 32"):
        with_bits(5, 33)
