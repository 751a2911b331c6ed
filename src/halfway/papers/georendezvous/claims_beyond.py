"""Paper 3, judged beyond Figure 3: signalling, node loss, mobility, other systems."""

from collections.abc import Iterator

from halfway.papers.claims.thresholds import NEAR, percent
from halfway.papers.georendezvous.points import CELLS
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import judge_number, judge_order
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import ratio
from halfway.pipeline.statistics.summary import Summary

POINTS = (1, 2, 4, 8)
# System, points, tried, replicas: a single point as in GHT, the paper's choice, this choice with
# divided keys, and directional walks, which lose the same nodes as the paper's choice.
DESIGNS = (
    (CELLS, 1, 1, 0),
    (CELLS, 8, 2, 0),
    (CELLS, 8, 2, 1),
    (CELLS, 8, 2, 2),
    ("directional-walk", 8, 2, 0),
)
LOSSES = ("one", "all but one", "all", "a tenth of all")
LOST = (
    ("delivered", "share of events delivered in the 30 s after"),
    ("outage", "seconds until events arrive again"),
    ("entries", "entries that a node stores"),
)
SYSTEMS = (CELLS, "single-point", "directional-walk", "shortest-path")
SPEEDS = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)  # m/s, with radios of 100 m
MOVING = (
    ("best of tried", "share of time with the best of the 2 closest points"),
    ("best of all", "share of time with the best of all 8 points"),
    ("delivered", "share of events delivered"),
    ("signalling", "transmissions of a node in a minute, without beacons and events"),
    ("crossings", "new cells of a node in a minute"),
    ("stranded", "messages of a run without a route"),
)


def _unpublished(
    figure: str,
    cell: dict[str, Scalar],
    metric: str,
    seen: Summary,
    interpretation: str,
    estimate: tuple[float, float, float] | None = None,
) -> Verdict:
    """Return a verdict row beyond GeoRendezvous's Figure 3, without a published value. estimate:
    the mean of `seen` unless given.
    """
    return Verdict(
        "georendezvous", figure, cell, metric, None,
        *(estimate or (seen.mean, seen.mean_low, seen.mean_high)), seen.networks, interpretation,
        "ours open", "the paper does not measure it",
    )  # fmt: skip


def judge_signalling(summaries: Summaries) -> Iterator[Verdict]:
    """Judge GeoRendezvous's signalling beyond Figure 3: [geo §4] "For n rendezvous, this makes 3(n
    - 1) unnecessary messages", exactly.
    """
    for points in POINTS:
        seen, due = summaries.find("unneeded", points=points), 3.0 * (points - 1)
        estimate = seen.mean, seen.mean_low, seen.mean_high
        judged = judge_number(due, *estimate, relative=0.0, rounding=0.0)
        if seen.minimum == seen.maximum == due:
            judged = "agrees", f"exactly {due:.0f} for each of {seen.units} subscribers"
        yield Verdict(
            "georendezvous", "signalling", {"points": points}, "unneeded messages a subscriber",
            due, *estimate, seen.networks,
            "end-to-end subscriptions, notifications and prunes, beyond one subscription and one "
            "notification", *judged,
        )  # fmt: skip


def judge_loss(summaries: Summaries) -> Iterator[Verdict]:
    """Judge GeoRendezvous's cost of node loss, beyond Figure 3; the paper has no value."""
    for system, points, _, replicas in DESIGNS:
        for loss in LOSSES:
            for metric, words in LOST:
                seen = summaries.find(
                    metric, system=system, points=points, keepers=replicas, loss=loss
                )
                cell: dict[str, Scalar] = {"loss": loss, "system": _label(system)}
                if system == CELLS:
                    cell |= {"points": points, "replicas": replicas or "all"}
                interpretation = (
                    "renewal every 10 s, lifetime 25 s, beacons every second, missed after 2.5"
                )
                yield _unpublished("beyond-loss", cell, words, seen, interpretation)


def judge_mobility(summaries: Summaries) -> Iterator[Verdict]:
    """Judge GeoRendezvous's mobility, beyond Figure 3: a longer path for a while, lost events,
    signalling.
    """
    for speed in SPEEDS:
        for metric, words in MOVING:
            yield _unpublished(
                "beyond-mobility", {"speed": speed}, words, summaries.find(metric, speed=speed),
                "random waypoint, radios of 100 m; renewal every 10 s, beacons every second",
            )  # fmt: skip


def judge_rivals(summaries: Summaries) -> Iterator[Verdict]:
    """Judge GeoRendezvous's paths beyond Figure 3, against shortest paths between nodes, the other
    interpretation of "direct path", and its rivals' on the same networks.
    """
    shortest = summaries.find("hops", system="shortest-path")
    cells = summaries.find("hops", system=CELLS)
    share = ratio(cells, shortest, "mean")
    for claim in (
        "latencies comparable to a direct publisher-subscriber path",
        "close to the average direct publisher-subscriber path",
    ):
        yield Verdict(
            "georendezvous", "beyond-systems", {"system": _label(CELLS), "points": 8, "tried": 2},
            "hops / hops of a shortest path", claim, *share, cells.networks,
            "the direct path is a shortest path between nodes; ratio of averages; "
            f'"close" and "comparable" mean at most {percent(NEAR)} longer',
            *judge_order(*share, equal=1 + NEAR),
        )  # fmt: skip
    for system in SYSTEMS[1:-1]:
        seen = summaries.find("hops", system=system)
        yield _unpublished(
            "beyond-systems", {"system": _label(system)}, "hops / hops of a shortest path", seen,
            "between nodes, ratio of averages", ratio(seen, shortest, "mean"),
        )  # fmt: skip
    yield _unpublished(
        "beyond-systems", {"system": "directional-walk"}, "steps until the walks meet",
        summaries.find("set up", system="directional-walk"), "of both walks together",
    )  # fmt: skip


def _label(system: str) -> str:
    return "georendezvous" if system == CELLS else system
