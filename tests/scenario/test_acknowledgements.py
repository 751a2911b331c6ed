"""Acknowledgements by default: one effort for all systems where a scenario can lose records."""

from typing import Any

import pytest

from halfway.adapters.registry import TABLE
from halfway.scenario.acknowledgements import WAITS, acknowledges, options_of
from halfway.scenario.build import prepared, simulation_of, simulation_on
from halfway.scenario.option_notes import option_notes
from halfway.scenario.schema import Scenario, converted
from halfway.sim.metrics.outcome import Outcome
from tests.systems import HOPPING

NETWORK = {"kind": "unit-disk", "n": 60, "degree": 12.0}
MOVING = {"kind": "random-waypoint", "n": 9, "width": 9, "height": 9, "radius": 5, "speed": [1, 2]}


def scenario(**fields: Any) -> Scenario:
    return converted({"network": NETWORK} | fields)


def efforts(read: Scenario) -> dict[str, dict[str, float | int | bool]]:
    """The automatic options of each system with reliable hops, without the waits of brokers."""
    return {
        name: {k: v for k, v in options_of(read, TABLE[name]).items() if k not in WAITS}
        for name in HOPPING
    }


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
    "wires": {"radio": {"kind": "wired"}},
}


@pytest.mark.parametrize("case", [*LOSSY, *SAFE])
def test_all_systems_with_reliable_hops_make_the_same_effort(case: str) -> None:
    read = scenario(**(LOSSY | SAFE)[case])
    assert acknowledges(read) == (case in LOSSY)
    retries = 5 if case in LOSSY else 0
    expected = {"retries": retries, "ack_timeout_s": 0.1, "ack_backoff": 1.0}
    assert efforts(read) == dict.fromkeys(HOPPING, expected)


@pytest.mark.parametrize("name", [name for name in TABLE if name not in HOPPING])
def test_other_systems_have_no_automatic_options(name: str) -> None:
    assert options_of(scenario(**LOSSY["loss"]), TABLE[name]) == {}


def test_an_option_of_the_scenario_wins() -> None:
    given = {"siena": {"retries": 0, "brokers": 4}, "gossip": {"fanout": 2}}
    read = scenario(**LOSSY["loss"], options=given)
    automatic = {"ack_timeout_s": 0.1, "ack_backoff": 1.0}
    assert options_of(read, TABLE["siena"]) == given["siena"] | automatic
    assert options_of(read, TABLE["gossip"]) == {"fanout": 2}
    assert options_of(read, TABLE["underlay-siena"])["retries"] == 5


def test_a_slow_radio_has_a_longer_timeout() -> None:
    slow = scenario(radio={"kind": "ideal", "delay_s": 0.2, "success": 0.9})
    assert {options_of(slow, TABLE[name])["ack_timeout_s"] for name in HOPPING} == {0.8}


@pytest.mark.parametrize(
    ("medium", "timeout_s"), [("wifi-a", 0.1), ("wifi-b", 0.35), ("sensors", 0.97)]
)
def test_a_medium_with_contention_has_timeouts_that_grow(medium: str, timeout_s: float) -> None:
    """250 exchanges: 802.15.4 takes 3.9 ms for each, and 802.11b 1.4 ms."""
    radio = {"kind": "contention", "medium": medium}
    read = scenario(radio=radio)
    assert acknowledges(read)
    expected = {"retries": 5, "ack_timeout_s": timeout_s, "ack_backoff": 2.0}
    assert efforts(read) == dict.fromkeys(HOPPING, expected)
    slower = scenario(radio=radio | {"bit_rate": 1e4})
    assert float(options_of(slower, TABLE["siena"])["ack_timeout_s"]) > 2 * timeout_s


