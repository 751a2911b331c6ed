"""The first scenario of a user's network or movement file: its commented text, and guesses."""

import math
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from halfway.problem import Problem
from halfway.scenario.build import prepared
from halfway.scenario.json_schema import NAME
from halfway.scenario.reading import checked
from halfway.sim.radio.declarations import IdealRadio
from halfway.world.graphs.mean_degree import distance_to_neighbours
from halfway.world.graphs.network import Network
from halfway.world.importers.column_guesses import TableGuess, guessed
from halfway.world.importers.network_file import is_table, read_network, table_of
from halfway.world.mobility.motion import positions
from halfway.world.mobility.moving_grid import present
from halfway.world.mobility.trace_files import is_motion, read_motion
from halfway.world.mobility.tracks import Traces

_KEPT = 0.9  # share of the connected nodes that a threshold must keep connected
_THRESHOLDS = (0.9, 0.75, 0.5, 0.25, 0.1)  # of the scale of the quality
_NEIGHBOURS = 8  # neighbours for which the range of moving nodes is guessed
_LONGEST_S = 300.0


class Starter(NamedTuple):
    """A first scenario file: its text, the guesses that its user should check, and its size."""

    text: str
    guesses: list[str]
    size: str  # such as "60 nodes, 192 links"


def starter(path: Path, positions_from: Path | None, target: Path) -> Starter:
    """Return the first scenario for a network or movement file, to be written to `target`.

    Raises Problem if the files cannot be read, or if no scenario on them can run.
    """
    home = target.absolute().parent
    if is_motion(path):
        if positions_from is not None:
            remedy = "leave out the table of positions"
            raise Problem("a file of movement has positions", where=str(path), remedy=remedy)
        found = _moving(path, home)
    else:
        found = _static(path, positions_from, home)
    prepared(checked(tomllib.loads(found.text), target))
    return found


def _static(path: Path, positions_from: Path | None, home: Path) -> Starter:
    guess = guessed(table_of(path)) if is_table(path) else None
    reading, guesses = _reading(path, guess)
    network = read_network(path, largest=True, **reading)
    lines = ["[network]", 'kind = "file"', f"path = {_relative(path, home)}"]
    if guess is not None:
        table = table_of(path)
        if (guess.source, guess.target) != tuple(table.columns[:2]):
            lines += [f"source = {_quoted(guess.source)}", f"target = {_quoted(guess.target)}"]
        lines += _quality_lines(guess, reading)
    if positions_from is not None:
        placed = _placed(path, positions_from, reading)
        lines.append(f"positions = {_relative(positions_from, home)}")
        if not placed:
            lines[-1] = f"# {lines[-1]}  # lacks nodes"
            guesses.append("not every node has a position, so the scenario uses no positions")
    lines.append("largest = true  # only the largest component; false keeps all nodes")
    ratios = _ratio_lines(path, guess, network, home)
    guesses += ["the radio loses records by the link quality"] if ratios else []
    text = _assembled(path, lines, _radio(ratios), network.n, 60.0)
    return Starter(text, guesses, f"{network.n:,} nodes, {network.links:,} links")


def _reading(path: Path, guess: TableGuess | None) -> tuple[dict[str, Any], list[str]]:
    """The arguments of `read_network` that a starter guesses for a file, and the remarks on it."""
    if guess is None:
        return {}, []
    given: dict[str, Any] = {"source": guess.source, "target": guess.target}
    guesses = list(guess.remarks)
    if not guess.quality:
        return given, guesses
    if guess.less_is_better:
        guesses.append(f"every link counts, because less {guess.quality[0]} is better")
        return given, guesses
    given |= {"quality": guess.quality, "both_ways": not _one_line_a_link(guess)}
    whole = read_network(path, largest=True, **given).n
    for share in _THRESHOLDS:
        threshold = share * guess.scale
        try:
            kept = read_network(path, largest=True, threshold=threshold, **given).n
        except Problem:  # no link exceeds it
            continue
        if kept >= _KEPT * whole:
            guesses.append(
                f"over = {threshold:g} keeps {kept:,} of {whole:,} connected nodes connected"
            )
            return given | {"threshold": threshold}, guesses
    guesses.append("over = 0: a higher threshold disconnects more than a tenth of the nodes")
    return given | {"threshold": 0.0}, guesses


def _one_line_a_link(guess: TableGuess) -> bool:
    return len(guess.quality) == 1 and guess.symmetric


def _quality_lines(guess: TableGuess, reading: dict[str, Any]) -> Iterator[str]:
    if "quality" not in reading:
        return
    yield f"quality = {_quoted(','.join(guess.quality))}"
    yield f"over = {reading['threshold']:g}  # keep only links with a quality over this value"
    if _one_line_a_link(guess):
        yield "both_ways = false  # the file has each link in one direction"


