"""`halfway node`: one or many live nodes in this process, until it is interrupted."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import typer

from halfway.cli.live import node_options
from halfway.cli.terminal.assignments import assignments
from halfway.cli.terminal.screen import warn
from halfway.problem import Problem

if TYPE_CHECKING:
    from halfway.live.interface.service import Service, ServiceSettings
    from halfway.live.runtime.settings import Settings

_LOG = 4096  # records of a node that wait for a trace


def node(
    *,
    system: node_options.LiveSystem = "flooding",
    option: node_options.SystemOptions = None,
    nodes: node_options.Nodes = 1,
    position: node_options.OwnPosition = "",
    role: node_options.OwnRole = "",
    port: node_options.Port = 0,
    peer: node_options.Peers = None,
    name: node_options.NodeName = "",
    network: node_options.OfNetwork = "",
    host: node_options.OnHost = "127.0.0.1",
    certificate: node_options.CertificateFile = None,
    key: node_options.PrivateKeyFile = None,
    secret: node_options.NetworkSecret = None,
    revoked: node_options.RevokedFile = None,
    state: node_options.State = None,
    discover: node_options.Discover = True,
    interpreted: node_options.Interpreted = False,
    log: node_options.Logged = False,
    trace: node_options.TraceDir = None,
    mqtt: node_options.Mqtt = "",
    mqtt_tls: node_options.MqttTls = "",
    mqtt_certificate: node_options.MqttCertificate = None,
    mqtt_key: node_options.MqttKey = None,
    mqtt_users: node_options.MqttUsers = None,
    metrics: node_options.Metrics = "",
    page: node_options.Page = "",
) -> None:
    """Run a node of a network without brokers, until you press Ctrl-C.

    Without keys, the node is part of an UNSAFE development network on loopback. Every program on
    this machine can read and forge the events. See also `halfway sub` and `halfway pub`.

    \b
    halfway node --mqtt 1883 --page 8080    clients: mosquitto_sub -t 'sensors/#' -v
    halfway node --nodes 20 --system walk-overlay --trace traces
    halfway node --system georendezvous --position 120,40
    halfway node --system siena --role client
    halfway node --certificate a.cert --key a.key --host 0.0.0.0 --port 4711
    """
    from halfway.live.interface.service import serve

    serve(*_settings(locals()), _introduce)
    warn("stopped")


def _settings(values: dict[str, Any]) -> "tuple[Settings, ServiceSettings]":
    """Return the settings of nodes and service from the options of `halfway node`."""
    from halfway.live.interface.service import ServiceSettings
    from halfway.live.runtime.settings import Settings
    from halfway.live.systems.positions import position_of

    own = {field.name: values[field.name] for field in fields(Settings) if field.name in values}
    own["position"] = position_of(own["position"]) if own["position"] else None
    own["trace"] = _LOG if values["log"] or values["trace"] else 0
    settings = Settings(
        **own,
        options=values_of(values["option"]),
        peers=tuple(values["peer"] or ()),
        compile="never" if values["interpreted"] else "background",
    )
    offered = {field.name: values[field.name] for field in fields(ServiceSettings)}
    return settings, ServiceSettings(**offered)


def values_of(texts: list[str] | None) -> Mapping[str, float | int | bool]:
    """Return the values of `--option` of `halfway node` as numbers, by name. Raises Problem for
    another text.
    """
    values: dict[str, float | int | bool] = {}
    for name, text in assignments(texts, "--option", "retries=3").items():
        words: dict[str, float | int | bool] = {"true": True, "false": False}
        try:
            values[name] = words[text] if text in words else _number(text)
        except ValueError:
            raise Problem(f"--option {name} = {text}: expected a number, true or false") from None
    return values


def _number(text: str) -> float | int:
    number = float(text)
    return int(text) if text.lstrip("+-").isdigit() else number


def _introduce(service: "Service") -> None:
    """Print what `halfway node` runs, and where."""
    host = service.host
    first, settings = host.nodes[0], host.settings
    others = f" and {len(host.nodes) - 1} more" if len(host.nodes) > 1 else ""
    where = f"{first.endpoint.address[0]}:{first.endpoint.address[1]}"
    network = "" if settings.certificate else f": network {settings.network_name}"
    typer.echo(f"{first.security.label}{network}")
    code = "machine code" if host.is_compiled else "interpreted"
    role = f" ({first.face.overlay_place()['role']})" if first.face.ROLES else ""
    what = f"{settings.system}{role}, {code}"
    typer.echo(f"node {first.name}{others} at {where}: {what}; Ctrl-C ends it")
    for what, address in service.addresses.items():
        url = {"page": f"http://{address}/", "metrics": f"http://{address}/metrics"}
        typer.echo(f"{what.replace('_', ' with ')} at {url.get(what, address)}")
