"""The measurements of paper 4 (DRIP): runs with moving nodes, brokers that carry copies of events,
and every delivery.
"""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.core.records.wire import fixed_sizes
from halfway.papers.drip.detections import Happened, by_event, by_publication
from halfway.pipeline.plan.run import Observations, Run
from halfway.protocols.drip.state import NOTHING
from halfway.sim.environment.mobility import Motion
from halfway.sim.radio.declarations import CsmaRadio, DistanceRadio, IdealRadio, Radio
from halfway.sim.simulation import Simulation
from halfway.sim.workload.event_numbers import codes, own_numbers
from halfway.world.mobility.random_waypoint import random_waypoint
from halfway.world.workload.number_intervals import IndependentDetection, NumberIntervals

SIDE_M, RANGE_M = 1000.0, 120.0  # [drip §VI-A]
SPEED, PAUSE = (10.0, 20.0), (2.0, 4.0)
BEGIN_S, DEADLINE_S = 20.0, 60.0  # the first event; the time in which an event may arrive
EXCHANGE_S = 10.0  # between sending the same broker subscriptions
WINDOW = 4096  # events in flight at most: all of a run
# The paper states no length of its messages. In the figure `contended` all records have this one.
RECORD_BYTES = 112
LINKS_S = 5.0  # links are computed so far ahead, which only saves time
# Parameters of a point -> options of DRIP.
LIMITS = {
    "handed": "transfer_batch",
    "rest": "transfer_interval_s",
    "two_nearest": "two_nearest_bridges",
    "relays_only": "relays_only",
}
HOP_S = 0.001  # of the ideal radio; with delays by distance, of a hop of the longest range
DETECTED_BY = {"one": NumberIntervals, "each": IndependentDetection}

RADIOS: dict[str, Radio] = {
    "ideal": IdealRadio(delay_s=HOP_S),
    # [drip §III] "the delay of a message between two nodes is in direct ratio to their distance"
    "distance": DistanceRadio(speed=RANGE_M / HOP_S),
    # [drip §VI-A] "The IEEE 802.11 protocol": 1 Mb/s cannot carry the reports.
    "contention": CsmaRadio(medium="wifi-a"),
}

Floats = npt.NDArray[np.float64]


def simulation(run: Run, system: str, copies: int) -> Simulation:
    """Return the simulation that DRIP is measured in: 200 nodes, 1 km², random waypoint, number
    intervals.

    elected: "network", k nodes of the network are candidates; "component", all nodes are.
    share, rate: of subscribers, and of events a second; handed, rest: limits of a contact;
    two_nearest, relays_only: options of DRIP; detection: "one" node detects an event, or "each"
    node does on its own.
    """
    seconds, parameters = float(run["seconds"]), run.parameters
    legs = random_waypoint(
        run["n"], SIDE_M, SIDE_M, speed=SPEED, pause=PAUSE, seconds=seconds, seed=run.network_seed
    )
    each = parameters.get("detection", "one") == "each"
    demand = DETECTED_BY["each" if each else "one"](
        run["n"],
        float(parameters.get("rate", 0.8)),
        start_s=BEGIN_S,
        end_s=seconds - DEADLINE_S,
        share=float(parameters.get("share", 0.5)),
        seed=run.workload_seed,
    )
    # A power of two, at least 1.5 times the expected number of events.
    events = int(1.5 * (demand.rate * (demand.end_s - demand.start_s)))
    events *= math.ceil(demand.capability.sum()) if each else 1
    made = Simulation(
        "drip", motion=Motion(legs, RANGE_M, window_s=LINKS_S), workload=demand,
        # One seed for all points of a network: the same phases, so that only copies differ.
        seed=run.network_seed, seconds=seconds, discovery_delay_s=run["hello_s"],
        window=min(1 << events.bit_length(), WINDOW), options=_options(run, system, copies),
        radio=RADIOS[str(run["radio"])], stretch=False,
    )  # fmt: skip
    if run["radio"] == "contention":
        made.engine = made.engine._replace(sizes=fixed_sizes(RECORD_BYTES))
    if run["elected"] == "network":
        drawn = np.random.default_rng(run.random_seed).random(run["n"])
        ability = drawn if system == "random" else demand.capability
        made.instance.state.node["capability"] = _of_the_most_capable(ability, run["k"])
    made.deliveries.delivery_log = []
    return made


def _options(run: Run, system: str, copies: int) -> dict[str, Any]:
    """Return DRIP's options for a run by a system of the paper."""
    limits = {LIMITS[name]: run.parameters[name] for name in LIMITS if name in run.parameters}
    return {
        "brokers": run["k"],
        "nearest": run["l"],
        "copies": copies,
        "exchange_interval_s": EXCHANGE_S,
        "epidemic": system == "sf",
        "by_capability": run["elected"] == "network" or system != "random",
        **limits,
    }


def _of_the_most_capable(ability: Floats, k: int) -> Floats:
    """Return DRIP's abilities of k nodes, and 0 for the others: [drip §IV-A] "top k largest in the
    network".
    """
    best = np.argsort(-ability)[:k]
    found = np.zeros(len(ability))
    found[best] = ability[best]
    return found


