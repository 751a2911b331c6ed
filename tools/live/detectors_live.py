"""Failure detectors live beside simulated: nodes on the air that crash and pause, with 5 % loss.

    python -m tools.live.detectors_live run --runs 5 --out detectors.jsonl
    python -m tools.live.detectors_live table detectors.jsonl

`run` appends one JSON object for each run to the file. A live run has one process for each node: a
tenth of the nodes crash (SIGKILL), and every 10 s a tenth of the other nodes pause for 5 s
(SIGSTOP). The simulated runs have the same network, and faults at the same times. `table` prints
the means of the runs with their ranges. A live run needs Linux, iproute2 and nftables, and root or
`unshare -rn`.
"""

import argparse
import json
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tools.live.detector_processes import DetectorProcesses, MemberReport, Signal

from halfway.cli.program import Parser, positive, run, whole
from halfway.cli.terminal.assignments import assignments
from halfway.core.message import RECORD
from halfway.core.options import Value
from halfway.live.air.air import Air
from halfway.live.runtime.node_identity import drawn_id
from halfway.problem import Problem
from halfway.sim.engine.changes import changes
from halfway.sim.engine.node_ids import NodeIds
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.metrics.detections import Detection, DetectionAccounting
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, Fault, Pause
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import connected_unit_disk
from halfway.world.outages import LOST, NODE_DOWN
from halfway.world.workload.groups.monitoring import Monitoring

DETECTORS = ("heartbeat", "gossip-counters", "swim", "lifeguard", "path-gossip")
DEGREE, DELAY_S = 6.0, 0.001
START_S, CRASH_S, SECONDS = 20.0, 45.0, 100.0
PAUSE_S, PAUSE_EVERY_S, SHARE = 5.0, 10.0, 0.1
# The columns of the table: heading, field of `Detection`, digits after the point.
COLUMNS = (
    ("detected share", "detected_share", 3),
    ("first monitor [s]", "first_s", 1),
    ("all monitors [s]", "all_s", 1),
    ("mistakes / pair [1/h]", "mistakes_per_hour", 1),
    ("duration of a mistake [s]", "mistake_s", 1),
    ("query accuracy", "query_accuracy", 4),
)


class Trial(NamedTuple):
    """The inputs of a live run and of its simulated runs."""

    network: Network
    ids: list[int]
    crashed: list[int]  # rows, at CRASH_S
    pauses: list[tuple[float, int]]  # begin in seconds, row
    pause_s: float


def main() -> None:
    """Measure detectors live and simulated, or print the table of earlier measurements."""
    parser = Parser(description=__doc__)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("file", nargs="?", type=Path, help="file of `run`, for `table`")
    parser.add_argument("--out", type=Path, default=Path("detectors.jsonl"))
    parser.add_argument("--system", action="append", choices=(*DETECTORS, "path-heartbeat",
                        "walk-probe"), help="repeatable; default: five detectors")  # fmt: skip
    parser.add_argument("--option", metavar="NAME=VALUE", action="append", help="of the detector")
    parser.add_argument("--nodes", type=whole(5, 100), default=20)
    parser.add_argument("--runs", type=whole(1, 1000), default=5)
    parser.add_argument("--simulated", type=whole(1, 1000), default=10, help="for each live run")
    parser.add_argument("--loss", type=up_to(0.9), default=0.05, help="share of lost receptions")
    parser.add_argument(
        "--pause-s", type=up_to(PAUSE_EVERY_S), default=PAUSE_S, help="0: no pauses"
    )
    parser.add_argument("--seconds", type=positive, default=SECONDS)
    given = parser.parse_args()
    if given.what == "table":
        sys.stdout.write("\n".join(table(given.file or given.out)) + "\n")
        return
    options = detector_options(given.option)
    for number in range(1, given.runs + 1):
        trial = drawn(given.nodes, number, given.seconds, given.pause_s)
        for system in given.system or DETECTORS:
            live = lived(system, options, trial, number, given.loss, given.seconds)
            others = [
                simulated(system, options, trial, number * 1000 + k, given.loss, given.seconds)
                for k in range(given.simulated)
            ]
            with given.out.open("a") as file:
                for way, found in (("live", [live]), ("simulated", others)):
                    for one in found:
                        row = {
                            "system": system,
                            "options": options,
                            "run": number,
                            "way": way,
                            **one,
                        }
                        file.write(json.dumps(row) + "\n")


def detector_options(texts: list[str] | None) -> dict[str, Value]:
    """Return the options of a detector from the command line, which are numbers."""
    options: dict[str, Value] = {}
    for name, text in assignments(texts, "--option", "timeout_s=8").items():
        try:
            options[name] = float(text)
        except ValueError:
            raise Problem(f"--option {name} = {text}: expected a number") from None
    return options


