"""Verdicts on DRIP's claims under other interpretations of single sentences, one at a time."""

from collections.abc import Iterator

from halfway.papers.drip import claims
from halfway.papers.drip.claims import NEAREST_3B
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.verdict import Verdict

FIGURE = "interpretations"
BROKERS, COPIES = (10, 40), (1, 4)  # k and m
# Name of an interpretation -> the parameters of its points, and its sentence.
INTERPRETATIONS: dict[str, tuple[dict[str, Scalar], str]] = {
    "delay by distance": (
        {"radio": "distance"},
        "a hop takes a time in direct ratio to its length, 1 ms for 120 m",
    ),
    "bridges between the two nearest": (
        {"two_nearest": True},
        "a bridge node carries records between its two nearest brokers only",
    ),
    "copies to relays only": (
        {"relays_only": True},
        "a source gives copies to its m relays only, and relays give copies to interested brokers",
    ),
    "each node detects": (
        {"detection": "each"},
        "a node detects an event with its ability as probability; the first copy counts",
    ),
}


def judge_interpretations(summaries: Summaries) -> Iterator[Verdict]:
    """Judge DRIP's claims of Figures 3 and 4 [drip §VI-B] under other interpretations of single
    sentences, one at a time.
    """
    for name, (_, sentence) in INTERPRETATIONS.items():
        parameters: dict[str, Scalar] = {"reading": name}
        yield from claims.coverage_rows(
            summaries, FIGURE, sentence, NEAREST_3B, BROKERS, COPIES, parameters
        )
        for metric, interpretation in claims.DELAYS:
            words = f"{sentence}; {interpretation}"
            yield from claims.rows_against_sf(
                summaries, FIGURE, metric, words, BROKERS, COPIES, parameters
            )
            for k in BROKERS:
                yield claims.selection_row(
                    summaries, FIGURE, metric, words, {"k": k, **parameters}, m=1
                )
            yield from claims.rows_by_k(
                summaries, FIGURE, metric, words, BROKERS, COPIES, parameters
            )
