"""The service of `halfway node`: nodes, control socket, MQTT door, metrics and page in one process,
until SIGINT or SIGTERM.
"""

import asyncio
import logging
import signal
import ssl
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from halfway.live.addresses import is_loopback, listening_address, shown, unavailable
from halfway.live.control.server import ControlServer
from halfway.live.journal.journal import JournalRefusal
from halfway.live.mesh import Level
from halfway.live.monitoring.http import HttpServer
from halfway.live.monitoring.status_page import page_resources
from halfway.live.mqtt.mqtt_door import LEVELS, MqttDoor
from halfway.live.mqtt.policy.access import Access, Anyone, read_users
from halfway.live.mqtt.sessions.stored_sessions import StoredSessions
from halfway.live.runtime.host import Host
from halfway.live.runtime.settings import Settings
from halfway.problem import Problem

# Levels for QoS 0, 1 and 2 at a node without a journal. The promise of MQTT covers only the hop of
# the client.
_WITHOUT_JOURNAL = (Level.BEST_EFFORT, Level.HOP, Level.HOP)


@dataclass(frozen=True)
class ServiceSettings:
    """The settings of a service in addition to those of its nodes.

    mqtt, mqtt_tls: doors of the first node for clients of MQTT, plain and with TLS.
    mqtt_certificate, mqtt_key: PEM files of the door with TLS. mqtt_users: a file of users.
    metrics: the metrics of OpenMetrics, at /metrics. page: the status page, on loopback only.
    trace: a folder for the trace of all nodes, which need a log.
    Raises Problem for a value out of range.
    """

    mqtt: str = ""
    mqtt_tls: str = ""
    mqtt_certificate: Path | None = None
    mqtt_key: Path | None = None
    mqtt_users: Path | None = None
    metrics: str = ""
    page: str = ""
    trace: Path | None = None

    def __post_init__(self) -> None:
        for field in ("mqtt", "mqtt_tls", "metrics", "page"):
            if text := getattr(self, field):
                listening_address(field, text)
        if self.page and not is_loopback(listening_address("page", self.page)):
            what = f"page = {self.page}: expected an address on loopback"
            raise Problem(
                what, remedy="use a tunnel, such as ssh -L, because the page shows all topics"
            )
        files = {"mqtt_certificate": self.mqtt_certificate, "mqtt_key": self.mqtt_key}
        for field, path in files.items():
            if self.mqtt_tls and path is None:
                option = f"--{field.replace('_', '-')}"
                what = f"{field}: expected a PEM file, because mqtt_tls is set"
                raise Problem(what, remedy=f"give {option} FILE")
            if path is not None and not self.mqtt_tls:
                what = f"{field} = {path}: expected mqtt_tls as well"
                raise Problem(what, remedy="give --mqtt-tls [HOST:]PORT")


