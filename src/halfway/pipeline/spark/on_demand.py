"""A Spark session that opens when a command first needs Spark. Imports Spark only then."""

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from halfway.pipeline.spark.masters import chosen_master, is_local, tasks_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class OnDemand:
    """A Spark session on demand: `get()` opens it, and the end of the `with` block closes it.

    event_log: the folder for Spark's log of its jobs. Raises Problem if the master is malformed.
    """

    def __init__(self, master: str | None = None, event_log: Path | None = None) -> None:
        self._event_log = event_log
        self.master = chosen_master(master)
        self._stack = contextlib.ExitStack()
        self._session: SparkSession | None = None

    def __enter__(self) -> "OnDemand":
        return self

    def __exit__(self, *_error: object) -> None:
        self._session = None
        self._stack.close()

    @property
    def opened(self) -> bool:
        """Whether the Spark session on demand was needed."""
        return self._session is not None

    def get(self) -> "SparkSession":
        """Return the Spark session on demand, which the first call opens or takes from a
        notebook.
        """
        if self._session is None:
            from halfway.pipeline.spark.session import session  # imports Spark

            self._session = self._stack.enter_context(session(self.master, self._event_log))
        return self._session

    def cores_here(self) -> int:
        """Return the cores of this machine for runs that need no Spark session on demand; 0: the
        runs must use Spark.

        The runs need Spark if the master is on another machine, if Spark has started already, or if
        its log is asked for.
        """
        if self._event_log or self.opened or not is_local(self.master) or _has_active_session():
            return 0
        return min(tasks_of(self.master) or 1, os.cpu_count() or 1)


def local_cores(master: str | None) -> int:
    """Return how many cores of this machine a Spark session on demand with a master would use; 0:
    the master is on another machine.
    """
    return tasks_of(chosen_master(master)) or 0


def _has_active_session() -> bool:
    if "pyspark.sql" not in sys.modules:
        return False
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() is not None
