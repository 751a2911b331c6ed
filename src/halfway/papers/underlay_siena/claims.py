"""Verdicts on paper 5: the lemma and every claim of §5, for each interpretation and model."""

import math
from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from halfway.papers.claims.thresholds import LINEAR, NEAR, percent
from halfway.papers.underlay_siena import points
from halfway.papers.underlay_siena.points import (
    BALANCES,
    EVENT_COUNTS,
    EVENTS,
    FAULTS,
    INTERESTS,
    RUSH_S,
)
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import Judged, judge_order, judge_range, ours
from halfway.pipeline.reproduction.verdict import Opinion, Verdict
from halfway.pipeline.statistics.estimates import around, difference, ratio
from halfway.pipeline.statistics.exponents import exponent
from halfway.pipeline.statistics.summary import Summary

_row = partial(Verdict, "underlay-siena")
PREMISE = (
    "two node disjoint paths x and y to its parent node as well as a path z to its parent's "
    "parent, such that it is node disjoint from x and y"
)
TOLERANT = (
    "a fault tolerant overlay topology for event broker networks that can tolerate single node"
)
_CLIENTS = {"selective": "selective clients", "all": "unselective clients"}
_SYSTEMS = {"none": "Algorithm 1 as printed", "both": "with both remedies of ours"}
DENOMINATORS = {
    "carrying": "overlay links that can carry",
    "overlay": "all overlay links",
    "used": "physical links in use",
    "physical": "all physical links",
}


def claimed(
    figure: str, cell: dict[str, Scalar], metric: str, clause: str,
    estimate: tuple[float | None, float | None, float | None], networks: int,
    interpretation: str, judged: Judged,
) -> Verdict:  # fmt: skip
    """Return the verdict on a claim about underlay-aware SIENA; with remedies, on a statement of
    ours.
    """
    remedy = str(cell["remedy"])
    printed = remedy == "none"
    return _row(
        figure, cell, metric, clause if printed else None, *estimate, networks,
        f"{interpretation}; {_SYSTEMS[remedy]}", *(judged if printed else ours(judged)),
    )  # fmt: skip


def judge_lemma(summaries: Summaries) -> Iterator[Verdict]:
    """Judge paper 5's lemma [uas §4.2]: premise and conclusion, over every single failure."""
    for interpretation, remedy in points.VARIANTS:
        at = partial(summaries.find, reading=interpretation, remedy=remedy)
        cell: dict[str, Scalar] = {"reading": interpretation, "remedy": remedy}
        name = f"{interpretation}; {'as printed' if remedy == 'none' else f'remedy: {remedy}'}"
        printed = remedy == "none"
        for metric, what in (
            ("premise", "share with x, y, z disjoint in pairs"),
            ("guaranteed", "share with x and y, and z past the parent, all the way up"),
        ):
            seen = at(metric)
            whole = seen.minimum == 1.0
            opinion: Opinion = "agrees" if whole else "differs"
            reason = f"{100 * seen.mean:.1f} % of the brokers below the root"
            if metric == "premise" and printed:
                opinion = "agrees" if whole else "impossible as printed"
                reason += "; the root's children have no grandparent, and "
                reason += f"{100 * at('two links').mean:.0f} % of the nodes have only two links"
            claim = PREMISE if printed and metric == "premise" else None
            yield _row(
                "lemma", cell, what, claim, seen.mean, seen.mean_low, seen.mean_high,
                seen.networks, name, *((opinion, reason) if claim else ours((opinion, reason))),
            )  # fmt: skip
        seen, harmful, every = at("losses"), at("harmful"), at("failures")
        judged: Judged = (
            "agrees" if seen.maximum == 0 else "differs",
            f"{harmful.mean:.1f} of {every.mean:.0f} failures cut off a live broker",
        )
        yield _row(
            "lemma", cell, "live brokers cut off, summed over all single failures",
            TOLERANT if printed else None, seen.mean, seen.mean_low, seen.mean_high,
            seen.networks, name, *(judged if printed else ours(judged)),
        )  # fmt: skip


