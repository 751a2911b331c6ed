"""The growth loops of the Waxman generator: they place nodes, and link them as BRITE does."""

import numpy as np

from halfway.core.compiled import inlined, kernel
from halfway.core.prng import advanced, mixed, uniform
from halfway.world.portable_math import exponential

_EMPTY = np.int64(-1)
_LEAST_CROWD, _MOST_CROWD = 10.0, 10e9  # nodes in a square: a Pareto tail of exponent 1 between


@inlined
def _empty_table(count):
    size = 16
    while size < 4 * count:
        size *= 2
    return np.full(size, _EMPTY)


@inlined
def _taken(table, key):
    # Insert the key, and return whether it was there before. The table has spare room.
    mask = np.uint64(table.shape[0] - 1)
    at = mixed(np.uint64(key)) & mask
    while table[at] != _EMPTY:
        if table[at] == key:
            return True
        at = (at + np.uint64(1)) & mask
    table[at] = key
    return False


@inlined
def _anywhere(table, side, word):
    # A free place in the plane, and the random state after it.
    while True:
        word = advanced(word)
        x = np.int64(uniform(mixed(word)) * side)
        word = advanced(word)
        y = np.int64(uniform(mixed(word)) * side)
        if not _taken(table, y * side + x):
            return x, y, word


@kernel
def place_randomly(position, side, word):
    """Place the nodes of the Waxman generator: fill position [n, 2] with uniform distinct whole
    numbers of [0, side).
    """
    table = _empty_table(position.shape[0])
    for i in range(position.shape[0]):
        x, y, word = _anywhere(table, side, word)
        position[i, 0], position[i, 1] = x, y


@kernel
def place_heavy_tailed(position, side, square, word):
    """Place the nodes of the Waxman generator: fill position [n, 2] by squares with heavy-tailed
    numbers of nodes.

    A node that hits a taken place is placed uniformly, as in BRITE.
    """
    n, table = position.shape[0], _empty_table(position.shape[0])
    across = side // square
    placed, at = 0, 0
    while placed < n:
        left, low = (at % across) * square, (at // across) * square
        at = (at + 1) % (across * across)
        word = advanced(word)
        share = 1.0 - uniform(mixed(word)) * (1.0 - _LEAST_CROWD / _MOST_CROWD)
        crowd = min(_LEAST_CROWD / share, float(square * square), float(n - placed))
        for _ in range(np.int64(crowd)):
            word = advanced(word)
            x = left + np.int64(uniform(mixed(word)) * square)
            word = advanced(word)
            y = low + np.int64(uniform(mixed(word)) * square)
            if _taken(table, y * side + x):
                x, y, word = _anywhere(table, side, word)
            position[placed, 0], position[placed, 1] = x, y
            placed += 1


@inlined
def _distance(position, i, j):
    dx, dy = position[i, 0] - position[j, 0], position[i, 1] - position[j, 1]
    return np.sqrt(dx * dx + dy * dy)


@inlined
def _linked(chosen, i, j):
    # Every link was added by one of its ends.
    found = False
    for k in range(chosen.shape[1]):
        found |= chosen[i, k] == j or chosen[j, k] == i
    return found


@inlined
def _partner(position, chosen, i, first, last, reach, word):
    # One of first…last-1, not yet linked to i, with odds e^(-distance / reach); the random state.
    for _ in range(last - first):
        word = advanced(word)
        j = first + np.int64(uniform(mixed(word)) * (last - first))
        word = advanced(word)
        odds = exponential(-_distance(position, i, j) / reach)
        if uniform(mixed(word)) < odds and not _linked(chosen, i, j):
            return j, word
    # We weigh all candidates at once after so many refusals, because BRITE's loop would not end
    # with a short reach; the odds are the same.
    nearest = np.inf
    for j in range(first, last):
        if not _linked(chosen, i, j):
            nearest = min(nearest, _distance(position, i, j))
    total = 0.0
    for j in range(first, last):
        if not _linked(chosen, i, j):
            total += exponential((nearest - _distance(position, i, j)) / reach)
    word = advanced(word)
    rest, partner = uniform(mixed(word)) * total, first
    for j in range(first, last):
        if not _linked(chosen, i, j):
            partner = j
            rest -= exponential((nearest - _distance(position, i, j)) / reach)
            if rest < 0.0:
                break
    return partner, word


@kernel
def grow(position, m, reach, word, ends):
    """Let the Waxman generator link nodes: fill ends [n * m, 2], in BRITE's order; return their
    number.

    Fewer than n * m only where one of the first m nodes is linked to all others already.
    """
    n, links = position.shape[0], 0
    chosen = np.full((n, m), -1, np.int32)
    degree = np.zeros(n, np.int32)
    for k in range(n):
        i = (k + m) % n  # the first m nodes come last, and choose among all later nodes
        first, last = (0, i) if i >= m else (m, n)
        for choice in range(m):
            if i < m and degree[i] >= n - m:
                break
            j, word = _partner(position, chosen, i, first, last, reach, word)
            chosen[i, choice] = j
            degree[i] += 1
            degree[j] += 1
            ends[links, 0], ends[links, 1] = i, j
            links += 1
    return links
