"""Paper 1: a test for each claim that is measured, quoted by its decisive clause.

Statistical claims are measured on a few small networks here; `reproduce` judges them at full size.
"""

from collections import Counter
from functools import cache

import msgspec
import numpy as np
import pytest

from halfway.bulk.walks.walks import Walkers
from halfway.papers.directional_walks import claims, claims_loads
from halfway.papers.directional_walks.experiments import PAPER
from halfway.papers.directional_walks.measurements import gini, loads, meetings, visits
from halfway.papers.directional_walks.points import load_point, meeting_point
from halfway.pipeline.plan.run import Point, Run
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import estimate
from halfway.pipeline.statistics.summary import Summary
from tests.networks import disk, line

NETWORKS = 8


# [drw §3]


def test_a_lone_walk_of_few_steps_visits_few_nodes_and_of_many_steps_all() -> None:
    """[drw §3] "eventually visits all the nodes": few steps visit few nodes, many visit all."""
    given = {"n": 200, "radius": 0.15, "system": "directional-walk", "walks": 3}
    few, many = (visits(Run({**given, "steps a node": steps}, 0, 5, 6, 7)) for steps in (1, 200))
    assert (few["visited"] < 1).all()
    assert (many["visited"] == 1).all()


def test_the_nodes_that_a_walk_visits_are_those_of_its_trail() -> None:
    network = disk(n=150, radius=0.16, seed=3)
    for seed in range(5):
        walkers = Walkers(network)
        trail = walkers.pair(5, 140, seed=seed, most_steps=60).trails[0]
        assert walkers.visited(5, 140, seed=seed, most_steps=60) >= len(set(trail)) - 1
        assert walkers.visited(5, 140, seed=seed, most_steps=60) <= len(set(trail)) + 1


# [drw §4]


@cache
def evidence() -> Summaries:
    """A few networks of each size and system, without Spark."""
    rows = []
    for n in (1500, 2000, 2500, 3000, 3500, 4000):
        for system in ("directional-walk", "random-walk"):
            for k in (1, 10, 100) if n <= 3000 else (1,):
                for interpretation in ("heard", "stepped-on"):
                    rows += summarised(meeting_point(n, system, k, interpretation), meetings)
    return Summaries(rows)


@cache
def burden() -> Summaries:
    """Loads on a few networks, without Spark."""
    rows = []
    for n in (1500, 2000, 2500, 3000, 3500):
        for system in ("directional-walk", "random-walk", "shortest-path", "breadth-first-tree"):
            rows += summarised(load_point(n, system, 1), loads, networks=4)
    return Summaries(rows)


def summarised(point: Point, measurement: object, networks: int = NETWORKS) -> list[Summary]:
    """The summaries of one point over some networks with fixed seeds."""
    values: dict[str, list[np.ndarray]] = {}
    for i in range(networks):
        run = Run(dict(point.parameters), i, 1000 * int(point.parameters["n"]) + i, i, 77 + i, {})  # type: ignore[arg-type]
        for metric, observed in measurement(run).items():  # type: ignore[operator]
            values.setdefault(metric, []).append(np.asarray(observed, float))
    return [
        Summary(
            parameters=point.parameters,
            metric=metric,
            **estimate(
                np.concatenate(observed),
                np.repeat(np.arange(networks), [len(part) for part in observed]),
            ),
        )
        for metric, observed in values.items()
    ]


def opinions(verdicts: object, part: str = "") -> Counter[str]:
    """The number of each verdict, among the metrics that contain a text."""
    return Counter(v.verdict for v in verdicts if part in v.metric)  # type: ignore[attr-defined]


@pytest.mark.long
def test_mean_numbers_of_neighbours() -> None:
    """[drw §4] "The average number of neighbors is 7.5, 10, 12.5, 15": before the border is
    counted."""
    found = list(claims.judge_networks(evidence_heard()))
    degrees = [v for v in found if v.metric == "mean degree"]
    assert [v.verdict for v in degrees] == ["agrees"] * 4
    assert all(float(v.measured or 0) < float(v.published or 0) for v in degrees)  # type: ignore[arg-type]


