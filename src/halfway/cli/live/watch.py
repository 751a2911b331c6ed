"""`halfway scout`, `status`, `ping`, `move`, `record` and `replay`: what live nodes are and do."""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from halfway.cli.live import node_options
from halfway.cli.live.events import at
from halfway.cli.terminal.options import AsJson
from halfway.cli.terminal.screen import RUNS_FAILED

_SHOWN = (
    "counts",
    "drops",
    "shortfalls",
    "datagrams_refused",
    "records_refused",
    "datagrams",
    "tables",
)
_PERIOD_S = 0.1  # between two questions to a node


def scout(
    seconds: node_options.ForSeconds = 3.0,
    neighbours: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Wait until the node has N neighbours, for at most --seconds."
        ),
    ] = 0,
    node: node_options.AtNode = "",
    as_json: AsJson = False,
) -> None:
    """Print the neighbours of a node and the other nodes that the node hears, with their states.

    \b
    If a node runs on this machine, the node answers at once. With --neighbours N, the
    command first waits until the node has N neighbours, for at most --seconds. If no node
    runs on this machine, the command starts a node, which listens for --seconds. Exit
    status: 1 if the node has fewer than N neighbours.

    \b
    halfway scout
    halfway scout --neighbours 2 --seconds 30
    halfway scout --json | jq -r .name
    """
    from halfway.live.control.client import chosen

    runs = chosen(node) is not None
    with at(node) as place:
        until = time.monotonic() + seconds
        if not runs and not neighbours:
            time.sleep(seconds)
        status = _status(place)
        while len(status["neighbours"]) < neighbours and time.monotonic() < until:
            time.sleep(_PERIOD_S)
            status = _status(place)
    _print_heard(status, as_json)
    if len(status["neighbours"]) < neighbours:
        raise typer.Exit(RUNS_FAILED)


def _print_heard(status: dict[str, Any], as_json: bool) -> None:
    """Print the neighbours of a node for `halfway scout`, and then the nodes that it hears."""
    heard = [*status["neighbours"], *status["heard"]]
    for link in heard:
        if as_json:
            typer.echo(json.dumps(link))
        else:
            typer.echo(
                f"{link['name']:20} {link['address']:21} {link['since_s']:8.1f} s  {link['state']}"
            )
    if not heard and not as_json:
        typer.echo(f"{status['node']} hears no other node (network {status['network']})")


def status(node: node_options.AtNode = "", as_json: AsJson = False) -> None:
    """Print the settings, neighbours and counters of a node, and count its drops by reason.

    \b
    halfway status
    halfway status --json | jq .drops
    """
    from halfway.live.control.client import required

    state = _status(required(node))
    if as_json:
        typer.echo(json.dumps(state))
        return
    typer.echo(state["security"])
    typer.echo(
        f"node {state['node']} ({state['id']}) at {state['address']}, process {state['process']}"
    )
    here = f"{state['nodes']} node{'s' * (state['nodes'] != 1)} in this process"
    code = "machine code" if state["compiled"] else "interpreted"
    typer.echo(f"{state['system']}, {code}, up {state['up_s']:.0f} s, {here}")
    _print_place(state)
    names = [neighbour["name"] for neighbour in state["neighbours"]]
    typer.echo(f"{len(names)} neighbours: {', '.join(names) or 'none'}")
    if members := state["members"]:
        typer.echo(f"members: {members['trusted']} trusted, {members['suspected']} suspected")
    else:
        typer.echo(f"subscriptions: {', '.join(state['subscriptions']) or 'none'}")
    if kept := state["kept"]:
        journal = f"journal {kept['journal']} ({kept['journal_bytes']:,} bytes)"
        typer.echo(f"kept: {kept['pending']:,} events wait for readers, {journal}")
    if trace := state.get("trace"):
        typer.echo(f"trace: {trace['rows']:,} rows in {trace['folder']}")
    if door := state.get("mqtt"):
        where = ", ".join(door["addresses"].values())
        typer.echo(f"mqtt: {door['clients']} clients, {door['sessions']} sessions, at {where}")
    for title in _SHOWN:
        words = ", ".join(f"{name} {value:,}" for name, value in state[title].items())
        typer.echo(f"{title.replace('_', ' ')}: {words or 'none'}")


