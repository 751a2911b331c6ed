"""The contacts of DRIP's regions in the environment of the paper, without messages.

[drip §V-C] assumes that two regions meet after an exponential time. Here nodes move as in
[drip §VI-A], each node belongs to its nearest broker by hops, and two regions are in contact while
a link joins them.
"""

import numpy as np
import numpy.typing as npt

from halfway.papers.drip.measurements import PAUSE, RANGE_M, SIDE_M, SPEED
from halfway.pipeline.plan.run import Observations, Run
from halfway.world.graphs.unit_disk import unit_disk
from halfway.world.mobility.motion import positions
from halfway.world.mobility.random_waypoint import random_waypoint
from halfway.world.workload.number_intervals import power_law

STEP_S = 1.0  # from one observation of the regions to the next


def region_contacts(run: Run) -> Observations:
    """Measure the times between contacts of DRIP's regions on one network; a unit is such a time.

    apart: seconds from the end of a contact of two regions to their next contact, if the run sees
    both. deviation: its standard deviation over its mean, one for the network. touching: share of
    the time in which two regions are in contact, mean over the pairs.
    """
    seconds = float(run["seconds"])
    legs = random_waypoint(
        run["n"], SIDE_M, SIDE_M, speed=SPEED, pause=PAUSE, seconds=seconds, seed=run.network_seed
    )
    brokers = np.argsort(-power_law(run["n"], run.workload_seed))[: run["k"]]
    times = np.arange(0.0, seconds, STEP_S)
    touching = np.array([_touching(positions(legs, at), brokers) for at in times])
    apart = np.concatenate([_apart(column) for column in touching.T]) * STEP_S
    return {
        "apart": apart,
        "deviation": np.array([apart.std() / apart.mean()]),
        "touching": np.array([touching.mean()]),
    }


def _touching(
    position: npt.NDArray[np.float64], brokers: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Return [pairs of brokers]: True if a link joins the two regions of DRIP. A node that is
    equally near to two brokers belongs to the first in the list.
    """
    network = unit_disk(position, RANGE_M)
    a = np.repeat(np.arange(network.n), np.diff(network.start))
    b = network.who.astype(np.int64)
    k = len(brokers)
    region = np.full(network.n, k)  # k: no broker is known yet, or none is within reach
    row_of = np.arange(network.n) if network.labels is None else np.argsort(network.labels)
    region[row_of[brokers]] = np.arange(k)
    while (spreads := (region[a] < k) & (region[b] == k)).any():
        np.minimum.at(region, b[spreads], region[a[spreads]])
    known = (region[a] < k) & (region[b] < k)
    joined = np.zeros((k, k), np.bool_)
    joined[region[a[known]], region[b[known]]] = True
    first, other = np.triu_indices(k, 1)
    return np.asarray(joined[first, other])


def _apart(joined: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return [times without contact] of one pair of DRIP's regions: the number of observations in
    each.
    """
    contacts = np.flatnonzero(joined)
    gaps = np.diff(contacts)
    return np.asarray(gaps[gaps > 1] - 1)
