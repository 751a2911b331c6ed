"""The measurement of live nodes: what counts as delivered, and what the command prints."""

import json
import time

import pytest

from halfway.cli import main
from halfway.live.interface.benchmark import _STAMP, LEAST_BYTES, BenchSettings, _Arrivals
from halfway.live.mesh import Event
from halfway.problem import Problem


def event(number: int) -> Event:
    """An event of the measurement, published now."""
    return Event("bench/events", _STAMP.pack(number, time.monotonic()), 1, 0, number)


def test_an_event_counts_once_at_a_subscriber_and_only_in_its_phase() -> None:
    arrivals = _Arrivals()
    one, other = arrivals.taking(), arrivals.taking()
    for take in (one, one, other):
        take(event(3))
    assert arrivals.delivered == len(arrivals.latencies) == 2
    arrivals.begin(4)
    one(event(3))  # late, of the phase before
    one(event(4))
    assert arrivals.delivered == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [("nodes", 1), ("size", LEAST_BYTES - 1), ("rate", 0.0), ("seconds", 1e4)],
)
def test_a_value_out_of_range_is_named(field: str, value: float) -> None:
    settings = BenchSettings("flooding")._replace(**{field: value})
    with pytest.raises(Problem, match=rf"{field} = .*expected"):
        settings.checked()


@pytest.mark.long
def test_the_command_measures_both_phases(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "--interpreted", "--nodes", "3", "--rate", "20", "--seconds", "0.5"]
    assert main([*words, "--json"]) == 0
    paced, flat = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (paced["phase"], flat["phase"]) == ("paced", "flat out")
    assert 1 <= paced["published"] <= 11
    assert paced["delivery"] > 0
    assert flat["published"] > 0
    for row in (paced, flat):
        assert row["datagrams"] > 0
        assert row["delivery"] <= 1.0
        assert 0 < row["p50_s"] <= row["p99_s"]


def test_each_topic_has_a_publisher_and_its_subscribers(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "--interpreted", "--nodes", "4", "--rate", "20", "--seconds", "0.5"]
    more = ["--topics", "2", "--subscribers", "1", "--settle", "0.2", "--no-flat-out", "--json"]
    assert main([*words, *more]) == 0
    (row,) = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert row["phase"] == "paced"
    assert row["published"] > 2
    assert row["delivery"] == 1.0  # of one notification for each event
    assert row["notifications_per_second"] == row["events_per_second"]
    assert row["shortfalls"] == {}


def test_the_notifications_of_a_benchmark_are_counted_by_topic() -> None:
    one = BenchSettings("flooding", nodes=5)
    assert (one.subscribers_of(0), one.notifications(3)) == ([1, 2, 3, 4], 12)
    some = one._replace(topics=3, subscribers=2)
    assert [len(set(some.subscribers_of(k)) - {k}) for k in range(3)] == [2, 2, 2]
    assert some.notifications(7) == 14


def test_topics_take_turns_and_a_phase_begins_with_the_first() -> None:
    arrivals = _Arrivals(topics=2)
    even, odd = arrivals.taking(), arrivals.taking()
    even(event(0))
    odd(event(1))
    even(event(2))
    even(event(2))
    assert arrivals.delivered == 3
    arrivals.begin(4)
    odd(event(3))  # late, of the phase before
    odd(event(5))
    assert arrivals.delivered == 1


def test_a_system_that_does_not_run_live_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--system", "swim"]) == 2
    assert "failure detector" in capsys.readouterr().err
