"""Verdicts on DRIP's delay pair by pair [drip §VI-B]: which system, or which number m of copies, is
later.
"""

from collections.abc import Iterator
from functools import partial

from halfway.papers.claims.thresholds import RARE
from halfway.papers.drip.claims import COPIES, ELECTED, LESS_THAN_SF, LESS_WITH_M, MODEL
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import judge_order
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import difference
from halfway.pipeline.statistics.summary import Summary

PAIRS = 20  # k, pair by pair
_COUNTED = {  # by place: what a pair is
    "broker ": "copies at brokers that one with m = 1 reaches, the source's own included; a copy "
    "that never comes is later",
    "": "deliveries of both systems",
}
_PAIR = {
    "sf": "DRIP is later than SF − where it is earlier",
    "drip": f"m = {COPIES[-1]} is later than m = 1 − where it is earlier",
}


def judge_pairs(summaries: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's delay pair by pair, on the same network; without contention an epidemic is
    fastest.
    """
    for elected, which in ELECTED.items():
        for system, claim in (("sf", LESS_THAN_SF), ("drip", LESS_WITH_M)):
            at = partial(summaries.find, system=system, elected=elected)
            for place, what in (("broker ", "copies at brokers"), ("", "deliveries")):
                later, earlier = at(f"{place}later"), at(f"{place}earlier")
                # SF is the slower system in its claim, and four copies are the faster choice in
                # theirs.
                slower, faster = (earlier, later) if system == "sf" else (later, earlier)
                net = difference(slower, faster, "mean")
                opinion, reason = judge_order(*net, equal=0.0, relevant=RARE)
                name = "SF" if system == "sf" else f"m = {COPIES[-1]}"
                said = f"{name} is later in {_percent(later)}, and earlier in {_percent(earlier)}"
                yield Verdict(
                    "drip", "figure-3b-pairs", {"k": PAIRS, "system": system, "elected": elected},
                    f"{what}, share where {_PAIR[system]}", claim, *net, later.networks,
                    f"{MODEL['ideal']}; {which}; {_COUNTED[place]}", opinion,
                    f"{said}; {reason}",
                )  # fmt: skip


def _percent(share: Summary) -> str:
    return f"{100 * share.mean:.2f} % of {share.units} pairs"
