"""From the result of a finished reproduction to the verdict report. Loads Spark: import it late."""

from collections.abc import Sequence

from halfway.package import __version__
from halfway.pipeline.reproduction.figures import Figure, Paper, Scale
from halfway.pipeline.reproduction.reproduction_run import Result
from halfway.report.verdicts.verdict_report import VerdictReport


def verdict_report(
    figures: Sequence[tuple[Paper, Figure]],
    scale: Scale,
    result: Result,
    command: str,
    elapsed: float,
) -> VerdictReport:
    """Turn the result of a finished reproduction into a verdict report; a figure has the summaries
    of its points.
    """
    summaries = {}
    for paper, figure in figures:
        name = paper.name, figure.name
        own = [point.parameters for point in figure.points(scale)]
        summaries[name] = [row for row in result.summaries[name].rows if row.parameters in own]
    work = result.report.wall_seconds * result.report.cores
    return VerdictReport(
        figures=figures,
        scale=scale,
        verdicts=result.verdicts,
        summaries=summaries,
        digest=result.digest,
        version=__version__,
        command=command,
        elapsed=elapsed,
        seconds={phase: share * work for phase, share in result.report.shares().items()},
        processor=result.processor_s,
        errors=result.report.errors,
        first_error=result.report.first_error,
    )
