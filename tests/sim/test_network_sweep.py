"""The sweep over a folder of networks: a table, and a note for each lack of room."""

from pathlib import Path

from tools.network_sweep import SYSTEMS, SweepLimits, table

from tests.systems import SPREADING


def test_the_table_has_a_row_for_each_network_and_a_note_for_each_reason(tmp_path: Path) -> None:
    folder = tmp_path / "freifunk"
    folder.mkdir()
    lines = [f"0,{i},0.9,{0.9 if i < 14 else 0.2}" for i in range(1, 16)]
    (folder / "hub_links.csv").write_text("\n".join(["a,b,tq_ab,tq_ba", *lines]) + "\n")
    (folder / "tiny_links.csv").write_text("a,b,tq_ab,tq_ba\n1,2,1,1\n")
    found = list(table(tmp_path, ["walk-overlay", "georendezvous"], "", SweepLimits(60.0)))
    assert found[0] == (
        "| network | nodes | links | most neighbours | walk-overlay | georendezvous |"
    )
    assert found[2] == "| freifunk/hub | 14 | 13 | 13 | 1 | – |"
    assert len(found) == 5
    assert found[4].startswith("* freifunk/hub, `georendezvous`: ")
    assert list(table(tmp_path, ["walk-overlay"], "leipzig/", SweepLimits(60.0)))[2:] == [""]


def test_the_sweep_has_every_system_that_spreads_events() -> None:
    assert tuple(SYSTEMS) == SPREADING
