"""Every tutorial runs, and prints what its page shows, apart from numbers."""

import json
import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from tools.tutorial import repeated

from tests.house.sources import REPOSITORY

DOCS = REPOSITORY / "docs"
NOTEBOOK = REPOSITORY / "examples" / "notebooks" / "field.ipynb"
_SECTIONS = re.compile(r"^(?=## )", re.MULTILINE)


def masked(page: str) -> str:
    """A page without its numbers, without the widths of its tables, and without what took the time,
    which depends on the compile cache.
    """
    words = re.sub(r"\b[0-9a-f]{16}\b", "DIGEST", page)
    words = re.sub(r"time of all cores: .*", "SHARES", words)
    words = re.sub(r"\d[\d,.:]*", "#", words)
    words = re.sub(r"\d+ (h|min|s)\b|# min # s|# s\b", "TIME", words)
    return re.sub(r"[ ─]+", " ", words)


def run(name: str, folder: Path) -> tuple[str, str]:
    """A tutorial's page as it is, and with what its commands print now in a folder; masked."""
    page = (DOCS / name).read_text("utf-8")
    again = "".join(repeated(part, folder) for part in _SECTIONS.split(page))
    return masked(page), masked(again)


@pytest.mark.long
def test_a_live_network_of_three_nodes(tmp_path: Path) -> None:
    for tries_left in (2, 1, 0):
        try:
            shown, found = run("tutorial-live.md", tmp_path)
            break
        except SystemExit as ended:  # the machine stopped a node for longer than `ping` waits
            if "halfway ping" not in str(ended) or not tries_left:
                raise
    # Nodes find each other in any order.
    assert Counter(re.findall(r"\w+", found)) == Counter(re.findall(r"\w+", shown))


def test_the_nodes_of_the_live_tutorial_have_an_address_each() -> None:
    """The other test masks numbers, so it would not see outputs of two runs in one page."""
    page = (DOCS / "tutorial-live.md").read_text("utf-8")
    shown = re.findall(r"^(?:node )?(\w+) .*?(127\.0\.0\.1:\d+)", page, re.MULTILINE)
    assert sorted(name for name, _ in shown) == ["cellar", "hall", "kitchen"]
    assert len({address for _, address in shown}) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["tutorial-protocol.md", "tutorial-figure.md", "tutorial-who-is-alive.md"]
)
def test_a_tutorial_prints_what_its_page_shows(name: str, tmp_path: Path) -> None:
    shown, found = run(name, tmp_path)
    assert found == shown, f"run tools/tutorial.py docs/{name}"


@pytest.mark.slow
def test_the_mesh_of_the_first_tutorial_is_read_and_checked(tmp_path: Path) -> None:
    """All steps but the comparisons, which take an hour: one of them, on two systems."""
    page = (DOCS / "tutorial-examples.md").read_text("utf-8")
    part = next(one for one in _SECTIONS.split(page) if one.startswith("## A mesh under churn"))
    short = re.sub(
        r"\$ halfway compare mesh\.toml.*?```",
        "$ halfway compare mesh.toml --systems flooding,gossip --replicates 2 --no-map\n…\n```",
        part, flags=re.DOTALL,
    )  # fmt: skip
    assert masked(repeated(short, tmp_path)).startswith(
        masked(short.partition("$ halfway comp")[0])
    )
    assert "mesh.toml" in {file.name for file in tmp_path.iterdir()}


def test_the_notebook_has_the_cells_of_its_tutorial() -> None:
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    page = (DOCS / "tutorial-notebook.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)\n```", page, re.DOTALL)
    assert [block for block in blocks if block not in codes] == []
    assert all(cell.get("outputs", []) == [] for cell in cells)


@pytest.mark.slow
def test_the_notebook_runs_from_a_clean_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY / "src"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=place).execute()
    tables = [
        output["data"]["text/plain"]
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.get("output_type") == "execute_result"
    ]
    assert "counter-broadcast" in tables[-1]
    assert (tmp_path / "energy.svg").read_text().startswith("<svg")
