"""The Python snippets of the guides: each one runs as it is written, in a folder of its own."""

import re
from pathlib import Path

import pytest

from halfway.comparison.request import Request
from halfway.comparison.run_comparison import Completed, compare
from halfway.pipeline.store.store import Store
from tests.comparison.scenarios import fill
from tests.house.sources import REPOSITORY

PAGES = ("README.md", "docs/python.md", "docs/comparing.md")


def snippets(page: str) -> list[tuple[str, int, str]]:
    """The Python snippets of a page: page, line and text."""
    text = (REPOSITORY / page).read_text("utf-8")
    found = re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [(page, text.count("\n", 0, match.start()) + 1, match[1]) for match in found]


ALL = [one for page in PAGES for one in snippets(page)]


def test_the_pages_have_snippets() -> None:
    assert {page for page, _, _ in ALL} == set(PAGES)
    assert len([page for page, _, _ in ALL if page == "docs/python.md"]) == 6


@pytest.mark.parametrize(("page", "line", "text"), ALL, ids=lambda one: str(one)[:20])
@pytest.mark.long
def test_a_snippet_runs(
    page: str, line: int, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    (tmp_path / "scenario.toml").write_text(
        'seconds = 20\nnetwork = {kind = "unit-disk", n = 30, degree = 9.0}\n'
        "workload = {subscribers_each = 5, events = 4}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("halfway.api.comparison.run_comparison.compare", made_here)
    exec(compile(text, f"{page}:{line}", "exec"), {})


def made_here(request: Request, store: Store, *others: object, **options: object) -> Completed:
    """A comparison whose runs this process makes, because Spark takes seconds to start."""
    fill(store, request)
    return compare(request, store, *others, **options)  # type: ignore[arg-type]
