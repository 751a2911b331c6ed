"""The live face of DRIP, whose nodes need no positions: regions follow from the delays of beacons.

An interval of topics has one topic, whose number must be equal on all nodes: it is 31 bits of the
topic's hash. DRIP cannot end a subscription. After its end, a node still receives the events of
the topic, and gives them to no application.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from halfway.core.options import Option
from halfway.live.step.system_node import SystemNode
from halfway.live.systems.face import Command, Face, made
from halfway.protocols.drip import handler
from halfway.protocols.drip.copies import check_copies
from halfway.protocols.drip.messages import SUBSCRIBE

REQUESTS = 256  # topics to which a node ever subscribes
REGISTERED, EVENTS = 4096, 1024  # subscriptions in a broker's register; events of a node


class DripFace(Face):
    """The live face of DRIP, in which a node draws its capability at its start."""

    numbered = False
    broadcast = False
    # Brokers are near by their delay, and a node cannot measure the delay of a link.
    hop_age_s = 0.001
    OPTIONS: ClassVar[Mapping[str, Option]] = {
        # Nodes that wait for their process must not change their regions.
        "least_gain_s": handler.OPTIONS["least_gain_s"]._replace(default=0.02),
    }

    def _node(self) -> SystemNode:
        limits, parameters = self.parameters.limits, self.parameters
        check_copies(self.values)
        node_ids = np.array([parameters.node_id], np.int32)
        capability = 1.0 - np.random.default_rng(parameters.seed).random(1)  # above 0: a candidate
        values: dict[str, Any] = dict(self.values)
        rules = handler.Rules(**values)
        state = made(
            handler.state,
            node_ids,
            capability,
            brokers=rules.brokers,
            nearest=rules.nearest,
            copies=rules.copies,
            window=EVENTS // 2,
            publishers=limits.publishers,
            own=REQUESTS,
            intervals=REGISTERED // 2,
            seed=parameters.seed,
        )
        self._subscribed: set[int] = set()
        return SystemNode(
            state=state,
            rules=rules,
            most_emissions=handler.most_emissions(state, rules),
            kinds=handler.KINDS,
            limits={},
            numbered=self.numbered,
        )

    def subscribe(self, topic: int) -> list[Command]:
        """Subscribe to a topic in DRIP; no command if the node has had too many of them."""
        if topic not in self._subscribed and len(self._subscribed) >= REQUESTS:
            return []
        self._subscribed.add(topic)
        return [Command(int(SUBSCRIBE), topic, arg=topic)]
