"""Verdicts on paper 4's simulations [drip §VI-B]: DRIP's coverage, mean delay and transmissions."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import judge_order, judge_ratio
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import difference
from halfway.pipeline.statistics.summary import Summary

_row = partial(Verdict, "drip")
_less = partial(judge_ratio, "drip")

BROKERS, COPIES = (10, 20, 30, 40), (1, 2, 4)
NEAREST_3A, NEAREST_3B = 4, 5  # [drip §VI-B] "with l = 4"; "l is set to 5"
CONTENDED, CONTENDED_COPIES = 10, (1, 4)  # k and m where the radio is contended
COMPONENT_COPIES = (1, 4)  # m where each component elects its own brokers
_NAME_SF = "mean {}, DRIP / SF"
ELECTED = {
    "network": "exactly k brokers in the network",
    "component": "each component elects k brokers",
}
LESS_THAN_SF = "our scheme costs less time than the SF scheme"
LESS_WITH_M = "delivery delay decreases"
FOR_M = "; the sentence names k, and we interpret k as m"
MORE_DELIVERED = (
    "raise the possibility of delivering matching events to their subscribers by enlarging m"
)
MORE_WITH_K = "delivery delay goes up with k"
_GROWS = "as m increases, broker coverage is growing too"
_FALLS = "the broker coverage is generally reduced"
_BOUND = "only m+l brokers are required to have a copy"
_FEWER = "low broker coverage indicates less transmission"
_THROUGHPUT = "can reduce network throughput"
_COMPLETE = (
    "time until each broker that ever gets a copy has it; for SF, time until all brokers have it, "
    "or 60 s if a broker never gets it"
)
BOUNDS = (  # metric, and its interpretation of "an event to its subscriber"
    ("copies", "brokers that ever had a copy, of events with any number of subscribers"),
    ("copies for one", "brokers that ever had a copy, of events with exactly one subscriber"),
    ("coverage", "brokers with a copy when a subscriber gets the event, as for coverage"),
)
DELAYS = (
    ("waited", "lost events count as 60 s"),
    ("delay", "mean over delivered events only, which favours systems that lose many events"),
)
LIMITED, LIMITED_NEAREST, LIMITED_COPIES = 20, 4, (1, 4)  # k, l, m where contacts are limited
# Share of subscribers, events a second: one subscriber an event on average; the paper's five.
LOADS = ((0.1, 0.8), (0.1, 2.4), (0.5, 0.8))
CONTENDED_LOADS = LOADS[1:2]  # `figures-802.11` has the paper's own
# Of a broker after a transferred event; the paper has none. The first is measured at all loads.
RESTS_S, REST_LOADS = (5.0, 1.0, 20.0), (LOADS[0], LOADS[2])
MODEL = {
    "ideal": "ideal radio without contention, 1 ms for each hop",
    "limited": "ideal radio, but a broker transfers one event, and then none for {rest:g} s",
    "contention": "contention radio with CSMA/CA, collisions and unacknowledged broadcasts",
}


def judge_coverage(summaries: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's coverage in the simulations: [drip §VI-B] "as m increases, broker coverage is
    growing too"; it falls as k grows; m + l copies suffice.
    """
    yield from coverage_rows(
        summaries, "figure-3a", MODEL["ideal"], NEAREST_3A, BROKERS, COPIES, {}
    )
    for k in BROKERS:
        for m in COPIES:
            cell: dict[str, Scalar] = {"k": k, "m": m}
            for metric, words in BOUNDS:
                seen = summaries.find(metric, system="drip", l=NEAREST_3A, **cell)
                yield _bound(seen, cell, m, words)
            share = summaries.find("coverage", system="drip", l=NEAREST_3A, **cell)
            yield _row(
                "figure-3a", cell, "coverage", None, share.mean, share.mean_low, share.mean_high,
                share.networks, MODEL["ideal"], "ours open",
                "the text lacks the values of the paper's curves",
            )  # fmt: skip


def coverage_rows(
    summaries: Summaries, figure: str, model: str, nearest: int, brokers: tuple[int, ...],
    copies: tuple[int, ...], parameters: dict[str, Scalar],
) -> Iterator[Verdict]:  # fmt: skip
    """Yield the verdict rows of DRIP's coverage in a figure of the simulations, by m and by k, at
    the given parameters.
    """
    for metric, interpretation in (
        ("coverage", "brokers with a copy when a subscriber gets the event"),
        ("union", "brokers that ever had a copy of the event"),
    ):
        at = partial(summaries.find, metric, system="drip", l=nearest, **parameters)
        words = f"{model}; l = {nearest}; {interpretation}"
        for k in brokers:
            name = f"{metric}, m = 1 / m = {copies[-1]}"
            least, many = at(k=k, m=copies[0]), at(k=k, m=copies[-1])
            yield _less(figure, {"k": k, **parameters}, name, _GROWS, least, many, words)
        for m in copies:
            name = f"{metric}, k = {brokers[-1]} / k = {brokers[0]}"
            few, many = at(k=brokers[0], m=m), at(k=brokers[-1], m=m)
            yield _less(figure, {"m": m, **parameters}, name, _FALLS, many, few, words)


