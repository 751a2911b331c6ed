"""The giant component of a lazy unit disk graph: breadth-first searches from single nodes, and
draws of pairs of nodes in the component.
"""

import numpy as np

from halfway.core.borrowed import borrowed
from halfway.core.compiled import kernel
from halfway.core.missing import NONE
from halfway.core.prng import advanced, mixed, pick
from halfway.world.graphs.lazy.lazy_cells import view

_u8 = np.uint64


@kernel
def count_reached(graph, i, most):
    """Return how many nodes of a `LazyGraph` a breadth-first search from node i reaches, `most` at
    most.
    """
    graph = borrowed(graph)
    places = np.int64(8)
    while places < 4 * most:
        places *= 2
    known = np.full(places, NONE, np.int64)
    queue = np.empty(most, np.int64)
    queue[0] = i
    known[np.int64(mixed(_u8(i)) & _u8(places - 1))] = i
    head, tail = 0, 1
    while head < tail < most:
        slot = view(graph, queue[head])
        head += 1
        for k in range(graph.views.degree[slot]):
            node = np.int64(graph.views.who[slot, k])
            place = np.int64(mixed(_u8(node)) & _u8(places - 1))
            while known[place] != NONE and known[place] != node:
                place = (place + 1) & (places - 1)
            if known[place] == NONE and tail < most:
                known[place] = node
                queue[tail] = node
                tail += 1
    return tail


@kernel
def draw_giant_pairs(graph, n, enough, most_draws, word, drawn):
    """Fill `drawn` [pairs, 2] with different nodes that reach `enough` nodes each.

    Returns how many draws were repeated; -1 if `most_draws` nodes in a row did not reach enough.
    """
    graph = borrowed(graph)
    again, in_a_row = np.int64(0), np.int64(0)
    place = np.int64(0)
    while place < 2 * drawn.shape[0]:
        word = advanced(word)
        node = np.int64(pick(mixed(word), n))
        same = place % 2 == 1 and node == drawn[place // 2, 0]
        if not same and count_reached(graph, node, enough) >= enough:
            drawn[place // 2, place % 2] = node
            place, in_a_row = place + 1, np.int64(0)
            continue
        again += 1
        in_a_row += 1
        if in_a_row == most_draws:
            return np.int64(-1)
    return again
