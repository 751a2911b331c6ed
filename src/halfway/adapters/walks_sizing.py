"""How many hops with care a node of a walk system must have room for on a scene."""

import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from halfway.adapters.interface import RunContext
from halfway.protocols.reliable_hop import ANSWERED, HOP
from halfway.protocols.walks.rendezvous import Rules

_FEW = 8  # hops that every node has room for
_MOST_BYTES = 1e9  # of the tables of all nodes
_EVENTS = 4096  # by which it is seen how often anybody publishes


def places(
    context: RunContext,
    rules: Rules,
    pairs: npt.NDArray[np.int32],
    of: Mapping[tuple[int, int], range],
) -> int:
    """Hops with care that the busiest node has in flight at a time; 0 where nobody cares.

    pairs [P, 2]: rows of publisher and subscriber; of: (topic, publisher's row) -> its pairs. A
    node launches all its walks at once, tells every subscriber of what it publishes, and passes on
    the walks of others. Where that would take too much memory it is less, and hops go without care.
    """
    if rules.retries == 0:
        return 0
    launched = int(np.bincount(pairs.ravel(), minlength=1).max())
    # A walk is at a node as often as the node has neighbours, and for a moment still at the one
    # before it.
    degree = context.start.degree
    passing = 2 * len(pairs) * int(degree.max(initial=0)) / max(int(degree.sum()), 1)
    told = _told(context, (rules.retries + 1) * rules.patience_s, of)
    need = launched + told + math.ceil(2 * passing) + _FEW
    fit = int(_MOST_BYTES / (max(context.n, 1) * (HOP.itemsize + 8 * ANSWERED)))
    return max(min(need, fit), _FEW)


def _told(context: RunContext, longest: float, of: Mapping[tuple[int, int], range]) -> int:
    """The most letters that one publisher has for its subscribers within so many seconds."""
    some = context.demand.begun_again().take(context.seconds, _EVENTS)
    roles = zip(some.topic.tolist(), some.row.tolist(), strict=True)
    each, most = np.array([len(of[role]) for role in roles], np.int64), 0
    for row in np.unique(some.row):
        mine = some.row == row
        at, told = some.t[mine], np.cumsum([0, *each[mine]])
        begin = np.searchsorted(at, at - longest, side="right")
        most = max(most, int((told[1:] - told[begin]).max()))
    return most
