"""A standalone Spark cluster on this machine, as processes: start, status, stop.

Every process listens on loopback only. `cluster.json` in the cluster's folder names the processes.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec

from halfway.files import write_whole
from halfway.pipeline.spark.cluster_process import (
    HOST,
    is_ours,
    java_command,
    java_home,
    service_command,
)
from halfway.pipeline.spark.java import spark_home
from halfway.problem import Problem

MASTER_PORT = 7077
ProcessRole = Literal["master", "worker", "connect"]
_STATE = "cluster.json"
_START_S, _STOP_S = 300.0, 10.0  # a busy machine needs minutes for a JVM
_IDLE = {  # a Connect server without work leaves the workers to other applications
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.timeout": "20s",
    "spark.dynamicAllocation.executorIdleTimeout": "20s",
}


class Process(msgspec.Struct, frozen=True):
    """A process of the cluster, the leader of its own process group."""

    role: ProcessRole
    pid: int


class Cluster(msgspec.Struct, frozen=True):
    """A started cluster: its addresses, size and processes."""

    master: str  # spark://…
    connect: str  # sc://…; "" without a Connect server
    page: str  # the master's own page
    workers: int
    cores: int  # of each worker
    processes: tuple[Process, ...]

    def living(self, folder: Path) -> list[Process]:
        """Return the processes of a started cluster that still run, for its status."""
        return [one for one in self.processes if is_ours(one.pid, folder)]


class Order(msgspec.Struct, frozen=True):
    """The size and the ports of a cluster to start. A port 0 is any free port.

    connect_port: of the Connect server; None: the cluster has none.
    """

    workers: int = 3
    cores: int = 1
    memory: str = "1g"
    port: int = MASTER_PORT
    connect_port: int | None = None


def default_folder() -> Path:
    """Return the folder of this user's cluster on this machine: its state and its logs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "halfway-cluster"


def read(folder: Path) -> Cluster | None:
    """Return the cluster on this machine that a folder describes, if one of its processes runs."""
    with contextlib.suppress(FileNotFoundError, msgspec.MsgspecError):
        cluster = msgspec.json.decode((folder / _STATE).read_bytes(), type=Cluster)
        if cluster.living(folder):
            return cluster
    return None


def start(folder: Path, order: Order) -> Cluster:
    """Start a Spark cluster: a master and its workers, and a Connect server if asked; return when
    all answer.

    Raises Problem if the folder has a cluster, or if a process does not start. In the second case,
    all processes are stopped.
    """
    if running := read(folder):
        what = f"a cluster is already running: {running.master}"
        raise Problem(what, where=str(folder), remedy="stop it with `halfway cluster stop`")
    _check_memory(order.memory)
    if (folder / "master.log").exists():  # of an earlier cluster
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    port, page = _checked_port(order.port), _free_port()
    cluster = Cluster(
        f"spark://{HOST}:{port}", "", f"http://{HOST}:{page}", order.workers, order.cores, ()
    )
    try:
        ports = ("--port", str(port), "--webui-port", str(page))
        cluster = _with(cluster, folder, "master", service_command(folder, "master.Master", *ports))
        _await(cluster, folder, lambda: _summary(cluster) is not None)
        for number in range(order.workers):
            cluster = _with_worker(cluster, folder / f"worker-{number}", order)
        _await(cluster, folder, lambda: alive_workers(cluster) == order.workers)
        if order.connect_port is not None:
            cluster = _with_connect(cluster, folder, _checked_port(order.connect_port))
    except BaseException:
        stop(folder)
        raise
    return cluster


def stop(folder: Path) -> int:
    """Stop the cluster of a folder on this machine, and return the number of its processes. The
    logs stay.
    """
    cluster = read(folder)
    if cluster is None:
        return 0
    living = cluster.living(folder)
    for end in (signal.SIGTERM, signal.SIGKILL):
        # The Connect server first, so that it says goodbye to the master.
        for process in reversed(living):
            if is_ours(process.pid, folder):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, end)
        deadline = time.monotonic() + _STOP_S
        while cluster.living(folder) and time.monotonic() < deadline:
            time.sleep(0.05)
    (folder / _STATE).unlink(missing_ok=True)
    return len(living)


@contextmanager
def running(folder: Path, order: Order) -> Iterator[Cluster]:
    """Start a cluster on this machine for the block, and stop it at the end."""
    try:
        yield start(folder, order)
    finally:
        stop(folder)


def alive_workers(cluster: Cluster) -> int:
    """Return how many workers of the cluster on this machine are alive, or 0 if its master is
    silent.
    """
    return int((_summary(cluster) or {}).get("aliveworkers", 0))


