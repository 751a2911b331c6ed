"""The live face of the walk overlay, in which each node has its own catalogue, and topics are
hashes.

Filters with the hashes of topics travel between nodes, so the number of a topic must be equal on
all nodes: it is 31 bits of the topic's hash. Two topics with one number share their paths; the
receiver compares the texts.
"""

from typing import Any

import numpy as np

from halfway.core.bloom import Size, sized
from halfway.core.missing import NONE
from halfway.live.systems.face import Command, Face, made
from halfway.protocols.parts.reliable_hop import TRACKED_HOPS
from halfway.protocols.walk_overlay import subscription_items
from halfway.protocols.walk_overlay.handler import Rules, rules_of
from halfway.protocols.walk_overlay.messages import JOIN, SUBSCRIBE, UNSUBSCRIBE
from halfway.protocols.walk_overlay.state import TRAILS

_NETWORK_TOPICS = 256  # with subscribers, for which the filters are sized


class WalkOverlayFace(Face):
    """The live face of the walk overlay. Each node walks as soon as it publishes or subscribes."""

    numbered = False
    broadcast = False

    def _made_rules(self) -> Rules:
        size = sized(_NETWORK_TOPICS, float(self.values["false_positives"]))
        own = self.parameters.limits.subscriptions
        self._catalogue = subscription_items.Catalogue(
            np.full(own, NONE, np.int32), np.zeros((own, 0)), np.zeros((own, 0)),
            np.arange(own + 1, dtype=np.int64), np.zeros(own, np.uint64), np.zeros(0, np.int32),
            np.zeros((0, 0)),
        )  # fmt: skip
        return rules_of(self.values, self._catalogue, size, self.parameters.key)

    def _made_state(self, rules: Rules) -> Any:
        limits = self.parameters.limits
        return made(
            self.module.state, self._node_ids(), limits.neighbours, limits.subscriptions,
            limits.publishers, Size(rules.bits, rules.hashes).words, self.parameters.seed,
            trails=TRAILS, links=int(self.values["links"]) or limits.overlay_links,
            branches=rules.branches, buffered_events=self.values["buffered_events"],
            in_flight=limits.in_flight, tracked_hops=TRACKED_HOPS if rules.retries else 0,
        )  # fmt: skip

    def subscribe(self, topic: int) -> list[Command]:
        """Enter a topic into the catalogue of the node, and subscribe to this entry in the walk
        overlay.
        """
        free = np.flatnonzero(self._catalogue.topic == NONE)
        if not len(free):
            return []
        entry = int(free[0])
        self._catalogue.topic[entry] = topic
        key = np.uint64(self.parameters.key)
        whole = subscription_items.WHOLE_TOPIC
        self._catalogue.item[entry] = made(subscription_items.item_of, key, topic, whole, 0, 0)
        return [Command(int(SUBSCRIBE), entry)]

    def unsubscribe(self, topic: int) -> list[Command]:
        """End the walk overlay's subscription to a topic, and free its entry in the catalogue."""
        found = np.flatnonzero(self._catalogue.topic == topic)
        return [Command(int(UNSUBSCRIBE), int(found[0]))] if len(found) else []

    def forget(self, topic: int) -> None:
        """Free the walk overlay's entry of a topic whose subscription has ended."""
        self._catalogue.topic[self._catalogue.topic == topic] = NONE

    def before_publishing(self) -> list[Command]:
        """Return the walk overlay's command for the role of a publisher: the node joins the
        overlay.
        """
        return [Command(int(JOIN))]
