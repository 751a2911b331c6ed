"""Certificates, revocation lists, requests and patterns: canonical bytes, limits, forgeries."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.live.keys.certificates import (
    MOST_CERTIFICATE_BYTES,
    MOST_REVOKED,
    Certificate,
    NotValid,
    Revocations,
    is_expired,
    read_certificate,
    read_revocations,
    signed_certificate,
    signed_revocations,
)  # fmt: skip
from halfway.live.keys.identity import Identity, node_id_of, requested_keys
from halfway.live.keys.patterns import any_covers, pattern_error
from halfway.live.topic_filters import covers
from tests.live.keys.made import NOW, MadeNetwork, source

NETWORK = MadeNetwork()
IDENTITY = Identity.new(source(1))
LEVELS = st.sampled_from(["a", "b", "sensor 1", "$SYS", "ü"])
TOPICS = st.lists(LEVELS, min_size=1, max_size=4).map("/".join)
PATTERNS = st.tuples(
    st.lists(st.one_of(LEVELS, st.just("+")), min_size=1, max_size=3), st.booleans()
).map(lambda one: "/".join(one[0] + ["#"] * one[1]))


@given(
    name=st.text("kü9 北-", min_size=1, max_size=15),
    publish=st.lists(PATTERNS, max_size=8), subscribe=st.lists(PATTERNS, max_size=8),
    serial=st.integers(0, 2**32 - 1), salt=st.integers(0, 2**32 - 1),
    not_after=st.integers(0, 2**64 - 1),
)  # fmt: skip
def test_reading_inverts_writing(
    name: str, publish: list[str], subscribe: list[str], serial: int, salt: int, not_after: int
) -> None:
    made = Certificate(
        NETWORK.id, serial, not_after, salt, IDENTITY.signing_public, IDENTITY.static_public, name,
        tuple(publish), tuple(subscribe),
    )  # fmt: skip
    data = signed_certificate(made, NETWORK.root)
    assert read_certificate(data, NETWORK.root_key) == made
    assert made.node_id == node_id_of(IDENTITY.signing_public, salt)
    assert 0 <= made.node_id < 2**31


def test_no_changed_bit_and_no_cut_is_accepted() -> None:
    data = NETWORK.certificate(IDENTITY, publish=("sensors/#", "a/+/b"))
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        with pytest.raises(NotValid):
            read_certificate(bytes(changed), NETWORK.root_key)
    for length in range(len(data)):
        with pytest.raises(NotValid):
            read_certificate(data[:length], NETWORK.root_key)
    with pytest.raises(NotValid):
        read_certificate(data + b"\0", NETWORK.root_key)


@given(st.binary(max_size=MOST_CERTIFICATE_BYTES + 10))
def test_any_bytes_are_refused(data: bytes) -> None:
    for read in (read_certificate, read_revocations):
        with pytest.raises(NotValid):
            read(b"HWC1" + data, NETWORK.root_key)
        with pytest.raises(NotValid):
            read(b"HWR1" + data, NETWORK.root_key)
    assert requested_keys(data) is None


def test_only_the_root_key_of_the_network_certifies() -> None:
    data = MadeNetwork(seed=5).certificate(IDENTITY)
    with pytest.raises(NotValid, match="not signed by the network"):
        read_certificate(data, NETWORK.root_key)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"name": ""}, "name = ''"),
        ({"name": "n" * 64}, "expected 1 to 63 bytes"),
        ({"name": "a\nb"}, "printable"),
        ({"publish": ("a/#/b",)}, "# only as the whole last level"),
        ({"publish": ("a",) * 33}, "expected at most 32"),
        ({"publish": ("p" * 200,) * 4}, "too long"),
    ],
)
def test_a_limit_is_named(changes: dict[str, object], reason: str) -> None:
    made = Certificate(
        NETWORK.id, 1, 2, 3, IDENTITY.signing_public, IDENTITY.static_public, "kitchen", (), ()
    )._replace(**changes)
    with pytest.raises(NotValid, match=reason):
        signed_certificate(made, NETWORK.root)


def test_expiry_tolerates_an_hour() -> None:
    data = NETWORK.certificate(IDENTITY, not_after=NOW)
    certificate = read_certificate(data, NETWORK.root_key)
    assert not is_expired(certificate, NOW + 3600)
    assert is_expired(certificate, NOW + 3601)


@given(st.integers(0, 2**32 - 1), st.sets(st.integers(0, 2**32 - 1), max_size=MOST_REVOKED))
def test_revocations_are_read_as_written(version: int, serials: set[int]) -> None:
    made = Revocations(version, tuple(sorted(serials)))
    data = signed_revocations(made, NETWORK.id, NETWORK.root)
    assert read_revocations(data, NETWORK.root_key) == made
    with pytest.raises(NotValid):
        read_revocations(data, MadeNetwork(seed=5).root_key)
    changed = bytearray(data)
    changed[random.Random(version).randrange(len(data))] ^= 1
    with pytest.raises(NotValid):
        read_revocations(bytes(changed), NETWORK.root_key)


def test_a_revocation_list_ends_at_its_limit() -> None:
    with pytest.raises(NotValid, match="at most 256"):
        signed_revocations(Revocations(1, tuple(range(257))), NETWORK.id, NETWORK.root)


def test_a_request_proves_both_keys() -> None:
    request = IDENTITY.request()
    assert requested_keys(request) == (IDENTITY.signing_public, IDENTITY.static_public)
    other = Identity.new(source(2)).request()
    assert requested_keys(request[:32] + other[32:64] + request[64:]) is None


@pytest.mark.parametrize(
    ("pattern", "wanted", "allowed"),
    [
        ("sensors/#", "sensors/a/b", True),
        ("sensors/#", "sensors", True),
        ("sensors/#", "sensor", False),
        ("sensors/+", "sensors/a", True),
        ("sensors/+", "sensors/a/b", False),
        ("sensors/+", "sensors/#", False),
        ("sensors/+", "sensors/+", True),
        ("sensors/a", "sensors/+", False),
        ("#", "a/#", True),
        ("#", "$SYS/a", False),
        ("+/a", "$SYS/a", False),
        ("$SYS/#", "$SYS/a", True),
        ("a/b", "a", False),
    ],
)
def test_patterns_cover_as_mqtt_matches(pattern: str, wanted: str, allowed: bool) -> None:
    assert covers(pattern, wanted) is allowed


@given(PATTERNS, PATTERNS, TOPICS)
def test_covering_is_transitive(pattern: str, wanted: str, topic: str) -> None:
    assert not pattern_error(pattern)
    if covers(pattern, wanted) and covers(wanted, topic):
        assert any_covers(("other", pattern), topic)
