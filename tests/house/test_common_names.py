"""Common names of functions have one meaning, and the reader that says so would notice another."""

from pathlib import Path

import pytest

from tests.house.common_names import COMMON, MEANINGS, unlisted_names
from tests.house.sources import REPOSITORY


def package(root: Path, text: str, modules: int) -> Path:
    """A repository under `root` with some modules of the same text."""
    folder = root / "src" / "halfway"
    folder.mkdir(parents=True)
    for k in range(modules):
        (folder / f"module_{k}.py").write_text(text)
    return root


def test_each_common_name_has_one_meaning() -> None:
    assert "\n".join(unlisted_names(REPOSITORY)) == ""
    assert all(MEANINGS.values())


@pytest.mark.parametrize(
    "text",
    [
        "def take(): ...",
        "async def take(): ...",
        "class A:\n    def take(self): ...\nclass B:\n    def take(self): ...",
    ],
)
def test_a_common_name_without_a_meaning_is_seen(tmp_path: Path, text: str) -> None:
    (found,) = unlisted_names(package(tmp_path, text, COMMON), {})
    assert found.startswith(f"take: {COMMON} modules define it (src/halfway/module_0.py, ")
    assert found.endswith("list the one meaning in tests/house/common_names.py")


@pytest.mark.parametrize(
    ("text", "modules"),
    [
        ("def take(): ...", COMMON - 1),
        ("def _take(): ...", COMMON),
        ("def f():\n    def take(): ...", 1),
    ],
)
def test_a_rare_a_private_and_an_inner_name_pass(tmp_path: Path, text: str, modules: int) -> None:
    assert unlisted_names(package(tmp_path, text, modules), {}) == []


def test_a_listed_name_that_is_rare_is_seen(tmp_path: Path) -> None:
    (found,) = unlisted_names(package(tmp_path, "def take(): ...", 1), {"take": "take something"})
    assert found == (
        f"take: fewer than {COMMON} modules define it; remove it from tests/house/common_names.py"
    )
