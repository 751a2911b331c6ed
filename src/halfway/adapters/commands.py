"""The commands of applications to the nodes of a system, as columns: subscribe, publish, end."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.world.workload.demand import Demand
from halfway.world.workload.named_roles import Period, RolePeriods


class Commands(NamedTuple):
    """The commands that an adapter posts to its nodes, as columns, in the order of posting.

    argument: the number that the driver writes at the place COMMAND_ARG of the record. Its meaning
    depends on the kind: the content's number in a PUBLISH of the walk overlay, the last topic in a
    SUBSCRIBE of DRIP, the client in the commands of a broker tree. Other commands ignore it.
    """

    at: npt.NDArray[np.float64]  # seconds
    row: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]
    topic: npt.NDArray[np.int32]
    argument: npt.NDArray[np.int32]
    event: npt.NDArray[np.int32]


def commands(
    at: Any, row: Any, kind: Any, topic: Any, argument: Any = 0, event: Any = -1
) -> Commands:
    """Return an adapter's commands from columns; a single value fills its column."""
    columns = np.broadcast_arrays(at, row, kind, topic, argument, event)
    whole = [np.array(column, np.int32) for column in columns[1:]]
    when, kinds = np.array(columns[0], np.float64), whole[1].astype(np.uint8)
    return Commands(when, whole[0], kinds, *whole[2:])


def part(of: Commands, which: slice | npt.NDArray[np.bool_]) -> Commands:
    """Return the selected commands of an adapter, in their order."""
    return Commands._make(column[which] for column in of)


def subscriptions(demand: Demand, kind: int, at: float = 0.0) -> Commands:
    """Return commands to subscribe, of a given kind: one for each subscriber of each topic.

    at: seconds before which no subscription begins.
    """
    rows = np.concatenate([np.zeros(0, np.int32), *demand.subscribers])
    topic = np.repeat(
        np.arange(demand.topics), [len(rows_of_topic) for rows_of_topic in demand.subscribers]
    )
    begin = RolePeriods(demand.periods, demand.topics).begin_times(rows, topic)
    return commands(np.maximum(begin, at), rows, kind, topic)


def ends_of_subscriptions(demand: Demand, kind: int) -> Commands:
    """Return commands to unsubscribe, of a given kind: one for each subscription that ends."""
    return _ends(demand.periods, kind)


def ends_of_publishing(demand: Demand, kind: int) -> Commands:
    """Return commands of `kind` for an adapter: one for each publisher that stops publishing on a
    topic.
    """
    return _ends(demand.publishing_periods, kind)


def _ends(periods: Mapping[tuple[int, int], Period], kind: int) -> Commands:
    ends = [(until_s, *pair) for pair, (_, until_s) in periods.items()]
    at, row, topic = np.array([one for one in ends if np.isfinite(one[0])]).reshape(-1, 3).T
    return commands(at, row, kind, topic)


def publishing_roles(demand: Demand, begins: int, ends: int, at: float) -> Commands:
    """Return an adapter's commands of kind `begins`, one for each publisher of a topic, and of kind
    `ends`, one for each publisher that stops.

    at: seconds before which no role begins.
    """
    rows = np.concatenate([np.zeros(0, np.int32), *demand.publishers])
    topic = np.repeat(
        np.arange(demand.topics), [len(rows_of_topic) for rows_of_topic in demand.publishers]
    )
    begin = RolePeriods(demand.publishing_periods, demand.topics).begin_times(rows, topic)
    first = commands(np.maximum(begin, at), rows, begins, topic)
    return joined((first, ends_of_publishing(demand, ends)))


def joined(some: Iterable[Commands]) -> Commands:
    """Return several lists of an adapter's commands as one list, in their order."""
    columns: Any = zip(*some, strict=True)
    return Commands(*map(np.concatenate, columns))
