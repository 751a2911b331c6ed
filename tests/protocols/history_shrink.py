"""Shrink a wrong history: leave out all without which it stays wrong, and print what remains.

    python -m tests.protocols.history_shrink tests/protocols/wrong_histories/drip-2709.json

runs the history of a file, and prints its network, roles, faults, deliveries and result.
"""

import sys
from collections.abc import Iterator, Sequence
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from halfway.problem import Problem
from halfway.world.faults import Crash
from tests.protocols.history import (
    Delivery,
    History,
    deliveries_of,
    judged,
    read,
    result_of,
    run_of,
    written,
    wrongs_of,
)
from tests.protocols.promises import CHANGES_S, PROMISES
from tests.protocols.simpler_histories import SIMPLER

FOLDER = Path(__file__).with_name("wrong_histories")
MOST_RUNS = 2_000  # of one history; a run takes about 20 ms


class Shrunk(NamedTuple):
    """A history after all changes that kept it wrong."""

    history: History
    runs: int
    wrong: str  # the count that stayed wrong; "" if the history was right as it was


def shrunk(history: History, most_runs: int = MOST_RUNS) -> Shrunk:
    """Simplify a history as long as the first of its wrong counts stays wrong.

    Each pass tries all parts, one at a time, and progress goes to stderr. The last pass changes
    nothing, unless there were `most_runs` runs before. A history that is right stays as it is.
    """
    (wrong, *_), runs, before = _wrongs_of(history) or ("",), 1, None
    while wrong and before != history and runs < most_runs:
        before = history
        for simpler in SIMPLER:
            k = 0
            while runs < most_runs and k < len(some := list(simpler(history))):
                runs += 1
                if wrong in _wrongs_of(some[k]):
                    history = some[k]  # the next one has the place k now
                else:
                    k += 1
        sys.stderr.write(f"{history.system} {history.seed}: {runs} runs, {size(history)}\n")
    return Shrunk(history, runs, wrong)


def _wrongs_of(history: History) -> tuple[str, ...]:
    try:
        return wrongs_of(history, result_of(history))
    except Problem:  # such as the cut of a link that is gone
        return ()


def stored(history: History, folder: Path = FOLDER) -> Path:
    """Write a history to a folder; the path of the file."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{history.system}-{history.seed}.json"
    path.write_text(written(history), encoding="utf-8")
    return path


def size(history: History) -> str:
    """The number of the parts of a history, of each sort."""
    sorts = ("subscriptions", "publications", "brokers", "faults", "dead")
    counts = (f"{len(getattr(history, name))} {name}" for name in sorts)
    return ", ".join([f"{history.n} nodes", *counts])


def described(history: History) -> Iterator[str]:
    """The network, settings, roles and faults of a history, in lines."""
    why = history.why or "the cause is unknown"
    yield f"{history.system}, seed {history.seed}, {history.n} nodes: {why}"
    options = ", ".join(f"{name} = {value}" for name, value in history.options.items())
    yield f"options: {options or 'the defaults'}"
    clocks = "an offset and a drift each" if history.clock else "the time of the run"
    yield f"clocks: {clocks}; neighbours: {'from hellos' if history.hello else 'given'}"
    yield f"receptions that succeed: {history.success:.0%}"
    if history.links:
        yield "links: " + ", ".join(f"{a} - {b}" for a, b in history.links)
    for a, b in history.dead:
        yield f"one-way link: {b} -> {a}, nothing arrives from {a} at {b}"
    for row, legs in enumerate(history.tracks or ()):
        _, (begin, end, x0, y0, x1, y1), _ = legs
        places = f"from ({x0:.2f}, {y0:.2f}) to ({x1:.2f}, {y1:.2f})"
        yield f"node {row} moves {places} {_span(begin, end)}"
    for k, broker in enumerate(history.brokers):
        name = "broker" if k else "broker and root"
        yield f"node {broker.row}: {name} {_span(broker.from_s, broker.until_s)}"
    for word, roles in (("subscriber", history.subscriptions), ("publisher", history.publishing)):
        for role in roles:
            yield f"node {role.row}: {word} of topic {role.topic} {_span(*role[2:])}"
    for fault in history.faults:
        span = _span(fault.at, fault.at + (fault.for_ or 0.0))
        if isinstance(fault, Crash):
            yield f"fault: node {fault.node} is down {span}, memory {fault.memory}"
        else:
            yield f"fault: link {fault.a} - {fault.b} is cut {span}"


def _span(from_s: float, until_s: float | None) -> str:
    if until_s is None:
        return f"from {from_s:.3f} s on" if from_s else "always"
    return f"from {from_s:.3f} s to {until_s:.3f} s"


def events_of(history: History, found: Sequence[Delivery]) -> Iterator[str]:
    """The events of a history with their deliveries, in lines."""
    arrives_s, quiet = PROMISES[history.system].arrives_s, CHANGES_S + history.quiet_s
    yield f"from {quiet:g} s on, each event must arrive within {arrives_s:g} s"
    published = sorted(history.publications, key=itemgetter(0))
    for event, (at, row, topic) in enumerate(published):
        reached = [f"{to} at {then:.3f} s" for one, to, then in found if one == event]
        arrived = ", ".join(reached) or "no node"
        yield f"event {event}: {row} publishes on topic {topic} at {at:.3f} s, reaches {arrived}"


def main(path: Path) -> None:
    """Run the history of a file, and print it."""
    history = read(path.read_text("utf-8"))
    run = run_of(history)
    found = deliveries_of(run)
    result = judged(history, run, found)
    wrong = ", ".join(wrongs_of(history, result)) or "nothing"
    lines = (*described(history), *events_of(history, found), f"{result}: {wrong} is wrong")
    sys.stdout.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
