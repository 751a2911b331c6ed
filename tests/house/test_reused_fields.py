"""A reused header field has a name of its own, and handlers read it by this name; slips are
noticed.
"""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from halfway.core.kinds import EVENT_ID, Kinds
from halfway.protocols.walks import messages
from tests.house import reused_fields
from tests.house.sources import REPOSITORY, Source


@pytest.mark.parametrize(
    "rule", [reused_fields.read_by_header_names, reused_fields.named_by_header]
)
def test_the_repository_keeps_the_rule(rule: Callable[[Path], Iterable[str]]) -> None:
    assert "\n".join(rule(REPOSITORY)) == ""


def test_fields_that_also_have_their_own_meaning_are_free() -> None:
    kinds = Kinds()
    kinds.network(
        1, "join", "join me", "topic", reused={"target": "parent", "epoch": "incarnation"}
    )
    kinds.network(2, "flood", "an event", f"{EVENT_ID} target")
    assert reused_fields.reused_fields(kinds) == {"epoch"}
    kinds.network(3, "lost", "a copy", "epoch", reused={"event": reused_fields.COPY})
    assert reused_fields.reused_fields(kinds) == {"epoch"}
    kinds.network(4, "beat", "a counter", "epoch")
    assert reused_fields.reused_fields(kinds) == set()


def test_the_walks_reuse_three_fields() -> None:
    reused = reused_fields.reused_fields(messages.KINDS)
    assert reused == {messages.MEMBER, messages.MEMBER_INCARNATION, messages.OTHER}


@pytest.mark.parametrize(
    "line",
    [
        "who = message.publisher",
        "o = emit(out, STEP, 0.0, to); o.publisher = who",
        "place, o = 1, emit_step(out); o.publisher = who",
        "kept = trails.hops.record[i, 0]; who = kept.publisher",
    ],
)
def test_a_reused_field_under_its_header_name_is_seen(line: str) -> None:
    source = Source("src/halfway/protocols/walks/x.py", f"def f(message, out):\n    {line}\n")
    assert len(list(reused_fields.record_fields(source, {"publisher"}))) == 1


@pytest.mark.parametrize(
    "line",
    ["who = message[MEMBER]", "who = kept.publisher", "message.topic = 1", "event_id(message)"],
)
def test_other_fields_pass(line: str) -> None:
    source = Source("src/halfway/protocols/walks/x.py", f"def f(message, kept):\n    {line}\n")
    assert list(reused_fields.record_fields(source, {"publisher"})) == []


def test_a_declaration_by_the_header_name_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "src/halfway/protocols"
    folder.mkdir(parents=True)
    text = 'PING = K.network(1, "p", "m", reused={"topic": "a", MEMBER: "b", "event": COPY})\n'
    (folder / "x.py").write_text(text.replace("COPY", repr(reused_fields.COPY)))
    assert reused_fields.named_by_header(tmp_path) == ["src/halfway/protocols/x.py:1: topic"]
