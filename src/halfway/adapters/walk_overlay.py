"""The adapter of the walk overlay: subscriptions by topic or content, and a walk of every
initiator.
"""

from collections.abc import Mapping
from types import ModuleType

import numpy as np
import numpy.typing as npt

from halfway.adapters.commands import Commands, commands, joined
from halfway.adapters.interface import Adapter, RunContext, SystemInstance, limits_of
from halfway.core.bloom import Size, sized
from halfway.core.options import Value
from halfway.protocols.parts.reliable_hop import TRACKED_HOPS
from halfway.protocols.walk_overlay.messages import JOIN, SUBSCRIBE, UNSUBSCRIBE, WITHDRAW
from halfway.protocols.walk_overlay.state import TRAILS
from halfway.protocols.walk_overlay.subscription_items import (
    LEVELS,
    Catalogue,
    Subscription,
    catalogue,
)
from halfway.world.workload.attribute_space import Box, values_of
from halfway.world.workload.demand import Demand, Publications
from halfway.world.workload.named_roles import ALWAYS, Period
from halfway.world.workload.subscription_intervals import begins, boxes, ends

_MOST_BYTES = 4e9  # bytes of the filters of all nodes


class WalkOverlayAdapter(Adapter):
    """The adapter of the walk overlay: every publisher and every subscriber is an initiator [dwo
    §V-B], one walk for each node.

    Each node decides alone when it walks. The id of a subscription is its topic. Where a topic is a
    cell of the content of events, all events have one topic, a subscription is to a box of cells,
    and an attribute with m values has value v at (v + 1/2) / m.
    """

    has_neighbour_tables = True
    neighbour_option = "links"

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        super().__init__(module, values)
        self._has_content = False

    def _size(self, demand: Demand, contents: Catalogue) -> Size:
        """Return the size of a walk overlay's filter that holds the items of all subscriptions.

        An event asks the filter for its topic, and for one cell of each level of each attribute.
        The option is the share that the filter admits by mistake after all of these queries.
        """
        share = float(self.values["false_positives"])
        if not demand.shape:
            return sized(max(sum(len(rows) > 0 for rows in demand.subscribers), 1), share)
        queries = 1 + len(demand.shape) * (LEVELS + 1)
        return sized(len(np.unique(contents.item)), 1.0 - (1.0 - share) ** (1.0 / queries))

    def _links(self, context: RunContext) -> int:
        """Return the number of overlay neighbours that a node of the walk overlay has room for."""
        most = int(self.values["links"])
        return min(context.most_neighbours, most) if most > 0 else context.most_neighbours

    def unsupported(self, context: RunContext) -> str:
        """Return why the adapter of the walk overlay cannot run it: only where its filters are too
        large.
        """
        filter_size = self._size(context.demand, contents_of(context.demand, 0))
        size = 8.0 * context.n * self._links(context) * filter_size.words
        if size <= _MOST_BYTES:
            return ""
        return (
            f"its filters would take {size / 1e9:.0f} GB. Set the option `links` to a smaller "
            "number, which limits the filters of a node"
        )

    def ends_subscriptions(self) -> bool:
        """Return True for the adapter: a subscription of the walk overlay can end."""
        return True

    def instance(self, context: RunContext) -> SystemInstance:
        """Return the instance that the adapter of the walk overlay sizes for a network."""
        values, module, demand = self.values, self.module, context.demand
        key = context.seed % 2**63
        contents = contents_of(demand, key)
        size, self._has_content = self._size(demand, contents), bool(demand.shape)
        rules = module.rules_of(values, contents, size, key)
        state = module.state(
            context.node_ids, context.most_neighbours, _most_subscriptions(demand),
            context.publishers, size.words, context.seed,
            trails=min(max(len(initiators(demand)), 4), TRAILS), links=self._links(context),
            branches=rules.branches, buffered_events=values["buffered_events"],
            attributes=len(demand.shape), in_flight=context.in_flight,
            tracked_hops=TRACKED_HOPS if rules.retries else 0,
        )  # fmt: skip
        return SystemInstance(
            state=state,
            rules=rules,
            most_emissions=module.most_emissions(state, rules),
            kinds=module.KINDS,
            # A buffered event is sent while a later record is handled, and continues its hops.
            hops_from_publisher=values["buffered_events"] == 0,
            shortfalls=module.shortfalls,
            most_beside=module.MOST_BESIDE,
            limits=limits_of(module, state, rules),
        )

    def start_up_commands(self, demand: Demand) -> Commands:
        """Return the start-up commands of the adapter of the walk overlay: subscriptions, their
        ends, and the roles of publishers.
        """
        publish = _publishing(demand)
        rows, until_s = np.array(list(publish)), np.array([end for _, end in publish.values()])
        left = np.isfinite(until_s)
        parts = (
            _content_commands(demand) if demand.shape else super().start_up_commands(demand),
            commands([begin for begin, _ in publish.values()], rows, JOIN, -1),
            commands(until_s[left], rows[left], WITHDRAW, -1),
        )
        return joined(parts)

    def publish_commands(self, publications: Publications) -> Commands:
        """Return the commands to publish of the adapter of the walk overlay: by topic, or with the
        number that the event's content has in the catalogue.
        """
        plain = super().publish_commands(publications)
        if not self._has_content:
            return plain
        return plain._replace(topic=np.zeros_like(plain.topic), argument=plain.topic)


