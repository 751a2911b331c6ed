"""Users, passwords and permissions."""

from pathlib import Path

import pytest

from halfway.live.mqtt.policy.access import Permissions, hashed, read_users
from halfway.problem import Problem


def written(folder: Path, text: str) -> Path:
    """A file of users."""
    path = folder / "users.toml"
    path.write_text(text, "utf-8")
    return path


def test_users_have_passwords_and_topics(tmp_path: Path) -> None:
    users = read_users(
        written(
            tmp_path,
            f"""
            [anyone]
            publish = []
            subscribe = ["public/#"]
            [users.alice]
            password = "{hashed("secret")}"
            publish = ["sensors/+/set"]
            deny = ["sensors/alarm/#"]
            """,
        )
    )
    anyone = users.admit(None, None)
    assert anyone is not None
    assert anyone.may_subscribe("public/+")
    assert not anyone.may_subscribe("#")
    assert not anyone.may_publish("public/a")
    alice = users.admit("alice", b"secret")
    assert alice is not None
    assert alice.may_publish("sensors/door/set")
    assert not alice.may_publish("sensors/alarm/set")
    assert alice.may_subscribe("#")  # but receives nothing that is denied
    assert not alice.may_receive("sensors/alarm/state")
    assert not alice.may_subscribe("sensors/alarm/+")
    for username, password in (("alice", b"wrong"), ("alice", None), ("bob", b"secret"), ("", b"")):
        assert users.admit(username, password) is None


def test_without_anyone_a_user_name_is_necessary(tmp_path: Path) -> None:
    users = read_users(written(tmp_path, f'[users.a]\npassword = "{hashed("")}"'))
    assert users.admit(None, None) is None
    assert users.admit("a", b"") is not None


def test_the_same_password_is_never_hashed_alike() -> None:
    assert hashed("secret") != hashed("secret")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[users.a]\npublish = []", "password"),
        ('[users.a]\npassword = "plain"', "users.a.password: expected scrypt:SALT:HASH"),
        ('[users.a]\npassword = "scrypt:00:zz"', "users.a.password: expected scrypt:SALT:HASH"),
        ('[anyone]\nsubscribe = ["a#"]', "anyone.subscribe: 'a#': expected a topic filter"),
        ("[anyone]\nread = []", "read"),
        ("[anyone", "TOML"),
    ],
)
def test_a_wrong_file_is_a_problem_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(Problem) as raised:
        read_users(written(tmp_path, text))
    assert problem in str(raised.value)
    assert "users.toml" in str(raised.value)


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match=r"users\.toml"):
        read_users(tmp_path / "users.toml")


def test_denied_topics_have_priority() -> None:
    permissions = Permissions(deny=("a/#",))
    assert permissions.may_publish("b")
    assert not permissions.may_publish("a/b")
    assert not permissions.may_subscribe("a/+")