def _bound(copies: Summary, cell: dict[str, Scalar], m: int, words: str) -> Verdict:
    """Return the copies of an event against [drip §VI-B] "only m+l brokers are required"."""
    most = m + NEAREST_3A
    counted, own = 1.0, 1.0  # the broker of the source does not count
    if copies.metric == "coverage":
        counted = float(cell["k"])
    elif copies.metric == "copies for one":
        own = 0.0  # measured without the source
    ends = np.array((copies.mean, copies.mean_low, copies.mean_high))
    value, low, high = ((ends * counted - own) / most).tolist()
    return _row(
        "figure-3a", cell, "brokers with a copy of an event, but the source's / (m + l)", _BOUND,
        value, low, high, copies.networks, f"{MODEL['ideal']}; {words}",
        *judge_order(value, low, high),
    )  # fmt: skip


def judge_delay(summaries: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's mean delay in the simulations: [drip §VI-B] "our scheme costs less time than the
    SF scheme"; less with m, more with k.
    """
    for metric, interpretation in DELAYS:
        words = f"{MODEL['ideal']}; {interpretation}"
        yield from rows_against_sf(summaries, "figure-3b", metric, words, BROKERS, COPIES, {})
        yield from rows_by_k(summaries, "figure-3b", metric, words, BROKERS, COPIES, {})
    for k in BROKERS:
        few, many = (summaries.find("delivered", system="drip", k=k, m=m) for m in (1, COPIES[-1]))
        gain = difference(few, many, "mean")
        yield _row(
            "figure-3b", {"k": k}, f"delivered, m = 1 − m = {COPIES[-1]}", MORE_DELIVERED, *gain,
            few.networks, f"{MODEL['ideal']}; deliveries within 60 s count",
            *judge_order(*gain, equal=0.0),
        )  # fmt: skip
    yield from _traffic(summaries)
    yield from _ratios(summaries, "figure-3b", "ideal")


def _traffic(summaries: Summaries) -> Iterator[Verdict]:
    """Yield the rows of DRIP's transmissions, and of the time until all copies are there."""
    for metric, claim, words in (
        ("sent", _FEWER, "all transmissions"),
        ("handed", _FEWER, "transmissions of events from broker to broker"),
        ("complete", LESS_THAN_SF, _COMPLETE),
    ):
        for k in BROKERS:
            for m in (COPIES[0], COPIES[-1]):
                sf = summaries.find(metric, k=k, system="sf")
                drip = summaries.find(metric, k=k, system="drip", m=m)
                cell: dict[str, Scalar] = {"k": k, "m": m}
                name = _NAME_SF.format(metric)
                yield _less("figure-3b", cell, name, claim, drip, sf, f"{MODEL['ideal']}; {words}")


def judge_components(summaries: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's coverage and mean delay (figure 3) if each component of the network elects its
    own brokers.
    """
    figure, copies = "components", COMPONENT_COPIES
    yield from coverage_rows(summaries, figure, MODEL["ideal"], NEAREST_3B, BROKERS, copies, {})
    for metric, interpretation in DELAYS:
        words = f"{MODEL['ideal']}; {interpretation}"
        yield from rows_against_sf(summaries, figure, metric, words, BROKERS, copies, {})
        yield from rows_by_k(summaries, figure, metric, words, BROKERS, copies, {})


def judge_wifi(summaries: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's coverage and mean delay (figures 3 and 4) over the radio of the paper's
    simulations, 802.11, for every k.
    """
    figure, copies = "figures-802.11", CONTENDED_COPIES
    yield from coverage_rows(
        summaries, figure, MODEL["contention"], NEAREST_3B, BROKERS, copies, {}
    )
    for metric, interpretation in DELAYS:
        words = f"{MODEL['contention']}; {interpretation}"
        yield from rows_against_sf(summaries, figure, metric, words, BROKERS, copies, {})
        yield from rows_by_k(summaries, figure, metric, words, BROKERS, copies, {})
        for k in BROKERS:
            yield selection_row(summaries, figure, metric, words, {"k": k}, m=1)


def judge_limited(summaries: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's mean delay against SF over a radio by which a broker transfers one event at a
    time.

    The paper's figures have no such limit: these are statements of ours, not of [drip §VI-B].
    """
    rests = [(RESTS_S[0], load, m) for load in LOADS for m in LIMITED_COPIES]
    rests += [(rest, load, LIMITED_COPIES[0]) for rest in RESTS_S[1:] for load in REST_LOADS]
    for rest, (share, rate), m in rests:
        cell: dict[str, Scalar] = {"share": share, "rate": rate, "m": m, "rest": rest}
        at = partial(summaries.find, share=share, rate=rate, rest=rest)
        for metric, interpretation in DELAYS:
            drip, sf = at(metric, system="drip", m=m), at(metric, system="sf")
            words = f"{MODEL['limited'].format(rest=rest)}; {interpretation}; expected below 1"
            yield _less("limited", cell, _NAME_SF.format(metric), None, drip, sf, words)
    yield from _ratios(summaries, "limited", "limited")


def judge_contended(summaries: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's mean delay over a contended radio, at another load than in the paper's
    simulations.
    """
    for share, rate in CONTENDED_LOADS:
        load: dict[str, Scalar] = {"share": share, "rate": rate}
        model = f"{MODEL['contention']}; {rate:g} events per second, {share:g} of nodes subscribe"
        for metric, interpretation in DELAYS:
            words = f"{model}; {interpretation}"
            yield from rows_against_sf(
                summaries, "contended", metric, words, (CONTENDED,), CONTENDED_COPIES, load
            )
            yield selection_row(
                summaries, "contended", metric, words, {"k": CONTENDED, **load}, m=1
            )
    yield from _ratios(summaries, "contended", "contention")


def judge_selection(summaries: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's selection of brokers: [drip §VI-B] "DRIP incurs less delivery delay" than
    brokers drawn at random."""
    for metric, interpretation in DELAYS:
        for k in BROKERS:
            yield selection_row(
                summaries, "figure-4", metric, f"{MODEL['ideal']}; {interpretation}", {"k": k}
            )
    for k in BROKERS:
        capable, drawn = (summaries.find("sent", system=s, k=k) for s in ("drip", "random"))
        name = "transmissions, most capable / random"
        yield _less("figure-4", {"k": k}, name, _THROUGHPUT, capable, drawn, MODEL["ideal"])


def selection_row(
    summaries: Summaries,
    figure: str,
    metric: str,
    words: str,
    cell: dict[str, Scalar],
    **where: Scalar,
) -> Verdict:
    """Return the verdict row of DRIP's mean delay with the most capable brokers, against random
    brokers.
    """
    name = f"mean {metric}, most capable / random"
    capable, drawn = (summaries.find(metric, system=s, **cell, **where) for s in ("drip", "random"))
    claim = "DRIP incurs less delivery delay in the network"
    return _less(figure, cell, name, claim, capable, drawn, words)


def rows_against_sf(
    summaries: Summaries, figure: str, metric: str, words: str, brokers: tuple[int, ...],
    copies: tuple[int, ...], load: dict[str, Scalar],
) -> Iterator[Verdict]:  # fmt: skip
    """Yield the verdict rows of DRIP's mean delay in a figure of the simulations against SF, and of
    more copies against one copy.
    """
    at = partial(summaries.find, metric, l=NEAREST_3B, **load)
    for k in brokers:
        sf = at(system="sf", k=k)
        drip = [at(system="drip", k=k, m=m) for m in copies]
        for m, seen in zip(copies, drip, strict=True):
            cell = {"k": k, "m": m, **load}
            yield _less(figure, cell, _NAME_SF.format(metric), LESS_THAN_SF, seen, sf, words)
        name = f"mean {metric}, m = {copies[-1]} / m = 1"
        yield _less(figure, {"k": k, **load}, name, LESS_WITH_M, drip[-1], drip[0], words + FOR_M)


def rows_by_k(
    summaries: Summaries, figure: str, metric: str, words: str, brokers: tuple[int, ...],
    copies: tuple[int, ...], parameters: dict[str, Scalar],
) -> Iterator[Verdict]:  # fmt: skip
    """Yield the verdict rows of DRIP's mean delay in a figure of the simulations by the number of
    brokers, for each m.
    """
    at = partial(summaries.find, metric, system="drip", l=NEAREST_3B, **parameters)
    name = f"mean {metric}, k = {brokers[0]} / k = {brokers[-1]}"
    for m in copies:
        few, many = at(k=brokers[0], m=m), at(k=brokers[-1], m=m)
        yield _less(figure, {"m": m, **parameters}, name, MORE_WITH_K, few, many, words)


def _ratios(summaries: Summaries, figure: str, radio: str) -> Iterator[Verdict]:
    """Yield the rows of DRIP's delivery ratio by delay, for which the paper prints no numbers."""
    named = ("k", "m") if figure == "figure-3b" else ("share", "rate", "rest", "m")
    for row in summaries.select("delivered"):
        parameters = row.parameters
        cell = {name: parameters[name] for name in (*named, "system") if name in parameters}
        yield _row(
            figure, cell, "delivery ratio", None, row.mean, row.mean_low, row.mean_high,
            row.networks, MODEL[radio].format(**row.parameters), "ours open",
            "the paper prints no ratios for its delays",
        )  # fmt: skip
