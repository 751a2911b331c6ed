"""The numbers of failure detectors: no number of an earlier incarnation that other nodes remember,
and no late answer to it, is taken for one of the present incarnation; and a forgotten number.
"""

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from halfway.core.message import RECORD, START
from halfway.core.missing import NONE
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.outbox import Outbox
from halfway.protocols.broker_trees.tables.subscription_table import Catalogue
from halfway.protocols.broker_trees.underlay import underlay_siena
from halfway.protocols.failure_detectors import lifeguard, swim
from halfway.protocols.failure_detectors.member_list import RELAYED
from halfway.protocols.failure_detectors.probe_messages import (
    NACK_TIMEOUT,
    PERIOD,
    PING,
    PING_ACK,
    PING_NACK,
    PING_REQUEST,
)
from halfway.protocols.walk_detectors import probe_walks, walk_probe
from tests.protocols.broker_trees.test_client_node import NOWHERE
from tests.protocols.broker_trees.test_siena import FILTERS, VALUES
from tests.protocols.lone import emitted_by, entered
from tests.protocols.rules_of import tree_rules

REQUESTER, PROXY, MEMBER, OTHER = 7, 5, 9, 11


def neighbours(*ids: int) -> Neighbourhood:
    """The list of a lone node, whose neighbours reported no lists."""
    count = len(ids)
    return Neighbourhood(
        np.zeros(1, np.uint32), np.full(1, count, np.uint32), np.array(ids, np.int32),
        np.full(count, NONE, np.int32), np.zeros(0), np.zeros(0),
    )  # fmt: skip


class Lone:
    """A lone node of a failure detector."""

    def __init__(self, module: ModuleType, own: int, near: Neighbourhood, **sizes: int) -> None:
        values = {name: one.default for name, one in module.OPTIONS.items()}
        self.rules, self.near, self.own = module.rules(values), near, own
        self.state = module.state(np.array([own], np.int32), 8, 1, **sizes)

    def emitted(self, kind: int, source: int, **fields: Any) -> list[Any]:
        """The records that the node emits for one record."""
        record = np.zeros(1, RECORD).view(np.recarray)[0]
        record.target = record.topic = record.event = record.publisher = NONE
        record.kind, record.source, record.next = kind, source, self.own
        record.args[:] = NONE
        record.reals[:] = NONE
        for name, value in fields.items():
            record[name] = value

        def call(message: object, out: Outbox) -> None:
            entered(self.state, self.rules, self.near, np.uint32(0), message, out)

        return [np.frombuffer(one, RECORD)[0] for one in emitted_by(call, record, 64)]


def probing(module: ModuleType, incarnation: int, count: int, member: int) -> tuple[Lone, int]:
    """A node with an empty memory that has begun so many probes of a member, and the last one's
    number."""
    node = Lone(module, REQUESTER, neighbours(member))
    node.emitted(START, REQUESTER, at=1.0, incarnation=incarnation)
    for k in range(count):
        sent = node.emitted(PERIOD, REQUESTER, at=2.0 + k, incarnation=incarnation)
    (ping,) = [one for one in sent if one["kind"] == PING]
    return node, int(ping["sequence"])


def test_a_proxy_answers_for_the_probe_of_a_requester_that_lost_its_memory() -> None:
    """[Lifeguard §IV.A] The proxy relayed an acknowledgement of the requester's probe with the same
    count in an earlier incarnation."""
    first, again = (probing(lifeguard, incarnation, 3, MEMBER)[1] for incarnation in (0, 1))
    proxy = Lone(lifeguard, PROXY, neighbours(REQUESTER, MEMBER))
    proxy.emitted(PING_REQUEST, REQUESTER, at=3.0, target=MEMBER, sequence=first)
    proxy.emitted(PING_ACK, MEMBER, at=3.1, target=REQUESTER, sequence=first)
    proxy.emitted(PING_REQUEST, REQUESTER, at=60.0, target=MEMBER, sequence=again, incarnation=1)

    def nacks(number: int) -> list[tuple[int, int]]:
        sent = proxy.emitted(NACK_TIMEOUT, PROXY, at=60.3, target=REQUESTER, sequence=number)
        return [
            (int(one["next"]), int(one["sequence"])) for one in sent if one["kind"] == PING_NACK
        ]

    assert nacks(again) == [(REQUESTER, again)]
    assert nacks(first) == []


