"""The conformance cases of Eclipse Paho against the MQTT door of a node.

    pip download --no-deps --no-binary :all: paho-mqtt && tar xf paho_mqtt-*.tar.gz
    python -m tools.mqtt_conformance paho_mqtt-*/tests [--doors 2] [-k will]

`tests/test_mqttv5.py` in the source package of paho-mqtt has the cases of the suite
paho.mqtt.testing for MQTT 5.0, for the unmodified client of paho. This program runs the cases as
they are, except those in which a broker starts anew: they test the client. The door is that of
`halfway node`, a process of its own. With two doors, clients whose name begins with "a" connect to
one node, and all others to the other node.
"""

import argparse
import importlib
import os
import socket
import subprocess
import sys
import tempfile
import time
import types
import unittest
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho

_USERS = '[anyone]\npublish = ["#"]\nsubscribe = ["#"]\ndeny = ["test/nosubscribe"]\n'
_WAIT_S = 60.0


class Nodes:
    """The processes with doors, on free ports; node k has the peer k - 1."""

    def __init__(self, folder: Path, count: int) -> None:
        self._folder = folder
        (folder / "users.toml").write_text(_USERS)
        self.ports = [_free(socket.SOCK_STREAM) for _ in range(count)]
        self._udp = [_free(socket.SOCK_DGRAM) for _ in range(count)]
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "Nodes":
        self._processes = [self._started(place) for place in range(len(self.ports))]
        for port in self.ports:
            _wait_for(port)
        time.sleep(3.0)  # the nodes become neighbours
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
            process.wait()

    def _started(self, place: int) -> subprocess.Popen[bytes]:
        peer = ["--peer", f"127.0.0.1:{self._udp[place - 1]}"] if len(self.ports) > 1 else []
        command = [
            sys.executable, "-m", "halfway", "node", "--no-discover", "--network", "conformance",
            "--port", str(self._udp[place]), "--mqtt", str(self.ports[place]),
            "--mqtt-users", str(self._folder / "users.toml"), "--name", f"door-{place}",
            "--state", str(self._folder / str(place)), *peer,
        ]  # fmt: skip
        quiet = subprocess.DEVNULL
        environment = os.environ | {"HALFWAY_RUN": str(self._folder)}
        return subprocess.Popen(command, stdout=quiet, stderr=quiet, env=environment)


def _free(kind: int) -> int:
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + _WAIT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def cases_of(tests: Path, nodes: Nodes) -> Any:
    """Return the module with the cases, which use the doors of these nodes for their broker."""
    brokers: Any = types.ModuleType("mqtt.brokers")
    package: Any = types.ModuleType("mqtt")
    package.brokers = brokers
    sys.modules |= {"mqtt": package, "mqtt.brokers": brokers}
    sys.path.insert(0, str(tests.resolve()))
    module = importlib.import_module("test_mqttv5")
    base = module._TestBase

    def start(cls: Any, port: int) -> None:
        del port
        cls._test_broker_port = nodes.ports[0]

    base._start_broker = classmethod(start)
    base.tearDownClass = classmethod(lambda _cls: None)
    _share(nodes)
    return module


def _share(nodes: Nodes) -> None:
    """Let clients whose name begins with "a" connect to the first door, all others to the last."""
    connect = paho.Client.connect

    def elsewhere(self: Any, host: str, port: int = 1883, *given: Any, **named: Any) -> Any:
        is_first = self._client_id[:1] in (b"a", b"")
        there = port if is_first or port != nodes.ports[0] else nodes.ports[-1]
        return connect(self, host, there, *given, **named)

    if len(nodes.ports) > 1:
        paho.Client.connect = elsewhere  # type: ignore[method-assign]


def main() -> int:
    """Run the conformance cases; return 1 if some fail."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", type=Path, help="the folder of the cases")
    parser.add_argument("--doors", type=int, choices=(1, 2), default=1)
    parser.add_argument("-k", action="append", help="only cases with this word")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Nodes(Path(folder), given.doors) as nodes:
        loader = unittest.TestLoader()
        if given.k:
            loader.testNamePatterns = [f"*{word}*" for word in given.k]
        suite = loader.loadTestsFromTestCase(cases_of(given.tests, nodes).Test)
        found = unittest.TextTestRunner(verbosity=2, buffer=True).run(suite)
    return 0 if found.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
