"""The most records that one call of a walk detector emits: a tick with the most next nodes."""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from halfway.core.hello.state import unknown_neighbourhood
from halfway.core.message import RECORD, START
from halfway.core.missing import NONE
from halfway.core.outbox import Outbox
from halfway.core.records.checks import (
    ACCEPTED,
    FROM_APPLICATION,
    FROM_NETWORK,
    FROM_SELF,
    record_checks,
    refusal,
)
from halfway.protocols.failure_detectors.counter_records import ENTRIES
from halfway.protocols.walk_detectors import path_gossip, path_heartbeat
from halfway.protocols.walks import messages
from halfway.protocols.walks.tables.counts import NO_SLOT
from tests.protocols.lone import emitted_by, entered

MEMBERS, DEGREE = 100, 2  # a node has far more members than neighbours
OWN, FIRST = 5, 1000  # ids; FIRST: of the senders of paths
SLOTS = 20_000


class Lone:
    """A lone node of a detector on paths, whose check accepts each of its records."""

    def __init__(self, module: ModuleType, **options: Any) -> None:
        values = {name: one.default for name, one in module.OPTIONS.items()} | options
        self.kinds, self.rules = module.KINDS, module.rules(values)
        self.state = module.state(np.array([OWN], np.int32), MEMBERS, 1, degree=DEGREE, places=8)
        self.most = module.most_emissions(self.state, self.rules)
        self.checks = record_checks(module.KINDS, module.limits(self.state, self.rules))

    def emitted(self, kind: int, at: float, source: int, **fields: Any) -> int:
        """How many records the node emits for one record."""
        record = np.zeros(1, RECORD).view(np.recarray)[0]
        record.target = record.topic = record.event = record.publisher = NONE
        record.kind, record.at, record.source, record.next = kind, at, source, OWN
        for name, value in fields.items():
            record[name] = value
        own = FROM_APPLICATION if kind == START else FROM_SELF
        origin = own if source == OWN else FROM_NETWORK
        assert refusal(self.checks, record, origin) == ACCEPTED
        nowhere = unknown_neighbourhood(1, DEGREE, reported=64)

        def call(message: object, out: Outbox) -> None:
            entered(self.state, self.rules, nowhere, np.uint32(0), message, out)

        return len(emitted_by(call, record, SLOTS))

    def hear_paths(self, count: int) -> None:
        """Hear paths to so many subscribers, each through a node that is on no neighbour list."""
        args = [0] * 8
        args[messages.SIDE] = messages.SUBSCRIBES
        for k in range(FIRST, FIRST + count):
            self.emitted(messages.PATH, 1.0, k, topic=0, publisher=k, args=args)
        assert (self.state.walks.tables.paths.status == 1).sum() == count


@pytest.mark.parametrize("paths", [1, 2 * DEGREE, MEMBERS, 2 * MEMBERS])
def test_a_tick_gossips_all_members_to_each_next_node_while_there_is_room(paths: int) -> None:
    """Paths over nodes that the node does not know as neighbours: hellos come later than paths.
    Only forged records make more paths than two for each neighbour."""
    node = Lone(path_gossip)
    node.emitted(START, 0.0, OWN)
    node.hear_paths(paths)
    for k in range(FIRST, FIRST + MEMBERS):
        node.emitted(path_gossip.GOSSIP, 1.1, k, args=[k, *[NONE] * 6, 0], reals=[5.0, *[0.0] * 5])
    counts, sends = node.state.walks.tables.counts[0], min(paths, 2 * DEGREE)
    before = int(counts[NO_SLOT])
    emitted = node.emitted(path_gossip.TICK, 1.2, OWN)
    assert sends * (MEMBERS // ENTRIES) < emitted <= node.most
    own = paths == 2 * MEMBERS  # a full table has no room for the path to the node itself
    assert counts[NO_SLOT] - before == paths - sends + own


@pytest.mark.parametrize("retries", [0, 2])
def test_a_tick_sends_a_heartbeat_to_each_next_node(retries: int) -> None:
    node = Lone(path_heartbeat, retries=retries)
    node.emitted(START, 0.0, OWN)
    node.hear_paths(2 * MEMBERS)
    assert 2 * MEMBERS < node.emitted(path_heartbeat.TICK, 1.2, OWN) <= node.most
