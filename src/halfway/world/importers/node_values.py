"""Reader of one number for each node from a CSV file, such as the energy of batteries."""

import math
from pathlib import Path

from halfway.problem import Problem
from halfway.world.importers.text_table import csv_table


def read_node_values(path: str | Path, column: str) -> dict[str, float]:
    """Read the number of each node in a CSV file with the columns `node` and `column`.

    Nodes without a number are left out. Raises Problem with file, line and column.
    """
    table = csv_table(Path(path))
    node, value = table.column("node"), table.column(column)
    values: dict[str, float] = {}
    for line, row in table.rows:
        name, number = table.name(row, line, node), table.finite_number(row, line, value)
        if name in values:
            raise table.problem(f"node '{name}' is listed twice", line, node)
        if not math.isnan(number):
            values[name] = number
    if not values:
        raise Problem(f"column {column}: expected a number in one line or more", where=str(path))
    return values
