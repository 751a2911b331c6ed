"""Publishers of a scenario that begin late or end early, in every system that spreads events."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from halfway.comparison.request import read_request
from halfway.problem import Problem
from halfway.scenario.build import simulation_of
from halfway.scenario.reading import read_scenario
from halfway.sim.simulation import Simulation
from halfway.world.workload.demand import Drawn
from halfway.world.workload.named_roles import GivenRoles
from tests.systems import SPREADING

# Options with which a system delivers every event on this network, where its paper does not.
WITH_ALL_DELIVERED = {
    "gossip": "fanout = 20\nrounds = 3",
    "counter-broadcast": "enough = 100",
    "rumor-routing": "agent_probability = 1.0",
    "drip": "epidemic = true",
}
TEXT = """
seconds = 60
seed = 3
hello = "given"
discovery_delay_s = 0
[network]
kind = "unit-disk"
n = 20
radius = 0.5
[workload]
publishers = {{ early = [{{ node = 1, until_s = 25 }}], late = [{{ node = 2, from_s = 28 }}] }}
subscribers = [5, 9, 14]
events = 14
every_s = 3
start_s = 12
[options.{system}]
{options}
"""


def text_of(system: str) -> str:
    return TEXT.format(system=system, options=WITH_ALL_DELIVERED.get(system, ""))


def names_of(run: Simulation, rows: npt.NDArray[np.int32]) -> list[str]:
    names = run.environment.names()
    return [names[row] for row in rows]


@pytest.mark.parametrize("system", SPREADING)
def test_a_publisher_that_begins_late_or_ends_early_is_served(tmp_path: Path, system: str) -> None:
    """Node 1 publishes at 12 to 24 s, and node 2 at 30 to 51 s; no node publishes at 27 s."""
    (tmp_path / "scenario.toml").write_text(text_of(system), "utf-8")
    run = simulation_of(read_scenario(tmp_path / "scenario.toml"), system=system)
    due = run.demand.begun_again().next_publications(np.inf, 99)
    assert due.t.tolist() == [12, 15, 18, 21, 24, 30, 33, 36, 39, 42, 45, 48, 51]
    assert names_of(run, due.row) == ["1"] * 5 + ["2"] * 8
    assert due.topic.tolist() == [0] * 5 + [1] * 8
    assert due.event.tolist() == list(range(13))
    outcome = run.run()
    assert outcome.expected == 13 * 3
    assert outcome.unsolicited == 0
    if system == "rumor-routing":  # an agent and a query meet with a probability
        assert outcome.delivered > 0.7 * outcome.expected
    else:
        assert outcome.delivered == outcome.expected


def test_a_remark_counts_the_events_at_whose_time_no_publisher_is_there(tmp_path: Path) -> None:
    (tmp_path / "scenario.toml").write_text(text_of("flooding"), "utf-8")
    request = read_request(tmp_path / "scenario.toml", ["flooding"])
    assert request.remarks == [
        "1 of 14 events are not published: they are due when no publisher is there, or after the "
        "end of the run (seconds = 60)"
    ]


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (
            "{ node = 2, from_s = 9, until_s = 5 }",
            "workload.publishers: node '2': from_s = 9, until_s = 5: ",
        ),
        ("{ node = 2, from_s = -1 }", "from_s"),
        ("{ node = 2, until_s = 4 }, { node = 2, from_s = 9 }", "publishes on topic 'late' twice"),
        ("{ node = 2, from_s = 9, to_s = 5 }", "to_s"),
        ("{ node = 99 }", "'99': the network has no such node"),
    ],
)
def test_a_bad_period_of_a_publisher_is_an_error(tmp_path: Path, given: str, what: str) -> None:
    text = text_of("flooding").replace("{ node = 2, from_s = 28 }", given)
    (tmp_path / "scenario.toml").write_text(text, "utf-8")
    with pytest.raises(Problem) as caught:
        simulation_of(read_scenario(tmp_path / "scenario.toml"), system="flooding")
    assert what in str(caught.value)


def test_a_file_gives_the_periods_of_publishers(tmp_path: Path) -> None:
    roles = "node,topic,from_s,until_s\n1,early,,25\n2,late,28,\n"
    (tmp_path / "roles.csv").write_text(roles, "utf-8")
    lines = ["publishers = 'roles.csv'" if line.startswith("publishers") else line
             for line in text_of("flooding").splitlines()]  # fmt: skip
    (tmp_path / "scenario.toml").write_text("\n".join(lines), "utf-8")
    run = simulation_of(read_scenario(tmp_path / "scenario.toml"), system="flooding")
    assert names_of(run, run.demand.next_publications(np.inf, 99).row) == ["1"] * 5 + ["2"] * 8


def test_each_event_is_of_a_publisher_that_is_there() -> None:
    rows = ((0, 1, 2), (3,), (4, 5))
    periods = {
        (0, 0): (0.0, 40.0),
        (1, 0): (20.0, 60.0),
        (3, 1): (30.0, 50.0),
        (4, 2): (10.0, 70.0),
    }
    given = GivenRoles(publishers=rows, publishing_periods=periods)
    drawn = Drawn(20, 3, 1, 2, events=4000, every_s=0.02, arrivals="poisson", seed=5, roles=given)
    whole = drawn.next_publications(np.inf, 9999)
    assert len(whole.t) == 4000  # row 2 is always there
    for pair, (begin, end) in periods.items():
        mine = (whole.row == pair[0]) & (whole.topic == pair[1])
        assert begin <= whole.t[mine].min() < begin + 1.0
        assert end - 1.0 < whole.t[mine].max() < end
    # Topics with a publisher are equally likely, and so are their publishers.
    there = (whole.t >= 30.0) & (whole.t < 40.0)
    share = np.bincount(whole.row[there]) / there.sum()
    assert share == pytest.approx(np.array([1, 1, 1, 3, 1.5, 1.5]) / 9, abs=0.1)
    pieces, again = [], drawn.begun_again()
    while len((some := again.next_publications(np.inf, 77)).t):
        pieces.append(some)
    for name in ("t", "row", "topic", "event"):
        found = np.concatenate([getattr(one, name) for one in pieces])
        assert found.tolist() == getattr(whole, name).tolist()


def test_a_demand_without_a_publisher_at_any_event_is_an_error() -> None:
    given = GivenRoles(publishers=((0,),), publishing_periods={(0, 0): (500.0, 600.0)})
    with pytest.raises(Problem, match="no named publisher is between its from_s"):
        Drawn(20, 1, 1, 2, events=10, roles=given)
