"""Random histories of GeoRendezvous on sparse radio networks, and the deliveries that must follow.

Nodes crash with or without their memory, leave, and come back. The oracle is flat: it knows only
which nodes hear each other and which are up. After `HEALED_S`, every event must reach every
subscriber that the radio links connect with the publisher, whether their cells touch or not.

    python -m tests.protocols.georendezvous.radio_histories 0 10000

runs the histories of these seeds and prints each one that fails.
"""

import sys
from dataclasses import dataclass, replace

import numpy as np

from halfway.core.message import START
from halfway.papers.georendezvous.message_run import cell_run, delivered, post
from halfway.protocols.application import PUBLISH, SUBSCRIBE
from halfway.protocols.georendezvous.messages import ADVERTISE, LEAVE
from halfway.protocols.georendezvous.rules import Rules, rules
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.graphs.network import Network
from halfway.world.graphs.statistics import components
from halfway.world.graphs.unit_disk import unit_disk

BEACON_S, LISTEN_S, RENEWAL_S, LIFETIME_S, MEMORY_S = 0.5, 0.2, 2.0, 5.0, 3.0
# A silent node and a silent root are found after 2.5 beacons each, and a bridge follows after 3.
# Then the old home must forget, entries of the old component expire, and clients renew theirs.
HEALED_S = 8 * BEACON_S + LIFETIME_S + RENEWAL_S
NODES, ROUNDS, TOPICS = 14, 5, 2
CLIENTS = 4  # rows 0 and 1 publish, 2 and 3 subscribe; they stay up


@dataclass(frozen=True)
class RadioHistory:
    """A run ready to go, and what must follow."""

    cells: Simulation
    due: set[tuple[int, int]]  # (event, row) that must be delivered
    published: int  # events

    def wrong(self) -> list[str]:
        """Run it; what was missed, delivered twice or delivered unasked."""
        self.cells.run()
        found = delivered(self.cells)
        wrong = [f"missed {pair}" for pair in sorted(self.due - set(found))]
        wrong += [f"twice {pair}" for pair in sorted({p for p in found if found.count(p) > 1})]
        return wrong + [f"unasked {p}" for p in found if p[1] not in (2, 3)]


def sparse(random_state: np.random.Generator) -> tuple[Network, float]:
    """A unit disk graph that is barely connected, and its radius."""
    position = random_state.random((NODES, 2))
    for radius in np.linspace(0.25, 1.5, 60):
        network = replace(unit_disk(position, float(radius)), labels=None)
        if components(network).max() == 0:
            return network, float(radius)
    raise AssertionError("a large radius connects all nodes")


def scalars_of(radius: float, key: int, bridges: int) -> Rules:
    """Rules with short times, for cells that fit a radius."""
    return rules(
        radius, key, points=3, tried=2, beacon_interval_s=BEACON_S,
        renewal_interval_s=RENEWAL_S, lifetime_s=LIFETIME_S, join_listen_s=LISTEN_S,
        home_memory_s=MEMORY_S, bridges=bridges,
    )  # fmt: skip


def radio_history(seed: int, *, bridges: int = 24) -> RadioHistory:
    """The history of a seed, ready to run."""
    random_state = np.random.default_rng(seed)
    network, radius = sparse(random_state)
    down: dict[int, tuple[float, str]] = {}
    crashes, commands, spells = [], [], [(0.0, frozenset(range(NODES)))]
    end = (ROUNDS + 1) * HEALED_S
    for turn in range(1, ROUNDS + 1):
        at, row = turn * HEALED_S, int(random_state.integers(CLIENTS, NODES))
        if row not in down:
            how = str(random_state.choice(["lost", "kept", "leave"]))
            down[row] = (at, how)
            if how == "leave":
                commands.append((at, row, LEAVE))
        else:
            since, how = down.pop(row)
            if how == "leave":
                commands.append((at, row, START))
            else:
                crashes.append(Crash(node=row, at=since, for_=at - since, memory=how))
        spells.append((at, frozenset(range(NODES)) - frozenset(down)))
    crashes += [
        Crash(node=row, at=at, for_=None, memory=how)
        for row, (at, how) in down.items()
        if how != "leave"
    ]
    scalars = scalars_of(radius, int(random_state.integers(2**63)), bridges)
    cells = cell_run(network, scalars, topics=TOPICS, seconds=end + 2.0, faults=crashes)
    for row in range(CLIENTS):
        for topic in range(TOPICS):
            if row >= 2 or topic == row:
                post(cells, 1.0, row, SUBSCRIBE if row >= 2 else ADVERTISE, topic)
    for at, row, kind in commands:
        post(cells, at, row, kind)
    due: set[tuple[int, int]] = set()
    event = 0
    for at, up in spells:
        for topic in range(TOPICS):
            during = at + 1.0 + float(random_state.random()) * (HEALED_S - 2.0)
            post(cells, during, topic, PUBLISH, topic, event)  # on its way while nodes change
            post(cells, at + HEALED_S - 0.1, topic, PUBLISH, topic, event + 1)
            due |= {(event + 1, row) for row in linked(network, up, topic) & {2, 3}}
            event += 2
    return RadioHistory(cells, due, event)


def linked(network: Network, up: frozenset[int], row: int) -> set[int]:
    """The rows that the links of nodes that are up connect with a row."""
    found, waiting = {row}, [row]
    while waiting:
        at = waiting.pop()
        near = {int(v) for v in network.who[network.start[at] : network.start[at + 1]]} & up
        waiting += near - found
        found |= near
    return found


if __name__ == "__main__":
    for one in range(int(sys.argv[1]), int(sys.argv[2])):
        if found_wrong := radio_history(one).wrong():
            sys.stdout.write(f"{one}: {found_wrong}\n")
