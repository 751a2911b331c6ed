"""Hellos: nodes learn exactly the links that work both ways, within bounded lists."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.hello.link import came
from halfway.core.hello.messages import BOTH_WAYS, HELLO, HELLO_TIMER, IDS, KINDS, LAST, LOWEST
from halfway.core.hello.receiving import is_reported
from halfway.core.hello.sending import RECORDS, most_emissions
from halfway.core.hello.state import FORGOTTEN, UNREPORTED, unknown_neighbourhood
from halfway.core.message import RECORD
from halfway.core.missing import NONE
from halfway.core.records.wire import record_sizes
from tests.core.hello.air import PERIOD_S, Air
from tests.core.records.codec import Codec

SETTLED = 4.0  # periods after which lists without losses are complete
FORGETS = 7.2  # periods after which a silent neighbour is forgotten: 5 misses, and the next hello


def star(leaves: int) -> npt.NDArray[np.float64]:
    """Links of row 0 with every other row, without losses."""
    success = np.zeros((leaves + 1, leaves + 1))
    success[0, 1:] = success[1:, 0] = 1.0
    return success


def line(n: int) -> npt.NDArray[np.float64]:
    """Links of each row with the next one, without losses."""
    return np.eye(n, k=1) + np.eye(n, k=-1)


@st.composite
def one_way_links(draw: st.DrawFn) -> npt.NDArray[np.float64]:
    """Links without losses, each direction of its own."""
    n = draw(st.integers(2, 7))
    words = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    return np.array(words, np.float64).reshape(n, n) * (1.0 - np.eye(n))


@settings(max_examples=15, deadline=None)
@given(success=one_way_links(), seed=st.integers(0, 1000), data=st.data())
def test_a_link_counts_only_where_both_ends_hear_each_other(
    success: npt.NDArray[np.float64], seed: int, data: st.DataObject
) -> None:
    n = len(success)
    some = data.draw(st.lists(st.integers(0, 2**31 - 1), min_size=n, max_size=n, unique=True))
    air = Air(success, limit=n, reported=n, ids=np.array(some, np.int32), seed=seed)
    both = (success * success.T).astype(bool)
    for _ in range(8):
        air.run(SETTLED / 8)
        for row in range(n):
            assert set(air.neighbours(row)) <= set(np.flatnonzero(both[row]))
    air.run(1.2)  # the lists of lists follow one hello later
    for row in range(n):
        assert air.neighbours(row) == np.flatnonzero(both[row]).tolist()
        for other in air.neighbours(row):
            assert air.reported(row, other) == np.flatnonzero(both[other]).tolist()


@settings(max_examples=10, deadline=None)
@given(leaves=st.integers(1, 9), limit=st.integers(1, 9), seed=st.integers(0, 1000))
def test_lists_are_bounded_and_what_does_not_fit_is_counted(
    leaves: int, limit: int, seed: int
) -> None:
    air = Air(star(leaves), limit=limit, reported=2, seed=seed)
    air.run(2 * SETTLED)
    assert len(air.neighbours(0)) == min(leaves, limit)
    assert (air.hellos.counts[0, FORGOTTEN] > 0) == (leaves > limit)
    kept = air.neighbours(0)
    for leaf in range(1, leaves + 1):
        assert air.neighbours(leaf) == ([0] if leaf in kept else [])
        if leaf in kept:
            assert len(air.reported(leaf, 0)) == min(len(kept), 2)
            assert (air.hellos.counts[leaf, UNREPORTED] > 0) == (len(kept) > 2)


def test_a_neighbour_that_is_kept_is_not_replaced_by_a_new_one() -> None:
    air = Air(star(6), limit=3)
    air.run(SETTLED)
    kept = air.neighbours(0)
    air.run(20)
    assert air.neighbours(0) == kept
    assert len(kept) == 3


def test_a_long_list_takes_several_records_and_hellos() -> None:
    leaves = 70
    air = Air(star(leaves), limit=leaves, reported=leaves)
    air.run(SETTLED + 3)
    assert air.neighbours(0) == list(range(1, leaves + 1))
    assert air.reported(1, 0) == list(range(1, leaves + 1))
    of_hub = [one for one in air.records if one["source"] == 0]
    newest = [one for one in of_hub if one["sequence"] == of_hub[-1]["sequence"]]
    assert len(newest) <= RECORDS
    assert all((one["args"] >= 0).sum() + (one["reals"][:4] >= 0).sum() <= IDS for one in of_hub)


@pytest.mark.parametrize("leaves", [1, IDS - 1, IDS, IDS + 1, RECORDS * IDS, RECORDS * IDS + 1])
def test_the_records_of_a_hello_cover_every_id_once(leaves: int) -> None:
    air = Air(star(leaves), limit=leaves)
    air.run(SETTLED)
    air.records.clear()
    air.run(4)
    of_hub = [one for one in air.records if one["source"] == 0]
    lowest = [int(one[LOWEST]) for one in of_hub]
    begins = lowest.index(0)
    listed: list[int] = []
    for one in of_hub[begins:]:
        assert int(one[LOWEST]) == (listed[-1] + 1 if listed else 0)
        ids = [*one["args"].tolist(), *one["reals"][:4].astype(int).tolist()]
        listed += [node_id for node_id in ids if node_id >= 0]
        assert one[BOTH_WAYS] == 2 ** sum(node_id >= 0 for node_id in ids) - 1
        if one["flags"] & LAST:
            break
    assert listed == list(range(1, leaves + 1))


def test_a_hub_lists_all_nodes_that_it_hears_in_four_hellos() -> None:
    leaves = 5 * RECORDS * IDS + 3
    air = Air(star(leaves), limit=leaves)
    air.run(SETTLED + 6)
    assert air.neighbours(0) == list(range(1, leaves + 1))
    assert all(air.neighbours(leaf) == [0] for leaf in range(1, leaves + 1))
    of_hub = [one for one in air.records if one["source"] == 0]
    newest = [one for one in of_hub if one["sequence"] == of_hub[-2]["sequence"]]
    assert len(newest) == -(-leaves // (4 * IDS)) > RECORDS
    assert len(newest) < most_emissions(leaves)


def test_nodes_have_room_for_different_numbers_of_senders() -> None:
    """The room of a node is memory only: the same hellos leave the same lists."""
    leaves = 6
    whole = Air(star(leaves), limit=leaves, reported=leaves)
    tight = Air(star(leaves), limit=np.array([leaves] + leaves * [1]), reported=leaves)
    for air in (whole, tight):
        air.run(SETTLED)
    assert [one.tobytes() for one in tight.records] == [one.tobytes() for one in whole.records]
    for row in range(leaves + 1):
        assert tight.neighbours(row) == whole.neighbours(row) != []
    assert tight.reported(3, 0) == whole.reported(3, 0) == list(range(1, leaves + 1))


def test_lossy_links_settle() -> None:
    for share, least, most in (
        (0.9, 0.98, 1.0),
        (0.8, 0.93, 1.0),
        (0.2, 0.0, 0.15),
        (0.1, 0.0, 0.03),
    ):
        success = np.zeros((40, 40))
        for a in range(0, 40, 2):  # twenty links of their own
            success[a, a + 1] = success[a + 1, a] = share
        air = Air(success, limit=2)
        air.run(20)
        known = changed = 0
        before = [air.neighbours(row) for row in range(40)]
        for _ in range(50):
            air.run(1)
            now = [air.neighbours(row) for row in range(40)]
            known += sum(map(len, now))
            changed += sum(a != b for a, b in zip(before, now, strict=True))
            before = now
        assert least <= known / (50 * 40) <= most, (share, known / 2000)
        assert changed / (50 * 40) < 0.06, (share, changed / 2000)


def test_a_silent_neighbour_is_forgotten() -> None:
    air = Air(line(3), limit=2)
    air.run(SETTLED)
    air.stop(2)
    air.run(4.9)  # five hellos in a row may still be on their way
    assert air.neighbours(1) == [0, 2]
    air.run(FORGETS - 4.9)
    assert air.neighbours(1) == [0]
    air.start(2)
    air.run(SETTLED + 1)
    assert air.neighbours(1) == [0, 2]


def test_a_reboot_is_noticed() -> None:
    air = Air(line(2), limit=1)
    air.run(SETTLED)
    assert air.neighbours(0) == [1]
    air.stop(1)
    air.incarnation[1] += 1
    air.hellos.link["node_id"][1] = -1
    air.hellos.next_at[1] = -np.inf
    air.hellos.number[1] = 0
    air.known.last[1] = air.known.first[1]
    air.start(1)
    while air.records[-1]["incarnation"] == 0:
        air.run(0.05)
    assert air.neighbours(0) == []
    old = air.records[-1].copy()
    old["incarnation"] = 0
    air.run(SETTLED + 1)
    assert air.neighbours(0) == [1]
    assert air.neighbours(1) == [0]
    air.hand(0, old)  # a record of the earlier life changes nothing
    assert air.neighbours(0) == [1]


def test_the_numbers_of_hellos_begin_again_after_the_last_one() -> None:
    air = Air(line(2), limit=1)
    air.hellos.number[:] = 65_530
    air.run(SETTLED)
    assert air.neighbours(0) == [1]
    air.run(20)
    assert air.hellos.number[0] < 100
    assert air.neighbours(0) == [1]


def test_a_hello_comes_once_in_a_period_with_jitter() -> None:
    air = Air(line(2), limit=1)
    air.run(SETTLED)
    air.records.clear()
    begin = air.now
    air.run(200)
    count = sum(int(one["source"]) == 0 for one in air.records)
    assert abs(count - (air.now - begin) / PERIOD_S) < 10


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_any_hellos_leave_the_lists_sorted_bounded_and_consistent(data: st.DataObject) -> None:
    air = Air(np.zeros((1, 1)), limit=3, reported=2)
    ids = st.integers(0, 5) | st.sampled_from([2**31 - 1, 2**31 - 2])
    for _ in range(data.draw(st.integers(1, 40))):
        record = np.zeros(1, RECORD).view(np.recarray)[0]
        record["kind"] = HELLO
        record["source"] = data.draw(st.integers(1, 5))
        record["incarnation"] = data.draw(st.integers(0, 2))
        record["sequence"] = data.draw(st.integers(0, 4) | st.integers(0, 65_535))
        record["flags"] = data.draw(st.integers(0, 1))
        record[LOWEST] = data.draw(ids)
        record[BOTH_WAYS] = data.draw(st.integers(0, 2**IDS - 1))
        listed = data.draw(st.lists(ids, max_size=8))
        record["args"] = listed + [-1] * (8 - len(listed))
        record["reals"][:4] = -1.0
        air.now += data.draw(st.sampled_from([0.0, 0.5, 30.0]))
        air.hand(0, record)
        if data.draw(st.integers(0, 9)) == 0:
            timer = np.zeros(1, RECORD).view(np.recarray)[0]
            timer["kind"] = HELLO_TIMER
            air.hand(0, timer)
        links = air.hellos.link
        known = sorted(int(one["node_id"]) for one in links if one["is_neighbour"])
        assert air.known.who[air.known.first[0] : air.known.last[0]].tolist() == known
        for s in range(3):
            first, last = air.known.first[1 + s], air.known.last[1 + s]
            assert last - first <= 2
            assert (np.diff(air.known.who[first:last]) > 0).all()


def test_a_hello_has_its_own_length_on_the_wire() -> None:
    air = Air(star(15), limit=15)
    air.run(SETTLED)
    codec, sizes = Codec(KINDS), record_sizes(KINDS)
    lengths = set()
    for record in air.records:
        data = codec.encode(record)
        lengths.add(len(data))
        again = codec.decode(data)
        for field in ("sequence", LOWEST, BOTH_WAYS, "flags", "source", "incarnation"):
            assert again[field] == record[field]
        assert (again["args"] == record["args"]).all()
        assert (again["reals"] == record["reals"]).all()
    fixed = int(sizes.fixed[int(HELLO)])
    assert lengths >= {fixed, fixed + 4, fixed + 4 * IDS}


@settings(max_examples=60, deadline=None)
@given(
    known=st.sets(st.integers(0, 9)), ids=st.lists(st.integers(0, 9), max_size=IDS, unique=True),
    bits=st.integers(0, 2**IDS - 1), bounds=st.tuples(st.integers(0, 9), st.integers(0, 9)),
)  # fmt: skip
def test_only_a_list_that_a_hello_repeats_is_left_as_it_is(
    known: set[int], ids: list[int], bits: int, bounds: tuple[int, int]
) -> None:
    """A hello is skipped exactly if its replacement of the list changes nothing."""
    around = unknown_neighbourhood(1, 10)
    around.who[: len(known)], around.last[0] = sorted(known), len(known)
    hello = np.zeros(1, RECORD).view(np.recarray)[0]
    ids = sorted(ids) if bits % 2 else ids
    hello["args"], hello["reals"] = NONE, NONE
    hello["args"][: len(ids[:8])], hello["reals"][: len(ids[8:])] = ids[:8], ids[8:]
    hello[BOTH_WAYS] = bits
    lowest, highest = min(bounds), max((*bounds, *ids))
    repeats = is_reported(around, 0, hello, lowest, highest)
    both = [one for k, one in enumerate(ids) if bits >> k & 1]
    after = {one for one in known if not lowest <= one <= highest} | set(both)
    if repeats:
        assert after == known
    elif ids == sorted(ids) and all(one >= lowest for one in both):
        assert after != known


def test_a_history_counts_its_hellos() -> None:
    assert [came(history) for history in range(1 << 16)] == [
        history.bit_count() for history in range(1 << 16)
    ]
