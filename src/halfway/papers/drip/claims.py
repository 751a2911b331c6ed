"""Verdicts on paper 4's simulations: every claim of DRIP §VI-B, under each radio model."""

from collections.abc import Iterator
from functools import partial

from halfway.papers.claims.thresholds import RARE
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.estimates import ratio
from halfway.pipeline.reproduction.figures import Summaries, Summary
from halfway.pipeline.reproduction.judge import Judged, judge_order, ours
from halfway.pipeline.reproduction.verdict import Verdict

_row = partial(Verdict, "drip")

BROKERS, COPIES = (10, 20, 30, 40), (1, 2, 4)
NEAREST_3A, NEAREST_3B = 4, 5  # [drip §VI-B] "with l = 4"; "l is set to 5"
CONTENDED, CONTENDED_COPIES = 10, (1, 4)  # k and m where the radio is contended
_NAME_SF = "mean {}, DRIP / SF"
LESS_THAN_SF = "our scheme costs less time than the SF scheme"
LESS_WITH_M = "delivery delay decreases"
_DELAYS = (
    ("waited", "lost events count as 60 s"),
    ("delay", "of delivered events only, which favours systems that lose many"),
)
LIMITED, LIMITED_NEAREST, LIMITED_COPIES = 20, 4, (1, 4)  # k, l, m where contacts are limited
# Share of subscribers, events a second: one subscriber an event on average; the paper's five.
LOADS = ((0.1, 0.8), (0.1, 2.4), (0.5, 0.8))
CONTENDED_LOADS = LOADS[1:]
_MODEL = {
    "ideal": "ideal radio: no contention, 1 ms a hop",
    "limited": "ideal radio, but a broker transfers one event, then none for 5 s",
    "contention": "contended radio: CSMA/CA, collisions, broadcasts unacknowledged",
}


def _less(
    figure: str, cell: dict[str, Scalar], metric: str, claim: str | None, less: Summary,
    more: Summary,
    interpretation: str,
) -> Verdict:  # fmt: skip
    """The verdict on a claim of DRIP that one mean is below another, by their ratio.

    claim: the paper's clause; None if the setting is ours.
    """
    share = ratio(less, more, "mean")
    judged = judge_order(*share) if claim else ours(judge_order(*share))
    return _row(figure, cell, metric, claim, *share, less.networks, interpretation, *judged)


