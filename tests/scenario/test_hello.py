"""The fields of a scenario that say how nodes learn their neighbours."""

from pathlib import Path

import pytest

from halfway.adapters.registry import named
from halfway.problem import Problem
from halfway.scenario.build import prepared, simulation_of
from halfway.scenario.reading import checked
from halfway.scenario.remarks import remarks_of
from halfway.scenario.schema import Scenario, converted, plain
from halfway.sim.environment.hello_exchange import HelloExchange

_WHERE = Path("mesh.toml")
_DISK = {"network": {"kind": "unit-disk", "n": 20, "radius": 0.5}, "system": "gossip"}


def scenario(**fields: object) -> Scenario:
    return checked(_DISK | fields, _WHERE)


def sends_hellos(of: Scenario, system: str | None = None) -> bool:
    chosen = named(system) if system else None
    return isinstance(simulation_of(of, system=chosen).neighbours, HelloExchange)


def test_nodes_send_hellos_unless_their_neighbours_are_given() -> None:
    assert sends_hellos(scenario())
    assert not sends_hellos(scenario(), "flooding")
    assert not sends_hellos(scenario(hello="given"))


def test_the_fields_are_left_out_of_plain_values_only_at_their_defaults() -> None:
    assert not plain(scenario()).keys() & {"hello", "hello_period_s", "hello_neighbours"}
    other = scenario(hello="given", hello_period_s=2.0, hello_neighbours=9)
    assert plain(other)["hello"] == "given"
    assert converted(plain(other)) == other


def test_period_and_size_reach_the_nodes() -> None:
    few = simulation_of(scenario(hello_neighbours=2)).run()
    assert few.shortfalls["forgotten neighbours"] > 0
    slow, quick = (simulation_of(scenario(hello_period_s=s)).run() for s in (4.0, 1.0))
    ratio = quick.sent["neighbour-hello"] / slow.sent["neighbour-hello"]
    assert ratio == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"hello": "heard"}, "hello = 'heard'"),
        ({"hello_period_s": 0.0}, "hello_period_s = 0.0"),
        ({"hello_neighbours": 0}, "hello_neighbours = 0"),
    ],
)
def test_wrong_values_are_named(fields: dict[str, object], what: str) -> None:
    with pytest.raises(Problem, match=what):
        scenario(**fields)


def test_a_remark_names_each_field_without_effect() -> None:
    def remarks(**fields: object) -> str:
        of = scenario(**fields)
        return " ".join(remarks_of(of, prepared(of)))

    assert "no effect" not in remarks()
    assert "no effect" not in remarks(hello="given", discovery_delay_s=3.0)
    assert "hello_period_s has no effect" in remarks(hello="given", hello_period_s=3.0)
    assert "hello_neighbours has no effect" in remarks(hello="given", hello_neighbours=3)
    assert "discovery_delay_s has no effect" in remarks(discovery_delay_s=3.0)
