"""Run every system on every static network of a folder, and write a table of delivery ratios.

python tools/network_sweep.py FOLDER [--systems flooding,gossip] [--cpu-s 20] > table.md

FOLDER has the sub-folders that `NETWORKS` names. A run has five topics on the ideal radio, without
faults. With `--hello sent`, nodes learn their neighbours from hellos. The list under the table
gives the shortfalls of each run, and why a system did not run.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from halfway.adapters.interface import Unsupported
from halfway.adapters.registry import TABLE
from halfway.problem import Problem
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.simulation import Simulation
from halfway.world.graphs.network import Network
from halfway.world.importers.link_table import LinkColumns
from halfway.world.importers.network_file import read_network
from halfway.world.workload.demand import Drawn

# Pattern of files -> their columns; always the largest component.
NETWORKS = {
    "freifunk/*_links.csv": LinkColumns(quality="tq_ab,tq_ba", threshold=0.5),
    "freifunk/berlin_links.csv": LinkColumns(quality="lq,nlq", threshold=0.5),
    "iotlab/*_links.csv.gz": LinkColumns(quality="pdr_mean", threshold=0.5),
    "intel_lab/connectivity.txt": LinkColumns(quality="3", threshold=0.25),
    "ulb_library/links.csv": LinkColumns("reporter", "heard", only={"part": "L1a"}),
    "topology_zoo/*.graphml": LinkColumns(),
    "rocketfuel/*_latencies.intra": LinkColumns(),
    "brite/*.brite": LinkColumns(),
    "as_level/*.txt.gz": LinkColumns(),
}
# Pattern of files -> the table of positions beside them; {site}: the first word of a file's name.
POSITIONS = {
    "iotlab/*_links.csv.gz": "{site}_motes.csv",
    "intel_lab/connectivity.txt": "mote_locs.txt",
}
# Those that spread events: a failure detector has no delivery ratio.
SYSTEMS = [name for name, one in TABLE.items() if not one.adapter.detects_failures]
START_S, EVENTS, SECONDS, LEAST_NODES = 40.0, 20, 80.0, 8


class SweepLimits(NamedTuple):
    """The limits in seconds and the lists of neighbours that all runs of a sweep have in common."""

    cpu_s: float
    seconds: float = SECONDS
    hello: SentHellos | None = None  # None: nodes have the lists


class Row(NamedTuple):
    """The outcome of one run of the sweep: a delivery ratio, or the reason why there is none."""

    cell: str
    notes: str


def main() -> int:
    """Run the sweep, and write its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--networks", default="", help="only files whose path contains this text")
    parser.add_argument("--cpu-s", type=float, default=20.0, help="CPU seconds of a run at most")
    parser.add_argument(
        "--hello", choices=("given", "sent"), default="given", help="lists of neighbours"
    )
    parser.add_argument("--seconds", type=float, default=SECONDS, help="the length of a run")
    asked = parser.parse_args()
    systems, hello = asked.systems.split(","), SentHellos() if asked.hello == "sent" else None
    common = SweepLimits(asked.cpu_s, asked.seconds, hello)
    for line in table(asked.folder, systems, asked.networks, common):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    return 0


def table(folder: Path, systems: list[str], some: str, common: SweepLimits) -> Iterator[str]:
    """Yield the lines of the sweep's table, and then a list of what the runs noted."""
    yield " | ".join(["| network", "nodes", "links", "most neighbours", *systems, ""]).rstrip()
    yield "|" + "---|" * (4 + len(systems))
    notes = []
    for name, network in networks(folder, some):
        size = [f"{number:,}" for number in (network.n, network.links, int(network.degree.max()))]
        rows = {system: run(system, network, common) for system in systems}
        cells = [name, *size, *(row.cell for row in rows.values())]
        yield "| " + " | ".join(cells) + " |"
        notes += [f"* {name}, `{one}`: {row.notes}" for one, row in rows.items() if row.notes]
    yield from ("", *notes)


def networks(folder: Path, some: str) -> Iterator[tuple[str, Network]]:
    """Yield the names and networks of a folder of the sweep, each file once."""
    how = {path: columns for pattern, columns in NETWORKS.items() for path in folder.glob(pattern)}
    beside = {path: name for pattern, name in POSITIONS.items() for path in folder.glob(pattern)}
    for path in sorted(how):
        if some not in str(path.relative_to(folder)):
            continue
        places = None
        if path in beside:
            places = path.parent / beside[path].format(site=path.name.split("_")[0])
        try:
            network = read_network(
                path, how[path], positions=places, partial_positions=True, largest=True
            )
        except Problem as problem:
            sys.stderr.write(f"{path}: {problem}\n")
            continue
        if network.n >= LEAST_NODES:
            yield f"{path.parent.name}/{path.name.split('.')[0].removesuffix('_links')}", network


def run(system: str, network: Network, common: SweepLimits) -> Row:
    """Run one system of the sweep on one network; "–" where it cannot run."""
    workload = Drawn(
        n=network.n, seed=1, topics=5, publishers_each=2, subscribers_each=min(10, network.n - 2),
        events=EVENTS, start_s=START_S,
    )  # fmt: skip
    try:
        simulation = Simulation(
            system, network, workload=workload, seconds=common.seconds, seed=1, hello=common.hello
        )
        simulation.advance(until=1e-9)  # compiles the system, if that is still to be done
        end = time.process_time() + common.cpu_s
        simulation.advance(stop=lambda _: time.process_time() > end)
    except Unsupported as reason:
        return Row("–", reason.what)
    found = simulation.outcome()
    if found.seconds < common.seconds:
        return Row("…", f"not finished within {common.cpu_s:g} s of CPU time")
    more = [f"{name}: {count:,}" for name, count in found.shortfalls.items()]
    more += [f"duplicates: {found.duplicates:,}"] if found.duplicates else []
    return Row(f"{found.delivery_ratio:.3g}", "; ".join(more))


if __name__ == "__main__":
    sys.exit(main())
