"""Walk overlays built in bulk on one network: their nodes, links, brokers and steps."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from halfway.bulk.walk_overlay import kernels
from halfway.bulk.walks.networks import Graph
from halfway.bulk.walks.walks import MOST_STEPS_PER_NODE, WalkSystem
from halfway.problem import Problem
from halfway.world.graphs.extent import farthest
from halfway.world.graphs.network import Network

# left: the neighbours of a node count when the walk leaves the node (Algorithm 2, Figure 5);
# reached: when the walk arrives there (equation 4).
Marking = Literal["left", "reached"]


@dataclass(frozen=True)
class WalkOverlay:
    """One walk overlay that was built in bulk, with rows of the network, where walk w belongs to
    initiator w. Arrays over the nodes of the overlay have the size k.
    """

    network: Network
    initiators: npt.NDArray[np.int64]  # [I] rows
    rows: npt.NDArray[np.int64]  # [k] all nodes of all walks, in the order of their addition
    walk: npt.NDArray[np.int64]  # [k] the walk that added each
    back: npt.NDArray[np.int64]  # [k] row from which the walk came; itself at an initiator
    steps: npt.NDArray[np.int64]  # [I] steps of each walk, with steps back; 0: was on a walk
    met_from: npt.NDArray[np.int64]  # [I] last row of the walk; -1: no meeting
    met_at: npt.NDArray[np.int64]  # [I] row of the met walk; -1: no meeting
    retreats: int  # steps back of all walks

    @cached_property
    def links(self) -> npt.NDArray[np.int64]:
        """The links [links, 2] of the bulk walk overlay as pairs of rows: the hops of all walks,
        and one link for each meeting.
        """
        inner = self.rows != self.back
        met = self.met_from >= 0
        trails = np.column_stack([self.back[inner], self.rows[inner]])
        meetings = np.column_stack([self.met_from[met], self.met_at[met]])
        return np.concatenate([trails, meetings])

    @cached_property
    def joined(self) -> npt.NDArray[np.bool_]:
        """[I] for each walk of the bulk overlay, True if it met another walk or another walk met
        it.
        """
        walk_of = np.full(self.network.n, -1)
        walk_of[self.rows] = self.walk
        met = self.met_at >= 0
        joined = met.copy()
        joined[walk_of[self.met_at[met]]] = True
        return joined

    @property
    def brokers(self) -> npt.NDArray[np.int64]:
        """The overlay's broker rows, ascending [dwo §III: "the meeting point between two DRWs"]."""
        return np.unique(self.met_at[self.met_at >= 0])

    def depth(self, whole: float | None = None) -> float:
        """[dwo (5)] Return the largest distance in the bulk overlay, divided by the largest
        distance in the network.

        whole: the largest distance in the network, if it is known.
        """
        place = self.network.position
        if place is None:
            what = "the nodes have no positions: expected positions, because depth is a distance"
            raise Problem(what, where=self.network.name)
        return farthest(place[self.rows]) / (farthest(place) if whole is None else whole)

    def needed(self) -> npt.NDArray[np.int64]:
        """Return the rows of the bulk walk overlay without dead ends, ascending; initiators are no
        dead ends.
        """
        kept = np.zeros(self.network.n, np.bool_)
        kept[self.rows] = True
        ends = np.bincount(self.links.ravel(), minlength=self.network.n)
        ends[self.initiators] += self.network.n  # an initiator never counts as a dead end
        kernels.prune(self.network.n, self.links, ends, kept)
        return np.flatnonzero(kept)


class Overlays:
    """A bulk builder of walk overlays on one network, which reuses its buffers for one overlay
    after another.

    Raises Problem for a network with a node that has no neighbour.
    """

    def __init__(self, network: Network) -> None:
        if network.n < 2 or network.degree.min() == 0:
            raise Problem(
                "a walk cannot leave a node without neighbours",
                where=network.name,
                remedy="use the largest component, or a larger range",
            )
        self.network = network
        self._graph = Graph(network.start, network.who)
        self._marks = kernels.unmarked(network.n, int(network.degree.max()))

    def build(
        self,
        initiators: npt.ArrayLike,
        *,
        seed: int,
        system: WalkSystem = "directional-walk",
        alpha: float = 1.0,
        beta: float = 0.0,
        branches: int = 1,
        marking: Marking = "left",
        together: int = 2,
        most_steps: int | None = None,
    ) -> WalkOverlay:
        """[dwo Alg. 1] Build an overlay in bulk from distinct initiators [I]: rows, in their order.

        alpha, beta: weights of first and second neighbourhoods [dwo (2)]. together: walks that
        start at the same time, 1 or 2; the others follow one by one. A walk ends after `most_steps`
        steps (default: 10,000 per node). Raises Problem for values outside these ranges.
        """
        rows = self._checked(initiators)
        if branches not in (1, 2) or together not in (1, 2):
            what = f"branches = {branches}, together = {together}: expected 1 or 2 for each"
            raise Problem(what)
        recipe = _recipe(system, alpha, beta, branches, marking)
        limit = MOST_STEPS_PER_NODE * self.network.n if most_steps is None else most_steps
        built = kernels.nothing_built(self.network.n, len(rows))
        kernels.build(
            self._graph, self._marks, recipe, built, rows, together, np.uint64(seed), limit
        )
        return self._overlay(rows, built)

    def _overlay(self, rows: npt.NDArray[np.int64], built: kernels.Built) -> WalkOverlay:
        count = int(built.tally[0])
        order = built.order[:count].astype(np.int64)
        return WalkOverlay(
            network=self.network,
            initiators=rows,
            rows=order,
            walk=built.walk[:count].astype(np.int64),
            back=self._marks.back[order].astype(np.int64),
            steps=built.steps,
            met_from=built.met_from.astype(np.int64),
            met_at=built.met_at.astype(np.int64),
            retreats=int(built.tally[1]),
        )

    def _checked(self, initiators: npt.ArrayLike) -> npt.NDArray[np.int64]:
        rows = np.ascontiguousarray(initiators, np.int64)
        if rows.ndim != 1 or len(rows) < 2:
            raise Problem("initiators: expected a list of at least two nodes")
        if not 0 <= rows.min() <= rows.max() < self.network.n:
            raise Problem(
                f"initiator {rows.min() if rows.min() < 0 else rows.max()} does not exist",
                where=self.network.name,
                remedy=f"use nodes 0 to {self.network.n - 1}",
            )
        if len(np.unique(rows)) != len(rows):
            raise Problem(
                "initiators: a node is given twice",
                where=self.network.name,
                remedy="give each node once",
            )
        return rows


def _recipe(
    system: WalkSystem, alpha: float, beta: float, branches: int, marking: Marking
) -> kernels.Recipe:
    """Return the rules by which the walks of a bulk overlay choose their steps. Raises Problem for
    values out of range.
    """
    if system not in get_args(WalkSystem):
        raise Problem(
            f"system = '{system}': expected a walk",
            remedy=f"use one of {', '.join(get_args(WalkSystem))}",
        )
    if marking not in get_args(Marking):
        raise Problem(f"marking = '{marking}': expected 'left' or 'reached'")
    if not (alpha >= 0.0 and beta >= 0.0 and alpha + beta < np.inf):
        raise Problem(f"alpha = {alpha}, beta = {beta}: expected finite weights of 0 or more")
    return kernels.Recipe(
        system == "random-walk", float(alpha), float(beta), branches, marking == "reached"
    )
