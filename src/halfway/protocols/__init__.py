"""A module a system: kinds, State, Rules, state(), handle(). No clock and no socket in here.

A larger system has its parts in files named after it. The table, in the order in which people are
shown them, gives the module of each system's name, so that naming one compiles only that one. Every
module has the same face: `State`, `Rules`, `Book`, `state(names, …)`, `most_emissions(state,
rules)`, `handle`, its kinds as constants, `KINDS` that names them for people, and `BOOT` if it
wants that letter at the start and whenever a node comes back.
"""

SYSTEMS = {
    "flooding": "halfway.protocols.flooding",
    "gossip": "halfway.protocols.gossip",
    "anti-entropy": "halfway.protocols.anti_entropy",
    "rumor": "halfway.protocols.rumor_routing.handler",
    "directional-walk": "halfway.protocols.walks.directional_walk",
    "random-walk": "halfway.protocols.walks.random_walk",
    "walk-overlay": "halfway.protocols.walk_overlay.handler",
    "cell-hash": "halfway.protocols.georendezvous.handler",
    "voronoi-brokers": "halfway.protocols.drip.handler",
    "broker-tree": "halfway.protocols.broker_trees.siena",
    "underlay-tree": "halfway.protocols.broker_trees.underlay_siena",
}
