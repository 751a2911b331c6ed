"""The command line: it parses, calls and prints. Everything heavy is imported by the command.

Exit status: 0 done (a verdict may well be "differs"), 1 some runs ended in errors, 2 misuse or
something that the user can mend, 70 a mistake of ours, 130 interrupted.
"""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import halfway
from halfway.cli.compare import compare
from halfway.cli.reproduce import reproduce
from halfway.cli.results import results
from halfway.cli.screen import INTERRUPTED, MENDABLE, OURS, RUNS_FAILED, console, explained
from halfway.cli.simulate import simulate
from halfway.cli.walk import walk

__all__ = ["INTERRUPTED", "MENDABLE", "OURS", "RUNS_FAILED", "app", "main"]

# Commands import what they need when they run: `halfway --help` must not wait for a compiler.

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit status. No traceback for what a user can mend."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without ✓ shows a ? and goes on
    given = None if arguments is None else list(arguments)
    try:
        status = app(args=given, prog_name="halfway", standalone_mode=False)
    except SystemExit:  # the parser's way to say that our reader has seen enough
        return explained(BrokenPipeError())
    except (Exception, KeyboardInterrupt) as error:  # nothing gets past here as a traceback
        return explained(error)
    if status == INTERRUPTED:  # the parser's way to say that Ctrl-C was pressed: it tells nobody
        return explained(KeyboardInterrupt())
    return status if isinstance(status, int) else 0


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"halfway {halfway.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _halfway(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it and end.")
    ] = False,
) -> None:
    """Publish/subscribe for networks in which nobody is the broker.

    Published designs, each implemented once, measured beside their printed numbers.

    \b
    halfway list                                 what there is
    halfway reproduce directional-walks/figure-6 one figure, in a minute or so
    halfway reproduce --scale paper              everything, as many networks
    halfway walk mesh.graphml --plot walk.png    two walks on your own network
    halfway simulate scenario.toml               any system, message by message
    halfway compare scenario.toml                all systems side by side on it
    halfway results halfway-results              what is there, is it whole
    """
    if context.invoked_subcommand is None and not version:
        typer.echo(context.get_help())


@app.command("list")
def list_papers() -> None:
    """Show the papers, their figures, and how many runs each takes.

    The names are those that [bold]halfway reproduce[/bold] takes.
    """
    from halfway.papers import PAPERS
    from halfway.report.listing import print_papers

    print_papers(console(), PAPERS.values())


for _command in (compare, reproduce, walk, simulate, results):
    app.command()(_command)
