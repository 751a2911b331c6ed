"""Notes under a comparison: only where they apply, short, and with the systems they concern."""

import msgspec
import numpy as np

from halfway.adapters.interface import System
from halfway.adapters.registry import TABLE
from halfway.comparison.evaluation.cell_statistics import FinishedRun, StoppingRule, cells_of
from halfway.comparison.evaluation.comparison_results import MeanInterval, ResultCell
from halfway.comparison.evaluation.metrics import METRICS
from halfway.comparison.evaluation.timelines import encoded
from halfway.protocols import SYSTEMS
from halfway.report.comparison.notes import methods_of, notes_of
from halfway.scenario.schema import Scenario, UnitDisk, Workload
from halfway.sim.radio.declarations import CsmaRadio, IdealRadio
from halfway.world.faults import Crash

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
    return notes_of([scenario], of(*systems), [], [], 3)


def of(*names: str) -> list[System]:
    """Built-in systems by name."""
    return [TABLE[name] for name in names]


def cell(metric: str, *values: float, system: str = "gossip") -> ResultCell:
    """A cell with those values."""
    mean = MeanInterval(float(np.mean(values)), 0.0, 0.0)
    return ResultCell(0, system, metric, mean, len(values), None, False, values)


def energy(**values: list[float]) -> list[ResultCell]:
    """Cells of energy, a list of values a system."""
    (metric,) = (one for one in METRICS if one.name == "energy")
    return cells_of(0, metric, {name: np.array(one) for name, one in values.items()}, "flooding")


def test_a_plain_scenario_needs_no_note() -> None:
    assert notes_of([PLAIN], of("rumor-routing", "gossip"), [finished("gossip", 0)], [], 3) == ()


def test_a_note_has_at_most_two_lines_of_80_columns() -> None:
    runs = [finished("gossip", 0, late=2.0, saturated=1.0)]
    busy = Scenario(network=PLAIN.network, radio=IdealRadio(success=0.9), workload=BUSY.workload)
    cells = [cell("delivery-ratio", 1.0, 1.0, 0.9), cell("delivery-ratio", 0.3, system="drip")]
    systems = [one for one in of(*SYSTEMS) if not one.adapter.detects_failures]
    notes = notes_of([busy], systems, runs, cells, 3, StoppingRule(0.01))
    assert len(notes) == 14
    assert all(len(f"note: {note}") <= 160 for note in notes)


def test_a_radio_without_overhearing_is_named() -> None:
    (note,) = notes_of([PLAIN, LOSSY], of("gossip"), [], [], 3)
    assert "favours walks and trees" in note


def test_acknowledgements_are_named_where_records_can_be_lost() -> None:
    options: dict[str, dict[str, float]] = {"siena": {"retries": 2}}
    lossy, reliable = (
        Scenario(network=PLAIN.network, radio=IdealRadio(success=share), options=options)
        for share in (0.9, 1.0)
    )
    systems = of("random-walk", "gossip", "siena", "georendezvous", "drip")
    notes = notes_of([lossy], systems, [], [], 3)
    assert (
        "Records can be lost, so a hop has this number of retries: random-walk, georendezvous: 5; "
        "siena: 2."
    ) in notes
    assert "These systems have no acknowledged hops: gossip, drip." in notes
    assert "Options set: siena (retries = 2)." in notes
    assert any("`--sweep options.random-walk.retries=0,5`" in note for note in notes)
    quiet = notes_of([reliable], systems, [], [], 3)
    assert not any("acknowledge" in note or "Retries" in note for note in quiet)
    both = notes_of([lossy, reliable], systems, [], [], 3)
    assert any("random-walk, georendezvous: 0 or 5; siena: 2." in note for note in both)


def test_acknowledgements_are_named_on_a_radio_with_contention() -> None:
    notes = on_scenario(PLAIN, "siena", "gossip")
    assert "Records can be lost, so a hop has this number of retries: siena: 5." in notes
    assert any("`--sweep options.siena.retries=0,5`" in note for note in notes)


