"""The first scenario for a user's network or movement file: its text with comments, and its
guesses.
"""

import math
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from halfway.problem import Problem
from halfway.scenario.build import prepared
from halfway.scenario.guessed_links import guessed_links
from halfway.scenario.json_schema import NAME
from halfway.scenario.reading import checked
from halfway.sim.radio.declarations import IdealRadio
from halfway.world.graphs.import_remarks import DIRECTIONS, OUTSIDE, counted
from halfway.world.graphs.mean_degree import distance_to_neighbours
from halfway.world.graphs.network import Network
from halfway.world.importers.brite import read_brite
from halfway.world.importers.column_guesses import TableGuess, guessed, unused_data
from halfway.world.importers.graphml import graphml_links
from halfway.world.importers.link_table import LinkColumns
from halfway.world.importers.network_file import (
    BRITE,
    GRAPHML,
    is_table,
    read_network,
    suffix,
    table_of,
)
from halfway.world.mobility import motion
from halfway.world.mobility.moving_grid import present
from halfway.world.mobility.trace_files import is_motion, read_motion
from halfway.world.mobility.tracks import Traces
from halfway.world.underlays.underlay import SPEED_OF_LIGHT_KM_S

_NEIGHBOURS = 8  # neighbours for which the range of moving nodes is guessed
_LONGEST_S = 300.0
_DELAY_S = 0.004  # of a hop, if the file has no latencies
_SAMPLES = 100  # times at which the nodes of a movement are counted


class Starter(NamedTuple):
    """A first scenario file: its text, the guesses that its user should check, and its size."""

    text: str
    guesses: list[str]
    size: str  # such as "60 nodes, 192 links"
    notes: tuple[str, ...] = ()  # what the scenario does not use of the file


def starter(path: Path, positions_from: Path | None, target: Path) -> Starter:
    """Return the first scenario for a network or movement file, to be written to `target`. Raises
    Problem if the files cannot be read, or if no scenario on them can run.
    """
    home = target.absolute().parent
    if is_motion(path):
        if positions_from is not None:
            remedy = "leave out the table of positions"
            raise Problem("a file of movement has positions", where=str(path), remedy=remedy)
        scenario = _moving(path, home)
    else:
        scenario = _static(path, positions_from, home)
    prepared(checked(tomllib.loads(scenario.text), target))
    return scenario


def _static(path: Path, positions_from: Path | None, home: Path) -> Starter:
    guess = guessed(table_of(path)) if is_table(path) else None
    columns, guesses = guessed_links(path, guess)
    network = read_network(path, columns, largest=True, partial_positions=True)
    lines = ["[network]", 'kind = "file"', f"path = {_relative(path, home)}"]
    if guess is not None:
        table = table_of(path)
        if (guess.source, guess.target) != tuple(table.columns[:2]):
            lines += [f"source = {_quoted(guess.source)}", f"target = {_quoted(guess.target)}"]
        lines += _quality_lines(guess, columns)
    lines += _position_lines(path, positions_from, columns, home, guesses)
    lines.append("largest = true  # only the largest component; false keeps all nodes")
    ratios, said = _ratios(path, guess, network, home)
    guesses += [said] if said else []
    delay_s = math.nan if guess is None else guess.delay_s
    radio = _radio(ratios, _DELAY_S if math.isnan(delay_s) else delay_s)
    if suffix(path) == BRITE:
        radio = _wired(path)
        guesses.append("the links are wires: their delay follows from the positions, in km")
    text = _assembled(path, lines, radio, network.n, 60.0)
    links = "1 link" if network.links == 1 else f"{network.links:,} links"
    notes = (*(() if guess is None else guess.unused), *_left_out(path, network))
    return Starter(text, guesses, f"{network.n:,} nodes, {links}", notes)


def _left_out(path: Path, network: Network) -> Iterator[str]:
    """Yield what the starter's scenario does not use of a file, except the columns of a table."""
    if suffix(path) in GRAPHML:
        yield from unused_data(graphml_links(path).unused, "link attribute")
    if directed := network.left_out.get(DIRECTIONS, 0):
        links = "1 link has a direction" if directed == 1 else f"{directed:,} links have directions"
        yield f"{links} in the file; in the scenario, each link leads in both directions"
    if outside := network.left_out.get(OUTSIDE, 0):
        yield f"largest = true leaves out {counted(OUTSIDE, outside)}; false keeps all nodes"


def _quality_lines(guess: TableGuess, columns: LinkColumns) -> Iterator[str]:
    if not columns.quality:
        return
    yield f"quality = {_quoted(','.join(guess.quality))}"
    if columns.threshold is not None:
        yield f"over = {columns.threshold:g}  # keep only links with a quality over this value"
    if columns.under is not None:
        yield f"under = {columns.under:g}  # keep only links with a quality under this value"


def _position_lines(
    path: Path,
    positions_from: Path | None,
    columns: LinkColumns,
    home: Path,
    guesses: list[str],
) -> Iterator[str]:
    """Yield the starter's lines on positions; adds to the guesses that nodes lack positions."""
    missing = _unplaced(path, positions_from, columns)
    if missing:
        guesses.append(f"the scenario uses no positions: {missing}")
    if positions_from is not None:
        line = f"positions = {_relative(positions_from, home)}"
        yield f"# {line}  # lacks nodes" if missing else line
    if missing and (positions_from is None or _unplaced(path, None, columns)):
        yield "partial_positions = true  # the file lacks nodes, and no position is used"


