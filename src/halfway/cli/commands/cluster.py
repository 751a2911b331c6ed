"""`halfway cluster`: a standalone Spark cluster of processes on this machine."""

import json
from pathlib import Path
from typing import Annotated

import typer

from halfway.cli.terminal.options import AsJson
from halfway.cli.terminal.screen import RUNS_FAILED
from halfway.files import write_whole

Workers = Annotated[
    int, typer.Option(metavar="N", min=1, max=64, help="Number of worker processes.")
]
Cores = Annotated[
    int,
    typer.Option(
        metavar="N", min=1, help="Number of tasks that each worker runs at the same time."
    ),
]
WorkerMemory = Annotated[
    str, typer.Option(metavar="SIZE", help="Memory of each worker, such as 2g.")
]
MasterPort = Annotated[
    int,
    typer.Option(
        metavar="N", min=0, max=65535, help="Port of the Spark master. 0 means any free port."
    ),
]
ConnectPort = Annotated[
    int,
    typer.Option(
        metavar="N", min=0, max=65535, help="Port of Spark Connect. 0 means any free port."
    ),
]
Connect = Annotated[
    bool,
    typer.Option(
        "--connect", help="Start a Spark Connect server in addition to the master and the workers."
    ),
]
PackFolder = Annotated[
    Path,
    typer.Argument(metavar="DIR", help="Folder to write the archive and the driver script to."),
]
_DRIVER = '''\
"""The driver of `spark-submit`: Spark's own session, then any command of `halfway`."""

import sys

from halfway.pipeline.spark.shipping import use_unpacked_copy

if __name__ == "__main__":
    use_unpacked_copy()  # before compiled modules are imported
    from halfway.cli import main
    from halfway.pipeline.spark.session import submitted_session

    with submitted_session():
        status = main()
    sys.exit(status)
'''

cluster = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


@cluster.callback()
def _cluster() -> None:
    """Run a standalone Spark cluster on this machine: a master, workers and a Connect server.

    \b
    halfway cluster start --connect
    halfway compare mesh.toml --master spark://127.0.0.1:7077
    halfway compare mesh.toml --master sc://127.0.0.1:15002
    halfway cluster stop
    halfway cluster pack DIR      writes the files for spark-submit (see docs/clusters.md)
    """


@cluster.command()
def start(
    workers: Workers = 3,
    cores: Cores = 1,
    memory: WorkerMemory = "1g",
    port: MasterPort = 7077,
    connect: Connect = False,
    connect_port: ConnectPort = 15002,
) -> None:
    """Start a cluster, and print its addresses when all its workers are ready.

    \b
    The processes listen only on 127.0.0.1, and ask for no password. So every user of this
    machine can run programs on the cluster. The cluster runs until `halfway cluster stop`.
    """
    from halfway.pipeline.spark import local_cluster

    order = local_cluster.Order(workers, cores, memory, port, connect_port if connect else None)
    started = local_cluster.start(local_cluster.default_folder(), order)
    for address in filter(None, (started.master, started.connect)):
        typer.echo(f"--master {address}")


@cluster.command()
def status(as_json: AsJson = False) -> None:
    """Print the state of the cluster. Exit status: 0 if all its processes run, 1 if not."""
    from halfway.pipeline.spark.local_cluster import (
        alive_workers,
        cores_in_use,
        default_folder,
        read,
    )

    folder = default_folder()
    state = read(folder)
    if state is None:
        typer.echo(
            "{}" if as_json else "no cluster is running; start one with `halfway cluster start`"
        )
        raise typer.Exit(RUNS_FAILED)
    living, alive, used = state.living(folder), alive_workers(state), cores_in_use(state)
    if as_json:
        typer.echo(json.dumps({
            "master": state.master, "connect": state.connect, "page": state.page,
            "workers": state.workers, "alive_workers": alive, "cores": state.workers * state.cores,
            "cores_in_use": used,
            "processes": {str(process.pid): process.role for process in living},
        }))  # fmt: skip
    else:
        typer.echo(f"master    {state.master}  (page {state.page})")
        typer.echo(f"workers   {alive} of {state.workers}, {used} of their cores in use")
        if state.connect:
            typer.echo(f"connect   {state.connect}")
        typer.echo(f"logs      {folder}")
    if len(living) < len(state.processes) or alive < state.workers:
        raise typer.Exit(RUNS_FAILED)


@cluster.command()
def pack(folder: PackFolder) -> None:
    """Write the two files that spark-submit needs: an archive of Halfway, and a driver script.

    \b
    halfway cluster pack DIR
    spark-submit --master yarn --deploy-mode cluster --py-files DIR/halfway.zip \\
        DIR/halfway_driver.py compare mesh.toml --out /shared/results
    """
    from halfway.pipeline.spark.shipping import packed

    folder.mkdir(parents=True, exist_ok=True)
    driver = folder / "halfway_driver.py"
    write_whole(driver, _DRIVER)
    for written in (packed(folder), driver):
        typer.echo(str(written))


@cluster.command()
def stop() -> None:
    """Stop the cluster. A command that uses the cluster fails, but keeps its finished batches."""
    from halfway.pipeline.spark import local_cluster

    count = local_cluster.stop(local_cluster.default_folder())
    typer.echo(f"stopped {count} processes" if count else "no cluster runs")
