"""Brokers of broker trees that were roots, or that lost their memory: one tree forms again.

A lone broker with the id `OWN` receives the records of others by its neighbour.
"""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from halfway.adapters.interface import limits_of
from halfway.core.message import RECORD, START
from halfway.core.missing import NONE
from halfway.core.outbox import outbox
from halfway.core.records.checks import ACCEPTED, FROM_NETWORK, record_checks, refusal
from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.paths.ancestors import SEEKING
from halfway.protocols.broker_trees.paths.circuits import SORTS, claim
from halfway.protocols.broker_trees.paths.nearby import hear_withdrawal, none_nearby
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.records.messages import (
    ANNOUNCE,
    AWAY,
    DIRECTION,
    HOPS,
    JOIN,
    ORIGIN,
    PARENT,
    ROUTE,
    SEARCH,
    VERSION,
)
from halfway.protocols.broker_trees.tables.subscription_table import Catalogue
from halfway.protocols.broker_trees.underlay import underlay_siena
from halfway.protocols.broker_trees.underlay.underlay_messages import PING, PONG, ROOT, TICK
from tests.interpreted import uncompiled
from tests.protocols.broker_trees.test_client_node import NOWHERE
from tests.protocols.broker_trees.test_siena import FILTERS, VALUES
from tests.protocols.lone import emitted_by, entered
from tests.protocols.rules_of import tree_rules

OWN, OTHER, NEIGHBOUR = 40, 9, 7  # ids: of two brokers, and of a node between them
PATH = SORTS  # number of the path from the other broker to this one


class Broker:
    """A lone broker of a tree whose root is given at first."""

    def __init__(self, module: ModuleType, root: int) -> None:
        ids, sizes = np.array([OWN], np.int32), (6,) if module is siena else (6, 5)
        self.now = 0.0
        self.state = module.state(ids, ids, root, *sizes, attributes=VALUES.shape[1])
        self.rules = tree_rules(module, Catalogue(FILTERS, VALUES))
        place = uncompiled(claim)(self.state.circuits, 0, np.int32(OTHER), np.int32(PATH), np.inf)
        path = self.state.circuits.of[0, place]
        path.prev, path.peer = NEIGHBOUR, OTHER
        self.hear(int(START), OWN)

    def hear(self, kind: int, origin: int, **args: int) -> list[Any]:
        """Receive a record of a broker; the records that this broker sends."""
        self.now += 0.01
        record = np.zeros(1, RECORD).view(np.recarray)[0]
        record.at, record.kind, record.target = self.now, kind, OWN
        record.source = OWN if origin == OWN and kind != ANNOUNCE else NEIGHBOUR
        record.args[ORIGIN], record[PARENT] = origin, NONE
        for place, value in args.items():
            record.args[PLACES[place]] = value

        def call(message: object, out: Any) -> None:
            entered(self.state, self.rules, NOWHERE, np.uint32(0), message, out)

        sent = np.frombuffer(b"".join(emitted_by(call, record, 64)), RECORD).copy()
        sent["source"] = OWN  # the driver's part
        return list(sent.view(np.recarray))

    def ping(self) -> list[Any]:
        """Receive a PING of the other broker, which has this broker as its parent."""
        return self.hear(PING, OTHER, route=PATH, direction=AWAY, number=1)


PLACES = {
    "hops": HOPS, "number": VERSION, "route": ROUTE, "direction": DIRECTION, "root": messages.ROOT,
}  # fmt: skip


@pytest.mark.parametrize("module", [siena, underlay_siena])
def test_a_broker_takes_its_own_announcement_for_no_other_broker(module: ModuleType) -> None:
    """[uas §4] "Broker()" finds another broker. Ours: neighbours pass the announcement back, and a
    root looks for other roots in this table.
    """
    broker = Broker(module, OWN)
    assert broker.hear(ANNOUNCE, OWN, hops=1, number=1) == []
    assert (broker.state.nearby.broker == NONE).all()
    broker.hear(ANNOUNCE, OTHER, hops=1, number=1)
    assert OTHER in broker.state.nearby.broker


def test_a_broker_without_a_parent_has_no_broker_above_it() -> None:
    """[uas §4, Algorithm 1] A joining broker has a parent. The root has none.

    A root that lost its memory was given another root at first, which is its child now.

    If it answers the child, it becomes the root again. No broker below it accepts it as a child.
    """
    broker = Broker(underlay_siena, OTHER)
    assert broker.state.parent.tolist() == [SEEKING]
    (pong,) = broker.ping()
    assert OTHER in broker.state.children.child
    assert (pong.kind, pong[PARENT], pong[ROOT]) == (PONG, NONE, OWN)
    limits = limits_of(underlay_siena, broker.state, broker.rules)
    checks = record_checks(underlay_siena.KINDS, limits)
    assert refusal(checks, pong, FROM_NETWORK) == ACCEPTED
    ticks = range(2 * (broker.rules.missed_pings + 1))
    broker.state.asked[0] = 1
    for _ in ticks:
        broker.hear(TICK, OWN)
    assert broker.state.parent.tolist() == [NONE]


def test_a_root_asks_a_former_root_no_more_once_it_is_a_child() -> None:
    """[uas §4.1] A child joins its grandparent or the alternate, so it accepts no parent as its
    child. The root asks others that it hears of instead.
    """
    broker = Broker(underlay_siena, OWN)
    broker.state.predecessor[0] = OTHER
    asked = {SEARCH, JOIN}
    assert asked & {int(one.kind) for one in broker.hear(TICK, OWN)}
    broker.ping()
    assert broker.state.predecessor.tolist() == [NONE]
    assert not asked & {int(one.kind) for _ in range(3) for one in broker.hear(TICK, OWN)}


@pytest.mark.parametrize(
    ("incarnation", "version", "is_forgotten"),
    [(0, 41, False), (1, 1, False), (1, 2, True), (2, 1, True)],
)
def test_a_withdrawal_ends_only_what_was_announced_before_it(
    incarnation: int, version: int, is_forgotten: bool
) -> None:
    """[uas §4, Algorithm 2] A broker leaves. Ours: it withdraws its announcements. A late
    withdrawal of an earlier incarnation has a greater version, and ends nothing.
    """
    known = none_nearby(1, 2)
    known.broker[0, 0] = known.next[0, 0] = OTHER
    known.incarnation[0, 0] = known.version[0, 0] = 1
    record = np.zeros(1, RECORD).view(np.recarray)[0]
    record.epoch, record.args[ORIGIN], record.args[VERSION] = incarnation, OTHER, version
    out = outbox(4)
    uncompiled(hear_withdrawal)(known, 0, record, out)
    assert (known.broker[0, 0] == NONE) == is_forgotten
    assert int(out.tally[0]) == 4 - is_forgotten