def _unplaced(path: Path, positions_from: Path | None, columns: LinkColumns) -> str:
    """Return the reason why a starter uses no positions, or "" if all nodes have a position."""
    try:
        read_network(path, columns, positions=positions_from, largest=True)
    except Problem as problem:
        if "no position" in problem.what:
            return problem.what
        raise
    return ""


def _ratios(
    path: Path, guess: TableGuess | None, network: Network, home: Path
) -> tuple[list[str], str]:
    """Return the starter's lines on measured reception ratios and their meaning, or no lines."""
    if guess is None or not guess.quality:
        return [], ""
    columns, why = guess.quality, ""
    scale = guess.scale
    # A quality from 0 to 255 may also be an LQI, which is not a ratio.
    known = scale in (1.0, 100.0) or (
        scale == 255.0 and all("tq" in column.lower() for column in columns)
    )
    if guess.less_is_better or not known:
        why = f"{' and '.join(columns)} is not a reception ratio"
    else:
        try:
            radio = IdealRadio(ratios=str(path), ratio_columns=columns, ratio_scale=scale)
            radio.made(network, None, 1)
        except Problem as problem:
            why = problem.what
    if why:
        return [], f"the radio loses no records, because {why}; set `success`"
    named = ", ".join(map(_quoted, columns))
    lines = [f"ratios = {_relative(path, home)}", f"ratio_columns = [{named}]"]
    if scale != 1.0:
        lines.append(f"ratio_scale = {scale:g}  # the value of a perfect link")
    return lines, "the radio loses records by the link quality"


def _moving(path: Path, home: Path) -> Starter:
    traces = read_motion(path)
    first, last = _span(traces)
    begin_s, end_s = _busy(traces, first, last)
    seconds = min(max(end_s - begin_s, 1.0), _LONGEST_S)
    middle_s = begin_s + seconds / 2.0
    there = motion.positions(traces.legs, middle_s)[present(traces.presence, middle_s)]
    radius = max(float(f"{distance_to_neighbours(there, _NEIGHBOURS):.2g}"), 1e-6)
    n = traces.legs.n
    lines = [
        "[network]",
        'kind = "recorded"',
        f"path = {_relative(path, home)}",
        f"radius = {radius:g}  # the range of a link, a guess: write the range of your radio",
        f"begin_s = {begin_s:.12g}  # the time of the file at which the run begins",
    ]
    guesses = [
        f"the run begins at {begin_s:.12g} s, and lasts {seconds:g} s; the file has {first:.12g} s "
        f"to {last:.12g} s",
        f"radius = {radius:g} gives about {_NEIGHBOURS} neighbours; write the range of your radio",
    ]
    return Starter(_assembled(path, lines, _radio([]), n, seconds), guesses, f"{n:,} nodes")


def _busy(traces: Traces, first: float, last: float) -> tuple[float, float]:
    """Return the start and the end, in seconds, of the time in which many nodes of a starter's
    movement exist.

    At both ends, at least half as many nodes exist as at the time with the most nodes.
    """
    step = (last - first) / _SAMPLES
    counts = [
        int(present(traces.presence, first + (k + 0.5) * step).sum()) for k in range(_SAMPLES)
    ]
    busy = [k for k, count in enumerate(counts) if 2 * count >= max(counts)]
    begin, end = first + busy[0] * step, first + (busy[-1] + 1) * step
    if busy[0] > 0 and step > 1.0:
        begin = float(math.ceil(begin))
    return begin, last if busy[-1] == _SAMPLES - 1 else math.floor(end)


def _span(traces: Traces) -> tuple[float, float]:
    """Return the first and the last time of a starter's movement at which a node moves."""
    begins, ends = traces.legs.t0.tolist(), traces.legs.t1.tolist()
    return min(begins), max(ends)


def _radio(ratios: list[str], delay_s: float = _DELAY_S) -> list[str]:
    losses = ratios or ["# success = 0.9  # each reception succeeds with this probability"]
    return [
        "[radio]  # other kinds: contention (shared medium), distance, wired",
        'kind = "ideal"',
        f"delay_s = {delay_s:g}  # of each hop",
        *losses,
    ]


def _wired(path: Path) -> list[str]:
    """Return the starter's radio of an underlay, whose positions are in km."""
    bandwidths = read_brite(path, largest=True).underlay.bandwidth_bps.tolist()
    known = [bandwidth for bandwidth in bandwidths if math.isfinite(bandwidth)]
    lines = [
        "[radio]  # other kinds: ideal, contention (shared medium), distance",
        'kind = "wired"',
        "delay_s = 0.001  # of each hop, beside its length",
        f"speed = {SPEED_OF_LIGHT_KM_S:g}  # km/s",
    ]
    if known:
        middle = median(known)
        lines.append(f"bandwidth = {middle:g}  # bit/s of every link, the median of the file")
    return lines


def _assembled(path: Path, network: list[str], radio: list[str], n: int, seconds: float) -> str:
    """Return the text of a starter for n nodes and a number of seconds."""
    start_s = 10.0 if seconds >= 40.0 else math.floor(seconds) / 4.0
    every_s = math.floor((seconds - start_s) * 0.75 / 30.0) if seconds >= 60.0 else 1.0
    if seconds < 40.0:
        every_s = max(seconds / 60.0, 0.01)
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
    """Return a file's name in a starter's comment, on one line."""
    return "".join(sign if sign.isprintable() else "?" for sign in name)


def _quoted(name: str) -> str:
    """Return a text of the first scenario as a string of TOML."""
    signs = {'"': '\\"', "\\": "\\\\"}
    return (
        '"'
        + "".join(
            signs.get(sign, sign if sign.isprintable() or sign == " " else f"\\U{ord(sign):08x}")
            for sign in name
        )
        + '"'
    )
