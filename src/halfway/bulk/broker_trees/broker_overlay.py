"""The bulk overlay of brokers: its brokers with their underlay paths and failed parts, the next hop
of each broker, and the connected brokers.

The modules `join` and `overlay_repair` change the overlay.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple, get_args

from halfway.problem import Problem
from halfway.protocols.broker_trees.paths import decisions
from halfway.protocols.broker_trees.paths.decisions import CUT_OFF, UPPER
from halfway.world.underlays.routes import Closed, Doubles, Rows, all_open, places_on, unit_weights
from halfway.world.underlays.underlay import Underlay

NO_BROKER = -1
# How the alternate path may run [uas §3.1]. tested: the routes of the routers, kept only if they
# are disjoint by chance; around: the leg to the alternate avoids the direct path; free: both legs
# avoid the direct path.
PathInterpretation = Literal["tested", "around", "free"]
# The distance by which an alternate is nearest [uas §4]. leg: the hops of the leg of y to the
# alternate, led around x; hops: the fewest hops to the alternate, as printed.
Proximity = Literal["leg", "hops"]
# The list that Neighbors() gives [uas §4]. tree: parent and children; links: the other ends of all
# links that Join creates, also to alternates and grandparents.
NeighbourList = Literal["tree", "links"]
# [uas §4.1] after τ the child joins its grandparent or its alternate.
Fallback = Literal["grandparent", "alternate"]


class UnderlayPath(NamedTuple):
    """The path of a broker over the underlay to another broker of the bulk overlay, with both
    ends.
    """

    rows: Rows  # [hops + 1]
    places: Rows  # [hops] of `network.who`, in the direction from the first row

    def is_open(self, closed: Closed) -> bool:
        """Return whether all nodes and links of a path in the bulk overlay are up."""
        return not (closed.rows[self.rows].any() or closed.places[self.places].any())

    @property
    def hops(self) -> int:
        """The number of links of the underlay on a path."""
        return len(self.places)


NextHop = tuple[int, UnderlayPath] | None  # the next broker up, and the path to it; None: cut off


class Rules(NamedTuple):
    """The rules by which a bulk overlay is built and repaired.

    We add the remedies `retry` and `bare_path`.
    """

    interpretation: PathInterpretation = "around"
    # We let a broker without an alternate ask again when its parent gains a child, because the
    # paper's first brokers have no candidates.
    retry: bool = True
    # We give a broker that finds no alternate a second path without a broker on it, because the
    # guarantees of all brokers below it depend on its own.
    bare_path: bool = True
    fallback: Fallback = "grandparent"
    proximity: Proximity = "leg"
    neighbours: NeighbourList = "tree"


@dataclass
class Broker:
    """A broker of the bulk overlay, with its paths to brokers above it [uas §4 "The Data
    Structures"].
    """

    number: int  # number in the order of joining
    row: int  # of the underlay
    parent: int = NO_BROKER  # C; NO_BROKER at the root
    direct: UnderlayPath | None = None  # x: this broker … parent; None: root, or no path
    alternate: int = NO_BROKER  # A: the broker on `second`, or None
    second: UnderlayPath | None = None  # y: this broker … (alternate …) parent
    bend: int = 0  # place of the alternate in second.rows
    grandparent: int = NO_BROKER  # P, the end of `upper`
    upper: UnderlayPath | None = None  # z: this broker … grandparent, not through the parent


@dataclass
class Overlay:
    """The bulk overlay: brokers by number over an underlay, whose nodes and links may be down.

    Raises Problem for unknown rules.
    """

    underlay: Underlay
    rules: Rules = field(default_factory=Rules)
    brokers: dict[int, Broker] = field(default_factory=dict)
    root: int = NO_BROKER
    joined: int = 0  # number of brokers so far

    def __post_init__(self) -> None:
        check_known("interpretation", self.rules.interpretation, get_args(PathInterpretation))
        check_known("fallback", self.rules.fallback, get_args(Fallback))
        check_known("proximity", self.rules.proximity, get_args(Proximity))
        check_known("neighbours", self.rules.neighbours, get_args(NeighbourList))

    @cached_property
    def closed(self) -> Closed:
        """The failed parts of the underlay, which `set_row` and `set_link` mark."""
        return all_open(self.underlay.network)

    @cached_property
    def hop(self) -> Doubles:
        """[m] weights of the links under the bulk overlay of brokers: 1 each, so that the length of
        a route is its number of hops.
        """
        # We take routes of fewest hops, because the paper measures nearness in IP hops.
        return unit_weights(self.underlay.network)

    def twin(self) -> "Overlay":
        """Return a twin of the bulk overlay: a copy with all brokers, which changes
        independently.
        """
        brokers = {number: replace(broker) for number, broker in self.brokers.items()}
        other = Overlay(self.underlay, self.rules, brokers, self.root, self.joined)
        other.closed.rows[:], other.closed.places[:] = self.closed
        return other

    def __getitem__(self, number: int) -> Broker:
        return self.brokers[number]

    def set_row(self, row: int, *, down: bool) -> None:
        """Mark a node of the underlay as failed or working."""
        self.closed.rows[row] = down

    def set_link(self, a: int, b: int, *, down: bool) -> None:
        """Mark a link of the underlay as failed or working, in both directions."""
        self.closed.places[self.underlay.place(a, b)] = down
        self.closed.places[self.underlay.place(b, a)] = down

    def is_up(self, number: int) -> bool:
        """Return whether a broker of the bulk overlay exists and its node is up."""
        return number in self.brokers and not self.closed.rows[self.brokers[number].row]

    def route(self, rows: Rows) -> UnderlayPath | None:
        """Return the path over the bulk overlay's underlay along these rows, or None without
        rows.
        """
        return UnderlayPath(rows, places_on(self.underlay.network, rows)) if len(rows) else None

    def children(self, number: int) -> list[int]:
        """Return the numbers of the brokers with a given parent, ascending."""
        return [b.number for b in self.brokers.values() if b.parent == number]

    def neighbours(self, number: int) -> list[int]:
        """Return a broker's overlay neighbours, ascending: parent and children [uas §4]. The rule
        "links" adds both ends of its links to alternates and grandparents.
        """
        if self.rules.neighbours == "tree":
            parent = self.brokers[number].parent
            return ([parent] if parent != NO_BROKER else []) + self.children(number)
        mine = {end for end, _ in linked(self.brokers[number])}
        theirs = {
            other.number
            for other in self.brokers.values()
            if any(end == number for end, _ in linked(other))
        }
        return sorted((mine | theirs) & self.brokers.keys())

    def ancestors(self, number: int) -> Iterator[int]:
        """Yield a broker's parent, grandparent … root; RuntimeError on a cycle."""
        above = self.brokers[number].parent
        for _ in range(len(self.brokers)):
            if above == NO_BROKER:
                return
            yield above
            above = self.brokers[above].parent
        raise RuntimeError(f"broker {number} lies on a cycle")

    def is_below(self, number: int, above: int) -> bool:
        """Return whether a broker is `above` itself or a descendant of it."""
        return number == above or above in self.ancestors(number)


def linked(broker: Broker) -> Iterator[tuple[int, Rows]]:
    """Yield the links of the bulk overlay that a broker has to brokers above it: the other end, and
    the rows to it.
    """
    if broker.direct is not None:
        yield broker.parent, broker.direct.rows
    if broker.second is not None and broker.alternate != NO_BROKER:
        yield broker.alternate, broker.second.rows[: broker.bend + 1]
    if broker.upper is not None:
        yield broker.grandparent, broker.upper.rows


def next_hop_up(overlay: Overlay, broker: Broker) -> NextHop:
    """Return a broker's next hop to the root of the bulk overlay: the next broker and the path to
    it; None if cut off.

    [uas §4.1] takes the direct path, then the alternate path, then the path to the grandparent. The
    last path also serves if both paths to a working parent are dead; the parent is not evicted.
    """

    def works(end: int, route: UnderlayPath | None) -> bool:
        return route is not None and overlay.is_up(end) and route.is_open(overlay.closed)

    paths = broker.direct, broker.second, broker.upper
    ends = broker.parent, broker.parent, broker.grandparent
    path = decisions.next_hop_up(*map(works, ends, paths))
    route = None if path == CUT_OFF else paths[path]
    if route is None:
        return None
    return (broker.grandparent if path == UPPER else broker.parent), route


def connected(overlay: Overlay) -> set[int]:
    """Return the numbers of the live brokers that are connected to the root of the bulk overlay."""
    return {number for number, top in tops(overlay).items() if top == overlay.root}


def is_served(overlay: Overlay, broker: Broker) -> bool:
    """Return whether the parent of a broker is up and the direct path to it works."""
    direct = broker.direct
    return overlay.is_up(broker.parent) and direct is not None and direct.is_open(overlay.closed)


def next_hops_up(
    overlay: Overlay, *, aware: bool, chosen: Mapping[int, NextHop] | None = None
) -> dict[int, tuple[int, int]]:
    """Return each live broker's next hop to the root of the bulk overlay, NO_BROKER if it is cut
    off, and the underlay links of the path to this next hop. Arguments as in `tops`.
    """
    next_hops: dict[int, tuple[int, int]] = {}
    for number, broker in overlay.brokers.items():
        if not overlay.is_up(number):
            continue
        hop: NextHop = None
        if aware:
            hop = next_hop_up(overlay, broker) if chosen is None else chosen[number]
            works = hop is not None and overlay.is_up(hop[0]) and hop[1].is_open(overlay.closed)
            hop = hop if works else None
        elif is_served(overlay, broker) and broker.direct is not None:
            hop = broker.parent, broker.direct
        next_hops[number] = (NO_BROKER, 0) if hop is None else (hop[0], hop[1].hops)
    return next_hops


def tops(
    overlay: Overlay, *, aware: bool = True, chosen: Mapping[int, NextHop] | None = None
) -> dict[int, int]:
    """Return the highest broker of the bulk overlay to which each live broker is connected by the
    next hops.

    Unless `aware` of the underlay, brokers use the direct paths alone, as in unmodified SIENA.
    chosen: the next hops that brokers use because they have not detected the latest failure.
    """
    hops = next_hops_up(overlay, aware=aware, chosen=chosen)
    next_up = {number: above for number, (above, _) in hops.items()}
    top_of: dict[int, int] = {}
    for number in next_up:
        chain, here = [number], number
        while here not in top_of and next_up[here] != NO_BROKER:
            here = next_up[here]
            chain.append(here)
        top = top_of.get(here, here)
        top_of.update(dict.fromkeys(chain, top))
    return top_of


def check_known(name: str, value: str, known: tuple[str, ...]) -> None:
    """Raise Problem if an option has no known value."""
    if value not in known:
        raise Problem(f"{name} = '{value}': expected one of {', '.join(known)}")
