"""The live faces of the broker trees: the role of a node, and topics as values of one attribute.

The value of a topic is 53 bits of its hash on the wire, so it is equal on all nodes. A subscription
to a topic is the interval of this value, and a subscription to all topics has no interval. A node
numbers its topics itself, and these numbers stay in the node.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from halfway.core.filters import Filters
from halfway.core.missing import NONE
from halfway.core.options import Option, Value
from halfway.live.systems.face import BROKER, CLIENT, FOUNDER, BoundedFace, Command, made
from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.client_state import ClientCapacity
from halfway.protocols.broker_trees.paths.ancestors import OUTSIDE, SEEKING
from halfway.protocols.broker_trees.records.messages import ENTER, LEAVE
from halfway.protocols.broker_trees.tables.subscription_table import Catalogue

REQUESTS = 256  # topics to which a node subscribes
ENTRIES, CIRCUITS, CHILDREN = 512, 512, 64  # places of the tables
_VALUE = 2**53 - 1  # bits of a topic's value, which a double has
# Refresh intervals without a broker, and seconds at least, after which a broker founds a tree.
_FOUNDING, _LEAST_FOUNDING_S = 3.0, 4.0
_ACKNOWLEDGED: Mapping[str, Option] = {
    # Datagrams get lost, so the hops of live nodes are acknowledged.
    "retries": siena.OPTIONS["retries"]._replace(default=3),
    "ack_timeout_s": siena.OPTIONS["ack_timeout_s"]._replace(default=0.5),
    "ack_backoff": siena.OPTIONS["ack_backoff"]._replace(default=2.0),
    # Nodes start at any time, and hear of the tree by these announcements.
    "refresh_s": siena.OPTIONS["refresh_s"]._replace(default=2.0),
    # Interpreted nodes need longer to pass a search on.
    "search_s": siena.OPTIONS["search_s"]._replace(default=0.3),
}


class SienaFace(BoundedFace):
    """The live face of Siena's tree. A broker is a client's node until it enters the tree.

    A broker enters the tree when it has heard of a broker. If it hears of none, it founds a tree.
    """

    broadcast = False
    matches_all = True
    most_subscribed = REQUESTS
    ROLES = (BROKER, FOUNDER, CLIENT)
    OPTIONS = _ACKNOWLEDGED
    WITHOUT: ClassVar[Mapping[str, str]] = {
        "brokers": "each live node has its role: give --role to it instead"
    }

    def _made_rules(self) -> Any:
        topics = self.parameters.limits.topics
        self.hashes = np.zeros(topics, np.uint64)
        self._values = np.zeros((topics, 1))
        self._low, self._high = np.full((2, topics), np.nan)
        first = np.arange(topics + 1, dtype=np.int32)
        filters = Filters(first, np.zeros(topics, np.int32), self._low, self._high)
        return self.module.Rules(Catalogue(filters, self._values), **self._parameters())

    def _parameters(self) -> dict[str, Value]:
        """Return the values of the options that are parameters of the protocol."""
        fields = self.module.Rules._fields
        return {name: value for name, value in self.values.items() if name in fields}

    def _made_state(self, rules: Any) -> Any:
        limits, ids = self.parameters.limits, self._node_ids()
        role, no_ids = self.parameters.role or BROKER, np.zeros(0, np.int32)
        self._enters = role == BROKER
        return made(
            self.module.state,
            ids,
            no_ids if role == CLIENT else ids,
            self.parameters.node_id if role == FOUNDER else int(NONE),
            ENTRIES,
            circuit_slots=CIRCUITS,
            retries=rules.retries,
            later=ids if role == BROKER else no_ids,
            clients=ClientCapacity(ids, REQUESTS, 1, limits.publishers, limits.in_flight),
            **self._sizes(),
        )

    def _sizes(self) -> dict[str, Any]:
        """Return further arguments of the function that makes the state."""
        return {}

    def know_topic(self, number: int, hash64: int, *, is_all: bool) -> None:
        """Enter the value of a topic into the catalogue of the node, before its first use."""
        value = float(hash64 & _VALUE)
        self._values[number, 0] = value
        self._low[number], self._high[number] = (-np.inf, np.inf) if is_all else (value, value)

    def commands_to_enter(self, waited_s: float) -> list[Command]:
        """Let a broker enter the tree when it knows of a broker, or after some refresh intervals
        without one. Brokers wait for different times, because one broker alone founds a tree.
        """
        if not self._enters:
            return []
        share = np.random.default_rng(self.parameters.node_id).random()
        own_s = float(self.values["join_delay_s"]) * share
        is_known = bool((self.node.state.nearby.broker != NONE).any())
        alone_s = own_s + max(_FOUNDING * float(self.values["refresh_s"]), _LEAST_FOUNDING_S)
        if waited_s < (own_s if is_known else alone_s):
            return []
        self._enters = False
        return [Command(int(ENTER))]

    @property
    def is_entering(self) -> bool:
        """Whether the node is a broker that has not entered the tree yet."""
        return self._enters

    def commands_to_leave(self) -> list[Command]:
        """Let a broker leave the tree before its node stops, so that its children and clients know
        it.
        """
        return [] if self.parameters.role == CLIENT or self._enters else [Command(int(LEAVE))]

    def overlay_place(self) -> dict[str, int | str | None]:
        """Return the place of the node in its broker tree: its role, and the ids of its parent and
        of the root, or of the broker of its clients. The root has no parent, and a broker that
        seeks a parent has the word "seeking".
        """
        state, role = self.node.state, self.parameters.role or BROKER
        up = int(state.parent[0]) if role != CLIENT else int(OUTSIDE)
        if up == OUTSIDE:
            return {"role": role, "broker": _known(int(state.clients.broker[0]))}
        if up == NONE:
            return {"role": role, "parent": None, "root": self.parameters.node_id}
        parent: int | str = "seeking" if up == SEEKING else up
        return {"role": role, "parent": parent, "root": _known(int(state.root[0]))}


class UnderlaySienaFace(SienaFace):
    """The live face of the underlay-aware broker tree."""

    def _sizes(self) -> dict[str, Any]:
        values = self.values
        return {
            "child_slots": CHILDREN,
            "known": int(values["known_brokers"]),
            "confirm": float(values["confirm_timeout_s"]) > 0.0,
        }


def _known(node_id: int) -> int | None:
    """Return the id of a node, or None for no node."""
    return None if node_id == NONE else node_id
