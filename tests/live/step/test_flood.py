"""[R25] A member floods at a hundred times the share of another member, on a network in memory.

The nodes process 250 records a second, and the flood has 500, each with a publisher and a number of
its own. The flooding node is a neighbour of one node; the others are up to three hops behind it.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from halfway.core.missing import NONE
from halfway.live.limits import DEFAULT
from halfway.live.step.system_node import SystemNode
from halfway.live.systems.face import NodeParameters
from halfway.live.systems.live_systems import face_of
from halfway.protocols import flooding
from tests.live.step.busy_bed import BusyBed

TOPIC, TOPICS, EACH_S = 3, 64, 0.2
BEGINS_S, ENDS_S, ENDS_WITHOUT_SHARES_S = 5.0, 25.0, 12.0
_FLOODER = 6
# A line of nodes with one node at each side, and the flooding node at one end.
_LINE = ((0, 1), (1, 2), (2, 3), (0, 4), (3, 5), (0, _FLOODER))
_RING = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3), (0, _FLOODER))
_Pairs = tuple[tuple[int, int], ...]


class Outcome(NamedTuple):
    """What the honest nodes received of each other's events, and the bed."""

    delivered: float
    hops: int
    bed: BusyBed


@cache
def flooded(pairs: _Pairs, *, has_shares: bool, times: int = 100) -> Outcome:
    """Run a flood of some times the share of an honest node, and count deliveries.

    Without shares, the nodes process whatever comes, and the flood ends earlier.
    """
    ends_s = ENDS_S if has_shares else ENDS_WITHOUT_SHARES_S
    n = _FLOODER + 1
    links = [sorted(a + b - row for a, b in pairs if row in (a, b)) for row in range(n)]
    ids = np.arange(100, 100 + n, dtype=np.int32)

    def node(row: int) -> SystemNode:
        parameters = NodeParameters(int(ids[row]), 1, 1, DEFAULT._replace(topics=TOPICS))
        return face_of("flooding", {}, parameters).node

    bed = BusyBed(
        links,
        node,
        flooder=_FLOODER,
        has_shares=has_shares,
        node_ids=ids,
        delay_s=0.001,
        topics=TOPICS,
    )
    publish, subscribe = (flooding.KINDS.number(one) for one in ("publish", "subscribe"))
    expected = set()
    for row in range(_FLOODER):
        bed.post(0.0, row, subscribe, TOPIC, 0, int(NONE))
        for number, at in enumerate(np.arange(1.0 + 0.03 * row, ends_s, EACH_S).tolist()):
            bed.post(at, row, publish, TOPIC, 0, number)
            if at >= BEGINS_S:
                expected |= {(to, int(ids[row]), number) for to in range(_FLOODER) if to != row}
    for number, at in enumerate(np.arange(BEGINS_S, ends_s, EACH_S / times).tolist()):
        topic = TOPIC if number % 2 else number % TOPICS
        bed.post(at, _FLOODER, publish, topic, 0, number)
    bed.run(ends_s + 5.0)
    got, hops = set(), 0
    for row, record in bed.reports:
        got.add((row, int(record["publisher"]), int(record["event"])))
        hops = max(hops, int(record["hops"]))
    return Outcome(len(expected & got) / len(expected), hops, bed)


@pytest.mark.parametrize("pairs", [_LINE, _RING], ids=["line", "ring"])
@pytest.mark.long
def test_a_flood_takes_few_events_of_others_from_nodes_with_shares(
    pairs: _Pairs,
) -> None:
    without, with_shares = (flooded(pairs, has_shares=shares) for shares in (False, True))
    assert without.delivered < 0.8
    assert with_shares.delivered >= 0.95
    assert with_shares.hops <= _FLOODER


@pytest.mark.long
def test_every_record_of_a_flood_is_handled_or_counted() -> None:
    for has_shares in (False, True):
        bed = flooded(_LINE, has_shares=has_shares).bed
        for inbox in bed.inboxes:
            assert inbox.arrived == inbox.handled + inbox.refused + inbox.dropped
            assert len(inbox) == 0
        for node in bed.nodes:  # and what is handled reaches the system
            assert node.driver.dropped == 0
            assert node.stepper.refusals() == {}


@pytest.mark.long
def test_without_a_flood_shares_drop_nothing() -> None:
    outcome = flooded(_LINE, has_shares=True, times=1)
    assert outcome.delivered == 1.0
    assert all(one.dropped == one.refused == 0 for one in outcome.bed.inboxes)
