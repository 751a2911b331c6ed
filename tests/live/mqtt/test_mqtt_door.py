"""The door on sockets: many clients, a client that does not read, TLS, passwords, other clients."""

import asyncio
import shutil
import ssl
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from halfway.live.mqtt.client_socket import LINGER_S
from halfway.live.mqtt.packets.reasons import Reason
from halfway.live.mqtt.packets.types import (
    MQTT5,
    ConnectPacket,
    DisconnectPacket,
    PingreqPacket,
    PingrespPacket,
    PubackPacket,
    PublishPacket,
    SubackPacket,
    SubscribePacket,
    TopicRequest,
)
from halfway.live.mqtt.policy.access import Anyone, Permissions, User, Users, hashed
from halfway.live.mqtt.policy.door_limits import DoorDrop, DoorLimits
from tests.live.mqtt.doors import RawClient, opened, wait_for


def test_two_hundred_clients() -> None:
    with opened() as doors:
        clients = [RawClient(doors.ports[0]) for _ in range(200)]
        for number, client in enumerate(clients):
            client.connect(f"client {number}")
            client.send(
                SubscribePacket(1, (TopicRequest("all", 0), TopicRequest(f"own/{number}", 0)))
            )
            assert isinstance(client.receive(), SubackPacket)
        clients[0].send(PublishPacket("all", b"x"))
        clients[0].send(*(PublishPacket(f"own/{number}", b"%d" % number) for number in range(200)))
        for number, client in enumerate(clients):
            assert client.receive() == PublishPacket("all", b"x")
            assert client.receive() == PublishPacket(f"own/{number}", b"%d" % number)
        assert doors.doors[0].connections == 200
        for client in clients:
            client.close()
        wait_for(lambda: doors.doors[0].connections == 0)


def test_a_client_that_does_not_read_loses_its_own_messages_only() -> None:
    with opened(limits=DoorLimits(queued_messages=50)) as doors:
        door, port = doors.doors[0], doors.ports[0]
        stopped, reader, publisher = (RawClient(port) for _ in range(3))
        for name, client in (("stopped", stopped), ("reader", reader), ("publisher", publisher)):
            client.connect(name)
        for client in (stopped, reader):
            client.send(SubscribePacket(1, (TopicRequest("t", 0),)))
            assert isinstance(client.receive(), SubackPacket)
        payload, sent = bytes(60_000), 0
        while not door.drops.get(DoorDrop.SLOW):
            assert sent < 2_000
            publisher.send(PublishPacket("t", payload, 1, packet_id=1))
            assert publisher.receive() == PubackPacket(1)
            message = reader.receive()
            assert isinstance(message, PublishPacket)
            sent += 1
        received = 0
        while door.drops[DoorDrop.SLOW] + received < sent:
            assert isinstance(stopped.receive(), PublishPacket)
            received += 1
        assert door.drops == {DoorDrop.SLOW: sent - received}
        stopped.send(PingreqPacket())
        assert stopped.receive() == PingrespPacket()


def test_a_client_that_does_not_read_is_not_read() -> None:
    with opened() as doors:
        doors.run(doors.nodes[0].publish("large", bytes(60_000), retain=True))
        client = RawClient(doors.ports[0])
        client.connect("asks and does not read")
        client.send(*[SubscribePacket(1, (TopicRequest("large", 0),))] * 300)
        client._socket.settimeout(0.3)
        with pytest.raises(TimeoutError):  # more answers would pile up in the door
            client.send_bytes(b"\xc0\0" * 15_000_000)
        client.close()


def test_broken_bytes_end_one_connection_only() -> None:
    with opened() as doors:
        good, bad = RawClient(doors.ports[0]), RawClient(doors.ports[0])
        good.connect("good")
        bad.connect("bad")
        bad.send_bytes(b"\x36\x00\xff")
        disconnect = bad.receive()
        assert isinstance(disconnect, DisconnectPacket)
        assert disconnect.reason is Reason.MALFORMED_PACKET
        assert bad.receive() is None
        reset = RawClient(doors.ports[0])
        reset.connect("reset")
        reset.reset()
        good.send(PingreqPacket())
        assert good.receive() == PingrespPacket()
        doors.advance(LINGER_S)  # the client of the broken bytes has not closed its end
        wait_for(lambda: doors.doors[0].connections == 1)


def test_a_client_that_resets_its_connection_at_the_end_does_not_stop_the_door() -> None:
    with opened() as doors:
        client = RawClient(doors.ports[0])
        client.connect("reset")

        async def reset_before_the_door_reads() -> None:
            client.send(DisconnectPacket())
            client.reset()

        doors.run(reset_before_the_door_reads())
        wait_for(lambda: doors.doors[0].connections == 0)
        assert RawClient(doors.ports[0]).connect("next").reason == Reason.SUCCESS


def test_a_fault_of_the_rule_that_admits_ends_one_connection_only() -> None:
    class Faulty(Anyone):
        def admit(self, username: str | None, password: bytes | None) -> Permissions | None:
            if password == b"fault":
                raise ZeroDivisionError
            return super().admit(username, password)

    with opened(access=Faulty()) as doors:
        bad = RawClient(doors.ports[0])
        bad.send(ConnectPacket("bad", MQTT5, password=b"fault"))
        assert bad.receive() is None
        assert RawClient(doors.ports[0]).connect("good").reason == Reason.SUCCESS


