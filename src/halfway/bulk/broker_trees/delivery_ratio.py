"""The delivery ratio of a bulk broker tree [uas Fig. 5] while parts of the underlay fail.

`docs/decisions/0020` describes the four fault models.
"""

from itertools import pairwise
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from halfway.bulk.broker_trees.broker_overlay import (
    NO_BROKER,
    NextHop,
    Overlay,
    check_known,
    connected,
    next_hop_up,
    next_hops_up,
    tops,
)
from halfway.bulk.broker_trees.join import nearest
from halfway.bulk.broker_trees.overlay_repair import repair
from halfway.problem import Problem
from halfway.world.underlays.routes import all_open, shortest
from halfway.world.workload.content import Content

# Elements that may fail [uas Table 2, "Failure distribution random"]. used: nodes and links under
# the direct paths, which both systems have. The node of the root never fails.
FaultModel = Literal["links", "nodes", "used", "brokers"]
TreeSystem = Literal["siena", "underlay-siena"]
# The reaction of the clients of a dead broker to a repair. We add "move": the clients attach to the
# nearest live broker.
ClientPolicy = Literal["stay", "move"]
Element = tuple[int, int]  # the two rows of a link, or the row of a node twice
FAULT, DETECTED, REPAIR, END = 0, 1, 2, 3
_Moment = tuple[float, int, Element | None]  # share of the run, kind of the moment, failing element


def draw_faults(overlay: Overlay, where: FaultModel, count: int, seed: int) -> list[Element]:
    """Draw distinct elements that fail one after another during the measurement of the delivery
    ratio. With the same seed, a smaller draw is a prefix of a larger draw.

    Raises Problem if there are too few elements.
    """
    check_known("where", where, get_args(FaultModel))
    network, owner = overlay.underlay.network, overlay.underlay.owner
    root = overlay[overlay.root].row
    links = np.column_stack((owner, network.who)).astype(np.int64)[owner < network.who]
    nodes = np.flatnonzero(np.arange(network.n) != root)
    if where == "links":
        elements = links
    elif where == "nodes":
        elements = np.column_stack((nodes, nodes))
    elif where == "brokers":
        rows = np.array([b.row for b in overlay.brokers.values() if b.row != root])
        elements = np.column_stack((rows, rows))
    else:
        elements = _used(overlay, root)
    if count > len(elements):
        what = f"count = {count}: expected at most {len(elements)} faults"
        raise Problem(f"{what}, because only {len(elements)} elements can fail")
    order = np.random.default_rng(seed).permutation(len(elements))[:count]
    return [(int(a), int(b)) for a, b in elements[order]]


def _used(overlay: Overlay, root: int) -> npt.NDArray[np.int64]:
    found: set[Element] = set()
    for broker in overlay.brokers.values():
        if broker.direct is not None:
            rows = broker.direct.rows.tolist()
            found.update((row, row) for row in rows if row != root)
            found.update((min(pair), max(pair)) for pair in pairwise(rows))
    return np.array(sorted(found), np.int64)


def delivered_share(
    overlay: Overlay, system: TreeSystem, content: Content, faults: list[Element], *,
    tau: float = 0.01, repairs: bool = True, clients: ClientPolicy = "stay", detection: float = 0.0,
    loss: float = 0.0,
) -> float:  # fmt: skip
    """Return the delivery ratio of a bulk broker tree: the delivered notifications as a share of
    all that exhaustive search would deliver.

    The faults occur one after another, evenly over the run, and stay. Unmodified SIENA never
    changes. The underlay-aware system fails over `detection` (a share of the run) after each fault,
    and loses messages on dead paths before. With `repairs`, it repairs the overlay `tau` (a share
    of the run) after the fault. Events in flight at a fault do not count as lost. Clients of a dead
    broker stay, so that both systems lose their notifications, or move with the next repair. loss:
    probability that a link of the underlay loses a message; the result is then an expected share.
    The function changes the overlay. Raises Problem for an unknown system, and for a
    detection after the repair or the next fault.
    """
    check_known("system", system, get_args(TreeSystem))
    total = int(content.wanted.sum())
    if total == 0:
        return 1.0
    aware = system == "underlay-siena"
    moments = _moments(faults, tau if repairs else None, detection, aware)
    rows = {number: broker.row for number, broker in overlay.brokers.items()}
    chosen: dict[int, NextHop] | None = None
    arrived, begun = 0.0, 0
    for at, what, fault in [*moments, (np.inf, END, None)]:
        ended = int(np.searchsorted(content.at, at))
        arrived += _arrived(overlay, system, content, slice(begun, ended), chosen, loss)
        begun = ended
        if fault is not None:
            chosen = _next_hops(overlay) if detection else None
            fail_element(overlay, fault)
        elif what == DETECTED:
            chosen = None
        elif what == REPAIR:
            repair(overlay)
            if clients == "move":
                content = moved(overlay, content, rows)
    return arrived / total


