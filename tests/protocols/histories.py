"""Random histories of a system, and the deliveries that must follow.

Subscribers, publishers and brokers come and go, nodes move, crash with or without their memory, and
links are cut for a while. In a third of the histories, a radio loses records. The flat oracle knows
the roles only: after quiescence, each event must reach each subscriber of its topic once, or with
losses at most once, and nothing else. All histories are deterministic in their seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, Literal, NamedTuple
from unittest.mock import patch

import numpy as np

from halfway.adapters.registry import named
from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.environment.mobility import Motion
from halfway.sim.hello_exchange import SentHellos
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, Fault, LinkCut
from halfway.world.graphs.network import Network
from halfway.world.mobility.tracks import NodeTrack, traces_of
from halfway.world.workload.demand import Listed
from tests.networks import disk, from_links, line, star
from tests.one_way import OneWayRadio
from tests.protocols.history_roles import (
    Variant,
    latest_begin,
    one_ways_of,
    variant_of,
    with_brokers,
    with_periods,
)
from tests.systems import SIMPLE

CHANGES_S = 30.0  # joins, leaves, moves, crashes and cuts happen before this time
REFRESH_S = 5.0
CLOCKS = ClockErrors(offset_s=100.0, drift_ppm=100.0)
RADIUS = 0.6  # of unit disk graphs
_LINKS, _RETRIES = 0x115C, 5
DENSE = 1.5  # of a unit disk graph in which all nodes are neighbours


Delivery = tuple[int, int, float]  # event, row, time


class Promise(NamedTuple):
    """What a system promises: the options and networks, and the times in which it delivers."""

    options: Mapping[str, Any] = {}
    quiet_s: float = 1.0  # after the last change, until each event must reach each subscriber
    arrives_s: float = 1.0  # within which an event must arrive
    networks: tuple[str, ...] = ("star", "line", "hubs", "disk", "moving")
    delivers: bool = True  # otherwise only: nothing twice, and nothing unasked
    keeps_events: bool = False  # and hands them to nodes that subscribe later


STATIC = ("star", "line", "hubs", "disk")
# Five refreshes after the last change, paths and trails of before have expired and each member has
# met the others again.
_WALKS = Promise(
    {"refresh_s": REFRESH_S, "relaunch_s": 2.0, "search_steps": 200}, 5 * REFRESH_S, 2.0
)
_TREES = {"brokers": 3, "refresh_s": 2.0, "join_delay_s": 1.0}
PROMISES: Mapping[str, Promise] = dict.fromkeys(SIMPLE, Promise()) | {
    # A node sends an event to all of its neighbours.
    "gossip": Promise({"fanout": 12, "rounds": 1}, 6.0, 12.0),
    # A node never has enough copies to keep an event to itself.
    "counter-broadcast": Promise({"enough": 1000}),
    # A pair of neighbours exchanges events about five times a second.
    "anti-entropy": Promise({"period_s": 0.2, "jitter_s": 0.1}, 6.0, 30.0, keeps_events=True),
    "rumor-routing": Promise(
        {"query_timeout_s": 1.0}, 6.0, 20.0, delivers=False, keeps_events=True
    ),
    "directional-walk": _WALKS,
    "random-walk": _WALKS,
    "walk-overlay": Promise({}, 40.0, 3.0, keeps_events=True),
    # Clocks that drift measure delays of 999 and 1,000 microseconds over one hop.
    "drip": Promise(
        {"brokers": 3, "nearest": 1, "copies": 1, "least_gain_s": 1e-5},
        30.0,
        20.0,
        ("dense",),
        keeps_events=True,
    ),
    "siena": Promise(_TREES, 20.0, 3.0, STATIC),
    "underlay-siena": Promise(
        _TREES | {"known_brokers": 2, "confirm_timeout_s": 0.5, "tau_s": 3.0},
        20.0,
        3.0,
        STATIC,
        keeps_events=True,
    ),
}


class Result(NamedTuple):
    """What a history delivered."""

    due: int  # notifications of the events after quiescence
    missing: int  # of them
    twice: int  # deliveries of an event to a node that never lost its memory, but for the first
    unasked: int  # deliveries without a subscription, or published long before it began
    refused: int  # records of nodes that the check at the door refused


def network_of(draw: np.random.Generator, shape: str) -> Network:
    """A small star, chain, bridge between two hubs, or unit disk graph."""
    n = int(draw.integers(4, 13))
    if shape == "star":
        return star(n)
    if shape == "line":
        return line(n)
    if shape == "hubs":
        return from_links(n, [(0, 1)] + [(k % 2, k) for k in range(2, n)])
    drawn = disk(n, DENSE if shape == "dense" else RADIUS, int(draw.integers(1000)))
    return replace(drawn, labels=None)


def motion_of(draw: np.random.Generator, network: Network) -> Motion:
    """Nodes that move once, each in its own time, from a connected network to another one."""
    there = disk(network.n, RADIUS, int(draw.integers(1000))).position
    tracks = []
    for (x0, y0), (x1, y1) in zip(
        np.asarray(network.position).tolist(), np.asarray(there).tolist(), strict=True
    ):
        begin, end = sorted(draw.uniform(0.0, CHANGES_S, 2).tolist())
        legs = [(0.0, begin, x0, y0, x0, y0), (begin, end, x0, y0, x1, y1)]
        tracks.append(NodeTrack([*legs, (end, 1e6, x1, y1, x1, y1)], [(0.0, 1e6)]))
    return Motion(traces_of(tracks, list(map(str, range(network.n)))).legs, RADIUS)


def demand_of(draw: np.random.Generator, n: int, quiet_s: float, ends: bool) -> Listed:
    """Roles of two topics: some subscriptions begin or end; events during the changes and after.

    ends: whether the system learns that a subscription ends.
    """
    subscriptions, periods, publications = [], {}, []
    for topic in range(2):
        rows = draw.permutation(n)
        subscribers = rows[: int(draw.integers(1, min(n, 5)))].tolist()
        publishers = draw.permutation(n)[: int(draw.integers(1, 4))].tolist()
        for row in subscribers:
            subscriptions.append((row, topic))
            begin, end = sorted(draw.uniform(0.0, CHANGES_S, 2).tolist())
            sort = int(draw.integers(4))
            if sort < 3:
                periods[row, topic] = (
                    (0.0, np.inf), (begin, np.inf), (begin, end if ends else np.inf)
                )[sort]  # fmt: skip
        for row in publishers:
            early = draw.uniform(0.0, CHANGES_S, int(draw.integers(4))).tolist()
            late = [CHANGES_S + quiet_s + draw.uniform(0.0, 4.0) for _ in range(2)]
            publications += [(float(at), row, topic) for at in (*early, *late)]
    return Listed(subscriptions, publications, periods=periods)


def faults_of(draw: np.random.Generator, network: Network, demand: Listed) -> list[Fault]:
    """Crashes with kept or lost memory, some of one node again, and cut links; all heal before
    quiescence.

    A command to a node that is down comes later, and after a loss of its memory those in force come
    again, with the same pauses: a subscription without an end may then begin after quiescence. So
    nodes keep their memory if such a subscription of theirs begins late. They also keep it if their
    role as publisher or broker would begin again after the changes.
    """
    found: list[Fault] = []
    for row in draw.permutation(network.n)[: int(draw.integers(4))].tolist():
        periods = [demand.periods.get((row, topic), (0.0, np.inf)) for topic in range(2)]
        at_once = all(begin == 0.0 or end < np.inf for begin, end in periods)
        pause_s = latest_begin(demand, row)
        up_at, source = 1.0, draw
        while up_at < CHANGES_S - 5.0:
            at, length = source.uniform(up_at, CHANGES_S - 5.0), source.uniform(0.2, 5.0)
            is_lost = int(source.integers(2)) == 1
            in_time = at_once and at + length + pause_s <= CHANGES_S
            memory: Literal["kept", "lost"] = "lost" if is_lost and in_time else "kept"
            found.append(Crash(node=row, at=float(at), for_=float(length), memory=memory))
            # A stream of their own: the histories of known seeds keep all that they had.
            source = draw.spawn(1)[0] if source is draw else source
            up_at = at + length + 0.1 if source.integers(3) == 0 else np.inf
    for _ in range(int(draw.integers(3))):
        a = int(draw.integers(network.n))
        b = int(draw.choice(network.neighbours(a)))
        at, length = draw.uniform(1.0, CHANGES_S - 5.0), float(draw.uniform(0.2, 5.0))
        found.append(LinkCut(a=a, b=b, at=float(at), for_=length))
    return found


def link_of(seed: int, system: str) -> tuple[dict[str, int], float]:
    """The retries of hops in a history, as an option of the system, and the share of receptions
    that succeed.

    A third of the histories has the defaults. In the others, systems that can acknowledge hops do
    so, and in half of these, receptions fail. Their draws are not those of the history.
    """
    draw = np.random.default_rng([seed, _LINKS])
    sort, success = int(draw.integers(3)), float(draw.uniform(0.6, 0.98))
    if sort == 0:
        return {}, 1.0
    retries = {"retries": _RETRIES} if "retries" in named(system).options else {}
    return retries, success if sort == 2 else 1.0


def simulation_of(
    system: str, seed: int, *, given: bool = False, plain: bool = False
) -> tuple[Simulation, list[Fault]]:
    """The run of a history of a system, not begun, and its faults.

    given: nodes have lists of their neighbours and one clock. Otherwise they learn their lists from
    hellos, and each clock has an offset and a drift of its own. plain: hops have the defaults, no
    reception fails, and all publishers and brokers stay. A node of a broker tree may try each
    one-way link once, one in a refresh interval, so such links prolong the quiet.
    """
    draw, promise = np.random.default_rng(seed), PROMISES[system]
    variant = Variant({}, None) if plain else variant_of(seed, system)
    quiet_s = variant.quiet_s or promise.quiet_s
    shape = str(draw.choice(promise.networks))
    network = network_of(draw, shape)
    adapter = named(system).with_options({})
    retries, success = ({}, 1.0) if plain else link_of(seed, system)
    # Given lists have every link, and a tree without acknowledgements learns of no one-way link.
    learns = not (given or plain) and (retries or "retries" not in named(system).options)
    static = shape != "moving" and success == 1.0
    radio_links, dead = one_ways_of(seed, network) if learns and static else (network, ())
    options = dict(promise.options) | variant.options | retries
    if adapter.has_broker_tree:
        quiet_s += len(dead) * options["refresh_s"]
    demand = demand_of(draw, network.n, quiet_s, adapter.ends_subscriptions())
    if not plain:
        demand = with_periods(seed, demand, CHANGES_S)
        if adapter.has_broker_tree:
            demand = with_brokers(seed, demand, network.n, CHANGES_S)
    faults = faults_of(draw, network, demand)
    motion = motion_of(draw, network) if shape == "moving" else None
    run = Simulation(
        system, None if motion else radio_links, motion=motion, workload=demand, seed=seed,
        seconds=CHANGES_S + quiet_s + 4.0 + promise.arrives_s, options=options,
        radio=OneWayRadio(delay_s=0.001, success=success, dead=dead), stretch=False, faults=faults,
        nodes=NodeSettings(clock=None if given else CLOCKS), hello=None if given else SentHellos(),
        inspection=Inspection(check=True),
    )  # fmt: skip
    return run, faults


def deliveries_of(run: Simulation) -> list[Delivery]:
    """Run a history; all deliveries to applications."""
    counted, found = run.deliveries, list[Delivery]()
    count = counted.deliver

    def deliver(event: Any, row: Any, at: Any, hops: Any) -> None:
        found.extend(zip(event.tolist(), row.tolist(), at.tolist(), strict=True))
        count(event, row, at, hops)

    counted.delivery_log = []
    with patch.object(counted, "deliver", deliver):
        run.run()
    return found


def judged(run: Simulation, faults: Sequence[Fault], found: Sequence[Delivery]) -> Result:
    """Compare the deliveries of a history with the oracle."""
    promise, demand = PROMISES[run.system], run.demand
    quiet = run.seconds - promise.arrives_s - 4.0
    assert isinstance(demand, Listed)
    published = sorted(demand.publications, key=itemgetter(0))
    lost = {fault.node for fault in faults if isinstance(fault, Crash) and fault.memory == "lost"}
    # An application that subscribes to what it publishes may receive it, and needs not.
    others = [one for one in found if published[one[0]][1] != one[1]]
    due = {event: due for event, at, due in run.deliveries.publication_log if at >= quiet}
    reached = {(event, row) for event, row, _ in others if event in due}
    kept = [(event, row) for event, row, _ in others if row not in lost or event in due]
    unasked = 0
    for event, row, at in others:
        role = (row, published[event][2])
        begin, end = demand.periods.get(role, (0.0, np.inf))
        too_old = published[event][0] + promise.arrives_s < begin and not promise.keeps_events
        unasked += role not in demand.subscriptions or not begin <= at <= end or too_old
    whole = sum(due.values())
    refused = int(run.engine.checks.refused.sum())
    return Result(whole, whole - len(reached), len(kept) - len(set(kept)), unasked, refused)


def result_of(system: str, seed: int, *, given: bool = False, plain: bool = False) -> Result:
    """Run a history of a system and compare it with the oracle."""
    run, faults = simulation_of(system, seed, given=given, plain=plain)
    return judged(run, faults, deliveries_of(run))


def failure(system: str, seed: int, *, given: bool = False, plain: bool = False) -> str:
    """What a history of a system does wrong; "" if nothing."""
    result = result_of(system, seed, given=given, plain=plain)
    promised = PROMISES[system].delivers and (plain or link_of(seed, system)[1] == 1.0)
    lost = result.missing if promised else 0
    return f"seed {seed}: {result}" if lost or sum(result[2:]) else ""
