"""The replays of a comparison, recorded by one process or by several."""

from pathlib import Path

import numpy as np
import pytest

from halfway.adapters.interface import System
from halfway.comparison.plan import SystemSource
from halfway.comparison.replay import recording
from halfway.comparison.replay.replay import Replay
from halfway.scenario.reading import read_scenario
from halfway.scenario.schema import Scenario
from tests.comparison.scenarios import written

SYSTEMS = ("flooding", "gossip", "counter-broadcast")


def content(replay: Replay) -> list[object]:
    columns = [(name, *column) for name, table in replay.tables.items() for column in table.items()]
    return [replay.system, *((one, name, values.tolist()) for one, name, values in columns)]


@pytest.mark.parametrize("executable", [None, "/bin/false"])
@pytest.mark.long
def test_several_processes_record_what_one_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executable: str | None
) -> None:
    """If another process fails, this one records its replays."""
    read = read_scenario(written(tmp_path))
    wanted = [(read, SystemSource(name)) for name in SYSTEMS]
    seen: list[int] = []
    alone = recording.side_by_side(wanted, 1, seen.append)
    assert seen == [0, 1, 2]
    assert [replay.system for replay in alone] == list(SYSTEMS)
    assert all(len(replay.tables["sent"]["t"]) > 10 for replay in alone)
    if executable:
        monkeypatch.setattr("sys.executable", executable)
    own, here = recording.replay_of_scenario, list[str]()

    def recorded(scenario: Scenario, system: System) -> Replay:
        here.append(system.name)
        return own(scenario, system)

    monkeypatch.setattr(recording, "replay_of_scenario", recorded)
    together = recording.side_by_side(wanted, 2, seen.append)
    assert [content(one) for one in together] == [content(one) for one in alone]
    assert np.array_equal(together[1].expected[0], alone[1].expected[0])
    assert here == ["flooding", "counter-broadcast", *(["gossip"] if executable else [])]
