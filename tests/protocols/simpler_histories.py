"""The histories that are simpler than a history in one respect.

None breaks a rule of the drawn histories: the network stays connected, and after a loss of memory
no role begins again after quiescence. So what is wrong there is wrong of the system.
"""

from collections.abc import Callable, Iterator
from itertools import combinations
from math import dist

from msgspec.structs import replace

from halfway.adapters.registry import named
from halfway.world.faults import Crash
from halfway.world.graphs.network import Network
from tests.networks import from_links
from tests.one_way import two_way
from tests.protocols.history import RADIUS, Broker, History, links_of, run_of
from tests.protocols.promises import PROMISES
from tests.protocols.worlds import component

Simpler = Callable[[History], Iterator[History]]


def without(field: str, first: int = 0) -> Simpler:
    """Without one of the items of a field, from the item `first` on."""

    def simpler(history: History) -> Iterator[History]:
        items = getattr(history, field)
        for k in range(first, len(items)):
            yield replace(history, **{field: (*items[:k], *items[k + 1 :])})

    return simpler


def fewer_publications(history: History) -> Iterator[History]:
    """Without one publication, and without the period of a publisher of nothing."""
    for fewer in without("publications")(history):
        roles = {(row, topic) for _, row, topic in fewer.publications}
        publishing = tuple(one for one in fewer.publishing if (one.row, one.topic) in roles)
        yield replace(fewer, publishing=publishing)


def longer_roles(field: str) -> Simpler:
    """With a role that lasts for ever, or from the beginning.

    No role begins late without an end where it had one: a node that lost its memory could begin it
    again after quiescence.
    """

    def simpler(history: History) -> Iterator[History]:
        roles = getattr(history, field)
        for k, role in enumerate(roles):
            for longer in (role._replace(from_s=0.0, until_s=None), role._replace(from_s=0.0)):
                if longer != role:
                    yield replace(history, **{field: (*roles[:k], longer, *roles[k + 1 :])})

    return simpler


def kept_memory(history: History) -> Iterator[History]:
    """With a crash that takes no memory."""
    for k, fault in enumerate(history.faults):
        if isinstance(fault, Crash) and fault.memory == "lost":
            kept = replace(fault, memory="kept")
            yield replace(history, faults=(*history.faults[:k], kept, *history.faults[k + 1 :]))


def named_brokers(history: History) -> Iterator[History]:
    """With the names of the brokers that the run draws: they stay the same among fewer nodes."""
    if named(history.system).adapter_with({}).has_broker_tree and not history.brokers:
        state = run_of(history).state
        root, rows = int(state.root[0]), (state.broker_index >= 0).nonzero()[0].tolist()
        brokers = sorted(rows, key=lambda row: (row != root, row))
        yield replace(history, brokers=tuple(Broker(row) for row in brokers))


def no_one_way_link(history: History) -> Iterator[History]:
    """Without one of the links that work in one direction only."""
    for fewer in without("dead")(history):
        (gone,) = set(history.dead) - set(fewer.dead)
        links = tuple(link for link in history.links if set(link) != set(gone))
        yield replace(fewer, links=links)


def fewer_links(history: History) -> Iterator[History]:
    """Without a link that the others make up for, unless a system needs all nodes as neighbours."""
    if PROMISES[history.system].networks != ("dense",):
        for fewer in without("links")(history):
            gone = set(history.links) - set(fewer.links)
            if not gone & {tuple(sorted(one)) for one in history.dead} and is_connected(fewer):
                yield fewer


def standing_nodes(history: History) -> Iterator[History]:
    """With nodes that are from the beginning where they move to."""
    if history.tracks is not None:
        links = links_of(_disk([legs[-1][4:] for legs in history.tracks]))
        yield replace(history, tracks=None, links=links)


def easier_settings(history: History) -> Iterator[History]:
    """Without losses, positions or errors of clocks, or with given neighbours.

    Given lists have every link, so they are no choice where a link works in one direction only.
    """
    if history.success < 1.0:
        yield replace(history, success=1.0)
    if history.positions:
        yield replace(history, positions=None)
    if history.clock:
        yield replace(history, clock=False)
    if history.hello and not history.dead:
        yield replace(history, hello=False)


def fewer_nodes(history: History) -> Iterator[History]:
    """Without a node that has no role and no fault. If it joined two nodes, they have a link."""
    for row in range(history.n):
        if row not in busy_rows(history):
            near = sorted(a + b - row for a, b in history.links if row in (a, b))
            fewer = without_row(history, row)
            if len(near) == 2 and not is_connected(fewer):
                links = sorted((*history.links, (near[0], near[1])))
                fewer = without_row(replace(history, links=tuple(links)), row)
            if is_connected(fewer):
                yield fewer


def busy_rows(history: History) -> set[int]:
    """The rows of nodes that have a role or a fault."""
    rows = {one.row for one in (*history.subscriptions, *history.publishing, *history.brokers)}
    rows |= {row for _, row, _ in history.publications}
    for fault in history.faults:
        rows |= {fault.node} if isinstance(fault, Crash) else {fault.a, fault.b}
    return rows


def without_row(history: History, row: int) -> History:
    """A history without a node that is not busy; later rows have numbers that are lower by 1."""

    def moved(one: int) -> int:
        return one - (one > row)

    def pairs(some: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        return tuple((moved(a), moved(b)) for a, b in some if row not in (a, b))

    fields = {name: getattr(history, name) for name in ("subscriptions", "publishing", "brokers")}
    roles = {
        name: tuple(one._replace(row=moved(one.row)) for one in some)
        for name, some in fields.items()
    }
    faults = tuple(
        replace(one, node=moved(one.node)) if isinstance(one, Crash)
        else replace(one, a=moved(one.a), b=moved(one.b))
        for one in history.faults
    )  # fmt: skip
    positions, tracks = history.positions, history.tracks
    return replace(
        history, n=history.n - 1, links=pairs(history.links), dead=pairs(history.dead),
        positions=positions and (*positions[:row], *positions[row + 1 :]),
        tracks=tracks and (*tracks[:row], *tracks[row + 1 :]), faults=faults, **roles,
        publications=tuple((at, moved(one), topic) for at, one, topic in history.publications),
    )  # fmt: skip


def is_connected(history: History) -> bool:
    """Whether links that work in both directions join all nodes: before nodes move, and after."""
    if history.tracks is None:
        return _joins_all(two_way(history.network, history.dead))
    before = [legs[0][2:4] for legs in history.tracks]
    after = [legs[-1][4:] for legs in history.tracks]
    return _joins_all(_disk(before)) and _joins_all(_disk(after))


def _disk(places: list[tuple[float, float]]) -> Network:
    pairs = combinations(range(len(places)), 2)
    return from_links(
        len(places), [(a, b) for a, b in pairs if dist(places[a], places[b]) <= RADIUS]
    )


def _joins_all(network: Network) -> bool:
    return len(component(network, 0)) == network.n


# In this order; each of them yields nothing where there is nothing left to simplify.
SIMPLER: tuple[Simpler, ...] = (
    without("faults"),
    without("subscriptions"),
    fewer_publications,
    without("publishing"),
    longer_roles("subscriptions"),
    longer_roles("publishing"),
    named_brokers,
    without("brokers", 1),
    longer_roles("brokers"),
    kept_memory,
    no_one_way_link,
    fewer_links,
    standing_nodes,
    easier_settings,
    fewer_nodes,
)
