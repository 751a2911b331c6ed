"""The adapter of rumor routing: that of broadcast systems, with notes on its limits."""

import math
from collections.abc import Sequence

from halfway.adapters.interface import ComparedRuns, UnsizedAdapter


class RumorRoutingAdapter(UnsizedAdapter):
    """The adapter of rumor routing, whose state needs no sizing beyond a window."""

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
