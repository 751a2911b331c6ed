"""Positions of live nodes: texts, the grid of a process, what is refused, and a node that moves."""

from pathlib import Path

import numpy as np
import pytest

from halfway.cli import main
from halfway.live.interface.api import node
from halfway.live.interface.background import BackgroundHost
from halfway.live.limits import DEFAULT
from halfway.live.monitoring.status_page import page_state
from halfway.live.runtime.settings import Settings
from halfway.live.systems.face import NodeParameters
from halfway.live.systems.georendezvous import GeorendezvousFace
from halfway.live.systems.live_systems import face_of
from halfway.live.systems.positions import position_of
from halfway.problem import Problem
from tests.live.runtime.test_nodes import lone, run, until


def face(position: tuple[float, float] | None = None, **options: float) -> GeorendezvousFace:
    """The face of a node of GeoRendezvous."""
    made = face_of("georendezvous", options, NodeParameters(7, 1, 1, DEFAULT, position))
    assert isinstance(made, GeorendezvousFace)
    return made


def test_a_position_is_two_numbers() -> None:
    assert position_of("120,-40.5") == (120.0, -40.5)


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "nan,1", "1,inf", "1e9,0"])
def test_another_text_is_no_position(text: str) -> None:
    with pytest.raises(Problem, match=r"position = .*: expected two numbers in metres"):
        position_of(text)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 50, 100, 300])
def test_nodes_of_a_grid_are_linked_if_their_cells_touch_and_no_node_has_too_many_links(
    n: int,
) -> None:
    made = face()
    grid = made.grid(n, None)
    assert grid is not None
    places = np.array([grid.position(k) for k in range(n)])
    assert len(np.unique(places, axis=0)) == n
    for place in places.tolist():
        made.check_position(tuple(place))
    links = grid.links()
    assert max(len(own) for own in links) <= DEFAULT.neighbours
    for k, own in enumerate(links):
        assert all(k in links[other] for other in own)
        assert all(np.hypot(*(places[k] - places[other])) <= 280.0 for other in own)
    reached, waiting = {0}, [0]
    while waiting:
        for other in set(links[waiting.pop()]) - reached:
            reached.add(other)
            waiting.append(other)
    assert len(reached) == n


def test_a_grid_that_does_not_fit_the_area_is_refused() -> None:
    with pytest.raises(Problem, match="nodes = 100: expected fewer nodes in an area of 100 by 100"):
        face(area_width=100.0, area_height=100.0).grid(100, None)


def test_a_place_outside_the_area_is_refused() -> None:
    with pytest.raises(Problem, match=r"position = 1001,5: expected a place in the area"):
        face((1001.0, 5.0))


def test_what_is_missing_or_without_use_is_refused() -> None:
    with pytest.raises(Problem, match=r"position: expected two numbers in metres"):
        node("georendezvous")
    with pytest.raises(Problem, match=r"position = 1,2: expected no position"):
        node("flooding", position=(1.0, 2.0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--system", "georendezvous"], "give --position X,Y"),
     (["--system", "georendezvous", "--position", "here"], "position = 'here': expected two"),
     (["--position", "1,2"], "position = 1,2: expected no position for a node of flooding"),
     (["--system", "georendezvous", "--position", "2000,0"], "expected a place in the area"),
     (["--system", "georendezvous", "--nodes", "5", "--position", "990,990"], "the area of"),
     (["--system", "drip", "-o", "brokers=3"], "drip: nearest + copies = 4 + 2")],
)  # fmt: skip
def test_the_command_refuses_it_with_status_2(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["node", "--no-discover", *arguments]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_a_node_that_moves_becomes_a_member_of_another_cell() -> None:
    async def program() -> None:
        options = {"beacon_interval_s": 0.2, "join_listen_s": 0.1}
        async with lone("georendezvous", position=(50.0, 50.0), options=options) as one:
            state = one.mesh.face.node.state
            await until(lambda: state.present[0] == 1)
            before = state.cell[0].tolist()
            one.move(950.0, 950.0)
            await until(lambda: state.present[0] == 1 and state.cell[0].tolist() != before)
            assert one.status()["position"] == (950.0, 950.0)
            with pytest.raises(Problem, match="expected a place in the area"):
                one.move(-1.0, 0.0)

    run(program)


def test_the_command_moves_any_node_of_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path))
    settings = Settings(
        system="georendezvous", name="here", nodes=3, position=(10.0, 10.0), compile="never",
        discover=False,
    )  # fmt: skip
    with BackgroundHost(settings, control="here") as background:
        host = background.host
        before = [one.links.table.position for one in host.nodes]
        assert main(["move", "150,40", "--node", "here-2"]) == 0
        assert capsys.readouterr().out == "position: 150,40\n"
        after = [one.links.table.position for one in host.nodes]
        assert after == [*before[:2], (150.0, 40.0)]
        assert main(["status", "--node", "here-2"]) == 0
        assert "\nposition: 150,40\n" in capsys.readouterr().out
        shown = {one["name"]: one["position"] for one in background.call(
            lambda: page_state(host)["nodes"])}  # fmt: skip
        assert shown["here-2"] == (150.0, 40.0)
        assert main(["move", "2000,40", "--node", "here-2"]) == 2
        assert "expected a place in the area" in capsys.readouterr().err


def test_a_node_without_a_position_does_not_move() -> None:
    async def program() -> None:
        async with lone() as one:
            with pytest.raises(Problem, match="a node of flooding has no position"):
                one.move(1.0, 2.0)

    run(program)
