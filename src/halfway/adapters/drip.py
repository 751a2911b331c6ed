"""The adapter of DRIP, in which each topic is a number, and each subscription is an interval of
topics.
"""

from collections.abc import Mapping, Sequence
from types import ModuleType

import numpy as np
import numpy.typing as npt

from halfway.adapters.commands import Commands, commands
from halfway.adapters.interface import Adapter, ComparedRuns, RunContext, SystemInstance
from halfway.core.options import Value
from halfway.protocols.drip.copies import check_copies
from halfway.world.workload.demand import Demand
from halfway.world.workload.number_intervals import power_law
from halfway.world.workload.subscription_intervals import begins, intervals


class DripAdapter(Adapter):
    """The adapter of DRIP, in which a node subscribes to each run of consecutive topics as one
    interval.

    The demand gives the capabilities of the nodes (`capability` [n]). Otherwise the seed draws them
    from a power law.
    """

    def __init__(self, module: ModuleType, values: Mapping[str, Value]) -> None:
        super().__init__(module, values)
        check_copies(values)

    @classmethod
    def notes(cls, runs: ComparedRuns) -> Sequence[str]:
        """Return the note that a low delivery ratio is by design, unless DRIP is epidemic."""
        if all(options.get("epidemic") for options in runs.options):
            return ()
        return (
            "an event goes to l brokers by design. Only moving brokers carry an event further. So "
            "a delivery ratio around 0.3 is expected.",
        )

    def instance(self, context: RunContext) -> SystemInstance:
        """Return the instance, sized for a network."""
        module, demand, values = self.module, context.demand, self.values
        rules = module.Rules(**values)
        per_row = np.zeros(context.n, np.int64)
        for row, _, _ in intervals(demand):
            per_row[row] += 1
        capability = getattr(demand, "capability", None)
        state = module.state(
            context.node_ids,
            power_law(context.n, context.seed) if capability is None else capability,
            brokers=rules.brokers,
            nearest=rules.nearest,
            copies=rules.copies,
            window=context.window,
            publishers=context.publishers,
            own=max(int(per_row.max(initial=0)), 1),
            intervals=int(per_row.sum()),
            seed=context.seed,
            in_flight=context.in_flight,
        )
        return SystemInstance(
            state, rules, module.most_emissions(state, rules), module.KINDS,
            hops_from_publisher=False, shortfalls=module.shortfalls,
        )  # fmt: skip

    def start_up_commands(self, demand: Demand) -> Commands:
        """Return the start-up commands, one for each interval: `Commands.topic` is the first topic
        of the interval, `Commands.argument` the last topic.
        """
        subscribed = list(intervals(demand))
        columns: npt.NDArray[np.int32] = np.array(subscribed, np.int32).reshape(-1, 3).T
        row, first, last = columns
        kind = self.module.KINDS.number("subscribe")
        return commands(begins(demand, subscribed), row, kind, first, argument=last)


ADAPTERS = {"drip": DripAdapter}
