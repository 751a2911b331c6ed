"""A sweep as a process of its own: `python -m tests.pipeline.driver FOLDER MASTER JSON`.

JSON: {"replicates": …, "parameters": {…}, "batch_seconds": …, "modules": an archive for workers
that do not know the toys}. Prints one JSON line at the end.
"""

import json
import sys

from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.spark.batch import context_of
from halfway.pipeline.spark.java import find_java
from halfway.pipeline.spark.session import session
from halfway.pipeline.store.results_digest import digest
from halfway.pipeline.store.store import Store
from halfway.pipeline.sweep import sweep
from tests.pipeline.toys import points


def main() -> None:
    """Sweep the toys."""
    folder, master, given_json = sys.argv[1:]  # no master: SPARK_REMOTE
    given = json.loads(given_json)
    store = Store(folder)
    counts: list[int] = []  # finished runs
    with session(master or None) as spark:
        if "modules" in given:
            if context_of(spark) is None:
                spark.addArtifacts(given["modules"], pyfile=True)
            else:
                spark.sparkContext.addPyFile(given["modules"])
        planned = plan(points(**given["parameters"]), given["replicates"])
        report = sweep(
            spark, store, planned, lambda done, _: counts.append(done),
            batch_seconds=given["batch_seconds"],
        )  # fmt: skip
    found = {
        "digest": digest(store), "made": report.made, "java": find_java().origin,
        "progress": sorted(set(counts)), "cores": report.cores,
    }  # fmt: skip
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
