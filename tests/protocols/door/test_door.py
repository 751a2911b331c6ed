"""The check at the door, for every system: what it accepts no handler stumbles over."""

import importlib
import os
import subprocess
import sys

import numpy as np
import pytest

from halfway.core.hello.messages import HELLO_KIND, HELLO_TIMER_KIND, POSITION
from halfway.core.hello.messages import KINDS as KINDS_OF_HELLOS
from halfway.core.kinds import EVENT_ID, Channel, Kinds
from halfway.core.message import RECORD
from halfway.core.records.checks import (
    ACCEPTED,
    FROM_NETWORK,
    FROM_SELF,
    NOT_DECLARED,
    NOT_FINITE,
    OUT_OF_RANGE,
    WRONG_CHANNEL,
    record_checks,
    refusal,
)
from halfway.protocols import SYSTEMS, flooding
from halfway.protocols.parts.application import EVENT_FIELDS
from halfway.protocols.walks.messages import SUBSCRIBES
from halfway.protocols.walks.tables.entries import OPEN
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.workload.demand import Drawn
from tests.networks import disk
from tests.protocols.door import flood, fuzz

FEW, INTERPRETED, MANY = 2_000, 200, 10_000_000
FLOODED, FLOOD = 100_000, 1_000_000  # records of floods


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_place_has_a_range_and_every_range_a_place(system: str) -> None:
    kinds = importlib.import_module(SYSTEMS[system].module).KINDS
    parts = [
        (kind, part)
        for one in (*kinds, *KINDS_OF_HELLOS)
        for kind in one.forms
        for part in kind.parts()
    ]
    assert [
        f"{kind.name}: {part.name}"
        for kind, part in parts
        if part.name != part.field and part.name not in kind.ranges
    ] == []
    # A system may include some kinds of another system, with the ranges of all kinds there.
    tables = [importlib.import_module(about.module).KINDS for about in SYSTEMS.values()]
    used = {
        part.name
        for table in tables
        for kind in table
        for form in kind.forms
        for part in form.parts()
    }
    assert [name for kind in kinds for name in kind.ranges if name not in used] == []


