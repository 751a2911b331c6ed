"""The verdicts on Figures 5 and 6 of paper 5 if links lose messages and control messages count."""

from collections.abc import Iterator
from functools import partial

from halfway.papers.underlay_siena import claims, points
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.verdict import Verdict

FIGURE = "figures-5-6-network"


def judge_network(summaries: Summaries) -> Iterator[Verdict]:
    """Judge Figures 5 and 6 [uas §5] if links lose messages and control messages count, Algorithm 1
    as printed.
    """
    for loss in points.LOSSES:
        for where in points.BROKERS_FAIL:
            cell: dict[str, Scalar] = {"remedy": "none", "where": where, "loss": loss}
            words = f"a link loses {loss:g} of the messages; failures detected by PINGs"
            yield from claims.delivery_rows(summaries, FIGURE, cell, words, loss=loss)
    for interest, window in points.MODELS:
        for events in (points.EVENT_COUNTS[0], points.EVENTS):
            model: dict[str, Scalar] = {
                "events": events,
                "interest": interest,
                "window_s": window,
                "queueing": "overlay",
            }
            more = f"; a link loses {points.LOSSES[0]:g} of the messages; brokers PING each second"
            yield from claims.latency_rows(summaries, FIGURE, {"remedy": "none", **model}, more)
            yield from _measured(summaries, model, more)


def _measured(summaries: Summaries, model: dict[str, Scalar], more: str) -> Iterator[Verdict]:
    """Yield a network model's control messages and deliveries, for which the paper prints no
    numbers.
    """
    at = partial(summaries.find, system="underlay-siena", balance=points.BALANCES[-1])
    for metric, name in (
        ("control", "PINGs and their answers / messages with events"),
        ("arrived", "notifications that arrive, %"),
    ):
        seen = at(metric, **model)
        yield Verdict(
            paper="underlay-siena", figure=FIGURE, cell=model, metric=name, published=None,
            measured=seen.mean, low=seen.mean_low, high=seen.mean_high, replicates=seen.networks,
            interpretation=f"{points.BALANCES[-1]}{more}", verdict="ours open",
            reason="the paper prints no control traffic and no losses",
        )  # fmt: skip
