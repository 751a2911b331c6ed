"""The live face of DRIP, whose nodes need no positions: regions follow from the delays of beacons.

An interval of topics has one topic, whose number must be equal on all nodes: it is 31 bits of the
topic's hash. DRIP cannot end a subscription. After its end, a node still receives the events of
the topic, and gives them to no application.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from halfway.core.options import Option
from halfway.live.systems.face import BoundedFace, Command, made
from halfway.protocols.drip import handler
from halfway.protocols.drip.copies import check_copies

REQUESTS = 256  # topics to which a node ever subscribes
REGISTERED, EVENTS = 4096, 1024  # subscriptions in a broker's register; events of a node


class DripFace(BoundedFace):
    """The live face of DRIP, in which a node draws its capability at its start."""

    numbered = False
    broadcast = False
    most_subscribed = REQUESTS
    # Brokers are near by their delay, and a node cannot measure the delay of a link.
    hop_age_s = 0.001
    OPTIONS: ClassVar[Mapping[str, Option]] = {
        # Nodes that wait for their process must not change their regions.
        "least_gain_s": handler.OPTIONS["least_gain_s"]._replace(default=0.02),
    }

    def _made_rules(self) -> handler.Rules:
        check_copies(self.values)
        values: dict[str, Any] = dict(self.values)
        return handler.Rules(**values)

    def _made_state(self, rules: handler.Rules) -> Any:
        seed = self.parameters.seed
        capability = 1.0 - np.random.default_rng(seed).random(1)  # above 0: a candidate
        return made(
            handler.state,
            self._node_ids(),
            capability,
            brokers=rules.brokers,
            nearest=rules.nearest,
            copies=rules.copies,
            window=EVENTS // 2,
            publishers=self.parameters.limits.publishers,
            own=REQUESTS,
            intervals=REGISTERED // 2,
            seed=seed,
        )

    def subscribe(self, topic: int) -> list[Command]:
        """Subscribe to a topic in DRIP, which is the interval from the topic to itself."""
        return [command._replace(arg=topic) for command in super().subscribe(topic)]
