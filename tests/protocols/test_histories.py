"""All systems deliver what a flat oracle asks for, over random histories of roles and faults.

    python -m tests.protocols.test_histories 0 10000 siena

runs the histories of these seeds and prints each one that fails. The first failures are shrunk and
stored in `wrong_histories/`, unless `--no-shrink` is given. With `--given`, nodes have lists of
their neighbours and one clock. GeoRendezvous and groups have histories of their own, in
`georendezvous/` and `walks/`.
"""

import sys
from collections.abc import Iterator

import pytest

from halfway.adapters.registry import named
from halfway.sim.environment import hello_exchange
from halfway.world.faults import Crash
from tests.protocols import histories
from tests.protocols.histories import failure, history_of
from tests.protocols.history import deliveries_of, failure_of, judged, result_of, run_of
from tests.protocols.history_roles import variant_of
from tests.protocols.history_shrink import shrunk, stored
from tests.protocols.promises import CHANGES_S, PROMISES
from tests.systems import SIMPLE, SPREADING

FEW, SOME, MANY = 10, 60, 10_000
MOST_SHRUNK = 10  # failures of one system in one command: each takes up to a minute
# Systems that read neighbour lists.
READERS = [one for one in PROMISES if named(one).adapter_with({}).neighbour_knowledge().hops]
# The least share of notifications in histories with losses, together: 2 to 40 % of the receptions
# fail. Systems without acknowledgements lose the most. `rumor-routing` promises no share.
WITH_LOSSES = {
    **dict.fromkeys(SIMPLE, 0.6),
    **dict.fromkeys(("directional-walk", "random-walk", "anti-entropy"), 0.97),
    **dict.fromkeys(("walk-overlay", "siena", "underlay-siena"), 0.94),
    "drip": 0.8,
}
# Histories that once went wrong, and why. `wrong_histories/` has those that were shrunk.
ONCE_WRONG = [
    ("siena", 69),  # a command again after a crash was due, by rounding, while the node was down
    ("siena", 108),  # the only way to a broker led through a node that lost its memory
    ("siena", 869),  # an UNSUBSCRIBE was lost on a link that was cut
    ("underlay-siena", 1164),  # of three roots one neither knew a successor nor a predecessor
    ("underlay-siena", 2003),  # a parent that had left answered searches, and so was not silent
    ("siena", 6147),  # nodes of a chain learnt of their one-way links one after the other
    ("underlay-siena", 7787),  # the same
    ("walk-overlay", 236),  # a walk along a probe voided the timer of an earlier walk
    ("walk-overlay", 983),  # a root followed a probe back to a node that did not hear it
    ("walk-overlay", 622),  # one side alone still had a link, and never asked for it again
]


def test_every_system_that_spreads_events_has_histories() -> None:
    assert set(SPREADING) - set(PROMISES) == {"georendezvous"}  # it needs positions


@pytest.mark.parametrize("system", PROMISES)
def test_after_quiescence_each_event_reaches_each_subscriber_once(system: str) -> None:
    """[drw §1] "multiple publications and subscriptions": of the walks as of all other systems."""
    assert [line for seed in range(FEW) if (line := failure(system, seed))] == []


def test_every_promise_of_delivery_states_a_share_with_losses() -> None:
    assert set(WITH_LOSSES) == {name for name, promise in PROMISES.items() if promise.delivers}


@pytest.mark.parametrize("system", WITH_LOSSES)
@pytest.mark.long
def test_most_events_arrive_in_spite_of_losses(system: str) -> None:
    due = missing = 0
    for seed in range(SOME):
        if histories.link_of(seed, system)[1] < 1.0:
            result = result_of(history_of(system, seed))
            due, missing = due + result.due, missing + result.missing
    assert due > 100
    assert missing <= (1.0 - WITH_LOSSES[system]) * due


@pytest.mark.parametrize("system", READERS)
def test_lists_of_neighbours_that_are_empty_at_first_cost_nothing_after_quiescence(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hello_exchange, "WARM_UP_PERIODS", 0)
    assert [line for seed in range(FEW) if (line := failure(system, seed))] == []


@pytest.mark.one_clock  # `given` means one clock
@pytest.mark.parametrize(("system", "seed"), ONCE_WRONG)
def test_a_history_that_was_wrong_is_right(system: str, seed: int) -> None:
    assert failure(system, seed, given=True, plain=True) == ""
    assert failure(system, seed, plain=True) == ""
    assert failure(system, seed) == ""


