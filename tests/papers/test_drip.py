"""Paper 4 (DRIP), sentence by sentence: the analysis, and claims of §VI on a small run."""

import math

import numpy as np
import pytest

from halfway.papers.drip import analysis, contacts, grid_walks
from halfway.papers.drip.claims_interpretations import INTERPRETATIONS
from halfway.papers.drip.detections import by_event, by_publication
from halfway.papers.drip.measurements import broking, pairwise, simulation
from halfway.papers.drip.packets import packets
from halfway.pipeline.plan.run import Run
from halfway.world.workload.demand import Publications
from halfway.world.workload.number_intervals import IndependentDetection, NumberIntervals


def run(**parameters: float | str) -> Run:
    """One replicate with those parameters."""
    return Run(parameters, 0, network_seed=3, workload_seed=4, random_seed=5)


@pytest.mark.parametrize(("destinations", "copies"), [(1, 1), (2, 1), (4, 2), (5, 3)])
def test_the_exact_mean_is_that_of_equation_1(destinations: int, copies: int) -> None:
    """[drip §V-C] P(T < t) = (1 - e^(-λmt))^l, integrated; the printed mean differs for l > 1."""
    t = np.linspace(0.0, 60.0, 600_001)
    late = 1.0 - (1.0 - np.exp(-copies * t)) ** destinations
    mean = float(((late[1:] + late[:-1]) / 2).sum() * (t[1] - t[0]))
    assert analysis.exact_mean(destinations, copies) == pytest.approx(mean, rel=1e-6)
    assert (analysis.printed_mean(destinations, copies) == pytest.approx(mean, rel=1e-3)) == (
        destinations == 1
    )


@pytest.mark.parametrize(("destinations", "copies"), [(1, 1), (2, 1), (4, 2), (8, 3)])
def test_the_printed_mean_has_one_sign_turned(destinations: int, copies: int) -> None:
    """[drip §V-C] the printed series up to second order integrates to (5l - l²)/4mλ."""
    t = np.linspace(0.0, 60.0, 600_001)
    first = destinations * np.exp(-copies * t)
    second = destinations * (destinations - 1) / 2 * np.exp(-2 * copies * t)
    one, two = (((part[1:] + part[:-1]) / 2).sum() * (t[1] - t[0]) for part in (first, second))
    assert one - two == pytest.approx(destinations * (5 - destinations) / (4 * copies), abs=1e-4)
    assert one + two == pytest.approx(analysis.printed_mean(destinations, copies), abs=1e-4)


def test_draws_have_the_exact_mean() -> None:
    """[drip §V-C] Monte Carlo within four standard errors."""
    waits = analysis.waits(run(draws=20_000, destinations=5, copies=2))["wait"]
    error = waits.std() / math.sqrt(len(waits))
    assert abs(waits.mean() - analysis.exact_mean(5, 2)) < 4 * error


def test_the_printed_meeting_time_is_negative_on_small_grids_and_ignores_k() -> None:
    """[drip §V-C] equation (2): below 0 at N = 100; equal for 5 and 50 brokers at N = 10⁴."""
    assert analysis.printed_meeting(100, 10) < 0.0
    ratio = analysis.printed_meeting(1e4, 5) / analysis.printed_meeting(1e4, 50)
    assert ratio == pytest.approx(1.0, abs=1e-3)
    few, many = (
        grid_walks.grid_meetings(run(grid=400, brokers=k, draws=200))["meeting"].mean()
        for k in (5, 50)
    )
    assert 4 * few < many


@pytest.mark.parametrize("brokers", [10, 20, 50])
def test_the_corrected_meeting_time_is_that_of_two_walks(brokers: int) -> None:
    """A diffusion to a disc in a disc; the walks' regions are diamonds on a torus."""
    found = grid_walks.grid_meetings(run(grid=2500, brokers=brokers, draws=1000))
    assert analysis.corrected_meeting(2500, brokers) == pytest.approx(
        found["meeting"].mean(), rel=0.2
    )


@pytest.mark.parametrize("form", [analysis.printed_delivery, analysis.corrected_delivery])
@pytest.mark.parametrize("brokers", [12, 20, 200])
def test_brokers_are_derived_from_the_time_that_they_take(form, brokers: int) -> None:
    """[drip §V-C] "given a requested ET_mcmd, we can derive … k"."""
    time = form(2500, brokers, 5, 2)
    derived = analysis.brokers_for(time, 5, 2, 2500, form)
    assert derived == pytest.approx(brokers, rel=0.01)
    for beyond in (form(2500, 7, 5, 2) / 2, 2 * form(2500, 2500, 5, 2)):
        assert math.isnan(analysis.brokers_for(beyond, 5, 2, 2500, form))


