"""A comparison through Spark: one digest with any partitions, and only new runs are made."""

from pathlib import Path

import pytest

from halfway.comparison.request import read_request
from halfway.comparison.run_comparison import compare
from halfway.pipeline.store.store import Store
from halfway.report.comparison.worded_results import with_words
from tests.comparison.scenarios import fill, written

PAIR = ["flooding", "gossip"]


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache of the tests has the machine code; no other process compiles."""
    monkeypatch.setattr("halfway.comparison.run_comparison.compile_first", lambda *_: None)


def test_one_digest_on_any_partitions_and_only_new_runs_are_made(spark, tmp_path: Path) -> None:
    assert spark is not None
    path = written(tmp_path)
    request = read_request(path, PAIR, replicates=4)
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    fill(here, request)
    found = compare(request, there, partitions=3)
    assert found.made == 8
    assert found.results.digest == compare(request, here).results.digest
    assert found.results.errors == 0
    # More replicates, another system or another point add only their own runs.
    assert compare(request._replace(replicates=6), there).made == 4
    alone = Store(tmp_path / "alone")
    assert compare(read_request(path, PAIR[:1], replicates=4), alone).made == 4
    assert compare(request, alone).made == 4
    wider = read_request(path, PAIR, replicates=6, sweeps={"workload.events": "8,9"})
    assert compare(wider, there).made == 12
    again = compare(request, there)
    assert (again.made, again.results.digest) == (0, found.results.digest)


def test_replicates_are_added_until_the_interval_is_narrow(spark, tmp_path: Path) -> None:
    assert spark is not None
    path, store = written(tmp_path), Store(tmp_path / "s")
    loose = compare(read_request(path, PAIR, replicates=3, until="half-width=99%,energy"), store)
    assert (loose.results.replicates, loose.made) == (3, 6)
    width = loose.results.cell(0, "flooding", "energy").mean
    bound = f"half-width={0.6 * width.half_width / width.value:.6f},energy"
    narrow = compare(read_request(path, PAIR, replicates=3, until=bound), store)
    after = [narrow.results.cell(0, name, "energy").mean for name in PAIR]
    assert narrow.results.replicates > 3
    assert narrow.made == 2 * narrow.results.replicates - 6
    assert all(one.half_width <= 0.6 * width.half_width / width.value * one.value for one in after)
    limited = read_request(
        path, PAIR, replicates=3, until="half-width=1e-9,energy", max_replicates=5
    )
    capped = compare(limited, store)
    assert capped.results.replicates == 5
    notes = with_words(limited, capped).results.notes
    assert any("not as precise as requested" in note for note in notes)


@pytest.mark.usefixtures("warmed")
def test_a_failing_system_is_an_error_and_affects_no_other(spark, tmp_path: Path) -> None:
    assert spark is not None
    request = read_request(written(tmp_path), ["flooding"], replicates=2)
    broken = request.systems[0]._replace(name="my-own", text="raise ValueError('broken')")
    completed = compare(request._replace(systems=[*request.systems, broken]), Store(tmp_path / "s"))
    assert completed.results.errors == 2
    assert "broken" in completed.first_error
    assert completed.results.cell(0, "flooding", "energy").replicates == 2
    assert completed.results.cell(0, "my-own", "energy").replicates == 0
