"""Failures of Spark: one line with the cause, from the workers' log if Spark has none."""

from pathlib import Path

from halfway.pipeline.spark.failure import explained

LOG = """ERROR Executor: Exception in task 0.0 in stage 0.0 (TID 0)
org.apache.spark.SparkException:
\tat org.apache.spark.api.python.BasePythonRunner.compute(PythonRunner.scala:1)
java.lang.IllegalStateException: nothing here
Traceback (most recent call last):
  File "/x/queue.py", line 1, in <module>
    raise ImportError("not the queue of Python")
ImportError: not the queue of Python
org.apache.spark.SparkException: Python worker failed to connect back.
"""


def test_a_failure_without_a_cause_has_the_last_words_of_a_worker() -> None:
    failure = RuntimeError("org.apache.spark.SparkException: ")
    problem = str(explained(failure, Path("runs"), LOG))
    assert "a worker's Python: ImportError: not the queue of Python" in problem
    assert "\n" not in problem
    assert "nothing here" not in problem
    assert "worker's Python" not in str(explained(failure, Path("runs"), "java.io.IOException: x"))


def test_the_words_of_the_failure_itself_come_first() -> None:
    text = "Job aborted\nTraceback\nValueError: no such column\n"
    problem = str(explained(RuntimeError(text), Path("runs"), LOG))
    assert "ValueError: no such column" in problem
    assert "ImportError" not in problem


def test_a_crash_of_python_is_named() -> None:
    log = "Fatal Python error: Segmentation fault\n\nThread 0x7f (most recent call first):\n"
    assert "Segmentation fault" in str(explained(RuntimeError("lost"), Path("runs"), log))


def test_a_worker_that_ends_at_once_shows_its_last_line() -> None:
    """Spark quotes what the worker wrote, and its own cause has no message there."""
    text = """An error occurred while calling o1334.parquet.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 1 times
Error from python worker:
  importing the protocol
  licence server unreachable
PYTHONPATH was:
  lib/pyspark.zip
org.apache.spark.SparkException: EOFException occurred while reading the port number.
\tat org.apache.spark.errors.SparkCoreErrors$.x(SparkCoreErrors.scala:55)
Caused by: org.apache.spark.SparkException:
\tat java.base/java.lang.Thread.run(Thread.java:840)"""
    problem = str(explained(RuntimeError(text), Path("runs")))
    assert problem.startswith(
        "runs: Spark failed: org.apache.spark.SparkException: EOFException occurred while reading "
        "the port number; a worker's Python: licence server unreachable (finished batches"
    )
    bare = str(explained(RuntimeError("x\nCaused by: a.b.CException:"), Path("runs")))
    assert bare.startswith("runs: Spark failed: a.b.CException (")
