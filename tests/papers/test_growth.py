"""The growth study of paper 1: what a run measures, and the fitted exponents."""

import numpy as np
import pytest

from halfway.bulk.georendezvous.lazy_routes import LazyCellRoutes
from halfway.bulk.walks.walks import Walkers, WalkSystem
from halfway.papers.directional_walks.claims_growth import judge_growth
from halfway.papers.directional_walks.growth import MOST_HOPS_A_COLUMN, growth
from halfway.papers.directional_walks.growth_points import (
    DEGREES,
    growth_point,
    growth_points,
    largest_points,
)
from halfway.pipeline.plan.run import Observations, Run
from halfway.pipeline.reproduction.figures import Scale, Summaries
from halfway.pipeline.statistics.estimates import estimate
from halfway.pipeline.statistics.exponents import exponent
from halfway.pipeline.statistics.summary import Summary
from halfway.world.graphs.lazy.lazy_disk import LazyDisk
from halfway.world.graphs.mean_degree import radius_of_degree
from tests.networks import in_memory

SEEDS = {"network_seed": 11, "workload_seed": 12, "random_seed": 13}


def run_of(n: int, degree: int, system: str) -> Observations:
    return growth(Run(dict(growth_point(n, degree, system).parameters), 0, **SEEDS))


def disk_of(n: int, degree: int) -> LazyDisk:
    return LazyDisk(n, radius_of_degree(n, degree), SEEDS["network_seed"])


@pytest.mark.parametrize("system", ["directional-walk", "random-walk"])
@pytest.mark.long
def test_a_run_measures_the_walks_of_the_network_in_memory(system: WalkSystem) -> None:
    found = run_of(1000, 12, system)
    disk = disk_of(1000, 12)
    pairs, again = disk.giant_pairs(5, SEEDS["workload_seed"])
    walkers = Walkers(in_memory(disk), system)
    met = [walkers.pair(a, b, seed=13, topic=t) for t, (a, b) in enumerate(pairs.tolist())]
    assert list(found["steps"]) == [m.steps for m in met]
    assert list(found["path"]) == [len(m.path) - 1 for m in met]
    assert list(found["messages"]) == [m.steps + len(m.path) - 1 for m in met]
    assert list(found["state"]) == [
        sum(len(set(trail.tolist())) for trail in m.trails) for m in met
    ]
    assert list(found["unmet"]) == [0] * 5
    assert list(found["again"]) == [again]


def test_a_run_of_cells_has_the_hops_of_joined_pairs_alone() -> None:
    found = run_of(1000, 12, "georendezvous")
    disk = disk_of(1000, 12)
    pairs, _ = disk.giant_pairs(5, SEEDS["workload_seed"])
    routes = LazyCellRoutes(disk)
    most = int(MOST_HOPS_A_COLUMN / routes.side)
    hops = routes.paths(pairs, SEEDS["random_seed"], most_hops=most).hops
    assert list(found["path"]) == [max(int(h), 1) for h in hops if h >= 0]
    assert list(found["unmet"]) == [h < 0 for h in hops]


def test_both_scales_have_all_systems_and_degrees() -> None:
    sizes: dict[Scale, int] = {"quick": 10**6, "paper": 10**9}
    for scale, largest in sizes.items():
        points = [point.parameters for point in growth_points(scale)]
        largest_of = [point.parameters for point in largest_points(scale)]
        assert max(int(p["n"]) for p in largest_of) == largest
        assert all(p in points for p in largest_of[:-1])  # runs that both figures share
        assert max(int(p["n"]) for p in points) == largest
        assert {(p["system"], p["degree"]) for p in points} == {
            (system, degree)
            for system in ("directional-walk", "random-walk", "georendezvous")
            for degree in DEGREES
        }


def grown(metric: str, system: str, power: float, noise: float) -> list[Summary]:
    """Summaries of 20 networks with 5 pairs at four sizes, with a known exponent."""
    random = np.random.default_rng(3)
    made = []
    for n in (10**3, 10**4, 10**5, 10**6):
        for degree in DEGREES:
            networks = np.repeat(np.arange(20), 5)
            values = n**power * np.exp(noise * random.standard_normal(100))
            parameters = {"n": n, "degree": degree, "system": system}
            made.append(Summary(parameters, metric, **estimate(values, networks)))  # type: ignore[arg-type]
    return made


def test_the_exponent_is_that_of_the_data_with_an_honest_interval() -> None:
    inside = 0
    for noise in (0.0, 0.5, 1.0):
        rows = [row for row in grown("steps", "directional-walk", 0.8, noise)
                if row.parameters["degree"] == 12]  # fmt: skip
        value, low, high = exponent(rows, "n", "median")
        assert abs(value - 0.8) < 0.08
        assert low <= value <= high
        inside += low - 1e-9 <= 0.8 <= high + 1e-9
    assert inside == 3


@pytest.mark.parametrize(
    ("power", "noise", "opinion"),
    [(0.5, 0.3, "agrees"), (1.0, 0.3, "differs"), (0.72, 2.0, "same trend")],
)
def test_too_sensitive_is_growth_near_that_of_flooding(
    power: float, noise: float, opinion: str
) -> None:
    """[drw §1] "must not be too sensitive to the total number of nodes"."""
    rows = []
    for system in ("directional-walk", "random-walk"):
        for metric in ("steps", "state", "messages", "path"):
            rows += grown(metric, system, power, noise)
    rows += grown("path", "georendezvous", 0.5, 0.1) + grown("unmet", "georendezvous", 0.0, 0.1)
    judged = [row for row in judge_growth(Summaries(rows)) if row.published is not None]
    assert len(judged) == 2 * len(DEGREES)
    whole = [row for row in judged if row.cell["sizes"] == "10^3 to 10^6"]
    assert opinion in {row.verdict for row in whole}
