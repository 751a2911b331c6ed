"""Tests of shell completion: what a shell gets for an incomplete command line."""

import os
import subprocess
import sys

import pytest

from halfway.cli.terminal import completion


def test_the_last_of_several_systems_is_completed() -> None:
    found = [name for name, _ in completion.several_systems("flooding,gossip,fl")]
    assert found == []
    assert [name for name, _ in completion.several_systems("gossip,fl")] == ["gossip,flooding"]


def test_fields_and_options_of_systems() -> None:
    assert completion.fields("workload.ev") == ["workload.events=", "workload.every_s="]
    assert "options.gossip.fanout=" in completion.fields("options.gossip.")
    assert "faults[0].share=" in completion.fields("faults")
    assert completion.fields("sec") == ["seconds="]


def test_metrics_of_a_stopping_rule() -> None:
    assert "half-width=2%,delivery-ratio" in completion.stopping_rules("")
    assert completion.stopping_rules("half-width=5%,delivery-ra") == [
        "half-width=5%,delivery-ratio"
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("halfway sim", "simulate"),
        ("halfway options floo", "flooding"),
        ("halfway reproduce directional-walks/figure-8", "directional-walks/figure-8"),
        ("halfway compare x.toml --baseline anti", "anti-entropy"),
        ("halfway compare x.toml --minimise ener", "energy"),
    ],
)
@pytest.mark.long
def test_a_shell_gets_the_names(line: str, expected: str) -> None:
    words = {"_HALFWAY_COMPLETE": "complete_bash", "COMP_WORDS": line}
    words["COMP_CWORD"] = str(len(line.split()) - 1)
    done = subprocess.run(
        [sys.executable, "-m", "halfway"], capture_output=True, text=True, check=False,
        env={**os.environ, **words},
    )  # fmt: skip
    assert (done.stdout.split(), done.stderr) == ([expected], "")
