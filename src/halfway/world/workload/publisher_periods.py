"""The periods of publishers in a drawn workload, and the draw of an event's topic and publisher."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel
from halfway.core.prng import advanced, mixed, pick, seeded, uniform
from halfway.problem import Problem
from halfway.world.portable_math import exponential, logarithm
from halfway.world.workload.named_roles import ALWAYS, Period, RolePeriods

Rows = npt.NDArray[np.int32]


class PublisherPeriods:
    """The nodes that publish on each topic of a drawn workload, over time.

    publishers: rows [topic]; periods: (row, topic) -> seconds; others publish for ever. Between two
    bounds, which are the begins and ends of periods, the publishers do not change. Raises Problem
    if no topic has a publisher.
    """

    def __init__(self, publishers: list[Rows], periods: Mapping[tuple[int, int], Period]) -> None:
        if not any(map(len, publishers)):
            raise Problem("publishers: expected at least one", remedy="name a publisher")
        self._publishers, self._some = publishers, bool(periods)
        self._periods = RolePeriods(periods, len(publishers))
        pairs = [(row, topic) for topic, rows in enumerate(publishers) for row in rows.tolist()]
        bounds = np.array([periods.get(pair, ALWAYS) for pair in pairs]).reshape(-1, 2)
        self._bounds = np.unique(np.concatenate(([0.0], bounds[np.isfinite(bounds)])))
        change = np.zeros(len(self._bounds) + 1, np.int64)
        np.add.at(change, np.searchsorted(self._bounds, bounds[:, 0]), 1)
        np.add.at(change, np.searchsorted(self._bounds, bounds[:, 1]), -1)
        self._there = np.cumsum(change)[:-1] > 0  # [bounds] from each bound on

    def is_any(self, at: float) -> bool:
        """Return whether any node has a period as publisher on a topic of the workload at a time in
        seconds.
        """
        place = np.searchsorted(self._bounds, at, side="right") - 1
        return not self._some or bool(self._there[place])

    def parts(self, at: Sequence[float]) -> Iterator[tuple[slice, list[Rows]]]:
        """Yield the parts of some times, ascending, between the bounds of the publishers' periods,
        with the publishers in each part: rows [topic].
        """
        if not self._some:
            yield slice(0, len(at)), self._publishers
            return
        if not len(at):
            return
        place = np.searchsorted(self._bounds, np.array(at), side="right") - 1
        first = np.flatnonzero(np.diff(place, prepend=-1))
        for begin, end in zip(first, [*first[1:], len(at)], strict=True):
            now = float(self._bounds[place[begin]])
            rows = [
                topic_rows[self._periods.hold(topic_rows, topic, now)]
                for topic, topic_rows in enumerate(self._publishers)
            ]
            yield slice(int(begin), int(end)), rows


def drawn_events(
    seeds: tuple[int, int], event: Rows, exponent: float, publishers: list[Rows]
) -> tuple[Rows, Rows]:
    """Draw a topic, and a publisher in its period, for each event of a workload.

    Topic k has a weight of 1 / (k + 1)^exponent, or 0 without publishers: rows [topic]. The random
    state of an event depends on the seeds and its number.
    """
    topic, which = np.empty_like(event), np.empty_like(event)
    count = np.array([len(rows) for rows in publishers], np.int64)
    seed, stream = seeds
    _choose(np.uint64(seed), stream, event, _chances(exponent, publishers), count, topic, which)
    first_of = np.concatenate(([0], np.cumsum(count)[:-1]))
    return topic, np.concatenate(publishers)[first_of[topic] + which]


def _chances(exponent: float, publishers: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.float64]:
    """Return the cumulative probability of a workload's topics [topics]; [0] if all are equal."""
    has = np.array([len(rows) > 0 for rows in publishers])
    if exponent == 0.0 and has.all():
        return np.zeros(0)
    weight = np.empty(len(has))
    _weigh(exponent, weight)
    upto = np.cumsum(weight * has)
    return np.asarray(upto / upto[-1])


@kernel
def _weigh(exponent, weight):
    for k in range(weight.shape[0]):
        weight[k] = exponential(-exponent * logarithm(k + 1.0))


@kernel
def _choose(seed, stream, event, chance, publishers, topic, which):
    for k in range(event.shape[0]):
        word = advanced(seeded(seeded(seed, stream), event[k]))
        if chance.shape[0] == 0:
            topic[k] = pick(mixed(word), publishers.shape[0])
        else:
            topic[k] = np.searchsorted(chance, uniform(mixed(word)), side="right")
        which[k] = pick(mixed(advanced(word)), publishers[topic[k]])
