"""Paper 2: a test for each claim of §§III-VI, quoted by its decisive clause.

Statistical claims are measured on a few networks here; the sweeps judge them at full size.
"""

from functools import cache
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest

from halfway.bulk.walk_overlay.traffic import Traffic, filters, match_matrix, passes
from halfway.core.bloom import Size
from halfway.papers.walk_overlay import claims_depth, claims_events, claims_path, claims_walks
from halfway.papers.walk_overlay.event_layer import traffic
from halfway.papers.walk_overlay.experiments import PAPER, overlay_point
from halfway.papers.walk_overlay.measurements import initiator_sets, overlays, stopping
from halfway.papers.walk_overlay.paired_estimates import correlation, means, slope, variation
from halfway.papers.walk_overlay.picture import picture, shown_overlay
from halfway.pipeline.plan.run import Run
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import estimate
from halfway.pipeline.statistics.summary import Summary
from halfway.protocols.walk_overlay.messages import CONTENT_EVENT
from tests.networks import disk
from tests.protocols.walk_overlay.history import CATALOGUE, KEY, RULES, SUBSCRIPTIONS, History

NETWORKS = 3


def summarised(runs: dict[int, Any], parameters: dict[str, Any]) -> list[Summary]:
    """Summaries of a point from the observations of its replicates."""
    metrics = runs[0]
    return [
        Summary(
            parameters=parameters,
            metric=metric,
            **estimate(
                np.concatenate([runs[i][metric] for i in runs]),
                np.concatenate([np.full(len(runs[i][metric]), i) for i in runs]),
                len(runs),
            ),
        )
        for metric in metrics
    ]


@cache
def built() -> Summaries:
    """Every point of Figures 8 to 10 on three networks, three sets of initiators each."""
    rows: list[Summary] = []
    for n in claims_path.SIZES:
        for count in claims_path.COUNTS[n]:
            for system in claims_path.WALKS:
                parameters = {**overlay_point(n, system, count).parameters, "sets": 3}
                runs = {
                    i: overlays(Run(parameters, i, 100 + i, 200 + i, 300 + i + count))
                    for i in range(NETWORKS)
                }
                rows += summarised(runs, parameters)
    return Summaries(rows)


def of_metric(found: Any, metric: str) -> list[Verdict]:
    """The verdicts on a metric."""
    return [verdict for verdict in found if verdict.metric == metric]


def panels() -> list[Verdict]:
    """The verdicts on Figure 8 at each size."""
    return [v for n in claims_path.SIZES for v in claims_path.judge_panels(n, built())]


# §VI


def test_the_printed_numbers_of_simulations_need_ten_runs_a_network() -> None:
    """[dwo §VI] "126.000", "20.000", and "100 different networks": not all of them can be."""
    counts = claims_path.COUNTS
    totals = {1000: 20_000, 2000: 21_000, 3000: 22_000}  # as printed
    for n, printed in totals.items():
        assert len(counts[n]) * claims_path.NETWORKS * claims_path.SETS == printed
    assert 2 * sum(totals.values()) == 126_000


def test_every_walk_meets_another() -> None:
    """[dwo §V-B] "In order to assure intersections our algorithm goes back in the DRW"."""
    assert {row.maximum for row in built().select("unjoined")} == {0.0}


def test_pure_walks_present_larger_active_paths() -> None:
    """[dwo §VI-A] "overlay layers that use PRWs present larger active paths"."""
    found = of_metric(panels(), "mean active nodes, DRW / PRW")
    assert len(found) == 2 * 63
    visited = [v for v in found if v.interpretation == claims_path.PATHS["active"]]
    assert all(float(v.measured or 9) < 1 for v in visited)


def test_without_abandoned_nodes_the_smallest_network_turns_round() -> None:
    """[dwo §V-B] "i--": the second interpretation of the active path, at two initiators."""
    two = [
        v
        for v in of_metric(panels(), "mean active nodes, DRW / PRW")
        if v.interpretation == claims_path.PATHS["needed"] and v.cell["initiators"] == 2
    ]
    share = {int(v.cell["n"]): float(v.measured or 0) for v in two}
    assert share[1000] > 1 > share[3000]


def test_no_logarithm_holds_over_all_numbers_of_initiators() -> None:
    """[dwo §VI-A] "the same logarithmic behavior": each initiator is an active node itself."""
    metric = "R² of mean active nodes over ln(initiators)"
    lines = of_metric(panels(), metric)
    mine = [v for v in lines if v.cell["system"] == "directional-walk"]
    assert {v.verdict for v in mine if v.cell["initiators"] == "all"} == {"differs"}


