"""Judge of paper 1's loads under other readings of its pairs and of its weights."""

from collections.abc import Iterator
from functools import partial

from halfway.papers.claims.thresholds import LOAD_TOLERANCE
from halfway.papers.directional_walks.claims import HERE, judged_maximum, statistic
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries, Summary
from halfway.pipeline.reproduction.judge import judge_number
from halfway.pipeline.reproduction.published import published
from halfway.pipeline.reproduction.verdict import Verdict

# Other readings of Figures 7 and 8: system, pairs, owner of the raised weights.
LOAD_READINGS = (
    ("directional-walk", "both ways", "walk"),
    ("random-walk", "both ways", "walk"),
    ("directional-walk", "permutation", "node"),
)


def _at(found: Summaries, cell: dict[str, Scalar], metric: str) -> Summary:
    return found.find(metric, **cell)


def judge_load_readings(found: Summaries) -> Iterator[Verdict]:
    """Judge Figures 7 and 8 of directional walks [drw §4.3] under other readings: pairs both ways,
    and raised weights that belong to the nodes."""
    for system, pairing, weights in LOAD_READINGS:
        reading: dict[str, Scalar] = {"pairing": pairing, "weights": weights}
        words = f"heard; pairs: {pairing}; weights of the {weights}"
        for figure in ("figure-7", "figure-8"):
            for row in published(HERE / f"{figure}.csv"):
                if row.cell["system"] != system or row.metric == "minimum load":
                    continue
                at = partial(_at, found, {"n": row.cell["n"], "system": system, **reading})
                if figure == "figure-8":
                    seen = at("largest load")
                    estimate: tuple[float, float | None, float | None] = (seen.maximum, None, None)
                    judged = judged_maximum(row, seen)
                else:
                    seen = at("load")
                    value, low, high = estimate = statistic(seen, row.metric.split()[0])
                    judged = judge_number(
                        row.value, value, low, high, relative=LOAD_TOLERANCE, rounding=row.rounding
                    )
                yield Verdict(
                    "directional-walks", "figures-7-8-readings", {**row.cell, **reading},
                    row.metric, row.value, *estimate, seen.networks, words, *judged,
                )  # fmt: skip
