"""Files, functions and folders stay small enough for one idea, and a large one is noticed."""

from pathlib import Path

from tests.house.sizes import (
    COMPILED_PARAMETERS,
    FILE_LINES,
    FOLDER_MODULES,
    FORMAT_SKIPS,
    FUNCTION_AIM,
    FUNCTION_LINES,
    LONG_CALLS,
    LONG_FILE_LINES,
    LONG_FILES,
    LONGER_THAN_AIM,
    PARAMETERS,
    SCRIPT_LINES,
    VALUES,
    WIDE_FUNCTIONS,
    count_above,
    count_long_calls,
    count_wide,
    format_skips,
    full_folders,
    long_files,
    long_functions,
    long_scripts,
    longer_than_aim,
    wide_functions,
)
from tests.house.sources import REPOSITORY


def module(root: Path, text: str) -> Path:
    """A repository under `root` whose package has one file."""
    folder = root / "src" / "halfway"
    folder.mkdir(parents=True)
    (folder / "engine.py").write_text(text)
    return root


def test_files_hold_one_idea() -> None:
    assert "\n".join(long_files(REPOSITORY)) == ""


def test_scripts_hold_one_idea() -> None:
    assert "\n".join(long_scripts(REPOSITORY)) == ""


def test_functions_hold_one_idea() -> None:
    assert "\n".join(long_functions(REPOSITORY)) == ""


def test_few_functions_are_longer_than_the_aim() -> None:
    assert longer_than_aim(REPOSITORY) <= LONGER_THAN_AIM


def test_few_files_are_above_the_aim() -> None:
    assert count_above(REPOSITORY, LONG_FILE_LINES) <= LONG_FILES


def test_few_statements_keep_a_form_of_their_own() -> None:
    assert format_skips(REPOSITORY) <= FORMAT_SKIPS


def test_few_functions_are_wide() -> None:
    assert count_wide(REPOSITORY) <= WIDE_FUNCTIONS


def test_few_calls_of_a_class_have_many_values_by_position() -> None:
    assert count_long_calls(REPOSITORY) <= LONG_CALLS


def test_a_call_of_a_class_with_many_values_is_counted(tmp_path: Path) -> None:
    short, named = ", ".join("1" * VALUES), ", ".join(f"a{k}=1" for k in range(VALUES + 1))
    text = f"Row({short})\nRow({named})\nrow({short}, 1)\nRow({short}, 1)\nRow({short}, *rest)\n"
    assert count_long_calls(module(tmp_path, text)) == 2


def test_what_is_above_the_aim_is_counted(tmp_path: Path) -> None:
    names = ", ".join(f"a{k}" for k in range(PARAMETERS + 1))
    root = module(tmp_path, f"def f(self, {names}): ...\n\n\nx = [1]  # fmt: skip\n")
    assert (count_above(root, 3), count_above(root, 4)) == (1, 0)
    assert (format_skips(root), count_wide(root)) == (1, 1)


def test_functions_have_few_parameters() -> None:
    assert "\n".join(wide_functions(REPOSITORY)) == ""


def test_a_function_above_the_aim_is_counted(tmp_path: Path) -> None:
    text = "def f():\n" + "    x = 1\n" * FUNCTION_AIM + "def g():\n" + "    x = 1\n"
    assert longer_than_aim(module(tmp_path, text)) == 1


def test_a_wide_function_is_seen(tmp_path: Path) -> None:
    names = [f"a{k}" for k in range(COMPILED_PARAMETERS + 1)]
    few, some, many = (", ".join(names[:k]) for k in (PARAMETERS, PARAMETERS + 1, len(names)))
    text = f"def f(self, {few}, *, named):\n    ...\n@inlined\ndef g({some}):\n    ...\n"
    assert wide_functions(module(tmp_path / "one", text)) == []
    text = f"def f({some}):\n    ...\n@inlined\ndef g({many}):\n    ...\n"
    found = wide_functions(module(tmp_path / "two", text))
    assert [line.rpartition(": ")[2] for line in found] == ["9 parameters", "13 parameters"]


def test_folders_hold_one_idea() -> None:
    assert "\n".join(full_folders(REPOSITORY)) == ""


def test_a_full_folder_is_seen(tmp_path: Path) -> None:
    root = module(tmp_path, "")
    for number in range(FOLDER_MODULES):
        assert full_folders(root) == []
        (root / "src" / "halfway" / f"module_{number}.py").write_text("")
    assert full_folders(root) == [f"src/halfway: {FOLDER_MODULES + 1} modules"]
    (root / "src" / "halfway" / "module_0.py").rename(root / "src" / "halfway" / "__init__.py")
    assert full_folders(root) == []


def test_a_long_file_is_seen(tmp_path: Path) -> None:
    root = module(tmp_path, "x = 1\n" * (FILE_LINES + 1))
    assert long_files(root) == [f"src/halfway/engine.py: {FILE_LINES + 1} lines"]


def test_a_file_at_the_limit_passes(tmp_path: Path) -> None:
    assert long_files(module(tmp_path, "x = 1\n" * FILE_LINES)) == []


def test_a_long_script_is_seen(tmp_path: Path) -> None:
    script = module(tmp_path, "") / "src" / "halfway" / "map.js"
    script.write_text("x();\n" * SCRIPT_LINES)
    assert long_scripts(tmp_path) == []
    script.write_text("x();\n" * (SCRIPT_LINES + 1))
    assert long_scripts(tmp_path) == [f"src/halfway/map.js: {SCRIPT_LINES + 1} lines"]


def test_a_long_function_is_seen_even_inside_a_class(tmp_path: Path) -> None:
    text = "class A:\n    async def f(self):\n" + "        x = 1\n" * FUNCTION_LINES
    found = long_functions(module(tmp_path, text))
    assert found == [f"src/halfway/engine.py:2: f: {FUNCTION_LINES + 1} lines"]


def test_a_function_at_the_limit_passes(tmp_path: Path) -> None:
    text = "def f():\n" + "    x = 1\n" * (FUNCTION_LINES - 1)
    assert long_functions(module(tmp_path, text)) == []