def health_after(*, refused: bool) -> tuple[int, int]:
    """The health score of a node after an acknowledged probe, and after one that is not; each
    probe has a NACK if `refused`."""
    node = Lone(lifeguard, REQUESTER, neighbours(MEMBER))
    node.emitted(START, REQUESTER, at=1.0)
    own = node.state.probes.own[0]
    own.health, scores = 4, []
    for at, acked in ((2.0, True), (9.0, False)):
        (ping,) = [one for one in node.emitted(PERIOD, REQUESTER, at=at) if one["kind"] == PING]
        own.nacks = 1  # as if a proxy were asked
        if acked:
            node.emitted(PING_ACK, MEMBER, at=at, target=REQUESTER, sequence=ping["sequence"])
        if refused:
            node.emitted(PING_NACK, PROXY, at=at + 0.3, sequence=ping["sequence"])
        node.emitted(PERIOD, REQUESTER, at=at + 5.0)
        scores.append(int(own.health))
    return scores[0], scores[1]


def test_a_proxy_that_forgot_an_acknowledgement_sends_a_nack_that_changes_nothing() -> None:
    """The requester has the acknowledgement. Only without it does a NACK count."""
    proxy = Lone(lifeguard, PROXY, neighbours(REQUESTER, MEMBER))
    for number in range(1, RELAYED + 2):
        proxy.emitted(PING_ACK, MEMBER, at=3.1, target=REQUESTER, sequence=number)
    answers = [
        len(proxy.emitted(NACK_TIMEOUT, PROXY, at=3.3, target=REQUESTER, sequence=number))
        for number in range(1, RELAYED + 2)
    ]
    assert answers == [1, *[0] * RELAYED]
    plain, refused = health_after(refused=False), health_after(refused=True)
    assert plain[0] == refused[0] == 3
    assert plain[1] > refused[1]


@pytest.mark.parametrize("module", [swim, lifeguard])
def test_a_late_acknowledgement_of_an_earlier_incarnation_acknowledges_no_member(
    module: ModuleType,
) -> None:
    _, old = probing(module, 0, 1, MEMBER)
    node, number = probing(module, 1, 1, OTHER)
    own = node.state.probes.own[0]
    node.emitted(PING_ACK, MEMBER, at=2.1, target=REQUESTER, sequence=old)
    assert own.is_acked == 0
    node.emitted(PING_ACK, OTHER, at=2.2, target=REQUESTER, sequence=number)
    assert own.is_acked == 1


def test_the_numbers_of_probes_go_on_after_a_crash_that_left_the_memory() -> None:
    node, number = probing(swim, 1, 3, MEMBER)
    node.emitted(START, REQUESTER, at=9.0, incarnation=1)
    sent = node.emitted(PERIOD, REQUESTER, at=9.5, incarnation=1)
    assert [one["sequence"] for one in sent if one["kind"] == PING] == [number + 1]


def test_the_marks_of_a_probe_walk_are_of_its_incarnation() -> None:
    """The counters of walks begin again with each incarnation of their member."""
    node = Lone(walk_probe, PROXY, neighbours(REQUESTER, MEMBER, OTHER), degree=3)
    args = [1, 2, 1, 99, *[NONE] * 4]  # the walk wants a member that the node does not know
    for epoch in (0, 1, 1):
        node.emitted(
            probe_walks.STEP, MEMBER, at=1.0, publisher=MEMBER, event=3, epoch=epoch, args=args,
        )  # fmt: skip
    count = int(node.state.weights.marks[0])
    marks = node.state.weights.marked_walk[0, :count].tolist()
    assert len(set(marks)) == 2


@pytest.mark.parametrize("incarnation", [0, 1, 5])
def test_the_pings_of_a_broker_begin_at_its_incarnation(incarnation: int) -> None:
    """Else a late PONG of an earlier incarnation would give a wrong round trip."""
    ids = np.array([REQUESTER], np.int32)
    state = underlay_siena.state(ids, ids, REQUESTER, 6, 5)
    rules = tree_rules(underlay_siena, Catalogue(FILTERS, VALUES))
    record = np.zeros(1, RECORD).view(np.recarray)[0]
    record.kind, record.source, record.incarnation = START, REQUESTER, incarnation

    def call(message: object, out: Outbox) -> None:
        entered(state, rules, NOWHERE, np.uint32(0), message, out)

    emitted_by(call, record, 64)
    assert state.pings.tolist() == [[incarnation << 16] * 2]
