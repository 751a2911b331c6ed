"""The client of the paho library, unmodified, with a list of what it received."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode  # noqa: F401 - for tests
from paho.mqtt.subscribeoptions import SubscribeOptions

from tests.live.mqtt.doors import DEADLINE_S, wait_for

V3, V5 = paho.MQTTv311, paho.MQTTv5


def properties(packet: int, **values: Any) -> Properties:
    """Properties of paho for a packet."""
    made = Properties(packet)
    for name, value in values.items():
        setattr(made, name, value)
    return made


def of_publish(**values: Any) -> Properties:
    """Properties of a PUBLISH."""
    return properties(PacketTypes.PUBLISH, **values)


class Client:
    """One client. Every method waits until the door has answered."""

    def __init__(self, port: int, version: int, client_id: str = "") -> None:
        self.version, self._port = version, port
        clean = {} if version == V5 else {"clean_session": True}
        self.paho = paho.Client(
            CallbackAPIVersion.VERSION2, client_id, protocol=version, reconnect_on_failure=False,
            **clean,
        )  # fmt: skip
        self.messages: list[paho.MQTTMessage] = []
        self.connacks: list[tuple[Any, Any, Any]] = []
        self.disconnects: list[int] = []
        self._answers: dict[int, list[int]] = {}
        self.paho.on_message = lambda _c, _u, message: self.messages.append(message)
        self.paho.on_connect = self._on_connect
        self.paho.on_disconnect = self._on_disconnect
        self.paho.on_subscribe = self._on_answer
        self.paho.on_unsubscribe = self._on_answer

    def _on_connect(self, _c: Any, _u: Any, flags: Any, reason: Any, own: Any) -> None:
        self.connacks.append((flags, reason, own))

    def _on_disconnect(self, _c: Any, _u: Any, _flags: Any, reason: Any, _own: Any) -> None:
        self.disconnects.append(reason.value)

    def _on_answer(self, _c: Any, _u: Any, mid: int, reasons: Any, _own: Any) -> None:
        self._answers[mid] = [one.value for one in reasons]

    def connect(self, *, clean: bool = True, keepalive: int = 30, **values: Any) -> Any:
        """Connect; return the CONNACK: flags, reason, properties. Values are properties of 5.0."""
        self.connacks.clear()
        self.disconnects.clear()
        if self.version == V5:
            own = properties(PacketTypes.CONNECT, **values)
            self.paho.connect("127.0.0.1", self._port, keepalive, clean_start=clean, properties=own)
        else:
            self.paho._clean_session = clean
            self.paho.connect("127.0.0.1", self._port, keepalive)
        self.paho.loop_start()
        wait_for(lambda: self.connacks or self.disconnects, "CONNACK")
        return self.connacks[0]

    def disconnect(self, **values: Any) -> None:
        """Disconnect, with properties of 5.0."""
        with self._end():
            if self.version == V5 and values:
                self.paho.disconnect(properties=properties(PacketTypes.DISCONNECT, **values))
            else:
                self.paho.disconnect()

    def terminate(self) -> None:
        """Close the socket without DISCONNECT."""
        with self._end() as connection:
            connection.shutdown(socket.SHUT_WR)

    @contextmanager
    def _end(self) -> Iterator[socket.socket]:
        """The connection, whose end this client causes: wait until the door has closed it."""
        with self.paho.socket().dup() as connection:
            yield connection
            self.paho.loop_stop()
            connection.settimeout(DEADLINE_S)
            while connection.recv(65_536):
                pass

    def subscribe(self, *filters: tuple[str, int], **options: Any) -> list[int]:
        """Subscribe to filters with their QoS; return the codes. Options are those of 5.0."""
        own = options.pop("properties", None)
        if self.version == V5:
            asked = [(name, SubscribeOptions(qos, **options)) for name, qos in filters]
            _, mid = self.paho.subscribe(asked, properties=own)
        else:
            _, mid = self.paho.subscribe(list(filters))
        wait_for(lambda: mid in self._answers, "SUBACK")
        return self._answers.pop(mid)

    def unsubscribe(self, *filters: str) -> list[int]:
        """End subscriptions; return the codes, of which 3.1.1 has none."""
        _, mid = self.paho.unsubscribe(list(filters))
        wait_for(lambda: mid in self._answers, "UNSUBACK")
        return self._answers.pop(mid)

    def publish(
        self, topic: str, payload: bytes = b"", qos: int = 0, *, retain: bool = False,
        own: Properties | None = None,
    ) -> int:  # fmt: skip
        """Publish; wait for the acknowledgement; return its code."""
        info = self.paho.publish(topic, payload, qos, retain, own)
        info.wait_for_publish(DEADLINE_S)
        assert info.is_published()
        return int(info.rc)

    def settle(self) -> None:
        """Wait until everything that the door sent before now has arrived.

        The door answers in order, so an answer to a SUBSCRIBE marks the place.
        """
        self.subscribe(("settle/" + "x" * 8, 0))

    def expect(self, *expected: tuple[str, bytes, int], in_order: bool = True) -> None:
        """Require exactly these messages (topic, payload, QoS) since the last call."""
        wait_for(lambda: len(self.messages) >= len(expected), f"{len(expected)} messages")
        self.settle()
        found = [(one.topic, one.payload, one.qos) for one in self.messages]
        self.messages.clear()
        wanted = list(expected)
        assert found == wanted if in_order else sorted(found) == sorted(wanted)
