"""The verdict report as data: verdicts, summaries, digest and times of a reproduction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from halfway.pipeline.reproduction.figures import Figure, Paper, Scale
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.summary import Summary
from halfway.report.verdicts import verdict_wording


@dataclass(frozen=True)
class VerdictReport:
    """A verdict report: a finished reproduction of figures, in the order of the report."""

    figures: Sequence[tuple[Paper, Figure]]
    scale: Scale
    verdicts: Sequence[Verdict]
    summaries: Mapping[tuple[str, str], Sequence[Summary]]  # (paper, figure) -> its summaries
    digest: str  # of the sorted runs; equal on any machine with the same code; empty for none
    version: str
    command: str  # as typed
    elapsed: float  # seconds of wall time of this command
    seconds: Mapping[str, float] = field(default_factory=dict)  # phase -> seconds of all cores
    processor: float | None = None  # seconds of all runs, also of earlier commands
    errors: int = 0  # failed runs, which are not part of any value
    first_error: str = ""

    def papers(self) -> list[Paper]:
        """Return the papers of a verdict report in order, each once."""
        return list({paper.name: paper for paper, _ in self.figures}.values())

    def of(self, paper: Paper, figure: Figure) -> list[Verdict]:
        """Return the verdicts of one figure in a verdict report."""
        return verdict_wording.grouped(self.verdicts).get((paper.name, figure.name), [])

    def summarised(self, paper: Paper, figure: Figure) -> Sequence[Summary]:
        """Return the summaries of one figure in a verdict report."""
        return self.summaries.get((paper.name, figure.name), ())

    def all_summaries(self) -> list[Summary]:
        """Return the summaries of a verdict report's figures, each once, as figures may
        share runs.
        """
        summaries = {
            (row.metric, tuple(sorted((k, str(v)) for k, v in row.parameters.items()))): row
            for rows in self.summaries.values()
            for row in rows
        }
        return list(summaries.values())
