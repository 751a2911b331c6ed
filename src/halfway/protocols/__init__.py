"""The protocols of all systems: pure functions on one node's state; no clock, no socket, no log.

`SYSTEMS` is the only table of systems, in the order in which people see them: name -> module. Every
module has the same face: `KINDS` (its table of message kinds), `OPTIONS`, `Rules` (the scalars that
all nodes share), `State`, `state(node_ids, ...)`, `most_emissions(state, rules)` and `handle`.
"""

SYSTEMS = {
    "flooding": "halfway.protocols.flooding",
    "gossip": "halfway.protocols.gossip",
    "counter-broadcast": "halfway.protocols.counter_broadcast",
    "anti-entropy": "halfway.protocols.anti_entropy",
    "rumor-routing": "halfway.protocols.rumor_routing.handler",
    "directional-walk": "halfway.protocols.walks.directional_walk",
    "random-walk": "halfway.protocols.walks.random_walk",
    "walk-overlay": "halfway.protocols.walk_overlay.handler",
    "georendezvous": "halfway.protocols.georendezvous.handler",
    "drip": "halfway.protocols.drip.handler",
    "siena": "halfway.protocols.broker_trees.siena",
    "underlay-siena": "halfway.protocols.broker_trees.underlay_siena",
}
