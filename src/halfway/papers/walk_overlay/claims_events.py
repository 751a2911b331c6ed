"""Bloom filters on the overlay, which paper 2 leaves out of its scope, measured and judged."""

from collections.abc import Callable, Iterator
from functools import partial

from halfway.papers.walk_overlay.claims_path import SIZES
from halfway.pipeline.judge import judge_number, judge_order
from halfway.pipeline.measure import ratio
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.study import Summaries, Summary
from halfway.pipeline.verdict import Verdict

_row = partial(Verdict, "walk-overlay")

BITS = (2, 4, 8, 16, 32)  # of every filter, for each subscription
INITIATORS = 50
SEEN = 8  # most bits each at which false positives are frequent enough to count
BAND = 0.15  # tolerance of the rate of false positives, relative to the formula's


def judge_bloom(found: Summaries) -> Iterator[Verdict]:
    """Not in the paper: no losses, false positives as predicted, and the cost in traffic."""
    for content in (False, True):
        for n in SIZES:
            for bits in BITS:
                cell: dict[str, Scalar] = {
                    "n": n, "matched by": "content" if content else "topic", "bits each": bits,
                }  # fmt: skip
                point: dict[str, Scalar] = {"n": n, "content": content, "bits each": bits}
                at = partial(_one, found, point)
                yield from _of_filters(at, cell, not content and bits <= SEEN)


def _one(found: Summaries, point: dict[str, Scalar], metric: str) -> Summary:
    return found.find(metric, **point)


def _of_filters(
    at: Callable[[str], Summary], cell: dict[str, Scalar], rated: bool
) -> Iterator[Verdict]:
    lost, exact, bloom, none = (at(metric) for metric in ("lost", "exact", "bloom", "none"))
    estimate = (lost.mean, lost.mean_low, lost.mean_high)
    yield _row(
        "bloom", cell, "deliveries lost", 0.0, *estimate, lost.networks,
        "matching events that a subscriber does not receive, without faults",
        *judge_number(0.0, *estimate, relative=0.0, rounding=0.0),
    )  # fmt: skip
    if rated:
        rate = ratio(at("false"), at("predicted"), "mean")
        yield _row(
            "bloom", cell, "false positives, measured / predicted", 1.0, *rate, lost.networks,
            f"within {100 * BAND:.0f} %: (1 - exp(-k items / bits))^k of each filter's own items",
            *judge_number(1.0, *rate, relative=BAND, rounding=0.0),
        )  # fmt: skip
    share = ratio(bloom, none, "mean")
    yield _row(
        "bloom", cell, "transmissions of an event, filters / none", "fewer", *share, none.networks,
        f"exact tables: {exact.mean:.1f}, filters: {bloom.mean:.1f}, none: {none.mean:.1f}",
        *judge_order(*share),
    )  # fmt: skip
    again = ratio(at("chunks"), at("links"), "mean")
    yield _row(
        "bloom", cell, "records of an unsubscription, recomputed / counting", "fewer", *again,
        none.networks, "recomputed: the chunks that changed; counting: a record a link",
        *judge_order(*again),
    )  # fmt: skip