def test_more_nodes_make_longer_pure_walks() -> None:
    """[dwo §VI-A] "the more nodes we have in the network, the more … in the active path"."""
    metric = "mean active nodes, less / more nodes"
    found = of_metric(claims_path.judge_figure_8(built()), metric)
    many = [
        v
        for v in found
        if v.cell["initiators"] == 500 and v.interpretation == claims_path.PATHS["active"]
    ]
    pure = [float(v.measured or 9) for v in many if v.cell["system"] == "random-walk"]
    assert pure
    assert max(pure) < 1


def test_the_depth_rises_with_the_third_initiator() -> None:
    """[dwo §VI-B] "the depth is importantly increased when having three"."""
    found = of_metric(claims_depth.judge_figure_10(built()), "mean depth, two / three initiators")
    assert len(found) == 6
    assert sum(float(v.measured or 9) < 1 for v in found) >= 5


def test_depths_are_similar() -> None:
    """[dwo §VI-B] "depths are very similar for all cases"."""
    found = of_metric(claims_depth.judge_figure_9(built()), "mean depth, DRW - PRW")
    assert len(found) == 63
    assert sum(v.verdict == "agrees" for v in found) >= 60


def test_active_nodes_and_depth_are_correlated() -> None:
    """[dwo §VI-B] "there exists no correlation": there is, as both grow with the initiators."""
    metric = "correlation of active nodes and depth"
    found = of_metric(claims_depth.judge_figure_10(built()), metric)
    first = [v for v in found if v.cell["initiators"] == "2 to 10"]
    assert len(first) == 6
    assert all(float(v.measured or 0) > 0.3 for v in first)


def test_estimates_are_those_of_the_values_themselves() -> None:
    random_state = np.random.default_rng(5)
    active, noise = random_state.integers(10, 99, (2, 40)).astype(float)
    depth = active / 100 + noise / 50
    seen = {
        "active": active, "depth": depth, "active squared": active**2, "depth squared": depth**2,
        "active x depth": active * depth,
    }  # fmt: skip
    found = Summaries(summarised({0: seen, 1: seen}, {"initiators": 2}))
    assert correlation(found, (2,))[0] == pytest.approx(np.corrcoef(active, depth)[0, 1])
    wide, networks = variation(found, "active", initiators=2)
    assert wide[0] == pytest.approx(active.std() / active.mean())
    assert networks == 2


def test_a_slope_is_that_of_the_line() -> None:
    counts = (2, 5, 10, 40)
    rows = [
        summarised({i: {"active": np.array([3 + 7 * np.log(c) + i])} for i in range(2)},
                   {"initiators": c})
        for c in counts
    ]  # fmt: skip
    table, _ = means(Summaries([row for point in rows for row in point]), "active", counts)
    assert slope(table, counts)[0] == pytest.approx(7.0)


def test_outliers_lie_beyond_the_whiskers() -> None:
    values = np.array([1.0, 2, 3, 4, 5, 100, -100, 3, 3, 3])
    assert estimate(values, np.zeros(10))["outliers"] == pytest.approx(0.2)


def test_longer_lists_of_initiators_begin_with_the_shorter_ones() -> None:
    few, many = initiator_sets(50, 3, 4, 9), initiator_sets(50, 20, 4, 9)
    assert np.array_equal(many[:, :3], few)
    assert all(len(set(rows)) == 20 for rows in many)


# §IV and the stopping rule


def test_a_walk_with_more_steps_before_it_gives_up_is_late_more_rarely() -> None:
    run = Run(
        {"n": 300, "radius": 0.1, "system": "directional-walk", "initiators": 5, "sets": 60},
        0, 1, 2, 3,
    )  # fmt: skip
    seen = stopping(run)
    late = [seen[f"late after {c} means"].mean() for c in (1, 2, 3, 5)]
    assert late == sorted(late, reverse=True)
    assert 0 < late[0] < 0.7
    assert (seen["steps"] > 0).all()


def test_every_figure_is_declared_with_its_points_and_judged() -> None:
    names = {figure.name for figure in PAPER.figures}
    assert names >= {"figure-4", "figure-6", "figure-8", "figure-9", "figure-10", "bloom"}
    for figure in PAPER.figures:
        assert figure.drawing is not None or figure.points("quick")
    whole = PAPER.figure("figure-8")
    assert whole is not None
    runs = len(whole.points("paper")) * whole.replicates["paper"] * claims_path.SETS
    assert runs == 126_000


