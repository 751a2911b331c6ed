"""The handshake: published vectors, an independent implementation, and changed messages."""

import os

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from noise.connection import Keypair, NoiseConnection

from halfway.live.keys.noise import CIPHERS, Handshake, NotAuthentic
from tests.live.keys import vectors


def private(text: str) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(bytes.fromhex(text))


def two_ends(cipher: int, *, secret: bytes = vectors.SECRET) -> tuple[Handshake, Handshake]:
    ends = [
        Handshake(
            initiator=initiator, static=private(static), cipher=cipher, prologue=vectors.PROLOGUE,
            secret=vectors.SECRET if initiator else secret,
            random=lambda _, ephemeral=ephemeral: bytes.fromhex(ephemeral),  # type: ignore[misc]
        )
        for initiator, static, ephemeral in (
            (True, vectors.INITIATOR_STATIC, vectors.INITIATOR_EPHEMERAL),
            (False, vectors.RESPONDER_STATIC, vectors.RESPONDER_EPHEMERAL),
        )
    ]  # fmt: skip
    return ends[0], ends[1]


@pytest.mark.parametrize("cipher", range(len(CIPHERS)))
def test_the_published_vectors_hold(cipher: int) -> None:
    messages = vectors.VECTORS[CIPHERS[cipher].name]
    payloads = [bytes.fromhex(payload) for payload in vectors.PAYLOADS]
    ends = two_ends(cipher)
    for turn in range(3):
        writer, reader = ends[turn % 2], ends[1 - turn % 2]
        message = writer.write_message(payloads[turn])
        assert message.hex() == messages[turn]
        assert reader.read_message(message) == payloads[turn]
    assert ends[0].hash == ends[1].hash
    keys = [end.transport_keys() for end in ends]
    for turn in range(3, 6):
        # The responder sends the first transport message of the vectors.
        (send, _), (_, receive) = keys[turn % 2], keys[1 - turn % 2]
        counter = (turn - 3) // 2
        sealed = send.seal(counter, payloads[turn], b"")
        assert sealed.hex() == messages[turn]
        assert receive.open(counter, sealed, b"") == payloads[turn]


@pytest.mark.parametrize("cipher", range(len(CIPHERS)))
@pytest.mark.parametrize("ours_initiates", [True, False])
def test_an_independent_implementation_is_the_other_end(cipher: int, ours_initiates: bool) -> None:
    own, their, secret = X25519PrivateKey.generate(), X25519PrivateKey.generate(), os.urandom(32)
    ours = Handshake(
        initiator=ours_initiates, static=own, secret=secret, prologue=b"halfway", cipher=cipher,
        random=os.urandom,
    )  # fmt: skip
    other = NoiseConnection.from_name(f"Noise_XXpsk3_25519_{CIPHERS[cipher].name}_SHA256".encode())
    (other.set_as_responder if ours_initiates else other.set_as_initiator)()
    other.set_psks(secret)
    other.set_prologue(b"halfway")
    other.set_keypair_from_private_bytes(Keypair.STATIC, their.private_bytes_raw())
    other.start_handshake()
    for turn in range(3):
        payload = os.urandom(20 * turn)
        if (turn % 2 == 0) == ours_initiates:
            assert bytes(other.read_message(ours.write_message(payload))) == payload
        else:
            assert ours.read_message(bytes(other.write_message(payload))) == payload
    assert ours.their_static == their.public_key().public_bytes_raw()
    assert ours.hash == other.get_handshake_hash()
    send, receive = ours.transport_keys()
    for counter in range(3):
        assert bytes(other.decrypt(send.seal(counter, b"there", b""))) == b"there"
        assert receive.open(counter, bytes(other.encrypt(b"back")), b"") == b"back"


def test_an_end_without_the_secret_cannot_finish() -> None:
    initiator, responder = two_ends(0, secret=bytes(32))
    responder.read_message(initiator.write_message(b""))
    initiator.read_message(responder.write_message(b""))
    with pytest.raises(NotAuthentic):
        responder.read_message(initiator.write_message(b"let me in"))


@given(st.integers(0, 2), st.data())
def test_a_changed_message_is_not_read(turn: int, data: st.DataObject) -> None:
    ends = two_ends(0)
    for number in range(turn):
        ends[1 - number % 2].read_message(ends[number % 2].write_message(b"payload"))
    message = bytearray(ends[turn % 2].write_message(b"payload"))
    message[data.draw(st.integers(0, len(message) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(NotAuthentic):
        ends[1 - turn % 2].read_message(bytes(message))


@given(st.integers(0, 2), st.binary(max_size=200))
def test_any_bytes_are_refused(turn: int, message: bytes) -> None:
    ends = two_ends(0)
    for number in range(turn):
        ends[1 - number % 2].read_message(ends[number % 2].write_message(b""))
    with pytest.raises(NotAuthentic):
        ends[1 - turn % 2].read_message(message)


def test_a_public_key_of_low_order_is_refused() -> None:
    attacker, responder = two_ends(0)
    attacker._message = 1
    responder.read_message(attacker._mixed_ephemeral(bytes(32)) + attacker._encrypt(b""))
    with pytest.raises(NotAuthentic):
        responder.write_message(b"")