def program(name: str, count: int, systems: list[str], **environment: str) -> dict[str, list[str]]:
    """The output of one of the two programs by system, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", f"tests.protocols.door.{name}", str(count), *systems],
        env=os.environ | environment | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return {line.split()[0]: line.split() for line in done.stdout.splitlines()}


@pytest.mark.long
def test_no_record_that_is_accepted_raises_an_error() -> None:
    """Interpreted, on a few nodes. No call emits more than its system states."""
    assert list(program("fuzz", INTERPRETED, [], NUMBA_DISABLE_JIT="1")) == list(SYSTEMS)


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_ten_million_records_raise_no_error(system: str) -> None:
    """Compiled with bounds checks; the machine code has a cache of its own."""
    cache = os.environ["XDG_CACHE_HOME"] + "/bounds"
    lines = program("fuzz", MANY, [system], NUMBA_BOUNDSCHECK="1", XDG_CACHE_HOME=cache)
    assert list(lines) == [system]


@pytest.mark.slow
def test_a_million_records_of_floods_are_within_the_stated_emissions() -> None:
    lines = program("flood", FLOOD, list(SYSTEMS))
    assert list(lines) == list(SYSTEMS)


@pytest.mark.long
def test_a_flood_fills_the_tables_of_a_node() -> None:
    """A node has paths over far more nodes than it has neighbours, and gossips to some of them."""
    run = flood.prepared("path-gossip")
    result, state = flood.flood(run, FLOODED), run.instance.state
    assert flood.MEMBERS in state.heard.members.known
    paths, degree = state.walks.tables.paths, state.walks.weights.weight.shape[1]
    open_paths = (paths.status == OPEN) & (paths.side == SUBSCRIBES)
    assert open_paths.sum(axis=(1, 2)).max() > 4 * degree
    assert flood.MEMBERS < result.most <= result.stated
    run.instance = run.instance._replace(most_emissions=result.most - 1)
    with pytest.raises(AssertionError, match=f"more than {result.most - 1} emissions"):
        flood.flood(run, FLOODED)


def test_the_fuzz_notices_a_handler_that_errs() -> None:
    """The fuzz can fail, here as fewer emissions are allowed."""
    run = fuzz.recorded("flooding")
    run.instance = run.instance._replace(most_emissions=1)
    with pytest.raises(AssertionError, match="more than 1 emissions"):
        fuzz.fuzz(run, FEW)


@pytest.mark.parametrize(
    ("channel", "fields", "why"),
    [
        (Channel.NETWORK, EVENT_ID, "field not declared"),  # the topic
        (Channel.TIMER, EVENT_FIELDS, "wrong channel"),
    ],
)
def test_the_fuzz_notices_an_emission_that_its_kind_does_not_declare(
    channel: Channel, fields: str, why: str
) -> None:
    run, kinds = fuzz.recorded("flooding"), Kinds()
    kinds.include(kind for kind in run.instance.kinds if kind.name != "flood")
    kinds.declare(channel, int(flooding.FLOOD), "flood", "", fields)
    run.instance = run.instance._replace(kinds=kinds)
    with pytest.raises(AssertionError, match=f"emits flooding: flood .*: {why}"):
        fuzz.fuzz(run, FEW)


def test_the_fuzz_reaches_every_kind() -> None:
    run = fuzz.recorded("gossip")
    result = fuzz.fuzz(run, FEW)
    handled = {kind.name for kind in run.instance.kinds if result.kinds[kind.number] > 20}
    assert handled == {
        "publish", "subscribe", "unsubscribe", "push", "round", "start", "neighbour-hello",
        "neighbour-hello-timer",
    }  # fmt: skip
    assert result.reasons[1:].all()


@pytest.mark.parametrize("system", ["flooding", "gossip"])
def test_hellos_are_fuzzed_with_a_system_that_reads_neighbour_lists(system: str) -> None:
    reads = importlib.import_module(SYSTEMS[system].module).NEIGHBOUR_HOPS > 0
    records, _ = fuzz.recorded(system, fuzz.FEW_NODES, fuzz.SHORT_S).received_records()
    hellos = {HELLO_KIND, HELLO_TIMER_KIND} & set(records["kind"].tolist())
    assert len(hellos) == (2 if reads else 0)


@pytest.mark.parametrize(
    ("field", "place", "fitting", "too_much"),
    [
        ("sequence", 0, (0, 65_535), (-1, 65_536)),
        ("topic", 0, (0, 2**31 - 1), (-1,)),  # the least id that it covers
        ("event", 0, (0, 4095), (-1, 4096)),  # twelve bits
        ("args", 7, (-1, 2**31 - 1), (-2,)),  # a node that it hears
        ("reals", 3, (-1.0, 2.0**31 - 1.0), (-2.0, 2.0**31, 0.5)),  # likewise
    ],
)
def test_a_hello_out_of_range_is_refused(
    field: str, place: int, fitting: tuple[float, ...], too_much: tuple[float, ...]
) -> None:
    hello = np.zeros(1, RECORD)
    hello["kind"], hello["target"], hello["publisher"] = HELLO_KIND, -1, -1
    where = hello[field][0] if hello[field].ndim > 1 else hello[field]
    checks = record_checks(KINDS_OF_HELLOS, {})
    for value in (*fitting, *too_much):
        where[place] = value
        expected = ACCEPTED if value in fitting else OUT_OF_RANGE
        assert refusal(checks, hello.view(np.recarray)[0], FROM_NETWORK) == expected
    where[place] = fitting[0]
    for position in (np.nan, np.inf):
        hello["reals"][0, POSITION] = position
        assert refusal(checks, hello.view(np.recarray)[0], FROM_NETWORK) == NOT_FINITE


def test_only_a_node_itself_sends_the_timer_of_its_hellos() -> None:
    timer = np.zeros(1, RECORD)
    timer["kind"] = HELLO_TIMER_KIND
    timer["target"] = timer["topic"] = timer["event"] = timer["publisher"] = -1
    checks, record = record_checks(KINDS_OF_HELLOS, {}), timer.view(np.recarray)[0]
    assert refusal(checks, record, FROM_SELF) == ACCEPTED
    assert refusal(checks, record, FROM_NETWORK) == WRONG_CHANNEL
    record.args[0] = 1
    assert refusal(checks, record, FROM_SELF) == NOT_DECLARED


def test_a_run_counts_what_it_refuses() -> None:
    network = disk(n=10, radius=0.6, seed=1)
    demand = Drawn(n=10, topics=2, subscribers_each=3, events=3, every_s=0.1, seed=1)

    def outcome(check: bool) -> tuple[int, dict[str, int]]:
        run = Simulation(
            "flooding", network, workload=demand, seconds=5.0, inspection=Inspection(check=check)
        )
        if check:  # as if the instance had one topic
            narrow = record_checks(run.instance.kinds, {"topics": 1})
            run.engine = run.engine._replace(checks=narrow)
        found = run.run()
        return found.delivered, dict(found.shortfalls)

    whole, none = outcome(check=False)
    fewer, some = outcome(check=True)
    assert fewer < whole
    assert none == {}
    assert list(some) == ["records refused, field out of range"]