def test_connected_networks_are_hard_to_obtain() -> None:
    """[drw §4] "hard to obtain connected networks with less than 1500 nodes"."""
    (rare,) = [v for v in claims.judge_networks(evidence_heard()) if "connected" in v.metric]
    assert rare.verdict == "agrees"
    assert 0.005 < float(rare.measured or 0) < 0.1


def evidence_heard() -> Summaries:
    """The runs for Section 4 and Figure 5: equal speed, heard."""
    wanted = {"k": 1, "reading": "heard"}
    rows = [row for row in evidence().rows if wanted.items() <= row.parameters.items()]
    directed = [row for row in rows if row.parameters["system"] == "directional-walk"]
    steps = ("steps", "box", "relative box")
    return Summaries([row for row in rows if row.metric in steps or row in directed])


def test_directionality_decreases_the_time_to_intersection() -> None:
    """[drw §4.1] "directionality decreases the time to intersection", by "a … factor of 6-10"."""
    found = opinions(claims.judge_figure_5(evidence_heard()), "random / directional")
    assert found["agrees"] >= 10
    assert sum(found.values()) == 12


def test_directional_results_are_more_concentrated() -> None:
    """[drw §4.1] "much more concentrated than the ones obtained using a Random Walk"."""
    found = list(claims.judge_figure_5(evidence_heard()))
    assert opinions(found, "interquartile range in steps") == {"agrees": 6}


def test_relative_to_their_medians_both_walks_spread_alike() -> None:
    """[drw §4.1] "much more concentrated" holds in steps, because directional walks are shorter."""
    found = opinions(claims.judge_figure_5(evidence_heard()), "relative to the median")
    assert found["agrees"] == 0
    assert sum(found.values()) == 6


def test_the_time_to_intersection_settles_with_density() -> None:
    """[drw §4.1] "seems to converge as we increase the density"."""
    found = opinions(claims.judge_figure_5(evidence_heard()), "fall of the median")
    assert sum(found.values()) == 2


def test_a_power_law_does_not_settle() -> None:
    """The claim of convergence can fail: times that keep falling like 1/n do not agree."""
    rows = [row for row in evidence_heard().rows if row.metric != "steps"]
    for row in evidence_heard().rows:
        if row.metric == "steps":
            fall = 3e5 / float(row.parameters["n"]) / row.median
            rows.append(
                msgspec.structs.replace(
                    row,
                    median=fall * row.median,
                    boot_median=tuple(fall * b for b in row.boot_median),
                )
            )
    found = opinions(claims.judge_figure_5(Summaries(rows)), "fall of the median")
    assert found["agrees"] == 0


def test_equal_speeds_meet_soonest() -> None:
    """[drw §4.2] "the smallest time to intersection with k = 1"."""
    found = opinions(claims.judge_figure_6(evidence()), "k = 1 /")
    assert found == {"agrees": 16}


def test_most_printed_times_agree_when_trails_are_heard() -> None:
    """[drw Fig. 6] with few networks most of the 48 already agree; stepping on a trail takes
    longer."""
    heard = Counter(
        v.verdict for v in claims.judge_figure_6(evidence()) if v.metric.endswith(" steps")
    )
    stepped = Counter(v.verdict for v in claims.judge_figure_6_stepped_on(evidence()))
    assert sum(heard.values()) == sum(stepped.values()) == 48
    assert heard["agrees"] >= 40
    assert stepped["agrees"] < heard["agrees"]


@pytest.mark.long
def test_random_walks_balance_the_load_best() -> None:
    """[drw §4.3] "the mean and median are very close in all situations", and "DRW is also good"."""
    found = [v for v in claims_loads.judge_figure_9(burden()) if v.metric == "mean / median load"]
    assert Counter(v.verdict for v in found) == {"agrees": 10}


@pytest.mark.long
def test_few_nodes_of_a_tree_route_about_half_of_the_traffic() -> None:
    """[drw §4.3] "few nodes are over-used and route close to half": a tree's do."""
    found = [v for v in claims_loads.judge_figure_9(burden()) if v.metric == "largest load / n"]
    by_system: dict[str, list[Verdict]] = {}
    for v in found:
        by_system.setdefault(str(v.cell["system"]), []).append(v)
    assert {v.verdict for v in by_system["shortest-path"]} == {"differs"}
    assert all(float(v.measured or 0) < 0.25 for v in by_system["shortest-path"])
    assert all(float(v.measured or 0) > 0.4 for v in by_system["breadth-first-tree"])