def test_many_options_make_notes_of_two_lines() -> None:
    options = {name: {"retries": 1, "ack_timeout_s": 0.25, "brokers": 40 + k}
               for k, name in enumerate(("siena", "underlay-siena"))}  # fmt: skip
    options |= {name: {"relaunch_s": 1.5, "launches": 3, "retries": k}
                for k, name in enumerate(("directional-walk", "random-walk"))}  # fmt: skip
    notes = on_scenario(Scenario(network=PLAIN.network, options=options), *options)
    given = [note for note in notes if note.startswith("Options set: ")]
    assert len(given) > 1
    assert all(len(f"note: {note}") <= 160 for note in given)
    assert all(any(f"{name} (" in note for note in given) for name in options)


def test_remarks_on_files_come_first() -> None:
    notes = notes_of([LOSSY], of("gossip"), [], [], 3, remarks=["mesh.csv: left out 3 loops"])
    assert notes[0] == "mesh.csv: left out 3 loops"


def test_the_limits_of_rumor_routing_are_named_where_it_runs() -> None:
    (several,) = on_scenario(BUSY, "rumor-routing")
    assert "rumor-routing: a query ends at one publisher" in several
    assert "up to 3 a topic" in several
    assert any(
        "ends at its first lost record" in note for note in on_scenario(LOSSY, "rumor-routing")
    )
    assert on_scenario(BUSY, "gossip") == ()


def test_the_low_delivery_ratio_of_drip_is_its_design() -> None:
    (note,) = on_scenario(PLAIN, "gossip", "drip")
    assert note.startswith("drip: an event goes to l brokers by design")
    epidemic = Scenario(network=PLAIN.network, radio=PLAIN.radio,
                        options={"drip": {"epidemic": True}})  # fmt: skip
    assert on_scenario(epidemic, "drip") == ("Options set: drip (epidemic = true).",)


def test_events_before_a_tree_is_formed_are_named() -> None:
    note, *_ = on_scenario(PLAIN, "gossip", "siena")
    assert note.startswith("siena: ")
    assert on_scenario(PLAIN, "gossip") == ()


def test_walks_that_are_launched_once_are_named_where_nodes_lose_their_memory() -> None:
    walks = ("directional-walk", "random-walk")
    for memory, refresh_s, expected in (("lost", 0.0, 1), ("lost", 20.0, 0), ("kept", 0.0, 0)):
        scenario = msgspec.structs.replace(
            PLAIN, faults=[Crash(share=0.2, at=5.0, for_=5.0, memory=memory)],
            options={name: {"refresh_s": refresh_s} for name in walks},
        )  # fmt: skip
        found = [note for note in on_scenario(scenario, "gossip", *walks) if "trails" in note]
        assert len(found) == expected
        for note in found:
            assert note.startswith("directional-walk, random-walk: ")
            assert "Set `refresh_s`" in note
            assert len(f"note: {note}") <= 160


def test_costs_are_read_with_the_delivery_ratio_where_ratios_differ() -> None:
    alike = [cell("delivery-ratio", 0.98, 0.99), cell("delivery-ratio", 0.99, 1.0, system="drip")]
    low = cell("delivery-ratio", 0.3, 0.2, system="walk-overlay")
    assert notes_of([PLAIN], of("gossip"), [], alike, 2) == ()
    (note,) = notes_of([PLAIN], of("gossip"), [], [*alike, low], 2)
    assert note.startswith("Delivery ratios differ.")


def test_a_loss_by_design_is_named_where_others_deliver_more() -> None:
    systems = of("flooding", "gossip", "counter-broadcast", "anti-entropy")
    poor = [cell("delivery-ratio", 0.5, 0.6, system=one.name) for one in systems[1:]]
    cells = [cell("delivery-ratio", 0.99, 1.0, system="flooding"), *poor]
    notes = notes_of([PLAIN], systems, [], cells, 2)[1:]
    assert [note.split(":")[0] for note in notes] == ["gossip", "counter-broadcast", "anti-entropy"]
    assert "leaves of a hub" in notes[0]
    assert all(len(f"note: {note}") <= 160 for note in notes)
    assert notes_of([PLAIN], systems, [], poor, 2) == ()  # equal, and nothing delivers more


