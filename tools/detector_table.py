"""Compare fourteen failure detectors in five scenarios: the tables of docs/failure-detection.md.

python tools/detector_table.py --nodes 100 --networks 30 --out FOLDER > tables.md

The fourteen are the seven systems, five of them with φ, and gossip counters by broadcast without φ
and with φ. Gossip by broadcast is a fair baseline for detectors over walks: by default, gossip
counters send to one random neighbour, and wait 20 s. With one broadcast to all neighbours a period,
a node transmits as often, and the time-out can be as short as those of the walks: 5 s.

Every detector runs on the same networks with the same faults. Finished runs are kept in FOLDER, so
the same command continues, and a larger number of networks adds only its own runs. The tables
depend on nothing but the runs. A value with `[n]` is the mean over the n networks that have a
value: `detection-all` has none where no crash is detected by all monitors.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import halfway
from halfway.adapters.registry import TABLE
from halfway.comparison.evaluation.cell_statistics import (
    FinishedRun,
    Floats,
    best_system,
    cells_of,
    comparable_systems,
    paired,
)
from halfway.comparison.evaluation.comparison_results import MeanInterval, Metric
from halfway.comparison.evaluation.metrics import METRICS
from halfway.pipeline.statistics.estimates import mean_interval

DETECTORS = [name for name in TABLE if TABLE[name].adapter.detects_failures]
ACCRUAL = [name for name in DETECTORS if name not in ("swim", "lifeguard")]
PHI = 8.0  # of the detectors with φ; P(later) = 10^-8
GOSSIP = "gossip-counters"  # a baseline of differences
BROADCAST = "by broadcast"  # of gossip counters: the other baseline
BROADCAST_OPTIONS = {f"options.{GOSSIP}.fanout": -1, f"options.{GOSSIP}.timeout_s": 5.0}
WALKS = ("path-heartbeat", "walk-probe", "path-gossip")
RANGE_M, DEGREE = 100.0, 10.0
START_S, DEATHS_AT_S, SECONDS = 40.0, 45.0, 100.0

DEATHS = {"fault": "crash", "share": 0.1, "at": DEATHS_AT_S}
SLOW = {"fault": "pause", "share": 0.1, "at": DEATHS_AT_S, "for": 6.0, "every_s": 18.0}
CUT = {"fault": "partition", "line": [0.5, 0.0, 0.5, 1.0], "at": 60.0, "for": 20.0}
SCENARIOS: Mapping[str, Mapping[str, Any]] = {
    "deaths": {},
    "slow nodes": {"faults": [DEATHS, SLOW]},
    "loss": {"radio": {"kind": "ideal", "delay_s": 0.002, "success": 0.8}},
    "partition": {"faults": [DEATHS, CUT]},
    "motion": {"network": None},
}
COLUMNS = (
    "detected-share", "detection-first", "detection-all", "mistake-rate", "mistake-duration",
    "query-accuracy", "view-completeness", "messages-per-member", "bytes-per-member",
)  # fmt: skip
GUARDS = ("detected-share", "query-accuracy")  # a detector that fails at one of them is cheap
WON = ("detection-all", "query-accuracy", "messages-per-member")
BROADCAST_ACCRUAL = f"{BROADCAST}, φ"
_RUNS_AS = {"": DETECTORS, "φ": ACCRUAL, BROADCAST: [GOSSIP], BROADCAST_ACCRUAL: [GOSSIP]}
BY_NAME: Mapping[str, Metric] = {metric.name: metric for metric in METRICS}


class FaultCase(NamedTuple):
    """The values of all detectors in one scenario: metric -> detector -> [networks]."""

    values: Mapping[str, Mapping[str, Floats]]
    failed: int  # runs


def main() -> int:
    """Run the detectors' missing runs, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--members", type=int, help="drawn members; the other nodes are relays")
    parser.add_argument("--networks", type=int, default=30)
    parser.add_argument("--detectors", default=",".join(DETECTORS))
    parser.add_argument("--scenarios", default=",".join(SCENARIOS))
    parser.add_argument("--warm-up", type=float, default=START_S, help="seconds before the metrics")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="the length of a run")
    parser.add_argument("--phi", type=float, default=PHI, help="threshold of φ; 0: no φ")
    parser.add_argument("--out", default="halfway-detectors")
    given = parser.parse_args()
    cases = {}
    for name in given.scenarios.split(","):
        scenario = scenario_of(name, given.nodes, given.warm_up, given.seconds, given.members)
        detectors = given.detectors.split(",")
        cases[name] = measure(scenario, detectors, given.networks, given.phi, given.out)
    of = "" if given.members is None else f", {given.members:,} members of {given.nodes:,} nodes"
    for line in (*winners(cases), *against_gossip(cases), *tables(cases, of)):
        sys.stdout.write(line + "\n")
    return 0


