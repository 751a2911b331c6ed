"""Paper 5, sentence by sentence, and verdicts on its claims from small runs."""

from itertools import groupby
from pathlib import Path

import msgspec
import numpy as np
import pytest

from halfway.papers.underlay_siena import claims, points
from halfway.papers.underlay_siena.experiments import PAPER
from halfway.papers.underlay_siena.measurements import (
    MESSAGE_BYTES,
    deliveries,
    lemma,
    loads,
    overlay,
    workload,
)
from halfway.pipeline.plan.run import Point, Run, measurement
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.published import published
from halfway.pipeline.statistics.estimates import estimate
from halfway.pipeline.statistics.summary import Summary
from tests.papers.made.rules import RULES
from tests.papers.made.summaries import Parameters
from tests.papers.made.summaries import made as made_summaries

SMALL = {"n": 150, "brokers": 12, "clients": 40, "events": 60}


def small(point: Point, replicate: int) -> Run:
    """A run of a point on a small underlay."""
    given = {k: min(v, SMALL[k]) if k in SMALL else v for k, v in point.parameters.items()}
    if "faults" in given:
        given["faults"] = min(int(given["faults"]), 8)
    return Run(given, replicate, 100 + replicate, 200 + replicate, 300 + replicate)


def summarised(some: list[Point], measure: object, networks: int = 2) -> Summaries:
    """The summaries of small runs, under the names of the points as declared."""
    rows = []
    for point in some:
        seen: dict[str, list[tuple[int, float]]] = {}
        for replicate in range(networks):
            for metric, values in measure(small(point, replicate)).items():  # type: ignore[operator]
                seen.setdefault(metric, []).extend((replicate, float(v)) for v in values)
        for metric, pairs in seen.items():
            clusters, values = zip(*pairs, strict=True)
            fields = estimate(values, clusters, networks)
            rows.append(Summary(point.parameters, metric, **fields))
    return Summaries(rows)


def _path(point: Point) -> str:
    return point.measurement


def test_runs_have_the_parameters_of_table_2() -> None:
    """[uas Table 2] the points are those of the table; clients are uniform over the brokers."""
    table = {
        row.metric: row.value for row in published(Path(claims.__file__).with_name("table-2.csv"))
    }
    assert table == {
        "events": points.EVENTS, "clients": points.CLIENTS, "brokers": points.BROKERS,
        "message bytes": MESSAGE_BYTES, "underlay nodes": points.NODES,
    }  # fmt: skip
    assert all(
        {"n": points.NODES, "brokers": points.BROKERS}.items() <= point.parameters.items()
        for figure in PAPER.figures
        if figure.name != "linear-time"  # its axis is the number of brokers
        for point in figure.points("paper")
    )
    found = [workload(points.BROKERS, points.CLIENTS, 50, "selective", seed) for seed in range(8)]
    homes = [np.bincount(one.home, minlength=points.BROKERS) for one in found]
    # Of independent uniform homes the variance over brokers is 1 - 1 / brokers of the mean.
    assert np.mean([h.var() / h.mean() for h in homes]) == pytest.approx(0.99, abs=0.15)


@pytest.mark.parametrize("where", points.WHERE)
def test_a_tree_that_fails_over_delivers_all_that_the_plain_tree_does(where: str) -> None:
    """Its paths are a superset: the order of Figure 5 cannot turn, and is not judged."""
    for replicate in range(2):
        plain, aware = (
            deliveries(small(points.delivery_point(where, 8, *system, "none"), replicate))[
                "delivered"
            ][0]
            for system in (("siena", "unmodified"), ("underlay-siena", "fails over only"))
        )
        assert aware >= plain


def test_links_to_grandparents_carry_nothing_and_only_lower_the_mean() -> None:
    """[uas Fig. 2] The links exist, and no event takes one of them before a failure."""
    run = small(
        points.load_point(60, "selective", 0.1, "overlay", "underlay-siena", "halves", "both"), 0
    )
    found = loads(run)
    made = overlay(run["n"], run["brokers"], run["reading"], run["remedy"], run.network_seed)
    assert found["carrying load"][0] > found["overlay load"][0] > 0
    plain = loads(
        small(points.load_point(60, "selective", 0.1, "overlay", "siena", "direct", "both"), 0)
    )
    assert plain["carrying load"][0] == pytest.approx(plain["overlay load"][0])
    assert plain["carrying deviation"][0] == pytest.approx(plain["overlay deviation"][0])
    assert any(broker.upper is not None for broker in made.brokers.values())


@pytest.mark.long
def test_every_figure_declares_points_that_its_judge_can_find() -> None:
    """Each declared metric is measured, each judged cell planned: on small runs of every point."""
    for figure in PAPER.figures:
        some = figure.points("quick")
        by_path = groupby(sorted(some, key=_path), key=_path)
        parts = [summarised([*part], measurement(path)).rows for path, part in by_path]
        found = Summaries([row for rows in parts for row in rows])
        verdicts = list(figure.judge(found))
        assert verdicts
        assert all(verdict.figure == figure.name for verdict in verdicts)
        msgspec.json.encode(verdicts)


def test_brokers_are_cut_off_as_printed_and_none_with_the_remedies() -> None:
    """[uas §4.2] the lemma's conclusion needs more than Algorithm 1 gives."""
    found = summarised(points.lemma("quick"), lemma)
    rows = [row for row in claims.judge_lemma(found) if row.metric.startswith("live brokers")]
    verdicts = {(row.cell["reading"], row.cell["remedy"]): row.verdict for row in rows}
    assert verdicts["around", "none"] == verdicts["free", "none"] == "differs"
    assert verdicts["around", "both"] == "ours holds"


def test_unmodified_siena_has_no_remedy() -> None:
    """The remedies change second paths only: both overlays have the same plain tree."""
    for replicate in range(2):
        for where in points.WHERE:
            some = [
                small(points.delivery_point(where, 8, "siena", "unmodified", remedy), replicate)
                for remedy in points.SYSTEM_REMEDIES
            ]
            assert len({deliveries(run)["delivered"][0] for run in some}) == 1


@pytest.mark.parametrize("name", ["figure-5", "figure-6", "figure-7", "figure-8"])
def test_a_row_is_about_the_remedy_that_it_names(name: str) -> None:
    """Where only the remedied overlay is better, rows as printed differ and ours hold."""
    figure = PAPER.figure(name)
    assert figure is not None

    def rule(metric: str, point: Parameters) -> float:
        good = RULES[f"underlay-siena/{name}"](metric, point)
        assert isinstance(good, float)
        if point["system"] == "siena" or point["remedy"] == "both":
            return good
        return good - 50 * int(point["faults"]) if metric == "delivered" else 2 * good

    rows = list(figure.judge(made_summaries(figure, rule)))
    printed = {row.verdict for row in rows if row.cell.get("remedy") == "none"}
    ours = {row.verdict for row in rows if row.cell.get("remedy") == "both"}
    assert (printed, ours) == ({"differs"}, {"ours holds"})


@pytest.mark.parametrize("replicate", range(3))
def test_runs_of_a_network_have_the_same_overlay_and_clients(replicate: int) -> None:
    """Seeds by axis: only the system differs between systems."""
    plain = small(points.delivery_point("links", 5, "siena", "unmodified", "both"), replicate)
    aware = small(points.delivery_point("links", 5, "underlay-siena", "repairs", "both"), replicate)
    before = deliveries(plain)["delivered"][0]
    assert deliveries(aware)["delivered"][0] >= before
    assert deliveries(plain)["delivered"][0] == before  # the other run has no effect on it
