"""Two systems on one small field, as a notebook: simulate, compare, table, chart and page.

    python examples/notebook.py

Each `# %%` begins a cell. Jupyter with jupytext and Visual Studio Code open this file as a
notebook. The program needs no input file: `FIELD` is its scenario, and a path of a scenario file
can replace `FIELD`. The runs, the chart and the page go to the folder notebook-results.
"""

# %% The scenario has the fields of a scenario file. docs/scenarios.md lists them.
from pathlib import Path

from rich.console import Console

import halfway
from halfway.cli.program import Parser

Parser(__doc__).parse_known_args()  # --help; a notebook's kernel has arguments of its own
console = Console()
folder = Path("notebook-results")
FIELD = {
    "title": "a small field",
    "seconds": 30,
    "network": {"kind": "unit-disk", "n": 60, "degree": 9},
    "radio": {"kind": "ideal", "success": 0.95},
    "workload": {"topics": 2, "subscribers_each": 6, "events": 8, "start_s": 5},
}

# %% One run of one system. In a notebook, `outcome` at the end of a cell shows a table.
outcome = halfway.simulate(FIELD, "flooding", seed=7)
console.print(outcome)
console.print(outcome.table()[["value", "unit"]])

# %% A comparison: each replicate draws a network, and both systems run on this network.
found = halfway.compare(FIELD, "flooding,gossip", replicates=10, out=folder)
console.print(found)

# %% A table is a pandas frame: mean and 95 % interval of each system.
console.print(found.table("delivery-ratio"))
console.print(found.table("energy"))

# %% A chart is an Altair chart. In a notebook, `chart` at the end of a cell shows it.
chart = found.plot("energy")
chart.save(str(folder / "energy.svg"))

# %% The decision, and the page with all tables and plots.
console.print(found.decision(need={"delivery-ratio": 0.5}, minimise="energy").sentence)
console.print(f"page: {found.page(maps=False)}")

# %% An error that the user can correct is one line with a remedy.
try:
    halfway.simulate(FIELD, "glossip")
except halfway.Problem as problem:
    console.print(problem)