def _moments(
    faults: list[Element], tau: float | None, detection: float, aware: bool
) -> list[_Moment]:
    """Return the moments at which the delivery ratio changes, in order: the faults, and the
    detections and repairs of a tree that is `aware` of its underlay. tau: None without repairs.

    Raises Problem for a detection after the repair or after the next fault.
    """
    spacing = 1.0 / (len(faults) + 1)
    latest = min(spacing, spacing if tau is None else tau)
    if detection and not 0 < detection < latest:
        raise Problem(
            f"detection = {detection:g}: expected 0 or more, below {latest:g} (the time to the "
            "repair or to the next fault)"
        )
    moments: list[_Moment] = [(spacing * (k + 1), FAULT, fault) for k, fault in enumerate(faults)]
    times = [at for at, *_ in moments]
    if aware and detection:
        moments += [(at + detection, DETECTED, None) for at in times]
    if aware and tau is not None:
        moments += [(at + tau, REPAIR, None) for at in times]
    return sorted(moments, key=lambda moment: moment[0])


def _next_hops(overlay: Overlay) -> dict[int, NextHop]:
    return {number: next_hop_up(overlay, broker) for number, broker in overlay.brokers.items()}


def moved(overlay: Overlay, content: Content, rows: dict[int, int]) -> Content:
    """Return, for the delivery ratio, the workload of a bulk broker tree after the clients of each
    dead broker moved to the nearest broker that reaches the root. Without such a broker they stay.
    rows: rows of the brokers.
    """
    # The paper does not mention these clients. We let them attach elsewhere.
    served = sorted(connected(overlay))
    goes = np.arange(content.wanted.shape[1])
    wanted = content.wanted.copy()
    network = overlay.underlay.network
    for number, row in rows.items():
        if not overlay.is_up(number) and wanted[:, number].any():
            # A client is next to its broker, and not on the same node. So the failed node does not
            # block the path of the client.
            other = nearest(overlay, shortest(network, overlay.hop, row, all_open(network)), served)
            if other != NO_BROKER:
                goes[number] = other
                wanted[:, other] += wanted[:, number]
                wanted[:, number] = 0
    publisher, home = goes[content.publisher], goes[content.home]
    return content._replace(home=home, publisher=publisher, wanted=wanted)


def fail_element(overlay: Overlay, fault: Element) -> None:
    """Let an element of the underlay fail during the measurement of the delivery ratio."""
    a, b = fault
    if a == b:
        overlay.set_row(a, down=True)
    else:
        overlay.set_link(a, b, down=True)


def _arrived(
    overlay: Overlay,
    system: TreeSystem,
    content: Content,
    events: slice,
    chosen: dict[int, NextHop] | None,
    loss: float,
) -> float:
    if events.start >= events.stop:
        return 0.0
    top = np.full(content.wanted.shape[1], NO_BROKER)
    highest = tops(overlay, aware=system == "underlay-siena", chosen=chosen)
    top[list(highest)] = list(highest.values())
    together = (top[:, None] == top[None, :]) & (top[:, None] != NO_BROKER)
    arrives = together * _survival(overlay, system, content.wanted.shape[1], chosen, loss)
    return float((content.wanted[events] * arrives[content.publisher[events]]).sum())


def _survival(
    overlay: Overlay,
    system: TreeSystem,
    brokers: int,
    chosen: dict[int, NextHop] | None,
    loss: float,
) -> npt.NDArray[np.float64] | float:
    """Return the probability [brokers, brokers] that a message survives all links of a bulk broker
    tree between two live brokers, up to their first common ancestor and down.
    """
    if loss == 0.0:
        return 1.0
    aware = system == "underlay-siena"
    kept = np.zeros((brokers, brokers))
    for number, (above, hops) in _downwards(next_hops_up(overlay, aware=aware, chosen=chosen)):
        if above != NO_BROKER:
            kept[number] = kept[:, number] = kept[above] * (1.0 - loss) ** hops
        kept[number, number] = 1.0
    return kept


def _downwards(up: dict[int, tuple[int, int]]) -> list[tuple[int, tuple[int, int]]]:
    """Return the brokers in the order in which the delivery ratio counts them, with their parents:
    each parent precedes its children.
    """
    order = list[int]()
    for number in up:
        chain, at = list[int](), number
        while at != NO_BROKER and at not in chain and at not in order:
            chain.append(at)
            at = up[at][0]
        order += chain[::-1]
    return [(number, up[number]) for number in order]
