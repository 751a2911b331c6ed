"""Publisher-subscriber pairs and derangements, drawn by a seed; portable between machines."""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel
from halfway.core.prng import advanced, mixed, pick


def distinct_pairs(n: int, pairs: int, seed: int) -> npt.NDArray[np.int64]:
    """Draw publisher-subscriber pairs [pairs, 2], uniform among the n(n-1) ordered pairs."""
    drawn = np.empty((pairs, 2), np.int64)
    _draw_pairs(n, np.uint64(seed), drawn)
    return drawn


def derangements(n: int, count: int, seed: int) -> npt.NDArray[np.int64]:
    """Draw uniform derangements [count, n] for the pairs of a workload, without fixed point: each
    row is a target once.
    """
    drawn = np.empty((count, n), np.int64)
    _draw_derangements(np.uint64(seed), drawn)
    return drawn


def involutions(n: int, count: int, seed: int) -> npt.NDArray[np.int64]:
    """Draw pairs as uniform involutions [count, n] without fixed point: each row is in one pair,
    both ways.

    Raises ValueError for an odd n.
    """
    if n % 2:
        raise ValueError(f"n = {n}: expected an even number of rows")
    drawn = np.empty((count, n), np.int64)
    random = np.random.default_rng(seed)
    for row in drawn:
        a, b = random.permutation(n).reshape(2, -1)
        row[a], row[b] = b, a
    return drawn


@kernel
def _draw_pairs(n, word, drawn):
    for p in range(drawn.shape[0]):
        word = advanced(word)
        drawn[p, 0] = pick(mixed(word), n)
        word = advanced(word)
        other = pick(mixed(word), n - 1)
        drawn[p, 1] = other + (other >= drawn[p, 0])


@kernel
def _draw_derangements(word, drawn):
    n = drawn.shape[1]
    for p in range(drawn.shape[0]):
        fixed = True
        while fixed:  # a random permutation has no fixed point with probability 1 / e
            for i in range(n):
                drawn[p, i] = i
            fixed = False
            for i in range(n - 1, -1, -1):
                word = advanced(word)
                j = pick(mixed(word), i + 1)
                drawn[p, i], drawn[p, j] = drawn[p, j], drawn[p, i]
                fixed = fixed or drawn[p, i] == i  # place i is final now
