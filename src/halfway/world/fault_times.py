"""The times of declared faults: the nodes and links that each declaration names, and when they are
down, paused or under attack.

Overlapping faults nest: a node or link that two faults take down recovers when the last one ends.
`outages.py` draws and merges the times.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.world import outages
from halfway.world.attacks import Attack, check_fields
from halfway.world.faults import Churn, Crash, Fault, LinkCut, Node, Partition, Pause
from halfway.world.graphs.network import LARGEST, Network
from halfway.world.outages import LATEST_S, FaultEvents, Outages

_MOST_CUTS = 10_000_000  # pairs that a partition may cut without a network
_MOST_OUTAGES = 10_000_000  # expected outages of a churn
_ATTACKS = {
    "black-hole": outages.BLACK_HOLE_BEGINS,
    "replay": outages.REPLAY_BEGINS,
    "flood": outages.FLOOD_BEGINS,
}
_LIES = {
    "all": outages.LIES_BEGIN,
    "hellos": outages.FALSE_HELLOS_BEGIN,
    "filters": outages.FULL_FILTERS_BEGIN,
}
_WORMHOLES = {True: outages.WORMHOLE_BEGINS, False: outages.DROPPING_WORMHOLE_BEGINS}


def schedule(
    faults: Sequence[Fault], network: Network | int, seed: int, seconds: float, since: float = 0.0
) -> FaultEvents:
    """Return the events of declared faults in [since, seconds); consecutive windows join to the
    whole.

    network: a network with links (and positions, for a partition by a line), or the number of nodes
    if links change over time. Then a cut pair has no link even while its nodes are in range. The
    random state depends on (seed, index of the fault, node). The end of an outage and the start of
    the next at the same instant cancel out. Raises Problem with field, value and allowed range.
    """
    n = _nodes(network)
    if n < 1:
        raise Problem(f"n = {n}: expected at least one node")
    if not 0 <= seed < 2**64:
        raise Problem(f"seed = {seed}: expected an integer from 0 to 2^64 - 1")
    if not 0.0 < seconds < LATEST_S:
        raise Problem(f"seconds = {seconds:g}: expected a positive, finite time")
    held, conduct = list[Outages](), defaultdict[int, list[Outages]](list)
    for index, fault in enumerate(faults):
        where = f"fault {index} ({fault.__struct_config__.tag})"
        word = outages.random_state_of(seed, index)
        match fault:
            case Crash():
                held.append(_with_memory(fault, _crash(fault, network, n, word, where)))
            case Churn():
                drawn = _churn(fault, n, word, seconds, since, where)
                held.append(_with_memory(fault, drawn))
            case Pause():
                paused = _pause(fault, network, word, (since, seconds), where)
                conduct[outages.NODE_PAUSED].append(paused)
            case Attack():
                attack = _attack(fault, network, word, index, where)
                conduct[_begins(fault)].append(attack)
            case LinkCut():
                held.append(_link_cut(fault, network, n, where))
            case Partition():
                held.append(_partition(fault, network, n, where))
    parts = [outages.events(down, seconds, since, begins) for begins, down in conduct.items()]
    return outages.in_order(outages.events(held, seconds, since), *parts)


def _nodes(network: Network | int) -> int:
    return network if isinstance(network, int) else network.n


def _with_memory(fault: Crash | Churn, of: Outages) -> Outages:
    if fault.memory == "kept":
        return of
    return of._replace(b=np.full(len(of.b), outages.LOST, np.int32))


def _crash(fault: Crash, network: Network | int, n: int, word: np.uint64, where: str) -> Outages:
    _check_times(fault.at, fault.for_, where)
    chosen = _one_or_share(fault, network, n, word, where)
    return outages.outages(chosen, np.full(len(chosen), -1, np.int32), fault.at, fault.for_)


def _begins(fault: Attack) -> int:
    """Return the kind of the event at which an attack begins."""
    if fault.kind == "liar":
        return _LIES[fault.lies]
    return _WORMHOLES[fault.relays_events] if fault.kind == "wormhole" else _ATTACKS[fault.kind]


def _attack(
    fault: Attack, network: Network | int, word: np.uint64, index: int, where: str
) -> Outages:
    """Return the attackers of a fault as outages, with the number that the engine or the workload
    needs in `b`: the other end of a wormhole, or the index of the fault.
    """
    _check_times(fault.at, fault.for_, where)
    check_fields(fault, LATEST_S, where)
    n = _nodes(network)
    chosen = _one_or_share(fault, network, n, word, where)
    other = np.full(len(chosen), index if fault.kind in ("replay", "flood") else -1, np.int32)
    if fault.kind == "wormhole":
        # In the order of the lots, so that a larger share keeps the pairs of a smaller share.
        pairs = len(chosen) // 2
        chosen, other = chosen[0 : 2 * pairs : 2], chosen[1 : 2 * pairs : 2]
        if fault.peer is not None and fault.node is not None:
            named = (("node", fault.node), ("peer", fault.peer))
            ends = [_rows([end], network, n, name, where)[0] for name, end in named]
            if ends[0] == ends[1]:
                what = f"node = peer = {fault.node}: expected two different nodes"
                raise Problem(what, where=where)
            chosen, other = np.array([[ends[0]], [ends[1]]], np.int32)
    return outages.outages(chosen, other, fault.at, fault.for_)


def _one_or_share(
    fault: Crash | Pause | Attack, network: Network | int, n: int, word: np.uint64, where: str
) -> npt.NDArray[np.int32]:
    """Return the rows of a fault of one node, or of a share of the nodes."""
    if (fault.node is None) == (fault.share is None):
        what, remedy = _not_one("node", "share", both=fault.node is not None)
        raise Problem(what, where=where, remedy=remedy)
    if fault.share is not None:
        return _chosen_rows(fault.share, n, word, where)
    assert fault.node is not None
    return np.array(_rows([fault.node], network, n, "node", where), np.int32)


def _pause(
    fault: Pause, network: Network | int, word: np.uint64, within: tuple[float, float], where: str
) -> Outages:
    """Return the outages of a pause fault, without those that end before `within` begins."""
    _check_times(fault.at, fault.for_, where)
    n, every_s, (since, seconds) = _nodes(network), fault.every_s, within
    chosen = _one_or_share(fault, network, n, word, where)
    if every_s is None:
        return outages.outages(chosen, np.full(len(chosen), -1, np.int32), fault.at, fault.for_)
    if not fault.for_ < every_s < LATEST_S:
        what = f"every_s = {every_s:g}: expected a finite time longer than for = {fault.for_:g}"
        raise Problem(what, where=where)
    first = max(math.floor((since - fault.at - fault.for_) / every_s), 0)
    last = max(math.ceil((seconds - fault.at) / every_s), first)
    if (last - first) * len(chosen) > _MOST_OUTAGES:
        what = f"{(last - first) * len(chosen):.3g} pauses: expected at most {_MOST_OUTAGES:,}"
        raise Problem(what, where=where, remedy="use a longer every_s")
    begin = np.tile(fault.at + every_s * np.arange(first, last), len(chosen))
    rows = np.repeat(chosen, last - first)
    return Outages(rows, np.full(len(rows), -1, np.int32), begin, begin + fault.for_)


def _churn(
    fault: Churn, n: int, word: np.uint64, seconds: float, since: float, where: str
) -> Outages:
    for name, mean in (("mean_up_s", fault.mean_up_s), ("mean_down_s", fault.mean_down_s)):
        if not 0.0 < mean < LATEST_S:
            raise Problem(f"{name} = {mean:g}: expected a positive, finite time", where=where)
    until = seconds if fault.until is None else fault.until
    if not 0.0 <= until < LATEST_S:
        raise Problem(f"until = {until:g}: expected a finite time >= 0", where=where)
    chosen = _chosen_rows(fault.share, n, word, where)
    means = float(fault.mean_up_s), float(fault.mean_down_s)
    expected = len(chosen) * max(min(until, seconds) - since, 0.0) / (means[0] + means[1])
    if expected > _MOST_OUTAGES:
        what = f"about {expected:.3g} outages: expected at most {_MOST_OUTAGES:,}"
        raise Problem(what, where=where, remedy="use a longer mean_up_s or mean_down_s")
    return outages.churn_outages(chosen, word, *means, float(min(until, seconds)), since)


def _link_cut(fault: LinkCut, network: Network | int, n: int, where: str) -> Outages:
    _check_times(fault.at, fault.for_, where)
    pair = (("a", fault.a), ("b", fault.b))
    low, high = sorted(_rows([node], network, n, name, where)[0] for name, node in pair)
    if low == high:
        raise Problem(f"a = b = {fault.a}: expected two different nodes", where=where)
    if isinstance(network, Network) and high not in network.neighbours(low):
        raise Problem(f"a = {fault.a}, b = {fault.b}: expected two linked nodes", where=where)
    a, b = np.array([[low], [high]], np.int32)
    return outages.outages(a, b, fault.at, fault.for_)


def _partition(fault: Partition, network: Network | int, n: int, where: str) -> Outages:
    _check_times(fault.at, fault.for_, where)
    if (fault.line is None) == (fault.nodes is None):
        what, remedy = _not_one("line", "nodes", both=fault.line is not None)
        raise Problem(what, where=where, remedy=remedy)
    if fault.line is not None:
        left = _left_of(fault.line, network, where)
    else:
        left = np.zeros(n, bool)
        left[_rows(fault.nodes or (), network, n, "nodes", where)] = True
    if isinstance(network, Network):
        a = np.repeat(np.arange(n, dtype=np.int32), network.degree)
        cut = (a < network.who) & (left[a] != left[network.who])
        return outages.outages(a[cut], network.who[cut], fault.at, fault.for_)
    first, other = np.flatnonzero(left), np.flatnonzero(~left)
    if len(first) * len(other) > _MOST_CUTS:
        what = f"{len(first)} nodes cut from {len(other)}: expected at most {_MOST_CUTS:,} pairs"
        raise Problem(what, where=where, remedy="use a network with links, or fewer nodes")
    first, other = np.repeat(first, len(other)), np.tile(other, len(first))
    a, b = np.minimum(first, other).astype(np.int32), np.maximum(first, other).astype(np.int32)
    return outages.outages(a, b, fault.at, fault.for_)


def _left_of(
    line: tuple[float, float, float, float], network: Network | int, where: str
) -> npt.NDArray[np.bool_]:
    x0, y0, x1, y1 = line
    if not all(abs(value) < LARGEST for value in line) or (x0, y0) == (x1, y1):
        raise Problem(f"line = {line}: expected two different, finite points", where=where)
    if isinstance(network, int) or network.position is None:
        what = f"line = {line}: expected a network with positions"
        raise Problem(what, where=where, remedy="list the nodes of one side instead")
    x, y = network.position.T
    return np.asarray((x1 - x0) * (y - y0) - (y1 - y0) * (x - x0) > 0.0)


def _not_one(first: str, second: str, *, both: bool) -> tuple[str, str]:
    """Return the text and the remedy for a fault with both of two fields, or with none of them."""
    given = (
        f"{first} and {second} are both given" if both else f"neither {first} nor {second} is given"
    )
    remedy = f"leave out {first} or {second}" if both else f"give either {first} or {second}"
    return f"{given}: expected exactly one of the two", remedy


def _check_times(at: float, for_: float | None, where: str) -> None:
    if not 0.0 <= at < LATEST_S:
        raise Problem(f"at = {at:g}: expected a finite time >= 0", where=where)
    if for_ is not None and not 0.0 < for_ < LATEST_S:
        raise Problem(f"for = {for_:g}: expected a positive, finite time", where=where)


def _rows(
    nodes: Iterable[Node], network: Network | int, n: int, name: str, where: str
) -> list[int]:
    """Return the rows that a fault names by label; in a network with labels a number is a label."""
    if isinstance(network, int) or network.labels is None:
        return [_as_row(node, n, name, where) for node in nodes]
    known = {str(label): row for row, label in enumerate(network.labels.tolist())}
    labels = [str(node) for node in nodes]
    try:
        # For an unknown label, `network.row` raises Problem with some known labels.
        return [
            known[row_label] if row_label in known else network.row(row_label)
            for row_label in labels
        ]
    except Problem as problem:
        raise Problem(f"{name}: {problem.what}", where=where, remedy=problem.remedy) from None


def _as_row(node: Node, n: int, name: str, where: str) -> int:
    row = -1 if isinstance(node, str) and not (node.isascii() and node.isdecimal()) else int(node)
    if not 0 <= row < n:
        raise Problem(f"{name} = {node}: expected a node from 0 to {n - 1}", where=where)
    return row


def _chosen_rows(share: float, n: int, word: np.uint64, where: str) -> npt.NDArray[np.int32]:
    if not 0.0 <= share <= 1.0:
        raise Problem(f"share = {share:g}: expected 0 to 1", where=where)
    return outages.drawn_rows(round(share * n), n, word)
