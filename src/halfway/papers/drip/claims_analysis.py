"""Verdicts on DRIP §V-C: the printed mean and meeting time against exact values and draws."""

import math
from collections.abc import Iterator
from functools import partial

from halfway.papers.claims.thresholds import MEAN_TOLERANCE, MEETING_TOLERANCE, NEAR
from halfway.papers.drip.analysis import (
    brokers_for,
    corrected_delivery,
    exact_mean,
    printed_delivery,
    printed_mean,
    printed_meeting,
)
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import Judged, judge_number, judge_order, ours
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import ratio
from halfway.pipeline.statistics.summary import Summary

_row = partial(Verdict, "drip", "section-5c")

DESTINATIONS, COPIES = (1, 2, 4, 5, 8), (1, 2, 4)
GRIDS, BROKERS = (400, 2500), (5, 10, 20, 50)
# Where k is derived from a requested time: N, l, m; the requested steps; numbers of brokers.
CHOICE: dict[str, int] = {"grid": 2500, "destinations": 5, "copies": 2}
CELL: dict[str, Scalar] = {"N": CHOICE["grid"], "l": CHOICE["destinations"], "m": CHOICE["copies"]}
FEWEST = CHOICE["destinations"] + CHOICE["copies"]  # [drip §V-B] "l + m < k"
REQUESTED, CHOSEN = (200, 400, 800), (10, 20, 50)
# Moving nodes, and their brokers, where contacts of regions are measured.
NODES, REGIONS = 200, (10, 20, 40)
_EXPONENTIAL = "independent identical exponential distribution"
_CHOICE = "we can derive a proper value of the number of broker nodes k"


def judge_analysis(summaries: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's analysis [drip §V-C]: E T as printed; 1/λ, its distribution and its dependence
    on k; k for a requested E T."""
    for destinations in DESTINATIONS:
        for copies in COPIES:
            yield _judge_mean(summaries, destinations, copies)
    for grid in GRIDS:
        for brokers in BROKERS:
            yield _judge_meeting(summaries, grid, brokers)
        yield _judge_brokers(summaries, grid)
    for grid in GRIDS:
        for brokers in BROKERS:
            seen = summaries.find("deviation", grid=grid, brokers=brokers)
            yield _judge_exponential(seen, {"N": grid, "k": brokers}, _WALKS)
    for brokers in REGIONS:
        seen = summaries.find("deviation", n=NODES, k=brokers)
        yield _judge_exponential(seen, {"k": brokers}, _REGIONS)
    for brokers in CHOSEN:
        yield _judge_choice(summaries, brokers)
    for requested in REQUESTED:
        yield _judge_corrected(summaries, requested)


_WALKS = "time of two walks on a torus from uniform positions until they are within α"
_REGIONS = "regions of moving nodes as in §VI-A; time from the end of a contact to the next contact"


def _judge_exponential(seen: Summary, cell: dict[str, Scalar], interpretation: str) -> Verdict:
    """Return the verdict on DRIP's meeting times: exponential times deviate by their mean."""
    estimate = (seen.mean, seen.mean_low, seen.mean_high)
    judged = judge_number(1.0, *estimate, relative=MEETING_TOLERANCE, rounding=0.0)
    return _row(
        cell, "standard deviation / mean of the meeting time, 1 if it is exponential", _EXPONENTIAL,
        *estimate, seen.networks, interpretation, *judged,
    )  # fmt: skip


def _derived(steps: float) -> float:
    return brokers_for(steps, delivery=printed_delivery, **CHOICE)


def _judge_choice(summaries: Summaries, brokers: int) -> Verdict:
    """Return the verdict on k by DRIP's equation (2) as printed, for the time of k brokers."""
    seen = summaries.find("complete", k=brokers, requested=0)
    estimate = (_derived(seen.mean), _derived(seen.mean_low), _derived(seen.mean_high))
    opinion, reason = judge_number(brokers, *estimate, relative=MEETING_TOLERANCE)
    if math.isnan(estimate[0]) and not math.isnan(seen.mean):
        least, most = (printed_delivery(brokers=k, **CHOICE) for k in (FEWEST, CHOICE["grid"]))
        opinion, reason = (
            "impossible as printed",
            (
                f"requested: {seen.mean:.4g} steps, as {brokers} brokers take; equation (2) has "
                f"{least:.4g} to {most:.4g} steps, whatever k is"
            ),
        )
    return _row(
        {**CELL, "k": brokers},
        "k by equation (2) for the time that k brokers take",
        _CHOICE,
        *estimate,
        seen.networks,
        "walks on a torus; equation (2) as printed; log is the natural logarithm",
        opinion,
        reason,
    )


def _judge_corrected(summaries: Summaries, requested: int) -> Verdict:
    """Return the verdict on the time that the k of DRIP's corrected equation (2) takes."""
    seen = summaries.find("complete", requested=requested)
    estimate = (seen.mean, seen.mean_low, seen.mean_high)
    judged: Judged = judge_number(requested, *estimate, relative=NEAR)
    return _row(
        {**CELL, "requested": requested, "k": seen.parameters["k"]},
        "mean steps until all l have it, for the k of the corrected equation (2)", None, *estimate,
        seen.networks, f"walks on a torus; H_l/(mλ), and 1/λ by diffusion; {requested} expected",
        *ours(judged),
    )  # fmt: skip


def chosen_brokers(requested: int) -> int:
    """Return the number of brokers to which the verdict on a requested time applies: k by the
    corrected equation (2) of DRIP, rounded.
    """
    return round(brokers_for(requested, delivery=corrected_delivery, **CHOICE))


def _judge_mean(summaries: Summaries, destinations: int, copies: int) -> Verdict:
    seen = summaries.find("wait", destinations=destinations, copies=copies)
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
        *estimate, seen.networks, "(l² + 3l)/(4mλ), compared with draws of equation (1)",
        opinion, reason,
    )  # fmt: skip


def _judge_meeting(summaries: Summaries, grid: int, brokers: int) -> Verdict:
    seen = summaries.find("meeting", grid=grid, brokers=brokers)
    estimate = (seen.mean, seen.mean_low, seen.mean_high)
    value = printed_meeting(grid, brokers)
    return _row(
        {"N": grid, "k": brokers}, "mean steps until two regions meet (1/λ)", value, *estimate,
        seen.networks,
        "two moving walks on a torus until they are within α; log is the natural logarithm",
        *judge_number(value, *estimate, relative=MEETING_TOLERANCE),
    )  # fmt: skip


def _judge_brokers(summaries: Summaries, grid: int) -> Verdict:
    few, many = (summaries.find("meeting", grid=grid, brokers=k) for k in (BROKERS[0], BROKERS[-1]))
    printed = printed_meeting(grid, BROKERS[0]) / printed_meeting(grid, BROKERS[-1])
    estimate = ratio(few, many, "mean")
    opinion, reason = judge_order(*estimate)
    return _row(
        {"N": grid}, f"1/λ at k = {BROKERS[0]} / k = {BROKERS[-1]}",
        "the number of broker nodes decreases", *estimate,
        few.networks,
        'two walks on a torus until they are within α; the paper adds "ET_mcmd is decreasing"',
        opinion, f"{reason}; equation (2) has {printed:.3g}",
    )  # fmt: skip
