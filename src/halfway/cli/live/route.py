"""`halfway route`: the path of an event, or the path to a node, hop by hop."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from halfway.cli.live import node_options
from halfway.cli.terminal.options import AsJson
from halfway.cli.terminal.screen import RUNS_FAILED

if TYPE_CHECKING:
    from halfway.live.control.control_requests import Hopped, Routed

_HERE = "is here"  # as `live.runtime.probe_routes` says it


def route(
    to: Annotated[
        str, typer.Argument(metavar="NODE|TOPIC", help="Name or id of a node, or a topic.")
    ],
    topic: Annotated[bool, typer.Option("--topic", help="Read NODE|TOPIC as a topic.")] = False,
    seconds: node_options.ForSeconds = 2.0,
    node: node_options.AtNode = "",
    as_json: AsJson = False,
) -> None:
    """Show the path of an event, or the path to a node, with the round-trip time of each hop.

    \b
    If an event does not arrive, the command prints the reason.

    \b
    A name with a slash is a topic. For a topic, the node publishes a probe. The system carries the
    probe like an event, and every node that receives the probe sends a report. Applications do not
    receive the probe. For a node, the command searches over all links, and shows the first path
    that it finds. Exit status: 1 if the command reached no subscriber, or no node with this name.

    \b
    halfway route sensors/kitchen
    halfway route kitchen
    halfway route alarms --topic --json
    """
    from halfway.live.control.client import ask, required
    from halfway.live.control.control_requests import Hopped, Routed, RouteRequest

    hops, end = dict[int, Hopped](), None
    for answer in ask(required(node), RouteRequest(to=to, is_topic=topic, seconds=seconds)):
        if isinstance(answer, Hopped):
            hops[answer.node] = answer.after(hops.get(answer.node))
            if as_json:
                typer.echo(json.dumps({name: getattr(answer, name) for name in _FIELDS}))
        end = answer if isinstance(answer, Routed) else end
    arrived = [hop for hop in hops.values() if end is not None and _is_arrival(hop, end)]
    if end is not None and not as_json:
        typer.echo("\n".join((*_tree(hops, end.node), _summary(to, hops, arrived, end))))
    if not arrived:
        raise typer.Exit(RUNS_FAILED)


_FIELDS = ("node", "name", "parent", "hops", "seconds", "why", "subscriptions")


def _is_arrival(one: "Hopped", end: "Routed") -> bool:
    """Return whether the node of a hop is the wanted node, or a node with subscriptions."""
    return one.why == _HERE and (one.subscriptions > 0 or not end.is_topic)


def _tree(hops: "dict[int, Hopped]", root: int) -> list[str]:
    """Return the hops as a tree: each node below the node that sent the event to it."""
    below: dict[int, list[Hopped]] = {}
    for hop in hops.values():
        if hop.node != root:
            below.setdefault(hop.parent, []).append(hop)
    lines, waiting = [], [(hop, 1) for hop in reversed(below.pop(root, []))]
    while waiting:
        hop, depth = waiting.pop()
        lines.append(_line(hop, depth))
        waiting += [(more, depth + 1) for more in reversed(below.pop(hop.node, []))]
    for apart in below.values():  # the answer of the node above them was lost
        lines += [_line(hop, hop.hops) for hop in apart]
    return lines


def _line(one: "Hopped", depth: int) -> str:
    many = f": {one.subscriptions} subscriptions" if one.why == _HERE and one.subscriptions else ""
    name = f"{'  ' * (depth - 1)}{one.name}"
    return f"{one.hops:3}  {name:32} {1000 * one.seconds:9.3f} ms  {one.why}{many}"


def _summary(to: str, hops: "dict[int, Hopped]", arrived: "list[Hopped]", end: "Routed") -> str:
    """Return a summary of the hops of `halfway route`, and why the event or the search did not
    arrive.
    """
    others = [hop for hop in hops.values() if hop.node != end.node]
    if not end.is_topic:
        return f"{to}: {max(hop.hops for hop in hops.values())} hops away"
    if arrived:
        return (
            f"{to}: the event reached {len(others)} nodes, and {len(arrived)} of them have "
            "subscriptions"
        )
    if not end.neighbours:
        return (
            f"{to}: this node has no neighbour. It hears {end.heard} nodes, and `halfway "
            "scout` states why they are not neighbours"
        )
    own = [hop.why for hop in hops.values() if hop.node == end.node]
    if own and not others:
        return f"{to}: this node dropped the event: {own[-1]}"
    if not others:
        return (
            f"{to}: no node has this name, and the event reached no other node, because the "
            "system knows no path to a subscriber yet"
        )
    return (
        f"{to}: the event reached {len(others)} nodes, and none of them has a matching subscription"
    )
