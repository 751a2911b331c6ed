"""Spark masters: their forms, and the number of tasks that a master runs on this machine. Imports
no Spark.
"""

import os
import re
import socket
from urllib.parse import urlsplit

from halfway.problem import Problem, reason_of

_MASTER = re.compile(
    r"local(\[(\*|[1-9]\d*)(,\s*[1-9]\d*)?\])?|local-cluster\[\d+,\d+,\d+\]|yarn"
    r"|spark://[^\s:,]+:\d+(,[^\s:,]+:\d+)*|k8s://\S+|sc://\S+"
)
_CONNECT_SECONDS = 5.0
_MOST_TASKS = 64  # at once on a machine, each a process; or four per core, if that is more


def chosen_master(asked: str | None) -> str:
    """Return the Spark master of a command: the given one, SPARK_REMOTE, or all cores here.

    Raises Problem if it is malformed, or too large for this machine.
    """
    master = asked or os.environ.get("SPARK_REMOTE") or "local[*]"
    if not _MASTER.fullmatch(master):
        raise Problem(
            "expected a Spark master",
            where=origin(master),
            remedy="for example local[4], spark://host:7077, yarn or sc://host",
        )
    # Spark itself accepts any number of tasks.
    tasks, cpus = tasks_of(master) or 0, os.cpu_count() or 1
    if tasks > (most := max(_MOST_TASKS, 4 * cpus)):
        raise Problem(
            f"{tasks} tasks at once on a machine of {cpus} cores: expected at most {most}",
            where=origin(master),
            remedy="local[*] uses every core",
        )
    return master


def tasks_of(master: str) -> int | None:
    """Return how many tasks a local Spark master runs at once; None for a master on another
    machine.
    """
    if match := re.match(r"local-cluster\[(\d+),(\d+)", master):
        return int(match[1]) * int(match[2])
    match = re.match(r"local(?:\[(\*|\d+))?", master)  # after a comma: attempts, not tasks
    if not match:
        return None
    return (os.cpu_count() or 1) if match[1] == "*" else int(match[1] or 1)


def is_local(master: str) -> bool:
    """Return whether a Spark master runs its tasks on this machine, in workers that import this
    very package.
    """
    return master.startswith("local") and not master.startswith("local-cluster")


def check_reachable(master: str) -> None:
    """Fail after a few seconds if no Spark master answers. Spark would retry for a minute."""
    if not master.startswith(("spark://", "sc://")):
        return
    scheme, _, places = master.partition("://")
    reasons = []
    for place in places.split(","):
        url = urlsplit(f"{scheme}://{place}")
        try:
            where = (url.hostname or "", url.port or 15002)
            socket.create_connection(where, timeout=_CONNECT_SECONDS).close()
        except (OSError, ValueError) as error:
            reasons.append(reason_of(error) if isinstance(error, OSError) else str(error))
        else:
            return
    remedy = "start this Spark server, or choose another --master"
    raise Problem(f"cannot connect: {reasons[0]}", where=origin(master), remedy=remedy)


def origin(master: str) -> str:
    """Return the origin of a Spark master, for errors: the option, or the environment."""
    name = "SPARK_REMOTE" if os.environ.get("SPARK_REMOTE") == master else "master"
    return f"{name} {master}"
