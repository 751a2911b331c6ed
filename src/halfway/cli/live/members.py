"""`halfway members`: the members that a live node of a failure detector knows."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from halfway.cli.live import node_options
from halfway.cli.terminal.options import AsJson
from halfway.problem import Problem

if TYPE_CHECKING:
    from halfway.live.control.control_requests import MemberAnswer


def list_members(
    follow: Annotated[
        bool,
        typer.Option("--follow", "-f", help="After the list, print each change when it happens."),
    ] = False,
    node: node_options.AtNode = "",
    as_json: AsJson = False,
) -> None:
    """Print the members that a node knows, and whether the node trusts or suspects them.

    \b
    The node must run a failure detector, such as `halfway node --system swim`. A line has the
    name and the id of a member, its state, the time for which it has had this state, and its
    incarnation. A node knows the names of its neighbours only; other members have only an id.

    \b
    halfway members
    halfway members --follow
    halfway members --json | jq -r 'select(.state == "suspected") | .name'
    """
    from halfway.live.control.client import NO_NODE, START_ONE, ask, chosen
    from halfway.live.control.control_requests import MemberAnswer, MembersRequest

    place = chosen(node)
    if place is None:
        raise Problem(NO_NODE, remedy="start a node with `halfway node --system swim`")
    known = 0
    for answer in ask(place, MembersRequest(follow=follow)):
        if isinstance(answer, MemberAnswer):
            _print(answer, as_json)
            known += 1
        elif not known and not as_json:
            typer.echo(f"{place.name} knows no other member yet")
    if follow:
        raise Problem(f"node = {place.name}: the node has ended", remedy=START_ONE)


def _print(member: "MemberAnswer", as_json: bool) -> None:
    if as_json:
        row = {"id": member.id, "name": member.name, "state": str(member.state)}
        typer.echo(json.dumps(row | {"since_s": member.since_s, "incarnation": member.incarnation}))
        return
    typer.echo(
        f"{member.name or '-':20} {member.id:10}  {member.state:9} {member.since_s:10.1f} s  "
        f"incarnation {member.incarnation}"
    )
