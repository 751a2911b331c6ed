"""Generated pages: commands, options of systems, the Python interfaces, and the glossary."""

import importlib
import re
from pathlib import Path
from typing import Any, get_args

from typer.core import TyperGroup
from typer.main import get_command

from halfway.cli import app
from halfway.core.options import Option
from halfway.protocols import SYSTEMS

_REPOSITORY = Path(__file__).parents[2]
# Page -> title, introduction, and the names whose docstrings the page has.
_INTERFACES = {
    "reference/python.md": (
        "Simulate and compare",
        "[Halfway from Python](../python.md) shows these functions in use.",
        ("halfway.api.simulation", "halfway.api.comparison", "halfway.sim.metrics.outcome",
         "halfway.problem"),
    ),
    "reference/live.md": (
        "Live nodes in Python",
        "[Live nodes](../live.md) describes the commands for the same nodes.",
        ("halfway.live.interface.api", "halfway.live.runtime.settings", "halfway.live.mesh",
         "halfway.live.security"),
    ),
    "reference/protocol.md": (
        "The interface of a protocol",
        "[Write a protocol](../tutorial-protocol.md) uses most of these names.",
        ("halfway.core.kinds", "halfway.core.options", "halfway.core.outbox",
         "halfway.core.neighbourhood", "halfway.core.prng", "halfway.core.missing",
         "halfway.protocols.parts.application", "halfway.protocols.parts.event_window",
         "halfway.protocols.parts.reliable_hop"),
    ),
    "reference/core.md": (
        "The contract of a node",
        "[What a node is given](../models/nodes.md) explains the contract.",
        ("halfway.core.message", "halfway.core.handler", "halfway.core.driver",
         "halfway.core.door", "halfway.core.compiled"),
    ),
    "reference/results.md": (
        "Result folders and sweeps in Python",
        "[Result folders](../results.md) describes the files.",
        ("halfway.pipeline.plan.run", "halfway.pipeline.plan.sweep_plan", "halfway.pipeline.sweep",
         "halfway.pipeline.store.store", "halfway.pipeline.source"),
    ),
}  # fmt: skip


def reference_pages() -> dict[str, str]:
    """Return the generated pages of the site: path -> text."""
    words = (_REPOSITORY / "docs" / "map.md").read_text("utf-8")
    readme = (_REPOSITORY / "README.md").read_text("utf-8")
    return {
        "reference/commands.md": commands_page(),
        "reference/options.md": options_page(),
        "glossary.md": glossary_page(words, readme),
        **{page: _interface(*about) for page, about in _INTERFACES.items()},
    }


def _interface(title: str, text: str, modules: tuple[str, ...]) -> str:
    parts = [f"# {title}\n\n{text} The page comes from the docstrings.\n"]
    return "\n".join([*parts, *(f"::: {module}\n" for module in modules)])


def commands_page() -> str:
    """Return the page of all commands, with their arguments and options."""
    parts = [
        "# Commands\n\nThe page comes from the declarations of the commands. `halfway COMMAND "
        "--help` prints the same.\n"
    ]
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        parts.append(_command(f"halfway {name}", command))
        for under, one in (inner or {}).items():
            parts.append(_command(f"halfway {name} {under}", one))
    return "\n".join(parts)


def _command(name: str, command: Any) -> str:
    words, _, examples = (command.help or "").partition("\b")
    paragraphs = _plain(words).strip()
    for part in examples.split("\b"):
        lines = [line.rstrip() for line in part.strip("\n").splitlines()]
        code = "\n".join(line for line in lines if line.startswith("halfway "))
        rest = _plain(" ".join(line for line in lines if line and not line.startswith("halfway ")))
        paragraphs += f"\n\n{rest}" if rest else ""
        paragraphs += f"\n\n```\n{code}\n```" if code else ""
    rows = [
        f"| {_usage(one)} | {_plain(one.help or '')}{_default(one)} |"
        for one in command.params
        if one.name != "help"
    ]
    table = "\n".join(["| argument or option | meaning |", "|---|---|", *rows]) if rows else ""
    return f"## {name}\n\n{paragraphs}\n\n{table}\n"


