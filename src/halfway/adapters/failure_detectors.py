"""The adapter of failure detectors: no application publishes, and each node is a member or a
relay.
"""

from typing import Any

from halfway.adapters.commands import Commands, commands
from halfway.adapters.interface import Adapter, RunContext, SystemInstance, limits_of
from halfway.protocols.failure_detectors.member_index import member_shortfalls
from halfway.world.workload.demand import Demand, Publications
from halfway.world.workload.groups.monitoring import relays_of


class DetectorAdapter(Adapter):
    """The adapter of a failure detector, whose nodes are members or relays from their start on.

    The module of a detector defines `rules(values)` in addition to the names that every protocol
    defines.
    """

    detects_failures = True

    def instance(self, context: RunContext) -> SystemInstance:
        """Return the instance that the adapter of a failure detector sizes for a network."""
        module, values = self.module, self.values
        rules = module.rules(values)
        relays = relays_of(context.demand, context.n)
        count = context.n if relays is None else int((~relays).sum())
        if relays is not None:
            relays = relays[: len(context.node_ids)]  # of a lone node: its own
        members = min(int(values["members"]), count)
        sizes = self.sizes(context, members)
        state = module.state(context.node_ids, members, context.seed, relays=relays, **sizes)
        return SystemInstance(
            state,
            rules,
            module.most_emissions(state, rules),
            module.KINDS,
            shortfalls=self.shortfalls,
            most_beside=module.MOST_BESIDE,
            limits=limits_of(module, state, rules),
        )

    def sizes(self, context: RunContext, members: int) -> dict[str, int]:
        """Return the table sizes that the adapter of a failure detector computes beside the number
        of members: the window of φ, if the detector has one.
        """
        del context, members
        values = self.values
        return {"intervals": int(values["phi_intervals"])} if values.get("phi_threshold") else {}

    def shortfalls(self, state: Any) -> dict[str, int]:
        """Return the shortfalls that the adapter of a failure detector counts: members for which
        nodes had no room.
        """
        return member_shortfalls(state)

    def start_up_commands(self, demand: Demand) -> Commands:
        """Return no start-up commands from the adapter: a failure detector starts with its node."""
        del demand
        return commands([], [], 0, 0)

    def publish_commands(self, publications: Publications) -> Commands:
        """Return no commands to publish from the adapter: a failure detector spreads no events."""
        del publications
        return commands([], [], 0, 0)


ADAPTERS = dict.fromkeys(("heartbeat", "gossip-counters", "swim", "lifeguard"), DetectorAdapter)
