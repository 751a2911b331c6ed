"""The measurements of paper 2's construction: draw a network, build overlays, observe them."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from halfway.bulk.walk_overlay.overlay import Overlays
from halfway.papers.walk_overlay.claims_walks import MULTIPLES
from halfway.pipeline.plan.run import Observations, Run
from halfway.world.graphs.extent import farthest
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import kept_draw


@lru_cache(maxsize=2)
def overlays_on(n: int, radius: float, seed: int) -> tuple[Overlays, float]:
    """Return overlays on the connected network of a seed, and the network's largest distance."""
    network = kept_draw(n, radius, seed).network
    return Overlays(network), extent(network)


def extent(network: Network) -> float:
    """Return the largest Euclidean distance between two nodes of the network on which paper 2's
    overlay is built.
    """
    assert network.position is not None
    return farthest(network.position)


def initiator_sets(n: int, count: int, sets: int, seed: int) -> npt.NDArray[np.int64]:
    """Return [sets, count]: distinct rows of the initiators of paper 2's overlays, uniform.

    Longer lists begin with shorter ones.
    """
    random_state = np.random.default_rng(seed)
    return np.array([random_state.permutation(n)[:count] for _ in range(sets)])


def overlays(run: Run) -> Observations:
    """Measure overlays on one network for several sets of initiators [dwo §VI]; a unit is such a
    set.

    active: nodes of all walks. needed: those left without dead ends. depth: equation (5).
    The products serve spread and correlation. draws, degree: as in paper 1. unjoined: walks that
    met no other. retreats: steps back.
    """
    with run.timed("network"):
        draw = kept_draw(run["n"], run["radius"], run.network_seed)
        walks, whole = overlays_on(run["n"], run["radius"], run.network_seed)
    active, needed, depth, retreats, unjoined = np.empty((5, run["sets"]))
    for s, rows in enumerate(
        initiator_sets(run["n"], run["initiators"], run["sets"], run.workload_seed)
    ):
        with run.timed("run"):
            seed = (run.random_seed + s) % 2**64
            overlay = walks.build(rows, seed=seed, system=run["system"], marking=run["marking"])
        active[s], needed[s] = len(overlay.rows), len(overlay.needed())
        depth[s], retreats[s] = overlay.depth(whole), overlay.retreats
        unjoined[s] = np.count_nonzero(~overlay.joined)
    return {
        "active": active,
        "needed": needed,
        "depth": depth,
        "active squared": active**2,
        "depth squared": depth**2,
        "active x depth": active * depth,
        "retreats": retreats,
        "unjoined": unjoined,
        "draws": np.array([draw.draws]),
        "degree": np.array([draw.network.degree.mean()]),
    }


def recipes(run: Run) -> Observations:
    """Measure pairs of walks of the walk overlay with a recipe [dwo (2)], and the reach of a lone
    walk; a unit is a pair.

    steps: of both walks until they meet. path: hops between the initiators through the meeting.
    active: nodes of both walks. reach: the largest distance between the nodes of a lone walk of
    `alone` steps (both branches together) / the network's largest distance.
    """
    with run.timed("network"):
        walks, whole = overlays_on(run["n"], run["radius"], run.network_seed)
    place = walks.network.position
    assert place is not None
    steps, path, active, reach = np.empty((4, run["sets"]))
    recipe = {name: run[name] for name in ("system", "alpha", "beta", "branches")}
    for s, rows in enumerate(initiator_sets(run["n"], 2, run["sets"], run.workload_seed)):
        seed = (run.random_seed + s) % 2**64
        with run.timed("run"):
            pair = walks.build(rows, seed=seed, **recipe)
            lone = walks.build(rows, seed=seed, together=1, most_steps=run["alone"], **recipe)
        steps[s], path[s] = pair.steps.sum(), len(pair.needed()) - 1
        active[s] = len(pair.rows)
        reach[s] = farthest(place[lone.rows[lone.walk == 0]]) / whole
    return {"steps": steps, "path": path, "active": active, "reach": reach}


def stopping(run: Run) -> Observations:
    """Measure when a walk may give up in paper 2's construction; a unit is a walk that joins an
    overlay of other initiators.

    The first half of the walks gives the mean number of steps. The others are late if they take
    more than a multiple of it: they would have given up although there was a walk to meet.
    steps: of all. spent: the cost of a walk that gives up, in multiples of n, for each multiple.
    """
    with run.timed("network"):
        walks, _ = overlays_on(run["n"], run["radius"], run.network_seed)
    rows = initiator_sets(run["n"], run["initiators"] + 1, run["sets"], run.workload_seed)
    steps = np.empty(run["sets"])
    for s in range(run["sets"]):
        with run.timed("run"):
            overlay = walks.build(rows[s], seed=(run.random_seed + s) % 2**64, system=run["system"])
        # With one initiator present, both walks start together: the steps are those of both.
        steps[s] = overlay.steps[-1] if run["initiators"] > 1 else overlay.steps.sum()
    walked = steps[steps > 0]  # an initiator on a walk did not walk
    known, tried = walked[: len(walked) // 2], walked[len(walked) // 2 :]
    mean = known.mean()
    late = {f"late after {c} means": tried > c * mean for c in MULTIPLES}
    spent = {f"spent after {c} means": np.array([c * mean / run["n"]]) for c in MULTIPLES}
    return {"steps": walked, **late, **spent}