def _placed(path: Path, positions_from: Path, reading: dict[str, Any]) -> bool:
    """Whether a starter's table of positions has every node of the network."""
    try:
        found = read_network(path, largest=True, positions_from=positions_from, **reading)
    except Problem as problem:
        if "no position" in problem.what:
            return False
        raise
    return found.position is not None


def _ratio_lines(path: Path, guess: TableGuess | None, network: Network, home: Path) -> list[str]:
    """The starter's lines of measured reception ratios, where the table has one for each link."""
    if guess is None or guess.scale != 1.0 or guess.less_is_better or not guess.quality:
        return []
    try:
        IdealRadio(ratios=str(path), ratio_columns=guess.quality).made(network, False, 1)
    except Problem:
        return []
    columns = ", ".join(map(_quoted, guess.quality))
    return [f"ratios = {_relative(path, home)}", f"ratio_columns = [{columns}]"]


def _moving(path: Path, home: Path) -> Starter:
    traces = read_motion(path)
    first, last = _span(traces)
    begin_s, seconds = max(first, 0.0), min(max(last - max(first, 0.0), 1.0), _LONGEST_S)
    middle_s = begin_s + seconds / 2.0
    there = positions(traces.legs, middle_s)[present(traces.presence, middle_s)]
    radius = max(float(f"{distance_to_neighbours(there, _NEIGHBOURS):.2g}"), 1e-6)
    n = traces.legs.n
    lines = [
        "[network]", 'kind = "recorded"', f"path = {_relative(path, home)}",
        f"radius = {radius:g}  # the range of a link, a guess: write the range of your radio",
        f"begin_s = {begin_s:g}  # the time of the file at which the run begins",
    ]  # fmt: skip
    guesses = [
        f"the run begins at {begin_s:g} s; the file has {first:g} s to {last:g} s",
        f"radius = {radius:g} gives about {_NEIGHBOURS} neighbours; write the range of your radio",
    ]
    return Starter(_assembled(path, lines, _radio([]), n, seconds), guesses, f"{n:,} nodes")


def _span(traces: Traces) -> tuple[float, float]:
    """The first and the last time of a starter's movement at which a node moves."""
    begins, ends = traces.legs.t0.tolist(), traces.legs.t1.tolist()
    return min(begins), max(ends)


def _radio(ratios: list[str]) -> list[str]:
    losses = ratios or ["# success = 0.9  # each reception succeeds with this probability"]
    return [
        "[radio]  # other kinds: contention (shared medium), distance, wired",
        'kind = "ideal"', "delay_s = 0.004  # of each hop", *losses,
    ]  # fmt: skip


def _assembled(path: Path, network: list[str], radio: list[str], n: int, seconds: float) -> str:
    """The text of a starter for n nodes and a number of seconds."""
    start_s = 10.0 if seconds >= 40.0 else math.floor(seconds) / 4.0
    every_s = 1.0 if seconds >= 40.0 else max(seconds / 60.0, 0.01)
    events = max(1, min(30, int((seconds - start_s) * 0.75 / every_s)))
    subscribers = max(1, min(20, n // 10, n - 1))
    topics = max(1, min(10, n // 20))
    return "\n".join([
        f"#:schema ./{NAME}",
        f"# A first scenario for {_plain(path.name)}. docs/scenarios.md describes every field.",
        "#     halfway check FILE        what a comparison would run",
        "#     halfway compare FILE      every system on this scenario",
        f"title = {_quoted(path.stem)}",
        f"seconds = {seconds:g}  # simulated time",
        "seed = 1",
        "", *network, "", *radio, "",
        "[workload]  # the seed draws publishers and subscribers in each replicate",
        f"topics = {topics}",
        "publishers_each = 1",
        f"subscribers_each = {subscribers}",
        f"events = {events}",
        f"every_s = {every_s:g}",
        f"start_s = {start_s:g}  # time for systems that build an overlay first",
        "", "# Faults: remove the signs # of a table to use it.",
        "# [[faults]]", '# fault = "crash"  # some nodes crash, and come back', "# share = 0.1",
        f"# at = {seconds / 2:g}", f"# for = {seconds / 4:g}", "#",
        "# [[faults]]", '# fault = "churn"  # nodes fail and return all the time',
        "# share = 0.2", "# mean_up_s = 60", "# mean_down_s = 10", "",
    ])  # fmt: skip


def _relative(path: Path, home: Path) -> str:
    return _quoted(os.path.relpath(path.absolute(), home))


def _plain(name: str) -> str:
    """A file's name in a starter's comment, on one line."""
    return "".join(sign if sign.isprintable() else "?" for sign in name)


def _quoted(name: str) -> str:
    """A string of TOML."""
    signs = {'"': '\\"', "\\": "\\\\"}
    return '"' + "".join(
        signs.get(sign, sign if sign.isprintable() or sign == " " else f"\\U{ord(sign):08x}")
        for sign in name
    ) + '"'  # fmt: skip
