"""The protocols of all systems: pure functions on the state of one node, without clock, socket or
log.

`SYSTEMS` is the only table of systems. It has the module, the idea and the paper of each system, in
the order in which people see the systems. Every module defines the same names: `KINDS` (its table
of record kinds), `OPTIONS`, `Rules` (the scalars that all nodes share), `State`, `state(node_ids,
...)`, `most_emissions(state, rules)` and `handle(state, ...)`. The import of this table loads no
compiler.
"""

from typing import NamedTuple


class About(NamedTuple):
    """The module of a system, its idea in one sentence, and the paper that it comes from."""

    module: str
    idea: str
    paper: str


SYSTEMS = {
    "flooding": About(
        "halfway.protocols.flooding",
        "Every node repeats an event once.",
        "the simplest baseline",
    ),
    "gossip": About(
        "halfway.protocols.gossip",
        "A node pushes new events to some neighbours for some rounds.",
        "Demers et al. 1987, §1.4; Haas, Halpern & Li 2002",
    ),
    "counter-broadcast": About(
        "halfway.protocols.counter_broadcast",
        "A node repeats an event unless it received enough copies of the event.",
        "Ni, Tseng, Chen & Sheu 1999, §3.2",
    ),
    "anti-entropy": About(
        "halfway.protocols.anti_entropy.handler",
        "At intervals, two neighbours compare which events each of them holds.",
        "Demers et al. 1987, §1.3",
    ),
    "rumor-routing": About(
        "halfway.protocols.rumor_routing.handler",
        "Agents leave paths to publishers. A query walks until it meets such a path.",
        "Braginsky & Estrin 2002",
    ),
    "directional-walk": About(
        "halfway.protocols.walks.directional_walk",
        "The walks of a publisher and a subscriber lead away from their origins until they meet.",
        "Leone & Muñoz 2013",
    ),
    "random-walk": About(
        "halfway.protocols.walks.random_walk",
        "The walks of a publisher and a subscriber step onto random neighbours until they meet.",
        "Leone & Muñoz 2013, §4.1: the baseline",
    ),
    "walk-overlay": About(
        "halfway.protocols.walk_overlay.handler",
        "The walks of all initiators form a tree, and events follow the tree.",
        "Muñoz & Leone 2014",
    ),
    "georendezvous": About(
        "halfway.protocols.georendezvous.handler",
        "A hash maps a topic to places. The cells at these places store the subscriptions of "
        "the topic.",
        "Carvalho, Araújo & Rodrigues 2006",
    ),
    "drip": About(
        "halfway.protocols.drip.handler",
        "Brokers move, and each broker serves the region of the nodes nearest to it.",
        "Yuan & Wu 2009",
    ),
    "siena": About(
        "halfway.protocols.broker_trees.siena",
        "Brokers form a tree and use covering between filters.",
        "Carzaniga, Rosenblum & Wolf 2001, §4.2",
    ),
    "underlay-siena": About(
        "halfway.protocols.broker_trees.underlay.underlay_siena",
        "The broker tree of siena, where a broker has a second path to its parent, and one to "
        "its grandparent.",
        "Kumar, Bellur & Kranthi Kiran 2007",
    ),
    "heartbeat": About(
        "halfway.protocols.failure_detectors.heartbeat",
        "A failure detector: nodes flood the heartbeats of each member to all other members.",
        "the simplest baseline; Hayashibara et al. 2004 with φ",
    ),
    "gossip-counters": About(
        "halfway.protocols.failure_detectors.gossip_counters",
        "A failure detector: neighbours gossip tables of heartbeat counters.",
        "van Renesse, Minsky & Hayden 1998",
    ),
    "swim": About(
        "halfway.protocols.failure_detectors.swim",
        "A failure detector: in each period, a node probes one neighbour, and probes carry "
        "news of other members.",
        "Das, Gupta & Motivala 2002",
    ),
    "lifeguard": About(
        "halfway.protocols.failure_detectors.lifeguard",
        "SWIM with local health: a slow node waits longer before it suspects other members.",
        "Dadgar, Phillips & Currey 2018",
    ),
    "path-heartbeat": About(
        "halfway.protocols.walk_detectors.path_heartbeat",
        "A failure detector: heartbeats follow the paths that directional walks leave.",
        "Leone & Muñoz 2013, §2",
    ),
    "walk-probe": About(
        "halfway.protocols.walk_detectors.walk_probe",
        "A failure detector: in each period, a directional walk of a node looks for other members.",
        "Leone & Muñoz 2013, §2",
    ),
    "path-gossip": About(
        "halfway.protocols.walk_detectors.path_gossip",
        "A failure detector: nodes gossip counters along the paths of walks, and around "
        "broken paths.",
        "Leone & Muñoz 2013, §2 and §5: their further work",
    ),
}
