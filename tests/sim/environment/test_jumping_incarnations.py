"""Incarnations that jump: a system asks which one is later, and never by how much."""

from typing import Any

import numpy as np
import pytest

from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.workload.demand import Drawn
from tests.networks import disk
from tests.sim.environment.test_lost_memory import HEALED_AFTER

N = 30
# Two losses of memory. Numbers of an incarnation repeat after 2^14 of them.
LARGEST_JUMP = 8_000
# The bits of an event in a digest of drip follow from its epoch. Two events may share a bit, and
# then a broker may lack the copy of one of them. Walks of walk-overlay draw their steps by number.
DRAWN_BY_INCARNATION = ("drip", "walk-overlay")


def _run(system: str, seed: int, jumps: Any) -> Simulation:
    """A run in which two thirds of the nodes lose their memory, some of them twice. An incarnation
    is later than the one before by what `jumps` returns. Random numbers stay those of the first,
    the second and the third incarnation."""
    _, options = HEALED_AFTER[system]
    made = Simulation(
        system, disk(N, 0.5, seed=3), seconds=60.0, seed=seed, options=options,
        radio=IdealRadio(delay_s=0.001), hello=SentHellos(),
        faults=[Crash(share=0.4, at=at, for_=3.0, memory="lost") for at in (15.0, 30.0)],
        workload=Drawn(
            n=N, topics=3, publishers_each=2, subscribers_each=6, events=40, every_s=1.2,
            start_s=8.0, seed=seed,
        ),
    )  # fmt: skip
    memory, losses = made._memory, np.zeros(N, np.int64)
    lose = memory.lose

    def jump(row: int, _incarnation: int) -> None:
        losses[row] += 1
        made.engine.incarnation[row] += np.uint32(jumps() - 1)
        lose(row, int(losses[row]))

    memory.lose = jump
    made.deliveries.delivery_log = []
    made.run()
    assert losses.max() == 2
    return made


def _pairs(made: Simulation) -> list[tuple[int, int]]:
    """(event, row) of every delivery, in order."""
    log = made.deliveries.delivery_log or []
    return sorted(
        pair for some in log for pair in zip(some[0].tolist(), some[1].tolist(), strict=True)
    )


def _plain_and_jumped(system: str, seed: int) -> tuple[Simulation, Simulation]:
    drawn = np.random.default_rng(seed)
    plain = _run(system, seed, lambda: 1)
    jumped = _run(system, seed, lambda: int(drawn.integers(2, LARGEST_JUMP)))
    assert plain.engine.incarnation.max() == 2
    assert jumped.engine.incarnation.max() > 1_000
    return plain, jumped


@pytest.mark.parametrize("system", sorted(set(HEALED_AFTER) - {"drip"}))
def test_gaps_between_incarnations_change_no_delivery(system: str) -> None:
    """Systems that draw nothing by incarnation also send the same records, at the same times."""
    for seed in (1, 2, 3):
        plain, jumped = _plain_and_jumped(system, seed)
        assert _pairs(jumped) == _pairs(plain) != []
        if system not in DRAWN_BY_INCARNATION:
            one, other = jumped.outcome(), plain.outcome()
            same = ("sent", "received", "bytes_sent", "latency_s", "records", "energy_j")
            assert [getattr(one, of) for of in same] == [getattr(other, of) for of in same]


def test_gaps_between_incarnations_hardly_change_what_drip_delivers() -> None:
    """In seeds 1 to 10, three of 1,883 deliveries differed."""
    runs = [_plain_and_jumped("drip", seed) for seed in (1, 2, 3, 4)]
    differ = sum(len(set(_pairs(one)) ^ set(_pairs(other))) for one, other in runs)
    assert differ <= 0.01 * sum(len(_pairs(one)) for one, _ in runs) > 6
