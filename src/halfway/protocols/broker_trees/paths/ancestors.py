"""The ancestors of a broker as a Bloom filter, which a parent sends, so that the tree has no
cycles.

[uas §4] a broker that joins a broker below it would form a cycle. A parent sends its own ancestors
and itself with its answers, 192 bits in all. With 10 ancestors a broker refuses another one for no
reason with a probability of 0.4 %; then that one asks the next broker.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.prng import mixed

# Values of a broker's `parent` that are no node id, beside NONE at the root.
OUTSIDE = np.int32(-2)  # it left the tree, or has not entered it yet
SEEKING = np.int32(-3)  # it has not joined the tree yet

WORDS = 6
_BITS, _HASHES = 32 * WORDS, 3


def no_ancestors(brokers: int) -> npt.NDArray[np.int64]:
    """Return empty filters of ancestors, [brokers, WORDS]."""
    return np.zeros((brokers, WORDS), np.int64)


@inlined
def _bit(node_id, k):
    return np.int64((mixed(np.uint64(node_id)) >> np.uint64(16 * k)) % np.uint64(_BITS))


@apart
def is_ancestor(above, b, node_id):
    """Return whether a node is an ancestor of a broker; the filter admits a few others."""
    for k in range(_HASHES):
        bit = _bit(node_id, k)
        if (above[b, bit // 32] >> (bit % 32)) & 1 == 0:
            return False
    return True


@apart
def write_ancestors(above, b, own, o):
    """Write the ancestors of a child into a record: the broker's own ancestors, and the broker."""
    for word in range(WORDS):
        o.reals[word] = above[b, word]
    for k in range(_HASHES):
        bit = _bit(own, k)
        o.reals[bit // 32] = np.int64(o.reals[bit // 32]) | (np.int64(1) << (bit % 32))


@apart
def take_ancestors(above, b, message):
    """Replace a broker's ancestors by those in its parent's record."""
    for word in range(WORDS):
        above[b, word] = np.int64(message.reals[word])


@apart
def clear_ancestors(above, b):
    """Empty the ancestors of a broker that is the root."""
    above[b, :] = 0