def judge_figure_5(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figure 5 [uas §5]: underlay-aware SIENA delivers more; the gap grows with faults.

    A tree that only fails over has all paths of the plain tree, so only its gap can be judged.
    """
    for remedy in points.SYSTEM_REMEDIES:
        for where in points.WHERE:
            for repair in points.repairs(where):
                cell: dict[str, Scalar] = {"remedy": remedy, "where": where, "repair": repair}
                rows = delivery_rows(summaries, "figure-5", cell, repair)
                yield from list(rows)[-1:] if repair == "fails over only" else rows


def judge_interpretations(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figure 5 of underlay-aware SIENA [uas §5] under other interpretations, with Algorithm 1
    as printed.
    """
    for words in points.OPEN:
        for where in points.BROKERS_FAIL:
            cell: dict[str, Scalar] = {"remedy": "none", "where": where, "open": words}
            yield from delivery_rows(summaries, "figure-5-interpretations", cell, words)


def delivery_rows(
    summaries: Summaries, figure: str, cell: dict[str, Scalar], words: str, **shared: Scalar
) -> Iterator[Verdict]:
    """Yield the verdict rows of paper 5's Figure 5 for a cell: one for each number of faults, and
    the gap.
    """
    gaps = []
    words = f"faults on {cell['where']}; {words}"
    for faults in FAULTS:
        at = partial(summaries.find, "delivered", faults=faults)
        plain = at(system="siena", remedy=cell["remedy"], where=cell["where"], **shared)
        aware = at(system="underlay-siena", **cell)
        gaps.append((plain, aware))
        gap = difference(plain, aware, "mean")
        opinion, reason = judge_order(*gap, equal=0.0)
        shown = f"{aware.mean:.2f} % against {plain.mean:.2f} %; {reason}"
        yield claimed(
            figure, {**cell, "faults": faults}, "delivered, unmodified − underlay-aware %",
            "delivery percentage is higher in underlay aware SIENA", gap, plain.networks, words,
            (opinion, shown),
        )  # fmt: skip
    fall = _widening(gaps[0], gaps[-1])
    yield claimed(
        figure, cell, f"gap at {FAULTS[0]} − gap at {FAULTS[-1]} faults %",
        "the difference between them increases", fall, gaps[0][0].networks, words,
        judge_order(*fall, equal=0.0),
    )  # fmt: skip


def judge_growth(summaries: Summaries) -> Iterator[Verdict]:
    """Judge [uas abstract] "linear time algorithm" of underlay-aware SIENA by the steps of all
    joins of an overlay.
    """
    for metric, what in (
        ("probes", "neighbours of the chosen broker that all joins ask for a path"),
        ("hops", "links of the underlay that the messages of all joins cross"),
    ):
        rows = [summaries.find(metric, brokers=brokers) for brokers in points.GROWING]
        slope = exponent(rows, "brokers", "mean")
        few, most = (
            summaries.find("degree", brokers=n).mean for n in points.GROWING[:: len(rows) - 1]
        )
        opinion, reason = judge_order(*slope, equal=LINEAR, what="exponent")
        yield _row(
            "linear-time", {"steps": metric}, f"exponent of the brokers, {what}",
            "linear time algorithm", *slope, rows[0].networks,
            'Algorithm 1 as printed; n is the number of brokers; "linear" means an exponent below '
            f"{LINEAR:g}",
            opinion, f"{reason}; the greatest degree grows from {few:.1f} to {most:.1f}",
        )  # fmt: skip


def _widening(
    few: tuple[Summary, Summary], many: tuple[Summary, Summary]
) -> tuple[float, float, float]:
    """Return the gap of underlay-aware SIENA's Figure 5 with few faults minus that with many,
    paired by network.
    """
    small, large = (
        np.subtract((aware.mean, *aware.boot_mean), (plain.mean, *plain.boot_mean))
        for plain, aware in (few, many)
    )
    value, *boot = (small - large).tolist()
    return value, *around(value, boot, few[0].networks)


def judge_figure_6(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figure 6 of underlay-aware SIENA [uas §5]: latency grows with the events; the second
    paths reduce it.
    """
    for interest, window in points.MODELS:
        at = partial(
            summaries.find, "latency", interest=interest, window_s=window, queueing="overlay",
            remedy="none",
        )  # fmt: skip
        name = f"{pace(window)}, {_CLIENTS[interest]}, a queue for each overlay link"
        few, many = (at(events=n, balance="direct") for n in (EVENT_COUNTS[0], EVENTS))
        growth = ratio(few, many, "mean")
        yield _row(
            "figure-6", {"interest": interest, "window_s": window},
            f"latency of SIENA, {EVENT_COUNTS[0]} / {EVENTS} events",
            "thus increasing the average delay", *growth, many.networks, name,
            *judge_order(*growth),
        )  # fmt: skip
    for remedy in points.SYSTEM_REMEDIES:
        for interest, window in points.MODELS:
            for events in EVENT_COUNTS:
                model: dict[str, Scalar] = {"interest": interest, "window_s": window}
                cell = {"remedy": remedy, "events": events, **model, "queueing": "overlay"}
                yield from latency_rows(summaries, "figure-6", cell)
        for interest in INTERESTS:
            model = {"interest": interest, "window_s": RUSH_S}
            cell = {"remedy": remedy, "events": EVENTS, **model, "queueing": "underlay"}
            yield from latency_rows(summaries, "figure-6", cell)


def latency_rows(
    summaries: Summaries, figure: str, cell: dict[str, Scalar], more: str = ""
) -> Iterator[Verdict]:
    """Yield the verdict rows of underlay-aware SIENA's Figure 6 for the runs of a cell: one for
    each balance.
    """
    at = partial(summaries.find, "latency", **cell)
    where = "overlay link" if cell["queueing"] == "overlay" else "link of the underlay"
    clients = _CLIENTS[str(cell["interest"])]
    model = f"{pace(float(cell['window_s']))}, {clients}, a queue for each {where}{more}"
    plain = at(balance="direct")
    for balance in BALANCES:
        share = ratio(at(balance=balance), plain, "mean")
        opinion, reason = judge_order(*share)
        yield claimed(
            figure, {**cell, "balance": balance}, "mean latency, underlay-aware / unmodified",
            "a reduction in the message delivery latencies", share, plain.networks,
            f"{points.BALANCE_NAMES[balance]}; {model}",
            (opinion, f"unmodified {plain.mean:.2f} ms; {reason}"),
        )  # fmt: skip


def pace(window: float) -> str:
    """Return the words in the verdicts on underlay-aware SIENA's Figure 6 for the time in which the
    events are published.
    """
    return f"all events within {window:g} s"


def judge_figure_7(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figure 7 [uas §5]: the average link load is less in underlay-aware SIENA."""
    for cell, name, plain, aware in _stressed(summaries, "load"):
        share = ratio(aware, plain, "mean")
        opinion, reason = judge_order(*share)
        yield claimed(
            "figure-7", cell, "mean load of a link, underlay-aware / unmodified",
            "average link loads are less in underlay aware Siena", share, plain.networks, name,
            (opinion, f"unmodified {plain.mean:.2f} kB; {reason}"),
        )  # fmt: skip


def judge_figure_8(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figure 8 [uas §5]: the loads' standard deviation is comparable to unmodified SIENA."""
    for cell, name, plain, aware in _stressed(summaries, "deviation"):
        share = ratio(aware, plain, "mean")
        opinion, reason = judge_range(1 - NEAR, 1 + NEAR, *share, rounding=0.0)
        reason = f"unmodified {plain.mean:.2f} kB; {reason}"
        if plain.maximum == 0:
            opinion = "differs"
            reason = f"every link of SIENA carries every event once: 0 kB; here {aware.mean:.0f} kB"
            share = (math.nan, math.nan, math.nan)
        value, low, high = (None if math.isnan(each) else each for each in share)
        yield claimed(
            "figure-8", cell, "deviation of link loads, underlay-aware / unmodified",
            "standard deviation of the loads on different links is comparable",
            (value, low, high), plain.networks,
            f'{name}; "comparable" means within {percent(NEAR)}',
            (opinion, reason),
        )  # fmt: skip


def _stressed(
    summaries: Summaries, what: str
) -> Iterator[tuple[dict[str, Scalar], str, Summary, Summary]]:
    """Yield the cells of Figures 7 and 8 of underlay-aware SIENA to judge; only one denominator has
    all sizes.
    """
    for remedy, interest, balance, over in product(
        points.SYSTEM_REMEDIES, INTERESTS, BALANCES, DENOMINATORS
    ):
        links = DENOMINATORS[over]
        for events in EVENT_COUNTS if over == "carrying" else (EVENTS,):
            at = partial(
                summaries.find, f"{over} {what}", events=events, interest=interest, window_s=RUSH_S,
                queueing="overlay", remedy=remedy,
            )  # fmt: skip
            cell: dict[str, Scalar] = {
                "remedy": remedy, "over": links, "interest": interest, "balance": balance,
                "events": events,
            }  # fmt: skip
            name = f"over {links}; {points.BALANCE_NAMES[balance]}; {interest}"
            if over == "overlay":
                name += "; the links to grandparents never carry events"
            yield cell, name, at(balance="direct"), at(balance=balance)
