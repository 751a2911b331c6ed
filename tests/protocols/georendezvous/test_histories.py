"""The draws of the histories of GeoRendezvous, and the oracle of their runs."""

import pytest

from halfway.papers.georendezvous.message_run import delivered
from halfway.sim.simulation import Simulation
from tests.protocols.georendezvous import judged_runs
from tests.protocols.georendezvous.histories import drawn
from tests.protocols.georendezvous.judged_runs import advertises, hops_of, publishing_of
from tests.protocols.georendezvous.radio_histories import radio_history


def test_two_thirds_of_the_histories_have_acknowledgements_and_half_of_these_losses() -> None:
    hops = [hops_of(seed, plain=False) for seed in range(300)]
    assert 80 < sum(one.retries == 0 for one in hops) < 120
    assert 80 < sum(one.success < 1.0 for one in hops) < 120
    assert all(one.retries > 0 for one in hops if one.success < 1.0)
    assert {hops_of(seed, plain=True) for seed in range(300)} == {(0, 1.0)}


def test_some_publishers_begin_late_or_withdraw() -> None:
    drawn_periods = [periods for seed in range(100) for periods in publishing_of(seed, 3, 9, False)]
    late = sum(periods[0][0] > 1.0 for periods in drawn_periods)
    again = sum(len(periods) == 2 for periods in drawn_periods)
    assert 30 < late < 70
    assert 30 < again < 70
    periods = [(1.0, 5.0), (8.0, 99.0)]
    assert [at for at in range(20) if advertises(periods, at, 2.0)] == [3, 4, *range(10, 20)]


def test_the_oracle_notices_what_is_missing_twice_unasked_or_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    history = radio_history(3, plain=True)
    gone, again, *_ = sorted(history.due)
    stranger = (again[0], 5)

    def changed(cells: Simulation) -> list[tuple[int, int]]:
        found = [one for one in delivered(cells) if one != gone]
        assert again in found
        return [*found, again, stranger]

    monkeypatch.setattr(judged_runs, "delivered", changed)
    history.cells.engine.checks.refused[1] += 1
    lines = f"missed {gone}\ntwice {again}\nunasked {stranger}\nrefused 1"
    assert "\n".join(history.wrong()) == lines


def test_losses_end_when_a_history_becomes_calm() -> None:
    seed = next(seed for seed in range(20) if hops_of(seed, plain=False).success < 1.0)
    history = drawn(seed)
    assert history.cells.radio.success.max() < 1.0
    assert 0.0 < history.calm_s < history.cells.seconds
    assert history.wrong() == []
    assert history.cells.radio.success.min() == 1.0
