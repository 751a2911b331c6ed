"""What the kinds of each system mean on a map: which carry an event, which walk, link or belong.

A system that is not in the table is told all the same, by what every record says of itself.
"""

from typing import NamedTuple


class Steps(NamedTuple):
    """A kind that is the step of a walk onto whoever hears it."""

    kind: str
    labels: tuple[str, ...]  # what the map calls such walks
    number: int = -1  # the place in `args` that picks a label, by its remainder; -1: the first
    addressed: bool = False  # every neighbour hears it, but it is a step onto `target` alone


class Meeting(NamedTuple):
    """A kind that tells that walks have met, or that one has arrived."""

    kind: str
    fresh: int = -1  # the place in `args` that is 0 on the first hop from the meeting; -1: no such
    label: str = "walks met"


class Reading(NamedTuple):
    """What a map can show of a system beside transmissions and deliveries."""

    hops: tuple[str, ...] = ()  # kinds that bring an event a hop further
    steps: tuple[Steps, ...] = ()
    meetings: tuple[Meeting, ...] = ()
    links: tuple[str, ...] = ()  # kinds that make sender and hearer neighbours in an overlay
    cuts: tuple[str, ...] = ()  # kinds that part them
    belongs: str = ""  # the kind whose sender says in `topic` which broker is its own
    homes: str = ""  # the kind that only the home cell of its topic sends
    parents: str = ""  # the field of the state that has each row's parent; below 0: none
    cells: str = ""  # the rule that has the side of a cell


_WALKS = Reading(
    hops=("data",),
    steps=(Steps("step", ("walk of the publisher", "walk of the subscriber"), number=2),),
    meetings=(Meeting("match", fresh=3), Meeting("matched", fresh=3)),
)
# Events go hop by hop from a client to its broker, among brokers, and to clients.
_TREE = Reading(hops=("publish", "notify", "notified"), parents="parent")
READINGS = {
    "flooding": Reading(hops=("flood",)),
    "gossip": Reading(hops=("push",)),
    "anti-entropy": Reading(hops=("event",)),
    "rumor": Reading(
        hops=("data", "answer"),
        steps=(Steps("agent", ("agent of a publisher",)), Steps("query", ("query",))),
        meetings=(Meeting("attached", label="query answered"),),
    ),
    "directional-walk": _WALKS,
    "random-walk": _WALKS,
    "walk-overlay": Reading(
        hops=("event",),
        steps=(Steps("step", ("walk",), addressed=True),),
        meetings=(Meeting("connected", label="joined the overlay"),),
        links=("link",),
        cuts=("cut",),
    ),
    "voronoi-brokers": Reading(hops=("flood", "news", "event"), belongs="beacon"),
    "cell-hash": Reading(hops=("notify", "note"), homes="share", cells="side"),
    "broker-tree": _TREE,
    "underlay-tree": _TREE,
}


def reading_of(system: str) -> Reading | None:
    """How a system's kinds are read; None for one that nobody declared."""
    return READINGS.get(system)