def broking(run: Run) -> Observations:
    """[drip §VI-B] Measure one network under DRIP or another system. A unit of the observations is
    a delivery, actual or expected.

    delay: seconds of each delivery. waited: the same, with 60 s for later and for lost deliveries.
    coverage: share of brokers with a copy when a subscriber got the event. union: share of brokers
    that ever had a copy. copies, complete: of each event, the brokers that ever had a copy, and the
    seconds until the last of them had it; for SF, until all brokers had it, and 60 s if one never
    had. copies for one: copies except the first, of each event with exactly one subscriber.
    delivered: delivery ratio. brokers, sent: brokers elected, transmissions. handed: transmissions
    of events from broker to broker.
    """
    with run.timed("run"):
        made = simulation(run, run["system"], run["m"])
        out = made.run()
    brokers = made.instance.state.node.is_broker == 1
    published, came_at, event, delay, awaited = _happened(run, made, brokers)
    lost = np.full(awaited.sum() - len(delay), DEADLINE_S)
    ever = np.isfinite(came_at)
    copied = ever.any(axis=0)
    needs = ever if run["system"] != "sf" else np.ones_like(ever)
    complete = np.where(needs, np.minimum(came_at - published, DEADLINE_S), 0.0).max(axis=0)
    return {
        "delay": delay,
        "waited": np.concatenate((np.minimum(delay, DEADLINE_S), lost)),
        "coverage": (came_at[:, event] <= published[event] + delay).mean(axis=0),
        "union": ever[:, np.unique(event)].mean(axis=0),
        "copies": ever.sum(axis=0)[copied].astype(np.float64),
        "copies for one": ever.sum(axis=0)[copied & (awaited == 1)] - 1.0,
        "complete": complete[copied],
        "delivered": np.array([len(delay) / awaited.sum() if awaited.any() else 1.0]),
        "brokers": np.array([float(brokers.sum())]),
        "sent": np.array([float(sum(out.sent.values()))]),
        "handed": np.array([float(out.sent.get("event", 0))]),
        "energy": np.array([out.energy_j]),
    }


def _happened(run: Run, made: Simulation, brokers: npt.NDArray[np.bool_]) -> Happened:
    """Return the events of a DRIP run and their deliveries, by publication or by event."""
    event, row, delay = delivered(made)
    published = made.demand.begun_again().next_publications(np.inf, WINDOW)
    came_at = copied_at(made)[brokers]
    if run.parameters.get("detection", "one") == "one":
        awaited = by_publication(published, made.demand.subscribers)
        return Happened(published.t, came_at, event, delay, awaited)
    return by_event(published, made.demand.subscribers, came_at, event, row, delay)


def delivered(made: Simulation) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
    """Return events, rows and delays (s) of all deliveries of a measured DRIP run, in order of
    time.
    """
    none = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
    columns: Any = zip(none, *(made.deliveries.delivery_log or []), strict=True)
    event, row, delay = (np.concatenate(column) for column in columns)
    return event, row, delay


def copied_at(made: Simulation) -> Floats:
    """Return [n, events]: the measured time at which each node of a DRIP run got its copy of each
    event, or inf if it got none.
    """
    published = made.demand.begun_again().next_publications(np.inf, WINDOW)
    known = codes(published.row, own_numbers(published.row))
    order, slots = np.argsort(known), made.instance.state.events
    times = np.full((len(slots), len(known)), np.inf)
    row, slot = np.nonzero(slots.role > NOTHING)
    there = slots[row, slot]
    place = np.searchsorted(known[order], codes(there.publisher, there.event))
    times[row, order[place]] = there.held_at
    return times


def pairwise(run: Run) -> Observations:
    """Measure DRIP and another system on the same network; a unit is an event and subscriber that
    both delivered.

    later, earlier: 1 where `system` came later or earlier than `other` by more than a millisecond;
    missed: 1 where `other` delivered and `system` did not. broker later, broker earlier: the same
    of copies, at the brokers that had one under `other`.
    """
    delays, copies = [], []
    second = (run["other"], run.parameters.get("other_m", run["m"]))
    for system, m in ((run["system"], run["m"]), second):
        made = simulation(run, str(system), int(m))
        made.run()
        event, row, delay = delivered(made)
        delays.append(dict(zip(zip(event.tolist(), row.tolist(), strict=True), delay, strict=True)))
        copies.append(copied_at(made))
    mine, others = delays
    both = [pair for pair in others if pair in mine]
    apart = np.array([mine[pair] - others[pair] for pair in both])
    had = np.isfinite(copies[1])
    return {
        **_order(apart, ""),
        **_order(copies[0][had] - copies[1][had], "broker "),
        "missed": np.array([float(pair not in mine) for pair in others]),
    }


def _order(apart: Floats, place: str) -> Observations:
    """Return which deliveries of a DRIP run are later than in another, and which are earlier.

    apart: seconds; less than a hop is neither.
    """
    found = {"later": apart > HOP_S, "earlier": apart < -HOP_S}
    return {f"{place}{name}": here.astype(np.float64) for name, here in found.items()}
