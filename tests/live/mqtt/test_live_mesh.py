"""Two doors with a live mesh of six nodes between them, on loopback sockets."""

from collections.abc import Iterator

import pytest

paho_client = pytest.importorskip("tests.live.mqtt.paho_client", reason="paho-mqtt is missing")
from tests.live.mqtt.doors import opened, wait_for  # noqa: E402
from tests.live.mqtt.paho_client import V3, V5, Client, of_publish  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(params=[V3, V5], ids=["3.1.1", "5.0"])
def clients(request: pytest.FixtureRequest) -> Iterator[tuple[Client, Client]]:
    """Client "a" at one end of the mesh and client "b" at the other."""
    with opened(nodes=6) as doors:
        made = (
            Client(doors.ports[0], request.param, "a"),
            Client(doors.ports[1], request.param, "b"),
        )
        for client in made:
            client.connect()
        yield made
        for client in made:
            client.disconnect()


def test_messages_cross_the_mesh_with_their_quality(clients: tuple[Client, Client]) -> None:
    a, b = clients
    b.subscribe(("rooms/+/light", 2))
    for qos in range(3):
        a.publish("rooms/kitchen/light", b"%d" % qos, qos)
        b.expect(("rooms/kitchen/light", b"%d" % qos, qos))


def test_properties_cross_the_mesh(clients: tuple[Client, Client]) -> None:
    a, b = clients
    if a.version == V3:
        pytest.skip("3.1.1 has no properties")
    b.subscribe(("asked", 1))
    own = of_publish(ResponseTopic="answer", CorrelationData=b"7", UserProperty=("k", "v"))
    a.publish("asked", b"?", 1, own=own)
    wait_for(lambda: b.messages)
    found = b.messages[0].properties
    assert (found.ResponseTopic, found.CorrelationData) == ("answer", b"7")
    assert found.UserProperty == [("k", "v")]


def test_a_retained_message_reaches_a_later_subscriber(clients: tuple[Client, Client]) -> None:
    a, b = clients
    b.subscribe(("state", 1))
    a.publish("state", b"on", 1, retain=True)
    b.expect(("state", b"on", 1))

    def is_retained() -> bool:
        b.subscribe(("state", 1))
        b.settle()
        return bool(b.messages)

    wait_for(is_retained, "the retained message")
    assert b.messages[0].retain
    b.expect(("state", b"on", 1))


def test_a_will_crosses_the_mesh(clients: tuple[Client, Client]) -> None:
    a, b = clients
    b.subscribe(("gone", 1))
    a.disconnect()
    a.paho.will_set("gone", b"a", 1)
    a.connect()
    a.terminate()
    b.expect(("gone", b"a", 1))
    a.paho.will_clear()
    a.connect()


def test_one_member_of_a_share_receives_a_message(clients: tuple[Client, Client]) -> None:
    a, b = clients
    for client in clients:
        client.subscribe(("$share/workers/jobs", 1), ("done", 1))
    a.publish("done", b"", 1)  # behind the announcements of both doors
    for client in clients:
        wait_for(lambda client=client: client.messages)
        client.messages.clear()
    for number in range(30):
        a.publish("jobs", b"%d" % number, 1)
    wait_for(lambda: len(a.messages) + len(b.messages) >= 30, "30 jobs")
    received = [int(one.payload) for client in clients for one in client.messages]
    assert sorted(received) == list(range(30))
    assert a.messages
    assert b.messages
