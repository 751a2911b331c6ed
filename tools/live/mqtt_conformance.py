"""The conformance cases of Eclipse Paho against the MQTT door of a node.

    pip download --no-deps --no-binary :all: paho-mqtt && tar xf paho_mqtt-*.tar.gz
    python -m tools.live.mqtt_conformance paho_mqtt-*/tests [--doors 2] [-k will]

`tests/test_mqttv5.py` in the source package of paho-mqtt has the cases of the suite
paho.mqtt.testing for MQTT 5.0, for the unmodified client of paho. This program runs the cases as
they are, except those in which a broker starts anew: they test the client. The door is that of
`halfway node`, a process of its own. With two doors, clients whose name begins with "a" connect to
one node, and all others to the other node.
"""

import argparse
import importlib
import sys
import tempfile
import time
import types
import unittest
from pathlib import Path
from typing import Any

import paho.mqtt.client as paho
from tools.live.door_processes import DoorProcesses

_USERS = '[anyone]\npublish = ["#"]\nsubscribe = ["#"]\ndeny = ["test/nosubscribe"]\n'
_LINKED_S = 3.0  # until the nodes are neighbours


def doors_in(folder: Path, count: int) -> DoorProcesses:
    """Return the processes with doors; each node has the node before it as a peer."""
    users = folder / "users.toml"
    users.write_text(_USERS)
    return DoorProcesses(
        folder, count, lambda k: [(k - 1) % count][: count - 1], ["--mqtt-users", str(users)]
    )


def cases_of(tests: Path, nodes: DoorProcesses) -> Any:
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
        cls._test_broker_port = nodes.ports[0].mqtt

    base._start_broker = classmethod(start)
    base.tearDownClass = classmethod(lambda _cls: None)
    _share(nodes)
    return module


def _share(nodes: DoorProcesses) -> None:
    """Let clients whose name begins with "a" connect to the first door, all others to the last."""
    client: Any = paho.Client  # a class whose method is replaced
    connect = client.connect

    def elsewhere(self: Any, host: str, port: int = 1883, *given: Any, **named: Any) -> Any:
        is_first = self._client_id[:1] in (b"a", b"")
        there = port if is_first or port != nodes.ports[0].mqtt else nodes.ports[-1].mqtt
        return connect(self, host, there, *given, **named)

    if len(nodes.ports) > 1:
        client.connect = elsewhere


def main() -> int:
    """Run the conformance cases; return 1 if some fail."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", type=Path, help="the folder of the cases")
    parser.add_argument("--doors", type=int, choices=(1, 2), default=1)
    parser.add_argument("-k", action="append", help="only cases with this word")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, doors_in(Path(folder), given.doors) as nodes:
        nodes.wait_for_doors()
        time.sleep(_LINKED_S)
        loader = unittest.TestLoader()
        if given.k:
            loader.testNamePatterns = [f"*{word}*" for word in given.k]
        suite = loader.loadTestsFromTestCase(cases_of(given.tests, nodes).Test)
        found = unittest.TextTestRunner(verbosity=2, buffer=True).run(suite)
    return 0 if found.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
