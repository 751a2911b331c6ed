"""Every file says what it is, carries nothing put off and names no machine; slips are noticed."""

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.house import style
from tests.house.sources import REPOSITORY


def module(root: Path, text: str, path: str = "src/halfway/engine.py") -> Path:
    """A repository under `root` with one file."""
    file = root / path
    file.parent.mkdir(parents=True)
    file.write_text(text)
    return root


@pytest.mark.parametrize(
    "rule",
    [
        style.without_first_line,
        style.undocumented,
        style.unannotated,
        style.renamed_imports,
        style.vague_variables,
        style.names_without_meaning,
        style.leftovers,
        style.machines_named,
        style.untagged_citations,
        style.systems_named,
    ],
)
def test_the_repository_keeps_the_rule(rule: Callable[[Path], Iterable[str]]) -> None:
    assert "\n".join(rule(REPOSITORY)) == ""


@pytest.mark.parametrize("text", ["import os\n", "# engine\n", "\n'''Late.'''\n", '""""""\n'])
def test_a_file_that_does_not_say_what_it_is_is_seen(tmp_path: Path, text: str) -> None:
    assert style.without_first_line(module(tmp_path, text)) == ["src/halfway/engine.py"]


def test_an_empty_file_and_a_raw_docstring_pass(tmp_path: Path) -> None:
    root = module(module(tmp_path, ""), 'r"""Raw."""\n', "tests/test_raw.py")
    assert style.without_first_line(root) == []


def test_public_things_without_a_docstring_are_seen(tmp_path: Path) -> None:
    text = (
        "def seen(): ...\n"
        "class Seen:\n"
        "    '''Documented, its method not.'''\n"
        "    def method(self): ...\n"
        "    def _private(self): ...\n"
        "def _private(): ...\n"
        "class _Private:\n"
        "    def hidden(self): ...\n"
    )
    found = style.undocumented(module(tmp_path, text))
    assert found == ["src/halfway/engine.py:1: seen", "src/halfway/engine.py:4: method"]


@pytest.mark.parametrize(
    "text",
    [
        "def f(x: int, y) -> int: ...\n",
        "def f(x: int): ...\n",
        "def f(*x) -> None: ...\n",
        "class A:\n  def f(self): ...\n",
        "@cache\ndef f(x): ...\n",
    ],
)
def test_a_function_without_types_is_seen(tmp_path: Path, text: str) -> None:
    found = style.unannotated(module(tmp_path, text))
    assert [line.rpartition(": ")[2] for line in found] == ["f"]


@pytest.mark.parametrize(
    "text",
    [
        "@kernel\ndef f(x): ...\n",
        "@handles(State)\ndef f(x): ...\n",
        "@extending.overload(g)\ndef f(x):\n  def g(y): ...\n  return g\n",
        "class A:\n  def f(self, *, x: int) -> None: ...\n",
    ],
)
def test_a_function_with_types_or_a_compiled_one_passes(tmp_path: Path, text: str) -> None:
    assert style.unannotated(module(tmp_path, text)) == []


def test_a_room_for_any_system_that_names_one_is_seen(tmp_path: Path) -> None:
    text = "a = 'drip'\nb = f'siena: of {a}'\nc = 'flooding'\nd = 'dripping'\ne = 'a drip'\n"
    root = module(tmp_path, text, "src/halfway/comparison/plan.py")
    module(tmp_path, text, "src/halfway/adapters/drip.py")
    path = "src/halfway/comparison/plan.py"
    assert style.systems_named(root) == [f"{path}:1: drip", f"{path}:2: siena"]


def test_an_import_under_another_name_is_seen(tmp_path: Path) -> None:
    text = (
        "from halfway.sim import loop as engines\nfrom halfway.problem import Problem as Problem\n"
    )
    root = module(tmp_path, text + "import numpy as np\n")
    found = style.renamed_imports(root)
    assert found == ["src/halfway/engine.py:1: import loop, not as engines"]


@pytest.mark.parametrize(
    ("lines", "names"), [(0, []), (style.VAGUE_LINES, ["found", "one", "sort"])]
)
def test_a_vague_variable_of_a_long_function_is_seen(
    tmp_path: Path, lines: int, names: list[str]
) -> None:
    text = "def f(one):\n    found = sort = one.given\n    g(some=found)\n" + "    x()\n" * lines
    found = style.vague_variables(module(tmp_path, text))
    assert found == [f"src/halfway/engine.py:f: {name}" for name in names]


@pytest.mark.parametrize("path", ["src/halfway/sim/utils.py", "tests/helpers/radio.py"])
def test_a_name_without_meaning_is_seen(tmp_path: Path, path: str) -> None:
    assert style.names_without_meaning(module(tmp_path, "", path)) == [path]


def test_a_comment_that_puts_something_off_is_seen(tmp_path: Path) -> None:
    text = f"x = 'a fine string'\ny = 1  # {'TO' + 'DO'}: later\n"
    found = style.leftovers(module(tmp_path, text))
    assert found == [f"src/halfway/engine.py:2: # {'TO' + 'DO'}: later"]


def test_a_citation_without_its_paper_is_seen(tmp_path: Path) -> None:
    text = f"x = 1  # [geo §2] fine\ny = 2  # {'['}§2] whose?\nz = 3  # {'['}Fig. 3] whose?\n"
    assert style.untagged_citations(module(tmp_path, text)) == [
        f"src/halfway/engine.py:2: y = 2  # {'['}§2] whose?",
        f"src/halfway/engine.py:3: z = 3  # {'['}Fig. 3] whose?",
    ]


@pytest.mark.parametrize(
    "line",
    [
        f"open('/{'work'}/x.csv')",
        f"see /{'home'}/ann/results",
        f"cd '/{'root'}/x'",
        f"https://{'pypi'}.org/simple",
    ],
)
def test_a_line_that_names_a_machine_is_seen(tmp_path: Path, line: str) -> None:
    root = module(tmp_path, f"fine\n{line}\n", "docs/setup.md")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    assert style.machines_named(root) == [f"docs/setup.md:2: {line}"]


def test_ignored_files_and_relative_folders_pass(tmp_path: Path) -> None:
    root = module(tmp_path, f"/{'work'}/x", "results/run.txt")
    (root / ".gitignore").write_text("results/\n")
    (root / "notes.md").write_text(f"the folders home{'/work'}/x and net{'work'}/y\n")
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    assert style.machines_named(root) == []
