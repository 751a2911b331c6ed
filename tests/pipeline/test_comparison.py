"""A comparison through Spark: one digest however it is cut, only what is new is made."""

from pathlib import Path

import pytest

from halfway.comparison.compare import compare
from halfway.comparison.request import asked
from halfway.pipeline.store.store import Store
from tests.comparison.scenes import fill, written

PAIR = ["flooding", "gossip"]


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests' own cache has the machine code; no further process is to make it."""
    monkeypatch.setattr("halfway.comparison.compare.compile_first", lambda *_: None)


def test_one_digest_on_any_partitions_and_only_what_is_new_is_made(spark, tmp_path: Path) -> None:
    assert spark is not None
    path = written(tmp_path)
    question = asked(path, PAIR, replicates=4)
    here, there = Store(tmp_path / "here"), Store(tmp_path / "there")
    fill(here, question)
    found = compare(question, there, partitions=3)
    assert found.made == 8
    assert found.compared.digest == compare(question, here).compared.digest
    assert found.compared.errors == 0
    # More replicates, another system, another point: each costs itself.
    assert compare(question._replace(replicates=6), there).made == 4
    alone = Store(tmp_path / "alone")
    assert compare(asked(path, PAIR[:1], replicates=4), alone).made == 4
    assert compare(question, alone).made == 4
    wider = asked(path, PAIR, replicates=6, sweeps={"workload.events": "8,9"})
    assert compare(wider, there).made == 12
    again = compare(question, there)
    assert (again.made, again.compared.digest) == (0, found.compared.digest)


def test_replicates_are_added_until_the_interval_is_tight(spark, tmp_path: Path) -> None:
    assert spark is not None
    path, store = written(tmp_path), Store(tmp_path / "s")
    loose = compare(asked(path, PAIR, replicates=3, until="half-width=500%,energy"), store)
    assert (loose.compared.replicates, loose.made) == (3, 6)
    width = loose.compared.cell(0, "flooding", "energy").mean
    bound = f"half-width={0.6 * width.half_width / width.value:.6f},energy"
    tight = compare(asked(path, PAIR, replicates=3, until=bound), store)
    after = [tight.compared.cell(0, name, "energy").mean for name in PAIR]
    assert tight.compared.replicates > 3
    assert tight.made == 2 * tight.compared.replicates - 6
    assert all(one.half_width <= 0.6 * width.half_width / width.value * one.value for one in after)
    capped = compare(asked(path, PAIR, replicates=3, until="half-width=1e-9,energy", most=5), store)
    assert capped.compared.replicates == 5
    assert any("not yet as tight as asked for" in note for note in capped.compared.notes)


def test_a_system_that_fails_is_an_error_and_harms_no_other(spark, tmp_path: Path) -> None:
    assert spark is not None
    question = asked(written(tmp_path), ["flooding"], replicates=2)
    broken = question.contenders[0]._replace(name="my-own", text="raise ValueError('mine')")
    answer = compare(
        question._replace(contenders=[*question.contenders, broken]), Store(tmp_path / "s")
    )
    assert answer.compared.errors == 2
    assert "mine" in answer.first_error
    assert answer.compared.cell(0, "flooding", "energy").networks == 2
    assert answer.compared.cell(0, "my-own", "energy").networks == 0
