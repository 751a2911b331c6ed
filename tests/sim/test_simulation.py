"""Whole simulations: deliveries, costs, and results that do not depend on how a run is driven."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halfway.adapters.commands import commands
from halfway.problem import Problem
from halfway.sim.environment.mobility import Motion
from halfway.sim.radio.declarations import DistanceRadio, IdealRadio
from halfway.sim.radio.energy import Power
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Churn, Crash, LinkCut, Partition
from halfway.world.graphs.network import Network
from halfway.world.mobility.motion import Presence, still
from halfway.world.mobility.random_waypoint import random_waypoint
from halfway.world.workload.demand import Drawn, Listed
from tests.networks import disk, from_links, line
from tests.protocols.received import rows_with
from tests.sim.trace.rerun import rerun

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


def test_flooding_reaches_exactly_the_subscribers_of_the_component() -> None:
    network = from_links(7, [(0, 1), (1, 2), (2, 3), (4, 5), (5, 6)])
    demand = Listed([(row, 0) for row in range(7)], [(1.0, 1, 0), (2.0, 5, 0)])
    outcome = flooded(network, demand).run()
    assert (outcome.published, outcome.expected, outcome.delivered) == (2, 12, 3 + 2)
    assert outcome.sent == {"flood": 4 + 3}
    assert outcome.hops.max == 2


@pytest.mark.one_clock  # the latency is exact
def test_without_faults_everything_arrives_by_shortest_paths() -> None:
    network = mesh()
    demand = Drawn(60, 3, 2, 15, events=12, every_s=0.5, arrivals="poisson", seed=5)
    outcome = flooded(network, demand).run()
    assert outcome.delivery_ratio == 1.0
    assert (outcome.stretch.mean, outcome.stretch.max) == (1.0, 1.0)
    assert (outcome.duplicates, outcome.late, outcome.unsolicited) == (0, 0, 0)
    assert outcome.transmitting_nodes == 60
    hop = 0.004 + 0.01  # the radio's delay, and the delay before the repetition
    assert outcome.latency_s.max == pytest.approx(outcome.hops.max * hop - 0.01 + 0.01)


def test_energy_equals_the_counted_messages() -> None:
    power = Power(tx_w=2.0, rx_w=0.5, idle_w=0.25, bit_rate=1000.0)
    outcome = flooded(mesh(), Drawn(60, 1, 1, 9, events=4), nodes=NodeSettings(power=power)).run()
    size = 12 + 4 * 4  # header; topic, event, publisher and epoch of a FLOOD
    tx_s = size * 8 / 1000.0 * sum(outcome.sent.values())
    rx_s = size * 8 / 1000.0 * sum(outcome.received.values())
    assert outcome.energy_tx_j == pytest.approx(2.0 * tx_s)
    assert outcome.energy_rx_j == pytest.approx(0.5 * rx_s)
    assert outcome.bytes_received == size * sum(outcome.received.values())
    assert outcome.load.mean == pytest.approx(
        (sum(outcome.sent.values()) + sum(outcome.received.values())) / outcome.nodes
    )


def test_nodes_that_are_down_draw_nothing() -> None:
    power = Power(tx_w=0.0, rx_w=0.0, idle_w=1.0, bit_rate=1e9)
    faults = [Crash(node=0, at=2.0), Crash(node=1, at=4.0, for_=3.0)]
    demand = Listed([(1, 0)], [])
    outcome = flooded(line(4), demand, nodes=NodeSettings(power=power), faults=faults).run()
    assert outcome.energy_j == pytest.approx(4 * SECONDS - (SECONDS - 2.0) - 3.0)


def test_delays_by_distance_add_up_along_the_path() -> None:
    placed = Network(
        line(4).start, line(4).who, np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [6.0, 0.0]])
    )
    demand = Listed([(3, 0)], [(1.0, 0, 0)])
    radio = DistanceRadio(delay_s=0.25, speed=2.0)
    outcome = flooded(placed, demand, radio=radio, options={"repeat_delay_s": 0.0}).run()
    assert outcome.latency_s.mean == pytest.approx(3 * 0.25 + 6.0 / 2.0)
    with pytest.raises(Problem, match="positions"):
        flooded(line(4), demand, radio=radio)


def test_a_partition_divides_and_heals() -> None:
    network = line(6)
    cut = [Partition(nodes=frozenset({0, 1, 2}), at=2.0, for_=4.0)]
    demand = Listed([(5, 0)], [(1.0, 0, 0), (3.0, 0, 0), (7.0, 0, 0)])
    simulation = flooded(network, demand, faults=cut)
    counts = [simulation.run(until).delivered for until in (2.0, 6.0, SECONDS)]
    assert counts == [1, 1, 2]


def test_events_of_a_crashed_publisher_are_not_published() -> None:
    demand = Listed([(3, 0)], [(1.0, 0, 0), (3.0, 0, 0)])
    outcome = flooded(line(4), demand, faults=[Crash(node=0, at=2.0)]).run()
    assert (outcome.published, outcome.unpublished, outcome.delivery_ratio) == (1, 1, 1.0)


def test_a_node_that_arrives_late_subscribes_when_it_arrives() -> None:
    motion = Motion(
        still([[0.0, 0.0], [1.0, 0.0]]), 2.0,
        Presence(np.array([0, 1, 2]), np.array([0.0, 5.0]), np.array([np.inf, np.inf])),
    )  # fmt: skip
    demand = Listed([(1, 0)], [(2.0, 0, 0), (8.0, 0, 0)])
    outcome = flooded(None, demand, motion=motion).run()
    assert (outcome.expected, outcome.delivered) == (1, 1)


def test_pieces_make_the_same_run() -> None:
    whole, piecewise = moving(seed=4).run(), moving(seed=4)
    assert 0 < whole.delivered < whole.expected
    for until in (0.3, 1.0, 2.5, 5.77, 7.0):
        piecewise.run(until)
    counted = piecewise.run(records=piecewise.run(7.1).records + 100)
    assert counted.records < whole.records
    assert piecewise.run() == whole


def test_a_run_stops_when_its_condition_holds() -> None:
    network, demand = mesh(), Drawn(60, 1, 1, 20, events=20, every_s=0.5)
    outcome = flooded(network, demand).run(stop=lambda run: run.deliveries.delivered >= 50)
    assert 50 <= outcome.delivered < 400


def test_the_seed_decides() -> None:
    assert moving(seed=4).run() == moving(seed=4).run()
    assert moving(seed=4).run().digest != moving(seed=5).run().digest


def outcome_of_another_process() -> dict[str, Any]:
    program = (
        "import json\nfrom tests.sim.test_simulation import moving\n"
        "print(json.dumps(moving(seed=4).run().to_dict()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


@pytest.mark.one_clock  # the other process has no clock errors
def test_another_process_has_the_same_outcome() -> None:
    assert outcome_of_another_process() == json.loads(json.dumps(moving(seed=4).run().to_dict()))


def test_a_rerun_of_a_trace_ends_in_the_same_state(tmp_path: Path) -> None:
    from pyarrow import parquet

    file = tmp_path / "run.parquet"
    outcome = moving(seed=4, inspection=Inspection(trace=file)).run()
    rows = parquet.read_table(file).to_pylist()
    assert moving(seed=4).run() == outcome, "tracing changed the run"
    assert sum(row["what"] in ("received", "reported") for row in rows) == outcome.records
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    assert same_state(file, moving(seed=4))
    assert not same_state_if_tampered(file, tmp_path)
    with pytest.raises(Problem, match="seed = 4, not 5"):
        same_state(file, moving(seed=5))


def same_state(file: Path, simulation: Simulation) -> bool:
    """Rerun a trace on the parts of a new simulation."""
    parts = simulation.run_id, simulation.environment, simulation.instance
    return rerun(file, *parts, simulation.engine.clocks, simulation.neighbours)


def same_state_if_tampered(file: Path, folder: Path) -> bool:
    """Rerun a trace without the floods that one node received."""
    from pyarrow import parquet

    table, about = parquet.read_table(file), parquet.ParquetFile(file).metadata.metadata
    what = table["what"].to_pylist()
    flood_rows = [
        k for k, name in enumerate(table["name"].to_pylist())
        if name == "flood" and what[k] == "received"
    ]  # fmt: skip
    row = table["row"].to_pylist()[flood_rows[-1]]
    lost = {k for k in flood_rows if table["row"][k].as_py() == row}
    rest = [k for k in range(len(table)) if k not in lost]
    other = folder / "tampered.parquet"
    with parquet.ParquetWriter(other, table.schema) as writer:
        writer.write_table(table.take(rest))
        writer.add_key_value_metadata({"halfway": about[b"halfway"].decode()})
    return same_state(other, moving(seed=4))


def test_a_trace_that_nobody_can_write_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="cannot write"):
        moving(inspection=Inspection(trace=tmp_path / "nowhere" / "run.parquet"))


def test_memory_does_not_grow_with_time() -> None:
    """Ten times the time: the pool, the lists, the states and the accounts keep their size."""

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
        accounts = run.deliveries._recorded.nbytes + 80 * len(run.deliveries.latency_s._bins)
        return sum(part.nbytes for part in parts if isinstance(part, np.ndarray)) + accounts

    assert held(200.0, 390) <= 1.1 * held(20.0, 30)


def test_stretch_is_against_the_network_of_the_moment() -> None:
    """The short path of a ring fails during a run: the long path is the shortest then."""
    ring = from_links(6, [(k, (k + 1) % 6) for k in range(6)])
    demand = Listed([(4, 0)], [(1.0, 0, 0), (3.0, 0, 0), (9.0, 0, 0)])
    for fault in (Crash(node=5, at=2.0, for_=4.0), LinkCut(a=0, b=5, at=2.0, for_=4.0)):
        simulation = flooded(ring, demand, faults=[fault], discovery_delay_s=0.5)
        outcome = simulation.run()
        assert (outcome.hops.mean, outcome.hops.max) == ((2 + 4 + 2) / 3, 4.0)
        assert (outcome.stretch.mean, outcome.stretch.max) == (1.0, 1.0)


def test_each_of_many_events_is_open_in_its_window() -> None:
    demand = Listed([(2, 0)], [(0.02 * k, 0, 0) for k in range(500)])
    for window in (4, 16):
        outcome = flooded(line(3), demand, window=window, options={"repeat_delay_s": 0.0}).run()
        assert (outcome.published, outcome.delivered, outcome.late) == (500, 500, 0)


def test_a_run_that_stopped_early_accounts_for_its_own_time_only() -> None:
    power = Power(tx_w=0.0, rx_w=0.0, idle_w=1.0, bit_rate=1e9)
    demand = Listed([(3, 0)], [(1.0, 0, 0), (5.0, 0, 0), (9.0, 0, 0)])
    crash = [Crash(node=1, at=6.0, for_=1.0)]
    simulation = flooded(line(4), demand, nodes=NodeSettings(power=power), faults=crash)
    outcome = simulation.run(until=6.5)
    assert (outcome.published, outcome.expected, outcome.delivered) == (2, 2, 2)
    assert outcome.energy_j == pytest.approx(4 * 6.5 - 0.5)
    counted = flooded(line(4), demand, nodes=NodeSettings(power=power)).run(records=8)
    assert 1.0 <= counted.seconds <= 5.0
    assert counted.published == 1


def test_ties_do_not_depend_on_where_a_caller_stops() -> None:
    demand = Drawn(60, 1, 3, 9, events=30, every_s=0.25, seed=2)

    def gossip() -> Simulation:
        options = {"jitter_s": 0.0, "period_s": 0.5, "rounds": 2}
        return Simulation("gossip", mesh(), workload=demand, seconds=9.0, options=options,
                          radio=IdealRadio(delay_s=0.25))  # fmt: skip

    whole, piecewise = gossip().run(), gossip()
    for until in np.arange(0.125, 9.0, 0.25):
        piecewise.run(float(until))
    assert piecewise.run() == whole


def test_a_trace_has_room_for_a_node_with_40000_neighbours(tmp_path: Path) -> None:
    star = from_links(40_000, [(0, k) for k in range(1, 40_000)])
    hub = int(star.degree.argmax())
    demand = Listed([(hub, 0)], [(1.0, hub, 0)])
    simulation = flooded(
        star,
        demand,
        inspection=Inspection(trace=tmp_path / "star.parquet"),
        stretch=False,
        window=1,
    )
    outcome = simulation.run(until=1.02)
    assert (outcome.sent["flood"], outcome.received["flood"]) == (1, 39_999)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"seconds": 0.0}, "seconds = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"window": 0}, "window = 0"),
        ({"options": {"pace": 1.0}}, "flooding: unknown option 'pace'"),
        ({"options": {"repeat_delay_s": -1.0}}, "repeat_delay_s = -1"),
        ({"radio": IdealRadio(success=1.5)}, "success = 1.5"),
        ({"radio": IdealRadio(delay_s=-1.0)}, "delay_s = -1"),
        ({"nodes": NodeSettings(power=Power(tx_w=-1.0))}, "tx_w = -1"),
        ({"workload": Listed([(9, 0)], [])}, "node 9"),
    ],
)
def test_impossible_arguments_are_refused(given: dict[str, Any], message: str) -> None:
    usual: dict[str, Any] = {"workload": Listed([(1, 0)], [])}
    with pytest.raises(Problem, match=message):
        Simulation("flooding", line(4), **{**usual, **given})


def test_the_error_for_an_unknown_system_lists_all_systems() -> None:
    with pytest.raises(Problem, match=r"'pigeon' is not a system.*flooding"):
        Simulation("pigeon", line(4), workload=Listed([(1, 0)], []))


@pytest.mark.one_clock  # the first event is published when its subscription begins
@pytest.mark.parametrize("success", [1.0, 0.8])
def test_the_hops_of_a_buffered_event_are_those_of_its_path(success: float) -> None:
    """Neither the message that reports the meeting nor a repetition adds hops."""
    demand = Listed([(8, 0)], [(0.0, 0, 0), (9.0, 0, 0)])
    options = {"retries": 0 if success == 1.0 else 30}
    outcome = Simulation(
        "directional-walk", line(9), workload=demand, seconds=SECONDS, options=options,
        radio=IdealRadio(success=success), seed=4,
    ).run()  # fmt: skip
    assert outcome.delivered == 2
    assert (outcome.hops.mean, outcome.hops.max) == (8.0, 8.0)


def test_commands_are_posted_and_records_are_kept() -> None:
    """A node that is down neither sends nor receives; the run keeps what the others received."""
    run = flooded(line(4), Listed([], []), inspection=Inspection(received_records=100))
    kinds = run.instance.kinds
    run.post(commands(0.0, [0, 2, 3], kinds.number("subscribe"), 0))
    run.post(commands([1.0, 3.0], 0, kinds.number("publish"), 0, event=[0, 1]))
    run.run(2.0)
    assert rows_with(run.state.seen) == [0, 1, 2, 3]
    run.kill(2)
    run.run()
    reports, rows = run.reports()
    assert sorted(zip(reports["event"].tolist(), rows.tolist(), strict=True)) == [(0, 2), (0, 3)]
    records, receivers = run.received_records()
    floods = (records["kind"] == kinds.number("flood")) & (records["event"] == 1)
    assert receivers[floods].tolist() == [1, 0]


def test_more_received_records_than_kept_and_records_not_asked_for_are_refused() -> None:
    with pytest.raises(Problem, match="received_records = 1"):
        flooded(
            line(4), Listed([(0, 0)], [(1.0, 3, 0)]), inspection=Inspection(received_records=1)
        ).run()
    with pytest.raises(Problem, match="the simulation kept no records"):
        flooded(line(4), Listed([], [])).received_records()
