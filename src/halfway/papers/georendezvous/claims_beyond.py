"""What is counted or measured beyond Figure 3: signalling, node loss, other systems."""

from collections.abc import Iterator
from functools import partial

from halfway.pipeline.judge import judge_number
from halfway.pipeline.measure import ratio
from halfway.pipeline.study import Summaries
from halfway.pipeline.verdict import Verdict

_row = partial(Verdict, "georendezvous")

POINTS = (1, 2, 4, 8)
DESIGNS = ((1, 1), (8, 2))  # points, tried: a GHT-like single point, and the paper's choice
LOSSES = ("all but one", "all")
SYSTEMS = ("cell-hash", "single-point", "directional-walk", "shortest-path")
NOT_THERE = "the paper does not measure it"


def judge_signalling(found: Summaries) -> Iterator[Verdict]:
    """[geo §4] "For n rendezvous, this makes 3(n - 1) unnecessary messages", exactly."""
    for points in POINTS:
        seen, due = found.find("unneeded", points=points), 3.0 * (points - 1)
        exact = seen.minimum == seen.maximum == due
        yield _row(
            "signalling", {"points": points}, "unneeded messages a subscriber", due, seen.mean,
            seen.mean_low, seen.mean_high, seen.networks,
            "subscriptions, notifications and prunes from end to end beyond one and one",
            *(
                ("agrees", f"exactly {due:.0f} for each of {seen.units} subscribers")
                if exact
                else judge_number(
                    due, seen.mean, seen.mean_low, seen.mean_high, relative=0.0, rounding=0.0
                )
            ),
        )  # fmt: skip


def judge_loss(found: Summaries) -> Iterator[Verdict]:
    """What a loss of members of the rendezvous cell costs; nothing printed to hold it against."""
    for points, _ in DESIGNS:
        for loss in LOSSES:
            for metric, words in (
                ("delivered", "share of events delivered in the 30 s after"),
                ("outage", "seconds until events come again"),
            ):
                seen = found.find(metric, points=points, loss=loss)
                yield _row(
                    "beyond-loss", {"loss": loss, "points": points}, words, None, seen.mean,
                    seen.mean_low, seen.mean_high, seen.networks,
                    "renewal every 10 s, lifetime 25 s, beacons every second, missed after 2.5",
                    "not comparable", NOT_THERE,
                )  # fmt: skip


def judge_rivals(found: Summaries) -> Iterator[Verdict]:
    """Hops of a notification under other systems, against shortest paths on the same networks."""
    shortest = found.find("hops", system="shortest-path")
    for system in SYSTEMS[:-1]:
        seen = found.find("hops", system=system)
        yield _row(
            "beyond-systems", {"system": system}, "hops / hops of a shortest path", None,
            *ratio(seen, shortest, "mean"), seen.networks, "between nodes, ratio of averages",
            "not comparable", NOT_THERE,
        )  # fmt: skip
    walks = found.find("set up", system="directional-walk")
    yield _row(
        "beyond-systems", {"system": "directional-walk"}, "steps until the walks meet", None,
        walks.mean, walks.mean_low, walks.mean_high, walks.networks, "of both walks together",
        "not comparable", NOT_THERE,
    )  # fmt: skip
