"""The Spark data source `halfway` for scenarios: rows of the runs of a comparison; it also reads
finished result folders.

    spark.dataSource.register(HalfwaySource)
    spark.read.format("halfway").option("scenario", "mesh.toml").load()
    spark.read.format("halfway").load("halfway-comparison")

This module imports nothing heavy: a worker of a cluster must unpack this package first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from halfway.comparison.defaults import REPLICATES
from halfway.pipeline import source
from halfway.pipeline.tidy_rows import column_type, spark_columns
from halfway.problem import Problem

_TASKS = 32  # by default; a worker that is done takes the next
_KNOWN = {"path", "scenario", "systems", "system", "replicates", "seed", "partitions", "parameters"}


class HalfwaySource(source.ResultSource):
    """The data source `halfway`: option `scenario` (TOML) simulates, `path` names finished results.

    With `scenario`: `systems` ("gossip,flooding"; default all), `system` (files of user systems),
    `replicates` (10), `seed`, `partitions` (tasks), `set.FIELD` and `sweep.FIELD` (as on the
    command line). A system that cannot run there is one row whose `error` gives the reason.
    """

    def schema(self) -> Any:
        """Return the columns of the data source `halfway`: system and swept fields of the scenario
        (_ for dots), or a result folder's.
        """
        if "scenario" not in self.options:
            return super().schema()
        from halfway.adapters.user_protocol import read_user_system, user_system
        from halfway.scenario.swept_points import read_sweep

        options = _read(self.options)
        own = map(read_user_system, options["user_systems"])
        of_user = {system.name: user_system(system) for system in own}
        _, points = read_sweep(options["path"], options["changes"], options["sweeps"], of_user)
        columns: dict[str, pa.DataType] = {"system": pa.string()}
        for field in points[0].varies:
            columns[_column(field)] = column_type({type(point.varies[field]) for point in points})
        return spark_columns(columns)

    def reader(self, schema: Any) -> Any:
        """Return the reader of the data source `halfway`: of the scenario's runs, or of a result
        folder.
        """
        if "scenario" not in self.options:
            return super().reader(schema)
        return ScenarioRuns(schema, _read(self.options))


class ScenarioRuns(source.SimulatedRuns):
    """The data source's reader of a scenario: runs, keys and seeds of `halfway compare`."""

    def __init__(self, schema: Any, options: dict[str, Any]) -> None:
        super().__init__(schema)
        self.options = options

    def partitions(self) -> Sequence[source.PlannedRuns]:
        """Return the tasks in which the data source `halfway` simulates a scenario: the tasks of
        its plan, and one task for all unsupported systems.
        """
        from halfway.comparison.plan import point_of
        from halfway.comparison.request import read_request
        from halfway.pipeline.plan.sweep_plan import canonical, plan

        options = self.options
        request = read_request(
            options["path"],
            options["systems"],
            user_systems=options["user_systems"],
            replicates=options["replicates"],
            max_replicates=options["replicates"],
            changes=options["changes"],
            sweeps=options["sweeps"],
        )
        points = []
        # A run has several where points vary only an option of another system.
        words: dict[str, list[dict[str, Any]]] = {}
        for point in request.points:
            varies = {_column(field): value for field, value in point.varies.items()}
            for system in request.systems:
                points.append(point_of(point.scenario, system))
                known = varies | {"system": system.name}
                words.setdefault(canonical(points[-1].parameters), []).append(known)
        planned = source.cut(
            plan(points, options["replicates"], options["seed"]), words, options["partitions"]
        )
        if request.unsupported:
            reasons = [f"cannot run here: {why}" for why in request.unsupported.values()]
            rows = [{"key": None, "status": "error", "error": reason} for reason in reasons]
            systems = [[{"system": name}] for name in request.unsupported]
            planned.append(source.PlannedRuns(rows, systems))
        return planned


def _column(field: str) -> str:
    """Return a swept scenario field as a Spark column that needs no quotes: "workload_events"."""
    return field.replace(".", "_")


def _read(options: Mapping[str, str]) -> dict[str, Any]:
    """Return the options of the data source for a scenario; Spark passes their names in
    lower case.
    """
    from halfway.pipeline.plan.sweep_plan import ROOT_SEED

    changes, sweeps = {}, {}
    for name, value in options.items():
        kind, _, field = name.partition(".")
        if kind == "set" and field:
            changes[field] = value
        elif kind == "sweep" and field:
            sweeps[field] = value
        elif name not in _KNOWN:
            known = ", ".join(sorted(_KNOWN))
            raise Problem(f"option {name}: expected one of {known}, set.FIELD, sweep.FIELD")
    return {
        "path": options["scenario"],
        "systems": source.listed(options.get("systems", "")),
        "user_systems": source.listed(options.get("system", "")),
        "replicates": _number(options, "replicates", REPLICATES, 1),
        "seed": _number(options, "seed", ROOT_SEED, 0),
        "partitions": _number(options, "partitions", _TASKS, 1),
        "changes": changes,
        "sweeps": sweeps,
    }


def _number(options: Mapping[str, str], name: str, default: int, least: int) -> int:
    text = options.get(name, str(default))
    if not text.isdigit() or int(text) < least:
        raise Problem(f"option {name} = {text}: expected a whole number, at least {least}")
    return int(text)
