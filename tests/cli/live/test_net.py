"""`halfway net`: a network from its root key to a revoked node, through the files."""

import json
import re
from pathlib import Path

import pytest

from halfway.cli import main
from halfway.live.keys import owner
from halfway.live.keys.certificates import read_certificate
from halfway.live.keys.keyed_security import KeyedSecurity
from halfway.live.keys.member_files import read_identity, read_member, read_revocation_list
from halfway.live.keys.processor import AES_GCM, CHACHA20, suitable_cipher
from halfway.live.runtime.key_files import keyed_security
from halfway.live.runtime.settings import Settings
from halfway.problem import Problem
from tests.live.keys.made import Wire


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> None:
    assert main(["net", *arguments]) == 0


def with_nodes(*names: str) -> None:
    run("new", "home")
    for name in names:
        run("key", f"{name}.key")
        run("admit", "home", f"{name}.pub")


def security(name: str) -> KeyedSecurity:
    certificate, key = Path(f"home/members/{name}.cert"), Path(f"{name}.key")
    return keyed_security(Settings(certificate=certificate, key=key))


def test_from_the_root_key_to_a_session_and_a_revocation(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_nodes("kitchen", "cellar")
    wire = Wire()
    first = wire.join("10.0.0.1", security("kitchen"))
    second = wire.join("10.0.0.2", security("cellar"))
    wire.beacons()
    assert wire.talk(first, second, b"there")
    assert wire.nodes[first].label == "keys of network home"

    run("revoke", "home", "cellar")
    root_key = read_member(place / "home/members/kitchen.cert").root_key
    data = read_revocation_list(place / "home/revoked.list", root_key)
    assert wire.nodes[first].learn_revocations(data, 0.0)
    assert wire.nodes[first].peers() == []

    capsys.readouterr()
    run("show", "home", "--json")
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["name"], row["state"]) for row in rows] == [
        ("kitchen", "valid"), ("cellar", "revoked"),
    ]  # fmt: skip
    assert rows[0]["node_id"] == wire.nodes[first].node_id


def test_secrets_are_for_their_owner_only(place: Path) -> None:
    with_nodes("kitchen")
    modes = {
        path.relative_to(place).as_posix(): path.stat().st_mode & 0o777
        for path in place.rglob("*")
        if path.is_file()
    }
    assert modes == {
        "kitchen.key": 0o600,
        "kitchen.pub": 0o644,
        "home/root.key": 0o600,
        "home/network.json": 0o600,
        "home/revoked.list": 0o644,
        "home/members/kitchen.cert": 0o600,
    }
    private = read_identity(place / "kitchen.key")
    others = [path.read_bytes() for path in place.rglob("*") if path.suffix in (".pub", ".cert")]
    assert not any(private.static.private_bytes_raw() in one for one in others)


@pytest.mark.usefixtures("place")
def test_a_certificate_says_what_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    run("new", "home")
    run("key", "m.key")
    run(
        "admit", "home", "m.pub", "--name", "meter", "--publish", "sensors/#", "--publish", "log",
        "--subscribe", "time", "--days", "30",
    )  # fmt: skip
    capsys.readouterr()
    run("show", "home/members/meter.cert")
    line = capsys.readouterr().out
    assert re.search(r"meter +\d+ +valid +to \d{4}-\d\d-\d\d", line)
    assert "publish sensors/# log  subscribe time" in line


def test_a_name_is_free_again_after_it_was_revoked(place: Path) -> None:
    with_nodes("kitchen")
    run("revoke", "home", "kitchen")
    run("admit", "home", "kitchen.pub")
    states = [(row.serial, row.state) for row in owner.members(place / "home")]
    assert states == [(1, "revoked"), (2, "valid")]


