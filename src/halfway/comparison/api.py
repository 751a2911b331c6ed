"""`halfway.compare(...)`: a comparison from Python, and its results as frames."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from halfway.comparison import MOST_ADDED, REPLICATES
from halfway.comparison.compare import Answer
from halfway.comparison.compare import compare as answered
from halfway.comparison.metrics import LATENCY
from halfway.comparison.request import asked
from halfway.comparison.results import Compared
from halfway.comparison.tidy import COLUMNS, tidy
from halfway.pipeline.frames import frame
from halfway.pipeline.store.store import Store

if TYPE_CHECKING:
    from halfway.pipeline.frames import DataFrame


@dataclass(frozen=True)
class Comparison:
    """What `compare` gives: plain data, and the same as frames."""

    answer: Answer
    folder: Path  # with the runs; the same question asked again goes on from there

    @property
    def compared(self) -> Compared:
        """Everything that was found."""
        return self.answer.compared

    def frame(self) -> "DataFrame":
        """A pandas frame, one row a cell: point, system, metric, mean, interval, difference."""
        return frame(tidy(self.compared), [*self.compared.points[0], *COLUMNS])

    def runs(self) -> "DataFrame":
        """A pandas frame, one row a run and metric: point, system, replicate, seed, value.

        A run that failed has one row, without metric and value, with its error.
        """
        columns = ("system", "replicate", "seed", "metric", "value", "error")
        return frame(self._values(), [*self.compared.points[0], *columns])

    def _values(self) -> Iterator[dict[str, object]]:
        for ran in self.answer.runs:
            known: dict[str, object] = {
                **self.compared.points[ran.point], "system": ran.system,
                "replicate": ran.replicate, "seed": ran.seed,
            }  # fmt: skip
            if ran.status != "ok":
                yield {**known, "error": ran.error}
            for metric, values in ran.observed.items():
                if metric != LATENCY:
                    yield from ({**known, "metric": metric, "value": value} for value in values)


def compare(
    scenario: str | Path,
    systems: Sequence[str] = (),
    *,
    own: Sequence[str] = (),
    replicates: int = REPLICATES,
    baseline: str | None = None,
    until: str | None = None,
    most: int = MOST_ADDED,
    changes: Mapping[str, object] | None = None,
    sweep: Mapping[str, Sequence[object]] | None = None,
    seed: int | None = None,
    out: str | Path = "halfway-comparison",
    master: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Lay systems side by side on a scenario file, as `halfway compare` does.

    systems: names (default: all); own: files or modules with protocols of yours; changes:
    {"workload.events": 20}; sweep: {"radio.success": [0.8, 1.0]}; until: "half-width=2%,energy".
    out: where runs are kept; what is finished there is not run again. An active Spark session is
    used as it is. Raises Problem for whatever you can mend.
    """
    question = asked(
        scenario, systems, own=own, baseline=baseline, replicates=replicates, until=until,
        most=most, changes={field: _toml(value) for field, value in (changes or {}).items()},
        sweeps={
            field: ",".join(map(_toml, values)) for field, values in (sweep or {}).items()
        },
    )  # fmt: skip
    folder = Path(out)
    return Comparison(answered(question, Store(folder / "runs"), master, progress, seed), folder)


def _toml(value: object) -> str:
    """A value as it is written in a scenario."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case list() | tuple():
            return f"[{', '.join(map(_toml, value))}]"
    return str(value)
