"""Random histories of a system, drawn by a seed, and their failures.

Subscribers, publishers and brokers come and go, nodes move, crash with or without their memory, and
links are cut for a while. In a third of the histories, a radio loses records. All histories are
deterministic in their seed. `history.py` runs and judges them.
"""

from dataclasses import replace
from typing import Literal

import numpy as np

from halfway.adapters.registry import named
from halfway.world.faults import Crash, LinkCut
from halfway.world.graphs.network import Network
from halfway.world.mobility.tracks import Leg
from halfway.world.workload.demand import Listed
from tests.networks import disk, from_links, line, star
from tests.protocols.history import (
    RADIUS,
    History,
    brokers_of,
    failure_of,
    links_of,
    positions_of,
    roles_of,
)
from tests.protocols.history_roles import (
    Variant,
    latest_begin,
    one_ways_of,
    variant_of,
    with_brokers,
    with_periods,
)
from tests.protocols.promises import CHANGES_S, LAST_EVENTS_S, PROMISES

_LINKS, _RETRIES = 0x115C, 5
# Options that limit how often a node repeats a hop, a record without a route, or a query.
_REPEATING = {"retries", "route_retries", "query_retries"}
DENSE = 1.5  # of a unit disk graph in which all nodes are neighbours


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


def tracks_of(draw: np.random.Generator, network: Network) -> tuple[tuple[Leg, ...], ...]:
    """The tracks of nodes that move once, each in its own time, from a connected network to another
    one.
    """
    there = disk(network.n, RADIUS, int(draw.integers(1000))).position
    tracks = list[tuple[Leg, ...]]()
    for (x0, y0), (x1, y1) in zip(
        np.asarray(network.position).tolist(), np.asarray(there).tolist(), strict=True
    ):
        begin, end = sorted(draw.uniform(0.0, CHANGES_S, 2).tolist())
        moves = (begin, end, x0, y0, x1, y1)
        tracks.append(((0.0, begin, x0, y0, x0, y0), moves, (end, 1e6, x1, y1, x1, y1)))
    return tuple(tracks)


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
            late = [CHANGES_S + quiet_s + draw.uniform(0.0, LAST_EVENTS_S) for _ in range(2)]
            publications += [(float(at), row, topic) for at in (*early, *late)]
    return Listed(subscriptions, publications, periods=periods)


def faults_of(draw: np.random.Generator, network: Network, demand: Listed) -> list[Crash | LinkCut]:
    """Crashes with kept or lost memory, some of one node again, and cut links; all heal before
    quiescence.

    A command to a node that is down comes later, and after a loss of its memory those in force come
    again, with the same pauses: a subscription without an end may then begin after quiescence. So
    nodes keep their memory if such a subscription of theirs begins late. They also keep it if their
    role as publisher or broker would begin again after the changes.
    """
    found: list[Crash | LinkCut] = []
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
    """The retries in a history, as an option of the system, and the share of receptions that
    succeed.

    A third of the histories has the defaults. In the others, systems that can repeat hops, records
    or queries do so, and in half of these, receptions fail. Their draws are not those of the
    history.
    """
    draw = np.random.default_rng([seed, _LINKS])
    sort, success = int(draw.integers(3)), float(draw.uniform(0.6, 0.98))
    if sort == 0:
        return {}, 1.0
    retries = dict.fromkeys(_REPEATING & set(named(system).options), _RETRIES)
    return retries, success if sort == 2 else 1.0


def history_of(system: str, seed: int, *, given: bool = False, plain: bool = False) -> History:
    """The history of a system that a seed draws.

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
    adapter = named(system).adapter_with({})
    retries, success = ({}, 1.0) if plain else link_of(seed, system)
    # Given lists have every link, and a tree without acknowledgements learns of no one-way link.
    learns = not (given or plain) and (retries or not _REPEATING & set(named(system).options))
    moves = shape == "moving"
    one_way = learns and not moves and success == 1.0
    radio_links, dead = one_ways_of(seed, network) if one_way else (network, ())
    options = dict(promise.options) | variant.options | retries
    if adapter.has_broker_tree:
        quiet_s += len(dead) * options["refresh_s"]
    demand = demand_of(draw, network.n, quiet_s, adapter.ends_subscriptions())
    if not plain:
        demand = with_periods(seed, demand, CHANGES_S)
        if adapter.has_broker_tree:
            demand = with_brokers(seed, demand, network.n, CHANGES_S)
    faults = tuple(faults_of(draw, network, demand))
    return History(
        system=system, seed=seed, n=network.n, links=() if moves else links_of(radio_links),
        positions=None if moves else positions_of(radio_links), dead=dead,
        tracks=tracks_of(draw, network) if moves else None,
        subscriptions=roles_of(demand.subscriptions, demand.periods),
        publications=tuple(demand.publications), brokers=brokers_of(demand),
        publishing=roles_of(demand.publishing_periods, demand.publishing_periods), faults=faults,
        options=options, success=success, quiet_s=quiet_s, clock=not given, hello=not given,
    )  # fmt: skip


def failure(system: str, seed: int, *, given: bool = False, plain: bool = False) -> str:
    """What a history of a system does wrong; "" if nothing."""
    return failure_of(history_of(system, seed, given=given, plain=plain))
