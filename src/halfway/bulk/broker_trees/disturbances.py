"""The disturbances of events in a loaded broker tree: control messages, and losses on links.

[uas §5] the authors' simulator "models all the basic network features like delay, bandwidth and
loss of data", and counts "the data traffic, control traffic".
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.bulk.broker_trees.queues import DOWN, ROUTES, UP, Doubles, Indices, QueuedPaths
from halfway.core.compiled import inlined
from halfway.core.prng import advanced, mixed, seeded, uniform

_LOSS, _SECOND = 0x1055, 2  # random stream of losses; routes of the second path


class Disturbances(NamedTuple):
    """The control messages and the losses during a passage of events through a queued broker
    tree.
    """

    at: Doubles  # [messages] seconds at which a control message starts, ascending
    route: Indices  # [messages] route of the control message
    success: Doubles  # [queues] probability that a message is not lost
    random_state: npt.NDArray[np.uint64]  # [1]


def disturbances(
    paths: QueuedPaths, window_s: float, *, ping_s: float = 0.0, loss: float = 0.0, seed: int = 0
) -> Disturbances:
    """Return the disturbances of the events in a loaded broker tree within `window_s` seconds.

    ping_s: seconds between two PINGs of a broker on each of its paths, which the parent answers
    after the travel time; 0: none. loss: probability that a link of the underlay loses a message.
    """
    at, route = np.zeros(0), np.zeros(0, np.int64)
    if ping_s > 0.0:
        at, route = _pings(paths, window_s, ping_s, seed)
    success = np.power(1.0 - loss, paths.hops.astype(np.float64))
    return Disturbances(at, route, success, np.array([seeded(np.uint64(seed), _LOSS)], np.uint64))


def _pings(
    paths: QueuedPaths, window_s: float, ping_s: float, seed: int
) -> tuple[Doubles, Indices]:
    """Return the times and routes of all PINGs of a broker tree and their answers, in order of
    time.
    """
    brokers = len(paths.parent)
    phase = np.random.default_rng(seed).random(brokers) * ping_s
    rounds = np.arange(int(np.ceil(window_s / ping_s))) * ping_s
    begins = (phase[:, None] + rounds).ravel()
    of = np.repeat(np.arange(brokers), len(rounds))
    at, route = [], []
    for half in (0, _SECOND):
        up = ROUTES * of + half + UP
        exists = (paths.first[up + 1] > paths.first[up]) & (begins < window_s)
        at += [begins[exists], begins[exists] + paths.unloaded_s[up[exists]]]
        route += [up[exists], up[exists] - UP + DOWN]
    times, routes = np.concatenate(at), np.concatenate(route)
    order = np.argsort(times, kind="stable")
    return times[order], routes[order]


@inlined
def comes_through(disturbed, queue):
    """Return whether a message in a loaded broker tree suffers no loss on the links that it takes
    after a queue.
    """
    if disturbed.success[queue] == 1.0:
        return True
    disturbed.random_state[0] = advanced(disturbed.random_state[0])
    return uniform(mixed(disturbed.random_state[0])) < disturbed.success[queue]
