"""Subscriptions as intervals: the runs of neighbouring topics that each row subscribes to."""

from collections.abc import Iterator

from halfway.world.workload.demand import Demand


def intervals(demand: Demand) -> Iterator[tuple[int, int, int]]:
    """Subscription intervals (row, first, last) of runs of topics, in order of the last ones."""
    begun: dict[int, int] = {}
    for topic in range(demand.topics + 1):
        here = set(demand.subscribers[topic].tolist()) if topic < demand.topics else set()
        for row in sorted(begun.keys() - here):
            yield row, begun.pop(row), topic - 1
        for row in here - begun.keys():
            begun[row] = topic
