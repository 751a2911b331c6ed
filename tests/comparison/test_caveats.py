"""Notes under a comparison: only where they hold, and then they name who and what."""

from halfway.comparison.caveats import caveats
from halfway.comparison.finding import Ran
from halfway.comparison.notes import notes_of
from halfway.comparison.results import Cell, Interval
from halfway.scenario.schema import Scenario, UnitDisk, Workload
from halfway.sim.radio.declarations import ContendedAir, IdealAir

PLAIN = Scenario(network=UnitDisk(n=40, degree=9.0), radio=ContendedAir())
AIR = Scenario(network=PLAIN.network, radio=IdealAir(success=0.9))
BUSY = Scenario(network=PLAIN.network, radio=ContendedAir(), workload=Workload(publishers_each=3))


def ran(system: str, replicate: int, **observed: float) -> Ran:
    """A run that counted something."""
    told = {name.replace("_", " "): (value,) for name, value in observed.items()}
    return Ran(0, system, replicate, 1, "ok", "", "", told)


def test_a_contended_radio_and_one_publisher_need_no_word() -> None:
    assert caveats([PLAIN], ["rumor", "gossip"], [ran("gossip", 0)]) == ()


def test_radios_on_which_nobody_overhears_are_named() -> None:
    (note,) = caveats([PLAIN, AIR], ["gossip"], [])
    assert "favours walks and trees" in note


def test_what_rumor_routing_cannot_do_is_told_where_it_runs() -> None:
    (several,) = caveats([BUSY], ["rumor"], [])
    assert "rumor: as in its paper, a query ends at one publisher" in several
    assert "of up to 3 here" in several
    assert any("ends at its first loss" in note for note in caveats([AIR], ["rumor"], []))
    assert caveats([BUSY], ["gossip"], []) == ()


def test_what_runs_counted_beside_the_metrics_is_named_by_system() -> None:
    runs = [
        ran("gossip", 0, late=2.0), ran("gossip", 1, late=10.0), ran("rumor", 0, saturated=1.0),
        Ran(0, "cell-hash", 0, 1, "ok", "", "", {"shortfall: entries without room": (7.0,)}),
    ]  # fmt: skip
    late, saturated, short = caveats([PLAIN], ["gossip", "rumor", "cell-hash"], runs)
    assert late.startswith("gossip: 12 notifications of events")
    assert saturated.startswith("rumor: 1 nodes sent and heard")
    assert short.startswith("cell-hash: 7 entries without room")


def cell(metric: str, *values: float) -> Cell:
    """A cell of gossip with those values."""
    nothing = Interval(0.0, 0.0, 0.0)
    return Cell(0, "gossip", metric, nothing, len(values), None, False, values)


def test_metrics_in_which_rare_values_decide_are_named() -> None:
    cells = [
        cell("delivery-ratio", 1.0, 1.0, 1.0),  # a rare loss may have been missed
        cell("messages", 5.0, 5.0, 6.0),
        cell("state", 512.0, 512.0, 512.0),  # so by construction
        cell("energy", 1.0, 2.0, 3.0),
    ]
    (note,) = [note for note in notes_of(PLAIN, "", cells, 3) if "very same value" in note]
    assert note.startswith("gossip in delivery-ratio, messages: more than half")


def test_what_trees_begin_with_is_told() -> None:
    (told,) = caveats([PLAIN], ["gossip", "siena"], [])
    assert told.startswith("siena: ")
    assert caveats([PLAIN], ["gossip"], []) == ()
