"""The adapter of failure detectors over walks: the sizes of the tables of trails and hops."""

from halfway.adapters.failure_detectors import DetectorAdapter
from halfway.adapters.interface import RunContext
from halfway.adapters.walks import FEW_HOPS


class WalkDetectorAdapter(DetectorAdapter):
    """The adapter of a failure detector over directional walks."""

    def sizes(self, context: RunContext, members: int) -> dict[str, int]:
        """Return the sizes of φ's window, of a node's neighbours, and of its hops in flight."""
        found = super().sizes(context, members) | {"degree": max(context.most_neighbours, 1)}
        if int(self.values.get("retries", 0)) > 0:
            # The records of all members may wait for the acknowledgement of one dead neighbour.
            found["places"] = 2 * members + FEW_HOPS
        return found


ADAPTERS = dict.fromkeys(("path-heartbeat", "walk-probe", "path-gossip"), WalkDetectorAdapter)
