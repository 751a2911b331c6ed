"""`halfway list` and `halfway options`: papers, figures, systems, and their options."""

from typing import TYPE_CHECKING

import typer

from halfway.cli.terminal.options import AsJson, DescribedSystem
from halfway.cli.terminal.screen import console

if TYPE_CHECKING:
    from halfway.adapters.interface import System


def list_papers() -> None:
    """List all papers, figures and systems. The list shows the number of runs of each figure.

    Give the names of papers and figures to [bold]halfway reproduce[/bold].
    Give the names of systems to [bold]halfway compare[/bold] and [bold]halfway simulate[/bold].
    """
    from halfway.papers import PAPERS
    from halfway.report.terminal.listing import print_papers

    print_papers(console(), PAPERS.values())


def list_options(system: DescribedSystem = None, as_json: AsJson = False) -> None:
    """List the options of a system, or of all systems: default, range and meaning.

    \b
    halfway options gossip
    halfway options my_protocol.py
    halfway options --json | jq 'select(.option == "retries")'
    """
    from halfway.adapters.registry import TABLE
    from halfway.report.terminal.listing import OptionRow, options_json, print_options

    chosen = TABLE.values() if system is None else [_system(system)]
    options = {
        listed_system.name: [
            OptionRow(listed_system.name, name, *about[:5])
            for name, about in listed_system.options.items()
        ]
        for listed_system in chosen
    }
    if as_json:
        typer.echo(options_json(options), nl=False)
    else:
        print_options(console(), options)


def _system(name: str) -> "System":
    """Return the built-in system that `halfway options` names, or the system in a user's file."""
    from halfway.adapters.registry import named

    if not name.endswith(".py"):
        return named(name)
    from halfway.adapters.user_protocol import read_user_system, user_system

    return user_system(read_user_system(name))