def cores_in_use(cluster: Cluster) -> int:
    """Return how many cores of the cluster on this machine applications hold, or 0 if its master is
    silent.
    """
    return int((_summary(cluster) or {}).get("coresused", 0))


def _summary(cluster: Cluster) -> dict[str, Any] | None:
    """Return the status that the cluster's master reports, or None if it does not answer."""
    with contextlib.suppress(OSError, ValueError):
        # No proxy: the address is on loopback.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{cluster.page}/json/", timeout=5) as answer:
            summary: dict[str, Any] = json.loads(answer.read())
            return summary
    return None


def _with(cluster: Cluster, folder: Path, role: ProcessRole, command: list[str]) -> Cluster:
    """Return the cluster with one more process, which runs a command and logs to a folder."""
    state = folder.parent if role == "worker" else folder
    folder.mkdir(exist_ok=True)
    # The workers' Python is that of the command, and finds what its libraries contain only.
    kept = {name: word for name, word in os.environ.items() if name != "PYTHONPATH"}
    home = {
        "SPARK_HOME": str(spark_home()),
        "SPARK_SCALA_VERSION": "2.13",
        "SPARK_LOCAL_IP": HOST,
        "JAVA_HOME": str(java_home(state)),
        "SPARK_CONNECT_MODE": "0",
        "PYTHONSAFEPATH": "1",
        "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON") or sys.executable,
    }
    kept.pop("SPARK_REMOTE", None)
    with (folder / f"{role}.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            cwd="/",
            env=kept | home,
            start_new_session=True,
        )
    started = msgspec.structs.replace(
        cluster, processes=(*cluster.processes, Process(role, process.pid))
    )
    write_whole(state / _STATE, msgspec.json.encode(started))
    return started


def _with_worker(cluster: Cluster, own: Path, order: Order) -> Cluster:
    """Return the cluster with one more worker, which has a separate folder."""
    sizes = ("--cores", str(order.cores), "--memory", order.memory)
    places = ("--webui-port", "0", "--work-dir", str(own))
    command = service_command(own, "worker.Worker", cluster.master, *sizes, *places)
    return _with(cluster, own, "worker", command)


def _with_connect(cluster: Cluster, folder: Path, port: int) -> Cluster:
    """Return the cluster with a Connect server, which runs the sweeps of `--master sc://`."""
    settings = _IDLE | {
        "spark.connect.grpc.binding.address": HOST,
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.default.parallelism": str(cluster.workers * cluster.cores),
        "spark.sql.adaptive.enabled": "false",  # it would merge the tasks of a sweep
        "spark.sql.shuffle.partitions": str(2 * cluster.workers * cluster.cores),
    }
    words = [word for item in settings.items() for word in ("--conf", "=".join(item))]
    command = [
        *java_command(folder, "org.apache.spark.deploy.SparkSubmit", "1g"),
        *("--master", cluster.master, *words, "--name", "halfway-connect"),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
    ]
    connected = msgspec.structs.replace(cluster, connect=f"sc://{HOST}:{port}")
    connected = _with(connected, folder, "connect", command)
    _await(connected, folder, lambda: _answers(port))
    return connected


def _await(cluster: Cluster, folder: Path, answers: Callable[[], bool]) -> None:
    """Wait until a part of the cluster answers.

    Raises Problem if a process of the cluster ends before, or after _START_S.
    """
    deadline = time.monotonic() + _START_S
    while not answers():
        state = read(folder)
        dead = state is None or len(state.living(folder)) < len(state.processes)
        if dead or time.monotonic() > deadline:
            what = "a process of the cluster ended" if dead else f"no answer within {_START_S:g} s"
            raise Problem(what, where=cluster.master, remedy=f"see the logs in {folder}")
        time.sleep(0.1)


def _answers(port: int) -> bool:
    with contextlib.suppress(OSError):
        socket.create_connection((HOST, port), 1).close()
        return True
    return False


def _checked_port(port: int) -> int:
    """Return a port for a Spark cluster that nothing listens on; any free one for 0."""
    if not port:
        return _free_port()
    if _answers(port):
        what = "another program listens on this port"
        raise Problem(
            what, where=f"port {port}", remedy="choose another port, or 0 for any free port"
        )
    return port


def _check_memory(memory: str) -> None:
    """Raise Problem for less than 1 GiB of a worker: Spark's executors, of 1 GiB, would wait for
    ever.
    """
    found = re.fullmatch(r"(\d+)([mg])", memory)
    if found is None or int(found[1]) * (1024 if found[2] == "g" else 1) < 1024:
        what = "expected 1g or more, in a form such as 1536m or 2g"
        raise Problem(what, where=f"memory = {memory}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
