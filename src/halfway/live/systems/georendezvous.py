"""The live face of GeoRendezvous: the cells of the network, and the topics of applications.

All nodes must agree on the cells, on the rectangle that keys hash into and on the names of topics.
The cells and the rectangle follow from options, which are equal on all neighbours. The name of a
topic is its hash on the wire. Each node numbers its topics itself. A topic keeps its number,
because homes store the number.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from halfway.core.options import Option
from halfway.live.limits import Limits
from halfway.live.systems.face import BoundedFace, Command, made
from halfway.live.systems.positions import MOST_M, NodeGrid, Position, columns_of
from halfway.problem import Problem
from halfway.protocols.georendezvous import handler
from halfway.protocols.georendezvous.messages import ADVERTISE, UNADVERTISE
from halfway.protocols.georendezvous.rules import Rules, rules

REQUESTS = 128  # topics on which a node publishes, and topics to which it subscribes
ENTRIES, TRAVERSALS, PRUNED, HOPS = 1024, 256, 64, 256  # places of the tables
_AREA = ("area_x", "area_y", "area_width", "area_height")
_IN_A_ROW = 2  # nodes of a grid in one row of a cell, so that no node has more than 35 links


def _metres(default: float, meaning: str, low: float = 1e-6) -> Option:
    return Option(default, low, MOST_M, meaning)


class GeorendezvousFace(BoundedFace):
    """The live face of GeoRendezvous. A node advertises a topic before its first event there."""

    broadcast = False
    keeps_topics = True
    uses_position = True
    most_subscribed = REQUESTS
    advertising_s = 1.0
    OPTIONS: ClassVar[Mapping[str, Option]] = {
        "reach": _metres(
            280.0,
            "metres within which any two nodes are neighbours. The side of a cell is 0.35 of it",
        ),
        "area_x": _metres(0.0, "metres: first coordinate of the area's corner", -MOST_M),
        "area_y": _metres(0.0, "metres: second coordinate of the area's corner", -MOST_M),
        "area_width": _metres(1000.0, "metres: width of the area in which the nodes stand"),
        "area_height": _metres(1000.0, "metres: height of the area in which the nodes stand"),
        # Datagrams get lost, so the hops of live nodes are acknowledged.
        "retries": handler.OPTIONS["retries"]._replace(default=3),
        "ack_timeout_s": handler.OPTIONS["ack_timeout_s"]._replace(default=0.5),
        "ack_backoff": handler.OPTIONS["ack_backoff"]._replace(default=2.0),
    }

    def _made_rules(self) -> Rules:
        self.hashes = np.zeros(self.parameters.limits.topics, np.uint64)
        values: dict[str, Any] = {
            name: value for name, value in self.values.items() if name not in _AREA
        }
        reach = float(values.pop("reach")) * (1.0 - float(values.pop("reach_margin")))
        x, y, width, height = (float(self.values[name]) for name in _AREA)
        made_rules = rules(reach, self.parameters.key, (x, y, width, height), **values)
        self._rules = made_rules._replace(names=self.hashes)
        return self._rules

    def _made_state(self, rules: Rules) -> Any:
        limits, parameters = self.parameters.limits, self.parameters
        if parameters.position is not None:
            self.check_position(parameters.position)
        self._advertised: dict[int, None] = {}  # the topic of the latest event comes last
        return made(
            handler.state,
            self._node_ids(),
            limits.topics,
            rules.points,
            limits.publishers,
            parameters.seed,
            in_flight=limits.in_flight,
            **_sizes(limits, rules),
        )

    def _most_emissions(self, state: Any, rules: Rules) -> int:
        return handler.most_emissions(state, rules, REQUESTS)

    def check_position(self, position: Position) -> None:
        """Raise Problem for a position outside the area of GeoRendezvous."""
        own, (x, y) = self._rules, position
        low_x, low_y = own.low_x, own.low_y
        high_x, high_y = low_x + own.wide, low_y + own.high
        if not (low_x <= x <= high_x and low_y <= y <= high_y):
            what = (
                f"position = {x:g},{y:g}: expected a place in the area of georendezvous, "
                f"{low_x:g} to {high_x:g} by {low_y:g} to {high_y:g} metres"
            )
            raise Problem(what, remedy="give all nodes the same larger area_width or area_height")

    def grid(self, n: int, corner: Position | None) -> NodeGrid:
        """Return the grid of n nodes of GeoRendezvous in one process, over the whole area if n is
        large enough. Nodes next to each other are in one cell or in touching cells.

        corner: position of the first node. Raises Problem if cells would have too many nodes.
        """
        own, columns = self._rules, columns_of(n)
        most = min(own.wide / columns, own.high / -(-n // columns))
        if most < own.side / _IN_A_ROW:
            what = f"nodes = {n}: expected fewer nodes in an area of {own.wide:g} by {own.high:g} m"
            raise Problem(what, remedy="lower reach, or raise area_width and area_height")
        spacing = min(own.side, most)
        first = own.low_x + spacing / 2, own.low_y + spacing / 2
        return NodeGrid(n, corner or first, spacing, own.side, (own.low_x, own.low_y))

    def advertise(self, topic: int) -> list[Command]:
        """Advertise a topic in GeoRendezvous, unless it is advertised; the topic that was unused
        for the longest time makes room.
        """
        if topic in self._advertised:
            self._advertised[topic] = self._advertised.pop(topic)
            return []
        commands = [Command(int(ADVERTISE), topic)]
        if len(self._advertised) >= REQUESTS:
            oldest = next(iter(self._advertised))
            del self._advertised[oldest]
            commands.insert(0, Command(int(UNADVERTISE), oldest))
        self._advertised[topic] = None
        return commands


def _sizes(limits: Limits, own: Rules) -> dict[str, int]:
    """Return the places of GeoRendezvous's tables at a live node."""
    return {
        # A node that may build bridges also has room for those of its neighbours.
        "neighbours": 2 * limits.neighbours + own.bridges,
        "bridges": own.bridges,
        "entries": ENTRIES,
        "traversals": TRAVERSALS,
        "pruned": PRUNED,
        "hops_in_flight": HOPS if own.retries > 0 else 0,
    }
