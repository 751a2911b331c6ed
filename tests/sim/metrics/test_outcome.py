"""The outcome as JSON."""

import json
import math
from dataclasses import fields
from typing import Any

import numpy as np

from halfway.report.terminal.outcome_report import outcome_json
from halfway.sim.metrics.outcome import Load, Outcome, Percentiles


def odd(value: Any) -> Outcome:
    """An outcome whose numbers are all equal, without its optional parts."""
    plain = {one.name: value for one in fields(Outcome)}
    spread, kinds = Percentiles(*[value] * 5), {"flood": value}
    distributions = dict.fromkeys(("latency_s", "hops", "stretch"), spread)
    counted = dict.fromkeys(("sent", "received", "radio"), kinds)
    parts = dict.fromkeys(("lifetime", "detection", "groups", "requests"))
    return Outcome(**(plain | parts | distributions | counted | {"load": Load(*[value] * 4)}))


def test_every_json_reader_can_read_an_outcome() -> None:
    def refused(name: str) -> None:
        raise AssertionError(name)

    for value in (math.inf, -math.inf, math.nan, np.float32("inf"), np.float64("nan")):
        parsed = json.loads(outcome_json(odd(value)), parse_constant=refused)
        assert parsed["energy_j"] is None
        assert parsed["latency_s"]["p99"] is None
        assert parsed["sent"] == {"flood": None}
    assert json.loads(outcome_json(odd(np.float32(1.5))))["load"]["gini"] == 1.5
