"""The check at the door: which records it accepts, and why it refuses the others."""

from typing import Any

import numpy as np
import pytest

from halfway.core.kinds import Channel, Kinds
from halfway.core.message import RECORD
from halfway.core.outbox import emit, outbox
from halfway.core.records.checks import (
    COLUMNS,
    FROM_APPLICATION,
    FROM_NETWORK,
    FROM_SELF,
    HEADER,
    REASONS,
    is_accepted,
    no_checks,
    record_checks,
    refusal,
    write_column,
)
from halfway.core.values.ranges import BITS, COUNT, DOUBLE, NODE_OR_NONE, SHARE, below, whole
from halfway.protocols.parts.reliable_hop import ACK
from halfway.protocols.parts.reliable_hop import KINDS as HOPS

KINDS = Kinds(
    {
        "steps": COUNT, "walk": below("walks"), "parent": NODE_OR_NONE, "part": SHARE,
        "word": BITS, "words": whole(0, 2**32 - 1),
    }
)  # fmt: skip
STEP = KINDS.network(
    3, "step", "a walk arrives", "topic flags", {"steps": 0, "walk": 2, "word[2]": 4},
    {"part": 0, "words[k]": 4}, reused={"target": "parent"}, also=Channel.COMMAND,
)  # fmt: skip
TIMER = KINDS.timer(4, "timer", "the time is over")
REPORT = KINDS.report(5, "report", "a walk arrived", "topic")
CHECKS = record_checks(KINDS, {"walks": 6, "topics": 3})


def record(kind: int = int(STEP), **fields: Any) -> Any:
    """A record of a kind that fits, from node 7; then with these fields."""
    out = outbox(1)
    emit(out, kind, 0.5, 1)
    made = out.pool[0]
    made.source = 7
    if kind == STEP:
        made.topic = 2
    for name, value in fields.items():
        field, _, place = name.partition("_")
        if place:
            made[field][int(place)] = value
        else:
            made[field] = value
    return made


def why(made: Any, origin: Any = FROM_NETWORK, checks: Any = CHECKS) -> str:
    """Why a record is refused."""
    return REASONS[refusal(checks, made, origin)]


OF_DRIVER = {"at", "kind", "hops", "source", "next", "incarnation"}  # no protocol fills them
COLUMN_NAMES = [
    *HEADER, *(f"args_{k}" for k in range(8)), *(f"reals_{k}" for k in range(6)),
]  # fmt: skip


def test_a_protocol_fills_every_field_that_the_driver_does_not() -> None:
    assert set(HEADER) | {"args", "reals"} == set(RECORD.names or ()) - OF_DRIVER
    assert len(COLUMN_NAMES) == COLUMNS


@pytest.mark.parametrize(("column", "name"), list(enumerate(COLUMN_NAMES)))
def test_a_column_is_written_to_the_field_that_the_check_reads_for_it(
    column: int, name: str
) -> None:
    bounds = np.full_like(CHECKS.bounds, -np.inf)
    bounds[:, :, 1] = np.inf
    bounds[:, column] = 99.0  # this column accepts one value, and the others every value
    checks = CHECKS._replace(bounds=bounds)
    written = record()
    assert why(written, checks=checks) != "accepted"
    write_column(written, column, 99.0)
    assert written == record(**{name: 99})
    assert why(written, checks=checks) == "accepted"


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"topic": 0, "flags": 255, "target": -1},
        {"target": 2**31 - 1, "args_0": 2**31 - 2, "args_2": 5},
        {"args_4": -(2**31), "args_5": 2**31 - 1, "reals_0": 1.0, "reals_5": 2.0**32 - 1},
    ],
)
def test_both_ends_of_a_range_are_accepted(fields: dict[str, Any]) -> None:
    assert why(record(**fields)) == "accepted"


@pytest.mark.parametrize(
    "fields",
    [
        {"topic": 3},  # a limit of the instance
        {"topic": -1},
        {"args_2": 6},
        {"args_0": 2**31 - 1},  # one more would not fit
        {"target": -2},
        {"reals_0": 1.25},
        {"reals_4": 0.5},  # not whole
        {"reals_4": -1.0},
        {"source": -1},
    ],
)
def test_a_value_beyond_its_range_is_refused(fields: dict[str, Any]) -> None:
    assert why(record(**fields)) == "field out of range"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_refused(value: float) -> None:
    assert why(record(reals_0=value)) == "number not finite"
    assert why(record(reals_2=value)) == "number not finite"


@pytest.mark.parametrize(
    "fields", [{"event": 0}, {"publisher": 1}, {"sequence": 1}, {"args_1": 1}, {"reals_1": 0.5}]
)
def test_a_field_that_the_kind_does_not_declare_is_refused(fields: dict[str, Any]) -> None:
    assert why(record(**fields)) == "field not declared"


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, -1e308, 0.0])
def test_a_place_may_have_room_for_every_double(value: float) -> None:
    kinds = Kinds({"interval": DOUBLE})
    kinds.network(3, "interval", "an interval", reals={"interval[2]": 0})
    checks = record_checks(kinds, {})
    fields = {"topic": -1}
    assert why(record(reals_0=value, **fields), checks=checks) == "accepted"
    assert why(record(reals_1=value, **fields), checks=checks) == "accepted"
    if not np.isfinite(value):
        assert why(record(reals_2=value, **fields), checks=checks) == "number not finite"


def test_a_kind_has_its_channels() -> None:
    assert why(record(), FROM_APPLICATION) == "accepted"  # its second channel
    assert why(record(), FROM_SELF) == "wrong channel"
    assert why(record(int(TIMER)), FROM_SELF) == "accepted"
    assert why(record(int(TIMER)), FROM_NETWORK) == "wrong channel"
    for origin in (FROM_APPLICATION, FROM_NETWORK, FROM_SELF):
        assert why(record(int(REPORT), topic=1), origin) == "wrong channel"
        assert why(record(6), origin) == "unknown kind"


def test_an_acknowledgement_has_a_sequence_number() -> None:
    """0 marks a free place in the table of hops."""
    checks = record_checks(HOPS, {})
    assert why(record(int(ACK), sequence=0), checks=checks) == "field out of range"
    assert why(record(int(ACK), sequence=1), checks=checks) == "accepted"


def test_a_limit_that_is_unknown_does_not_bound() -> None:
    assert why(record(args_2=2**31 - 1), checks=record_checks(KINDS, {"topics": 3})) == "accepted"


def test_refused_records_are_counted_by_reason() -> None:
    checks = record_checks(KINDS, {"topics": 3})
    made = [record(), record(topic=9), record(topic=9), record(9)]
    assert [is_accepted(checks, one, FROM_NETWORK) for one in made] == [True, False, False, False]
    found = dict(zip(REASONS, checks.refused.tolist(), strict=True))
    assert {name: count for name, count in found.items() if count} == {
        "field out of range": 2, "unknown kind": 1,
    }  # fmt: skip
    assert is_accepted(no_checks(), record(9), FROM_NETWORK)
