"""Random numbers are those of splitmix64, and as uniform as the protocols assume."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.prng import (
    advanced,
    fraction,
    high_half,
    joined,
    low_half,
    mixed,
    pick,
    random_states,
    seeded,
    uniform,
)

WORDS = st.integers(0, 2**64 - 1)


def splitmix64(seed: int, draws: int) -> list[int]:
    """The reference, in Python's unbounded integers."""
    values = []
    for _ in range(draws):
        seed = (seed + 0x9E3779B97F4A7C15) % 2**64
        z = seed
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        values.append(z ^ (z >> 31))
    return values


def test_known_values_of_splitmix64() -> None:
    # The published first outputs for the seed 1234567.
    word, drawn = np.uint64(1234567), []
    for _ in range(3):
        word = np.uint64(advanced(word))
        drawn.append(int(mixed(word)))
    assert drawn == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@given(WORDS)
def test_equals_the_reference(seed: int) -> None:
    word, drawn = np.uint64(seed), []
    for _ in range(5):
        word = np.uint64(advanced(word))
        drawn.append(int(mixed(word)))
    assert drawn == splitmix64(seed, 5)


@given(WORDS)
def test_a_message_carries_a_complete_state(word: int) -> None:
    low, high = np.int32(low_half(np.uint64(word))), np.int32(high_half(np.uint64(word)))
    assert int(joined(low, high)) == word


@given(WORDS, st.integers(1, 2**31 - 1))
def test_pick_stays_below_its_bound(value: int, bound: int) -> None:
    assert 0 <= int(pick(np.uint64(value), bound)) < bound


@given(WORDS)
def test_fractions_stay_in_the_unit_interval(value: int) -> None:
    assert 0.0 <= float(fraction(np.uint64(value))) < 1.0
    assert 0.0 <= float(uniform(np.uint64(value))) < 1.0


def test_picks_are_uniform_and_streams_are_independent() -> None:
    draws, bound = 20_000, 7
    counts = np.zeros((bound, bound))
    for stream in range(draws):
        first = pick(np.uint64(mixed(np.uint64(seeded(np.uint64(3), stream)))), bound)
        second = pick(np.uint64(mixed(np.uint64(seeded(np.uint64(4), stream)))), bound)
        counts[first, second] += 1
    expected = draws / bound**2
    chi2 = ((counts - expected) ** 2 / expected).sum()
    assert chi2 < 88.4  # 48 degrees of freedom, one in 3,000 by chance, and the draws are fixed


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(0, 2**31 - 1), max_size=5))
def test_random_states_depend_on_the_seed_and_the_node_id_alone(seed: int, ids: list[int]) -> None:
    states = random_states(np.array(ids, np.int32), seed)
    assert [int(state) for state in states] == [int(seeded(np.uint64(seed), n)) for n in ids]
