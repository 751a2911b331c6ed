"""Errors of the parser read as all other errors: field = value: expected ..."""

import pytest

from halfway import cli
from halfway.cli.terminal.misuse import misuse
from halfway.cli.terminal.screen import USER_ERROR


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("compare x.toml --replicates a", "--replicates: expected a whole number ("),
        ("compare x.toml --replicates 0", "--replicates: expected 1 or more ("),
        ("compare x.toml --replicats 3", "unknown option --replicats; similar: --replicates ("),
        ("compare x.toml --nothing-like-it", "unknown option --nothing-like-it ("),
        ("compare", "the argument SCENARIO is missing ("),
        ("compare x.toml y z", "y z: expected no further argument ("),
        ("simulate x.toml --json=3", "--json: expected no value ("),
        ("simulate x.toml --seed -1", "--seed = -1: expected a whole number from 0 to "),
        ("reproduce --scale big", "--scale = big: expected one of quick, paper ("),
        ("walk unit-disk:n=10 --from", "--from: expected a value after the option ("),
        ("nope", "unknown command nope; similar: node ("),
    ],
)
def test_misuse_is_one_plain_line(
    command: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(command.split()) == USER_ERROR
    line = capsys.readouterr().err
    assert line.startswith(f"halfway: {words}")
    assert line.endswith("(--help lists what is allowed)\n")


def test_a_group_without_a_command_prints_its_help_alone(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["net"]) == USER_ERROR
    assert "halfway: " not in capsys.readouterr().err


def test_text_of_a_value_stays_as_it_is() -> None:
    message = "Invalid value for '--at': noon: expected the node's time."
    assert misuse(message) == "--at = noon: expected the node's time"
    assert misuse("Invalid value for '--at': it's noon") == "--at: it's noon"


def test_an_unknown_error_stays() -> None:
    assert misuse("The moon is full.") == "The moon is full"
