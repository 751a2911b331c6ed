"""The catalogue of the walk overlay: the topics and attribute intervals of subscriptions, as items
of filters.

[dwo §III] filters have information about subscriptions only, so there are no advertisements. [dwo
§I] filters "specify the value of subscriptions attributes", but the paper does not say how a Bloom
filter does so. We cut an interval into dyadic cells, because a filter holds items only. An event
queries, for each length, the cell that contains its value. We insert a subscription under its
narrowest attribute only, as a few cells that cover the interval, because every further item fills
the filter. Every matching event queries one of these cells (decision 0013).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.bloom import insert, may_hold
from halfway.core.compiled import inlined, kernel
from halfway.core.prng import seeded
from halfway.problem import Problem

LEVELS = 6  # the narrowest cells are 2^-6 of an attribute's range
PIECES = 4  # most cells that cover an interval
WHOLE_TOPIC = 1000  # stands for an attribute: the whole topic


class Subscription(NamedTuple):
    """A subscription in the overlay: a topic, and for each attribute an interval [low, high), or
    None for any value.
    """

    topic: int
    intervals: tuple[tuple[float, float] | None, ...] = ()


class Catalogue(NamedTuple):
    """The catalogue of an application's overlay subscriptions and events, by its own numbers.

    Attributes lie in [0, 1). A node reads an entry on a command of its own application only.
    Events without attributes need no entry: the command has their topic.
    """

    topic: npt.NDArray[np.int32]  # [subscriptions]
    low: npt.NDArray[np.float64]  # [subscriptions, attributes]
    high: npt.NDArray[np.float64]  # [subscriptions, attributes] exclusive
    first: npt.NDArray[np.int64]  # [subscriptions + 1] of s: item[first[s]:first[s + 1]]
    item: npt.NDArray[np.uint64]  # [items]
    event_topic: npt.NDArray[np.int32]  # [events]
    value: npt.NDArray[np.float64]  # [events, attributes]


def catalogue(
    subscriptions: Sequence[Subscription], events: Sequence[tuple[int, Sequence[float]]], key: int
) -> Catalogue:
    """Return the catalogue of overlay subscriptions and of events (topic, values); `key` is the key
    of every hash.

    Raises Problem for different numbers of attributes, values that are not finite, or an empty
    interval.
    """
    widths = {len(values) for _, values in events} | {len(s.intervals) for s in subscriptions}
    attributes = max(widths, default=0)
    low = np.full((len(subscriptions), attributes), -np.inf)
    high = np.full((len(subscriptions), attributes), np.inf)
    items: list[list[int]] = []
    for s, subscription in enumerate(subscriptions):
        for a, interval in enumerate(subscription.intervals):
            if interval is not None:
                low[s, a], high[s, a] = interval
        if not (low[s] < high[s]).all():
            raise Problem(
                f"subscription {s} has an empty interval: expected (low, high) with low below high"
            )
        items.append(_items(subscription, key))
    return Catalogue(
        np.array([s.topic for s in subscriptions], np.int32),
        low,
        high,
        np.cumsum([0, *map(len, items)]).astype(np.int64),
        np.array([item for of_filter in items for item in of_filter], np.uint64),
        np.array([topic for topic, _ in events], np.int32),
        _values(events, attributes),
    )


def _values(
    events: Sequence[tuple[int, Sequence[float]]], attributes: int
) -> npt.NDArray[np.float64]:
    """Return the checked values of the catalogue's events: [events, attributes]."""
    value = np.zeros((len(events), attributes))
    for e, (_, values) in enumerate(events):
        if len(values) != attributes or not np.isfinite(values).all():
            raise Problem(
                f"event {e}: values = {tuple(values)}: expected {attributes} finite "
                f"number{'s' if attributes > 1 else ''}",
            )
        value[e] = values
    return value


def _items(subscription: Subscription, key: int) -> list[int]:
    """Return the items that represent an overlay subscription in a filter."""
    narrow = [
        (high - low, a, low, high)
        for a, interval in enumerate(subscription.intervals)
        if interval is not None
        for low, high in [(max(interval[0], 0.0), min(interval[1], 1.0))]
    ]
    whole = [int(item_of(np.uint64(key), subscription.topic, WHOLE_TOPIC, 0, 0))]
    if not narrow or min(narrow)[0] >= 1.0:
        return whole
    _, a, low, high = min(narrow)
    return [
        int(item_of(np.uint64(key), subscription.topic, a, level, cell))
        for level, cell in covering(low, high)
    ]


def covering(low: float, high: float) -> list[tuple[int, int]]:
    """Return at most PIECES cells (level, number) that cover a subscription's [low, high) in [0,
    1).
    """
    level = LEVELS
    while True:
        first, last = (int(cell_of(end, level)) for end in (low, np.nextafter(high, -1.0)))
        cells = _merged(first, last, level)
        if len(cells) <= PIECES:
            return cells
        level -= 1


def _merged(first: int, last: int, level: int) -> list[tuple[int, int]]:
    """Return the cells first…last of one level for an overlay subscription, with two halves
    replaced by their parent cell.
    """
    cells = []
    while first <= last:
        if first & 1 or level == 0:
            cells.append((level, first))
            first += 1
        if first <= last and not last & 1 and level > 0:
            cells.append((level, last))
            last -= 1
        first, last, level = first >> 1, last >> 1, level - 1
        if level < 0:
            break
    return cells


@inlined
def cell_of(value, level):
    """Return the cell of an attribute value at a level; a value outside [0, 1) is in an outermost
    cell.
    """
    cells = np.int64(1) << np.int64(level)
    clipped = min(max(value, 0.0), 1.0)
    return min(np.int64(clipped * np.float64(cells)), cells - np.int64(1))


@inlined
def item_of(key, topic, attribute, level, cell):
    """Return the word that represents, in every overlay filter, a cell of an attribute of a
    topic.
    """
    return seeded(seeded(seeded(key, topic), attribute * 64 + level), cell)


@inlined
def matches(catalogue, s, topic, values):
    """Return whether overlay subscription s matches an event by its topic and values [attributes],
    exactly.
    """
    if catalogue.topic[s] != topic:
        return False
    for a in range(values.shape[0]):
        if values[a] < catalogue.low[s, a] or values[a] >= catalogue.high[s, a]:
            return False
    return True


@inlined
def admits(words, topic, values, key, bits, hashes):
    """Return whether a subscription filter admits an event by its topic and values [attributes]:
    false positives, but no false negatives.
    """
    if may_hold(words, item_of(key, topic, WHOLE_TOPIC, 0, 0), bits, hashes):
        return True
    for a in range(values.shape[0]):
        for level in range(LEVELS + 1):
            cell = cell_of(values[a], level)
            if may_hold(words, item_of(key, topic, a, level, cell), bits, hashes):
                return True
    return False


@kernel
def insert_all(words, subscriptions, catalogue, bits, hashes):
    """Insert overlay subscriptions, given by number (-1: none), into an overlay filter."""
    for s in subscriptions:
        if s >= 0:
            for k in range(catalogue.first[s], catalogue.first[s + 1]):
                insert(words, catalogue.item[k], bits, hashes)
