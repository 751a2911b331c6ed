"""Acknowledgements by default: one effort for all systems where a scenario can lose records."""

from typing import Any

import pytest

from halfway.adapters.registry import TABLE
from halfway.scenario.acknowledgements import acknowledges, options_of
from halfway.scenario.build import prepared, simulation_on
from halfway.scenario.schema import Scenario, converted

RELIABLE = (
    "directional-walk", "random-walk", "walk-overlay", "georendezvous", "siena", "underlay-siena",
)  # fmt: skip
NETWORK = {"kind": "unit-disk", "n": 60, "degree": 12.0}
MOVING = {"kind": "random-waypoint", "n": 9, "width": 9, "height": 9, "radius": 5, "speed": [1, 2]}


def scenario(**fields: Any) -> Scenario:
    return converted({"network": NETWORK} | fields)


LOSSY = {
    "loss": {"radio": {"kind": "ideal", "success": 0.9}},
    "ratios": {"radio": {"kind": "ideal", "ratios": "links.csv", "ratio_columns": ["pdr"]}},
    "loss by distance": {"radio": {"kind": "distance", "speed": 9.0, "success": 0.9}},
    "queues that drop": {"radio": {"kind": "wired", "limit_s": 1.0}},
    "crashes": {"faults": [{"fault": "crash", "share": 0.1, "at": 3.0}]},
    "movement": {"network": MOVING},
}
SAFE = {
    "the default radio": {},
    "perfect links": {"radio": {"kind": "ideal", "success": 1.0}},
    "a radio that repeats frames itself": {
        "radio": {"kind": "contention", "success": 0.9},
        "faults": [{"fault": "crash", "share": 0.1, "at": 3.0}],
    },
    "wires": {"radio": {"kind": "wired"}},
}


@pytest.mark.parametrize("case", [*LOSSY, *SAFE])
def test_all_systems_with_reliable_hops_make_the_same_effort(case: str) -> None:
    read = scenario(**(LOSSY | SAFE)[case])
    assert acknowledges(read) == (case in LOSSY)
    expected = {"retries": 5 if case in LOSSY else 0, "ack_timeout_s": 0.1}
    assert {name: options_of(read, TABLE[name]) for name in RELIABLE} == dict.fromkeys(
        RELIABLE, expected
    )


@pytest.mark.parametrize("name", [name for name in TABLE if name not in RELIABLE])
def test_other_systems_have_no_automatic_options(name: str) -> None:
    assert options_of(scenario(**LOSSY["loss"]), TABLE[name]) == {}


def test_an_option_of_the_scenario_wins() -> None:
    given = {"siena": {"retries": 0, "brokers": 4}, "gossip": {"fanout": 2}}
    read = scenario(**LOSSY["loss"], options=given)
    assert options_of(read, TABLE["siena"]) == {"retries": 0, "brokers": 4, "ack_timeout_s": 0.1}
    assert options_of(read, TABLE["gossip"]) == {"fanout": 2}
    assert options_of(read, TABLE["underlay-siena"])["retries"] == 5


def test_a_slow_radio_has_a_longer_timeout() -> None:
    slow = scenario(radio={"kind": "ideal", "delay_s": 0.2, "success": 0.9})
    assert {options_of(slow, TABLE[name])["ack_timeout_s"] for name in RELIABLE} == {0.8}


def test_the_default_decides_what_a_tree_delivers() -> None:
    work = {"subscribers_each": 10, "events": 20, "every_s": 0.5, "start_s": 10.0}
    fields: dict[str, Any] = {"radio": {"kind": "ideal", "success": 0.8}, "workload": work,
                              "seconds": 30.0, "system": "siena"}  # fmt: skip
    ratios = []
    for options in ({}, {"siena": {"retries": 5}}, {"siena": {"retries": 0}}):
        read = scenario(**fields, options=options)
        run = simulation_on(prepared(read), read, TABLE["siena"]).run()
        ratios.append((run.delivery_ratio, run.digest))
    assert ratios[0] == ratios[1]
    assert ratios[0][0] > 0.9
    assert ratios[2][0] < 0.7