def test_a_node_id_that_is_taken_is_drawn_again(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = owner.node_id_of
    run("new", "home")
    run("key", "a.key")
    run("admit", "home", "a.pub")
    (first,) = owner.members(place / "home")
    # With salt 0, every node would have the id of the first.
    monkeypatch.setattr(
        owner, "node_id_of", lambda key, salt: real(key, salt) if salt else first.node_id
    )
    run("key", "b.key")
    run("admit", "home", "b.pub")
    given = read_member(place / "home/members/b.cert")
    assert read_certificate(given.certificate, given.root_key).salt == 1


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["new", "home"], "not empty"),
        (["key", "kitchen.key"], "kitchen.pub: the file exists, and is not replaced"),
        (["admit", "home", "kitchen.pub"], "name = kitchen: the name is already admitted"),
        (["admit", "home", "kitchen.key", "--name", "x"], "expected the request of a node"),
        (["admit", "home", "missing.pub"], "missing.pub: the file does not exist"),
        (["admit", "other", "kitchen.pub"], "halfway net new other"),
        (["admit", "home", "kitchen.pub", "--name", "../x"], "name = ../x: expected letters"),
        (["admit", "home", "kitchen.pub", "--name", "x", "--publish", "a/#/b"], "'a/#/b'"),
        (["admit", "home", "kitchen.pub", "--days", "0"], "--days"),
        (["revoke", "home", "cellar"], "name = cellar: expected the name of a valid certificate"),
        (
            ["show", "missing"],
            "missing: does not exist: expected the folder of a network, or the file of a",
        ),
        (["show", "kitchen.pub"], "chmod 600 kitchen.pub"),
    ],
)
@pytest.mark.usefixtures("place")
def test_an_error_says_what_to_do(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with_nodes("kitchen")
    capsys.readouterr()
    assert main(["net", *arguments]) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1


def test_a_file_that_others_may_read_is_refused(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with_nodes("kitchen")
    (place / "home/root.key").chmod(0o644)
    assert main(["net", "revoke", "home", "kitchen"]) == 2
    assert "chmod 600 home/root.key" in capsys.readouterr().err


@pytest.mark.parametrize("file", ["kitchen.key", "home/members/kitchen.cert", "home/network.json"])
@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"-----BEGIN PRIVATE KEY-----\n"])
@pytest.mark.usefixtures("place")
def test_a_damaged_file_is_an_error_in_one_line(
    file: str, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    with_nodes("kitchen")
    Path(file).write_bytes(content)
    if file == "kitchen.key":
        with pytest.raises(Problem, match=r"kitchen\.key"):
            security("kitchen")
        return
    assert main(["net", "show", file if file.endswith("cert") else "home"]) == 2
    assert file in capsys.readouterr().err


@pytest.mark.usefixtures("place")
def test_a_certificate_belongs_to_one_key() -> None:
    with_nodes("kitchen", "cellar")
    stolen = Settings(certificate=Path("home/members/kitchen.cert"), key=Path("cellar.key"))
    with pytest.raises(Problem, match="belongs to the key of another node"):
        keyed_security(stolen)


def test_the_processor_decides_the_cipher(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    for text, cipher in (
        ("flags\t: fpu aes sse\n", AES_GCM),
        ("Features\t: half thumb neon\n", CHACHA20),
        ("Features\t: fp asimd aes pmull\n", AES_GCM),
        ("no such line\n", AES_GCM),
    ):
        cpuinfo.write_text(text)
        assert suitable_cipher(cpuinfo) == cipher
    assert suitable_cipher(tmp_path / "missing") == AES_GCM


@pytest.mark.usefixtures("place")
def test_one_secret_makes_a_network(capsys: pytest.CaptureFixture[str]) -> None:
    run("secret", "shed.secret")
    wire, addresses = Wire(), []
    for n, name in enumerate(("kitchen", "cellar")):
        run("key", f"{name}.key")
        joined = Settings(secret=Path("shed.secret"), key=Path(f"{name}.key"), network="shed")
        addresses.append(wire.join(f"10.0.0.{n}", keyed_security(joined)))
    wire.beacons()
    assert wire.talk(*addresses, b"there")
    assert "network shed (weaker" in wire.nodes[addresses[0]].label
    assert Path("shed.secret").stat().st_mode & 0o777 == 0o600
    capsys.readouterr()
    assert main(["net", "secret", "shed.secret"]) == 2
    assert "not replaced" in capsys.readouterr().err
    Path("shed.secret").write_text("halfway-secret-1 AAAA\n")
    with pytest.raises(Problem, match="expected the secret of a network"):
        keyed_security(Settings(secret=Path("shed.secret"), key=Path("kitchen.key")))


def test_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("key", "new", "admit", "show", "revoke", "secret"):
        assert main(["net", command, "--help"]) == 0
        assert f"halfway net {command}" in capsys.readouterr().out
