"""The ancestors of a broker as a Bloom filter, which a parent sends to its children so that the
broker tree has no cycles.

[uas §4] the overlay is a tree, and the paper does not say what prevents a cycle when a broker joins
a broker below it. We let the answers of a parent contain its own ancestors and itself, because a
broker can then refuse a child above it: 192 bits in all. With 10 ancestors, a broker refuses a
broker by mistake with a probability of 0.4 %. The refused broker then asks the next broker.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.prng import mixed

# Two values of `parent` that are not a node id; the third is NONE, at the root.
OUTSIDE = np.int32(-2)  # the broker left the tree, or has not entered it yet
SEEKING = np.int32(-3)  # the broker has not joined the tree yet

WORDS = 6
_BITS, _HASHES = 32 * WORDS, 3


def no_ancestors(brokers: int) -> npt.NDArray[np.int64]:
    """Return empty Bloom filters of the ancestors of brokers, [brokers, WORDS]."""
    return np.zeros((brokers, WORDS), np.int64)


@inlined
def _bit(node_id, k):
    return np.int64((mixed(np.uint64(node_id)) >> np.uint64(16 * k)) % np.uint64(_BITS))


@apart
def is_ancestor(above, b, node_id):
    """Return whether the Bloom filter of a broker's ancestors contains a node; a few other nodes
    pass as well.
    """
    for k in range(_HASHES):
        bit = _bit(node_id, k)
        if (above[b, bit // 32] >> (bit % 32)) & 1 == 0:
            return False
    return True


@apart
def write_ancestors(above, b, own, o):
    """Write the ancestors of a child into a record of the parent broker: the parent's own
    ancestors, and the parent.
    """
    for word in range(WORDS):
        o.reals[word] = above[b, word]
    for k in range(_HASHES):
        bit = _bit(own, k)
        o.reals[bit // 32] = np.int64(o.reals[bit // 32]) | (np.int64(1) << (bit % 32))


@apart
def take_ancestors(above, b, message):
    """Replace the ancestors of a broker by the ancestors in a record of its parent."""
    for word in range(WORDS):
        above[b, word] = np.int64(message.reals[word])


@apart
def clear_ancestors(above, b):
    """Empty the Bloom filter of ancestors of a broker that is the root."""
    above[b, :] = 0