def test_events_that_may_be_under_way_at_the_end_are_named() -> None:
    def run(system: str, *ratios: float) -> FinishedRun:
        bins = np.full(60, np.nan)
        bins[10 : 10 + len(ratios)] = ratios
        observed = encoded({"delivery-ratio-over-time": bins}, 60.0)
        plain = {name: tuple(column.tolist()) for name, column in observed.items()}
        return FinishedRun(0, system, 0, 1, "ok", "", "", plain)

    late = [run("gossip", 1.0, 1.0, 0.9, 0.4, 0.0), run("flooding", 0.9, 0.9, 0.9, 0.85, 0.9)]
    (note,) = notes_of([PLAIN], of("gossip"), late, [], 1)
    assert note.startswith("Later events arrived less often than earlier ones (gossip).")
    assert len(f"note: {note}") <= 160
    assert notes_of([PLAIN], of("gossip"), late[1:], [], 1) == ()
    assert notes_of([PLAIN], of("gossip"), [run("gossip", 0.5), run("gossip")], [], 1) == ()


def test_counts_beside_the_metrics_are_named_by_system() -> None:
    full = FinishedRun(0, "drip", 0, 1, "ok", "", "", {"shortfall: full tables": (7.0,)})
    runs = [
        finished("gossip", 0, late=2.0), finished("gossip", 1, late=10.0),
        finished("flooding", 0, saturated=1.0), full,
    ]  # fmt: skip
    systems = of("gossip", "flooding", "counter-broadcast")
    late, saturated, short = notes_of([PLAIN], systems, runs, [], 2)
    assert late.startswith("Late notifications (gossip: 12) came after")
    assert saturated.startswith("Saturated nodes (flooding: 1) sent")
    assert short == (
        "drip: 7 full tables (counted by the protocol). Some notifications may have been lost for "
        "this reason."
    )


def test_a_shortfall_is_named_only_where_notifications_were_lost() -> None:
    def run(replicate: int, delivered: float) -> FinishedRun:
        observed = {"delivery-ratio": (delivered,), "shortfall: messages without a route": (3.0,)}
        return FinishedRun(0, "siena", replicate, 1, "ok", "", "", observed)

    systems = of("gossip")
    assert notes_of([PLAIN], systems, [run(0, 1.0), run(1, 1.0)], [], 2) == ()
    (note,) = notes_of([PLAIN], systems, [run(0, 1.0), run(1, 0.9)], [], 2)
    assert note.startswith("siena: 3 messages without a route (counted by the protocol).")


def test_metrics_in_which_rare_values_decide_are_named() -> None:
    cells = [
        cell("delivery-ratio", 1.0, 1.0, 1.0),  # a rare loss may have been missed
        cell("messages-per-notification", 5.0, 5.0, 6.0),
        cell("state-per-node", 512.0, 512.0, 512.0),  # constant by design
        cell("energy", 1.0, 2.0, 3.0),
    ]
    (note,) = notes_of([PLAIN], of("gossip"), [], cells, 3)
    assert "delivery-ratio (gossip); messages-per-notification (gossip)." in note


def test_systems_without_a_value_in_some_replicates_are_named() -> None:
    (note,) = notes_of([PLAIN], of("gossip"), [], [cell("latency-p50", 1.0)], 2)
    assert note.startswith("Some means cover only")
    assert note.endswith("gossip.")


def test_a_stopping_rule_that_was_not_met_names_the_systems() -> None:
    narrow = energy(flooding=[10.0, 10.1, 9.9], gossip=[5.0, 5.1, 4.9])
    assert notes_of([PLAIN], of("gossip"), [], narrow, 3, TENTH) == ()
    wide = energy(flooding=[10.0, 10.1, 9.9], gossip=[5.0, 9.0, 1.0])
    (note,) = notes_of([PLAIN], of("gossip"), [], wide, 3, TENTH)
    assert note.startswith("The limit of replicates was reached")
    assert note.endswith("energy is not as precise as requested: gossip.")
    nothing = energy(flooding=[float("nan"), float("nan")])
    (note,) = notes_of([PLAIN], of("gossip"), [], nothing, 2, TENTH)
    assert note.startswith("No system has a value of energy")


def test_methods_state_added_replicates_and_hellos() -> None:
    assert not any("were added" in line for line in methods_of(PLAIN, 3, 3))
    lines = methods_of(PLAIN, 4, 3)
    assert any("Replicates were added" in line for line in lines)
    assert any("All costs include hellos" in line for line in lines)
    given = methods_of(msgspec.structs.replace(PLAIN, hello="given"), 4, 3)
    assert any("know their neighbours without hellos" in line for line in given)
    assert lines[0].endswith("network, roles, publications and losses, equal for all systems.")
