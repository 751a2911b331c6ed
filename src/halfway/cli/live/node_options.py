"""The options that several commands of live nodes share."""

from pathlib import Path
from typing import Annotated

import typer

AtNode = Annotated[
    str,
    typer.Option(
        "--node",
        metavar="NAME",
        help="Node to ask. Default: the node that has run longest on this machine.",
    ),
]
LiveSystem = Annotated[
    str, typer.Option(metavar="SYSTEM", help="System of the node. All nodes need the same system.")
]
SystemOptions = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the system."),
]
Nodes = Annotated[
    int,
    typer.Option(metavar="N", help="Number of nodes in this process. All these nodes are linked."),
]
Port = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="UDP port of the first node. Further nodes use the next ports. 0 means any free port.",
    ),
]
Peers = Annotated[
    list[str] | None,
    typer.Option(
        "--peer", metavar="HOST:PORT", help="Address of a node that multicast does not reach."
    ),
]
NodeName = Annotated[str, typer.Option(metavar="NAME", help="The name of the node.")]
OfNetwork = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="Name of the network. The node ignores nodes of other networks."
    ),
]
OnHost = Annotated[
    str, typer.Option(metavar="ADDRESS", help="Address at which the node receives datagrams.")
]
CertificateFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Certificate file from `halfway net admit`. Also give --key."
    ),
]
PrivateKeyFile = Annotated[
    Path | None, typer.Option("--key", metavar="FILE", help="Private keys of `halfway net key`.")
]
NetworkSecret = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Secret of `halfway net secret`. Also give --key."),
]
RevokedFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Revocation list of the network. The node reads the file again when it changes.",
    ),
]
State = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder for the state that survives a restart."),
]
Interpreted = Annotated[
    bool,
    typer.Option("--interpreted", help="Run the handlers in Python, and never as machine code."),
]
Logged = Annotated[
    bool,
    typer.Option(
        "--log", help="Keep a log of the node's records. `halfway record` needs this log."
    ),
]
TraceDir = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Write received, reported and dropped records to Parquet files."
    ),
]
Discover = Annotated[
    bool, typer.Option("--discover/--no-discover", help="Look for nodes on this machine.")
]
Mqtt = Annotated[
    str, typer.Option(metavar="[HOST:]PORT", help="Serve clients of MQTT 3.1.1 and 5.0.")
]
MqttTls = Annotated[
    str, typer.Option(metavar="[HOST:]PORT", help="Serve clients of MQTT with TLS.")
]
MqttCertificate = Annotated[
    Path | None, typer.Option(metavar="FILE", help="PEM file with the certificate for --mqtt-tls.")
]
MqttKey = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The private key of --mqtt-tls, PEM.")
]
MqttUsers = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Users and topics of MQTT clients, TOML.")
]
Metrics = Annotated[
    str, typer.Option(metavar="[HOST:]PORT", help="Serve metrics for Prometheus, at /metrics.")
]
Page = Annotated[
    str, typer.Option(metavar="PORT", help="Serve the status page to browsers of this machine.")
]
Topic = Annotated[str, typer.Argument(metavar="TOPIC", help="Topic, such as sensors/kitchen.")]
TopicFilter = Annotated[
    str,
    typer.Argument(metavar="FILTER", help="Topics. + matches one level, and # all further levels."),
]
Text = Annotated[
    str,
    typer.Argument(metavar="TEXT", help="The payload. - means one event for each line of stdin."),
]
Repeats = Annotated[
    int,
    typer.Option(metavar="N", min=1, help="Publish N times. {{count}} in TEXT becomes 1, 2, … N."),
]
MostEvents = Annotated[
    int | None, typer.Option("--count", metavar="N", min=1, help="Stop after N events.")
]
ForSeconds = Annotated[float, typer.Option(metavar="S", min=0.1, help="Seconds to run.")]
Retain = Annotated[
    bool, typer.Option("--retain", help="Keep the event as the last value of its topic.")
]
Keep = Annotated[
    bool, typer.Option("--keep", help="Keep the event on disk until all readers have it.")
]
Expiry = Annotated[
    float | None,
    typer.Option("--expiry", metavar="S", min=0.0, help="The event expires after S seconds."),
]
Wait = Annotated[
    float, typer.Option("--wait", metavar="S", min=0.0, help="Seconds to wait for a neighbour.")
]
