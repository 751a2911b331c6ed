"""The metrics over time in a comparison: delivery ratio, latency and messages of a run in bins of
equal length.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from halfway.comparison.evaluation.comparison_results import Results
from halfway.pipeline.plan.run import ENDS, STARTS
from halfway.sim.engine.state import SENT
from halfway.sim.metrics.deliveries import DeliveryAccounting
from halfway.sim.metrics.group_accounting import BINS, GroupQuality
from halfway.sim.simulation import Simulation

Floats = npt.NDArray[np.float64]
# Metric -> its label with its unit. The first two count at the time of the publication.
OVER_TIME = {
    "delivery-ratio-over-time": "delivery ratio",
    "latency-p50-over-time": "latency p50 [s]",
    "messages-over-time": "messages / s",
}
OF_GROUPS = {
    "view-completeness-over-time": "view completeness",
    "view-accuracy-over-time": "view accuracy",
}
ALL_OVER_TIME = OF_GROUPS | OVER_TIME
# Observations of a run that describe bins, beside those of the metrics with one value.
OF_BINS = {name for metric in ALL_OVER_TIME for name in (metric, metric + STARTS, metric + ENDS)}
COLUMNS = ("system", "metric", "t0_s", "t1_s", "mean", "networks")


def advance_in_bins(simulation: Simulation, first: float) -> tuple[float, Floats]:
    """Advance a simulation to its end; return its transmissions before `first`, and its
    transmissions over time, in bins.
    """
    ends = simulation.seconds * np.arange(1, BINS + 1) / BINS
    counted = {0.0: 0.0}
    for t in sorted({*ends.tolist(), first}):
        simulation.advance(t)
        counted[t] = float(simulation.engine.counters.traffic[:, SENT].sum())
    upto = np.array([counted[t] for t in (0.0, *ends.tolist())])
    return counted[first], np.diff(upto) * (BINS / simulation.seconds)


def encoded(columns: Mapping[str, Floats], seconds: float) -> dict[str, Floats]:
    """Return metrics over time as observations of a run: the values of bins, their begins and ends.

    A bin without a value is left out.
    """
    encoded_columns: dict[str, Floats] = {}
    for metric, column in columns.items():
        # An observation has no missing values.
        known = np.flatnonzero(np.isfinite(column))
        encoded_columns[metric] = column[known]
        encoded_columns[metric + STARTS] = seconds * known / BINS
        encoded_columns[metric + ENDS] = seconds * (known + 1) / BINS
    return encoded_columns


def decoded(observed: Mapping[str, Sequence[float]], metric: str) -> Floats:
    """Return a metric of a run over time, [BINS], from its observations, or nan for bins without a
    value.
    """
    column = np.full(BINS, np.nan)
    starts, ends = (np.array(observed.get(metric + which, ())) for which in (STARTS, ENDS))
    column[np.rint(starts / (ends - starts)).astype(np.int64)] = observed.get(metric, ())
    return column


def over_time(deliveries: DeliveryAccounting, seconds: float) -> dict[str, Floats]:
    """Return two metrics over time of a run, delivery ratio and median latency, or nan for bins
    without a value.

    The accounting has logs. A notification belongs to the bin in which its event was published.
    """
    log = deliveries.publication_log
    at = np.array([t for _, t, _ in log], np.float64)
    due = np.array([expected for _, _, expected in log], np.float64)
    bin_of = np.minimum((at / seconds * BINS).astype(np.int64), BINS - 1)
    place = {event: k for k, (event, _, _) in enumerate(log)}
    logged = deliveries.delivery_log or []
    events = [place[event] for events, _, _ in logged for event in events.tolist()]
    latency = np.concatenate([np.zeros(0), *(seconds for _, _, seconds in logged)])
    of = bin_of[np.array(events, np.int64)]
    expected = np.bincount(bin_of, due, BINS)
    ratio, median = np.full((2, BINS), np.nan)
    has_events = expected > 0
    ratio[has_events] = np.bincount(of, minlength=BINS)[has_events] / expected[has_events]
    for k in np.unique(of):
        median[k] = np.median(latency[of == k])
    return {"delivery-ratio-over-time": ratio, "latency-p50-over-time": median}


def groups_over_time(groups: GroupQuality) -> dict[str, Floats]:
    """Return two metrics over time of a run with groups, completeness and accuracy of the views, or
    nan for bins without a value.
    """
    values = groups.completeness_over_time, groups.accuracy_over_time
    return {name: np.array(value) for name, value in zip(OF_GROUPS, values, strict=True)}


def timeline_rows(results: Results) -> Iterator[dict[str, object]]:
    """Yield metrics over time as rows, one for each bin of a timeline: the parameters of a sweep,
    then `COLUMNS`.
    """
    for line in results.timelines:
        for k, (mean, networks) in enumerate(zip(line.mean, line.networks, strict=True)):
            ends = line.seconds * k / BINS, line.seconds * (k + 1) / BINS
            values = line.system, line.metric.removesuffix("-over-time"), *ends, mean, networks
            yield {**results.points[line.point], **dict(zip(COLUMNS, values, strict=True))}
