"""The adapter of failure detectors over walks: the sizes of the tables of trails and hops."""

from typing import Any

from halfway.adapters.failure_detectors import DetectorAdapter
from halfway.adapters.interface import RunContext
from halfway.adapters.walks import FEW_HOPS
from halfway.protocols.walk_detectors.path_shortfalls import path_shortfalls


class WalkDetectorAdapter(DetectorAdapter):
    """The adapter of a failure detector over directional walks."""

    has_neighbour_tables = True

    def sizes(self, context: RunContext, members: int) -> dict[str, int]:
        """Return the table sizes from the adapter of walk detectors: of the window of φ, of a
        node's neighbours, and of its hops in flight.
        """
        sizes = super().sizes(context, members) | {"degree": max(context.most_neighbours, 1)}
        # `walk-probe` has no reliable hops.
        if self.values.get("retries"):
            # The records of all members may wait for the acknowledgement of one dead neighbour.
            sizes["places"] = 2 * members + FEW_HOPS
        return sizes


class PathDetectorAdapter(WalkDetectorAdapter):
    """The adapter of a failure detector whose records follow the paths of a group."""

    def shortfalls(self, state: Any) -> dict[str, int]:
        """Return the shortfalls that the adapter of a failure detector over paths counts, with
        those of the walks of its group.
        """
        return super().shortfalls(state) | path_shortfalls(state)


ADAPTERS = {
    "path-heartbeat": PathDetectorAdapter,
    "walk-probe": WalkDetectorAdapter,
    "path-gossip": PathDetectorAdapter,
}
