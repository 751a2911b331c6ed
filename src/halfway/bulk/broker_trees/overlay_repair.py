"""The leave of a broker, and the repair of a bulk overlay a time τ after failures [uas §4,
Algorithm 2 and §4.1].

Operations run one at a time, as the transactions of the paper in a given order.
"""

from collections.abc import Iterator

from halfway.bulk.broker_trees.broker_overlay import (
    NO_BROKER,
    Broker,
    Overlay,
    connected,
    is_served,
)
from halfway.bulk.broker_trees.join import attach, choose_second, choose_upper, nearest, retry_below
from halfway.protocols.broker_trees.paths import decisions
from halfway.protocols.broker_trees.paths.decisions import FALLBACKS, fallback
from halfway.world.underlays.routes import Tree, shortest


def leave(overlay: Overlay, number: int) -> None:
    """[uas §4, Algorithm 2] Let a broker leave the bulk overlay: its children join its parent, and
    paths are repaired.

    For a dead broker its parent does this on its behalf, from its replica [uas §4.1]. The paper
    assumes one failure at a time. If the parent is dead as well, we let the children join the next
    live broker above. The last broker leaves an empty overlay.
    """
    children = overlay.children(number)
    if number == overlay.root:
        _succeed(overlay, children)
        del overlay.brokers[number]
    else:
        alive = filter(overlay.is_up, overlay.ancestors(number))
        above = next(alive, overlay[number].parent)
        for child in children:
            attach(overlay, overlay[child], above)
        del overlay.brokers[number]
    renew_paths(overlay)


def _succeed(overlay: Overlay, children: list[int]) -> None:
    # The paper does not describe the death of the root. We make the first live child of the root
    # its successor, which the other children join. Every child of the root knows the other children
    # from its Join.
    overlay.root = successor = next(filter(overlay.is_up, children), (*children, NO_BROKER)[0])
    if successor == NO_BROKER:
        return
    root = overlay[successor]
    root.parent = root.alternate = root.grandparent = NO_BROKER
    root.direct = root.second = root.upper = None
    for child in children:
        if child != successor:
            attach(overlay, overlay[child], successor)


def repair(overlay: Overlay) -> None:
    """Repair the bulk overlay a time τ after failures [uas §4.1].

    Dead brokers leave; a broker whose direct path is dead joins another parent; brokers choose lost
    alternates and grandparents again. Where the underlay has no path left, a broker keeps its
    parent and tries again at the next call.
    """
    for number in sorted(overlay.brokers):
        if not overlay.is_up(number) and len(overlay.brokers) > 1:
            leave(overlay, number)
    for number in sorted(overlay.brokers):
        broker = overlay[number]
        if number != overlay.root and overlay.is_up(number) and not is_served(overlay, broker):
            _join_again(overlay, broker)
    renew_paths(overlay)


def _join_again(overlay: Overlay, broker: Broker) -> None:
    tree = shortest(overlay.underlay.network, overlay.hop, broker.row, overlay.closed)
    for parent in _fallback_parents(overlay, broker, tree):
        valid = overlay.is_up(parent) and not overlay.is_below(parent, broker.number)
        if valid and tree.parent[overlay[parent].row] >= 0:
            attach(overlay, broker, parent, tree)
            return


def _fallback_parents(overlay: Overlay, broker: Broker, tree: Tree) -> Iterator[int]:
    """Yield the brokers that the repair of an overlay tries as the next parent of a broker, in the
    order of `fallback`.

    The repair tries the old parent by a new route. Of all other brokers it tries the nearest broker
    that still reaches the root.
    """
    parent = overlay.brokers.get(broker.parent)
    grandparent = parent.parent if parent is not None else NO_BROKER
    alternate_first = overlay.rules.fallback == "alternate"
    # Candidates must reach the root. Otherwise a broker could join a broker that waits for it.
    served = connected(overlay)
    known = {
        decisions.GRANDPARENT: grandparent,
        decisions.ALTERNATE: broker.alternate,
        decisions.PARENT: broker.parent,
    }
    for attempt in range(FALLBACKS):
        which = fallback(attempt, alternate_first)
        if which == decisions.OTHERS:
            others = sorted(n for n in served if not overlay.is_below(n, broker.number))
            yield nearest(overlay, tree, others)
        elif known[which] in served:
            yield known[which]


def renew_paths(overlay: Overlay) -> None:
    """Repair every alternate and grandparent path of the overlay that is gone, dead or no longer
    valid.

    [uas §4, Algorithm 2] "Reset GrandParent()", "Choose Alternate()". An alternate is valid
    while it is a neighbour of the parent in the tree and not below the broker.
    """
    for number in sorted(overlay.brokers):
        broker = overlay[number]
        if number == overlay.root or not overlay.is_up(number):
            continue
        if _second_is_gone(overlay, broker):
            choose_second(overlay, broker)
        grandparent = overlay[broker.parent].parent
        upper = broker.upper
        if broker.grandparent != grandparent or upper is None or not upper.is_open(overlay.closed):
            choose_upper(overlay, broker)
    if overlay.rules.retry:
        for number in sorted(overlay.brokers):
            retry_below(overlay, number)


def _second_is_gone(overlay: Overlay, broker: Broker) -> bool:
    second = broker.second
    if second is None or not second.is_open(overlay.closed):
        return True
    if broker.alternate == NO_BROKER:
        return False
    near = overlay.is_up(broker.alternate) and broker.alternate in overlay.neighbours(broker.parent)
    return not near or overlay.is_below(broker.alternate, broker.number)
