"""Scenarios that are refused, each in a line: what was passed over in silence, or ended badly."""

import math
from pathlib import Path

import numpy as np
import pytest

from halfway import cli
from halfway.adapters.interface import check_option
from halfway.adapters.registry import TABLE
from halfway.problem import Problem
from halfway.scenario.build import network_of, simulation_of
from halfway.scenario.reading import read_scenario
from halfway.scenario.schema import Scenario
from halfway.world.mobility.random_waypoint import random_waypoint

STILL = """
[network]
kind = "unit-disk"
n = 40
degree = 9.0
[radio]
kind = "ideal"
[workload]
events = 2
[[faults]]
fault = "churn"
mean_up_s = 5.0
mean_down_s = 1.0
share = 0.5
"""
MOVING = """
[network]
kind = "random-waypoint"
n = 5
width = 9.0
height = 9.0
radius = 9.0
speed = [1.0, 2.0]
"""


def read(folder: Path, text: str, *changes: str) -> Scenario:
    file = folder / "scenario.toml"
    file.write_text(text, "utf-8")
    return read_scenario(file, dict(change.split("=", 1) for change in changes))


@pytest.mark.parametrize(
    ("text", "change", "told"),
    [
        (STILL, "options.glossip.fanout=3", "options.glossip: 'glossip' is no system.*flooding"),
        (STILL, "options.gossip.fun=3", "'fun' is no option of gossip.*fanout"),
        (STILL, "options.gossip.fanout=nan", "gossip: fanout = nan: it must be a whole number"),
        (STILL, "options.gossip.fanout=inf", "gossip: fanout = inf: it must be a whole number"),
        (STILL, 'radio.ratio_columns=["pdr"]', "ratio_columns without radio.ratios"),
        (STILL, "title=a\nseed = 3", "one line"),
        (STILL, "seed=18446744073709551615", "seed = 18446744073709551615.*9223372036854775807"),
        (STILL, "title=" + "[" * 5000, "nested too deeply"),
        (STILL + "[options]\ndeep = " + "[" * 5000, "seed=1", "nested too deeply"),
        (STILL, "faults[1].share=0.1", r"\[1\] is none of its 1 places"),
        (STILL, "faults.x.share=0.1", r"\[x\] is none of its 1 places"),
        (STILL, "faults[0].share.x=0.1", "no such table"),
        (STILL.replace("[[faults]]", "[faults]"), "seed=1", r"begins with \[\[faults\]\]"),
        (MOVING, "hello_s=1e-9", "hello_s = 1e-09: where nodes move it is 0, or 0.001 s"),
        (MOVING, "network.width=1e-200", "network.width = 1e-200: .*>= 1e-06"),
        (MOVING, "network.speed=[5e-324, 1.0]", "network.speed: .*a speed is 0, or 1e-06"),
    ],
)
def test_what_was_passed_over_is_refused(tmp_path: Path, text: str, change: str, told: str) -> None:
    with pytest.raises(Problem, match=told):
        read(tmp_path, text, *([] if change == "seed=1" else [change]))


def test_what_is_right_stays_right(tmp_path: Path) -> None:
    text = "\ufeff" + STILL  # the mark that some editors put before the first line
    for field in ("faults[0].share", "faults.0.share"):
        assert read(tmp_path, text, f"{field}=0.25").faults[0].share == 0.25  # type: ignore[union-attr]
    assert read(tmp_path, STILL, "hello_s=inf").hello_s == math.inf
    assert read(tmp_path, MOVING, "hello_s=0").hello_s == 0.0
    assert read(tmp_path, STILL, "hello_s=1e-9").hello_s == 1e-9
    assert read(tmp_path, STILL, "options.gossip.fanout=2").options == {"gossip": {"fanout": 2}}


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, 2.5, True])
def test_no_number_is_too_odd_for_an_option(value: float) -> None:
    with pytest.raises(Problem, match="fanout = "):
        check_option(TABLE["gossip"], "fanout", value)


def test_an_empty_system_is_none(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="'' is no system"):
        simulation_of(read(tmp_path, STILL), system="")


def test_a_network_has_the_degree_that_was_asked_for(tmp_path: Path) -> None:
    degrees = []
    for seed in range(10):
        network, _ = network_of(read(tmp_path, STILL, "network.n=400", f"seed={seed}"))
        assert network is not None
        degrees.append(network.degree.mean())
    # Without the border's part it would be 8.2; the connected ones are a little denser.
    assert np.mean(degrees) == pytest.approx(9.0, rel=0.05)


@pytest.mark.parametrize("wrong", [{"width": 1e-200}, {"speed": (5e-324, 1.0)}])
def test_a_movement_too_small_to_divide_by_is_refused(wrong: dict[str, object]) -> None:
    good: dict[str, object] = {"width": 9.0, "speed": (1.0, 2.0)}
    with pytest.raises(Problem, match="1e-06"):
        random_waypoint(2, height=9.0, seconds=5.0, seed=1, **(good | wrong))  # type: ignore[arg-type]


def test_a_seed_beyond_the_files_is_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simulate", "none.toml", "--seed", str(2**63)]) == cli.MENDABLE
    assert "0 ... 2^63 - 1" in capsys.readouterr().err
    assert cli.main(["simulate", "none.toml", "--seed", str(2**63 - 1)]) == cli.MENDABLE
    assert "no such file" in capsys.readouterr().err