def test_one_destination_and_one_copy_are_two_walks_that_meet() -> None:
    one = grid_walks.grid_deliveries(run(N=400, k=20, l=1, m=1, draws=1000))["complete"]
    two = grid_walks.grid_meetings(run(grid=400, brokers=20, draws=1000))["meeting"]
    error = math.hypot(one.std(), two.std()) / math.sqrt(1000)
    assert abs(one.mean() - two.mean()) < 4 * error


def test_regions_are_in_contact_where_a_link_joins_them() -> None:
    """Four nodes in a row and one that is far: the brokers are its ends and the far one."""
    row = np.array([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0], [300.0, 0.0], [900.0, 900.0]])
    brokers = np.array([0, 3, 4])
    assert contacts._touching(row, brokers).tolist() == [True, False, False]
    row[2:4] += 40.0  # nodes 1 and 2 lose each other
    assert contacts._touching(row, brokers).tolist() == [False, False, False]
    joined = np.array([1, 1, 0, 0, 1, 0, 1, 0], np.bool_)
    assert contacts._apart(joined).tolist() == [2, 1]


SMALL = {
    "n": 100, "k": 10, "l": 4, "m": 1, "seconds": 150.0, "radio": "ideal", "hello_s": 0.0,
    "elected": "network",
}  # fmt: skip


def test_a_network_has_the_brokers_that_the_paper_defines() -> None:
    """[drip §IV-A] "top k largest in the network", also where the network is in parts."""
    sparse = {**SMALL, "n": 40, "seconds": 30.0}
    made = simulation(run(**sparse), "drip", 1)
    made.run(records=3000)  # the election is over, and no broker is lost yet
    brokers = np.flatnonzero(made.instance.state.node["is_broker"])
    assert sorted(brokers) == sorted(np.argsort(-made.demand.capability)[:10])
    many = simulation(run(**{**sparse, "elected": "component"}), "drip", 1)
    many.run(records=3000)
    assert many.instance.state.node["is_broker"].sum() > 10


# Pair by pair. docs/papers/drip.md has the proof; these check its premise and its conclusions.
PAIRED = {**SMALL, "elected": "component"}
SENT = {**SMALL, "payload_bytes": 50}


def test_transferred_events_change_no_region_no_route_and_no_register() -> None:
    """The premise: meetings of brokers, and their routes, are the same for every system."""
    systems = (("drip", 1), ("drip", 4), ("sf", 1))
    made = [simulation(run(**PAIRED), system, m) for system, m in systems]
    for one in made:
        one.run()
    first, *others = (one.instance.state for one in made)
    by_events = {
        "arrivals", "held_events", "lost", "forgotten", "transfer_at", "digest", "more_digest"
    }  # fmt: skip
    for other in others:
        for table in ("node", "nearest", "routes", "register", "contacts"):
            one, another = getattr(first, table), getattr(other, table)
            for field in set(one.dtype.names) - by_events:
                assert np.array_equal(one[field], another[field]), (table, field)
        assert not np.array_equal(first.events.role, other.events.role)


def test_an_epidemic_is_never_later_at_any_broker_without_contention() -> None:
    """[drip §VI-B] says the opposite of SF; without contention it cannot be."""
    found = pairwise(run(system="sf", other="drip", **PAIRED))
    assert found["broker later"].sum() == 0
    assert len(found["broker later"]) > 100
    assert found["later"].mean() < 0.02


def test_more_copies_are_never_later_at_any_broker_without_contention() -> None:
    """[drip §VI-B] "more copies can enlarge the opportunity to deliver"."""
    found = pairwise(run(system="drip", other="drip", **{**PAIRED, "other_m": 1, "m": 4}))
    assert found["broker later"].sum() == 0
    assert len(found["broker later"]) > 50


