"""A made-up comparison with the shape of a real one; every opinion present, numbers invented."""

import numpy as np

from halfway.comparison.compared import Cell, Compared, Curve, Interval, Metric

SYSTEMS = ("flooding", "gossip", "directional-walk", "voronoi-brokers")
METRICS = (
    Metric("delivery-ratio", "delivered", "", "Deliveries of those <expected> & due.", "more"),
    Metric("latency-median", "latency, median", "s", "From publication to delivery.", "less"),
    Metric("messages", "sent a delivery", "", "Transmissions for each delivery.", "less"),
    Metric("energy", "energy", "J", "What all radios drew.", "less"),
    Metric("recovery", "recovery", "s", "From a fault until all hear again.", "less"),
)
_LEVEL = {
    "delivery-ratio": (0.998, 0.97, 0.71, 0.88), "latency-median": (0.021, 2.4, 0.31, 0.4),
    "messages": (31.0, 120.0, 9.5, 44.0), "energy": (210.0, 420.0, 95.0, 160.0),
    "recovery": (float("nan"),) * 4,
}  # fmt: skip
NAN = Interval(float("nan"), float("nan"), float("nan"))


def cell(point: int, system: str, metric: str, replicates: int) -> Cell:
    """One invented cell; the second point is a little worse."""
    place = SYSTEMS.index(system)
    level = _LEVEL[metric][place] * (1 + 0.1 * point)
    dice = np.random.default_rng([point, place, len(metric)])
    values = level * (1 + 0.04 * dice.standard_normal(replicates))
    half = float(0.03 * level)
    mean = Interval(float(values.mean()), float(values.mean()) - half, float(values.mean()) + half)
    gap = level - _LEVEL[metric][0]
    against = None if place == 0 else Interval(gap, gap - half, gap + half)
    if metric == "recovery":
        mean, values = NAN, np.full(replicates, np.nan)
    best = (system, metric) in {("directional-walk", "messages"), ("flooding", "latency-median")}
    there = replicates if np.isfinite(level) else 0
    return Cell(point, system, metric, mean, there, against, best, tuple(values.tolist()))


def curve(point: int, system: str) -> Curve:
    """Latencies over two decades."""
    level = _LEVEL["latency-median"][SYSTEMS.index(system)]
    return Curve(point, system, tuple((level * np.geomspace(0.1, 12.0, 101)).tolist()))


def compared(sweep: bool = False, replicates: int = 10) -> Compared:
    """The whole specimen; with a sweep of three settings if asked for."""
    points = tuple({"workload.events": n} for n in (10, 30, 100)) if sweep else ({},)
    return Compared(
        title="sensor <field>",
        scenario={"title": "sensor <field>", "network": {"kind": "unit-disk", "n": 500}},
        systems=SYSTEMS,
        baseline="flooding",
        points=points,
        replicates=replicates,
        metrics=METRICS,
        cells=tuple(
            cell(point, system, metric.name, replicates)
            for point in range(len(points)) for system in SYSTEMS for metric in METRICS
        ),
        curves=tuple(curve(p, system) for p in range(len(points)) for system in SYSTEMS),
        unfit={"cell-hash": "it needs positions, and this network has none"},
        notes=("Hellos are free: they are not sent.",),
        errors=1,
        digest="5f3a9c01d2e47b68",
        wall_seconds=83.0,
    )  # fmt: skip
