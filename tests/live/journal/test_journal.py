"""The journal: cuts, flips, power loss, a full disk, sync errors, snapshots."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.live.journal.journal import Journal, JournalRefusal
from halfway.live.journal.segment import HEADER_BYTES, RECORD_BYTES, packed_record, scanned
from tests.live.journal.made import MadeStorage, PowerLoss, kept, opened, recovered

RECORDS = st.lists(st.tuples(st.integers(1, 255), st.binary(max_size=120)), max_size=30)


def some(count: int, seed: int = 0) -> list[tuple[int, bytes]]:
    rng = random.Random(seed)
    return [
        (rng.randint(1, 9), b"%d:" % n + rng.randbytes(rng.randint(0, 40))) for n in range(count)
    ]


def filled(count: int = 40) -> tuple[MadeStorage, list[tuple[int, bytes]]]:
    storage, records = MadeStorage(), some(count)
    assert kept(opened(storage), records) == ""
    assert len(storage.files) > 2
    return storage, records


def changed(storage: MadeStorage, name: str, content: bytes) -> MadeStorage:
    copy = MadeStorage()
    copy.files = {one: bytearray(data) for one, data in storage.files.items()}
    copy.files[name] = bytearray(content)
    return copy


@given(RECORDS, RECORDS, st.integers(1, 7))
def test_what_is_kept_comes_back_in_order(
    first: list[tuple[int, bytes]], second: list[tuple[int, bytes]], group: int
) -> None:
    storage = MadeStorage()
    assert kept(opened(storage), first, group) == ""
    journal = opened(storage)
    assert kept(journal, second, group) == ""
    assert recovered(storage) == (first + second, [])
    assert journal.size == sum(map(len, storage.files.values()))


def test_a_cut_at_every_byte_leaves_a_prefix_and_a_journal_that_works() -> None:
    storage, records = filled(24)
    names = storage.names()
    before = sum(len(scanned(storage.read(name)).records) for name in names[:-1])
    content = storage.read(names[-1])
    places = [one.place for one in scanned(content).records]
    for cut in range(len(content)):
        torn = changed(storage, names[-1], content[:cut])
        whole = before + sum(
            place + RECORD_BYTES + len(records[before + n][1]) <= cut
            for n, place in enumerate(places)
        )
        found, problems = recovered(torn)
        assert found == records[:whole]
        is_whole = cut == HEADER_BYTES or cut in places
        assert bool(problems) is not is_whole
        journal = opened(torn)
        assert kept(journal, [(1, b"after")]) == ""
        assert recovered(torn) == ([*records[:whole], (1, b"after")], [])


def flipped(count: int, seed: int) -> None:
    """Flip one bit, `count` times: at most the hit record is missing, and the place is named."""
    storage, records = filled()
    rng, names = random.Random(seed), storage.names()
    for _ in range(count):
        name = rng.choice(names)
        content = bytearray(storage.files[name])
        bit = rng.randrange(8 * len(content))
        content[bit // 8] ^= 1 << bit % 8
        found, problems = recovered(changed(storage, name, bytes(content)))
        in_header = bit // 8 < HEADER_BYTES
        assert len(found) == len(records) - (0 if in_header else 1)
        assert [one for one in records if one in found] == found
        assert len(problems) == 1
        assert problems[0].startswith(name)


def test_a_flipped_bit_costs_one_record_and_is_named() -> None:
    flipped(400, seed=1)


@pytest.mark.slow
def test_ten_thousand_flipped_bits() -> None:
    flipped(10_000, seed=2)


@settings(max_examples=30)
@given(st.binary(max_size=300), st.integers(0, 60))
def test_any_bytes_are_scanned(data: bytes, length: int) -> None:
    storage, _ = filled(20)
    head = storage.read(storage.names()[0])[: HEADER_BYTES + length]
    for content in (data, head + data):
        scan = scanned(content)
        assert scan.end <= len(content)
        recovered(changed(storage, "00000000000000ff.journal", content))


def test_content_cannot_imitate_a_record_behind_damage() -> None:
    storage = MadeStorage()
    forged = packed_record(b"GUES", HEADER_BYTES + RECORD_BYTES, 9, b"forged")
    kept(opened(storage), [(1, forged), (2, b"next")])
    (name,) = storage.names()
    content = bytearray(storage.files[name])
    content[HEADER_BYTES] ^= 1  # the marker of the record that holds the forgery
    found, problems = recovered(changed(storage, name, bytes(content)))
    assert found == [(2, b"next")]
    assert len(problems) == 1


@pytest.mark.parametrize("seed", range(20))
def test_power_loss_takes_nothing_that_was_acknowledged(seed: int) -> None:
    rng, storage, sent = random.Random(seed), MadeStorage(), some(60, seed)
    acknowledged: list[tuple[int, bytes]] = []
    for begin in range(0, 60, 10):
        journal = opened(storage)
        storage.off_after = rng.randint(0, 12)
        found: list[tuple[int, bytes]] = journal.found  # type: ignore[attr-defined]
        assert found[: len(acknowledged)] == acknowledged
        acknowledged = found
        try:
            for record in sent[begin : begin + 10]:
                journal.append(*record)
                group = journal.taken_group()
                assert group is not None
                group.write()
                acknowledged = [*acknowledged, record]
        except PowerLoss:
            storage = storage.after_power_loss(rng)
    found, _ = recovered(storage)
    assert found[: len(acknowledged)] == acknowledged


def test_a_full_disk_refuses_and_goes_on_when_there_is_room() -> None:
    storage = MadeStorage()
    journal = opened(storage)
    assert kept(journal, some(5)) == ""
    for spare in range(0, 200, 7):
        storage.free = spare
        assert kept(journal, [(1, b"x" * 300)]) == "disk full"
        assert not journal.failed
        assert storage.free == spare, "what did not fit is cut off"
    storage.free = 10**6
    assert kept(journal, [(1, b"fits again")]) == ""
    assert recovered(storage) == ([*some(5), (1, b"fits again")], [])


def test_the_limit_of_bytes_keeps_a_rest_for_records_that_free_space() -> None:
    journal = opened(MadeStorage(), most=1600)
    with pytest.raises(JournalRefusal, match="disk full"):
        kept(journal, [(1, b"x" * 100)] * 20, group=1)
    taken = journal.size
    journal.append(2, b"drop", spare=True)
    kept(journal, [])
    assert taken < journal.size <= 1600
    journal.compact([])
    assert kept(journal, [(1, b"x" * 100)]) == ""


@pytest.mark.parametrize("error", ["sync_error", "write_error"])
def test_after_an_error_of_the_disk_nothing_is_acknowledged(error: str) -> None:
    storage = MadeStorage()
    journal = opened(storage)
    assert kept(journal, some(4)) == ""
    setattr(storage, error, True)
    journal.append(1, b"lost")
    assert kept(journal, []) == "disk failed"
    setattr(storage, error, False)
    with pytest.raises(JournalRefusal, match="disk failed"):
        journal.append(1, b"later")
    with pytest.raises(JournalRefusal, match="disk failed"):
        journal.compact([])
    assert recovered(storage)[0][:4] == some(4)


def test_a_record_over_the_limit_is_refused() -> None:
    journal = opened(MadeStorage())
    with pytest.raises(JournalRefusal, match="too large"):
        journal.append(1, bytes(2**20 + 1))
    with pytest.raises(ValueError, match="kind = 0"):
        journal.append(0, b"")


def test_a_snapshot_replaces_all_segments() -> None:
    storage, _ = filled()
    journal = opened(storage)
    assert journal.wants_snapshot()
    journal.append(1, b"pending")
    journal.compact(some(3, seed=5))
    assert not journal.wants_snapshot()
    assert len(storage.files) == 1
    kept(journal, some(30, seed=6))
    assert recovered(storage) == ([*some(3, seed=5), (1, b"pending"), *some(30, seed=6)], [])


def test_a_full_disk_leaves_what_a_snapshot_was_to_replace() -> None:
    storage, records = filled()
    journal = opened(storage)
    storage.free = 100
    with pytest.raises(JournalRefusal, match="disk full"):
        journal.compact(some(30))
    assert recovered(storage) == (records, [])
    storage.free = 10**6
    assert kept(journal, [(1, b"goes on")]) == ""
    assert recovered(storage)[0] == [*records, (1, b"goes on")]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("calls", range(12))
def test_power_loss_during_a_snapshot_leaves_the_old_or_the_new(calls: int, seed: int) -> None:
    storage, records = filled(24)
    journal, new = opened(storage), some(5, seed=9)
    storage.off_after = calls
    done = False
    try:
        journal.compact(new)
        done = True
    except PowerLoss:
        storage = storage.after_power_loss(random.Random(seed))
    storage.off_after = 10**9
    found, _ = recovered(storage)
    assert found == new if done else found in (records, new)
    assert kept(opened(storage), [(1, b"after")]) == ""
    assert recovered(storage)[0] == [*found, (1, b"after")]


def test_recovery_reads_no_byte_twice_into_memory_at_once() -> None:
    storage, records = filled()
    journal = Journal(storage, random.Random(1).randbytes)
    recovering = journal.recover()
    assert next(recovering) == records[0], "records come segment by segment"
    assert list(recovering) == records[1:]
