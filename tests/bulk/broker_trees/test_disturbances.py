"""[uas §5] Events with "loss of data" and "control traffic": against simulators in plain Python."""

import heapq
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.bulk.broker_trees.broker_overlay import Overlay, next_hop_up
from halfway.bulk.broker_trees.delivery_ratio import delivered_share, draw_faults, fail_element
from halfway.bulk.broker_trees.disturbances import comes_through, disturbances
from halfway.bulk.broker_trees.load import BALANCES, passage
from halfway.bulk.broker_trees.queues import queued_paths
from halfway.world.workload.content import content
from tests.bulk.broker_trees.test_load import BITS, SlowTree, grown
from tests.interpreted import uncompiled

BROKERS = 12
_STARTS = -2  # the end of a control message that has not begun


through = uncompiled(comes_through)


class DisturbedTree(SlowTree):
    """The slow simulator with control messages and losses."""

    def disturb(self, disturbed: Any) -> None:
        """Add the control messages, and what is lost."""
        self.disturbed, self.control = disturbed, 0
        for at, route in zip(disturbed.at.tolist(), disturbed.route.tolist(), strict=True):
            heapq.heappush(self.due, (at, next(self.order), -1, self.queues(route), _STARTS, -1))

    def enqueue(self, now: float, event: int, left: list[int], to: int, source: int) -> None:
        """Keep the queue that the message leaves in front of the list."""
        super().enqueue(now, event, [left[0], *left], to, source)

    def until(self, moment: float) -> None:
        """Handle all that is due before, control messages as well."""
        while self.due and self.due[0][0] < moment:
            now, _, event, left, to, source = heapq.heappop(self.due)
            if to == _STARTS:
                self.control += 1
                self.enqueue(now, event, left, -1, -1)
            elif through(self.disturbed, left[0]):
                if left[1:]:
                    self.enqueue(now, event, left[1:], to, source)
                elif event >= 0:
                    self.arrive(now, event, to, source)


@settings(max_examples=20)
@given(
    st.integers(0, 50),
    st.sampled_from(BALANCES),
    st.sampled_from(["overlay", "underlay"]),
    st.sampled_from([1e-4, 1e-2, 10.0]),
    st.sampled_from([0.0, 0.02]),
)
def test_events_with_losses_and_control_messages_are_those_of_a_slow_simulator(
    seed: int, balance: str, queueing: str, window: float, loss: float
) -> None:
    """[uas §5] "loss of data", and "control traffic" between the events."""
    drawn = content(BROKERS, 60, 40, "all", seed)
    paths = queued_paths(
        grown(seed),
        aware=balance != "direct",
        queueing=queueing,
        message_bits=BITS,  # type: ignore[arg-type]
    )
    given = {"ping_s": window / 5, "loss": loss, "seed": seed}
    fast = passage(paths, drawn, balance, window, disturbances(paths, window, **given))  # type: ignore[arg-type]
    slow = DisturbedTree(paths, drawn, balance, window)
    slow.disturb(disturbances(paths, window, **given))  # type: ignore[arg-type]
    slow.run()
    assert slow.control > 0
    assert fast.notifications == len(slow.latencies)
    assert (fast.notifications < drawn.wanted.sum()) == (loss > 0.0)
    assert fast.uses.tolist() == slow.uses
    assert fast.latency_s == pytest.approx(float(np.mean(slow.latencies)), rel=1e-9)


def test_every_path_has_its_pings_and_answers() -> None:
    """Ten seconds of PINGs each second, on the direct and on the second path of each broker."""
    paths = queued_paths(grown(3), aware=True, queueing="overlay", message_bits=BITS)
    found = disturbances(paths, 10.0, ping_s=1.0, seed=1)
    assert (np.diff(found.at) >= 0).all()
    exists = np.diff(paths.first) > 0
    assert np.bincount(found.route, minlength=len(exists)).tolist() == (10 * exists).tolist()
    assert disturbances(paths, 10.0).at.size == 0


def kept(overlay: Overlay, system: str, loss: float) -> np.ndarray:
    """The probability that a message between two brokers is not lost, by a search in the tree."""
    near: dict[int, list[tuple[int, float]]] = {number: [] for number in overlay.brokers}
    for number, broker in overlay.brokers.items():
        hop = next_hop_up(overlay, broker) if overlay.is_up(number) else None
        if hop is not None and (system != "siena" or hop[1] is broker.direct):
            near[number].append((hop[0], (1 - loss) ** hop[1].hops))
            near[hop[0]].append((number, (1 - loss) ** hop[1].hops))
    found = np.zeros((BROKERS, BROKERS))
    for start in near:
        if overlay.is_up(start):
            found[start, start] = 1.0
            waiting = [start]
            while waiting:
                here = waiting.pop()
                for other, share in near[here]:
                    if not found[start, other]:
                        found[start, other] = found[start, here] * share
                        waiting.append(other)
    return found


@settings(max_examples=15)
@given(
    st.integers(0, 30),
    st.sampled_from(["links", "used"]),
    st.sampled_from([0.0, 0.01, 0.3]),
    st.sampled_from(["siena", "underlay-siena"]),
)
def test_links_lose_messages_on_the_way_up_and_down(
    seed: int, where: str, loss: float, system: str
) -> None:
    overlay, drawn = grown(seed), content(BROKERS, 60, 50, "all", seed)
    faults = draw_faults(overlay, where, 4, seed)  # type: ignore[arg-type]
    share = delivered_share(
        overlay.twin(),
        system,
        drawn,
        faults,
        repairs=False,
        loss=loss,  # type: ignore[arg-type]
    )
    arrived, now = 0.0, overlay.twin()
    begun = [0, *(int(np.searchsorted(drawn.at, (k + 1) / 5)) for k in range(4)), len(drawn.at)]
    for k, (first, last) in enumerate(pairwise(begun)):
        if k:
            fail_element(now, faults[k - 1])
        survives = kept(now, system, loss)[drawn.publisher[first:last]]
        arrived += (drawn.wanted[first:last] * survives).sum()
    assert share == pytest.approx(arrived / drawn.wanted.sum())
