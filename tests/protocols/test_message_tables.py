"""The declarations of record kinds, and their rows in docs/messages.md."""

import importlib

import pytest
from tools.message_tables import _row

from halfway.core.kinds import Channel, Kinds
from halfway.core.message import COMMAND_ARG
from halfway.protocols import SYSTEMS

# The meanings of `argument`, which the docstring of `Commands` lists: (meaning, command).
ARGUMENTS = {
    ("number of its content", "publish"),
    ("last topic", "subscribe"),
    *(("client", command) for command in ("subscribe", "unsubscribe", "publish", "detach")),
}


@pytest.mark.parametrize(
    ("fields", "args", "error"),
    [
        ("topic colour", {}, "unknown field .'colour'"),
        ("topic", {"a": 1, "b": 1}, "expected distinct places"),
        ("topic", {"a": 2, "b[3]": 0}, "expected distinct places"),
        ("topic", {"b[3]": 6}, "places below 8"),
        ("topic", {"b": 8}, "places below 8"),
    ],
)
def test_a_wrong_declaration_is_an_error(fields: str, args: dict[str, int], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        Kinds().network(2, "step", "a walk arrives", fields, args)


def test_a_vector_without_length_ends_before_the_next_place_or_with_the_array() -> None:
    kinds = Kinds()
    kinds.network(2, "step", "a walk arrives", args={"a[k]": 1, "b": 4, "c[k]": 5})
    assert kinds[2].places("args") == {"a": range(1, 4), "b": range(4, 5), "c": range(5, 8)}


def test_numbers_and_names_are_unique() -> None:
    kinds = Kinds()
    kinds.network(2, "step", "a walk arrives")
    with pytest.raises(ValueError, match="expected a free number"):
        kinds.network(2, "jump", "a walk arrives")
    with pytest.raises(ValueError, match="the name 'step' is taken"):
        kinds.network(3, "step", "a walk arrives")


def test_a_reused_field_shows_what_it_holds() -> None:
    kinds = Kinds()
    kinds.network(2, "accept", "join me", "event", reused={"topic": "the parent"})
    assert kinds[2].fields == ("event", "topic")
    assert _row(kinds[2]).endswith("| `event`; `topic`: the parent |")
    with pytest.raises(ValueError, match="a field is listed twice"):
        kinds.network(3, "ping", "are you up?", "topic", reused={"topic": "a digest"})


def test_the_argument_of_a_command_has_one_meaning_for_each_kind() -> None:
    kinds = (
        kind for about in SYSTEMS.values() for kind in importlib.import_module(about.module).KINDS
    )
    commands = [form for kind in kinds for form in kind.forms if form.channel is Channel.COMMAND]
    assert {place for form in commands for place in form.args.values()} == {COMMAND_ARG}
    assert {(meaning, form.name) for form in commands for meaning in form.args} == ARGUMENTS
    assert not any(form.reals for form in commands)
