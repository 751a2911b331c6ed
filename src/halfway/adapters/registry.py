"""The systems by name, with what a user may set of each; naming one imports only that one."""

from halfway.adapters.broker_trees import TREES
from halfway.adapters.drip import SYSTEM as VORONOI_BROKERS
from halfway.adapters.georendezvous import SYSTEM as CELL_HASH
from halfway.adapters.interface import Option, Spreading, System, count, seconds
from halfway.adapters.walk_overlay import SYSTEM as WALK_OVERLAY
from halfway.adapters.walks import SYSTEMS as WALKS
from halfway.problem import Problem
from halfway.protocols import SYSTEMS as MODULES

_OPTIONS = {
    "flooding": {"wait": seconds(0.01, "between hearing an event and repeating it")},
    "gossip": {
        "fanout": count(3, "distinct neighbours told in a round; -1: all by one broadcast", -1),
        "rounds": count(3, "rounds in which a node tells an event", 1),
        "period": seconds(1.0, "from one round to the next"),
        "jitter": seconds(0.5, "each wait is longer by a random part of it"),
        "chance": Option(1.0, 0.0, 1.0, "probability that a node tells an event at all"),
        "sure_hops": count(1, "nodes that heard it after fewer hops always tell it", 0, 65_535),
    },
    "anti-entropy": {
        "period": seconds(1.0, "from one round of a node to its next"),
        "jitter": seconds(0.5, "each wait is longer by a random part of it"),
        "pages": count(1, "pages of 256 events that a round compares", 1, 1000),
        "batch": count(8, "events sent, and wished, in answer to one record", 1, 256),
    },
    "rumor": {
        "spawn": Option(1.0, 0.0, 1.0, "probability that a witnessing sends an agent"),
        "agent_steps": count(100, "an agent's time to live"),
        "query_steps": count(300, "a query's time to live"),
        "patience": seconds(5.0, "until an unanswered query is repeated"),
        "retries": count(1000, "repetitions of a query before it is given up"),
    },
}  # fmt: skip

_SPREADING = tuple(System(name, MODULES[name], Spreading, own) for name, own in _OPTIONS.items())

TABLE = {
    system.name: system
    for system in (*_SPREADING, *WALKS, WALK_OVERLAY, CELL_HASH, VORONOI_BROKERS, *TREES.values())
}


def named(name: str) -> System:
    """The system of that name; Problem for an unknown one, with those that there are."""
    if name not in TABLE:
        raise Problem(f"'{name}' is no system", remedy=f"one of {', '.join(TABLE)}")
    return TABLE[name]
