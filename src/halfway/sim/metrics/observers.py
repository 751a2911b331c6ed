"""The observers of a run: tallies that only some systems and workloads have."""

from typing import NamedTuple

from halfway.core.kinds import Kinds
from halfway.sim.engine.node_ids import NodeIds
from halfway.sim.metrics.detections import DetectionAccounting, detections_of
from halfway.sim.metrics.group_accounting import GroupAccounting, groups_of
from halfway.sim.metrics.request_accounting import RequestTally
from halfway.world.workload.demand import Demand
from halfway.world.workload.groups.request_workload import ReplicatedResources


class Observers(NamedTuple):
    """The observers of a run: the accountings of detections, groups and requests; None: not
    needed.
    """

    detections: DetectionAccounting | None  # if the system is a failure detector
    groups: GroupAccounting | None  # if the workload has groups
    requests: RequestTally | None  # if the members of groups replicate a resource


def observers_of(kinds: Kinds, ids: NodeIds, demand: Demand, seconds: float) -> Observers:
    """Return the observers of a run, given its length, its system's record kinds and its
    workload.
    """
    found = detections_of(kinds, ids, demand)
    requests = RequestTally() if isinstance(demand, ReplicatedResources) else None
    return Observers(found, groups_of(demand, ids, seconds, kinds), requests)
