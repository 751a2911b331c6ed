"""A run of GeoRendezvous message by message on given rules and table sizes, and its counts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from halfway.adapters.commands import commands
from halfway.adapters.georendezvous import instance_of
from halfway.adapters.interface import Adapter, RunContext, System, SystemInstance
from halfway.core.options import Value
from halfway.protocols.georendezvous import handler
from halfway.protocols.georendezvous.messages import ARRIVED, INTEREST, NOTIFY_CLIENT, PRUNE
from halfway.protocols.georendezvous.rules import rules
from halfway.protocols.parts.event_window import WINDOW, window_length
from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.environment.mobility import Motion
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Fault
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Listed

HOP_S = 1e-3
_HOPS_IN_FLIGHT = 32
# The paper has neither bridges nor a memory of homes, so its figures run without them.
_AS_PRINTED: Mapping[str, Value] = {"bridges": 0, "home_memory_s": 0.0}


def printed_rules(radius: float, key: int = 0, **changes: Any) -> handler.Rules:
    """Return the rules of GeoRendezvous for a message run, without what we add to the paper: the
    defaults of the options, except for the changes.
    """
    fields = handler.Rules._fields
    options = {name: one.default for name, one in handler.OPTIONS.items() if name in fields}
    return rules(radius, key, **{**options, **_AS_PRINTED, **changes})


def cell_run(
    network: Network | Motion,
    rules: handler.Rules,
    *,
    topics: int,
    seconds: float,
    publishers: int = 8,
    entries: int = 64,
    seed: int = 7,
    received_records: int = 0,
    faults: Sequence[Fault] = (),
    clock: ClockErrors | None = None,
    success: float = 1.0,
    check: bool | None = None,
) -> Simulation:
    """Return a message run of GeoRendezvous that publishes and subscribes only by posted commands.

    publishers: whose newest events a node distinguishes. entries: places in the store of a node.
    received_records: number of these records to keep. clock: the errors of the nodes'
    clocks. success: the probability of each reception. check: whether the door checks records, see
    `Inspection`.
    """
    sized = _sized(rules, topics, publishers, entries, seed)
    motion = network if isinstance(network, Motion) else None
    return Simulation(
        System("georendezvous", handler.__name__, sized, {}),
        None if isinstance(network, Motion) else network,
        motion=motion,
        nodes=NodeSettings(clock=clock),
        workload=Listed([], []),
        faults=faults,
        seconds=seconds,
        radio=IdealRadio(delay_s=HOP_S, success=success),
        stretch=False,
        inspection=Inspection(received_records=received_records, check=check),
    )


def _sized(
    rules: handler.Rules, topics: int, publishers: int, entries: int, seed: int
) -> type[Adapter]:
    """Return an adapter that makes instances with given rules and table sizes for a message run."""

    class Sized(Adapter):
        def instance(self, context: RunContext) -> SystemInstance:
            state = handler.state(
                context.node_ids,
                topics,
                rules.points,
                publishers,
                seed,
                neighbours=2 * context.most_neighbours + 2 * rules.bridges + 2,
                bridges=rules.bridges,
                entries=entries,
                traversals=entries,
                hops_in_flight=_HOPS_IN_FLIGHT if rules.retries > 0 else 0,
            )
            return instance_of(state, rules)

    return Sized


def post(
    run: Simulation, at: float, row: int, kind: int | np.uint8, topic: int = -1, event: int = -1
) -> None:
    """Post one command to a node of GeoRendezvous's message run."""
    run.post(commands([at], row, kind, topic, event=event))


def delivered(run: Simulation) -> list[tuple[int, int]]:
    """Return (event, row) of every delivery in a message run of GeoRendezvous, in order.

    The caller posted events of different publishers with different numbers.
    """
    records, rows = run.reports()
    mine = records["kind"] == run.instance.kinds.number("delivered")
    return [*zip(records["event"][mine].tolist(), rows[mine].tolist(), strict=True)]


def best_point(
    run: Simulation, row: int, publisher: int, event: int | None = None
) -> tuple[int, int] | None:
    """Return the rendezvous point, and the hops, of the shortest path by which a row received a
    publisher's event in a message run, by default the newest event; or None.
    """
    state = run.state
    for place in np.flatnonzero(state.seen.of[row]["publisher"] == publisher):
        there = state.seen.of[row, place]
        wanted = int(there["newest"]) if event is None else event
        behind = int(there["newest"]) - wanted
        if 0 <= behind < WINDOW and (int(there["bits"]) >> behind) & 1:
            received = state.received[row, place, wanted % window_length(state.seen)]
            return int(received["point"]), int(received["hops"])
    return None


def arrivals(run: Simulation, kind: int | np.uint8, topic: int) -> int:
    """Count the messages of a kind and topic that arrived at their destination, among the received
    records of a message run of GeoRendezvous.
    """
    records, rows = run.received_records()
    mine = (records["kind"] == kind) & (records["topic"] == topic)
    there = (records["flags"] & ARRIVED) > 0
    if kind == NOTIFY_CLIENT:
        there |= records["target"] == rows
    return int((mine & there).sum())


def unnecessary(run: Simulation, topic: int) -> int:
    """[geo §4] Count the unnecessary messages of one event among the received records of a message
    run of GeoRendezvous.

    These are its subscriptions, notifications and prunes beyond the needed two.
    """
    return sum(arrivals(run, kind, topic) for kind in (INTEREST, NOTIFY_CLIENT, PRUNE)) - 2


def cells_storing(
    run: Simulation, kind: int | np.uint8, topic: int, point: int
) -> set[tuple[int, int]]:
    """Return the cells with a member, up now in a message run of GeoRendezvous, that stores an
    entry of a kind for a point.
    """
    state, store = run.state, run.state.store
    mine = (store["kind"] == kind) & (store["topic"] == topic) & (store["point"] == point)
    storing = (mine & (store["until"] > run.at)).any(axis=1)
    up = (run.engine.turns % 2 == 0) & (state.present == 1)
    return {(int(x), int(y)) for x, y in state.cell[np.flatnonzero(storing & up)]}