def scenario_of(
    name: str,
    nodes: int,
    warm_up_s: float = START_S,
    seconds: float = SECONDS,
    members: int | None = None,
) -> dict[str, Any]:
    """Return a scenario of the detectors' tables, as `halfway compare` reads it.

    seconds: the length of a run whose warm-up lasts START_S. A longer warm-up makes it longer.
    members: the number of members; None: every node is a member.
    """
    later = warm_up_s - START_S
    whole: dict[str, Any] = {
        "title": f"detectors: {name}, {nodes} nodes",
        "seconds": seconds + later,
        "stretch": False,
        "network": {"kind": "unit-disk", "n": nodes, "degree": DEGREE},
        "radio": {"kind": "ideal", "delay_s": 0.002, "success": 0.98},
        "workload": {"kind": "failure-detection", "start_s": warm_up_s},
        "faults": [DEATHS],
    } | dict(SCENARIOS[name])
    if whole["network"] is None:
        side = RANGE_M * math.sqrt(nodes * math.pi / DEGREE)
        whole["network"] = {
            "kind": "random-waypoint", "n": nodes, "width": side, "height": side,
            "radius": RANGE_M, "speed": [1.0, 3.0],
        }  # fmt: skip
    if members is not None:
        whole["title"] = f"detectors: {name}, {members} members of {nodes} nodes"
        whole["workload"]["members"] = members
    whole["faults"] = [fault | {"at": fault["at"] + later} for fault in whole["faults"]]
    return whole


def measure(
    scenario: dict[str, Any], detectors: Sequence[str], networks: int, threshold: float, out: str
) -> FaultCase:
    """Compare detectors on a scenario with their defaults, gossip counters also by broadcast.

    With a threshold above 0, also compare detectors with φ.
    """
    found: list[FinishedRun] = []
    for variant in _RUNS_AS if threshold else ("", BROADCAST):
        systems = [one for one in detectors if one in _RUNS_AS[variant]]
        if not systems:
            continue
        options: dict[str, Any] = {}
        if variant in ("φ", BROADCAST_ACCRUAL):
            options = {f"options.{one}.phi_threshold": threshold for one in systems}
        if variant in (BROADCAST, BROADCAST_ACCRUAL):
            options |= BROADCAST_OPTIONS
        compared = halfway.compare(
            scenario, systems, replicates=networks, set=options, out=out, master="local[1]",
            progress=False,
        )  # fmt: skip
        runs = compared.completed.runs
        found += [run._replace(system=f"{run.system} {variant}".strip()) for run in runs]
    values: dict[str, dict[str, Floats]] = {name: {} for name in COLUMNS}
    for run in found:
        for name, of in values.items():
            column = of.setdefault(run.system, np.full(networks, np.nan))
            column[run.replicate] = next(iter(run.observed.get(name, ())), np.nan)
    return FaultCase(values, sum(run.status != "ok" for run in found))


def tables(cases: Mapping[str, FaultCase], of_nodes: str = "") -> Iterator[str]:
    """Yield a table of the detectors in each scenario: means with 95 % intervals over the
    networks. of_nodes: the end of each title, such as the number of members.
    """
    for name, case in cases.items():
        cells = {
            metric: {cell.system: cell for cell in cells_of(0, BY_NAME[metric], of, GOSSIP, None)}
            for metric, of in case.values.items()
        }
        best = {name: best_system(BY_NAME[name], _comparable(case, name)) for name in COLUMNS}
        yield from ("", f"### {name[0].upper()}{name[1:]}{of_nodes}", "")
        yield " | ".join(["| detector", *(BY_NAME[one].heading for one in COLUMNS)]) + " |"
        yield "|---|" + "---:|" * len(COLUMNS)
        for system in case.values["detected-share"]:
            texts = [
                _counted(cells[metric][system].mean.text, case.values[metric][system])
                + (" *" if best[metric] == system else "")
                for metric in COLUMNS
            ]
            yield " | ".join([f"| {_marked(system)}", *texts]) + " |"
        if case.failed:
            yield from ("", f"{case.failed} runs failed.")


