"""`halfway.compare(...)`: a comparison from Python, and its results as pandas frames."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halfway.comparison.compare import Completed
from halfway.comparison.compare import compare as run_comparison
from halfway.comparison.decision import decide
from halfway.comparison.defaults import MAX_REPLICATES, REPLICATES
from halfway.comparison.metrics import LATENCY
from halfway.comparison.request import decision_rule, read_request
from halfway.comparison.results import COLUMNS, Decision, Results
from halfway.pipeline import frames
from halfway.pipeline.store.store import Store
from halfway.problem import Problem


@dataclass(frozen=True)
class Comparison:
    """The result of `halfway.compare` in Python: plain data, and the same data as pandas frames."""

    completed: Completed
    folder: Path  # holds the runs; the same comparison continues from there

    @property
    def results(self) -> Results:
        """All results of a comparison from Python, as plain data."""
        return self.completed.results

    def frame(self) -> "frames.DataFrame":
        """The cells as a pandas frame: point, system, metric, mean, interval, difference."""
        return frames.frame(self.results.rows(), [*self.results.points[0], *COLUMNS])

    def runs(self) -> "frames.DataFrame":
        """The runs as a pandas frame, by metric: point, system, replicate, seed, value.

        A failed run has one row, with its error and without metric and value.
        """
        columns = ("system", "replicate", "seed", "metric", "value", "error")
        return frames.frame(self._values(), [*self.results.points[0], *columns])

    def decision(
        self, need: Mapping[str, float | str] | None = None, minimise: str = "", *, point: int = 0
    ) -> Decision:
        """The system that meets the needs at the least cost, and why each other one is not chosen.

        need: metric -> its least value, of a cost its greatest, such as {"delivery-ratio": 0.95};
        minimise: a cost. Without both, what the comparison was asked for. point: of a sweep. Raises
        Problem for a metric or bound that is not allowed.
        """
        results = self.results
        if not 0 <= point < len(results.points):
            raise Problem(f"point = {point}: expected 0 to {len(results.points) - 1}")
        if need is None and not minimise:
            return results.decisions[point]
        rule = decision_rule(need or {}, minimise)
        return decide(point, results.metrics, results.cells, rule)

    def _values(self) -> Iterator[dict[str, object]]:
        for run in self.completed.runs:
            known: dict[str, object] = {
                **self.results.points[run.point], "system": run.system,
                "replicate": run.replicate, "seed": run.seed,
            }  # fmt: skip
            if run.status != "ok":
                yield {**known, "error": run.error}
            for metric, values in run.observed.items():
                if metric != LATENCY:
                    yield from ({**known, "metric": metric, "value": value} for value in values)


def compare(
    scenario: str | Path,
    systems: str | Sequence[str] = (),
    *,
    user_systems: Sequence[str] = (),
    replicates: int = REPLICATES,
    baseline: str | None = None,
    until: str | None = None,
    max_replicates: int = MAX_REPLICATES,
    changes: Mapping[str, object] | None = None,
    sweep: Mapping[str, Sequence[object]] | None = None,
    need: Mapping[str, float | str] | None = None,
    minimise: str = "",
    seed: int | None = None,
    out: str | Path = "halfway-comparison",
    master: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare systems on a scenario file from Python, as the command `halfway compare` does.

    systems: names, or "gossip,drip" (default: all); user_systems: files or modules with user
    systems; changes: {"workload.events": 20}; sweep: {"radio.success": [0.8, 1.0]};
    until: "half-width=2%,energy"; need: {"delivery-ratio": 0.95} and minimise: "energy", as for
    `Comparison.decision`.
    out: the folder of the runs; finished runs there are not repeated. An active Spark session is
    used as it is. Raises Problem for errors that you can fix.
    """
    names = systems.split(",") if isinstance(systems, str) else systems
    request = read_request(
        scenario, names, user_systems=user_systems, baseline=baseline, replicates=replicates,
        until=until, max_replicates=max_replicates,
        changes={field: _toml(value) for field, value in (changes or {}).items()},
        sweeps={field: ",".join(map(_toml, values)) for field, values in (sweep or {}).items()},
        needs=need, minimise=minimise,
    )  # fmt: skip
    completed = run_comparison(request, Store(Path(out) / "runs"), master, progress, seed)
    return Comparison(completed, Path(out))


def _toml(value: object) -> str:
    """A Python value of a comparison's change or sweep in the syntax of TOML."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case list() | tuple():
            return f"[{', '.join(map(_toml, value))}]"
    return str(value)