@pytest.mark.slow
@pytest.mark.parametrize("system", ["walk-overlay", "directional-walk"])
def test_the_timeouts_of_a_slow_medium_decide_what_is_delivered(system: str) -> None:
    work = {"topics": 3, "publishers_each": 2, "subscribers_each": 10, "events": 10,
            "every_s": 1.0, "start_s": 25.0}  # fmt: skip
    fields: dict[str, Any] = {"radio": {"kind": "contention", "medium": "sensors"},
                              "workload": work, "seconds": 40.0, "system": system}  # fmt: skip
    ratios = []
    for options in ({}, {"ack_timeout_s": 0.1, "ack_backoff": 1}):
        read = scenario(**fields, options={system: options})
        ratios.append(simulation_on(prepared(read), read, TABLE[system]).run().delivery_ratio)
    assert ratios[0] == 1.0
    assert ratios[1] < 0.9


@pytest.mark.parametrize(
    ("radio", "wait_s"),
    [
        ({"kind": "ideal", "success": 0.9}, 1.0),
        ({"kind": "contention", "medium": "wifi-a"}, 1.0),
        ({"kind": "contention", "medium": "wifi-b"}, 1.8),
        ({"kind": "contention", "medium": "sensors"}, 4.8),
    ],
)
def test_brokers_ping_less_often_on_a_medium_with_contention(
    radio: dict[str, Any], wait_s: float
) -> None:
    """1,250 exchanges, of 3.9 ms on 802.15.4 and 1.4 ms on 802.11b."""
    system = TABLE["underlay-siena"]
    read = scenario(radio=radio)
    assert [options_of(read, system)[wait] for wait in WAITS] == [wait_s, wait_s]
    assert not set(WAITS) & set(options_of(read, TABLE["siena"]))
    text = f"ping_interval_s = {wait_s:g}, confirm_timeout_s = {wait_s:g} by default"
    notes = [note for note in option_notes([read], [system]) if text in note]
    assert len(notes) == (wait_s > 1.0)
    given = {"underlay-siena": {"ping_interval_s": 0.5, "confirm_timeout_s": 0.0}}
    read = scenario(radio=radio, options=given)
    assert [options_of(read, system)[wait] for wait in WAITS] == [0.5, 0.0]
    assert not [note for note in option_notes([read], [system]) if "by default" in note]


def test_brokers_that_ping_each_second_fill_a_slow_medium() -> None:
    work = {
        "topics": 5,
        "publishers_each": 2,
        "subscribers_each": 10,
        "events": 20,
        "every_s": 1.0,
        "start_s": 30.0,
    }
    fields: dict[str, Any] = {
        "network": {"kind": "unit-disk", "n": 100, "degree": 10.0},
        "workload": work,
        "radio": {"kind": "contention", "medium": "sensors"},
        "seconds": 80.0,
        "seed": 1,
    }
    ratios = []
    for options in ({}, {"underlay-siena": {"ping_interval_s": 1.0, "confirm_timeout_s": 1.0}}):
        read = scenario(**fields, options=options)
        ratios.append(simulation_of(read, system="underlay-siena").run().delivery_ratio)
    assert ratios[0] >= 0.95
    assert ratios[1] < 0.5


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


def outcome_of(system: str) -> Outcome:
    """The outcome of a short run on a lossy radio, with nodes that crash and lose their memory."""
    detects = TABLE[system].adapter.detects_failures
    work = {"kind": "failure-detection"} if detects else {"publishers_each": 2, "events": 40}
    crashes = {"fault": "churn", "mean_up_s": 10.0, "mean_down_s": 3.0, "share": 0.3}
    fields = LOSSY["loss"] | {"workload": work, "faults": [crashes | {"memory": "lost"}]}
    read = scenario(system=system, seconds=30.0, seed=0, **fields)
    return simulation_of(read).run()


@pytest.mark.parametrize("name", TABLE)
def test_no_node_sends_a_record_that_the_receiver_refuses(name: str) -> None:
    """The tests check records by default. A node is not a neighbour of its own, for example."""
    outcome = outcome_of(name)
    assert sum(outcome.sent.values()) > 500
    assert ("ack" in outcome.sent) == (name in HOPPING)
    assert [reason for reason in outcome.shortfalls if "refused" in reason] == []
