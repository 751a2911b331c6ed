"""The operator's page has the limits of the code."""

from pathlib import Path

import pytest

from halfway.live.journal import commit, journal, kept
from halfway.live.kept import outlet, publisher, reader
from halfway.live.limits import DEFAULT
from halfway.live.monitoring import http

_PAGE = Path(__file__).parents[2] / "docs/operating.md"
_DOOR = DEFAULT.with_door()


@pytest.mark.parametrize(
    ("what", "numbers"),
    [
        ("neighbours; nodes heard", (DEFAULT.neighbours, DEFAULT.heard)),
        ("publishers whose", (DEFAULT.publishers,)),
        ("topics with a number", (DEFAULT.topics, _DOOR.topics)),
        ("subscriptions of a node", (DEFAULT.subscriptions, _DOOR.subscriptions)),
        ("bodies kept", (DEFAULT.bodies, DEFAULT.body_bytes >> 20)),
        ("records that wait for a body", (DEFAULT.held,)),
        ("datagrams that wait", (DEFAULT.queue,)),
        ("retained values", (DEFAULT.retained, _DOOR.retained)),
        ("own kept events", (kept.MOST_KEPT_EVENTS, kept.MOST_KEPT_BYTES >> 20)),
        ("topics with own kept", (kept.MOST_OWN_STREAMS,)),
        ("streams of others", (kept.MOST_STREAMS, kept.MOST_AHEAD)),
        ("readers of a stream", (publisher.MOST_READERS, outlet.MOST_FILTERS)),
        ("events sent again", (publisher.MOST_AGAIN,)),
        ("events behind a gap", (int(reader.GAP_S),)),
        ("journal: segments", (journal.MOST_BYTES >> 20, commit.GROUP_RECORDS)),
        ("HTTP connections", (http.MOST_CONNECTIONS, http.MOST_HEAD >> 10)),
    ],
)
def test_the_page_has_the_limits_of_the_code(what: str, numbers: tuple[int, ...]) -> None:
    (row,) = (one for one in _PAGE.read_text().splitlines() if one.startswith(f"| {what}"))
    for number in numbers:
        assert f"{number:,}" in row.split("|")[2]
