"""The live face of the two walk systems, in which each member of a topic launches its own walk.

A node learns the other members of a topic from their walks only. A node numbers its topics
itself. A topic keeps its number, because trails and paths contain the number.
"""

import numpy as np

from halfway.live.step.system_node import SystemNode
from halfway.live.systems.face import Face, made
from halfway.protocols.reliable_hop import TRACKED_HOPS
from halfway.protocols.walks.messages import rules_of

_MEMBERS = 16  # members of a topic that a node has room for, if the option `trails` is 0


class WalksFace(Face):
    """The live face of the directional and of the pure random walk."""

    broadcast = False
    keeps_topics = True

    def _node(self) -> SystemNode:
        module, limits, parameters = self.module, self.parameters.limits, self.parameters
        rules = rules_of(self.values)
        state = made(
            module.state, np.array([parameters.node_id], np.int32), limits.neighbours,
            limits.topics, parameters.seed, members=int(self.values["trails"]) or _MEMBERS,
            places=TRACKED_HOPS if rules.retries else 0, publishers=limits.publishers,
            buffer_size=int(self.values["buffer_size"]), in_flight=limits.in_flight,
        )  # fmt: skip
        return SystemNode(
            state=state,
            rules=rules,
            most_emissions=module.most_emissions(state, rules),
            kinds=module.KINDS,
            limits=module.limits(state, rules),
            numbered=self.numbered,
        )
