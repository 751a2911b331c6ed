"""The live face of the two walk systems, in which each member of a topic launches its own walk.

A node learns the other members of a topic from their walks only. A node numbers its topics
itself. A topic keeps its number, because trails and paths contain the number.
"""

from typing import Any

from halfway.live.systems.face import Face, made
from halfway.protocols.parts.reliable_hop import TRACKED_HOPS
from halfway.protocols.walks.messages import Rules, rules_of

_MEMBERS = 16  # members of a topic that a node has room for, if the option `trails` is 0


class WalksFace(Face):
    """The live face of the directional and of the pure random walk."""

    broadcast = False
    keeps_topics = True

    def _made_rules(self) -> Rules:
        return rules_of(self.values)

    def _made_state(self, rules: Rules) -> Any:
        limits = self.parameters.limits
        return made(
            self.module.state, self._node_ids(), limits.neighbours, limits.topics,
            self.parameters.seed, members=int(self.values["trails"]) or _MEMBERS,
            places=TRACKED_HOPS if rules.retries else 0, publishers=limits.publishers,
            buffer_size=int(self.values["buffer_size"]), in_flight=limits.in_flight,
        )  # fmt: skip
