"""Acknowledgements by default: in a scenario that can lose records, all systems try equally hard.

A system with reliable hops declares the options `retries` and `ack_timeout_s` as automatic. A
scenario chooses their values, equal for all systems. An option that the scenario sets wins.
"""

from halfway.adapters.interface import System
from halfway.scenario.schema import Recorded, Scenario, Waypoint
from halfway.sim.radio.declarations import CsmaRadio, DistanceRadio, IdealRadio, WiredRadio

RETRIES, ACK_TIMEOUT = "retries", "ack_timeout_s"
LOSSY_RETRIES = 5
_ROUND_TRIPS = 2  # that the acknowledgement timeout covers at least


def options_of(scenario: Scenario, system: System) -> dict[str, float | int | bool]:
    """Return the options of a system on a scenario: its own, and the automatic acknowledgements."""
    auto: dict[str, float | int | bool] = {}
    if is_automatic(system, RETRIES):
        auto[RETRIES] = LOSSY_RETRIES if acknowledges(scenario) else 0
    if is_automatic(system, ACK_TIMEOUT):
        # The usual timeout, or a longer one on a slow radio.
        usual = float(system.options[ACK_TIMEOUT].default)
        auto[ACK_TIMEOUT] = max(usual, _ROUND_TRIPS * 2 * _delay_s(scenario))
    return auto | scenario.options.get(system.name, {})


def is_automatic(system: System, option: str = RETRIES) -> bool:
    """Return whether a scenario chooses a system's option: by default, the acknowledgements."""
    return option in system.options and system.options[option].auto


def acknowledges(scenario: Scenario) -> bool:
    """Return whether systems acknowledge hops by default on a scenario.

    They do where records can be lost: by the radio, by faults or by movement. A radio with
    contention acknowledges and repeats frames itself, and a second layer would congest it.
    """
    if isinstance(scenario.radio, CsmaRadio):
        return False
    match scenario.radio:
        case IdealRadio() | DistanceRadio() as radio:
            lossy = radio.success < 1.0 or radio.ratios is not None
        case WiredRadio(limit_s=limit_s):
            lossy = limit_s < float("inf")
    return lossy or bool(scenario.faults) or isinstance(scenario.network, Waypoint | Recorded)


def _delay_s(scenario: Scenario) -> float:
    """The constant delay of a hop on a scenario's radio."""
    return 0.0 if isinstance(scenario.radio, CsmaRadio) else scenario.radio.delay_s
