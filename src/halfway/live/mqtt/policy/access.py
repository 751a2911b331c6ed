"""The users of the MQTT door: their passwords, and the topic filters of each user.

The file is TOML. The table `[anyone]` is for clients without a user name. Without the table
`[anyone]`, the door refuses clients without a user name:

    [anyone]
    publish = ["sensors/#"]
    subscribe = ["#"]
    deny = ["private/#"]

    [users.alice]
    password = "scrypt:…"        # as `hashed` returns it
"""

import hashlib
import hmac
import secrets
import tomllib
from pathlib import Path
from typing import Protocol

import msgspec

from halfway.core.values.field_messages import plain_words
from halfway.live.mqtt.packets.topic_names import is_filter
from halfway.live.topic_filters import covers, matches
from halfway.problem import Problem, reason_of

_COST, _BLOCK, _PARALLEL = 16_384, 8, 1  # of scrypt: about 40 ms and 16 MiB
_MEMORY = 64 * 1024 * 1024


class Permissions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The topics of a client, as filters; None stands for all topics. `deny` has priority."""

    publish: tuple[str, ...] | None = None
    subscribe: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()

    def may_publish(self, topic: str) -> bool:
        """Return whether the access of an MQTT user permits to publish to a topic."""
        allowed = self.publish is None or any(matches(one, topic) for one in self.publish)
        return allowed and (not self.deny or self.may_receive(topic))

    def may_subscribe(self, topic_filter: str) -> bool:
        """Return whether an MQTT user may subscribe: a filter of the user covers the wanted one,
        and no denied filter does.
        """
        allowed = self.subscribe is None or any(covers(one, topic_filter) for one in self.subscribe)
        return allowed and not any(covers(one, topic_filter) for one in self.deny)

    def may_receive(self, topic: str) -> bool:
        """Return whether no filter that denies access to an MQTT user matches a topic."""
        return not self.deny or not any(matches(one, topic) for one in self.deny)


ALL_TOPICS = Permissions()


class User(Permissions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A user in the file of MQTT users."""

    password: str


class Access(Protocol):
    """The policy that admits or refuses an MQTT client that connects."""

    def admit(self, username: str | None, password: bytes | None) -> Permissions | None:
        """Return the access of an MQTT client, its permissions; None refuses it.

        The check of a user name may take some ten milliseconds; the door then calls this method in
        a thread.
        """
        ...


class Anyone:
    """The access of an MQTT door on loopback: every client may use all topics."""

    def admit(self, _username: str | None, _password: bytes | None) -> Permissions | None:
        """Return the permission of MQTT users for all topics."""
        return ALL_TOPICS


class Users(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The users of a file, and the permissions of clients without a user name."""

    anyone: Permissions | None = None
    users: dict[str, User] = {}

    def admit(self, username: str | None, password: bytes | None) -> Permissions | None:
        """Return the permissions of an MQTT user with this password, or of anyone; None refuses the
        client.
        """
        if username is None:
            return self.anyone
        user = self.users.get(username)
        # An unknown user costs the same time as a wrong password.
        is_right = _verified(user.password if user else _NO_PASSWORD, password or b"")
        return user if user is not None and is_right else None


def hashed(password: str) -> str:
    """Return a password in the form of the users' file: salted and hashed by scrypt."""
    salt = secrets.token_bytes(16)
    return f"scrypt:{salt.hex()}:{_hash(password.encode(), salt).hex()}"


def _hash(password: bytes, salt: bytes) -> bytes:
    return hashlib.scrypt(
        password, salt=salt, n=_COST, r=_BLOCK, p=_PARALLEL, maxmem=_MEMORY, dklen=32
    )


_NO_PASSWORD = f"scrypt:{'00' * 16}:{'00' * 32}"


def _verified(stored: str, password: bytes) -> bool:
    _, salt, hash_ = stored.split(":")
    return hmac.compare_digest(_hash(password, bytes.fromhex(salt)), bytes.fromhex(hash_))


def read_users(path: Path) -> Users:
    """Read a file of MQTT users and their access. Raises Problem with the field that is wrong."""
    try:
        content = tomllib.loads(path.read_text("utf-8-sig"))
        users = msgspec.convert(content, Users)
    except OSError as error:
        remedy = "name an existing TOML file with the users"
        raise Problem(reason_of(error), where=str(path), remedy=remedy) from None
    except UnicodeDecodeError:
        raise Problem("expected text in UTF-8", where=str(path)) from None
    except tomllib.TOMLDecodeError as error:
        what, remedy = f"invalid TOML: {plain_words(str(error))}", "correct the file at this place"
        raise Problem(what, where=str(path), remedy=remedy) from None
    except msgspec.ValidationError as error:
        remedy = "use the tables [anyone] and [users.NAME]"
        raise Problem(plain_words(str(error)), where=str(path), remedy=remedy) from None
    for name, user in users.users.items():
        _check_filters(f"{path}: users.{name}", user)
        _check_password(f"{path}: users.{name}.password", user.password)
    if users.anyone is not None:
        _check_filters(f"{path}: anyone", users.anyone)
    return users


def _check_filters(where: str, permissions: Permissions) -> None:
    for field in ("publish", "subscribe", "deny"):
        for one in getattr(permissions, field) or ():
            if not is_filter(one):
                what = f"{one!r}: expected a topic filter"
                remedy = 'write a topic filter, such as "sensors/#"'
                raise Problem(what, where=f"{where}.{field}", remedy=remedy)


def _check_password(where: str, stored: str) -> None:
    parts = stored.split(":")
    try:
        lengths = [len(bytes.fromhex(part)) for part in parts[1:]]
    except ValueError:
        lengths = []
    if parts[0] != "scrypt" or lengths != [16, 32]:
        raise Problem(
            "expected scrypt:SALT:HASH in hexadecimal digits",
            where=where,
            remedy="use the text that halfway.live.mqtt.policy.access.hashed(password) returns",
        )
