"""Paper 4's simulations, judged: every claim of §VI-B, each under each model of the air."""

from collections.abc import Iterator
from functools import partial

from halfway.pipeline.judge import Judged, judge_order
from halfway.pipeline.measure import ratio
from halfway.pipeline.run import Scalar
from halfway.pipeline.study import Summaries
from halfway.pipeline.verdict import Verdict

_row = partial(Verdict, "drip")

BROKERS, COPIES = (10, 20, 30, 40), (1, 2, 4)
NEAREST_3A, NEAREST_3B = 4, 5  # [drip §VI-B] "with l = 4"; "l is set to 5"
_RARE = 0.02  # pairs below that share are timing, not a trend
RADIOS = ("ideal", "contention")
_MODEL = {
    "ideal": "ideal air: no contention, 1 ms a hop",
    "contention": "contended air: CSMA/CA, collisions, broadcasts unacknowledged",
}


def judge_coverage(found: Summaries) -> Iterator[Verdict]:
    """[drip §VI-B] "as m increases, broker coverage is growing too"; it falls as k grows."""
    for metric, reading in (
        ("coverage", "brokers with a copy when a subscriber gets it"),
        ("union", "brokers that ever had a copy, by event"),
    ):
        at = partial(found.find, metric, system="drip", l=NEAREST_3A)
        for radio in _radios(found):
            for k in BROKERS if radio == "ideal" else BROKERS[1:2]:
                few, many = (at(k=k, m=m, radio=radio) for m in (COPIES[0], COPIES[-1]))
                yield _row(
                    "figure-3a", {"k": k, "radio": radio}, f"{metric}, m = 1 / m = {COPIES[-1]}",
                    "growing with m", *ratio(few, many, "mean"), few.networks,
                    f"{_MODEL[radio]}; {reading}", *judge_order(*ratio(few, many, "mean")),
                )  # fmt: skip
        for m in COPIES:
            few, many = (at(k=k, m=m, radio="ideal") for k in (BROKERS[0], BROKERS[-1]))
            yield _row(
                "figure-3a", {"m": m, "radio": "ideal"},
                f"{metric}, k = {BROKERS[-1]} / k = {BROKERS[0]}", "generally reduced",
                *ratio(many, few, "mean"), few.networks, f"{_MODEL['ideal']}; {reading}",
                *judge_order(*ratio(many, few, "mean")),
            )  # fmt: skip


def judge_delay(found: Summaries) -> Iterator[Verdict]:
    """[drip §VI-B] "our scheme costs less time than the SF scheme"; less with m, more with k."""
    for metric, reading in (
        ("waited", "lost ones count as 60 s"),
        ("delay", "of what was delivered only, which flatters who loses much"),
    ):
        at = partial(found.find, metric, l=NEAREST_3B)
        for radio in _radios(found):
            words = f"{_MODEL[radio]}; {reading}"
            for k in BROKERS if radio == "ideal" else BROKERS[1:2]:
                cell: dict[str, Scalar] = {"k": k, "radio": radio}
                sf = at(system="sf", k=k, radio=radio)
                for m in COPIES:
                    ours = at(system="drip", k=k, m=m, radio=radio)
                    yield _row(
                        "figure-3b", {**cell, "m": m}, f"mean {metric}, DRIP / SF", "less time",
                        *ratio(ours, sf, "mean"), sf.networks, words,
                        *judge_order(*ratio(ours, sf, "mean")),
                    )  # fmt: skip
                few, many = (at(system="drip", k=k, m=m, radio=radio) for m in (1, COPIES[-1]))
                yield _row(
                    "figure-3b", cell, f"mean {metric}, m = {COPIES[-1]} / m = 1",
                    "decreases", *ratio(many, few, "mean"), few.networks, words,
                    *judge_order(*ratio(many, few, "mean")),
                )  # fmt: skip
        for m in COPIES:
            few, many = (
                at(system="drip", k=k, m=m, radio="ideal") for k in (BROKERS[0], BROKERS[-1])
            )
            yield _row(
                "figure-3b", {"m": m, "radio": "ideal"},
                f"mean {metric}, k = {BROKERS[0]} / k = {BROKERS[-1]}", "goes up with k",
                *ratio(few, many, "mean"), few.networks, f"{_MODEL['ideal']}; {reading}",
                *judge_order(*ratio(few, many, "mean")),
            )  # fmt: skip
    yield from _ratios(found)


def _ratios(found: Summaries) -> Iterator[Verdict]:
    """The delivery ratio that belongs to each delay; the paper prints none."""
    for radio in _radios(found):
        for k in BROKERS if radio == "ideal" else BROKERS[1:2]:
            for row in found.select("delivered", l=NEAREST_3B, k=k, radio=radio):
                system, m = row.parameters["system"], row.parameters["m"]
                yield _row(
                    "figure-3b", {"k": k, "m": m, "system": system, "radio": radio},
                    "delivery ratio", None, row.mean, row.mean_low, row.mean_high, row.networks,
                    _MODEL[radio], "not comparable", "the paper prints no ratio beside its delays",
                )  # fmt: skip


def judge_selection(found: Summaries) -> Iterator[Verdict]:
    """[drip §VI-B] "DRIP incurs less delivery delay" than brokers drawn at random."""
    for radio in _radios(found):
        for k in BROKERS if radio == "ideal" else BROKERS[1:2]:
            ours, drawn = (
                found.find("waited", system=system, k=k, radio=radio)
                for system in ("drip", "random")
            )
            yield _row(
                "figure-4", {"k": k, "radio": radio}, "mean waited, ablest / random", "less delay",
                *ratio(ours, drawn, "mean"), ours.networks,
                f"{_MODEL[radio]}; lost ones count as 60 s",
                *judge_order(*ratio(ours, drawn, "mean")),
            )  # fmt: skip


def judge_pairs(found: Summaries) -> Iterator[Verdict]:
    """Without contention nothing is faster than an epidemic: pair by pair, on the same network."""
    for system, claim in (("sf", "DRIP costs less time"), ("drip", "delay decreases with m")):
        for metric, what in (("broker later", "copies at brokers"), ("later", "deliveries")):
            seen = found.find(metric, system=system)
            name = "SF" if system == "sf" else f"m = {COPIES[-1]}"
            opinion = judge_rarely(seen.mean, against=system == "sf")
            yield _row(
                "figure-3b-pairs", {"k": seen.parameters["k"], "system": system},
                f"share of {what} where {name} is later than DRIP with m = 1", claim, seen.mean,
                seen.mean_low, seen.mean_high, seen.networks, _MODEL["ideal"], *opinion,
            )  # fmt: skip


def judge_rarely(share: float, *, against: bool) -> Judged:
    """What a share of pairs below 2 % says of a claim that holds if it is large, or is small."""
    rare = share < _RARE
    holds = rare != against
    return ("agrees" if holds else "differs"), f"later in {100 * share:.2f} % of the pairs"


def _radios(found: Summaries) -> list[str]:
    some = {row.parameters.get("radio") for row in found.rows}
    return [radio for radio in RADIOS if radio in some]
