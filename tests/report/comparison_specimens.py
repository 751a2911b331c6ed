"""A made-up comparison with the shape of a real one; every opinion present, numbers invented."""

import numpy as np

from halfway.comparison.replay.replay import Replay
from halfway.comparison.replay.scene import Columns, Stage
from halfway.comparison.results import Cell, Compared, Curve, Interval, Metric
from halfway.world.graphs.unit_disk import connected_unit_disk

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
        unsupported={"cell-hash": "it needs positions, and this network has none"},
        notes=("Hellos are free: they are not sent.",),
        errors=1,
        digest="5f3a9c01d2e47b68",
        wall_seconds=83.0,
    )  # fmt: skip


def stage(n: int = 200, moves: bool = False, seconds: float = 20.0) -> Stage:
    """Nodes on a square, linked where they are near; twelve events of two topics."""
    network = connected_unit_disk(n, 1.9 / np.sqrt(n), seed=1).network
    dice = np.random.default_rng(n)
    frames = None
    if moves:
        assert network.position is not None
        drift = np.cumsum(0.02 * dice.standard_normal((11, n, 2)), axis=0)
        frames = (network.position + drift).astype(np.float32)
    events = np.arange(12, dtype=np.int32)
    wanted = dice.permutation(n)[:30].astype(np.int32)
    return Stage(
        network, seconds, frames, 0.15 if moves else None,
        {"t": np.arange(12) + 1.0, "row": wanted[::-1][:12], "topic": events % 2,
         "event": events},
        {"row": wanted[:20], "topic": np.arange(20, dtype=np.int32) % 2},
        0,
    )  # fmt: skip


def table(rows: int, seconds: float, seed: int, **most: int) -> Columns:
    """Columns drawn below their ends, at times in order."""
    dice = np.random.default_rng([seed, rows])
    drawn = {name: dice.integers(0, end, rows).astype(np.int32) for name, end in most.items()}
    return {"t": np.sort(dice.uniform(0.0, seconds, rows)), **drawn}


def replay(system: str, on: Stage, rows: int = 4000) -> Replay:
    """A replay with something in every table; events spread from neighbour to neighbour."""
    n, seconds = on.network.n, on.seconds
    changes = {
        "t": np.array([4.0, 6.0, 8.0]), "what": np.array([0, 2, 1], np.int32),
        "a": np.array([3, 5, 3], np.int32),
        "b": np.array([-1, int(on.network.neighbours(5)[0]), -1], np.int32),
    }  # fmt: skip
    reached = spread(on)
    expected = tuple(on.expected(changes))
    hears = [
        (t, row, event)
        for t, row, event in zip(reached["t"], reached["row"], reached["event"], strict=True)
        if row in expected[event] and row % 5
    ]
    tables = {
        "sent": table(rows, seconds, 1, source=n, to=1, role=4, event=12),
        "reached": reached,
        "delivered": {
            "t": np.array([one[0] for one in hears]),
            "row": np.array([one[1] for one in hears], np.int32),
            "event": np.array([one[2] for one in hears], np.int32),
        },
        "steps": table(rows // 10, seconds, 2, source=n, row=n, label=2, topic=2),
        "met": table(3, seconds, 3, row=n, topic=2),
        "links": table(20, seconds, 4, a=n, b=n, made=2),
        "belongs": table(n, 2.0, 5, row=n, broker=12),
        "homes": table(4, seconds, 6, row=n, topic=2),
        "changes": changes,
    }
    labels = ("walk of the publisher", "walk of the subscriber")
    totals = {"sent": 2 * rows, "reached": len(reached["t"]), "steps": rows // 10}
    return Replay(
        system, on, tables, labels, "walks met", (0.0, 0.0, 0.1), totals, seconds, expected
    )


def spread(on: Stage) -> Columns:
    """Each event along shortest paths, ten milliseconds a hop."""
    t, rows, sources, events = [], [], [], []
    told = on.publications
    for event, (at, publisher) in enumerate(zip(told["t"], told["row"], strict=True)):
        seen, front, when = {int(publisher)}, [int(publisher)], float(at)
        while front:
            when += 0.01
            met = []
            for source in front:
                for row in on.network.neighbours(source).tolist():
                    if row not in seen:
                        seen.add(row)
                        met.append(row)
                        t.append(when)
                        rows.append(row)
                        sources.append(source)
                        events.append(event)
            front = met
    columns = {"row": rows, "source": sources, "event": events}
    order = np.argsort(t, kind="stable")
    found = {name: np.array(column, np.int32)[order] for name, column in columns.items()}
    return {"t": np.array(t)[order], **found}