def test_too_many_connections_are_closed() -> None:
    with opened(limits=DoorLimits(connections=1)) as doors:
        first = RawClient(doors.ports[0])
        first.connect("first")
        assert RawClient(doors.ports[0]).receive() is None
        first.send(PingreqPacket())
        assert first.receive() == PingrespPacket()


def test_users_connect_with_their_password() -> None:
    alice = User(password=hashed("secret"), publish=("a/#",))
    with opened(access=Users(users={"alice": alice})) as doors:
        port = doors.ports[0]
        assert RawClient(port).connect("a").reason is Reason.NOT_AUTHORIZED
        wrong = RawClient(port).connect("a", username="alice", password=b"wrong")
        assert wrong.reason is Reason.BAD_USER_NAME_OR_PASSWORD
        client = RawClient(port)
        assert client.connect("a", username="alice", password=b"secret").reason is Reason.SUCCESS
        client.send(PublishPacket("b", b"", 1, packet_id=1))
        assert client.receive() == PubackPacket(1, Reason.NOT_AUTHORIZED)


def test_a_door_that_closes_says_so() -> None:
    with opened() as doors:
        client = RawClient(doors.ports[0])
        client.connect("a")
    assert client.receive() == DisconnectPacket(Reason.SERVER_SHUTTING_DOWN)
    assert client.receive() is None


def contexts(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """A context of a server with a new certificate for localhost, and one of its clients."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    private = serialization.PrivateFormat.PKCS8
    plain = serialization.NoEncryption()
    (folder / "cert.pem").write_bytes(certificate.public_bytes(encoding))
    (folder / "key.pem").write_bytes(key.private_bytes(encoding, private, plain))
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return server, ssl.create_default_context(cafile=str(folder / "cert.pem"))


def test_clients_may_use_tls(tmp_path: Path) -> None:
    server, client_context = contexts(tmp_path)
    with opened() as doors:
        _, port = doors.run(doors.doors[0].listen("127.0.0.1", 0, tls=server))
        client = RawClient(port, tls=client_context)
        client.connect("secret")
        client.send(SubscribePacket(1, (TopicRequest("t", 1),)))
        assert isinstance(client.receive(), SubackPacket)
        plain = RawClient(doors.ports[0])
        plain.connect("plain")
        plain.send(PublishPacket("t", bytes(50_000), 1, packet_id=1))
        message = client.receive()
        assert isinstance(message, PublishPacket)
        assert message.payload == bytes(50_000)
        client.close()
        plain.close()


@pytest.mark.skipif(shutil.which("mosquitto_sub") is None, reason="mosquitto-clients is missing")
@pytest.mark.parametrize("version", ["311", "5"])
def test_the_clients_of_mosquitto(version: str) -> None:
    with opened(2) as doors:
        ports = [str(port) for port in doors.ports]
        shared = ["-V", version, "-q", "1"]
        subscriber = subprocess.Popen(
            ["mosquitto_sub", "-p", ports[1], "-t", "a/#", "-C", "2", "-W", "60", "-v", *shared],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        wait_for(lambda: doors.doors[1].sessions == 1)
        for topic in ("a/b", "a/c"):
            command = ["mosquitto_pub", "-p", ports[0], "-t", topic, "-m", "hello", "-r", *shared]
            subprocess.run(command, check=True, timeout=60)
        assert subscriber.communicate(timeout=60)[0] == "a/b hello\na/c hello\n"


def test_the_async_client_of_aiomqtt() -> None:
    aiomqtt = pytest.importorskip("aiomqtt")

    async def talk(ports: list[int]) -> bytes:
        async with (
            aiomqtt.Client("127.0.0.1", ports[0]) as one,
            aiomqtt.Client("127.0.0.1", ports[1]) as other,
        ):
            await other.subscribe("t/+", qos=2)
            await one.publish("t/1", b"hello", qos=2)
            async for message in other.messages:
                return bytes(message.payload)
        return b""

    with opened(2) as doors:
        assert doors.run(talk(doors.ports)) == b"hello"


def test_a_denied_topic_does_not_come_by_a_wildcard() -> None:
    with opened(access=Users(anyone=Permissions(deny=("secret/#",)))) as doors:
        doors.run(doors.nodes[0].publish("secret/plan", b"x", retain=True))
        client = RawClient(doors.ports[0])
        client.connect("a")
        client.send(SubscribePacket(1, (TopicRequest("#", 0),)))
        assert isinstance(client.receive(), SubackPacket)
        doors.run(doors.nodes[0].publish("secret/plan", b"y"))
        doors.run(doors.nodes[0].publish("public", b"z"))
        assert client.receive() == PublishPacket("public", b"z")


def test_publications_that_the_mesh_does_not_take_are_bounded() -> None:
    with opened(limits=DoorLimits(publications=2)) as doors:
        taken = doors.run(_event())

        async def waits(*_: object, **__: object) -> None:
            await taken.wait()

        doors.nodes[0].try_publish = lambda *_, **__: False
        doors.nodes[0].publish = waits
        client = RawClient(doors.ports[0])
        client.connect("many")
        client.send(*(PublishPacket("t", b"x", 1, packet_id=one) for one in range(1, 6)))
        wait_for(lambda: doors.doors[0].drops.get(DoorDrop.MESH_REFUSED) == 3)
        doors.run(_set(taken))
        answers = [client.receive() for _ in range(5)]
        assert [one.reason for one in answers] == 2 * [Reason.SUCCESS] + 3 * [Reason.QUOTA_EXCEEDED]


async def _event() -> asyncio.Event:
    return asyncio.Event()


async def _set(event: asyncio.Event) -> None:
    event.set()