def winners(cases: Mapping[str, FaultCase]) -> Iterator[str]:
    """Yield the lines of the table of the best detector in each scenario, and of the detectors that
    may be as good.
    """
    yield " | ".join(["| scenario", *(BY_NAME[one].heading for one in WON)]) + " |"
    yield "|---|" + "---|" * len(WON)
    for name, case in cases.items():
        texts = [_winner(BY_NAME[one], _comparable(case, one)) for one in WON]
        yield " | ".join([f"| {name}", *texts]) + " |"


def _winner(metric: Metric, values: Mapping[str, Floats]) -> str:
    """Return the detector with the best mean, and in brackets the detectors that are not surely
    worse.

    A star marks one that is significantly better than every other, as in `halfway compare`.
    """
    sign = 1.0 if metric.better == "more" else -1.0
    known = {
        one: sign * column for one, column in values.items() if np.isfinite(column).all()
    }  # fmt: skip
    if not known:
        return "–"
    first = max(known, key=lambda one: float(known[one].mean()))
    text = (
        f"{_marked(first)} {MeanInterval(*mean_interval(values[first], bounds=metric.bounds)).text}"
    )
    if best_system(metric, values) == first:
        return f"{text} *"
    level = 1.0 - 0.05 / max(len(values) - 1, 1)
    equal = [
        one for one, column in known.items()
        if one != first and not mean_interval(paired(known[first], column), level)[1] > 0.0
    ]  # fmt: skip
    return f"{text} (not significant: {', '.join(map(_marked, equal))})" if equal else text


def against_gossip(cases: Mapping[str, FaultCase]) -> Iterator[str]:
    """Yield the tables of the differences between the detectors over walks and gossip, network by
    network: one for gossip counters, and one for gossip counters by broadcast where it runs.
    """
    columns = ("detection-all", "query-accuracy", "messages-per-member", "bytes-per-member")
    by_broadcast = f"{GOSSIP} {BROADCAST}"
    for baseline in (GOSSIP, by_broadcast):
        if not all(baseline in case.values["detected-share"] for case in cases.values()):
            continue
        yield from ("", f"Minus {_marked(baseline)}:", "")
        headings = (BY_NAME[one].heading for one in columns)
        yield " | ".join(["| scenario", "detector", *headings]) + " |"
        yield "|---|---|" + "---:|" * len(columns)
        for name, case in cases.items():
            for system in case.values["detected-share"]:
                if system.split()[0] in WALKS or (
                    system.startswith(by_broadcast) and system != baseline
                ):
                    texts = [_difference(case, one, system, baseline) for one in columns]
                    yield " | ".join([f"| {name}", _marked(system), *texts]) + " |"


def _difference(case: FaultCase, metric: str, system: str, baseline: str) -> str:
    of = case.values[metric]
    pairs = paired(of[system], of[baseline])
    bounds = BY_NAME[metric].difference_bounds
    return _counted(
        MeanInterval(*mean_interval(pairs, bounds=bounds)).text, of[system] - of[baseline]
    )


def _counted(text: str, values: Floats) -> str:
    """Return a mean's text, with `[n]` if only n networks, of more, have a value."""
    count = int(np.isfinite(values).sum())
    return f"{text} [{count}]" if 0 < count < len(values) else text


def _comparable(case: FaultCase, metric: str) -> dict[str, Floats]:
    """Return the values of a metric of the detectors that miss few crashes and suspect few living
    members: those whose means of the other GUARDS are close to the best one.
    """
    guards = (comparable_systems(case.values[one]) for one in GUARDS if one != metric)
    rivals = set(case.values[metric]).intersection(*guards)
    return {one: column for one, column in case.values[metric].items() if one in rivals}


def _marked(system: str) -> str:
    name, *phi = system.split()
    return " ".join([f"`{name}`", *phi])


if __name__ == "__main__":
    sys.exit(main())
