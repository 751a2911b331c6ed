"""Acknowledgements by default: where records can be lost, all systems retransmit equally often.

A system with reliable hops declares the options `retries`, `ack_timeout_s` and `ack_backoff` as
automatic. A scenario chooses their values, equal for all systems. A system whose nodes wait for
answers over many hops declares these waits as automatic, too. An option that the scenario sets
wins.
"""

from halfway.adapters.interface import System
from halfway.scenario.schema import Scenario
from halfway.sim.radio.declarations import CsmaRadio

RETRIES, ACK_TIMEOUT, ACK_BACKOFF = "retries", "ack_timeout_s", "ack_backoff"
LOSSY_RETRIES = 5
_ROUND_TRIPS = 2  # that the acknowledgement timeout covers at least
# On a shared medium, a hop waits for the frames of all nodes around it.
_EXCHANGES, _RECORD_BYTES = 250, 32  # that the timeout covers there, and a usual record
_CONTENDED_BACKOFF = 2.0  # of a medium that equal timeouts would congest
# Waits for answers over many hops. A shorter interval of pings fills a shared medium, and a shorter
# wait repeats records that still wait for this medium.
WAITS = ("ping_interval_s", "confirm_timeout_s")
_TIMEOUTS = 5  # of a hop on a shared medium, that such a wait covers


def options_of(scenario: Scenario, system: System) -> dict[str, float | int | bool]:
    """Return the options of a system on a scenario: its own, and the automatic acknowledgements."""
    auto: dict[str, float | int | bool] = {}
    if is_automatic(system, RETRIES):
        auto[RETRIES] = LOSSY_RETRIES if acknowledges(scenario) else 0
    if is_automatic(system, ACK_TIMEOUT):
        # The usual timeout, or a longer one on a slow radio.
        usual = float(system.options[ACK_TIMEOUT].default)
        auto[ACK_TIMEOUT] = max(usual, _least_timeout_s(scenario))
    if is_automatic(system, ACK_BACKOFF):
        auto[ACK_BACKOFF] = _CONTENDED_BACKOFF if isinstance(scenario.radio, CsmaRadio) else 1.0
    for wait in WAITS:
        if is_automatic(system, wait):
            auto[wait] = max(float(system.options[wait].default), _least_wait_s(scenario))
    return auto | scenario.options.get(system.name, {})


def is_automatic(system: System, option: str = RETRIES) -> bool:
    """Return whether scenarios choose the value of a system's option (default: `retries`)."""
    return option in system.options and system.options[option].auto


def acknowledges(scenario: Scenario) -> bool:
    """Return whether systems acknowledge hops by default on a scenario.

    Nodes acknowledge records if the radio, a fault or movement can lose records. A radio with
    contention repeats frames itself, but gives a frame up after a few attempts.
    """
    return scenario.radio.loses_records or bool(scenario.faults) or scenario.network.moves


def _least_timeout_s(scenario: Scenario) -> float:
    """Return the least acknowledgement timeout on a scenario's radio.

    A shorter timeout on a shared medium repeats hops that still wait for the medium, and the
    repetitions congest it.
    """
    if isinstance(scenario.radio, CsmaRadio):
        return _exchanges_s(scenario.radio, _EXCHANGES)
    return _ROUND_TRIPS * 2 * scenario.radio.delay_s


def _least_wait_s(scenario: Scenario) -> float:
    """Return the least wait for an answer over many hops on a scenario's radio."""
    if isinstance(scenario.radio, CsmaRadio):
        return _exchanges_s(scenario.radio, _TIMEOUTS * _EXCHANGES)
    return 0.0


def _exchanges_s(radio: CsmaRadio, exchanges: int) -> float:
    """Return the seconds of a number of frames with their acknowledgements, with two digits."""
    return float(f"{exchanges * radio.exchange_s(_RECORD_BYTES):.2g}")