def judge_coverage(found: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's coverage: [drip §VI-B] "as m increases, broker coverage is growing too"; it
    falls as k grows."""
    for metric, interpretation in (
        ("coverage", "brokers with a copy when a subscriber gets it"),
        ("union", "brokers that ever had a copy, by event"),
    ):
        at = partial(found.find, metric, system="drip", l=NEAREST_3A)
        words = f"{_MODEL['ideal']}; {interpretation}"
        for k in BROKERS:
            name = f"{metric}, m = 1 / m = {COPIES[-1]}"
            one, many = at(k=k, m=COPIES[0]), at(k=k, m=COPIES[-1])
            claim = "as m increases, broker coverage is growing too"
            yield _less("figure-3a", {"k": k}, name, claim, one, many, words)
        for m in COPIES:
            name = f"{metric}, k = {BROKERS[-1]} / k = {BROKERS[0]}"
            few, many = at(k=BROKERS[0], m=m), at(k=BROKERS[-1], m=m)
            claim = "the broker coverage is generally reduced"
            yield _less("figure-3a", {"m": m}, name, claim, many, few, words)


def judge_delay(found: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's delay: [drip §VI-B] "our scheme costs less time than the SF scheme"; less with
    m, more with k."""
    for metric, interpretation in _DELAYS:
        at = partial(found.find, metric, l=NEAREST_3B)
        words = f"{_MODEL['ideal']}; {interpretation}"
        yield from _against_sf(found, "figure-3b", metric, words, BROKERS, COPIES, {})
        for m in COPIES:
            name = f"mean {metric}, k = {BROKERS[0]} / k = {BROKERS[-1]}"
            few, many = (at(system="drip", k=k, m=m) for k in (BROKERS[0], BROKERS[-1]))
            claim = "delivery delay goes up with k"
            yield _less("figure-3b", {"m": m}, name, claim, few, many, words)
    yield from _ratios(found, "figure-3b", "ideal")


def judge_limited(found: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's delay against SF where a broker transfers one event at a time.

    The paper's figures have no such limit: these are statements of ours, not of [drip §VI-B].
    """
    for share, rate in LOADS:
        at = partial(found.find, share=share, rate=rate)
        for m in LIMITED_COPIES:
            for metric, interpretation in _DELAYS:
                cell: dict[str, Scalar] = {"share": share, "rate": rate, "m": m}
                drip, sf = at(metric, system="drip", m=m), at(metric, system="sf")
                words = f"{_MODEL['limited']}; {interpretation}"
                words += "; expected below 1"
                yield _less("limited", cell, _NAME_SF.format(metric), None, drip, sf, words)
    yield from _ratios(found, "limited", "limited")


def judge_contended(found: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's claims on coverage and delay with a contended radio, at two loads."""
    for share, rate in CONTENDED_LOADS:
        load: dict[str, Scalar] = {"share": share, "rate": rate}
        for metric, interpretation in _DELAYS:
            words = f"{_MODEL['contention']}; {interpretation}"
            yield from _against_sf(
                found, "contended", metric, words, (CONTENDED,), CONTENDED_COPIES, load
            )
            yield _selection(found, "contended", metric, words, {"k": CONTENDED, **load}, m=1)
    yield from _ratios(found, "contended", "contention")


def judge_selection(found: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's selection of brokers: [drip §VI-B] "DRIP incurs less delivery delay" than
    brokers drawn at random."""
    for metric, interpretation in _DELAYS:
        for k in BROKERS:
            yield _selection(
                found, "figure-4", metric, f"{_MODEL['ideal']}; {interpretation}", {"k": k}
            )


def _selection(
    found: Summaries, figure: str, metric: str, words: str, cell: dict[str, Scalar], **where: Scalar
) -> Verdict:
    name = f"mean {metric}, most capable / random"
    capable, drawn = (found.find(metric, system=s, **cell, **where) for s in ("drip", "random"))
    claim = "DRIP incurs less delivery delay in the network"
    return _less(figure, cell, name, claim, capable, drawn, words)


def _against_sf(
    found: Summaries, figure: str, metric: str, words: str, brokers: tuple[int, ...],
    copies: tuple[int, ...], load: dict[str, Scalar],
) -> Iterator[Verdict]:  # fmt: skip
    at = partial(found.find, metric, l=NEAREST_3B, **load)
    for k in brokers:
        sf = at(system="sf", k=k)
        drip = [at(system="drip", k=k, m=m) for m in copies]
        for m, seen in zip(copies, drip, strict=True):
            cell = {"k": k, "m": m, **load}
            yield _less(figure, cell, _NAME_SF.format(metric), LESS_THAN_SF, seen, sf, words)
        name = f"mean {metric}, m = {copies[-1]} / m = 1"
        yield _less(figure, {"k": k, **load}, name, LESS_WITH_M, drip[-1], drip[0], words)


def _ratios(found: Summaries, figure: str, radio: str) -> Iterator[Verdict]:
    """The rows of DRIP's delivery ratio for each delay; the paper prints none."""
    for row in found.select("delivered"):
        named = ("k", "m", "system") if figure == "figure-3b" else ("share", "rate", "m", "system")
        cell = {name: row.parameters[name] for name in named}
        yield _row(
            figure, cell, "delivery ratio", None, row.mean, row.mean_low, row.mean_high,
            row.networks, _MODEL[radio], "ours open",
            "the paper prints no ratios for its delays",
        )  # fmt: skip


def judge_pairs(found: Summaries) -> Iterator[Verdict]:
    """Judge DRIP pair by pair, on the same network: without contention an epidemic is fastest."""
    for system, claim in (("sf", LESS_THAN_SF), ("drip", LESS_WITH_M)):
        for metric, what in (("broker later", "copies at brokers"), ("later", "deliveries")):
            seen = found.find(metric, system=system)
            name = "SF" if system == "sf" else f"m = {COPIES[-1]}"
            opinion = judge_rarely(seen.mean, seen.units, against=system == "sf")
            yield _row(
                "figure-3b-pairs", {"k": seen.parameters["k"], "system": system},
                f"share of {what} where {name} is later than DRIP with m = 1", claim, seen.mean,
                seen.mean_low, seen.mean_high, seen.networks, _MODEL["ideal"], *opinion,
            )  # fmt: skip


def judge_rarely(share: float, pairs: int, *, against: bool) -> Judged:
    """The verdict of a share of DRIP's pairs on a claim that it is large (`against`), or small."""
    holds = (share < RARE) != against
    return ("agrees" if holds else "differs"), f"later in {round(share * pairs)} of {pairs} pairs"
