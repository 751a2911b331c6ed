"""The protocols of all systems: pure functions on one node's state; no clock, no socket, no log.

`SYSTEMS` is the only table of systems, in the order in which people see them: name -> module. Every
module has the same face: `KINDS` (its table of message kinds), `OPTIONS`, `Rules` (the scalars that
all nodes share), `State`, `state(node_ids, ...)`, `most_emissions(state, rules)` and `handle`.
`ABOUT` has the idea and the paper of each system; importing it loads no compiler.
"""

from typing import NamedTuple

SYSTEMS = {
    "flooding": "halfway.protocols.flooding",
    "gossip": "halfway.protocols.gossip",
    "counter-broadcast": "halfway.protocols.counter_broadcast",
    "anti-entropy": "halfway.protocols.anti_entropy.handler",
    "rumor-routing": "halfway.protocols.rumor_routing.handler",
    "directional-walk": "halfway.protocols.walks.directional_walk",
    "random-walk": "halfway.protocols.walks.random_walk",
    "walk-overlay": "halfway.protocols.walk_overlay.handler",
    "georendezvous": "halfway.protocols.georendezvous.handler",
    "drip": "halfway.protocols.drip.handler",
    "siena": "halfway.protocols.broker_trees.siena",
    "underlay-siena": "halfway.protocols.broker_trees.underlay_siena",
    "heartbeat": "halfway.protocols.failure_detectors.heartbeat",
    "gossip-counters": "halfway.protocols.failure_detectors.gossip_counters",
    "swim": "halfway.protocols.failure_detectors.swim",
    "lifeguard": "halfway.protocols.failure_detectors.lifeguard",
    "path-heartbeat": "halfway.protocols.walk_detectors.path_heartbeat",
    "walk-probe": "halfway.protocols.walk_detectors.walk_probe",
    "path-gossip": "halfway.protocols.walk_detectors.path_gossip",
}


class About(NamedTuple):
    """The idea of a system in one sentence, and the paper that it comes from."""

    idea: str
    paper: str


ABOUT = {
    "flooding": About("Every node repeats an event once.", "the simplest baseline"),
    "gossip": About(
        "A node pushes new events to some neighbours for some rounds.",
        "Demers et al. 1987, §1.4; Haas, Halpern & Li 2002",
    ),
    "counter-broadcast": About(
        "A node repeats an event unless it received enough copies of the event.",
        "Ni, Tseng, Chen & Sheu 1999, §3.2",
    ),
    "anti-entropy": About(
        "At intervals, two neighbours compare which events each of them holds.",
        "Demers et al. 1987, §1.3",
    ),
    "rumor-routing": About(
        "Agents leave paths to publishers. A query walks until it meets such a path.",
        "Braginsky & Estrin 2002",
    ),
    "directional-walk": About(
        "A publisher's and a subscriber's walk lead away from their origins until they meet.",
        "Leone & Muñoz 2013",
    ),
    "random-walk": About(
        "A publisher's and a subscriber's walk choose any neighbour until they meet.",
        "Leone & Muñoz 2013, §4.1: the baseline",
    ),
    "walk-overlay": About(
        "The walks of all initiators form a tree, and events follow the tree.",
        "Muñoz & Leone 2014",
    ),
    "georendezvous": About(
        "A hash maps a topic to places. The cells there store its subscriptions.",
        "Carvalho, Araújo & Rodrigues 2006",
    ),
    "drip": About(
        "Brokers move, and each broker serves the region of the nodes nearest to it.",
        "Yuan & Wu 2009",
    ),
    "siena": About(
        "Brokers form a tree and use covering between filters.",
        "Carzaniga, Rosenblum & Wolf 2001, §4.2",
    ),
    "underlay-siena": About(
        "The same tree, with an alternate path to the parent and one to the grandparent.",
        "Kumar, Bellur & Kranthi Kiran 2007",
    ),
    "heartbeat": About(
        "A failure detector: the heartbeat of every member is flooded to all others.",
        "the simplest baseline; Hayashibara et al. 2004 with φ",
    ),
    "gossip-counters": About(
        "A failure detector: neighbours gossip tables of heartbeat counters.",
        "van Renesse, Minsky & Hayden 1998",
    ),
    "swim": About(
        "A failure detector: a node probes one neighbour a period, and probes carry news.",
        "Das, Gupta & Motivala 2002",
    ),
    "lifeguard": About(
        "SWIM with local health: a slow node doubts itself before it suspects others.",
        "Dadgar, Phillips & Currey 2018",
    ),
    "path-heartbeat": About(
        "A failure detector: heartbeats follow the paths that directional walks leave.",
        "Leone & Muñoz 2013, §2",
    ),
    "walk-probe": About(
        "A failure detector: each period, a directional walk looks for the trails of members.",
        "Leone & Muñoz 2013, §2",
    ),
    "path-gossip": About(
        "A failure detector: gossip of counters on paths of walks, and around broken paths.",
        "Leone & Muñoz 2013, §2 and §5: their further work",
    ),
}
