"""Workloads with content of several attributes: every system delivers what subscribers want."""

from math import prod
from typing import Any

import numpy as np
import pytest

from halfway.protocols.walk_overlay.messages import CONTENT_EVENT, EVENT, VALUES
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.workload.attribute_space import values_of
from halfway.world.workload.demand import Drawn
from tests.networks import disk

_N, _SET_UP_S = 14, 20.0
_OPTIONS: dict[str, dict[str, Any]] = {
    "siena": {"brokers": 4},
    "underlay-siena": {"brokers": 4},
    "drip": {"brokers": 4, "nearest": 1, "copies": 1},
}


def content(shape: tuple[int, ...], width: int) -> Drawn:
    """Fifteen events, of one cell each."""
    return Drawn(
        _N, prod(shape), subscribers_each=2, events=15, every_s=0.5, start_s=_SET_UP_S, seed=1,
        width=width, attributes=shape,
    )  # fmt: skip


def ended(system: str, demand: Drawn, received_records: int = 0) -> Simulation:
    """A finished run of a system on a small connected network, whose records are checked."""
    run = Simulation(
        system, disk(n=_N, radius=0.5, seed=3), workload=demand, seconds=40.0, seed=1,
        options=_OPTIONS.get(system),
        inspection=Inspection(received_records=received_records, check=True),
    )  # fmt: skip
    run.advance()
    return run


@pytest.mark.parametrize("shape", [(6,), (3, 3), (2, 3, 2)])
@pytest.mark.parametrize("system", ["flooding", "walk-overlay", "siena", "underlay-siena"])
def test_every_system_delivers_the_events_of_each_box(system: str, shape: tuple[int, ...]) -> None:
    found = ended(system, content(shape, 2)).outcome()
    assert found.delivered == found.expected > 30
    assert dict(found.shortfalls) == {}
    # Siena also notifies the publisher of an event that it subscribes to.
    assert found.unsolicited == 0 or "siena" in system


def test_an_event_of_the_walk_overlay_carries_its_values() -> None:
    """A value v of m is (v + 1/2) / m, on every hop; other events have no such record."""
    shape = (2, 3, 2)
    run = ended("walk-overlay", content(shape, 2), received_records=1 << 20)
    records, _ = run.received_records()
    events = records[records["kind"] == CONTENT_EVENT]
    assert EVENT not in records["kind"]
    published = run.demand.begun_again().next_publications(np.inf, 15)
    number = dict.fromkeys(published.row.tolist(), 0)
    expected = {}
    for row, topic in zip(published.row.tolist(), published.topic.tolist(), strict=True):
        expected[row, number[row]] = (values_of(shape)[topic] + 0.5) / np.array(shape)
        number[row] += 1
    assert len(events) > 15
    for event in events:
        values = expected[int(event["publisher"]), int(event["event"])]
        assert event["reals"][VALUES : VALUES + 3].tolist() == values.tolist()
    plain = ended("walk-overlay", Drawn(_N, 3, subscribers_each=2, events=3, seed=1), 1 << 20)
    assert CONTENT_EVENT not in plain.received_records()[0]["kind"]


def test_more_attributes_cost_more_bytes_in_the_same_hops() -> None:
    """Two runs whose second attribute has one value: the events go the same ways."""
    one, two = (ended("walk-overlay", content(shape, 1), 1 << 20) for shape in ((6,), (6, 1)))
    hops = [int((run.received_records()[0]["kind"] == CONTENT_EVENT).sum()) for run in (one, two)]
    assert hops[0] == hops[1] > 15
    less, more = (run.outcome() for run in (one, two))
    assert more.delivered == less.delivered
    assert more.bytes_received - less.bytes_received == 8 * hops[0]
