"""The repair of subscription tables: a broker and its child compare digests of filters, and correct
the differences.

We add this repair, because the paper does not say how a parent regains filters that it lost. After
a loss of memory or of records, a parent holds other filters for a child than the child forwarded. A
regular record of the child carries the digest of the forwarded filters. If the digest of the parent
differs, the parent sends the names of its filters for the child, and the child sends the forwarded
filters again.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NONE
from halfway.core.prng import low_half, mixed
from halfway.protocols.broker_trees.records.messages import FILTER, HELD, ORIGIN, UNSUBSCRIBE_UP
from halfway.protocols.broker_trees.tables.subscription_table import (
    FREE,
    is_complete,
    remove_slot,
    send_filter,
    send_name,
)


@apart
def filters_digest(table, b, via):
    """Return the digest that a broker and its child compare in the repair of their tables: of the
    filters held for the child, or of the filters that the broker forwarded if `via` is NONE.
    """
    word = np.uint64(0)
    for s in range(table.filter.shape[1]):
        counts = table.forwarded[b, s] == 1 if via == NONE else table.via[b, s] == via
        if counts and table.filter[b, s] != FREE and is_complete(table, b, s):
            word += mixed(np.uint64(table.filter[b, s] + 1))
    return low_half(word)


@apart
def send_held(table, sender, child, out):
    """Send a child, for the repair of its tables, the names of all filters that this broker holds
    for the child.
    """
    for s in range(table.filter.shape[1]):
        if table.filter[sender.broker, s] != FREE and table.via[sender.broker, s] == child:
            send_name(sender, HELD, table.filter[sender.broker, s], child, out)


@apart
def send_forwarded(table, sender, up, out):
    """Send the parent, for the repair of its table, all filters that it should hold for this
    broker.
    """
    for s in range(table.filter.shape[1]):
        if table.forwarded[sender.broker, s] == 1:
            send_filter(table, sender, s, up, out)


@apart
def on_held(table, sender, up, message, out):
    """Repair the parent's table: withdraw a filter that the parent still holds and that this broker
    does not forward any more.
    """
    if message.args[ORIGIN] != up:
        return
    for s in range(table.filter.shape[1]):
        here = table.filter[sender.broker, s] == message[FILTER]
        if here and table.forwarded[sender.broker, s] == 1:
            return
    send_name(sender, UNSUBSCRIBE_UP, message[FILTER], up, out)


@apart
def remove_all(table, sender, via, up, out):
    """Remove all subscriptions of the clients at a node from the broker's subscription table."""
    for s in range(table.filter.shape[1]):
        is_via = table.filter[sender.broker, s] != FREE and table.via[sender.broker, s] == via
        if is_via and table.client[sender.broker, s] != NONE:
            remove_slot(table, sender, s, up, out)
