"""Sentences of the paper on beacons and bridges of DRIP: what one node emits for one message."""

import numpy as np
import pytest

from halfway.core.message import EVERYONE
from halfway.protocols.drip import messages
from tests.protocols.drip.test_drip_rows import lone_broker, rules
from tests.protocols.drip.test_drip_rules import (
    answers,
    attached,
    beacon,
    beside,
    kinds,
    listed,
    message_of,
)


def tick(at: float = 1.0, starts: int = 1) -> np.record:
    """The timer of a node, due at a time."""
    record = message_of(int(messages.TICK), at)
    record.args[messages.STARTS] = starts
    return record


def test_a_broker_broadcasts_its_ids_and_a_sequence_number_at_intervals() -> None:
    """[drip §IV-B] "periodically broadcasts its existing information message", with "its node ID,
    region ID, sequence number". [drip §IV-A] "chooses a unique region ID": we take its node id.
    """
    broker, given = lone_broker(), rules()
    broker.node.bootstrapped[0] = 1
    starts, sequences = int(broker.node.starts[0]), []
    for at in (1.0, 6.0):
        sent = answers(broker, beside(2), tick(at, starts), given)
        assert messages.TICK in kinds(sent)  # the next beacon
        (own,) = [record for record in sent if record.kind == messages.BEACON]
        assert (own.next, own[messages.BROKER_ID]) == (EVERYONE, broker.node_id[0])
        sequences.append(int(own.args[messages.BEACON_SEQUENCE]))
    assert sequences[1] == sequences[0] + 1


@pytest.mark.parametrize(("delay_us", "keeps"), [(31, False), (30, False), (29, True), (15, True)])
def test_only_a_beacon_with_less_than_the_largest_delay_is_listed_and_forwarded(
    delay_us: int, keeps: bool
) -> None:
    """[drip §IV-B] "would discard that message. Otherwise, the … broker node, which has the max"
    delay "would be replaced by the originator of the incoming message, and that message would be
    forwarded".
    """
    made = attached()  # broker 7 has a delay of 10 µs
    listed(made, 1, 8, 20.0, 2)
    listed(made, 2, 9, 30.0, 2)
    sent = answers(made, beside(2), beacon(11, source=2, local=7, age=delay_us * 1e-6))
    forwarded = [record for record in sent if record.kind == messages.BEACON]
    assert made.nearest.node_id[0].tolist() == [7, 8, 11 if keeps else 9]
    assert [(int(one.next), int(one[messages.BROKER_ID])) for one in forwarded] == (
        [(EVERYONE, 11)] if keeps else []
    )


def test_a_broker_is_no_bridge_node() -> None:
    """[drip §V-B] "it is a non-broker node"."""
    made = attached()
    listed(made, 1, 8, 20.0, 3)
    made.nearest[0, 1].border_neighbour, made.nearest[0, 1].border_at = 3, 1.0
    made.node.is_broker[0] = 1
    assert messages.REPORT not in kinds(answers(made, beside(2, 3), tick()))


@pytest.mark.parametrize(("local", "other"), [(7, 8), (8, 7)])
def test_a_bridge_serves_its_own_region_only(local: int, other: int) -> None:
    """[drip §V-B] "Bri(P, Q) ≠ Bri(Q, P), because they attach a different broker node". A bridge
    node "periodically updates its local broker".
    """
    made = attached(broker=local)
    listed(made, 1, other, 20.0, 3)
    for at in (1.0, 2.0):
        made.nearest[0, 1].border_neighbour, made.nearest[0, 1].border_at = 3, at
        sent = answers(made, beside(2, 3), tick(at))
        (report,) = [record for record in sent if record.kind == messages.REPORT]
        assert (report.target, report.args[messages.OTHER_BROKER]) == (local, other)


def test_a_record_to_a_region_without_a_bridge_node_waits() -> None:
    """[drip §V-B] "bridge nodes may not exist": the brokers "cannot communicate". Ours: the node
    defers the record, because a route may appear.
    """
    made, record = attached(), message_of(int(messages.SUBSCRIPTION))
    record.source, record.target = 2, 8
    sent = answers(made, beside(2), record)
    assert [(int(one.kind), int(one.next)) for one in sent] == [(messages.DEFERRED, 5)]


def test_each_registration_has_the_nearest_brokers_of_its_time() -> None:
    """[drip §V-B] "the nearest broker nodes information would change every time A submits"."""
    made, given = attached(), rules(registration_interval_s=0.0)
    for second, nearest in ((8, [7, 8]), (9, [7, 9])):
        listed(made, 1, second, 20.0, 2)
        sent = answers(made, beside(2), tick(), given)
        (register,) = [record for record in sent if record.kind == messages.REGISTER]
        assert register.target == 7
        assert register.args[messages.NEAREST :].tolist()[:2] == nearest