def _print_place(state: dict[str, Any]) -> None:
    """Print where a node is for `halfway status`: its position, and its place in the overlay."""
    if state["position"]:
        typer.echo(_position_line(state["position"]))
    if place := state["place"]:
        words = {name: "none" if value is None else value for name, value in place.items()}
        typer.echo(", ".join(f"{name} {value}" for name, value in words.items()))


def ping(
    to: Annotated[str, typer.Argument(metavar="NODE", help="Name or id of a neighbour.")],
    count: node_options.Pings = 4,
    node: node_options.AtNode = "",
    as_json: AsJson = False,
) -> None:
    """Measure the round-trip time to a neighbour. Exit status: 1 if a ping has no answer.

    \b
    halfway ping kitchen --count 10
    """
    from halfway.live.control.client import ask, required
    from halfway.live.control.control_requests import Ping, Pong

    lost = 0
    for answer in ask(required(node), Ping(to=to, count=count)):
        assert isinstance(answer, Pong)
        lost += answer.seconds is None
        if as_json:
            row = {"node": answer.name, "number": answer.number, "seconds": answer.seconds}
            typer.echo(json.dumps(row))
        elif answer.seconds is None:
            typer.echo(f"{answer.name}: {answer.number}: no answer")
        else:
            typer.echo(f"{answer.name}: {answer.number}: {1000 * answer.seconds:.3f} ms")
    if lost:
        raise typer.Exit(RUNS_FAILED)


def move(
    position: node_options.NewPosition,
    node: node_options.AtNode = "",
) -> None:
    """Move a node whose system has positions, such as a node of georendezvous.

    \b
    halfway move 120,40
    halfway move 120,40 --node kitchen-2    the third node of a process
    """
    from halfway.live.control.client import ask, required
    from halfway.live.control.control_requests import MoveRequest
    from halfway.live.systems.positions import position_of

    x, y = position_of(position)
    for _ in ask(required(node), MoveRequest(x=x, y=y)):
        typer.echo(_position_line((x, y)))


def record(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="New file to write the trace to.")],
    seconds: node_options.ForSeconds = 10.0,
    node: node_options.AtNode = "",
) -> None:
    """Write what a node receives during --seconds to FILE. The node must run with --log.

    \b
    halfway record kitchen.trace --seconds 60
    halfway replay kitchen.trace
    """
    from halfway.live.control.client import answer_of, required
    from halfway.live.control.control_requests import Done, RecordRequest

    request = RecordRequest(path=str(path.resolve()), seconds=seconds)
    answer = answer_of(required(node), request)
    assert isinstance(answer, Done)
    typer.echo(f"{path}: {answer.count:,} records")


def replay(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="FILE|DIR",
            help="File of `halfway record`, or folder of `halfway node --trace`.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Replay a recorded trace of a node, and compare the final state with the recorded state.

    \b
    In a folder of `halfway node --trace DIR`, each file has its own recorded final state.
    The command replays every file separately, so it can name the first file that differs.
    Exit status: 1 if a final state differs.

    \b
    halfway replay kitchen.trace
    halfway replay traces
    """
    from halfway.live.trace import live_replay

    are_same = True
    for outcome in live_replay.replay(path):
        are_same &= outcome.is_same
        if as_json:
            typer.echo(json.dumps(outcome._asdict()))
            continue
        same = "the same state" if outcome.is_same else "ANOTHER STATE"
        what = f"{outcome.records:,} records: {same} at the end"
        typer.echo(f"{outcome.file}: {outcome.node} ({outcome.system}): {what}")
    if not are_same:
        raise typer.Exit(RUNS_FAILED)


def _position_line(position: Sequence[float]) -> str:
    """Return the line of `halfway move` and `halfway status` with a position."""
    x, y = position
    return f"position: {x:g},{y:g}"


def _status(place: Any) -> dict[str, Any]:
    from halfway.live.control.client import answer_of
    from halfway.live.control.control_requests import StatusAnswer, StatusRequest

    answer = answer_of(place, StatusRequest())
    assert isinstance(answer, StatusAnswer)
    return answer.status
