"""Verdicts on DRIP §V-C: the printed mean and meeting time against exact values and draws."""

from collections.abc import Iterator
from functools import partial

from halfway.papers.claims.thresholds import MEAN_TOLERANCE, MEETING_TOLERANCE
from halfway.papers.drip.analysis import exact_mean, printed_mean, printed_meeting
from halfway.pipeline.reproduction.estimates import ratio
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import judge_number, judge_order
from halfway.pipeline.reproduction.verdict import Verdict

_row = partial(Verdict, "drip", "section-5c")

DESTINATIONS, COPIES = (1, 2, 4, 5, 8), (1, 2, 4)
GRIDS, BROKERS = (400, 2500), (5, 10, 20, 50)


def judge_analysis(found: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's analysis: [drip §V-C] E T as printed; 1/λ, and its dependence on k."""
    for destinations in DESTINATIONS:
        for copies in COPIES:
            yield _judge_mean(found, destinations, copies)
    for grid in GRIDS:
        for brokers in BROKERS:
            yield _judge_meeting(found, grid, brokers)
        yield _judge_brokers(found, grid)


def _judge_mean(found: Summaries, destinations: int, copies: int) -> Verdict:
    seen = found.find("wait", destinations=destinations, copies=copies)
    estimate = (seen.mean, seen.mean_low, seen.mean_high)
    value = printed_mean(destinations, copies)
    opinion, reason = judge_number(value, *estimate, relative=MEAN_TOLERANCE, rounding=0.0)
    if opinion == "differs":
        opinion = "impossible as printed"
        reason = (
            f"equation (1) has the mean H_l/(mλ) = {exact_mean(destinations, copies):.4g}; {reason}"
        )
    return _row(
        {"l": destinations, "m": copies}, "mean time until all l have it, in 1/λ", value,
        *estimate, seen.networks, "(l² + 3l)/(4mλ) against draws of equation (1)", opinion, reason,
    )  # fmt: skip


def _judge_meeting(found: Summaries, grid: int, brokers: int) -> Verdict:
    seen = found.find("meeting", grid=grid, brokers=brokers)
    estimate = (seen.mean, seen.mean_low, seen.mean_high)
    value = printed_meeting(grid, brokers)
    return _row(
        {"N": grid, "k": brokers}, "mean steps until two regions meet (1/λ)", value, *estimate,
        seen.networks, "two walks on a torus within α, both moving; log natural",
        *judge_number(value, *estimate, relative=MEETING_TOLERANCE),
    )  # fmt: skip


def _judge_brokers(found: Summaries, grid: int) -> Verdict:
    few, many = (found.find("meeting", grid=grid, brokers=k) for k in (BROKERS[0], BROKERS[-1]))
    printed = printed_meeting(grid, BROKERS[0]) / printed_meeting(grid, BROKERS[-1])
    estimate = ratio(few, many, "mean")
    opinion, reason = judge_order(*estimate)
    return _row(
        {"N": grid}, f"1/λ at k = {BROKERS[0]} / k = {BROKERS[-1]}",
        "the number of broker nodes decreases", *estimate,
        few.networks, "two walks on a torus within α; then \"ET_mcmd is decreasing\"", opinion,
        f"{reason}; equation (2) has {printed:.3g}",
    )  # fmt: skip
