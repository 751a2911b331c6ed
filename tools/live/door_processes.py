"""Live nodes with an MQTT door, each in a process of its own, on free ports of loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

WAIT_S = 60.0  # for a door to open


class Ports(NamedTuple):
    """The ports of one node."""

    udp: int
    mqtt: int


class DoorProcesses:
    """The processes of some nodes of one network, which keep their state in a folder.

    peers_of: the places of the peers of a node. options: of every `halfway node`.
    """

    def __init__(
        self, folder: Path, count: int, peers_of: Callable[[int], Sequence[int]],
        options: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self._folder, self._peers_of, self._options = folder, peers_of, options
        self.ports = [
            Ports(_free(socket.SOCK_DGRAM), _free(socket.SOCK_STREAM)) for _ in range(count)
        ]
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "DoorProcesses":
        """Start all nodes."""
        self._processes = [self._started(place) for place in range(len(self.ports))]
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def wait_for_doors(self) -> None:
        """Wait until every door accepts a connection. Raises OSError after 60 s."""
        deadline = time.monotonic() + WAIT_S
        for ports in self.ports:
            while True:
                try:
                    socket.create_connection(("127.0.0.1", ports.mqtt), 1.0).close()
                    break
                except OSError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)

    def kill(self, place: int) -> None:
        """Kill a node by SIGKILL, and start it again."""
        self._processes[place].send_signal(signal.SIGKILL)
        self._processes[place].wait()
        self._processes[place] = self._started(place)

    def _started(self, place: int) -> subprocess.Popen[bytes]:
        own, peers = self.ports[place], [self.ports[one] for one in self._peers_of(place)]
        command = [
            sys.executable, "-m", "halfway", "node", "--no-discover",
            "--port", str(own.udp), "--mqtt", str(own.mqtt), "--name", f"door-{place}",
            "--network", f"doors-{os.getpid()}", "--state", str(self._folder / str(place)),
            *(word for peer in peers for word in ("--peer", f"127.0.0.1:{peer.udp}")),
            *self._options,
        ]  # fmt: skip
        quiet = subprocess.DEVNULL
        environment = os.environ | {"HALFWAY_RUN": str(self._folder)}
        return subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment)


def _free(kind: int) -> int:
    """Return a port of loopback that is free now."""
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])