class Service:
    """The service of `halfway node`. Use `async with Service(settings, offered) as service`."""

    def __init__(self, settings: Settings, offered: ServiceSettings) -> None:
        if offered.mqtt or offered.mqtt_tls:
            settings.check_events("MQTT clients")
            settings = replace(settings, limits=settings.limits.with_door())
        self._settings, self._offered = settings, offered
        self._stack = AsyncExitStack()
        self.host = Host(settings)
        self.addresses: dict[str, str] = {}  # name of a part -> its address

    async def __aenter__(self) -> "Service":
        """Start all parts of the service. Raises Problem, and then leaves no part running."""
        access, tls = self._access(), _tls(self._offered)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self.host)
            self._open_trace(stack)
            await stack.enter_async_context(ControlServer(self.host, self.host.nodes[0].name))
            if self._offered.mqtt or self._offered.mqtt_tls:
                await self._open_door(stack, access, tls)
            self.host.start_kept_events()
            await self._open_pages(stack)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.__aexit__(*error)

    def _open_trace(self, stack: AsyncExitStack) -> None:
        folder = self._offered.trace
        if folder is not None:
            from halfway.live.trace.folder import TraceFolder  # imports pyarrow

            traces = TraceFolder(self.host.nodes, folder)
            stack.callback(traces.close)
            self.host.sections["trace"] = lambda: {"folder": str(folder), "rows": traces.rows}

    async def _open_door(
        self, stack: AsyncExitStack, access: Access, tls: ssl.SSLContext | None
    ) -> None:
        levels, memory = _WITHOUT_JOURNAL, None
        if self.host.journals:
            journal, loop = self.host.journals[0], asyncio.get_running_loop()
            memory = StoredSessions(journal.write, JournalRefusal, loop.time, time.time)
            journal.add(memory)
            levels = LEVELS
        door = MqttDoor(self.host.nodes[0], access=access, levels=levels, memory=memory)
        stack.push_async_callback(door.close)
        for field, context in (("mqtt", None), ("mqtt_tls", tls)):
            text = getattr(self._offered, field)
            if text:
                address = listening_address(field, text)
                try:
                    bound = await door.listen(*address, tls=context)
                except OSError as error:
                    raise unavailable(field, text, error) from None
                self.addresses[field] = shown(bound)
        self.host.sections["mqtt"] = lambda: self._door_status(door)

    async def _open_pages(self, stack: AsyncExitStack) -> None:
        offered = self._offered
        if offered.metrics:
            from halfway.live.monitoring.open_metrics import metrics_resource  # prometheus_client

            resources = {"/metrics": metrics_resource(self.host)}
            server = HttpServer("metrics", offered.metrics, resources)
            self.addresses["metrics"] = (await stack.enter_async_context(server)).address
        if offered.page:
            server = HttpServer("page", offered.page, page_resources(self.host), only_here=True)
            self.addresses["page"] = (await stack.enter_async_context(server)).address

    def _door_status(self, door: MqttDoor) -> Mapping[str, Any]:
        return {
            "addresses": {k: v for k, v in self.addresses.items() if k.startswith("mqtt")},
            "clients": door.connections,
            "sessions": door.sessions,
            "drops": {str(why): count for why, count in door.drops.items()},
        }

    def _access(self) -> Access:
        """Return the users of the MQTT door. Raises Problem for a door that strangers could use."""
        offered = self._offered
        for field in ("mqtt", "mqtt_tls"):
            text = getattr(offered, field)
            if text and not is_loopback(listening_address(field, text)):
                self._check_open(field, text)
        return read_users(offered.mqtt_users) if offered.mqtt_users else Anyone()

    def _check_open(self, field: str, text: str) -> None:
        what = f"{field} = {text}: expected an address on loopback"
        if not self._settings.has_keys:
            remedy = "make a network with keys: `halfway net new`"
            raise Problem(f"{what}, because the network has no keys", remedy=remedy)
        if self._offered.mqtt_users is None:
            remedy = "give --mqtt-users FILE; its table [anyone] is for clients without a name"
            raise Problem(f"{what}, because no file of users is given", remedy=remedy)


def serve(settings: Settings, offered: ServiceSettings, started: Callable[[Service], None]) -> None:
    """Run a service until SIGINT or SIGTERM; call `started` when its nodes have started.

    Raises Problem if they cannot start.
    """
    logging.basicConfig(format="halfway: %(message)s", level=logging.INFO)
    asyncio.run(_serve(settings, offered, started))


async def _serve(
    settings: Settings, offered: ServiceSettings, started: Callable[[Service], None]
) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_number, ended.set)
    async with Service(settings, offered) as service:
        started(service)
        await ended.wait()


def _tls(offered: ServiceSettings) -> ssl.SSLContext | None:
    """Return the TLS context of the MQTT door. Raises Problem for unsuitable files."""
    if offered.mqtt_certificate is None or offered.mqtt_key is None:
        return None
    for field, path in (
        ("mqtt_certificate", offered.mqtt_certificate),
        ("mqtt_key", offered.mqtt_key),
    ):
        if not path.is_file():
            raise Problem(f"{field} = {path}: no such file", remedy="name an existing PEM file")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(offered.mqtt_certificate, offered.mqtt_key, password="")
    except (ssl.SSLError, OSError) as error:
        what = f"mqtt_certificate = {offered.mqtt_certificate}, mqtt_key = {offered.mqtt_key}"
        remedy = "use a certificate in PEM, and its private key in PEM without a passphrase"
        raise Problem(f"{what}: {error}", remedy=remedy) from None
    return context
