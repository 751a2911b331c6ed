"""The contents of a verdict report: verdicts, summaries, digest and times of a reproduction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import halfway
from halfway.pipeline.study import Figure, Paper, Scale, Summaries, Summary
from halfway.pipeline.verdict import Verdict
from halfway.report import wording

if TYPE_CHECKING:
    from halfway.pipeline.reproduce import Result


@dataclass(frozen=True)
class VerdictReport:
    """A finished reproduction of figures, in the order of the report."""

    figures: Sequence[tuple[Paper, Figure]]
    scale: Scale
    verdicts: Sequence[Verdict]
    summaries: Mapping[tuple[str, str], Sequence[Summary]]  # (paper, figure) -> its summaries
    digest: str  # of the sorted runs; equal on any machine with the same code; empty for none
    version: str
    command: str  # as typed
    elapsed: float  # seconds of wall time
    seconds: Mapping[str, float] = field(default_factory=dict)  # phase -> seconds of all cores
    errors: int = 0  # failed runs, which are not part of any value
    first_error: str = ""

    def papers(self) -> list[Paper]:
        """The papers in order, each once."""
        return list({paper.name: paper for paper, _ in self.figures}.values())

    def of(self, paper: Paper, figure: Figure) -> list[Verdict]:
        """The verdicts of one figure."""
        return wording.grouped(self.verdicts).get((paper.name, figure.name), [])

    def summarised(self, paper: Paper, figure: Figure) -> Sequence[Summary]:
        """The summaries of one figure."""
        return self.summaries.get((paper.name, figure.name), ())

    def all_summaries(self) -> list[Summary]:
        """The summaries of all figures, each once, as figures may share runs."""
        found = {
            (row.metric, tuple(sorted((k, str(v)) for k, v in row.parameters.items()))): row
            for rows in self.summaries.values()
            for row in rows
        }
        return list(found.values())


def verdict_report(
    figures: Sequence[tuple[Paper, Figure]],
    scale: Scale,
    result: "Result",
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
