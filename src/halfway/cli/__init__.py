"""The command line of Halfway, which parses arguments, calls functions and prints results; each
command imports late.

Exit status: 0 done (a verdict may be "differs"), 1 some runs ended in errors, 2 misuse or an error
that the user can fix, 70 an internal error, 130 interrupted.
"""

import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from halfway.cli.commands.check import check
from halfway.cli.commands.cluster import cluster
from halfway.cli.commands.compare import compare
from halfway.cli.commands.describe import list_options, list_papers
from halfway.cli.commands.film import film
from halfway.cli.commands.init import init
from halfway.cli.commands.reproduce import reproduce
from halfway.cli.commands.results import results
from halfway.cli.commands.schema import schema
from halfway.cli.commands.simulate import simulate
from halfway.cli.commands.walk import walk
from halfway.cli.live.bench import bench
from halfway.cli.live.doctor import doctor
from halfway.cli.live.events import pub, spy, sub
from halfway.cli.live.journal import journal
from halfway.cli.live.members import list_members
from halfway.cli.live.net import net
from halfway.cli.live.node import node
from halfway.cli.live.route import route
from halfway.cli.live.testbed import real_nodes
from halfway.cli.live.watch import move, ping, record, replay, scout, status
from halfway.cli.terminal.screen import INTERRUPTED, PLAIN, report_error, warn_of_cache
from halfway.package import __version__

app = typer.Typer(
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line `halfway` and return the exit status. User errors print no traceback."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=PLAIN)  # a terminal without ✓ shows +
    words = None if arguments is None else list(arguments)
    try:
        status = _all_commands()(args=words, prog_name="halfway", standalone_mode=False)
    except SystemExit:  # typer: the reader of the output closed it
        return report_error(BrokenPipeError())
    except (Exception, KeyboardInterrupt) as error:  # no error leaves as a traceback
        return report_error(error)
    warn_of_cache()
    if status == INTERRUPTED:  # typer: Ctrl-C; it prints nothing
        return report_error(KeyboardInterrupt())
    return status if isinstance(status, int) else 0


@cache
def _all_commands() -> Any:
    """Return the commands with their options, which typer reads from the functions' signatures."""
    return get_command(app)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"halfway {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _halfway(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Publish/subscribe for networks without brokers.

    Halfway implements systems from papers, and compares its results with the published results.

    \b
    halfway list                                 lists papers, figures and systems
    halfway options gossip                       lists the options of a system
    halfway reproduce directional-walks/figure-6 measures one figure, in about a minute
    halfway reproduce --scale paper              measures all figures at the scale of the papers
    halfway walk mesh.graphml --plot walk.png    runs two walks on your network
    halfway simulate scenario.toml               runs one system, message by message
    halfway film scenario.toml -o run.gif        draws one event on its way, as a film
    halfway init links.csv                       writes a first scenario for your network
    halfway check scenario.toml                  shows what a comparison would run
    halfway compare scenario.toml                compares all systems on your scenario
    halfway results halfway-results              checks a folder of results
    halfway cluster start                        starts a Spark cluster on this machine
    halfway doctor                               checks this machine, and gives advice
    halfway net                                  makes the keys of a live network
    halfway testbed mesh.toml                    runs a scenario with real nodes
    halfway node                                 runs a live node (see also halfway pub, sub, scout)
    """
    if context.invoked_subcommand is None and not version:
        typer.echo(context.get_help())


app.command("list")(list_papers)
app.command("options")(list_options)
for _command in (init, check, compare, reproduce, walk, simulate, film, results, schema):
    app.command()(_command)
app.add_typer(cluster, name="cluster")
app.command()(doctor)
app.command("testbed", rich_help_panel="Live nodes")(real_nodes)
app.add_typer(net, name="net", rich_help_panel="Live nodes")
app.add_typer(journal, name="journal", rich_help_panel="Live nodes")
for _live in (node, pub, sub, spy, scout, status, ping, move, route, record, replay, bench):
    app.command(rich_help_panel="Live nodes")(_live)
app.command("members", rich_help_panel="Live nodes")(list_members)
