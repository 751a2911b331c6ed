"""The network of a scenario as the files that a user would have: links and positions, or movement.

    python examples/network_files.py SCENARIO [--name NAME] [--step 1] [--set FIELD=VALUE]

Writes NAME-links.csv (a, b) and NAME-positions.csv (id, x, y) of the network that the scenario's
seed draws. If nodes move, writes NAME-tracks.csv (node, t_s, x_m, y_m), a fix each --step seconds.
The tutorial docs/tutorial-examples.md begins with these files.
"""

import argparse
import csv
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from halfway.cli.program import Parser, positive, run
from halfway.cli.terminal.assignments import assignments
from halfway.problem import Problem
from halfway.scenario.build import prepared
from halfway.scenario.reading import read_scenario
from halfway.sim.environment.mobility import Motion
from halfway.world.graphs.network import Network
from halfway.world.mobility.motion import positions

PLACES = 5  # digits of a coordinate after the point


def main() -> None:
    """Draw the network or the movement, and write its files into the current folder."""
    given = arguments()
    scenario = read_scenario(given.scenario, assignments(given.changes, "--set"))
    ready = prepared(scenario)
    if ready.motion is not None:
        seconds = np.arange(0.0, scenario.seconds + given.step / 2, given.step).tolist()
        columns, lines = ("node", "t_s", "x_m", "y_m"), tracks(ready.motion, seconds)
        written(Path(f"{given.name}-tracks.csv"), columns, lines)
        return
    assert ready.network is not None
    written(Path(f"{given.name}-links.csv"), ("a", "b"), links(ready.network))
    if ready.network.position is not None:
        head, rows = ("id", "x", "y"), places(ready.network)
        written(Path(f"{given.name}-positions.csv"), head, rows)


def arguments() -> argparse.Namespace:
    """Parse the command line of the network files."""
    parser = Parser(__doc__)
    parser.add_argument("scenario", type=Path, help="a scenario file")
    parser.add_argument("--name", default="", help="begin of the names of the files")
    parser.add_argument("--step", type=positive, default=1.0, help="seconds from fix to fix")
    parser.add_argument(
        "--set", action="append", dest="changes", metavar="FIELD=VALUE",
        help="replace a field of the scenario",
    )  # fmt: skip
    given = parser.parse_args()
    given.name = given.name or given.scenario.stem
    return given


def links(network: Network) -> Iterable[Sequence[object]]:
    """Yield each link of a network once, by the names of its ends."""
    for a in range(network.n):
        for b in network.neighbours(a).tolist():
            if a < b:
                yield f"n{network.label(a)}", f"n{network.label(b)}"


def places(network: Network) -> Iterable[Sequence[object]]:
    """Yield the name and the position of each node of a network."""
    assert network.position is not None
    for a, at in enumerate(network.position.round(PLACES).tolist()):
        yield f"n{network.label(a)}", *at


def tracks(motion: Motion, seconds: Sequence[float]) -> Iterable[Sequence[object]]:
    """Yield a fix of each moving node at each of these times."""
    legs = motion.legs(0.0, float(max(seconds)))
    for t in seconds:
        for node, at in enumerate(positions(legs, float(t)).round(PLACES).tolist()):
            yield f"n{node}", f"{t:g}", *at


def written(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a file of a network, unless it exists; print its name and its number of rows."""
    if path.exists():
        what = "the file exists, and is not replaced"
        raise Problem(what, where=str(path), remedy="choose another --name")
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(head)
        some = list(rows)
        table.writerows(some)
    sys.stdout.write(f"wrote {path} ({len(some):,} rows)\n")


if __name__ == "__main__":
    sys.exit(run(main))
