"""Bloom filters on the overlay, which paper 2 leaves out of its scope, measured and judged."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

from halfway.papers.claims.thresholds import BAND, percent
from halfway.papers.walk_overlay.claims_path import SIZES
from halfway.papers.walk_overlay.paired_estimates import judge_ratio, verdict_row
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import judge_number, ours
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import ratio
from halfway.pipeline.statistics.summary import Summary

BITS = (2, 4, 8, 16, 32)  # of every filter, for each subscription
INITIATORS = 50
SEEN = 8  # most bits each at which false positives are frequent enough to count


def judge_bloom(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the overlay's Bloom filters, not in the paper: no losses, false positives as predicted,
    and the cost in traffic."""
    for content, n, bits in product((False, True), SIZES, BITS):
        matched_by = "content" if content else "topic"
        cell: dict[str, Scalar] = {"n": n, "matched by": matched_by, "bits each": bits}
        point: dict[str, Any] = {"n": n, "content": content, "bits each": bits}
        yield from _of_filters(partial(summaries.find, **point), cell, not content and bits <= SEEN)


def _of_filters(
    at: Callable[[str], Summary], cell: dict[str, Scalar], rated: bool
) -> Iterator[Verdict]:
    lost, exact, bloom, none = (at(metric) for metric in ("lost", "exact", "bloom", "none"))
    estimate = (lost.mean, lost.mean_low, lost.mean_high)
    yield verdict_row(
        "bloom", cell, "deliveries lost", None, *estimate, lost.networks,
        "0 expected: matching events that a subscriber does not receive, without faults",
        *ours(judge_number(0.0, *estimate, relative=0.0, rounding=0.0)),
    )  # fmt: skip
    if rated:
        rate = ratio(at("false"), at("predicted"), "mean")
        yield verdict_row(
            "bloom", cell, "false positives, measured / predicted", None, *rate, lost.networks,
            f"within {percent(BAND)} of 1: (1 - exp(-k items / bits))^k of each filter's own items",
            *ours(judge_number(1.0, *rate, relative=BAND, rounding=0.0)),
        )  # fmt: skip
    yield judge_ratio(
        "bloom", cell, "transmissions of an event, filters / none", None, bloom, none,
        f"exact tables: {exact.mean:.1f}, filters: {bloom.mean:.1f}, none: {none.mean:.1f}",
    )  # fmt: skip
    yield judge_ratio(
        "bloom", cell, "records of an unsubscription, recomputed / counting", None,
        at("chunks"), at("links"), "recomputed: the chunks that changed; counting: a record a link",
    )  # fmt: skip