def test_shares_far_below_the_rule_agree() -> None:

    def row(metric: str, mean: float) -> Summary:
        base = summarised({0: {metric: np.array([mean])}, 1: {metric: np.array([mean])}}, {})[0]
        return msgspec.structs.replace(base, mean_low=mean / 2, mean_high=mean * 1.01)

    rows = []
    for n in claims_path.SIZES:
        for system in claims_path.WALKS:
            for there in claims_walks.JOINED:
                cell = {"n": n, "system": system, "initiators": there}
                for c in claims_walks.MULTIPLES:
                    rows += [
                        msgspec.structs.replace(
                            row(f"late after {c} means", 1e-6), parameters=cell
                        ),
                        msgspec.structs.replace(
                            row(f"spent after {c} means", 0.1), parameters=cell
                        ),
                    ]
    found = list(claims_walks.judge_stopping(Summaries(rows)))
    assert {v.verdict for v in found} == {"ours holds"}


# §III


def test_brokers_are_where_walks_met() -> None:
    """[dwo §III] "Broker nodes … are the meeting point between two DRWs"."""
    overlay = shown_overlay(10)
    assert set(overlay.brokers) <= set(overlay.rows)
    assert 1 <= len(overlay.brokers) <= 9


def test_pictures_are_the_same_every_time() -> None:
    assert picture(2) == picture(2)
    assert "broker: where two walks met" in picture(10)


@pytest.mark.parametrize("content", [False, True])
def test_filters_cost_traffic_and_lose_no_event(content: bool) -> None:
    """[dwo §III] "a certain probability of false positives", and no losses."""
    run = Run(
        {"n": 300, "radius": 0.1, "initiators": 12, "content": content, "bits each": 4}, 0, 1, 2, 3
    )
    seen = traffic(run)
    assert seen["lost"][0] == 0
    assert (seen["exact"] <= seen["bloom"]).all()
    assert (seen["bloom"] <= seen["none"]).all()
    assert seen["exact"].sum() < seen["bloom"].sum() or not content
    assert ("false" in seen) != content


def test_a_wrong_rate_of_false_positives_would_differ() -> None:
    point = {"n": 1000, "content": False, "bits each": 2}
    seen = {
        "lost": 0.0, "exact": 5.0, "bloom": 7.0, "none": 50.0, "chunks": 9.0, "links": 50.0,
        "false": 0.5, "predicted": 0.1,
    }  # fmt: skip
    runs = {i: {metric: np.array([value]) for metric, value in seen.items()} for i in range(3)}
    found = claims_events._of_filters(
        lambda metric: Summaries(summarised(runs, point)).find(metric), {}, True
    )
    assert [v.verdict for v in found] == ["ours holds", "ours fails", "ours holds", "ours holds"]


def test_the_filters_in_bulk_are_those_of_the_messages() -> None:
    """The filter of every link of a message-level overlay equals the bulk driver's."""
    network = disk(n=30, radius=0.32, seed=4)
    history = History(network, 4)
    history.begin(0, 29)
    history.join(15)
    inside = sorted(history.members())
    for k, row in enumerate(inside[::3]):
        history.subscribe(row, k % len(SUBSCRIPTIONS))
    place = {
        (i, int(other)): p for i in inside for p, other in enumerate(history.state.links.node_id[i])
    }
    links = [pair for pair in place if pair[1] >= 0]
    overlay: Any = SimpleNamespace(
        rows=np.array(inside), links=np.array([(a, b) for a, b in links if a < b]),
        initiators=np.array([0]),
    )  # fmt: skip
    tree = Traffic.on(overlay)
    wanted = np.array([
        np.isin(np.arange(len(SUBSCRIPTIONS)), history.state.subscriptions[row])
        for row in tree.rows
    ]).astype(np.uint8)  # fmt: skip
    size = Size(RULES.bits, RULES.hashes)
    below, above = filters(tree, wanted, CATALOGUE, size)
    for i in range(1, len(tree.rows)):
        row, parent = int(tree.rows[i]), int(tree.rows[tree.parent[i]])
        assert np.array_equal(history.state.received[parent, place[parent, row]], below[i])
        assert np.array_equal(history.state.received[row, place[row, parent]], above[i])
    down, up = (passes(words, CATALOGUE, KEY, size) for words in (below, above))
    matched = match_matrix(wanted, CATALOGUE)
    for event in range(0, len(CATALOGUE.event_topic), 5):
        before = int(history.engine.counters.received_kind[CONTENT_EVENT])
        delivered, due = history.published(0, event)
        assert delivered == due
        count, reached = tree.transmissions(0, down[:, [event]], up[:, [event]])
        assert int(history.engine.counters.received_kind[CONTENT_EVENT]) - before == count[0]
        assert not (matched[:, event] & ~reached[:, 0]).any()
