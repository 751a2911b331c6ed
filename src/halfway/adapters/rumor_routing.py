"""The adapter of rumor routing: that of broadcast systems, with sizes of two tables, and with notes
on its limits.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from halfway.adapters.interface import ComparedRuns, RunContext, SystemInstance, UnsizedAdapter
from halfway.protocols.rumor_routing.state import TRAILS_EACH

_MORE = 32  # entries, because a subscription that comes again may have another way
_MOST_BYTES = 5e8  # bytes of the two tables of all nodes
_ENTRY_BYTES = 6 * np.int32().nbytes  # a trail has four numbers, and a branch has two


class RumorRoutingAdapter(UnsizedAdapter):
    """The adapter of rumor routing, whose nodes have room for the trails of all subscriptions."""

    def more_sizes(self, context: RunContext) -> Mapping[str, int]:
        """Return the sizes of the tables of trails and branches of rumor routing.

        The node in the middle of a star lies on the way of every query. If the room would take too
        much memory, the tables are smaller, and a node counts the entries that it replaces.
        """
        wanted = TRAILS_EACH * sum(map(len, context.demand.subscribers))
        fit = int(_MOST_BYTES / (max(context.n, 1) * _ENTRY_BYTES))
        capacity = min(wanted, fit) + _MORE
        return {"trails": capacity, "branches": capacity}

    def instance(self, context: RunContext) -> SystemInstance:
        """Return the instance of rumor routing, in which each record is for one neighbour."""
        return super().instance(context)._replace(most_beside=0)

    @classmethod
    def notes(cls, runs: ComparedRuns) -> Sequence[str]:
        """Return the notes of the adapter of rumor routing on its limits: several publishers of a
        topic, and losses.
        """
        texts = []
        if runs.publishers > 1:
            many = "any number" if runs.publishers == math.inf else f"up to {runs.publishers:.0f}"
            texts.append(
                "a query ends at one publisher of its topic, as in the paper. Events of other "
                f"publishers ({many} a topic) do not reach the subscriber."
            )
        if runs.lossy:
            texts.append(
                "agents and queries are not acknowledged, so an agent or a query ends at its "
                "first lost record."
            )
        return texts


ADAPTERS = {"rumor-routing": RumorRoutingAdapter}
