"""A lone failure detector emits the same bytes as its row in the simulator."""

import importlib
import inspect
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from halfway.core.kinds import Channel
from halfway.core.message import START
from halfway.protocols import SYSTEMS
from tests.networks import disk
from tests.protocols.fields import undeclared
from tests.protocols.lone import Command, World, drive, faults
from tests.protocols.worlds import SMALL
from tests.systems import DETECTORS

MOST = 256  # emissions of one call
_FEW = disk(n=12, radius=0.5, seed=4)  # of systems whose members all have paths to each other
# Hops are retransmitted once, because their acknowledgements are late.
_WALKS = {
    "retries": 1, "ack_timeout_s": 0.0015, "relaunch_s": 1.0, "refresh_s": 2.5,
    "search_delay_s": 0.3, "search_steps": 60,
}  # fmt: skip
VALUES: dict[str, dict[str, Any]] = {
    "heartbeat": {"phi_threshold": 3.0},
    "gossip-counters": {"timeout_s": 3.0},
    "swim": {"suspicion_factor": 1.0, "period_s": 0.5, "ping_timeout_s": 0.0015},
    "lifeguard": {"suspicion_factor": 1.0, "period_s": 0.5, "ping_timeout_s": 0.0015},
    "path-heartbeat": _WALKS | {"timeout_s": 1.5},
    "walk-probe": {"timeout_s": 1.5},
    "path-gossip": _WALKS | {"timeout_s": 1.5, "bridge_after_s": 1.1},
}
_WITHOUT = {"gossip-counters": {"intervals"}}  # a system of fixed time-outs
UNUSED = {"swim": {"ping-nack", "nack-timeout"}}
# Among relays, nodes that never started are not known as members, so no node suspects them.
NO_SUSPICION = {"swim": {"suspicion-timeout"}, "lifeguard": {"suspicion-timeout"}}


def world(system: str, *, relays: bool) -> World:
    """All nodes but two start; every third node starts again later.

    relays: whether some nodes are relays, among them node 7.
    """
    protocol = importlib.import_module(SYSTEMS[system].module)
    values = {name: one.default for name, one in protocol.OPTIONS.items()} | VALUES[system]
    network = _FEW if system.startswith("path-") else SMALL
    sizes = {"degree": int(network.degree.max()), "places": 24, "intervals": 8}
    named = inspect.signature(protocol.state).parameters.keys() - _WITHOUT.get(system, set())
    own_sizes = {name: size for name, size in sizes.items() if name in named}

    def roles(ids: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_] | None:
        return ids % 3 == 1 if relays else None

    commands = [Command(0.0, row, int(START)) for row in range(network.n)]
    commands += [Command(6.0, row, int(START)) for row in range(0, network.n, 3)]
    return World(
        network, protocol,
        lambda ids: protocol.state(ids, 12, 9, relays=roles(ids), **own_sizes),
        protocol.rules(values), commands, most=MOST, down=(4, network.n - 3), until=8.0,
    )  # fmt: skip


@pytest.mark.parametrize("relays", [False, True])
@pytest.mark.parametrize("system", DETECTORS)
@pytest.mark.long
def test_a_lone_node_emits_what_its_row_emits_and_a_row_writes_only_itself(
    system: str, relays: bool
) -> None:
    here = world(system, relays=relays)
    driven = drive(here)
    kinds = {one.number for one in here.protocol.KINDS if one.channel != Channel.REPORT}
    names = UNUSED.get(system, set()) | (NO_SUSPICION.get(system, set()) if relays else set())
    unused = {here.protocol.KINDS.number(name) for name in names}
    assert set(driven.records["kind"].tolist()) | {int(START)} == kinds - unused
    assert undeclared(here.protocol.KINDS, driven.records) == []
    assert undeclared(here.protocol.KINDS, driven.reports) == []
    most = here.protocol.most_emissions(driven.state, here.rules)
    assert most <= MOST
    two_hops = here.protocol.NEIGHBOUR_HOPS == 2
    assert faults(here, driven, lone_rows=(0, 7), two_hops=two_hops, slots=most) == []