@pytest.mark.slow
@pytest.mark.parametrize("k", [10, 20, 40])
@pytest.mark.parametrize(("system", "m", "other_m"), [("sf", 1, 1), ("drip", 2, 1), ("drip", 4, 2)])
def test_hardly_any_broker_of_many_networks_gets_a_copy_later(
    k: int, system: str, m: int, other_m: int
) -> None:
    """On six networks of the paper's environment, 200 s each.

    Rare copies are later: a copy was lost or waits, and a bit of another event in the digest of its
    broker says that the broker has it.
    """
    systems = {"system": system, "other": "drip", "m": m, "other_m": other_m}
    whole = {**PAIRED, "n": 200, "k": k, "l": 5, "seconds": 200.0, **systems}
    for seed in range(20, 26):
        found = pairwise(Run(whole, 0, network_seed=seed, workload_seed=seed + 100, random_seed=5))
        assert len(found["broker later"]) > 500
        assert found["broker later"].mean() < 0.002


def test_packets_have_the_sizes_and_the_repeats_of_their_kinds() -> None:
    """[drip §IV-B] a beacon goes on at nodes that list its broker: about l of k of the nodes."""
    near = {name: value[0] for name, value in packets(run(system="drip", **SENT)).items()}
    nearer = {
        name: value[0] for name, value in packets(run(system="drip", **{**SENT, "l": 2})).items()
    }
    random = packets(run(system="random", **SENT))
    assert 0.1 < nearer["repeats"] < near["repeats"] < 0.8
    assert near["subscription"] > nearer["subscription"] > 0  # the list of nearest brokers
    assert near["event with payload"] == near["event"] + 50 > 50
    assert near["local"] > random["local"][0]


def test_each_node_detects_an_event_with_its_ability_as_probability() -> None:
    """[drip §VI-A] "based on its detecting abilities"; the detections of an event are at once."""
    one, each = NumberIntervals(60, 4.0, seed=3), IndependentDetection(60, 4.0, seed=3)
    happened, seen = (way.next_publications(np.inf, 10_000) for way in (one, each))
    assert each.next_at() == np.inf
    at, first = np.unique(seen.t, return_index=True)
    assert (at == happened.t).all()  # the most capable node detects each event
    assert (seen.topic[first] == happened.topic).all()
    share = np.bincount(seen.row, minlength=60) / len(at)
    assert np.allclose(share, each.capability, atol=4 * 0.5 / math.sqrt(len(at)))
    again = each.begun_again()
    assert again.next_at() == seen.t[0]
    parts = [
        again.next_publications(100.0, 7),
        again.next_publications(100.0, 10_000),
        again.next_publications(np.inf, 10_000),
    ]
    assert np.concatenate([part.event for part in parts]).tolist() == seen.event.tolist()
    assert max(parts[1].t) < 100.0 <= min(parts[2].t)


def test_the_first_copy_of_an_event_counts_whoever_detected_it() -> None:
    """Nodes 1 and 2 detect an event that 1, 4 and 5 want, and node 3 another one."""
    published = Publications(
        np.array([1.0, 1.0, 2.0]), np.array([1, 2, 3], np.int32), np.zeros(3, np.int32),
        np.arange(3, dtype=np.int32),
    )  # fmt: skip
    came_at = np.array([[np.inf, 3.0, 2.5], [4.0, 2.0, np.inf]])
    deliveries = np.array([[0, 4, 0.9], [1, 4, 0.4], [1, 1, 0.2], [2, 5, 0.1]]).T
    event, row = deliveries[:2].astype(np.int64)
    found = by_event(published, [np.array([1, 4, 5], np.int32)], came_at, event, row, deliveries[2])
    assert found.at.tolist() == [1.0, 2.0]
    assert found.came_at.tolist() == [[3.0, 2.5], [2.0, np.inf]]
    assert list(zip(found.event.tolist(), found.delay.tolist(), strict=True)) == [
        (0, 0.4),
        (1, 0.1),
    ]
    assert found.awaited.tolist() == [2, 3]


def test_a_publisher_does_not_wait_for_its_own_event() -> None:
    published = Publications(
        np.array([1.0, 2.0]), np.array([1, 2], np.int32), np.zeros(2, np.int32),
        np.arange(2, dtype=np.int32),
    )  # fmt: skip
    assert by_publication(published, [np.array([1, 4, 5], np.int32)]).tolist() == [2, 3]


@pytest.mark.parametrize("interpretation", INTERPRETATIONS)
def test_an_interpretation_changes_what_is_measured(interpretation: str) -> None:
    """Each interpretation of the figure `interpretations` is another run of the same network."""
    usual, other = (
        broking(run(**{**SMALL, "system": "drip", **given}))
        for given in ({}, INTERPRETATIONS[interpretation][0])
    )
    assert usual["delivered"] > 0
    assert other["delivered"] > 0
    assert usual["delay"].tolist() != other["delay"].tolist()
