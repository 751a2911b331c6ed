"""The shares of publishers at a busy node: limits, unknown publishers, and their end."""

from halfway.live.events.event_shares import (
    BURST,
    EPOCH_S,
    LEAST,
    MET_S,
    REFUSED,
    EventShares,
    Publishers,
)

_BUSY, _OTHER = 1, 2  # neighbours


class Node:
    """A node with a clock, and a neighbour whose datagrams arrive faster than it processes them."""

    def __init__(self) -> None:
        self.lengths, self.now = {_BUSY: 1.0}, 0.0
        self.shares = EventShares(8, lambda peer: self.lengths.get(peer, 0.0))
        self._number = 0

    def epoch(self, publishers: dict[int, int], peer: int = _BUSY) -> dict[int, int]:
        """Offer events in one epoch; return how many of each publisher the node takes."""
        taken = dict.fromkeys(publishers, 0)
        for publisher, count in publishers.items():
            for _ in range(count):
                self._number += 1
                key = publisher, 0, self._number
                taken[publisher] += self.shares.admits(peer, key, self.now)
        self.now += EPOCH_S
        return taken

    def know(self, *publishers: int) -> None:
        """Let the node know publishers, before a neighbour is behind."""
        self.lengths.clear()
        for _ in range(8):
            self.epoch(dict.fromkeys(publishers, 1))
        self.lengths[_BUSY] = 1.0


def test_a_flood_of_a_known_publisher_is_limited_and_others_are_not() -> None:
    node = Node()
    node.know(10, 11)
    for _ in range(40):
        taken = node.epoch({10: 400, 11: 3})
        assert taken[11] == 3
    assert taken[10] <= LEAST + 1


def test_all_unknown_publishers_share_one_limit() -> None:
    node = Node()
    node.know(11)
    node.shares._most_met = 10**6  # so that only the limit of unknown publishers holds
    for number in range(40):
        flood = {1000 * number + k: 1 for k in range(100, 500)}
        taken = node.epoch(flood | {11: 3})
        assert taken.pop(11) == 3
    assert sum(taken.values()) <= LEAST + 1


def test_another_neighbour_has_no_limit_and_the_limit_ends_with_the_flood() -> None:
    node = Node()
    for _ in range(20):
        node.epoch({10: 400})
        assert node.epoch({10: 400}, _OTHER) == {10: 400}
    assert node.epoch({10: 400})[10] < 400
    node.lengths.clear()
    for _ in range(40):
        node.epoch({10: 5})
    assert node.epoch({10: 400}) == {10: 400}


def test_a_short_burst_is_taken_as_a_whole() -> None:
    node = Node()
    node.know(11)
    for _ in range(20):
        node.epoch({10: 400})
    for _ in range(8):
        node.epoch({10: 400, 11: 1})
    assert node.epoch({11: BURST}) == {11: BURST}


def test_a_neighbour_names_few_new_publishers_although_the_node_is_not_busy() -> None:
    node = Node()
    node.know(10)
    node.lengths.clear()
    taken = sum(sum(node.epoch({1000 * n + k: 1 for k in range(100)}).values()) for n in range(40))
    assert 8 <= taken <= 8 + 8 * 40 * EPOCH_S / MET_S
    assert node.epoch({10: 400}) == {10: 400}  # known ones have no limit
    assert node.epoch({7: 1}, _OTHER) == {7: 1}


def test_an_only_publisher_has_no_limit() -> None:
    node = Node()
    for _ in range(20):
        assert node.epoch({10: 400}) == {10: 400}
    node.epoch({20: 1}, _OTHER)
    node.epoch({10: 400})
    assert node.epoch({10: 400})[10] < 400


def test_a_limit_is_not_lowered_while_the_queue_shrinks() -> None:
    node, taken = Node(), list[int]()
    node.know(10, 11)
    for length in (1.0, 1.0, 0.8, 0.7, 0.6, 0.6):
        node.lengths[_BUSY] = length
        taken.append(node.epoch({10: 400, 11: 1})[10])
    # Halved when the queue stayed as long as it was, and not while it became shorter.
    assert taken[2:5] == [200] * 3
    assert taken[5] < 200


def test_a_publisher_is_known_after_a_second_and_invented_ones_are_not() -> None:
    some = Publishers(4)
    some.note(1, 0.0)
    some.note(1, 0.5)
    assert 1 not in some
    some.note(1, 1.0)
    assert 1 in some
    for invented in range(100, 1000):
        some.note(invented, 2.0)
    assert 1 in some
    assert len(some._candidates) <= 4
    for publisher in (2, 3, 4, 5):
        some.note(publisher, 3.0)
        some.note(publisher, 4.5)
    assert [one in some for one in (1, 2, 3, 4, 5)] == [True, True, True, True, False]
    some.note(5, 70.0)
    some.note(5, 72.0)
    assert 5 in some  # another one was silent for a minute


def test_the_keys_of_refused_events_are_bounded() -> None:
    node = Node()
    node.know(10, 11)
    for _ in range(20):
        node.epoch({10: 1000, 11: 1})
    assert len(node.shares._refused) == REFUSED
    newest = next(reversed(node.shares._refused))
    assert node.shares.has_refused(_BUSY, newest)
    assert not node.shares.has_refused(_OTHER, newest)  # it may send the body again
