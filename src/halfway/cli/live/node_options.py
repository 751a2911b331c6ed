"""The options that several commands of live nodes share."""

from pathlib import Path
from typing import Annotated

import typer

AtNode = Annotated[
    str,
    typer.Option(
        "--node",
        metavar="NAME",
        help="Name or id of the node to use, which may be any node of a process. Default: the "
        "first node of the process that has run longest on this machine.",
    ),
]
LiveSystem = Annotated[
    str,
    typer.Option(
        metavar="SYSTEM",
        help="System that the node runs. All nodes of a network need the same system.",
    ),
]
SystemOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option", "-o", metavar="NAME=VALUE", help="Set an option of the system. Repeatable."
    ),
]
Nodes = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Number of nodes in this process. Halfway links these nodes to one network.",
    ),
]
Port = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="UDP port of the first node. The other nodes use the next ports. 0 "
        "means any free port.",
    ),
]
Peers = Annotated[
    list[str] | None,
    typer.Option(
        "--peer",
        metavar="HOST:PORT",
        help="Address of a node that multicast does not reach. Repeatable.",
    ),
]
NodeName = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Name of the node. A node with a certificate has the name in it."
    ),
]
OfNetwork = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Name of the network. The node ignores nodes of other networks. Default: development, "
        "or the network in the certificate.",
    ),
]
OnHost = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Address at which the node receives datagrams.")
]
OwnPosition = Annotated[
    str,
    typer.Option(
        metavar="X,Y",
        help="Position of the node in metres. Only georendezvous needs it. With --nodes, it is the "
        "position of the first node, and the others stand beside it.",
    ),
]
OwnRole = Annotated[
    str,
    typer.Option(
        "--role",
        metavar="ROLE",
        help="Role of the node: broker (default), client or founder. Only siena and underlay-siena "
        "have roles. A founder is the first broker, and does not look for other brokers first. "
        "With --nodes, all nodes have the role, but only the first one is a founder.",
    ),
]
NewPosition = Annotated[
    str, typer.Argument(metavar="X,Y", help="New position of the node in metres.")
]
CertificateFile = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Certificate file from `halfway net admit`. Needs --key."),
]
PrivateKeyFile = Annotated[
    Path | None,
    typer.Option("--key", metavar="FILE", help="Private key file from `halfway net key`."),
]
NetworkSecret = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Secret file from `halfway net secret`. Needs --key."),
]
RevokedFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="File with the revocation list. If the file changes, the node reads it again.",
    ),
]
State = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder for the node's state, which survives a restart."),
]
Interpreted = Annotated[
    bool,
    typer.Option("--interpreted", help="Run the system in Python, without compiling it."),
]
Logged = Annotated[
    bool,
    typer.Option(
        "--log",
        help="Keep a log of the records that the node receives. `halfway record` needs this log.",
    ),
]
TraceDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Write a trace to DIR (Parquet files): what the node receives, reports and drops.",
    ),
]
Discover = Annotated[
    bool, typer.Option("--discover/--no-discover", help="Find other nodes by multicast.")
]
Mqtt = Annotated[
    str,
    typer.Option(metavar="[HOST:]PORT", help="Serve clients of MQTT 3.1.1 and 5.0, without TLS."),
]
MqttTls = Annotated[
    str, typer.Option(metavar="[HOST:]PORT", help="Serve clients of MQTT with TLS.")
]
MqttCertificate = Annotated[
    Path | None, typer.Option(metavar="FILE", help="PEM file with the certificate for --mqtt-tls.")
]
MqttKey = Annotated[
    Path | None, typer.Option(metavar="FILE", help="PEM file with the private key for --mqtt-tls.")
]
MqttUsers = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="TOML file with the MQTT users, and the topics that each user may use."
    ),
]
Metrics = Annotated[
    str,
    typer.Option(metavar="[HOST:]PORT", help="Serve metrics for Prometheus, at the path /metrics."),
]
Page = Annotated[
    str, typer.Option(metavar="PORT", help="Serve the status page to browsers of this machine.")
]
Topic = Annotated[
    str, typer.Argument(metavar="TOPIC", help="Topic of the event, such as sensors/kitchen.")
]
TopicFilter = Annotated[
    str,
    typer.Argument(
        metavar="FILTER",
        help="Topic, or pattern of topics. + matches one level, and # matches all further levels.",
    ),
]
Text = Annotated[
    str,
    typer.Argument(
        metavar="TEXT",
        help="Payload of the event. With -, each line of stdin is the payload of one event.",
    ),
]
Repeats = Annotated[
    int,
    typer.Option(
        metavar="N", min=1, help="Publish the event N times. {{count}} in TEXT becomes 1, 2, … N."
    ),
]
Pings = Annotated[int, typer.Option(metavar="N", min=1, help="Number of pings.")]
MostEvents = Annotated[
    int | None, typer.Option("--count", metavar="N", min=1, help="Stop after N events.")
]
ForSeconds = Annotated[
    float,
    typer.Option(metavar="S", min=0.1, help="Longest time that the command runs, in seconds."),
]
Retain = Annotated[
    bool,
    typer.Option(
        "--retain", help="Keep the event as the last value of its topic, for later subscribers."
    ),
]
Keep = Annotated[
    bool,
    typer.Option(
        "--keep", help="Keep the event on disk until all subscribed nodes with --state have it."
    ),
]
Expiry = Annotated[
    float | None,
    typer.Option("--expiry", metavar="S", min=0.0, help="The event expires after S seconds."),
]
Wait = Annotated[
    float,
    typer.Option(
        "--wait", metavar="S", min=0.0, help="Longest time to wait for a neighbour, in seconds."
    ),
]
