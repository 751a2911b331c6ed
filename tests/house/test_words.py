"""No room uses one name for two things, and the reader that says so would notice."""

from pathlib import Path

import pytest

from tests.house.sources import REPOSITORY
from tests.house.words import used_twice


def package(root: Path, **texts: str) -> Path:
    """A repository under `root` with files of the room world, by name."""
    folder = root / "src" / "halfway" / "world"
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return root


def test_a_word_has_one_meaning_in_a_room() -> None:
    assert "\n".join(used_twice(REPOSITORY)) == ""


@pytest.mark.parametrize(
    "other", ["class Ground: ...\n", "Ground = int | str\n", "Ground: TypeAlias = list[int]\n"]
)
def test_a_name_for_two_things_is_seen(tmp_path: Path, other: str) -> None:
    root = package(tmp_path, cells="class Ground: ...\n", walks=other)
    places = "src/halfway/world/cells.py:1, src/halfway/world/walks.py:1"
    assert used_twice(root) == [f"Ground: {places}"]


@pytest.mark.parametrize(
    "text", ["Rows = npt.NDArray[np.int32]\n", "MOST = 3\n", "class _Lines: ...\n", "rows = 3\n"]
)
def test_one_alias_constants_and_private_names_pass(tmp_path: Path, text: str) -> None:
    assert used_twice(package(tmp_path, one=text, other=text.replace("= 3", "= 4"))) == []


def test_an_exception_without_need_is_seen(tmp_path: Path) -> None:
    root = package(tmp_path, one="class Ground: ...\n")
    (root / "src/halfway/world").rename(root / "src/halfway/protocols")
    idle = [f"{name}: no longer twice in protocols" for name in ("Book", "Rules", "State")]
    assert used_twice(root) == idle
