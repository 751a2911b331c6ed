"""The systems by name, with what a user may set of each; naming one imports only that one."""

from halfway.problem import Problem
from halfway.protocols import SYSTEMS as MODULES
from halfway.sim.broking import Broking
from halfway.sim.overlaying import SYSTEM as WALK_OVERLAY
from halfway.sim.celling import SYSTEM as CELL_HASH
from halfway.sim.systems import Option, Spreading, System
from halfway.sim.tree_broking import TREES
from halfway.sim.walking import Walking

_LONG = 1e9


def _seconds(default: float, what: str) -> Option:
    return Option(default, 0.0, _LONG, f"seconds; {what}")


def _count(default: int, what: str, low: int = 0, high: int = 1_000_000) -> Option:
    return Option(default, low, high, what)


_OPTIONS = {
    "flooding": {"wait": _seconds(0.01, "between hearing an event and repeating it")},
    "gossip": {
        "fanout": _count(3, "distinct neighbours told in a round; -1: all by one broadcast", -1),
        "rounds": _count(3, "rounds in which a node tells an event", 1),
        "period": _seconds(1.0, "from one round to the next"),
        "jitter": _seconds(0.5, "each wait is longer by a random part of it"),
        "chance": Option(1.0, 0.0, 1.0, "probability that a node tells an event at all"),
        "sure_hops": _count(1, "nodes that heard it after fewer hops always tell it", 0, 65_535),
    },
    "anti-entropy": {
        "period": _seconds(1.0, "from one round of a node to its next"),
        "jitter": _seconds(0.5, "each wait is longer by a random part of it"),
        "pages": _count(1, "pages of 256 events that a round compares", 1, 1000),
        "batch": _count(8, "events sent, and wished, in answer to one record", 1, 256),
    },
    "rumor": {
        "spawn": Option(1.0, 0.0, 1.0, "probability that a witnessing sends an agent"),
        "agent_steps": _count(100, "an agent's time to live"),
        "query_steps": _count(300, "a query's time to live"),
        "patience": _seconds(5.0, "until an unanswered query is repeated"),
        "retries": _count(1000, "repetitions of a query before it is given up"),
    },
    "voronoi-brokers": {
        "brokers": _count(20, "k: brokers", 1, 10_000),
        "nearest": _count(4, "l: brokers that a node keeps", 1, 5),
        "copies": _count(2, "m: brokers that carry an event of another one", 1, 64),
        "epidemic": Option(False, 0, 1, "every broker gets every event"),
        "by_ability": Option(True, 0, 1, "the ablest nodes are brokers; else any"),
        "replace": Option(False, 0, 1, "a region whose broker is gone elects another"),
        "period": _seconds(2.0, "between a broker's broadcasts"),
        "expiry": _seconds(5.0, "until what is not heard again is forgotten"),
        "election": _seconds(2.0, "of the bootstrap"),
        "renew": _seconds(20.0, "until a subscriber registers anew"),
        "exchange": _seconds(5.0, "at least, between telling the same broker of subscriptions"),
        "patience": _seconds(0.5, "until a hop that nobody takes is tried again"),
        "tries": _count(20, "times that it is tried"),
        "wait": _seconds(0.01, "until a flood is repeated, at most"),
        "space": _count(1024, "events that a broker has room for", 1),
        "batch": _count(64, "subscriptions told, events flooded anew, in one go", 1, 256),
        "handed": _count(64, "events handed to another broker in one go", 1, 256),
        "rest": _seconds(0.0, "at least, from handing over events to the next time"),
    },
}  # fmt: skip

_VOICES: dict[str, type] = {"voronoi-brokers": Broking}

_WALKS = {
    "pace_s": _seconds(0.01, "a walk rests on each node"),
    "hear": Option(True, False, True, "a neighbour that carries the other trace is met as well"),
    "most_steps": _count(100_000, "steps after which a walk ends", 1, 2**31 - 1),
    "retries": _count(0, "repetitions of a hop that is not acknowledged; 0: none is", 0, 100),
    "patience_s": _seconds(0.1, "until a hop counts as failed; more than there and back"),
    "relaunch_s": _seconds(10.0, "until a walk that met nobody is launched again; 0: never"),
    "launches": _count(10, "launches in a row that nobody answers", 1, 1000),
    "refresh_s": _seconds(0.0, "from a launch to the next in any case; 0: never"),
    "hold": _count(8, "events that a publisher keeps for a subscriber until they met", 0, 1000),
}

TABLE = {
    **{
        name: System(name, MODULES[name], _VOICES.get(name, Spreading), own)
        for name, own in _OPTIONS.items()
    },
    **{
        name: System(name, MODULES[name], Walking, _WALKS)
        for name in ("directional-walk", "random-walk")
    },
    WALK_OVERLAY.name: WALK_OVERLAY,
    CELL_HASH.name: CELL_HASH,
    **TREES,
}


def named(name: str) -> System:
    """The system of that name; Problem for an unknown one, with those that there are."""
    if name not in TABLE:
        raise Problem(f"'{name}' is no system", remedy=f"one of {', '.join(TABLE)}")
    return TABLE[name]
