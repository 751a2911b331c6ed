"""The guarantees of a broker's paths in the bulk overlay: levels, and the premise of the lemma."""

import numpy as np

from halfway.bulk.broker_trees.broker_overlay import NO_BROKER, Broker, Overlay


def has_second(broker: Broker) -> bool:
    """Return whether the paths x and y that a broker needs for a guarantee exist and share only
    their ends.
    """
    if broker.direct is None or broker.second is None:
        return False
    inner, others = broker.direct.rows[1:-1], broker.second.rows
    # Two paths without a common inner node share a link only if both paths are this link.
    return not np.isin(inner, others).any() and (len(inner) > 0 or len(others) != 2)


def has_upper(overlay: Overlay, broker: Broker) -> bool:
    """Return whether the path z that a broker needs for a guarantee exists and avoids the parent.

    True for a child of the root, because the paper omits the death of the root.
    """
    if broker.parent == overlay.root:
        return True
    if broker.upper is None or broker.parent not in overlay.brokers:
        return False
    above = overlay[broker.parent]
    return broker.grandparent == above.parent and above.row not in broker.upper.rows


def level(overlay: Overlay, number: int) -> int:
    """Return the level of guarantee that a broker's own paths in the bulk overlay give: 3 = x, y,
    z; 2 = x, y; 1 = x, z; 0 = x or no path.

    The root has 3. `guarantee` takes the brokers above into account.
    """
    if number == overlay.root:
        return 3
    broker = overlay[number]
    if broker.direct is None:
        return 0
    return 2 * has_second(broker) + has_upper(overlay, broker)


def guarantee(overlay: Overlay, number: int) -> int:
    """Return the least level of guarantee from a broker up to the overlay's root; 3 survives single
    failures.
    """
    return min(level(overlay, each) for each in (number, *overlay.ancestors(number)))


def meets_premise(overlay: Overlay, broker: Broker) -> bool:
    """[uas §4.2] Return whether the lemma's premise holds: x, y and z exist, disjoint, z without C.

    Disjoint paths share only the broker itself and the parent, where x and y end.
    """
    x, y, z = broker.direct, broker.second, broker.upper
    if x is None or y is None or z is None or not has_second(broker):
        return False
    if broker.parent == NO_BROKER or overlay[broker.parent].row in z.rows:
        return False
    return not (np.isin(x.rows[1:], z.rows[1:]).any() or np.isin(y.rows[1:], z.rows[1:]).any())
