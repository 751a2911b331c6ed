"""The verdict report of a finished reproduction. Loads Spark: import it late."""

from collections.abc import Sequence

import halfway
from halfway.pipeline.reproduce import Result
from halfway.pipeline.study import Figure, Paper, Scale, Summaries, Summary
from halfway.report.verdicts.verdict_report import VerdictReport


def verdict_report(
    figures: Sequence[tuple[Paper, Figure]],
    scale: Scale,
    result: Result,
    command: str,
    elapsed: float,
) -> VerdictReport:
    """The report of a finished `reproduce`; each figure with the summaries of its own points."""
    work = result.report.wall_seconds * result.report.cores
    return VerdictReport(
        figures=figures,
        scale=scale,
        verdicts=result.verdicts,
        summaries={
            (paper.name, figure.name): _own(
                figure, scale, result.summaries[paper.name, figure.name]
            )
            for paper, figure in figures
        },
        digest=result.digest,
        version=halfway.__version__,
        command=command,
        elapsed=elapsed,
        seconds={phase: share * work for phase, share in result.report.shares().items()},
        errors=result.report.errors,
        first_error=result.report.first_error,
    )


def _own(figure: Figure, scale: Scale, found: Summaries) -> list[Summary]:
    points = [point.parameters for point in figure.points(scale)]
    return [row for row in found.rows if row.parameters in points]
