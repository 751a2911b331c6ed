"""The windows of reliable hops: they and a plain set of all accepted hops agree on every hop."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.compiled import kernel
from halfway.protocols.parts.hash_table import FORGOTTEN
from halfway.protocols.parts.hop_windows import (
    SENDERS,
    WIDTH,
    HopWindows,
    hop_windows,
    is_replayed,
)

PLACES = 64  # of hops in flight at the sender
TURNS = (2**31 - 1) // PLACES
Some = tuple[int, int, int]  # sender, its incarnation, turn
# Turns near both ends of a window, and around the end of the sequence numbers.
TURN = st.builds(
    lambda base, step: (base + step) % TURNS,
    st.sampled_from([0, WIDTH - 2, 2 * WIDTH - 2, 5 * WIDTH, TURNS - 3]),
    st.integers(0, 4),
)
HOPS = st.tuples(st.integers(0, 2), st.integers(0, 2), TURN)


class Hop(NamedTuple):
    """The fields of a message that identify its hop."""

    source: np.int32
    incarnation: np.uint32
    sequence: np.int32


@kernel
def note_all(windows: HopWindows, source: Any, incarnation: Any, sequence: Any, found: Any) -> None:
    """Note hops one after the other at row 1; `found` has whether each is a replay."""
    for k in range(source.shape[0]):
        found[k] = is_replayed(windows, PLACES, 1, Hop(source[k], incarnation[k], sequence[k]))


def are_replays(windows: HopWindows, hops: list[Some]) -> list[bool]:
    """Return whether the windows take each hop for a replay."""
    found = np.zeros(len(hops), np.bool_)
    source, incarnation, turn = np.array(hops, np.int64).reshape(-1, 3).T
    sequence = (turn * PLACES + 1 + turn % PLACES).astype(np.int32)
    note_all(windows, source.astype(np.int32), incarnation.astype(np.uint32), sequence, found)
    return [bool(one) for one in found]


class Slow:
    """All accepted turns of one sender, in its latest incarnation."""

    def __init__(self, incarnation: int, turn: int) -> None:
        self.incarnation, self.newest, self.accepted = incarnation, turn, set[int]()

    def is_replayed(self, turn: int) -> bool:
        ahead = (turn - self.newest + TURNS // 2) % TURNS - TURNS // 2
        if ahead > 0:
            self.newest = turn
        known = turn in self.accepted or ahead <= -WIDTH
        self.accepted.add(turn)
        return known


def expected(hops: list[Some]) -> list[bool]:
    """Return whether each hop was accepted before, or is behind the window of its sender."""
    senders, found = dict[int, Slow](), list[bool]()
    for sender, incarnation, turn in hops:
        before = senders.get(sender)
        if before is not None and incarnation < before.incarnation:
            found.append(True)
            continue
        if before is None or incarnation > before.incarnation:
            senders[sender] = Slow(incarnation, turn)
        found.append(senders[sender].is_replayed(turn))
    return found


@given(st.lists(HOPS, max_size=40))
def test_a_hop_is_a_replay_if_it_was_accepted_or_is_behind_the_window(hops: list[Some]) -> None:
    assert are_replays(hop_windows(2, 1), hops) == expected(hops)


def test_no_number_of_hops_of_other_nodes_makes_a_replay_new() -> None:
    """The table of the last accepted hops would forget the first hop."""
    windows = hop_windows(2, 1)
    others = [(1 + k % (SENDERS - 1), 0, k) for k in range(20_000)]
    assert not any(are_replays(windows, [(0, 0, 7), *others]))
    assert are_replays(windows, [(0, 0, 7)]) == [True]
    later = [(0, 0, 8 + 3 * WIDTH), (0, 0, 7), (0, 0, 9)]
    assert are_replays(windows, later) == [False, True, True]


def test_a_new_neighbour_replaces_the_window_that_was_unused_for_the_longest_time() -> None:
    windows = hop_windows(2, 1)
    are_replays(windows, [(sender, 0, 5) for sender in range(SENDERS)])
    assert are_replays(windows, [(0, 0, 5), (SENDERS, 0, 5)]) == [True, False]
    assert windows.counts[:, FORGOTTEN].tolist() == [0, 1]
    assert are_replays(windows, [(0, 0, 5), (2, 0, 5), (1, 0, 5)]) == [True, True, False]
    assert (windows.sender[0] == -1).all()


def test_nodes_without_acknowledgements_have_no_windows() -> None:
    assert sum(part.nbytes for part in hop_windows(3, 0)[:-1]) == 0
