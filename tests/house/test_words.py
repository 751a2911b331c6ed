"""One word has one meaning across rooms, and the readers that say so would notice a second one."""

from pathlib import Path

import pytest

from halfway.adapters.registry import TABLE
from halfway.comparison.evaluation.metrics import METRICS
from halfway.scenario.json_schema import descriptions
from tests.house import words
from tests.house.sources import REPOSITORY

MAP = (REPOSITORY / "docs" / "map.md").read_text("utf-8")


def package(root: Path, **texts: str) -> Path:
    """A repository under `root` with one file in each of several rooms."""
    for name, text in texts.items():
        folder = root / "src" / "halfway" / name
        folder.mkdir(parents=True)
        (folder / "file.py").write_text(text)
    return root


def test_a_class_has_one_meaning() -> None:
    assert "\n".join(words.classes_with_two_meanings(REPOSITORY)) == ""


def test_no_name_uses_a_retired_word() -> None:
    assert "\n".join(words.retired_words(REPOSITORY)) == ""


def test_no_capacity_is_called_a_room() -> None:
    assert "\n".join(words.capacities_called_room(REPOSITORY)) == ""


def test_a_capacity_called_a_room_is_seen(tmp_path: Path) -> None:
    package(tmp_path, sim="_ROOM = 9\n\ndef make_room(room: int) -> int:\n    has_room = room\n")
    assert [line.split(": ")[1] for line in words.capacities_called_room(tmp_path)] == [
        "_ROOM", "room", "has_room",
    ]  # fmt: skip


def test_options_name_their_unit_and_use_the_words_of_the_field() -> None:
    options = {
        name: {option: about.meaning for option, about in system.options.items()}
        for name, system in TABLE.items()
    }
    assert "\n".join(words.careless_options(options)) == ""


def test_scenario_fields_and_metrics_use_the_words_of_the_field() -> None:
    assert sum(map(len, descriptions().values())) > 100
    assert "\n".join(words.careless_fields(descriptions())) == ""
    assert "\n".join(words.careless_metrics(metric.name for metric in METRICS)) == ""


def test_a_field_without_a_unit_and_a_metric_with_a_retired_word_are_seen() -> None:
    fields = {"at": "The time of the crash.", "for": "The length of a pause in s.", "wish": "A."}
    assert words.careless_fields({"faults crash": fields}) == [
        "faults crash: at: state the unit of the time: in s",
        "faults crash: wish: use subscription",
    ]
    assert words.careless_metrics(["busiest-per-member", "max-node-load"]) == [
        "busiest-per-member: use max node load",
    ]


def test_the_list_of_words_is_true() -> None:
    assert len(words.glossary(MAP)) > 40
    assert "\n".join(words.false_words(REPOSITORY, MAP)) == ""


@pytest.mark.parametrize(
    "other", ["class Ground: ...\n", "Ground = int | str\n", "Ground: TypeAlias = list[int]\n"]
)
def test_a_class_for_two_things_in_two_rooms_is_seen(tmp_path: Path, other: str) -> None:
    root = package(tmp_path, sim="class Ground: ...\n", world=other)
    places = "src/halfway/sim/file.py:1, src/halfway/world/file.py:1"
    assert words.classes_with_two_meanings(root) == [f"Ground: {places}"]


@pytest.mark.parametrize(
    "text",
    ["Rows = npt.NDArray[np.int32]\n", "MOST = 3\n", "class _Lines: ...\n", "rows = 3\n",
     "class Rules: ...\n"],
)  # fmt: skip
def test_one_alias_constants_private_names_and_the_contract_pass(tmp_path: Path, text: str) -> None:
    other = text.replace("= 3", "= 4")
    assert words.classes_with_two_meanings(package(tmp_path, sim=text, world=other)) == []


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        ("class LetterBox: ...\n", 1, "LetterBox"),
        ("def was_told(): ...\n", 1, "was_told"),
        ("class State:\n    shelf: int\n", 2, "shelf"),
        ('HOP = np.dtype([("patience", "<f8")])\n', 1, "patience"),
        ("NO_CARE = 3\n", 1, "NO_CARE"),
        ("def f():\n    told = 3\n", 2, "told"),
    ],
)
def test_a_retired_word_is_seen(tmp_path: Path, text: str, line: int, name: str) -> None:
    (found,) = words.retired_words(package(tmp_path, sim=text))
    assert found.startswith(f"src/halfway/sim/file.py:{line}: {name}: use ")


@pytest.mark.parametrize(
    ("text", "line", "name"),
    [
        ("def test_it():\n    dice = 3\n", 2, "dice"),
        ("def made(seats): ...\n", 1, "seats"),
        ("class _Letter: ...\n", 1, "_Letter"),
    ],
)
def test_a_retired_word_in_a_test_is_seen(tmp_path: Path, text: str, line: int, name: str) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text(text)
    (found,) = words.retired_words(tmp_path)
    assert found.startswith(f"tests/test_it.py:{line}: {name}: use ")


def test_a_retired_word_in_the_name_of_a_file_is_seen(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "scenes.py").write_text("LIMIT = 3\n")
    assert words.retired_words(tmp_path) == ["tests/scenes.py:1: scenes: use scenarios"]


def test_a_word_of_spark_outside_of_the_files_about_spark_is_seen(tmp_path: Path) -> None:
    root = package(tmp_path, sim="def stage(): ...\n", spark="def stage(): ...\n")
    places = [line.rpartition(": use")[0] for line in words.retired_words(root)]
    assert places == ["src/halfway/sim/file.py:1: stage"]


def test_a_time_without_its_unit_is_seen() -> None:
    options = {"gossip": {"period": "seconds; a round", "rounds_s": "rounds", "wish": "a number"}}
    assert words.careless_options(options) == [
        "gossip: period: a time ends in _s, and nothing else does",
        "gossip: rounds_s: a time ends in _s, and nothing else does",
        "gossip: wish: use subscription",
    ]
    assert words.careless_options({"gossip": {"period_s": "seconds; a round"}}) == []


def test_a_false_list_of_words_is_seen(tmp_path: Path) -> None:
    root = package(tmp_path, sim="class Engine: ...\n")
    head = "## Words\n\n| word | meaning | in code |\n|---|---|---|\n"
    rows = "| engine | the loop | `Engine` |\n| loop | it | `Loop` |\n| engine | it | |\n"
    rows += "| client | Of a door: a program. | |\n| relay | it | |\n| relay of DRIP | it | |\n"
    assert words.false_words(root, head + rows) == [
        "engine: listed twice",
        "client: two meanings",
        "relay: name the component",
        "loop: no `Loop` in the package",
    ]
