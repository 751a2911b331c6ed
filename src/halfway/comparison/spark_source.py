"""The Spark data source `halfway`: a scenario in, tidy rows out; and finished result folders.

    spark.dataSource.register(HalfwaySource)
    spark.read.format("halfway").option("scenario", "mesh.toml").load()
    spark.read.format("halfway").load("halfway-comparison")

Nothing heavy is imported here: a worker of a cluster must unpack this package before that.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from halfway.comparison import REPLICATES
from halfway.pipeline.source import (
    PlannedRuns,
    ResultSource,
    SimulatedRuns,
    column_type,
    cut,
    listed,
    spark_columns,
)
from halfway.problem import Problem

_TASKS = 32  # if nobody says how many; a worker that is done takes the next
_KNOWN = {"path", "scenario", "systems", "system", "replicates", "seed", "partitions", "parameters"}


class HalfwaySource(ResultSource):
    """Option `scenario` (a TOML file) simulates it; without it, `path` names finished results.

    Beside `scenario`: `systems` ("gossip,flooding"; default all), `system` (files of your own),
    `replicates` (10), `seed`, `partitions` (tasks), `set.FIELD` and `sweep.FIELD` (as typed
    in a shell). A system that cannot run there is one row whose `error` says why.
    """

    def schema(self) -> Any:
        """Columns: system, and what a sweep varies with _ for its dots; or those of the folder."""
        if "scenario" not in self.options:
            return super().schema()
        from halfway.adapters.user_protocol import read_user_system, user_system
        from halfway.scenario.sweep import read_sweep

        options = _read(self.options)
        own = {one.name: user_system(one) for one in map(read_user_system, options["own"])}
        _, points = read_sweep(options["path"], options["changes"], options["sweeps"], own)
        columns: dict[str, pa.DataType] = {"system": pa.string()}
        for field in points[0].varies:
            columns[_column(field)] = column_type({type(point.varies[field]) for point in points})
        return spark_columns(columns)

    def reader(self, schema: Any) -> Any:
        """Of a scenario or of a folder."""
        if "scenario" not in self.options:
            return super().reader(schema)
        return ScenarioRuns(schema, _read(self.options))


class ScenarioRuns(SimulatedRuns):
    """The runs of `halfway compare` on a scenario, with the same keys and seeds."""

    def __init__(self, schema: Any, options: dict[str, Any]) -> None:
        super().__init__(schema)
        self.options = options

    def partitions(self) -> Sequence[PlannedRuns]:
        """Tasks of the plan, and one that tells who cannot run."""
        from halfway.comparison.points import point_of
        from halfway.comparison.request import asked
        from halfway.pipeline.plan.plan import ROOT_SEED, canonical, plan

        options = self.options
        question = asked(
            options["path"], options["systems"], own=options["own"],
            replicates=options["replicates"], most=options["replicates"],
            changes=options["changes"], sweeps=options["sweeps"],
        )  # fmt: skip
        points = []
        words: dict[str, list[dict[str, Any]]] = {}  # several: points of other systems' options
        for point in question.points:
            varies = {_column(field): value for field, value in point.varies.items()}
            for contender in question.contenders:
                points.append(point_of(point.scenario, contender))
                known = varies | {"system": contender.name}
                words.setdefault(canonical(points[-1].parameters), []).append(known)
        seed = ROOT_SEED if options["seed"] is None else options["seed"]
        found = cut(plan(points, options["replicates"], seed), words, options["partitions"])
        unsupported = [({"key": None, "status": "error", "error": f"cannot run here: {why}"},
                  {"system": name}) for name, why in question.unsupported.items()]  # fmt: skip
        if unsupported:
            found.append(
                PlannedRuns([row for row, _ in unsupported], [[word] for _, word in unsupported])
            )
        return found


def _column(field: str) -> str:
    """`workload.events` as a column that needs no quotes."""
    return field.replace(".", "_")


def _read(options: Mapping[str, str]) -> dict[str, Any]:
    """Spark's options, whose names it gives in small letters, as what they mean."""
    changes, sweeps = {}, {}
    for name, value in options.items():
        kind, _, field = name.partition(".")
        if kind == "set" and field:
            changes[field] = value
        elif kind == "sweep" and field:
            sweeps[field] = value
        elif name not in _KNOWN:
            raise Problem(f"option {name} is none of {', '.join(sorted(_KNOWN))}",
                          remedy="nor set.FIELD nor sweep.FIELD")  # fmt: skip
    return {
        "path": options["scenario"],
        "systems": listed(options.get("systems", "")),
        "own": listed(options.get("system", "")),
        "replicates": _number(options, "replicates", REPLICATES, 1),
        "seed": _number(options, "seed", 0, 0) if "seed" in options else None,
        "partitions": _number(options, "partitions", _TASKS, 1),
        "changes": changes,
        "sweeps": sweeps,
    }


def _number(options: Mapping[str, str], name: str, default: int, least: int) -> int:
    text = options.get(name, str(default))
    if not text.isdigit() or int(text) < least:
        raise Problem(f"option {name} = {text} is no whole number from {least} on")
    return int(text)