def test_the_centralised_column_is_impossible_as_printed() -> None:
    """[drw Fig. 7] a mean load of 73 is not a mean length of shortest paths here."""
    found = [
        v for v in claims_loads.judge_figure_7(burden()) if v.cell["system"] == "shortest-path"
    ]
    assert {v.verdict for v in found} == {"impossible as printed"}
    assert all("another system's" in v.reason for v in found)
    maxima = [v for v in claims_loads.judge_figure_8(burden()) if v.metric == "maximum load"]
    column = [v for v in maxima if v.cell["system"] == "shortest-path"]
    assert {v.verdict for v in column} == {"impossible as printed"}


def test_a_column_of_shortest_paths_would_agree() -> None:
    """With means as printed, no cell is judged impossible."""
    rows = []
    for row in burden().rows:
        if row.metric == "load" and row.parameters["system"] == "shortest-path":
            printed = {1500: 73, 2000: 66, 2500: 65, 3000: 65, 3500: 60}[int(row.parameters["n"])]
            rows.append(
                msgspec.structs.replace(
                    row, mean=printed, mean_low=printed - 1, mean_high=printed + 1
                )
            )
        else:
            rows.append(row)
    found = [
        v
        for v in claims_loads.judge_figure_7(Summaries(rows))
        if v.cell["system"] == "shortest-path"
    ]
    assert {v.verdict for v in found if v.metric == "mean load"} == {"agrees"}
    assert "impossible as printed" not in {v.verdict for v in found}


def test_walk_loads_agree() -> None:
    """[drw Fig. 7] means and medians of both walks, on few networks within their intervals."""
    found = [v for v in claims_loads.judge_figure_7(burden()) if "walk" in str(v.cell["system"])]
    assert len(found) == 20
    assert Counter(v.verdict for v in found)["agrees"] >= 16


def test_every_node_is_at_least_a_source_and_a_target() -> None:
    """[drw Fig. 8] the smallest load is 2: each node's own two paths."""
    found = burden().select("load")
    assert found
    assert all(row.minimum == 2 for row in found if row.parameters["system"] != "random-walk")
    # By chance one more walk may pass every node, because the walks are many and long.
    assert all(2 <= row.minimum <= 4 for row in found)


def test_the_gini_coefficient_is_that_of_all_pairs() -> None:
    load = np.random.default_rng(3).integers(1, 90, (3, 40))
    pairs = np.abs(load[:, :, None] - load[:, None, :]).sum(axis=(1, 2))
    assert gini(load) == pytest.approx(pairs / (2 * 40 * load.sum(axis=1)))
    assert gini(np.full((1, 9), 5)) == pytest.approx([0.0])


def test_random_walks_balance_better_than_directional_walks() -> None:
    """[drw §5] "almost as efficiently as pure Random Walks": not within a tenth."""
    found = list(claims_loads.judge_figure_9(burden()))
    best = [v for v in found if v.metric.endswith("random walk / this")]
    assert len(best) == 30
    mine = [v for v in best if v.cell["system"] == "directional-walk"]
    assert {v.verdict for v in mine} == {"agrees"}
    almost = opinions(found, "directional / random")
    assert sum(almost.values()) == 10


def test_figure_9_routes_the_printed_number_of_paths() -> None:
    """[drw Fig. 9] "more than 150.000 paths per configuration": exactly as many with 1500 nodes."""
    figure = PAPER.figure("figure-9")
    assert figure
    paths = [
        int(p.parameters["n"]) * int(p.parameters["permutations"]) * figure.replicates["paper"]
        for p in figure.points("paper")
    ]
    assert min(paths) == 150_000


def test_walks_of_a_network_equal_single_pairs() -> None:
    """The steps of a measurement are those of `halfway walk` for the same pairs."""
    network = line(12)
    pairs = np.array([[0, 11], [3, 7]])
    total, _ = Walkers(network).meetings(pairs, seed=5)
    alone = [Walkers(network).pair(a, b, seed=5, topic=t).steps for t, (a, b) in enumerate(pairs)]
    assert list(total) == alone
