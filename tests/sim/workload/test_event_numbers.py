"""The key of an event: one form for arrays, and one compiled form for one event."""

from halfway.sim.engine.counting import key_of
from halfway.sim.workload.event_numbers import codes


def test_the_engine_and_the_workload_have_the_same_key_of_an_event() -> None:
    publisher, event = [0, 5, 2**31 - 1], [7, 0, 2**31 - 1]
    keys = [int(key_of(row, number)) for row, number in zip(publisher, event, strict=True)]
    assert keys == codes(publisher, event).tolist()
