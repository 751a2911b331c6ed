"""The nodes of one simulated run: CSV, JSON lines, and the highest loads for a terminal."""

from pathlib import Path

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from halfway.files import write_whole
from halfway.problem import Problem
from halfway.report.output_files import csv_text
from halfway.report.wording import count
from halfway.sim.metrics.nodes import COLUMNS, NodeTable

_MOST_PRINTED = 5
_SUFFIXES = (".csv", ".jsonl")


def check_nodes_file(path: Path) -> None:
    """Check the suffix of a file of nodes, before the run. Raises Problem for another suffix."""
    if path.suffix.lower() not in _SUFFIXES:
        raise Problem(
            f"--nodes {path}: expected a file that ends in {' or '.join(_SUFFIXES)}",
            remedy="for example --nodes nodes.csv",
        )


def write_nodes(path: Path, nodes: NodeTable) -> None:
    """Write the nodes of a simulated run to a file, one per line. Raises Problem if the file cannot
    be written.
    """
    if path.suffix.lower() == ".csv":
        write_whole(path, csv_text(COLUMNS, nodes.rows()))
    else:
        lines = (f"{msgspec.json.encode(row).decode()}\n" for row in nodes.rows())
        write_whole(path, "".join(lines))


def print_highest_loads(console: Console, path: Path, nodes: NodeTable) -> None:
    """Print the nodes of a simulated run with the highest loads, and the file that has all
    nodes.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("nodes of highest load", overflow="fold")
    for name in ("sent", "received", "energy [J]", "lost notifications"):
        table.add_column(name, justify="right")
    for row in nodes.by_load()[:_MOST_PRINTED]:
        numbers = f"{nodes.sent[row]:,}", f"{nodes.received[row]:,}", f"{nodes.energy_j[row]:.4g}"
        table.add_row(Text(nodes.name[row]), *numbers, f"{nodes.lost[row]:,}")
    console.print(table, highlight=False)
    console.print(Text(f"{path}: {count(len(nodes.name), 'node')}"), soft_wrap=True)