def up_to(most: float) -> Callable[[str], float]:
    """Return the type of an argument: a number from 0 to `most`."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = -1.0
        if not 0.0 <= value <= most:
            raise argparse.ArgumentTypeError(f"{text!r}: expected a number from 0 to {most:g}")
        return value

    return read


def drawn(n: int, number: int, seconds: float, pause_s: float) -> Trial:
    """Draw the network, the ids and the faults of a trial by its number."""
    random = np.random.default_rng([n, number])
    network = connected_unit_disk(n, radius_of_degree(n, min(DEGREE, n / 2)), number).network
    some = max(round(SHARE * n), 1)
    crashed = random.choice(n, some, replace=False).tolist()
    others = [row for row in range(n) if row not in crashed]
    begins = np.arange(START_S, seconds - pause_s, PAUSE_EVERY_S) if pause_s else ()
    slow = [
        (float(begin) + float(random.uniform(0.0, PAUSE_EVERY_S - pause_s)), int(row))
        for begin in begins
        for row in random.choice(others, some, replace=False)
    ]
    return Trial(network, [drawn_id(number, row) for row in range(n)], crashed, slow, pause_s)


def lived(
    system: str, options: dict[str, Value], trial: Trial, number: int, loss: float, seconds: float
) -> dict[str, Any]:
    """Return the quality of a detector in one live run, and the lateness of the faults."""
    n = trial.network.n
    signals = [Signal(CRASH_S, row, signal.SIGKILL) for row in trial.crashed]
    for begin, row in trial.pauses:
        signals += [Signal(begin, row, signal.SIGSTOP),
                    Signal(begin + trial.pause_s, row, signal.SIGCONT)]  # fmt: skip
    rows = np.repeat(np.arange(n), trial.network.degree).tolist()
    with Air(n) as air:
        air.set_links(zip(rows, trial.network.who.tolist(), strict=True))
        air.set_loss(loss)
        with DetectorProcesses(air, system, options, number) as nodes:
            reports = list(nodes.run(signals, seconds))
            late_s = nodes.late_s
    return quality_of(reports, trial, system, seconds) | {"late_s": late_s}


def quality_of(
    reports: Sequence[MemberReport], trial: Trial, system: str, seconds: float
) -> dict[str, Any]:
    """Return the quality of a detector by the reports of live nodes."""
    kinds = Simulation(system, trial.network, workload=Monitoring()).instance.kinds
    accounting = DetectionAccounting(kinds, NodeIds(trial.network.n, trial.ids), START_S, None)
    down = len(trial.crashed)
    happened = changes([CRASH_S] * down, [NODE_DOWN] * down, trial.crashed, [LOST] * down)
    happened.tally[0] = down
    accounting.follow(happened)
    accounting.enter_reports(*_records(reports, kinds))
    return _quality(accounting.detection(seconds))


def _records(reports: Sequence[MemberReport], kinds: Any) -> tuple[Any, Any]:
    """Return the reports of live nodes as records of the simulator, and their rows."""
    records = np.zeros(len(reports), RECORD)
    kind = {True: kinds.number("suspected"), False: kinds.number("trusted")}
    for record, report in zip(records, reports, strict=True):
        record["kind"], record["at"] = kind[report.is_suspected], report.at
        record["target"] = report.member
    return records, np.array([report.row for report in reports], np.int64)


def simulated(
    system: str, options: dict[str, Value], trial: Trial, seed: int, loss: float, seconds: float
) -> dict[str, Any]:
    """Return the quality of a detector in one simulated run of a trial."""
    network = trial.network
    labels = range(network.n) if network.labels is None else network.labels
    faults: list[Fault] = [Crash(node=int(labels[row]), at=CRASH_S) for row in trial.crashed]
    faults += [Pause(node=int(labels[row]), at=at, for_=trial.pause_s) for at, row in trial.pauses]
    run = Simulation(
        system, network, options=options, workload=Monitoring(start_s=START_S), faults=faults,
        seconds=seconds, radio=IdealRadio(delay_s=DELAY_S, success=1.0 - loss), seed=seed,
        hello=SentHellos(), nodes=NodeSettings(ids=trial.ids), stretch=False,
    )  # fmt: skip
    found = run.run().detection
    assert found is not None
    return _quality(found)


def _quality(found: Detection) -> dict[str, Any]:
    return {field: getattr(found, field) for field in ("crashes", "mistakes")} | {
        field: value if np.isfinite(value := float(getattr(found, field))) else None
        for _, field, _ in COLUMNS
    }


def table(path: Path) -> Iterator[str]:
    """Yield the lines of the table of a file: the mean of the runs, and their range."""
    runs = [json.loads(line) for line in path.read_text().splitlines()]
    yield " | ".join(["| detector", "runs", *(heading for heading, _, _ in COLUMNS)]) + " |"
    yield "|---|---|" + "---:|" * len(COLUMNS)
    for name in dict.fromkeys(map(_name, runs)):
        for way in ("live", "simulated"):
            some = [one for one in runs if (_name(one), one["way"]) == (name, way)]
            texts = [_text([one[field] for one in some], digits) for _, field, digits in COLUMNS]
            yield " | ".join([f"| `{name}`", f"{len(some)} {way}", *texts]) + " |"


def _name(run: dict[str, Any]) -> str:
    """The name of a detector in the table, with its options."""
    return " ".join(
        [run["system"], *(f"{name}={value:g}" for name, value in run["options"].items())]
    )


def _text(values: Sequence[float | None], digits: int) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    low, mean, high = min(known), float(np.mean(known)), max(known)
    missing = f" [{len(known)}]" if len(known) < len(values) else ""
    return f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f}){missing}"


if __name__ == "__main__":
    sys.exit(run(main))
