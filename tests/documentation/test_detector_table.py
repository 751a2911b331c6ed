"""The tables of failure detectors: winners, stars and numbers of networks, from made values."""

from collections.abc import Mapping, Sequence

import numpy as np
from tools.detector_table import (
    COLUMNS,
    FaultCase,
    against_gossip,
    scenario_of,
    tables,
    winners,
)

NETWORKS = 8
NOISE = np.linspace(-0.1, 0.1, NETWORKS)
Values = Mapping[str, Sequence[float]]


def case(failed: int = 0, **metrics: Values) -> FaultCase:
    """A scenario in which all detectors have the same values, but in the given metrics."""
    detectors = next(iter(metrics.values()))
    values = {name: {one: np.ones(NETWORKS) for one in detectors} for name in COLUMNS}
    for metric, of in metrics.items():
        name = metric.replace("_", "-")
        values[name] = {one: np.array(column) for one, column in of.items()}
    return FaultCase(values, failed)


def row(lines: list[str], begin: str) -> list[str]:
    """The cells of the only row of a table that begins with this text."""
    (line,) = (one for one in lines if one.startswith(f"| {begin} |"))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_winner_has_a_star_only_if_it_is_surely_better_than_all() -> None:
    times = {"swim": 5.0 + NOISE, "heartbeat": 6.0 - NOISE, "lifeguard": 9.0 + NOISE}
    assert row(list(winners({"deaths": case(detection_all=times)})), "deaths")[1] == (
        "`swim` 5.000 ± 0.059 *"
    )
    close = times | {"heartbeat": 5.01 - NOISE}
    text = row(list(winners({"deaths": case(detection_all=close)})), "deaths")[1]
    assert text == "`swim` 5.000 ± 0.059 (not significant: `heartbeat`)"


def test_a_detector_that_misses_crashes_or_lacks_a_value_does_not_win() -> None:
    times = {"swim": 5.0 + NOISE, "heartbeat": 6.0 + NOISE, "lifeguard": 4.0 + NOISE}
    shares = {one: np.full(NETWORKS, share) for one, share in
              (("swim", 0.97), ("heartbeat", 1.0), ("lifeguard", 0.99))}  # fmt: skip
    times["lifeguard"][3] = np.nan
    lines = list(winners({"deaths": case(detection_all=times, detected_share=shares)}))
    assert row(lines, "deaths")[1].startswith("`heartbeat` 6.000 ± 0.059")
    made = list(tables({"deaths": case(detection_all=times, detected_share=shares)}))
    assert row(made, "`lifeguard`")[3].endswith("[7]")


def test_a_detector_that_suspects_the_living_wins_neither_time_nor_cost() -> None:
    times = {"swim": 5.0 + NOISE, "heartbeat": 6.0 + NOISE, "walk-probe": 0.0 + 0.1 * NOISE}
    accuracies = {one: np.full(NETWORKS, share) for one, share in
                  (("swim", 0.99), ("heartbeat", 1.0), ("walk-probe", 0.97))}  # fmt: skip
    spoilt = case(detection_all=times, query_accuracy=accuracies)
    assert row(list(winners({"deaths": spoilt})), "deaths")[1].startswith("`swim` 5.000")
    made = list(tables({"deaths": spoilt}))
    assert row(made, "`swim`")[3].endswith("*")
    assert not row(made, "`walk-probe`")[3].endswith("*")


def test_differences_to_gossip_are_those_of_each_network() -> None:
    spread = np.arange(NETWORKS, dtype=np.float64)  # networks differ more than detectors
    times = {"gossip-counters": spread, "path-gossip": spread - 2.0,
             "gossip-counters by broadcast": spread - 3.0}  # fmt: skip
    lines = list(against_gossip({"deaths": case(detection_all=times)}))
    first, second = (k for k, one in enumerate(lines) if one.startswith("Minus"))
    assert [one.split("|")[2:4] for one in lines[first:second] if one.startswith("| deaths")] == [
        [" `path-gossip` ", " -2 ± 0 "], [" `gossip-counters` by broadcast ", " -3 ± 0 "],
    ]  # fmt: skip
    (last,) = (one for one in lines[second:] if one.startswith("| deaths"))
    assert last.split("|")[2:4] == [" `path-gossip` ", " 1 ± 0 "]


def test_runs_that_failed_are_counted_below_their_table() -> None:
    made = case(failed=3, detection_all={"swim": 5.0 + NOISE, "heartbeat": 6.0 + NOISE})
    assert list(tables({"deaths": made}))[-1] == "3 runs failed."


def test_a_table_of_members_among_relays_has_their_number_in_its_titles() -> None:
    plain, few = scenario_of("loss", 1000), scenario_of("loss", 1000, members=100)
    assert plain["title"] == "detectors: loss, 1000 nodes"
    assert few["title"] == "detectors: loss, 100 members of 1000 nodes"
    assert "members" not in plain["workload"]
    assert few["workload"] == plain["workload"] | {"members": 100}
    assert {**few, "title": "", "workload": {}} == {**plain, "title": "", "workload": {}}
    made = case(detection_all={"swim": 5.0 + NOISE, "heartbeat": 6.0 + NOISE})
    of_nodes = ", 100 members of 1,000 nodes"
    assert "### Deaths, 100 members of 1,000 nodes" in list(tables({"deaths": made}, of_nodes))
    assert "### Deaths" in list(tables({"deaths": made}))