@pytest.mark.slow
@pytest.mark.parametrize("system", PROMISES)
def test_ten_thousand_histories(system: str) -> None:
    assert list(run(system, 0, MANY)) == []


def test_the_oracle_notices_what_is_missing_twice_or_unasked() -> None:
    history = history_of("flooding", 0, plain=True)
    simulation = run_of(history)
    found = deliveries_of(simulation)
    right = judged(history, simulation, found)
    assert right[1:] == (0, 0, 0, 0)
    assert right.due > 0
    event, _, at = found[-1]
    assert judged(history, simulation, found[:-1]) == right._replace(missing=1)
    assert judged(history, simulation, [*found, found[-1]]) == right._replace(twice=1)
    strangers = set(range(history.n)) - {one.row for one in history.subscriptions}
    wrong = [*found, (event, min(strangers), at)]
    assert judged(history, simulation, wrong).unasked == 1


def test_a_third_of_the_histories_has_losses_and_a_third_the_defaults() -> None:
    links = [histories.link_of(seed, "siena") for seed in range(300)]
    assert 80 < sum(success < 1.0 for _, success in links) < 120
    assert 80 < sum(not retries for retries, _ in links) < 120


def test_publishers_and_brokers_come_and_go() -> None:
    """A quarter of the publishers begins late and another one withdraws, and brokers change their
    role in most histories of a tree. Commands that come again after a loss of memory are in time.
    """
    late = ended = publishers = changing = lost = 0
    for seed in range(100):
        history = history_of("underlay-siena", seed)
        publishers += len({(row, topic) for _, row, topic in history.publications})
        late += sum(one.until_s is None for one in history.publishing)
        ended += sum(one.until_s is not None for one in history.publishing)
        some = [one for one in history.brokers if one.from_s > 0.0 or one.until_s is not None]
        changing += bool(some)
        for fault in history.faults:
            if isinstance(fault, Crash) and fault.memory == "lost":
                again = [one for one in some if one.row == fault.node and one.until_s is None]
                assert all(fault.at + fault.for_ + one.from_s <= CHANGES_S for one in again)
                lost += any(one.row == fault.node for one in some)
    assert 0.2 < late / publishers < 0.3
    assert 0.2 < ended / publishers < 0.3
    assert 50 < changing < 75
    assert lost > 5


def test_a_quarter_of_the_histories_of_a_tree_has_the_default_intervals() -> None:
    variants = [variant_of(seed, "underlay-siena") for seed in range(400)]
    usual = [one for one in variants if one.quiet_s]
    assert 75 < len(usual) < 125
    assert {one.options["refresh_s"] for one in usual} == {10.0}
    assert 150 < sum(one.options["known_brokers"] == 1 for one in variants) < 250
    assert variant_of(0, "flooding") == ({}, None)


def test_the_histories_need_what_a_system_promises(monkeypatch: pytest.MonkeyPatch) -> None:
    weak = PROMISES["gossip"]._replace(options={"fanout": 1, "rounds": 1})
    monkeypatch.setitem(PROMISES, "gossip", weak)
    assert any(failure("gossip", seed) for seed in range(FEW))


def run(
    system: str, first: int, last: int, *, given: bool = False, shrinks: bool = True
) -> Iterator[str]:
    """The failures of a system in the histories of these seeds; the first ones are shrunk and
    stored.
    """
    kept = MOST_SHRUNK if shrinks else 0
    for seed in range(first, last):
        history = history_of(system, seed, given=given)
        if line := failure_of(history):
            yield line
            if kept:
                kept -= 1
                small = shrunk(history)
                is_wrong = f"shrunk to {stored(small.history)}" if small.wrong else "right again"
                yield f"seed {seed}: {is_wrong}"


def main(words: list[str]) -> None:
    """Run the histories that a command names."""
    options = {word for word in words if word.startswith("--")}
    first, last, *names = [word for word in words if word not in options]
    for name in names or PROMISES:
        lines = run(
            name, int(first), int(last),
            given="--given" in options, shrinks="--no-shrink" not in options,
        )  # fmt: skip
        line = ""
        for line in lines:
            sys.stdout.write(f"{name}: {line}\n")
            sys.stdout.flush()
        if not line:
            sys.stdout.write(f"{name}: nothing is wrong\n")


if __name__ == "__main__":
    main(sys.argv[1:])
