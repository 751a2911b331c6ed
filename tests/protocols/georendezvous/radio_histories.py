"""Random histories of GeoRendezvous on sparse radio networks, and the deliveries that must follow.

Nodes crash with or without their memory, leave, and come back. The oracle is flat: it knows only
which nodes hear each other and which are up. After the time of `healed_s`, every event must reach
every subscriber that the radio links connect with the publisher, whether their cells touch or not.
Receptions may fail until the last change; then only the events after it must arrive. A publisher
may begin late, or withdraw and begin again.

    python -m tests.protocols.georendezvous.radio_histories 0 10000

runs the histories of these seeds and prints each one that fails. With `--moving`, nodes move once,
from one such network to another one. Each clock has an offset and a drift of its own; with
`--given`, all clocks are equal. With `--plain`, no node acknowledges, no reception fails, and
publishers advertise from the beginning.
"""

import sys
from dataclasses import replace

import numpy as np

from halfway.core.message import START
from halfway.papers.georendezvous.message_run import cell_run, post, printed_rules
from halfway.protocols.georendezvous.cell_neighbours import silence_s
from halfway.protocols.georendezvous.messages import LEAVE
from halfway.protocols.georendezvous.rules import Rules
from halfway.protocols.parts.application import PUBLISH
from halfway.protocols.parts.reliable_hop import longest_wait_s
from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.environment.mobility import Motion
from halfway.world.faults import Crash
from halfway.world.graphs.components import components
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import unit_disk
from halfway.world.mobility.tracks import NodeTrack, traces_of
from tests.protocols.georendezvous.judged_runs import (
    CLIENTS,
    SUBSCRIBERS,
    TOPICS,
    JudgedRun,
    advertises,
    begin_clients,
    hops_of,
    publishing_of,
)
from tests.protocols.history import CLOCKS

BEACON_S, LISTEN_S, RENEWAL_S, LIFETIME_S, MEMORY_S = 0.5, 0.2, 2.0, 5.0, 3.0
NODES, ROUNDS = 14, 5  # clients stay up
MOVED_S = 20.0  # within which nodes that move do so


def healed_s(scalars: Rules) -> float:
    """The seconds after which a change has healed.

    A silent node and a silent root are found after 2.5 beacons each, or after more with
    acknowledgements, and a bridge follows after 3. Then the old home must forget, entries of the
    old component expire, and clients renew theirs. With acknowledgements, the renewal may wait for
    a second series of retransmissions to a node that is gone.
    """
    second_s = longest_wait_s(scalars) if scalars.retries else 0.0
    return 2 * silence_s(scalars) + 3 * BEACON_S + LIFETIME_S + RENEWAL_S + second_s


def sparse(random_state: np.random.Generator) -> tuple[Network, float]:
    """A unit disk graph that is barely connected, and its radius."""
    position = random_state.random((NODES, 2))
    for radius in np.linspace(0.25, 1.5, 60):
        network = replace(unit_disk(position, float(radius)), labels=None)
        if components(network).max() == 0:
            return network, float(radius)
    raise AssertionError("a large radius connects all nodes")


def scalars_of(radius: float, key: int, bridges: int, retries: int = 0) -> Rules:
    """Rules with short times, for cells that fit a radius."""
    return printed_rules(
        radius, key, points=3, tried=2, beacon_interval_s=BEACON_S,
        renewal_interval_s=RENEWAL_S, lifetime_s=LIFETIME_S, join_listen_s=LISTEN_S,
        home_memory_s=MEMORY_S, bridges=bridges, retries=retries,
    )  # fmt: skip


