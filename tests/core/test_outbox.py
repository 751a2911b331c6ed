"""The outbox: blank records, and a count of emissions without a free slot."""

from halfway.core.message import RECORD
from halfway.core.outbox import emit, outbox


def test_the_record_is_128_bytes_and_naturally_aligned() -> None:
    assert RECORD.itemsize == 128
    places = [RECORD.fields[name][1] for name in ("at", "source", "args", "reals")]
    assert places == [0, 12, 48, 80]


def test_low_slots_go_first_and_records_are_blank() -> None:
    out = outbox(3)
    out.pool["args"] = 7
    out.pool["reals"] = 7.0
    out.pool["hops"] = 7
    emit(out, 5, 0.25, -1)
    record = out.pool[0]
    assert (record.kind, record.at, record.next, record.hops) == (5, 0.25, -1, 0)
    assert not record.args.any()
    assert not record.reals.any()
    assert list(out.tally) == [2, 0]


def test_an_emission_without_a_free_slot_is_counted_and_overwrites_no_record() -> None:
    out = outbox(2)
    for kind in (1, 2, 3, 4):
        emit(out, kind, 0.0, 0)
    assert list(out.pool["kind"][:2]) == [1, 2]
    assert list(out.tally) == [0, 2]
