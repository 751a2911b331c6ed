"""The last accepted hops: the tables with hashes and a plain queue agree on every hop."""

from collections import deque
from typing import Any, NamedTuple

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from halfway.core.compiled import kernel
from halfway.protocols.parts.accepted_hops import AcceptedHops, accept_if_new, accepted_hops

Some = tuple[int, int, int]  # sender, its incarnation, sequence number
HOPS = st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(1, 6))


class Hop(NamedTuple):
    """The fields of a message that identify its hop."""

    source: np.int32
    incarnation: np.uint32
    sequence: np.int32


@kernel
def accept_all(
    accepted: AcceptedHops, source: Any, incarnation: Any, sequence: Any, found: Any
) -> None:
    """Accept hops one after the other at row 1; `found` has whether each was new."""
    for k in range(source.shape[0]):
        found[k] = accept_if_new(accepted, 1, Hop(source[k], incarnation[k], sequence[k]))


def are_new(accepted: AcceptedHops, hops: list[Some]) -> list[bool]:
    """Return whether the tables accept each hop as new."""
    found = np.zeros(len(hops), np.bool_)
    source, incarnation, sequence = np.array(hops, np.int64).reshape(-1, 3).T
    accept_all(
        accepted,
        source.astype(np.int32),
        incarnation.astype(np.uint32),
        sequence.astype(np.int32),
        found,
    )
    return [bool(one) for one in found]


@given(st.integers(1, 9), st.lists(HOPS, max_size=60))
@example(1, [(0, 0, 1), (0, 0, 2), (0, 0, 1), (0, 0, 1)])
def test_a_hop_is_new_unless_it_is_among_the_last_accepted_ones(
    known: int, hops: list[Some]
) -> None:
    last: deque[Some] = deque(maxlen=known)
    expected = []
    for hop in hops:
        expected.append(hop not in last)
        if hop not in last:
            last.append(hop)
    accepted = accepted_hops(2, known)
    assert are_new(accepted, hops) == expected
    assert accepted.total.tolist() == [0, sum(expected)]


def test_thousands_of_hops_are_remembered() -> None:
    hops = [(sender, 0, sequence) for sender in range(10) for sequence in range(1, 301)]
    accepted = accepted_hops(2, len(hops))
    assert all(are_new(accepted, hops))
    assert not any(are_new(accepted, hops))
    assert are_new(accepted, [(10, 0, 1), hops[0], hops[2]]) == [True, True, False]
