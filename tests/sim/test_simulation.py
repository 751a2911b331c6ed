"""Whole runs as a user makes them: what arrives, what it costs, and that nothing depends on how."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halfway.adapters.interface import commands
from halfway.problem import Problem
from halfway.sim.environment.mobility import Motion
from halfway.sim.radio.declarations import DistanceAir, IdealAir
from halfway.sim.radio.energy import Power
from halfway.sim.simulation import Simulation
from halfway.sim.trace.rerun import replay
from halfway.world.faults import Churn, Crash, LinkCut, Partition
from halfway.world.graphs.network import Network
from halfway.world.mobility.motion import Presence, still
from halfway.world.mobility.random_waypoint import random_waypoint
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, from_links, line

SECONDS = 12.0


def mesh() -> Network:
    return disk(n=60, radius=0.22, seed=3)


def flooded(network: Network | None, demand: Any, **given: Any) -> Simulation:
    return Simulation("flooding", network, workload=demand, seconds=SECONDS, **given)


def moving(**given: Any) -> Simulation:
    legs = random_waypoint(40, 100.0, 100.0, speed=(2, 8), seconds=SECONDS, seed=2)
    faults = [Churn(mean_up_s=4.0, mean_down_s=1.0, share=0.3), Partition(
        nodes=frozenset(range(20)), at=3.0, for_=2.0)]  # fmt: skip
    demand = Drawn(40, 2, 2, 10, events=20, every_s=0.5, seed=1)
    return flooded(None, demand, motion=Motion(legs, 22.0), faults=faults, **given)


def test_flooding_tells_exactly_the_subscribers_of_the_component() -> None:
    network = from_links(7, [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)])
    demand = Listed([(row, 0) for row in range(7)], [(1.0, 1, 0), (2.0, 5, 0)])
    told = flooded(network, demand).run()
    assert (told.published, told.expected, told.delivered) == (2, 12, 3 + 2)
    assert told.sent == {"flood": 4 + 3}
    assert told.hops.largest == 2


def test_without_faults_everything_arrives_by_shortest_paths() -> None:
    network = mesh()
    demand = Drawn(60, 3, 2, 15, events=12, every_s=0.5, arrivals="poisson", seed=5)
    told = flooded(network, demand).run()
    assert told.delivery_ratio == 1.0
    assert (told.stretch.mean, told.stretch.largest) == (1.0, 1.0)
    assert (told.duplicates, told.late, told.unasked) == (0, 0, 0)
    assert told.involved == 60
    hop = 0.004 + 0.01  # the radio's delay, and the wait before it is said again
    assert told.latency_s.largest == pytest.approx(told.hops.largest * hop - 0.01 + 0.01)


def test_energy_equals_the_counted_messages() -> None:
    power = Power(tx_w=2.0, rx_w=0.5, idle_w=0.25, bit_rate=1000.0)
    told = flooded(mesh(), Drawn(60, 1, 1, 9, events=4), power=power).run()
    tx_s = 112 * 8 / 1000.0 * sum(told.sent.values())
    rx_s = 112 * 8 / 1000.0 * sum(told.heard.values())
    assert told.energy_tx == pytest.approx(2.0 * tx_s)
    assert told.energy_rx == pytest.approx(0.5 * rx_s)
    assert told.bytes_heard == 112 * sum(told.heard.values())
    assert told.load.mean == pytest.approx(
        (sum(told.sent.values()) + sum(told.heard.values())) / told.nodes
    )


def test_nodes_that_are_down_draw_nothing() -> None:
    power = Power(tx_w=0.0, rx_w=0.0, idle_w=1.0, bit_rate=1e9)
    faults = [Crash(node=0, at=2.0), Crash(node=1, at=4.0, for_=3.0)]
    demand = Listed([(1, 0)], [])
    told = flooded(line(4), demand, power=power, faults=faults).run()
    assert told.energy == pytest.approx(4 * SECONDS - (SECONDS - 2.0) - 3.0)


def test_delays_by_distance_are_those_of_the_way() -> None:
    placed = Network(
        line(4).start, line(4).who, np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [6.0, 0.0]])
    )
    demand = Listed([(3, 0)], [(1.0, 0, 0)])
    radio = DistanceAir(delay_s=0.25, speed=2.0)
    told = flooded(placed, demand, radio=radio, options={"wait": 0.0}).run()
    assert told.latency_s.mean == pytest.approx(3 * 0.25 + 6.0 / 2.0)
    with pytest.raises(Problem, match="positions"):
        flooded(line(4), demand, radio=radio)
    four = Motion(still([[0, 0], [1, 1], [2, 2], [3, 3]]), 2.0)
    with pytest.raises(Problem, match="stand still"):
        flooded(None, demand, radio=radio, motion=four)


def test_a_partition_divides_and_heals() -> None:
    network = line(6)
    cut = [Partition(nodes=frozenset({0, 1, 2}), at=2.0, for_=4.0)]
    demand = Listed([(5, 0)], [(1.0, 0, 0), (3.0, 0, 0), (7.0, 0, 0)])
    simulation = flooded(network, demand, faults=cut)
    counts = [simulation.run(until).delivered for until in (2.0, 6.0, SECONDS)]
    assert counts == [1, 1, 2]


def test_what_a_crashed_publisher_says_is_not_published() -> None:
    demand = Listed([(3, 0)], [(1.0, 0, 0), (3.0, 0, 0)])
    told = flooded(line(4), demand, faults=[Crash(node=0, at=2.0)]).run()
    assert (told.published, told.unpublished, told.delivery_ratio) == (1, 1, 1.0)


def test_who_comes_late_subscribes_when_it_comes() -> None:
    motion = Motion(
        still([[0.0, 0.0], [1.0, 0.0]]), 2.0,
        Presence(np.array([0, 1, 2]), np.array([0.0, 5.0]), np.array([np.inf, np.inf])),
    )  # fmt: skip
    demand = Listed([(1, 0)], [(2.0, 0, 0), (8.0, 0, 0)])
    told = flooded(None, demand, motion=motion).run()
    assert (told.expected, told.delivered) == (1, 1)


def test_pieces_make_the_same_run() -> None:
    whole, piecewise = moving(seed=4).run(), moving(seed=4)
    assert 0 < whole.delivered < whole.expected
    for until in (0.3, 1.0, 2.5, 5.77, 7.0):
        piecewise.run(until)
    counted = piecewise.run(events=piecewise.run(7.1).events + 100)
    assert counted.events < whole.events
    assert piecewise.run() == whole


def test_a_run_stops_when_its_condition_holds() -> None:
    network, demand = mesh(), Drawn(60, 1, 1, 20, events=20, every_s=0.5)
    told = flooded(network, demand).run(stop=lambda run: run.deliveries.delivered >= 50)
    assert 50 <= told.delivered < 400


def test_the_seed_decides() -> None:
    assert moving(seed=4).run() == moving(seed=4).run()
    assert moving(seed=4).run().digest != moving(seed=5).run().digest


def outcome_of_another_process() -> dict[str, Any]:
    program = (
        "import json\nfrom tests.sim.test_simulation import moving\n"
        "print(json.dumps(moving(seed=4).run().as_dict()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


def test_another_process_says_the_same() -> None:
    assert outcome_of_another_process() == json.loads(json.dumps(moving(seed=4).run().as_dict()))


def test_a_trace_plays_again_to_the_same_end(tmp_path: Path) -> None:
    from pyarrow import parquet

    file = tmp_path / "run.parquet"
    told = moving(seed=4, trace=file).run()
    rows = parquet.read_table(file).to_pylist()
    assert moving(seed=4).run() == told, "tracing changed the run"
    assert sum(row["what"] in ("heard", "told") for row in rows) == told.events
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    assert replay(file, moving(seed=4))
    assert not replay_of_a_tampered(file, tmp_path)
    with pytest.raises(Problem, match="seed = 4, not 5"):
        replay(file, moving(seed=5))


def replay_of_a_tampered(file: Path, folder: Path) -> bool:
    """A node that hears no flood, and the memory differs."""
    from pyarrow import parquet

    table, about = parquet.read_table(file), parquet.ParquetFile(file).metadata.metadata
    heard = table["what"].to_pylist()
    floods = [
        k for k, name in enumerate(table["name"].to_pylist())
        if name == "flood" and heard[k] == "heard"
    ]  # fmt: skip
    deaf = table["row"].to_pylist()[floods[-1]]
    lost = {k for k in floods if table["row"][k].as_py() == deaf}
    rest = [k for k in range(len(table)) if k not in lost]
    other = folder / "tampered.parquet"
    with parquet.ParquetWriter(other, table.schema) as writer:
        writer.write_table(table.take(rest))
        writer.add_key_value_metadata({"halfway": about[b"halfway"].decode()})
    return replay(other, moving(seed=4))


def test_a_trace_that_is_none_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    file.write_bytes(b"no parquet")
    with pytest.raises(Problem, match="no trace"):
        replay(file, moving(seed=4))
    with pytest.raises(Problem, match="cannot write"):
        moving(trace=tmp_path / "nowhere" / "run.parquet")


def test_memory_does_not_grow_with_time() -> None:
    """Ten times the time, the same arrays: the pool, the lists, the states, the accounts."""

    def held(seconds: float, events: int) -> int:
        legs = random_waypoint(30, 100.0, 100.0, speed=(5, 9), seconds=seconds, seed=1)
        demand = Drawn(30, 1, 1, 10, events=events, every_s=0.5, seed=1)
        run = Simulation(
            "flooding", motion=Motion(legs, 30.0), workload=demand, seconds=seconds, window=8
        )
        run.run()
        engine = run.engine
        parts = [
            *engine.out,
            *engine.queue,
            *engine.flight,
            *run.instance.state,
            *run.environment.reach,
        ]
        told = run.deliveries._told.nbytes + 80 * len(run.deliveries.latency_s._bins)
        return sum(part.nbytes for part in parts if isinstance(part, np.ndarray)) + told

    assert held(200.0, 390) <= 1.1 * held(20.0, 30)


def test_stretch_is_against_the_network_of_the_moment() -> None:
    """A ring whose short way fails in the middle of a run: the long way is the shortest then."""
    ring = from_links(6, [(k, (k + 1) % 6) for k in range(6)])
    demand = Listed([(4, 0)], [(1.0, 0, 0), (3.0, 0, 0), (9.0, 0, 0)])
    for fault in (Crash(node=5, at=2.0, for_=4.0), LinkCut(a=0, b=5, at=2.0, for_=4.0)):
        simulation = flooded(ring, demand, faults=[fault], hello_s=0.5)
        told = simulation.run()
        assert (told.hops.mean, told.hops.largest) == ((2 + 4 + 2) / 3, 4.0)
        assert (told.stretch.mean, told.stretch.largest) == (1.0, 1.0)


def test_many_events_are_each_open_in_their_time() -> None:
    demand = Listed([(2, 0)], [(0.02 * k, 0, 0) for k in range(500)])
    for window in (4, 16):
        told = flooded(line(3), demand, window=window, options={"wait": 0.0}).run()
        assert (told.published, told.delivered, told.late) == (500, 500, 0)


def test_a_run_that_stopped_early_accounts_for_its_own_time_only() -> None:
    power = Power(tx_w=0.0, rx_w=0.0, idle_w=1.0, bit_rate=1e9)
    demand = Listed([(3, 0)], [(1.0, 0, 0), (5.0, 0, 0), (9.0, 0, 0)])
    crash = [Crash(node=1, at=6.0, for_=1.0)]
    simulation = flooded(line(4), demand, power=power, faults=crash)
    told = simulation.run(until=6.5)
    assert (told.published, told.expected, told.delivered) == (2, 2, 2)
    assert told.energy == pytest.approx(4 * 6.5 - 0.5)
    counted = flooded(line(4), demand, power=power).run(events=8)
    assert 1.0 <= counted.seconds <= 5.0
    assert counted.published == 1


def test_ties_do_not_depend_on_where_a_caller_looks() -> None:
    demand = Drawn(60, 1, 3, 9, events=30, every_s=0.25, seed=2)

    def gossip() -> Simulation:
        options = {"jitter": 0.0, "period": 0.5, "rounds": 2}
        return Simulation("gossip", mesh(), workload=demand, seconds=9.0, options=options,
                          radio=IdealAir(delay_s=0.25))  # fmt: skip

    whole, piecewise = gossip().run(), gossip()
    for until in np.arange(0.125, 9.0, 0.25):
        piecewise.run(float(until))
    assert piecewise.run() == whole


def test_a_trace_has_room_for_a_node_that_everybody_hears(tmp_path: Path) -> None:
    star = from_links(40_000, [(0, k) for k in range(1, 40_000)])
    hub = int(star.degree.argmax())
    demand = Listed([(hub, 0)], [(1.0, hub, 0)])
    simulation = flooded(star, demand, trace=tmp_path / "star.parquet", stretch=False, window=1)
    told = simulation.run(until=1.02)
    assert (told.sent["flood"], told.heard["flood"]) == (1, 39_999)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"seconds": 0.0}, "seconds = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"window": 0}, "window = 0"),
        ({"options": {"pace": 1.0}}, "flooding: unknown option 'pace'"),
        ({"options": {"wait": -1.0}}, "wait = -1"),
        ({"radio": IdealAir(success=1.5)}, "success = 1.5"),
        ({"radio": IdealAir(delay_s=-1.0)}, "delay_s = -1"),
        ({"power": Power(tx_w=-1.0)}, "tx_w = -1"),
        ({"workload": Listed([(9, 0)], [])}, "row 9"),
    ],
)
def test_misuse_is_named(given: dict[str, Any], named: str) -> None:
    usual: dict[str, Any] = {"workload": Listed([(1, 0)], [])}
    with pytest.raises(Problem, match=named):
        Simulation("flooding", line(4), **{**usual, **given})


def test_an_unknown_system_is_named_with_those_that_there_are() -> None:
    with pytest.raises(Problem, match=r"'pigeon' is not a system.*flooding"):
        Simulation("pigeon", line(4), workload=Listed([(1, 0)], []))


@pytest.mark.parametrize("success", [1.0, 0.8])
def test_an_event_kept_until_the_meeting_has_gone_no_further_than_its_path(success: float) -> None:
    """Neither with the message that told of the meeting, nor by being repeated."""
    demand = Listed([(8, 0)], [(0.0, 0, 0), (9.0, 0, 0)])
    options = {"retries": 0 if success == 1.0 else 30}
    told = Simulation(
        "directional-walk", line(9), workload=demand, seconds=SECONDS, options=options,
        radio=IdealAir(success=success), seed=4,
    ).run()  # fmt: skip
    assert told.delivered == 2
    assert (told.hops.mean, told.hops.largest) == (8.0, 8.0)


def test_commands_are_posted_and_records_are_kept() -> None:
    """A node that is down neither sends nor receives; the journal has what the others received."""
    run = flooded(line(4), Listed([], []), journal=100)
    kinds = run.instance.kinds
    run.post(commands(0.0, [0, 2, 3], kinds.number("subscribe"), 0))
    run.post(commands([1.0, 3.0], 0, kinds.number("publish"), 0, event=[0, 1]))
    run.run(2.0)
    assert run.state.seen[:, 0].tolist() == [0, 0, 0, 0]
    run.kill(2)
    run.run()
    reports, rows = run.reports()
    assert sorted(zip(reports["event"].tolist(), rows.tolist(), strict=True)) == [(0, 2), (0, 3)]
    records, receivers = run.journal()
    floods = (records["kind"] == kinds.number("flood")) & (records["event"] == 1)
    assert receivers[floods].tolist() == [1, 0]


def test_a_journal_that_is_too_short_and_one_not_asked_for_are_refused() -> None:
    with pytest.raises(Problem, match="journal = 1"):
        flooded(line(4), Listed([(0, 0)], [(1.0, 3, 0)]), journal=1).run()
    with pytest.raises(Problem, match="no records were kept"):
        flooded(line(4), Listed([], [])).journal()
