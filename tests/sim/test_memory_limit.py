"""A run on a network with a large hub takes little memory, or ends with an error before it takes
more memory than the machine has free.
"""

from pathlib import Path
from typing import Any

import pytest

from halfway.adapters.registry import TABLE
from halfway.core.values.digest import arrays
from halfway.problem import Problem
from halfway.sim import run_engine
from halfway.sim.engine import memory_limit
from halfway.sim.engine.memory_limit import free_bytes, with_capacity
from halfway.sim.engine.state import Engine, new_engine
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.radio.declarations import WiredRadio
from halfway.sim.simulation import Simulation
from halfway.world.attacks import Attack
from halfway.world.faults import Crash
from halfway.world.workload.demand import Drawn
from halfway.world.workload.groups.monitoring import Monitoring
from tests.networks import disk, star

_LEAVES = 400
_SIZED = ["directional-walk", "random-walk", "walk-overlay"]


def _hub(system: str, leaves: int = _LEAVES, **given: Any) -> Simulation:
    """A star: a hub with leaves, of which five subscribe."""
    n = leaves + 1
    demand = Drawn(
        n=n, topics=1, publishers_each=1, subscribers_each=5, events=2, start_s=5.0, seed=1
    )
    return Simulation(system, star(n), workload=demand, seconds=20.0, **given)


@pytest.mark.long
def test_the_error_about_records_in_flight_names_the_option_that_limits_the_links() -> None:
    """On a wired radio, a hub with many overlay neighbours emits a copy for each of its links."""
    message = r"records in flight: expected at most [\d,]+ \(set options\.walk-overlay\.links to"
    with pytest.raises(Problem, match=message):
        _hub("walk-overlay", 5000, radio=WiredRadio()).run()
    few = _hub("walk-overlay", 5000, radio=WiredRadio(), options={"links": 12})  # of 6 walks
    assert few.run().delivery_ratio == 1.0


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with 1 MB of free memory, every byte of which counts."""
    monkeypatch.setattr(memory_limit, "free_bytes", lambda: 1e6)
    monkeypatch.setattr(memory_limit, "FEW_BYTES", 0.0)


def _slots(engine: Engine) -> int:
    return len(engine.out.free)


@pytest.mark.parametrize("system", ["flooding", "directional-walk"])
def test_a_wired_hub_needs_slots_for_one_copy_on_each_link(system: str) -> None:
    """Each copy has one receiver, so no arrival emits as many broadcasts as the hub has links."""
    leaves = 1500  # more than the slots of a new engine
    run = _hub(system, leaves, radio=WiredRadio(delay_s=0.01))
    assert run.run().delivery_ratio == 1.0
    assert _slots(run.engine) <= 4 * run.instance.most_emissions * leaves


@pytest.mark.parametrize("system", _SIZED)
@pytest.mark.usefixtures("little")
def test_tables_that_do_not_fit_into_the_memory_end_the_run_before_they_are_made(
    system: str,
) -> None:
    expected = (
        rf"^system = {system}: the tables of 401 nodes with up to 400 neighbours need up to "
        rf"[\d.]+ GB: expected at most 0.0 GB, the free memory \("
    )
    with pytest.raises(Problem, match=expected) as raised:
        _hub(system)
    assert ("options.walk-overlay.links" in str(raised.value)) == (system == "walk-overlay")


@pytest.mark.usefixtures("little")
def test_a_copy_of_the_memory_that_nodes_may_lose_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = []
    monkeypatch.setattr(
        run_engine, "check_memory", lambda need, what, **_: needed.append((need, what))
    )
    for memory in ("kept", "lost"):
        _hub("walk-overlay", faults=[Crash(at=5.0, for_=1.0, share=0.1, memory=memory)])
    (kept, what), (lost, _) = needed
    assert lost == 2 * kept
    assert what.startswith("the tables of 401 nodes")


@pytest.mark.usefixtures("little")
def test_systems_without_tables_of_neighbours_run_with_little_memory() -> None:
    assert _hub("flooding").run().delivery_ratio == 1.0


@pytest.mark.parametrize(
    "system", [name for name, one in TABLE.items() if one.adapter.has_neighbour_tables]
)
def test_the_stated_need_is_the_size_of_the_tables(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = []
    monkeypatch.setattr(run_engine, "check_memory", lambda need, *_, **__: needed.append(need))
    monkeypatch.setattr(run_engine, "_FEW_ENTRIES", 0)
    demand: Any = Drawn(n=60, topics=2, publishers_each=1, subscribers_each=5, events=2, seed=1)
    if TABLE[system].adapter.detects_failures:
        demand = Monitoring(members=range(3, 20))
    run = Simulation(system, disk(60, 0.4), workload=demand, seconds=20.0)
    assert needed == [sum(part.nbytes for part in arrays(run.state))]


@pytest.mark.usefixtures("little")
def test_lists_of_hellos_that_do_not_fit_end_the_run() -> None:
    """Nodes that a fault may connect need room for as many neighbours as the hub has."""
    wormhole = [Attack(kind="wormhole", node=1, peer=2, at=1.0)]
    with pytest.raises(Problem, match=r"^hello: the lists of 401 nodes with up to 401 neighbours"):
        _hub("gossip", faults=wormhole, hello=SentHellos())


@pytest.mark.usefixtures("little")
def test_records_in_flight_that_do_not_fit_end_the_run() -> None:
    engine = new_engine(3, 1024, 1)
    assert with_capacity(engine, 1024) is engine
    with pytest.raises(Problem, match=r"^network: 8,192 records in flight need up to 0.0 GB"):
        with_capacity(engine, 4097)


def test_an_engine_grows_at_once_to_the_capacity_that_it_needs() -> None:
    assert _slots(with_capacity(new_engine(3, 1024, 1), 4097)) == 8192
    most = 1 << 28  # the queue has 28 bits for a slot
    with pytest.raises(Problem, match=f"{2 * most:,} records in flight: expected at most {most:,}"):
        with_capacity(new_engine(3, 1024, 1), most + 1)


def test_the_free_memory_is_that_of_the_machine_or_of_its_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = tmp_path / "meminfo"
    monkeypatch.setattr(memory_limit, "_MACHINE", machine)
    monkeypatch.setattr(memory_limit, "_GROUP", tmp_path)
    assert free_bytes() == float("inf")
    machine.write_text("MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable:    2000 kB\n")
    assert free_bytes() == 2_048_000
    (tmp_path / "memory.current").write_text("700000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert free_bytes() == 2_048_000
    (tmp_path / "memory.max").write_text("1000000\n")
    assert free_bytes() == 300_000
    (tmp_path / "memory.stat").write_text("anon 600000\nfile 50000\n")
    assert free_bytes() == 350_000