def radio_history(
    seed: int, *, bridges: int = 24, clock: ClockErrors | None = None, plain: bool = False
) -> JudgedRun:
    """The history of a seed, ready to run."""
    random_state, link = np.random.default_rng(seed), hops_of(seed, plain)
    network, radius = sparse(random_state)
    span = healed_s(scalars_of(radius, 0, bridges, link.retries))
    down: dict[int, tuple[float, str]] = {}
    crashes, commands, spells = [], [], [(0.0, frozenset(range(NODES)))]
    for turn in range(1, ROUNDS + 1):
        at, row = turn * span, int(random_state.integers(CLIENTS, NODES))
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
    scalars = scalars_of(radius, int(random_state.integers(2**63)), bridges, link.retries)
    cells = cell_run(
        network, scalars, topics=TOPICS, seconds=(ROUNDS + 1) * span + 2.0, faults=crashes,
        clock=clock, success=link.success, check=True,
    )  # fmt: skip
    publishing = publishing_of(seed, 2.0, ROUNDS * span, plain)
    begin_clients(cells, publishing)
    for at, row, kind in commands:
        post(cells, at, row, kind)
    calm_s = ROUNDS * span if link.success < 1.0 else 0.0
    due: set[tuple[int, int]] = set()
    event = 0
    for at, up in spells:
        for topic in range(TOPICS):
            during = at + 1.0 + float(random_state.random()) * (span - 2.0)
            post(cells, during, topic, PUBLISH, topic, event)  # on its way while nodes change
            late = at + span - 0.1
            post(cells, late, topic, PUBLISH, topic, event + 1)
            if at >= calm_s and advertises(publishing[topic], late, span - 1.2):
                reached = linked(network, up, topic) & SUBSCRIBERS
                due |= {(event + 1, row) for row in reached}
            event += 2
    return JudgedRun(cells, due, event, calm_s)


def moving_history(
    seed: int, *, clock: ClockErrors | None = None, plain: bool = False
) -> JudgedRun:
    """The history of a seed in which nodes move, ready to run; some of them crash meanwhile."""
    random_state, link = np.random.default_rng(seed), hops_of(seed, plain)
    (here, one), (there, other) = sparse(random_state), sparse(random_state)
    radius = max(one, other)
    tracks = []
    for (x0, y0), (x1, y1) in zip(
        np.asarray(here.position).tolist(), np.asarray(there.position).tolist(), strict=True
    ):
        begin, end = sorted(random_state.uniform(2.0, MOVED_S, 2).tolist())
        legs = [(0.0, begin, x0, y0, x0, y0), (begin, end, x0, y0, x1, y1)]
        tracks.append(NodeTrack([*legs, (end, 1e6, x1, y1, x1, y1)], [(0.0, 1e6)]))
    motion = Motion(traces_of(tracks, list(map(str, range(NODES)))).legs, radius)
    crashes = [
        Crash(
            node=row, at=float(random_state.uniform(2.0, MOVED_S - 3.0)),
            for_=float(random_state.uniform(0.2, 3.0)),
            memory="lost" if random_state.random() < 0.5 else "kept",
        )
        for row in random_state.integers(CLIENTS, NODES, 2).tolist()[: random_state.integers(3)]
    ]  # fmt: skip
    crashes = list({crash.node: crash for crash in crashes}.values())
    scalars = scalars_of(radius, int(random_state.integers(2**63)), 24, link.retries)
    quiet = MOVED_S + healed_s(scalars)
    cells = cell_run(
        motion, scalars, topics=TOPICS, seconds=quiet + 3.0, faults=crashes, clock=clock,
        success=link.success, check=True,
    )  # fmt: skip
    begin_clients(cells, publishing_of(seed, 2.0, MOVED_S, plain))
    due: set[tuple[int, int]] = set()
    for event in range(0, 8, 2):
        topic = event // 2 % TOPICS
        post(cells, float(random_state.uniform(2.0, quiet)), topic, PUBLISH, topic, event)
    for event in range(1, 8, 2):
        topic = event // 2 % TOPICS
        post(cells, quiet + float(random_state.random()), topic, PUBLISH, topic, event)
        due |= {(event, row) for row in SUBSCRIBERS}
    return JudgedRun(cells, due, 8, MOVED_S if link.success < 1.0 else 0.0)


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
    first, last = [int(word) for word in sys.argv[1:] if not word.startswith("--")]
    history = moving_history if "--moving" in sys.argv else radio_history
    clock, plain = None if "--given" in sys.argv else CLOCKS, "--plain" in sys.argv
    for seed in range(first, last):
        if found_wrong := history(seed, clock=clock, plain=plain).wrong():
            sys.stdout.write(f"{seed}: {found_wrong}\n")