def _usage(one: Any) -> str:
    """Return an argument or option of a command as a user types it."""
    if one.param_type_name == "argument":
        return f"`{(one.metavar or one.name).upper()}`"
    choices = "|".join(map(str, get_args(one.type_descriptor.annotation)))
    value = "" if one.is_flag else f" {one.metavar or choices or 'VALUE'}"
    names = [*one.opts, *one.secondary_opts]
    return ", ".join(f"`{name}{value}`".replace("|", r"\|") for name in names)


def _default(one: Any) -> str:
    shown = one.default not in (None, False, True, "", ()) and not callable(one.default)
    return f" Default: `{one.default}`." if shown and "Default" not in (one.help or "") else ""


def _plain(text: str) -> str:
    """Return text of the terminal as Markdown: bold marks, and names in angle brackets."""
    return re.sub(r"\[/?bold\]", "**", text).replace("<", "&lt;").replace("|", r"\|")


def options_page() -> str:
    """Return the page with the options of every system, from their declarations."""
    parts = [
        "# Options of the systems\n\nThe page comes from the declared options. `halfway options "
        "SYSTEM` prints the same. A scenario sets an option in the table `[options.SYSTEM]`, and a "
        "command with `--set options.SYSTEM.OPTION=VALUE`. [The scenario file](../scenarios.md) "
        "describes what the groups of options are for.\n"
    ]
    for name, about in SYSTEMS.items():
        options = importlib.import_module(about.module).OPTIONS
        parts.append(f"## {name}\n\n{about.idea} {_link(name)}\n")
        parts.append(_option_table(options))
    return "\n".join(parts)


def _link(name: str) -> str:
    """Return the link to the page of a system. A failure detector, or a new system, may have
    none.
    """
    page = f"systems/{name}.md"
    return f"[More](../{page})" if (_REPOSITORY / "docs" / page).exists() else ""


def _option_table(options: dict[str, Option]) -> str:
    rows = [
        f"| `{name}` | {'by the scenario' if one.auto else _value(one.default)} | "
        f"{'–' if isinstance(one.default, bool) else f'{_value(one.low)} to {_value(one.high)}'} "
        f"| {one.meaning} |"
        for name, one in options.items()
    ]
    head = ["| option | default | range | meaning |", "|---|---|---|---|"]
    return "\n".join([*head, *rows]) + "\n" if rows else "The system has no options.\n"


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:,g}" if isinstance(value, float) else f"{value:,}"


def glossary_page(words: str, readme: str) -> str:
    """Return the glossary: the words of docs/map.md and the verdicts of README.md, in order.

    words, readme: the text of these two files.
    """
    found = {row[0]: (row[1], row[2]) for row in _rows(words, "## Words", 3)}
    verdicts = {row[0]: row[1] for row in _rows(readme, "## How to read a verdict", 2)}
    entries = {
        **{
            word: text + (f" In code: {code}." if code else "")
            for word, (text, code) in found.items()
        },
        **{f"{word} (verdict)": text for word, text in verdicts.items()},
    }
    parts = ["# Glossary\n\nEach word has one meaning, in the pages and in the code.\n"]
    initial = ""
    for word in sorted(entries, key=str.casefold):
        if word[0].upper() != initial:
            initial = word[0].upper()
            parts.append(f"## {initial}\n")
        text = entries[word].replace("](../", "](").replace("](docs/", "](")
        parts.append(f"**{word}**\n:   {text[0].upper()}{text[1:]}\n")
    return "\n".join(parts)


def _rows(page: str, heading: str, columns: int) -> list[list[str]]:
    """Return the rows of the tables below a heading, without their heads."""
    body = page.partition(f"{heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in body.splitlines() if line.startswith("| ")][1:]
    cells = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines]
    return [row[:columns] + [""] * (columns - len(row)) for row in cells if len(row) >= 2]
