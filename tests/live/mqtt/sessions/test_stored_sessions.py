"""The MQTT sessions of a journal after the wall clock jumped between two runs."""

import pytest

from halfway.live.mqtt.policy.access import ALL_TOPICS
from halfway.live.mqtt.sessions.stored_sessions import SavedSession, StoredSessions


@pytest.mark.parametrize(
    ("jump_s", "left_s"), [(0.0, 590.0), (300.0, 290.0), (3600.0, -3010.0), (-3600.0, 600.0)]
)
def test_a_session_lasts_at_most_its_own_expiry(jump_s: float, left_s: float) -> None:
    wall, records = [1.7e9], list[tuple[int, bytes]]()

    def stored() -> StoredSessions:
        def write(kind: int, data: bytes, _spare: bool) -> None:
            records.append((kind, data))

        return StoredSessions(write, ValueError, lambda: 5.0, lambda: wall[0])

    saved = SavedSession("a", None, 600.0, 0.0, [], ALL_TOPICS)
    stored().session(saved, is_online=False)
    wall[0] += 10.0 + jump_s
    again = stored()
    for kind, data in records:
        assert again.restore(kind, data)
    ((session, _messages, _taken),) = again.restored_sessions()
    assert again.left_s(session) == left_s
