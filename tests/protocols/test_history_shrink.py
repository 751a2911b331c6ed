"""Random histories have a JSON form, and wrong ones shrink; the stored ones are right today."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from halfway.world.faults import Crash
from halfway.world.workload.named_roles import ALWAYS
from tests.protocols.histories import history_of
from tests.protocols.history import (
    Broker,
    History,
    Role,
    deliveries_of,
    failure_of,
    read,
    result_of,
    run_of,
    written,
)
from tests.protocols.history_shrink import FOLDER, main, shrunk, stored
from tests.protocols.promises import CHANGES_S, PROMISES
from tests.protocols.simpler_histories import SIMPLER, busy_rows, is_connected, named_brokers

FEW = 20


@pytest.mark.one_clock  # a stored history says whether clocks have errors
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_a_stored_history_is_right(path: Path) -> None:
    assert failure_of(read(path.read_text("utf-8"))) == ""


@pytest.mark.parametrize("system", PROMISES)
@pytest.mark.parametrize(("given", "plain"), [(False, False), (True, False), (False, True)])
def test_a_history_survives_its_json_form(system: str, given: bool, plain: bool) -> None:
    for seed in range(FEW):
        history = history_of(system, seed, given=given, plain=plain)
        text = written(history)
        assert read(text) == history
        assert "NaN" not in text
        assert "Infinity" not in text


def test_a_role_without_end_survives_the_json_form() -> None:
    history = replace(
        history_of("siena", 0), subscriptions=(Role(0, 0), Role(1, 0, 2.5)), brokers=(Broker(2),)
    )
    again = read(written(history))
    assert again.demand.periods == {(1, 0): (2.5, float("inf"))}
    assert again.demand.brokers[0].until_s == float("inf")


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> History:
    """A wrong history of a gossip in which each node sends an event to one neighbour only."""
    weak = PROMISES["gossip"]._replace(options={"fanout": 1, "rounds": 1})
    monkeypatch.setitem(PROMISES, "gossip", weak)
    return history_of("gossip", 1)


@pytest.mark.one_clock  # the shrunk history has one clock
def test_a_wrong_history_shrinks_to_what_it_needs(wrong: History) -> None:
    assert (len(wrong.faults), len(wrong.subscriptions), wrong.n) == (5, 6, 8)
    small, runs, count = shrunk(wrong)
    assert small.faults == small.publishing == ()
    assert [one.period for one in small.subscriptions] == [ALWAYS]
    assert len(small.publications) == 1
    assert (small.clock, small.hello, small.n) == (False, False, 4)
    assert count == "missing"
    assert result_of(small) == (1, 1, 0, 0, 0)
    assert shrunk(wrong) == (small, runs, count)
    assert shrunk(small).history == small


def test_a_right_history_stays_as_it_is() -> None:
    right = history_of("flooding", 0)
    assert shrunk(right) == (right, 1, "")


def test_the_runs_are_bounded(wrong: History) -> None:
    small, runs, _ = shrunk(wrong, 6)
    assert runs == 6
    assert small != wrong


@pytest.mark.parametrize("system", PROMISES)
def test_simpler_histories_keep_the_rules_of_drawn_ones(system: str) -> None:
    for seed in range(FEW):
        history = history_of(system, seed)
        for simpler in SIMPLER:
            for one in simpler(history):
                assert one != history
                assert is_connected(one)
                assert max(busy_rows(one), default=0) < one.n
                assert not (one.dead and not one.hello)
                assert _late_after_losses(one) <= _late_after_losses(history)


def test_the_named_brokers_are_those_of_the_run() -> None:
    history = next(one for seed in range(FEW) if not (one := history_of("siena", seed)).brokers)
    (other,) = named_brokers(history)
    assert len(other.brokers) == history.options["brokers"]
    assert deliveries_of(run_of(other)) == deliveries_of(run_of(history))


def test_a_stored_history_is_printed(
    tmp_path: Path, wrong: History, capsys: pytest.CaptureFixture[str]
) -> None:
    path = stored(replace(wrong, why="an event stopped"), tmp_path)
    assert path.name == "gossip-1.json"
    main(path)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "gossip, seed 1, 8 nodes: an event stopped"
    assert sum(line.startswith("event ") for line in lines) == len(wrong.publications)
    assert sum(line.startswith("fault: ") for line in lines) == 5
    assert lines[-1].endswith("missing is wrong")


def _late_after_losses(history: History) -> int:
    """The roles without an end that a node, after a loss of memory, may begin after quiescence."""
    lost = {
        fault.node: fault.at + fault.for_
        for fault in history.faults
        if isinstance(fault, Crash) and fault.memory == "lost"
    }
    endless = (*history.subscriptions, *history.publishing, *history.brokers)
    late = [one for one in endless if one.until_s is None and one.row in lost]
    return sum(lost[one.row] + one.from_s > CHANGES_S for one in late)
