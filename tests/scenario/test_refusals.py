"""Invalid scenarios, each with an error of one line."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from halfway import cli
from halfway.adapters.registry import TABLE
from halfway.cli.terminal.screen import USER_ERROR
from halfway.core.options import check_option, checked_options
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
    ("text", "change", "error"),
    [
        (STILL, "options.glossip.fanout=3", "options.glossip: 'glossip' is not a system.*flooding"),
        (STILL, "options.gossip.fun=3", "gossip: unknown option 'fun'.*fanout"),
        (STILL, "options.gossip.fanout=nan", "gossip: fanout = nan: expected a whole number"),
        (STILL, "options.gossip.fanout=inf", "gossip: fanout = inf: expected a whole number"),
        (STILL, 'radio.ratio_columns=["pdr"]', "ratio_columns: expected radio.ratios"),
        (STILL, "title=a\nseed = 3", "expected a field and its value on one line"),
        (
            STILL,
            "seed=18446744073709551615",
            "seed = 18446744073709551615.*9,223,372,036,854,775,807",
        ),
        (STILL, "title=" + "[" * 5000, "too many nested levels"),
        (STILL + "[options]\ndeep = " + "[" * 5000, "seed=1", "nested too deeply"),
        (STILL, "faults[1].share=0.1", r"\[1\]: expected \[0\], the only entry"),
        (STILL, "faults.x.share=0.1", r"\[x\]: expected \[0\], the only entry"),
        (STILL, "faults[0].share.x=0.1", "no such table"),
        (STILL.replace("[[faults]]", "[faults]"), "seed=1", r"begin each with \[\[faults\]\]"),
        (MOVING, "discovery_delay_s=1e-9", "discovery_delay_s = 1e-09: expected 0, or at least"),
        (MOVING, "network.width=1e-200", "network.width = 1e-200: .* of 1e-06 or more"),
        (
            MOVING,
            "network.speed=[5e-324, 1.0]",
            "network.speed = 4.9.*: expected 0, or at least 1e-06",
        ),
    ],
)
def test_an_invalid_field_is_an_error(tmp_path: Path, text: str, change: str, error: str) -> None:
    with pytest.raises(Problem, match=error):
        read(tmp_path, text, *([] if change == "seed=1" else [change]))


def test_what_is_right_stays_right(tmp_path: Path) -> None:
    text = "\ufeff" + STILL  # the mark that some editors put before the first line
    for field in ("faults[0].share", "faults.0.share"):
        assert read(tmp_path, text, f"{field}=0.25").faults[0].share == 0.25  # type: ignore[union-attr]
    assert read(tmp_path, STILL, "discovery_delay_s=inf").discovery_delay_s == math.inf
    assert read(tmp_path, MOVING, "discovery_delay_s=0").discovery_delay_s == 0.0
    assert read(tmp_path, STILL, "discovery_delay_s=1e-9").discovery_delay_s == 1e-9
    assert read(tmp_path, STILL, "options.gossip.fanout=2").options == {"gossip": {"fanout": 2}}


@pytest.mark.parametrize(
    ("old", "new"), [("cell-hash", "georendezvous"), ("rumor", "rumor-routing")]
)
def test_a_former_name_is_answered_with_the_new_one(
    tmp_path: Path, old: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "scenario.toml"
    renamed = f"'{old}' has a new name (use '{new}')"
    with pytest.raises(Problem, match=f"^system: {re.escape(renamed)}"):
        simulation_of(read(tmp_path, STILL, f"system={old}"))
    for arguments in (
        ["simulate", str(file), "--system", old],
        ["simulate", str(file), "--set", f"options.{old}.retries=3"],
        ["compare", str(file), "--systems", old],
        ["compare", str(file), "--system", old],
        ["compare", str(file), "--sweep", f"options.{old}.retries=3,4"],
    ):
        assert cli.main(arguments) == USER_ERROR
        assert renamed in capsys.readouterr().err


@pytest.mark.parametrize(
    ("system", "old", "new"),
    [
        ("directional-walk", "reading", "at_meeting"),
        ("drip", "retries", "route_retries"),
        ("rumor-routing", "retries", "query_retries"),
        ("walk-overlay", "launches", "quick_launches"),
        ("walk-overlay", "join_delay_s", "launch_jitter_s"),
        ("swim", "ack_timeout_s", "ping_timeout_s"),
        ("lifeguard", "ack_timeout_s", "ping_timeout_s"),
        ("heartbeat", "repeat_delay_s", "flood_jitter_s"),
    ],
)
def test_a_former_option_is_answered_with_the_new_one(system: str, old: str, new: str) -> None:
    with pytest.raises(Problem) as caught:
        checked_options(system, TABLE[system].options, {old: 1})
    assert str(caught.value) == f"{system}: option '{old}' has a new name (use '{new}')"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, 2.5, True])
def test_an_invalid_number_is_an_error_for_an_option(value: float) -> None:
    with pytest.raises(Problem, match="fanout = "):
        check_option("gossip", TABLE["gossip"].options, "fanout", value)


def test_an_empty_name_is_not_a_system(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="'' is not a system"):
        simulation_of(read(tmp_path, STILL), system="")


def test_a_network_has_the_given_degree(tmp_path: Path) -> None:
    degrees = []
    for seed in range(10):
        network, _ = network_of(read(tmp_path, STILL, "network.n=400", f"seed={seed}"))
        assert network is not None
        degrees.append(network.degree.mean())
    # Ignoring the border would give 8.2; connected draws are slightly denser.
    assert np.mean(degrees) == pytest.approx(9.0, rel=0.05)


@pytest.mark.parametrize("wrong", [{"width": 1e-200}, {"speed": (5e-324, 1.0)}])
def test_a_movement_too_small_to_divide_by_is_an_error(wrong: dict[str, object]) -> None:
    good: dict[str, object] = {"width": 9.0, "speed": (1.0, 2.0)}
    with pytest.raises(Problem, match="1e-06"):
        random_waypoint(2, height=9.0, seconds=5.0, seed=1, **(good | wrong))  # type: ignore[arg-type]


def test_a_seed_above_the_limit_of_toml_is_misuse(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["simulate", "none.toml", "--seed", str(2**63)]) == USER_ERROR
    assert "from 0 to 2^63 - 1" in capsys.readouterr().err
    assert cli.main(["simulate", "none.toml", "--seed", str(2**63 - 1)]) == USER_ERROR
    assert "no such file" in capsys.readouterr().err
