"""`halfway net`: the keys of a network, and the nodes that are admitted."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from halfway.cli.terminal.options import AsJson
from halfway.problem import Problem

if TYPE_CHECKING:
    from halfway.live.keys.owner import MemberRow

NetworkFolder = Annotated[
    Path,
    typer.Argument(
        metavar="NETWORK",
        help="Folder of the network, with its root key and the list of its members.",
    ),
]
KeyFile = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="File to write the private keys to, such as kitchen.key."),
]
SecretFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="File to write the secret to, such as shed.secret.")
]
RequestFile = Annotated[
    Path, typer.Argument(metavar="NODE.pub", help="Request file that `halfway net key` wrote.")
]
Name = Annotated[
    str,
    typer.Option(
        metavar="N", help="Name of the node. Default: the name of the request file without .pub."
    ),
]
Publish = Annotated[
    list[str] | None,
    typer.Option(metavar="P", help="Pattern of topics that the node may publish to. Repeatable."),
]
Subscribe = Annotated[
    list[str] | None,
    typer.Option(metavar="P", help="Pattern of topics that the node may subscribe to. Repeatable."),
]
Days = Annotated[
    float,
    typer.Option(
        metavar="N",
        min=1 / 1440,
        max=36_500.0,
        help="Number of days until the certificate expires.",
    ),
]
MemberName = Annotated[str, typer.Argument(metavar="NAME", help="Name of the node.")]
Shown = Annotated[
    Path,
    typer.Argument(metavar="NETWORK|FILE", help="Folder of a network, or file of a certificate."),
]

net = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


@net.callback()
def _net() -> None:
    """Make a network with keys, and admit nodes to it.

    \b
    halfway net key kitchen.key                     makes the keys, on the node itself
    halfway net new home                            makes the network, on the owner's machine
    halfway net admit home kitchen.pub --days 365   signs a certificate, on the owner's machine
    halfway net show home                           shows the admitted nodes, and when they expire
    halfway net revoke home kitchen                 ends the membership of the node kitchen

    \b
    Private keys never leave the node. The folder of the network contains the root key.
    So keep the folder offline, and keep a backup of it. Without the root key, you can
    neither admit nor revoke nodes.
    """


@net.command()
def key(file: KeyFile) -> None:
    """Make the private keys of a node, and a file with its request for a certificate.

    \b
    The file with the keys has mode 600, and stays on the node. The request has the
    suffix .pub, and is not secret. Give the request to the owner of the network. The
    command never replaces an existing file.

    \b
    halfway net key kitchen.key
    """
    from halfway.live.keys.member_files import new_identity

    new_identity(file)
    request = file.with_suffix(".pub")
    typer.echo(f"wrote {file} (private, stays here) and {request}")
    typer.echo(f"next, on the machine of the owner: halfway net admit NETWORK {request}")


@net.command()
def new(folder: NetworkFolder) -> None:
    """Make a network: a root key, a secret that all members share, and empty lists of members and
    of revoked certificates.

    \b
    The name of the folder is also the name of the network. The folder must be empty or new.

    \b
    halfway net new home
    """
    from halfway.live.keys.owner import new_network

    network = new_network(folder)
    wrote = f"{folder}/root.key, {folder}/network.json and an empty {folder}/revoked.list"
    typer.echo(f"wrote {wrote}: network {network.name}")
    typer.echo("keep the folder offline, because its root key admits any node, and keep a backup")
    typer.echo(f"next, for each node: halfway net admit {folder} NODE.pub")


@net.command()
def admit(
    folder: NetworkFolder,
    request: RequestFile,
    name: Name = "",
    publish: Publish = None,
    subscribe: Subscribe = None,
    days: Days = 365.0,
) -> None:
    """Sign a certificate for a node. The certificate states the node's name, topics and expiry.

    \b
    A pattern P is a topic with wildcards: + stands for any one level, and # at the end
    stands for all further levels. Without --publish, the node may publish to all topics.
    Without --subscribe, the node may subscribe to all topics.

    \b
    halfway net admit home kitchen.pub
    halfway net admit home meter.pub --publish 'sensors/#' --subscribe 'time' --days 30
    """
    from halfway.live.keys.owner import Admission, admit

    wanted = Admission(name or request.stem, publish or ["#"], subscribe or ["#"], days)
    path, certificate = admit(folder, request, wanted)
    until = _day(certificate.not_after)
    typer.echo(
        f"wrote {path}: node {certificate.node_id}, serial {certificate.serial}, valid to {until}"
    )
    typer.echo(
        "copy the file to the node over a secure connection, such as scp: the file has the "
        "secret of the network"
    )


@net.command()
def revoke(folder: NetworkFolder, name: MemberName) -> None:
    """Revoke the certificates of a node, and write the signed revocation list.

    \b
    Copy the list to at least one node that runs with --revoked. The nodes forward the list
    to each other, and end their sessions with the revoked node. The revoked node still knows
    the secret of the network. But with only this secret, it can neither decrypt a datagram
    nor finish a handshake.

    \b
    halfway net revoke home kitchen
    """
    from halfway.live.keys.owner import revoke

    path, serials = revoke(folder, name)
    typer.echo(f"revoked {name}: serial {', '.join(map(str, serials))}")
    typer.echo(f"wrote {path}: copy it to any node that runs with --revoked")


@net.command()
def secret(file: SecretFile) -> None:
    """Make one secret for all nodes of a small network. A secret is weaker than certificates.

    \b
    Every node with the file is a member. The node may have any free name, and may use
    all topics. You cannot revoke a node. A node without the file can neither join the
    network nor read its events.

    \b
    halfway net secret shed.secret
    """
    from halfway.live.keys.member_files import new_secret

    new_secret(file)
    typer.echo(
        f"wrote {file}: copy it over a secure connection, such as scp, to each node of network "
        f"{file.stem}"
    )


@net.command()
def show(what: Shown, as_json: AsJson = False) -> None:
    """Show the nodes that a network has admitted, or the content of a certificate.

    \b
    halfway net show home
    halfway net show kitchen.cert
    halfway net show home --json | jq -r 'select(.state == "valid") | .name'
    """
    for row in _rows(what):
        if as_json:
            typer.echo(json.dumps(row._asdict()))
        else:
            topics = f"publish {' '.join(row.publish)}  subscribe {' '.join(row.subscribe)}"
            until = _day(row.not_after)
            typer.echo(f"{row.name:20} {row.node_id:10}  {row.state:8} to {until}  {topics}")


def _rows(what: Path) -> "list[MemberRow]":
    from halfway.live.keys.certificates import read_certificate
    from halfway.live.keys.member_files import read_member
    from halfway.live.keys.owner import member_row, members

    if what.is_dir():
        return members(what)
    if not what.exists():
        wrong = "does not exist: expected the folder of a network, or the file of a certificate"
        raise Problem(wrong, where=str(what))
    member = read_member(what)
    return [member_row(read_certificate(member.certificate, member.root_key), revoked=False)]


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")
