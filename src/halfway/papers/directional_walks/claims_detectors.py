"""The judge of paper 1, §2: failure detection over publish/subscribe, compared with gossip.

The section has sentences, and no numbers. Sentences that order systems are judged; all other values
are only measured.
"""

from collections.abc import Iterator
from functools import partial

from halfway.papers.claims.thresholds import RARE, VERY_NEAR, percent
from halfway.papers.directional_walks.claims_lists import LIST
from halfway.papers.directional_walks.detector_points import (
    BROADCAST,
    DETECTORS,
    GOSSIP,
    MERGED,
    PATHS,
    PRINTED,
    PROBES,
    REFRESH_S,
    SCENARIOS,
)
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import judge_order, judge_range, ours
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import difference, ratio
from halfway.pipeline.statistics.summary import Summary

_row = partial(Verdict, "directional-walks", "section-2")
_Detector = tuple[str, float]
_INSTEAD = "can be used instead of the gossip algorithm"
_FAILURE = "does not manage the failure of the nodes that compose the routing path"
_REFRESHED, _MERGED, _PROBES = (PATHS, REFRESH_S), (MERGED, REFRESH_S), (PROBES, 0.0)
_GOSSIPS: tuple[_Detector, ...] = ((GOSSIP, 0.0), (BROADCAST, 0.0))
_WRONG = "share of the time in which a monitor suspects a member that is up"
_ALL = "s until all monitors suspect a crashed member"
_MESSAGES = "messages of a member in a second"
# Metrics that are only measured, with the scenarios that have values.
_MEASURED = {
    "first": ("s until the first monitor suspects a crashed member", ("deaths",)),
    "all": (_ALL, ("deaths",)),
    "wrong": (_WRONG, ("deaths", "loss", "slow nodes")),
    "messages": (_MESSAGES, SCENARIOS),
}


def judge_detectors(summaries: Summaries) -> Iterator[Verdict]:
    """Judge failure detection over directional walks [drw §2] by its sentences."""
    yield from _lists(summaries)
    for detector in (PRINTED, _REFRESHED, _PROBES):
        yield from _instead(summaries, detector)
    yield from _broken_paths(summaries)
    yield from _merged(summaries)
    for detector in (_REFRESHED, _PROBES, _MERGED):
        yield from _against_broadcast(summaries, detector)
    for metric, (words, scenarios) in _MEASURED.items():
        for scenario in scenarios:
            for detector in DETECTORS:
                seen = _of(summaries, metric, scenario, detector)
                yield _row(
                    _cell(scenario, detector), words, None, *_mean(seen), seen.networks,
                    "periods and time-outs are ours", "ours open", "the paper measures none of it",
                )  # fmt: skip


def _of(summaries: Summaries, metric: str, scenario: str, detector: _Detector) -> Summary:
    system, refresh_s = detector
    return summaries.find(metric, scenario=scenario, system=system, refresh_s=refresh_s)


def _cell(scenario: str, detector: _Detector) -> dict[str, Scalar]:
    system, refresh_s = detector
    launched = {PATHS: {"walks": f"every {refresh_s:g} s" if refresh_s else "once, as printed"}}
    return {"scenario": scenario, "system": system, **launched.get(system, {})}


def _mean(seen: Summary) -> tuple[float, float, float]:
    return seen.mean, seen.mean_low, seen.mean_high


def _lists(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the lists of members that failure detectors over directional walks give."""
    seen = _of(summaries, "listed", "calm", PRINTED)
    yield _row(
        _cell("calm", PRINTED), "share of the members that a node lists", LIST, *_mean(seen),
        seen.networks,
        "a list has the members whose heartbeats a node received, if walks merge; measured from "
        "30 s on",
        *judge_range(1.0, 1.0, *_mean(seen), rounding=0.0),
    )  # fmt: skip


def _instead(summaries: Summaries, detector: _Detector) -> Iterator[Verdict]:
    """Judge whether a detector over directional walks can replace gossip."""
    calm = _of(summaries, "mistakes", "calm", detector)
    yield _row(
        _cell("calm", detector), "mistakes of a monitor about a member in an hour", _INSTEAD,
        *_mean(calm), calm.networks, "without a fault, no member is suspected",
        *judge_range(0.0, 0.0, *_mean(calm), rounding=0.0),
    )  # fmt: skip
    for gossip in _GOSSIPS:
        share = ratio(
            _of(summaries, "detected", "deaths", gossip),
            _of(summaries, "detected", "deaths", detector),
            "mean",
        )
        yield _row(
            _cell("deaths", detector), f"detected share of crashes, {gossip[0]} / this", _INSTEAD,
            *share, calm.networks,
            f'"instead" means at most {percent(VERY_NEAR)} fewer detections than gossip',
            *judge_order(*share, equal=1 + VERY_NEAR),
        )  # fmt: skip
    wrong = _of(summaries, "wrong", "deaths", detector)
    yield _row(
        _cell("deaths", detector), f"{_WRONG}, while others die", _INSTEAD, *_mean(wrong),
        wrong.networks, f'"instead" means at most {percent(RARE)} of the time',
        *judge_order(*_mean(wrong), equal=RARE, what="share"),
    )  # fmt: skip


def _broken_paths(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the effect of node crashes on the paths of directional walks, as printed."""
    printed = _of(summaries, "wrong", "deaths", PRINTED)
    for gossip in _GOSSIPS:
        more = difference(_of(summaries, "wrong", "deaths", gossip), printed, "mean")
        yield _row(
            _cell("deaths", PRINTED), f"{_WRONG}, {gossip[0]} - this", _FAILURE, *more,
            printed.networks, "a tenth of all nodes dies", *judge_order(*more, equal=0.0),
        )  # fmt: skip
    more = difference(_of(summaries, "wrong", "deaths", _REFRESHED), printed, "mean")
    yield _row(
        _cell("deaths", _REFRESHED), f"{_WRONG}, this - as printed", None, *more,
        printed.networks, "walks are launched again every 10 s",
        *ours(judge_order(*more, equal=0.0)),
    )  # fmt: skip


def _merged(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the merger of directional walks with gossip, the paper's further work."""
    for metric, words, rivals in (
        ("wrong", _WRONG, (PRINTED, _REFRESHED)),
        ("messages", _MESSAGES, (_REFRESHED,)),
    ):
        for rival in rivals:
            mine = _of(summaries, metric, "deaths", _MERGED)
            more = difference(mine, _of(summaries, metric, "deaths", rival), "mean")
            against = ", ".join(str(part) for part in list(_cell("", rival).values())[1:])
            yield _row(
                _cell("deaths", _MERGED), f"{words}, this - {against}", None, *more,
                mine.networks, "further work of the paper; the rules are ours",
                *ours(judge_order(*more, equal=0.0)),
            )  # fmt: skip


def _against_broadcast(summaries: Summaries, detector: _Detector) -> Iterator[Verdict]:
    """Judge whether a detector over directional walks is sooner, more accurate or cheaper than
    gossip by broadcast.
    """
    for metric, words in (("all", _ALL), ("wrong", _WRONG), ("messages", _MESSAGES)):
        mine = _of(summaries, metric, "deaths", detector)
        more = difference(mine, _of(summaries, metric, "deaths", (BROADCAST, 0.0)), "mean")
        yield _row(
            _cell("deaths", detector), f"{words}, this - {BROADCAST}", None, *more, mine.networks,
            "the paper compares no costs; options are ours", *ours(judge_order(*more, equal=0.0)),
        )  # fmt: skip
