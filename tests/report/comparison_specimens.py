"""Invented results and replays of a comparison, with everything that a page can show."""

import numpy as np
from msgspec.structs import replace

from halfway.comparison.evaluation.comparison_results import (
    Curve,
    DecisionRule,
    MeanInterval,
    Metric,
    Need,
    ResultCell,
    Results,
)
from halfway.comparison.evaluation.decision import decide
from halfway.comparison.replay.replay import Replay
from halfway.comparison.replay.world import Columns, ReplayWorld
from halfway.report.comparison.decision_text import worded
from halfway.sim.metrics.nodes import NodeTable
from halfway.world.graphs.unit_disk import connected_unit_disk

SYSTEMS = ("flooding", "gossip", "directional-walk", "drip")
METRICS = (
    Metric(
        "delivery-ratio",
        "delivery ratio",
        "",
        "Deliveries of those <expected> & due.",
        "more",
        most=1.0,
    ),
    Metric("latency-p50", "latency p50", "s", "From publication to delivery.", "less"),
    Metric("messages-per-notification", "messages / notification", "", "Transmissions.", "less"),
    Metric("energy", "energy", "J", "Of all radios.", "less"),
    Metric("recovery-time", "recovery time", "s", "From a fault to complete events.", "less"),
)  # recovery time has no value
_LEVEL = {
    "delivery-ratio": (0.998, 0.97, 0.71, 0.88), "latency-p50": (0.021, 2.4, 0.31, 0.4),
    "messages-per-notification": (31.0, 120.0, 9.5, 44.0), "energy": (210.0, 420.0, 95.0, 160.0),
    "recovery-time": (float("nan"),) * 4,
}  # fmt: skip
NAN = MeanInterval(float("nan"), float("nan"), float("nan"))


def cell(point: int, system: str, metric: str, replicates: int) -> ResultCell:
    """One invented cell; the second point is a little worse."""
    place = SYSTEMS.index(system)
    level = _LEVEL[metric][place] * (1 + 0.1 * point)
    generator = np.random.default_rng([point, place, len(metric)])
    values = level * (1 + 0.04 * generator.standard_normal(replicates))
    half = float(0.03 * level)
    mean = MeanInterval(
        float(values.mean()), float(values.mean()) - half, float(values.mean()) + half
    )
    gap = level - _LEVEL[metric][0]
    difference = None if place == 0 else MeanInterval(gap, gap - half, gap + half)
    if metric == "recovery-time":
        mean, values = NAN, np.full(replicates, np.nan)
    best = (system, metric) in {
        ("directional-walk", "messages-per-notification"), ("flooding", "latency-p50")
    }  # fmt: skip
    there = replicates if np.isfinite(level) else 0
    return ResultCell(point, system, metric, mean, there, difference, best, tuple(values.tolist()))


def curve(point: int, system: str) -> Curve:
    """Latencies over two decades."""
    level = _LEVEL["latency-p50"][SYSTEMS.index(system)]
    return Curve(point, system, tuple((level * np.geomspace(0.1, 12.0, 101)).tolist()))


def results(sweep: bool = False, replicates: int = 10) -> Results:
    """The whole specimen with a decision; with a sweep of three settings on request."""
    found = _results(sweep, replicates)
    rule = DecisionRule((Need("delivery-ratio", 0.8), Need("latency-p50", 2.0)), "energy")
    places = range(len(found.points))
    decisions = (
        worded(decide(place, METRICS, found.cells, rule), METRICS, replicates) for place in places
    )
    return replace(found, decisions=tuple(decisions))


def _results(sweep: bool, replicates: int) -> Results:
    points = tuple({"workload.events": n} for n in (10, 30, 100)) if sweep else ({},)
    return Results(
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
        unsupported={"georendezvous": "it needs positions, and this network has none"},
        notes=("A note.",),
        methods=("Hellos are free: they are not sent.",),
        errors=1,
        digest="5f3a9c01d2e47b68",
        wall_seconds=83.0,
    )  # fmt: skip


