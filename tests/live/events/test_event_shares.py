"""The shares of publishers at a busy node: limits, unknown publishers, and their end."""

from halfway.live.drops import Drop
from halfway.live.events.event_shares import (
    BURST,
    EPOCH_S,
    LEAST,
    REFUSED,
    EventShares,
    Publishers,
)
from halfway.live.events.new_publishers import MET_S, NAMES, NewPublishers

_BUSY, _OTHER = 1, 2  # neighbours


class Node:
    """A node with a clock, and a neighbour whose datagrams arrive faster than it processes them."""

    def __init__(self, *, are_proven: bool = False) -> None:
        self.lengths, self.now = {_BUSY: 1.0}, 0.0
        length_of = self.lengths.get
        self.shares = EventShares(8, lambda one: length_of(one, 0.0), are_proven=are_proven)
        self._number = 0

    def offer(self, peer: int, key: tuple[int, int, int]) -> bool:
        """Offer an event of a neighbour; return whether the node takes it."""
        takes = self.shares.refusal(peer, key, self.now) is None
        if takes:
            self.shares.take(peer, key, self.now)
        return takes

    def epoch(self, publishers: dict[int, int], peer: int = _BUSY) -> dict[int, int]:
        """Offer events in one epoch; return how many of each publisher the node takes."""
        taken = dict.fromkeys(publishers, 0)
        for publisher, count in publishers.items():
            for _ in range(count):
                self._number += 1
                key = publisher, 0, self._number
                taken[publisher] += self.offer(peer, key)
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
    node = Node(are_proven=True)  # so that only the limit of unknown publishers holds
    node.know(11)
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
    assert node.shares.refusal_before(_BUSY, newest) is Drop.PUBLISHER
    assert node.shares.refusal_before(_OTHER, newest) is None  # it may send the body again


def test_each_neighbour_refuses_for_itself_and_an_accepted_event_is_not_refused_any_more() -> None:
    node, key = Node(), (10, 0, 1)
    node.shares._refuse(_BUSY, key, Drop.PUBLISHER)
    node.shares._refuse(_OTHER, key, Drop.NEW_PUBLISHER)
    assert node.shares.refusal_before(_BUSY, key) is Drop.PUBLISHER
    assert node.shares.refusal_before(_OTHER, key) is Drop.NEW_PUBLISHER
    assert node.offer(3, key)
    assert node.shares.refusal_before(_BUSY, key) is node.shares.refusal_before(_OTHER, key) is None


def test_an_event_that_is_refused_later_leaves_no_publisher_behind() -> None:
    """The security of a node may refuse the event after the shares admit it."""
    node = Node(are_proven=True)
    node.lengths.clear()
    for number in range(8):
        assert node.shares.refusal(_BUSY, (10, 0, number), node.now) is None
        node.now += EPOCH_S
    assert not node.shares._publishers.is_met(10)


def test_a_known_publisher_stays_known_while_its_neighbour_is_limited() -> None:
    node = Node(are_proven=True)
    known = dict.fromkeys(range(8), 1)
    node.know(*known)
    for number in range(300):  # 75 s
        node.epoch(known | {99: 10})
        if number > 280:
            node.epoch({50: 1, 51: 1}, _OTHER)
            node.now -= EPOCH_S
    assert all(publisher in node.shares._publishers for publisher in known)


def test_proven_publishers_may_be_new_in_any_number() -> None:
    node = Node(are_proven=True)
    node.lengths.clear()
    assert node.epoch(dict.fromkeys(range(1000), 1)) == dict.fromkeys(range(1000), 1)


def test_an_honest_publisher_loses_its_first_event_at_most() -> None:
    """1,000 publishers behind one neighbour send an event every 10 s. Limits.publishers is 256."""
    lost, shares = [0] * 1000, EventShares(256, lambda _: 0.0, are_proven=False)
    for number in range(20_000):
        now, key = number / 100, (number % 1000, 0, number)
        if shares.refusal(1, key, now) is None:
            shares.take(1, key, now)
        else:
            lost[key[0]] += 1
    assert set(lost) == {0, 1}


def test_two_floods_of_new_names_starve_no_publisher_two_hops_behind_them() -> None:
    """The nodes between let 16 new names through in a second, from each of the two floods."""
    events = [(number / 32, 10**6 + number) for number in range(32 * 600)]
    events += [(100 + 5 * turn + who / 4, who) for turn in range(100) for who in range(20)]
    refused, shares = dict.fromkeys(range(20), 0), EventShares(256, lambda _: 0.0, are_proven=False)
    for number, (now, publisher) in enumerate(sorted(events)):
        key = (publisher, 0, number)
        if shares.refusal(1, key, now) is None:
            shares.take(1, key, now)
        elif publisher < 20:
            refused[publisher] += 1
    assert max(refused.values()) <= 1


def test_the_names_of_one_neighbour_do_not_take_the_places_of_another_one() -> None:
    some = NewPublishers(2)
    assert some.admits(_OTHER, 5, 0.0)
    assert some.admits(_OTHER, 7, 0.0)
    assert not some.admits(_OTHER, 6, 0.0)
    for name in range(100, 100 + 2 * NAMES):
        some.admits(_BUSY, name, 0.0)
    assert some.admits(_OTHER, 6, 0.0)
    assert sum(len(names) for names in some._names.values()) == some._count == NAMES


def test_tables_by_neighbour_are_bounded_although_neighbours_come_and_go() -> None:
    node = Node()
    for peer in range(10, 5000):
        node.lengths[peer] = 1.0
        node.offer(peer, (peer, 0, 0))
        node.now += 0.001
    shares = node.shares
    assert shares._new is not None
    assert len(shares._latest) == len(shares._limits) == len(shares._new._levels) == 8
    assert len(shares._new._names) <= NAMES
    node.now += 11.0
    node.offer(5, (5, 0, 0))
    assert list(shares._latest) == [5]
    assert not shares._limits
