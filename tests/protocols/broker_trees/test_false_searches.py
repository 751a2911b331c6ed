"""False searches of broker trees: a liar cannot start a storm of records.

A liar changes each search that it passes on into a new one. So every flood makes another flood at
each liar, and only the nodes between them can end this.
"""

from collections import defaultdict

import numpy as np
import pytest

from halfway.core.missing import NO_PLACE
from halfway.core.records.checks import COLUMNS
from halfway.protocols.broker_trees.paths.circuits import IGNORED, MOST_HOPS, claim, no_circuits
from halfway.protocols.broker_trees.records.messages import HOPS, ORIGIN, ROUTE, SEARCH, VERSION
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.attacks import Attack
from halfway.world.workload.demand import Listed
from tests.networks import disk

NODES, REFRESH_S = 30, 10.0
_HOPS_COLUMN = COLUMNS - 14 + HOPS  # of the table of checks: eight `args` stand before six `reals`


def run_with_liars(system: str, most_hops: int | None) -> Simulation:
    """A network of 30 nodes with three liars; most_hops: in their searches, None: any number."""
    demand = Listed([(row, 0) for row in range(1, NODES)], [(10.0 + k, 0, 0) for k in range(6)])
    simulation = Simulation(
        system, disk(n=NODES, radius=0.4, seed=2), workload=demand, seconds=21.0, hello=None,
        radio=IdealRadio(delay_s=0.001), faults=[Attack(kind="liar", share=0.1)],
        options={"refresh_s": REFRESH_S}, inspection=Inspection(received_records=1 << 22),
    )  # fmt: skip
    if most_hops is not None:
        bounds = simulation.engine.attacks.ranges.bounds[SEARCH, _HOPS_COLUMN]
        assert bounds.tolist() == [0.0, 2.0**31 - 2]
        bounds[1] = most_hops
    simulation.run()
    return simulation


@pytest.mark.parametrize("system", ["siena", "underlay-siena"])
@pytest.mark.long
def test_the_places_of_a_node_limit_the_searches_that_it_passes_on(system: str) -> None:
    """The liars' hop counts are small, so that the counts alone show no lie."""
    simulation = run_with_liars(system, most_hops=8)
    liars = np.flatnonzero(simulation.engine.attacks.conduct)
    records, _ = simulation.received_records()
    searches = records[(records["kind"] == SEARCH) & ~np.isin(records["source"], liars)]
    first = dict[tuple[int, ...], float]()  # when a node passed a search on
    for source, args, at in zip(
        searches["source"].tolist(),
        searches["args"][:, [ORIGIN, ROUTE, VERSION]].tolist(),
        searches["at"].tolist(),
        strict=True,
    ):
        first.setdefault((source, *args), at)
    times = defaultdict(list)
    for (source, *_), at in first.items():
        times[source].append(at)
    places = simulation.state.circuits.of.shape[1]
    for each in times.values():
        at = np.sort(each)
        ends = np.searchsorted(at, at + REFRESH_S * 0.999)
        most = (ends - np.arange(len(at))).max()
        assert most < 1.1 * places  # a path may take the place of a search
    assert simulation.state.circuits.counts[:, IGNORED].sum() > 10_000
    assert simulation.outcome().shortfalls["searches without room"] > 10_000


@pytest.mark.parametrize("system", ["siena", "underlay-siena"])
def test_a_search_over_an_impossible_number_of_hops_goes_no_further(system: str) -> None:
    records, _ = run_with_liars(system, most_hops=None).received_records()
    assert np.unique(np.floor(records["at"] * 1e3), return_counts=True)[1].max() < 1000
    searches = records[records["kind"] == SEARCH]
    false = searches["args"][:, HOPS] >= MOST_HOPS
    assert false.any()
    passed_on = {tuple(one) for one in searches["args"][:, [ORIGIN, ROUTE, VERSION]][false]}
    honest = searches[~np.isin(searches["source"], np.unique(searches["source"][false]))]
    assert not passed_on & {tuple(one) for one in honest["args"][:, [ORIGIN, ROUTE, VERSION]]}


def test_the_place_of_a_search_is_given_up_after_a_refresh_interval_or_for_a_path() -> None:
    circuits = no_circuits(1, 4)
    places = circuits.of.shape[1]
    for number in range(places):
        place = claim(circuits, 0, 7, 4 * number, 100.0 - REFRESH_S)
        circuits.of[0, place].searched_at = 100.0 + number
    assert claim(circuits, 0, 8, 0, 100.0 - REFRESH_S) == NO_PLACE
    assert circuits.counts[0, IGNORED] == 1
    assert claim(circuits, 0, 7, 0, 100.0 - REFRESH_S) != NO_PLACE  # the known search
    oldest = claim(circuits, 0, 8, 0, 100.5)  # the first search is older
    assert circuits.of[0, oldest].searched_at == -np.inf
    assert claim(circuits, 0, 9, 0, -np.inf) == oldest  # no search is under way there
    assert claim(circuits, 0, 10, 0, np.inf) != NO_PLACE  # a node's own path always finds a place