# Names that would break a page which did not escape them, and plain ones.
HOSTILE = ('<b id="x">&amp;', "</script><script>alert(1)</script>", "<!--<script>", "a\u202e b")
NAMES = (*HOSTILE, *(f"mesh-{k:03d}" for k in range(4, 200)))


def nodes(n: int = 200, placed: bool = True) -> NodeTable:
    """Nodes of falling load; three of four lost notifications."""
    generator = np.random.default_rng(1)
    load = np.arange(n)[::-1].copy()
    return NodeTable(
        NAMES[:n], generator.random((n, 2)) if placed else None, load, load, load * 112,
        load * 112, load * 0.01, np.full(n, 20.0), np.full(n, 3), np.arange(n) % 4,
    )  # fmt: skip


def world(
    n: int = 200, moves: bool = False, seconds: float = 20.0, names: tuple[str, ...] | None = None
) -> ReplayWorld:
    """Nodes on a square, linked where they are near; twelve events of two topics."""
    network = connected_unit_disk(n, 1.9 / np.sqrt(n), seed=1).network
    generator = np.random.default_rng(n)
    frames = None
    if moves:
        assert network.position is not None
        drift = np.cumsum(0.02 * generator.standard_normal((11, n, 2)), axis=0)
        frames = (network.position + drift).astype(np.float32)
    events = np.arange(12, dtype=np.int32)
    wanted = generator.permutation(n)[:30].astype(np.int32)
    return ReplayWorld(
        network, seconds, frames, 0.15 if moves else None,
        {"t": np.arange(12) + 1.0, "row": wanted[::-1][:12], "topic": events % 2,
         "event": events},
        {"row": wanted[:20], "topic": np.arange(20, dtype=np.int32) % 2},
        0,
        names,
    )  # fmt: skip


def table(rows: int, seconds: float, seed: int, **most: int) -> Columns:
    """Columns drawn below their ends, at times in order."""
    generator = np.random.default_rng([seed, rows])
    drawn = {name: generator.integers(0, end, rows).astype(np.int32) for name, end in most.items()}
    return {"t": np.sort(generator.uniform(0.0, seconds, rows)), **drawn}


def replay(system: str, world: ReplayWorld, rows: int = 4000) -> Replay:
    """A replay with something in every table; events spread from neighbour to neighbour."""
    n, seconds = world.network.n, world.seconds
    changes = {
        "t": np.array([4.0, 6.0, 8.0]), "what": np.array([0, 2, 1], np.int32),
        "a": np.array([3, 5, 3], np.int32),
        "b": np.array([-1, int(world.network.neighbours(5)[0]), -1], np.int32),
    }  # fmt: skip
    reached = spread(world)
    expected = tuple(world.expected(changes))
    received = [
        (t, row, event)
        for t, row, event in zip(reached["t"], reached["row"], reached["event"], strict=True)
        if row in expected[event] and row % 5
    ]
    tables = {
        "sent": table(rows, seconds, 1, source=n, to=1, role=4, event=12),
        "reached": reached,
        "delivered": {
            "t": np.array([one[0] for one in received]),
            "row": np.array([one[1] for one in received], np.int32),
            "event": np.array([one[2] for one in received], np.int32),
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
        system, world, tables, labels, "walks met", (0.0, 0.0, 0.1), totals, seconds, expected
    )


def spread(world: ReplayWorld) -> Columns:
    """Each event along shortest paths, ten milliseconds a hop."""
    t, rows, sources, events = [], [], [], []
    some = world.publications
    for event, (at, publisher) in enumerate(zip(some["t"], some["row"], strict=True)):
        seen, front, when = {int(publisher)}, [int(publisher)], float(at)
        while front:
            when += 0.01
            met = []
            for source in front:
                for row in world.network.neighbours(source).tolist():
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
