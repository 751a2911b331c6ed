"""What a comparison tells of a run: each metric once, with how it is counted and what it misses."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from halfway.comparison.recovery import recovery
from halfway.comparison.results import Metric
from halfway.pipeline.plan.run import Observations
from halfway.sim.engine.records import SENT
from halfway.sim.metrics.deliveries import DeliveryAccounting
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.simulation import Simulation

LATENCY = "latency-quantiles"  # [101] of a run; no metric, but a curve
SHARES = ("delivery-ratio", "load-gini", "recovered")  # between 0 and 1
# Counted beside the metrics, where above 0: what a reader must know who looks at them.
LATE, SATURATED, SHORTFALL = "late", "saturated", "shortfall: "

# A column of the table, and where a run's outcome has it; None: it is not in the outcome.
_COLUMNS: tuple[tuple[Metric, Callable[[Outcome], float] | None], ...] = (
    (Metric("delivery-ratio", "delivered", "",
            "notifications delivered before `window` newer events are published and before the run "
            "ends, of those expected: each event, those near the end too, at each subscriber of it "
            "that was up when it was published, but for its publisher; events whose publisher was "
            "down are expected nowhere", "more"), lambda o: o.delivery_ratio),
    (Metric("latency-median", "median", "s",
            "from publication to notification, of what counts as delivered: a system that loses "
            "what is far away looks fast"), lambda o: o.latency_s.median),
    (Metric("latency-p95", "95 %", "s", "the same, what 95 % stay below, within 0.8 %"),
     lambda o: o.latency_s.p95),
    (Metric("latency-p99", "99 %", "s", "the same, what 99 % stay below, within 0.8 %"),
     lambda o: o.latency_s.p99),
    (Metric("stretch", "stretch", "",
            "hops of a notification over those of a shortest path when its event was published, "
            "the mean; none where a system's records do not count hops from the publisher"),
     lambda o: o.stretch.mean),
    (Metric("messages", "messages", "",
            "transmissions of the whole run, set-up and upkeep included, for each notification "
            "delivered or caught up with; hellos, by which nodes know their neighbours, are free"),
     lambda o: o.sent_per_delivery),
    (Metric("bytes", "bytes", "bytes",
            "messages times 112: every record counts 112 bytes, an acknowledgement too, headers of "
            "the radio left out", ""), lambda o: _each(o.bytes_sent, o)),
    (Metric("energy", "energy", "J",
            "of all nodes over the whole run: sending, receiving and waiting; every record counts "
            "112 bytes, an acknowledgement too; what is for one neighbour costs only that one to "
            "hear, unless the radio is contended; hellos are free"), lambda o: o.energy),
    (Metric("energy-hottest", "hottest", "J", "the same of the node that spent most"),
     lambda o: o.energy_largest),
    (Metric("load-max", "busiest", "records",
            "sent and heard by the busiest node, set-up included; what is for one neighbour is "
            "heard by that one alone"), lambda o: o.load.largest),
    (Metric("load-gini", "Gini", "",
            "how unevenly records sent and heard, likewise, are shared among all nodes; 0: all "
            "alike"),
     lambda o: o.load.gini),
    (Metric("state", "state", "bytes",
            "what a node remembers, the mean: tables at the size they were laid out with, full or "
            "not; neighbours' tables and the program are left out"),
     lambda o: o.state_bytes_per_node),
    (Metric("set-up", "set-up", "messages",
            "transmissions before the first publication: bootstrap, subscriptions, walks"), None),
    (Metric("recovery", "recovery", "s",
            "from an instant at which a fault took nodes or links away to the first publication of "
            "three in a row that reach all who should hear of them, the mean over such instants; "
            "those after which none came, or fewer than three events were left, are not in it"),
     None),
    (Metric("recovered", "recovered", "",
            "share of those instants (with three events left) after which three in a row came",
            "more"), None),
)  # fmt: skip
METRICS = tuple(metric for metric, _ in _COLUMNS)


def served_by(metric: str) -> str | None:
    """The share without which a metric says little, as doing nothing is cheap; None for a share."""
    if metric in ("delivery-ratio", "recovered"):
        return None
    return "recovered" if metric == "recovery" else "delivery-ratio"


def observations(simulation: Simulation) -> Observations:
    """Run a simulation to its end and read every metric; [1] each, or [0] where it has none.

    Beside them latency quantiles, and the counts of what came late or found no room.
    """
    deliveries, environment = simulation.deliveries, simulation.environment
    deliveries.told, environment.broken = [], []
    first = min(simulation.demand.next_at(), simulation.seconds)
    simulation.run(until=first)
    set_up = float(simulation.engine.counters.traffic[:, SENT].sum())
    told = simulation.run()
    seconds, share = recovery(
        np.concatenate([np.zeros(0), *environment.broken]), *_accounts(deliveries)
    )
    values = {metric.name: read(told) for metric, read in _COLUMNS if read is not None}
    values |= {"set-up": set_up, "recovery": seconds, "recovered": share}
    found = {name: _some(value) for name, value in values.items()}
    counts = {LATE: told.late, SATURATED: told.saturated}
    counts |= {SHORTFALL + what: count for what, count in told.shortfalls.items()}
    found |= {name: np.array([count], np.float64) for name, count in counts.items() if count}
    spread = deliveries.latency_s
    wanted = np.linspace(0.0, 1.0, 101) if spread.count else np.zeros(0)
    found[LATENCY] = np.array([spread.quantile(share) for share in wanted.tolist()], np.float64)
    return found


def _each(amount: float, told: Outcome) -> float:
    notified = told.delivered + told.caught_up
    return amount / notified if notified else np.nan


def _some(value: float) -> npt.NDArray[np.float64]:
    """A value as observations: what is not finite was not observed."""
    return np.array([value] if np.isfinite(value) else [], np.float64)


def _accounts(
    deliveries: DeliveryAccounting,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """[events] times of publication, ascending, and whether all who should hear of one did.

    Events that nobody should hear of are left out.
    """
    asked = [(event, at, wanted) for event, at, wanted in deliveries.asked if wanted > 0]
    events = np.concatenate(
        [np.zeros(0, np.int64), *(event for event, _, _ in deliveries.told or [])]
    )
    got = np.bincount(events, minlength=1 + max((event for event, _, _ in asked), default=0))
    times = np.array([at for _, at, _ in asked], np.float64)
    return times, np.array([got[event] >= wanted for event, _, wanted in asked], bool)
