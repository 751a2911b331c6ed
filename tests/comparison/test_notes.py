"""Notes under a comparison: only where they apply, short, and with the systems they concern."""

import numpy as np

from halfway.comparison.evaluation.metrics import METRICS
from halfway.comparison.evaluation.results import MeanInterval, ResultCell
from halfway.comparison.evaluation.statistics import FinishedRun, StoppingRule, cells_of
from halfway.comparison.notes import methods_of, notes_of
from halfway.protocols import SYSTEMS
from halfway.scenario.schema import Scenario, UnitDisk, Workload
from halfway.sim.radio.declarations import CsmaRadio, IdealRadio

PLAIN = Scenario(network=UnitDisk(n=40, degree=9.0), radio=CsmaRadio())
LOSSY = Scenario(network=PLAIN.network, radio=IdealRadio(success=0.9))
BUSY = Scenario(network=PLAIN.network, radio=CsmaRadio(), workload=Workload(publishers_each=3))
TENTH = StoppingRule(0.1, "energy")


def finished(system: str, replicate: int, **observed: float) -> FinishedRun:
    """A run that counted something."""
    counts = {name.replace("_", " "): (value,) for name, value in observed.items()}
    return FinishedRun(0, system, replicate, 1, "ok", "", "", counts)


def on_scenario(scenario: Scenario, *systems: str) -> tuple[str, ...]:
    """The notes that follow from a scenario and the systems."""
    return notes_of([scenario], systems, [], [], 3)


def cell(metric: str, *values: float, system: str = "gossip") -> ResultCell:
    """A cell with those values."""
    mean = MeanInterval(float(np.mean(values)), 0.0, 0.0)
    return ResultCell(0, system, metric, mean, len(values), None, False, values)


def energy(**values: list[float]) -> list[ResultCell]:
    """Cells of energy, a list of values a system."""
    (metric,) = (one for one in METRICS if one.name == "energy")
    return cells_of(0, metric, {name: np.array(one) for name, one in values.items()}, "flooding")


def test_a_plain_scenario_needs_no_note() -> None:
    assert notes_of([PLAIN], ["rumor-routing", "gossip"], [finished("gossip", 0)], [], 3) == ()


def test_a_note_has_at_most_two_lines_of_80_columns() -> None:
    runs = [finished("gossip", 0, late=2.0, saturated=1.0)]
    busy = Scenario(network=PLAIN.network, radio=IdealRadio(success=0.9), workload=BUSY.workload)
    cells = [cell("delivery-ratio", 1.0, 1.0, 0.9), cell("delivery-ratio", 0.3, system="drip")]
    notes = notes_of([busy], list(SYSTEMS), runs, cells, 3, StoppingRule(0.01))
    assert len(notes) == 11
    assert all(len(f"note: {note}") <= 160 for note in notes)


def test_a_radio_without_overhearing_is_named() -> None:
    (note,) = notes_of([PLAIN, LOSSY], ["gossip"], [], [], 3)
    assert "favours walks and trees" in note


def test_the_limits_of_rumor_routing_are_named_where_it_runs() -> None:
    (several,) = on_scenario(BUSY, "rumor-routing")
    assert "rumor-routing: a query ends at one publisher" in several
    assert "up to 3 a topic" in several
    assert any("ends at its first loss" in note for note in on_scenario(LOSSY, "rumor-routing"))
    assert on_scenario(BUSY, "gossip") == ()


def test_the_low_delivery_ratio_of_drip_is_its_design() -> None:
    (note,) = on_scenario(PLAIN, "gossip", "drip")
    assert note.startswith("drip: an event goes to l brokers by design")
    epidemic = Scenario(network=PLAIN.network, radio=PLAIN.radio,
                        options={"drip": {"epidemic": True}})  # fmt: skip
    assert on_scenario(epidemic, "drip") == ()


def test_what_brokers_of_trees_know_at_the_start_is_named() -> None:
    (note,) = on_scenario(PLAIN, "gossip", "siena")
    assert note.startswith("siena: ")
    assert on_scenario(PLAIN, "gossip") == ()


def test_costs_are_read_with_the_delivery_ratio_where_ratios_differ() -> None:
    alike = [cell("delivery-ratio", 0.98, 0.99), cell("delivery-ratio", 0.99, 1.0, system="drip")]
    low = cell("delivery-ratio", 0.3, 0.2, system="walk-overlay")
    assert notes_of([PLAIN], ["gossip"], [], alike, 2) == ()
    (note,) = notes_of([PLAIN], ["gossip"], [], [*alike, low], 2)
    assert note.startswith("Delivery ratios differ.")


def test_counts_beside_the_metrics_are_named_by_system() -> None:
    full = FinishedRun(0, "georendezvous", 0, 1, "ok", "", "", {"shortfall: full tables": (7.0,)})
    runs = [
        finished("gossip", 0, late=2.0), finished("gossip", 1, late=10.0),
        finished("flooding", 0, saturated=1.0), full,
    ]  # fmt: skip
    systems = ["gossip", "flooding", "georendezvous"]
    late, saturated, short = notes_of([PLAIN], systems, runs, [], 2)
    assert late.startswith("Late notifications (gossip: 12) came after")
    assert saturated.startswith("Saturated nodes (flooding: 1) sent")
    assert short == (
        "georendezvous: 7 full tables (counted by the protocol). Some notifications may have been "
        "lost for this reason."
    )


def test_metrics_in_which_rare_values_decide_are_named() -> None:
    cells = [
        cell("delivery-ratio", 1.0, 1.0, 1.0),  # a rare loss may have been missed
        cell("messages-per-notification", 5.0, 5.0, 6.0),
        cell("state-per-node", 512.0, 512.0, 512.0),  # constant by design
        cell("energy", 1.0, 2.0, 3.0),
    ]
    (note,) = notes_of([PLAIN], ["gossip"], [], cells, 3)
    assert "delivery-ratio (gossip); messages-per-notification (gossip)." in note


def test_systems_without_a_value_in_some_replicates_are_named() -> None:
    (note,) = notes_of([PLAIN], ["gossip"], [], [cell("latency-p50", 1.0)], 2)
    assert note.startswith("Some means cover only")
    assert note.endswith("gossip.")


def test_a_stopping_rule_that_was_not_met_names_the_systems() -> None:
    narrow = energy(flooding=[10.0, 10.1, 9.9], gossip=[5.0, 5.1, 4.9])
    assert notes_of([PLAIN], ["gossip"], [], narrow, 3, TENTH) == ()
    wide = energy(flooding=[10.0, 10.1, 9.9], gossip=[5.0, 9.0, 1.0])
    (note,) = notes_of([PLAIN], ["gossip"], [], wide, 3, TENTH)
    assert note.startswith("The limit of replicates was reached")
    assert note.endswith("energy is not as precise as requested: gossip.")
    nothing = energy(flooding=[float("nan"), float("nan")])
    (note,) = notes_of([PLAIN], ["gossip"], [], nothing, 2, TENTH)
    assert note.startswith("No system has a value of energy")


def test_methods_state_added_replicates_and_hellos() -> None:
    assert not any("were added" in line for line in methods_of(PLAIN, 3, 3))
    lines = methods_of(PLAIN, 4, 3)
    assert any("Replicates were added" in line for line in lines)
    assert any("hellos cost nothing" in line for line in lines)
    assert lines[0].endswith("network, roles, publications and losses, equal for all systems.")