def contents_of(demand: Demand, key: int) -> Catalogue:
    """Return the catalogue that the adapter of the walk overlay gives to applications, with filter
    items under a key.

    With content its events are the cells, by number, and its subscriptions the distinct boxes;
    otherwise its subscriptions are the topics.
    """
    shape = demand.shape
    if not shape:
        return catalogue([Subscription(topic) for topic in range(demand.topics)], [], key)
    subscribed = []
    for box in _distinct(demand):
        ends_of = zip(box, shape, strict=True)
        intervals = tuple((low / m, (high + 1) / m) for (low, high), m in ends_of)
        subscribed.append(Subscription(0, intervals))
    values = (values_of(shape) + 0.5) / np.array(shape)
    return catalogue(subscribed, [(0, tuple(cell)) for cell in values.tolist()], key)


def _most_subscriptions(demand: Demand) -> int:
    """Return the most subscriptions that a node of the walk overlay has, at least 1."""
    if demand.shape:
        rows = np.array([row for row, _, _ in boxes(demand)], np.int64)
    else:
        rows = np.concatenate([np.zeros(0, np.int64), *demand.subscribers])
    return max(int(np.bincount(rows).max(initial=0)), 1)


def _distinct(demand: Demand) -> dict[Box, int]:
    """Return the distinct boxes of the walk overlay's subscriptions, with their numbers."""
    found = dict.fromkeys(box for _, _, box in boxes(demand))
    return {box: number for number, box in enumerate(found)}


def _content_commands(demand: Demand) -> Commands:
    """Return the walk overlay's commands to subscribe to boxes, and to end these subscriptions."""
    filters, numbers = boxes(demand), _distinct(demand)
    rows = np.array([row for row, _, _ in filters], np.int32)
    which, end = np.array([numbers[box] for _, _, box in filters], np.int32), ends(demand, filters)
    ended = np.isfinite(end)
    return joined(
        (
            commands(begins(demand, filters), rows, SUBSCRIBE, which),
            commands(end[ended], rows[ended], UNSUBSCRIBE, which[ended]),
        )
    )


def _publishing(demand: Demand) -> dict[int, Period]:
    """Return, for each publishing row of the walk overlay in ascending order, the period in which
    the row publishes on any topic.
    """
    periods: dict[int, Period] = {}
    for topic, rows in enumerate(demand.publishers):
        for row in rows.tolist():
            begin, end = demand.publishing_periods.get((row, topic), ALWAYS)
            known = periods.get(row, (begin, end))
            periods[row] = min(begin, known[0]), max(end, known[1])
    return dict(sorted(periods.items()))


def initiators(demand: Demand) -> npt.NDArray[np.int64]:
    """Return every initiator that the adapter of the walk overlay lets walk, once: the rows that
    publish or subscribe, topic by topic, with the publishers of a topic first.
    """
    rows = dict.fromkeys(
        row
        for publishers, subscribers in zip(demand.publishers, demand.subscribers, strict=True)
        for row in (*publishers.tolist(), *subscribers.tolist())
    )
    return np.array(list(rows), np.int64)


ADAPTERS = {"walk-overlay": WalkOverlayAdapter}
