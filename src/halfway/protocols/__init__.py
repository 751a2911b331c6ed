"""One file a system: kinds, State, Rules, state(), handle(). No clock and no socket in here.

The table gives the module of each system's name, so that naming one compiles only that one.
"""

SYSTEMS = {
    "directional-walk": "halfway.protocols.directional_walk",
    "random-walk": "halfway.protocols.random_walk",
    "voronoi-brokers": "halfway.protocols.voronoi_brokers",
}
