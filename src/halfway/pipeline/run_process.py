"""A process that makes runs of a sweep beside others, without Spark.

`python -m halfway.pipeline.run_process ROWS NUMBERS UNTIL FILE`: the plan rows as JSON, the open
pipe with the numbers of the rows that no process has taken, the end in seconds of the monotonic
clock, and the file for the result rows.
"""

import json
import os
import sys
from pathlib import Path

from halfway.pipeline.parent_process import end_with_parent
from halfway.pipeline.without_spark import make_runs


def main() -> None:
    """Run as a process beside others: make runs of a sweep without Spark while there is time, and
    write a byte to stdout for each run.
    """
    end_with_parent()
    rows, numbers, until, file = sys.argv[1:]
    stdout = os.dup(1)
    os.dup2(2, 1)  # what a protocol prints
    listed = json.loads(Path(rows).read_text("utf-8"))
    make_runs(listed, int(numbers), float(until), Path(file), lambda: _count(stdout))


def _count(stdout: int) -> None:
    os.write(stdout, b".")


if __name__ == "__main__":
    main()
