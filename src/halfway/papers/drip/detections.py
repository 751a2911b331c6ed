"""The events of DRIP that several nodes detect, each a publication of its own, where the first
delivery of an event counts.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.world.workload.demand import Publications

Floats = npt.NDArray[np.float64]
Longs = npt.NDArray[np.int64]


class Happened(NamedTuple):
    """The events of a DRIP run that one node or several nodes detect, and their first
    deliveries.
    """

    at: Floats  # [events] seconds
    came_at: Floats  # [brokers, events] the first copy; inf: never
    event: Longs  # [deliveries]
    delay: Floats  # [deliveries] seconds
    awaited: Longs  # [events] subscribers that did not detect the event


def by_publication(published: Publications, subscribers: list[npt.NDArray[np.int32]]) -> Longs:
    """Return [publications]: the subscribers of each of DRIP's detected events, without its
    publisher.
    """
    among = zip(published.topic, published.row, strict=True)
    found = [np.count_nonzero(subscribers[topic] != row) for topic, row in among]
    return np.array(found, np.int64)


def by_event(
    published: Publications,
    subscribers: list[npt.NDArray[np.int32]],
    came_at: Floats,
    event: Longs,
    row: Longs,
    delay: Floats,
) -> Happened:
    """Return DRIP's events with all of their detections: publications at the same time are of one
    event.

    subscribers: rows by topic; came_at [brokers, publications]; event, row, delay: of deliveries.
    """
    at, first, of = np.unique(published.t, return_index=True, return_inverse=True)
    n = 1 + max(int(published.row.max()), int(row.max(initial=0)))
    n = max(n, 1 + max(int(rows.max(initial=0)) for rows in subscribers))
    detected = of * n + published.row
    wanted = [g * n + subscribers[published.topic[p]] for g, p in enumerate(first)]
    expected = np.setdiff1d(np.concatenate(wanted), detected)
    pair = of[event] * n + row
    order = np.lexsort((delay, pair))
    pair, place = np.unique(pair[order], return_index=True)
    kept = ~np.isin(pair, detected)
    earliest = np.full((len(came_at), len(at)), np.inf)
    np.minimum.at(earliest.T, of, came_at.T)
    awaited = np.bincount(expected // n, minlength=len(at))
    return Happened(at, earliest, pair[kept] // n, delay[order][place][kept], awaited)
