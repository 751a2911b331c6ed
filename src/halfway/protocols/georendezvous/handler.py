"""The handler of GeoRendezvous [geo §2]: topics meet at rendezvous points, found by Cell Hash
Routing.

Publishers advertise at the homes of all points of a topic. Subscribers subscribe at the closest
points. Each event travels through the point with the fewest hops. All entries are soft state.

We let every member of a cell store all keys of the cell, because a message may reach any member.
The option `replicas` divides the keys between members. We let a newcomer listen before it becomes a
member. When a cell becomes populated or empty, a home changes, and we move the keys, because
subscribers would otherwise wait for their next renewal. The paper forwards the messages of
subscribers to publishers. We send WANTED and UNWANTED instead, because a publisher only needs to
know whether a subscriber exists.
"""

from halfway.core.compiled import apart
from halfway.core.handler import handles
from halfway.core.missing import NO_PLACE
from halfway.core.options import Option, count, seconds
from halfway.protocols.georendezvous import bridges, cell_membership, messages
from halfway.protocols.georendezvous.cell_neighbours import OWN
from halfway.protocols.georendezvous.clients import (
    advertise,
    begin_numbers,
    next_version,
    publish,
    receive,
    receive_report,
    renew,
    subscribe,
)
from halfway.protocols.georendezvous.rehoming import forget_home, rehome
from halfway.protocols.georendezvous.rendezvous_cell import notify, store_entry, store_replica
from halfway.protocols.georendezvous.replication import ALL, first_replica, is_replica
from halfway.protocols.georendezvous.routing import (
    addressed_cell,
    cell_of_sender,
    copy_of,
    forward,
    hop,
    reroute,
    to_client,
)
from halfway.protocols.georendezvous.rules import MOST_HOPS, MOST_POINTS, Rules
from halfway.protocols.georendezvous.state import NO_ROUTE, CellState, shortfalls, state
from halfway.protocols.parts import deaf_neighbours, reliable_hop
from halfway.protocols.parts.application import PUBLISH, SUBSCRIBE, UNSUBSCRIBE
from halfway.protocols.parts.link_test import LINK_TEST
from halfway.protocols.parts.reliable_hop import (
    ACK_BACKOFF_OPTION,
    ACK_TIMEOUT_OPTION,
    RETRIES_OPTION,
)

__all__ = [
    "KINDS",
    "OPTIONS",
    "Rules",
    "State",
    "handle",
    "limits",
    "most_emissions",
    "shortfalls",
    "state",
]

MAP_CELL_SIDE = "side"
NEIGHBOUR_HOPS = 0  # no node reads its neighbour list
OPTIONS = {
    "points": count(8, "number of rendezvous points of a topic (n in the paper)", 1, MOST_POINTS),
    "tried": count(
        2,
        "number of closest rendezvous points that a subscriber tries (m in the paper)",
        1,
        MOST_POINTS,
    ),
    "beacon_interval_s": seconds(1.0, "between two beacons of a node", 1e-6),
    "renewal_interval_s": seconds(
        10.0, "between two renewals of an advertisement or subscription", 1e-6
    ),
    "lifetime_s": seconds(25.0, "after which an entry without renewal expires", 1e-6),
    "join_listen_s": seconds(
        0.5, "that a newcomer listens before it becomes a member of a cell", 1e-6
    ),
    "max_hops": count(2000, "number of transmissions after which a message ends", 1, MOST_HOPS),
    "replicas": count(0, "number of cell members that store a key. 0 means all members", 0, 1000),
    "retries": RETRIES_OPTION,
    "ack_timeout_s": ACK_TIMEOUT_OPTION._replace(low=1e-6),
    "ack_backoff": ACK_BACKOFF_OPTION,
    "home_memory_s": seconds(
        20.0,
        "for which a cell remembers that it is a home. 0 means that each message searches for "
        "the home again",
        0.0,
    ),
    "bridges": count(
        24,
        "largest number of empty cells that a node joins to link cells that do not touch",
        0,
        64,
    ),
    "reach_margin": Option(
        0.0,
        0.0,
        0.9,
        "share of the reach by which Halfway makes cells smaller. Use more than 0 for moving nodes",
    ),
}

KINDS = messages.KINDS
State = CellState


def most_emissions(state: CellState, rules: Rules, requested: int | None = None) -> int:
    """Return the most records that one call of GeoRendezvous's `handle` emits.

    requested: most topics on which the node's application publishes, and most topics to which it
    subscribes; None: all topics.
    """
    renewed = 2 * state.advertised.shape[1] * rules.points
    if requested is not None:
        renewed = requested * (rules.points + rules.tried)
    entries = 2 * state.store.shape[1] + state.traversals.shape[1] + state.neighbours.shape[1]
    bridged = 4 * state.bridges.shape[1]
    most = entries + renewed + 8 + bridged
    return int(most if rules.retries == 0 else 2 * most)  # each record has an acknowledgement timer


def limits(state: CellState, rules: Rules) -> dict[str, int]:
    """Return the limits that ranges in the records of GeoRendezvous's handler refer to."""
    return {"topics": state.advertised.shape[1], "points": rules.points}


@apart
def pass_to_replica(state, rules, i, message, out):
    """Pass a message that is at its home to the cell member that stores the key; return True if
    another member stores it.
    """
    topic, point = message.topic, message.args[messages.POINT]
    if rules.replicas == ALL or to_client(message.kind):
        return False
    if is_replica(state, rules, i, state.node_id[i], topic, point):
        return False
    if message.args[messages.HOPS] >= rules.max_hops:
        state.lost[i, NO_ROUTE] += 1
        return True
    o = copy_of(message, message.kind, state.node_id[i], out)
    hop(state, rules, i, o, first_replica(state, rules, i, topic, point), OWN, out)
    return True


@apart
def arrived(state, rules, i, message, out):
    """Handle a message that has arrived at its destination, in GeoRendezvous's handler."""
    kind, topic, point = message.kind, message.topic, message.args[messages.POINT]
    if pass_to_replica(state, rules, i, message, out):
        return
    if kind in (messages.ADVERT, messages.INTEREST, messages.PRUNE):
        store_entry(state, rules, i, message, out)
    elif kind == messages.NOTIFY:
        notify(state, rules, i, message, out)
    elif kind == messages.REHOME:
        x, y = state.cell[i, 0], state.cell[i, 1]
        forget_home(state, rules, i, topic, point, message.at, out)
        rehome(state, rules, i, topic, point, x, y, message.at, out)
    elif message.target != state.node_id[i]:
        return  # the client has left, and its entries will expire
    elif kind == messages.NOTIFY_CLIENT:
        receive(state, rules, i, message, out)
    elif kind == messages.WANTED or kind == messages.UNWANTED:
        receive_report(state, rules, i, message)


@apart
def on_timer(state, rules, neighbourhood, i, message, out):
    """Handle a timer, from READY to ANNOUNCE, unless an earlier start set the timer."""
    if message.args[messages.STARTS] != state.starts[i]:
        return
    if message.kind == messages.READY:
        cell_membership.become_member(state, rules, i, message, out)
        renew(state, rules, i, next_version(state, i), out)
    elif message.kind == messages.ANNOUNCE:
        bridges.announce_soon(state, i, out)
    elif message.kind == messages.BEACON:
        cell_membership.beacon(state, rules, neighbourhood, i, message, out)
    else:
        if state.present[i] == 1:
            renew(state, rules, i, 0.0, out)
        cell_membership.start_timer(state, i, messages.RENEW, rules.renewal_interval_s, out)


@apart
def on_command(state, rules, i, message, out):
    """Handle a command of the application in GeoRendezvous's handler; a newcomer handles commands
    after READY.
    """
    topic = message.topic
    if message.kind == PUBLISH:
        publish(state, rules, i, message, out)
    elif message.kind == SUBSCRIBE:
        state.subscribed[i, topic] = 1
        if state.present[i] == 1:
            subscribe(state, rules, i, topic, next_version(state, i), out)
    elif message.kind == messages.ADVERTISE:
        state.advertised[i, topic] = 1
        if state.present[i] == 1:
            advertise(state, rules, i, topic, out)
    elif message.kind == UNSUBSCRIBE:
        state.subscribed[i, topic] = 0  # the node stops renewing the subscription
    elif message.kind == messages.UNADVERTISE:
        state.advertised[i, topic] = 0
    elif state.present[i] == 1:  # LEAVE
        cell_membership.leave(state, rules, i, message, out)
        state.starts[i] += 1


@apart
def hear_neighbour(state, rules, i, message, out):
    """Handle a record about cells, unless its sender does not hear row i. A node that starts, or
    that answers row i, may hear row i again.
    """
    if message.kind in (messages.JOIN, messages.HERE):
        deaf_neighbours.unmark(state.deaf, i, message.source)
    elif message.kind != messages.GONE and deaf_neighbours.ignores(
        state.deaf, state.hops, rules, i, message, rules.beacon_interval_s, out
    ):
        return
    cell_membership.on_neighbour(state, rules, i, message, out)


@apart
def on_ack_timeout(state, rules, i, message, out):
    """Handle ACK_TIMEOUT: retransmit the hop. After the last retry, begin the hop again if its
    receiver is not in doubt yet, and else reroute the message.
    """
    place = reliable_hop.overdue(state.hops, rules, i, message, messages.AGES, out)
    if place == NO_PLACE:
        return
    record, now = state.hops.record[i, place], message.at
    if record.kind != LINK_TEST:
        # Without a neighbour, its cell may seem empty. Then a route ends at a wrong home, and the
        # cell there remembers this home. So one hop that failed by chance must not suffice.
        if deaf_neighbours.doubt(state.deaf, i, record.next, now):
            deaf_neighbours.begin_again(state.hops, rules, i, place, now, messages.AGES, out)
            return
        deaf_neighbours.mark_deaf(state.deaf, i, record.next, now)
    if messages.ADVERT <= record.kind <= messages.NOTIFY_CLIENT:
        bridges.act_in(state, i, *cell_of_sender(record))
        reroute(state, rules, i, place, out)
        bridges.act_at_home(state, i)
    else:
        reliable_hop.release(state.hops, i, place)


@apart
def on_carried(state, rules, i, message, out):
    """Handle a message that has arrived in the cell to which Cell Hash Routing sent it."""
    if reliable_hop.acknowledge_if_asked(state.hops, i, message, out):
        return
    if message.kind == messages.REPLICATE:
        bridges.act_in(state, i, message.args[messages.CELL_X], message.args[messages.CELL_Y])
        store_replica(state, rules, i, message, out)
    elif to_client(message.kind) and message.target == state.node_id[i]:
        arrived(state, rules, i, message, out)
    else:
        bridges.act_in(state, i, *addressed_cell(message))
        if message["flags"] & messages.ARRIVED:
            arrived(state, rules, i, message, out)
        else:
            forward(state, rules, i, message, out)
    bridges.act_at_home(state, i)


@handles(CellState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of GeoRendezvous."""
    kind = message.kind
    state.clock[i] = message.at
    if messages.ADVERT <= kind <= messages.NOTIFY_CLIENT or kind == messages.REPLICATE:
        on_carried(state, rules, i, message, out)
    elif kind == reliable_hop.ACK:
        reliable_hop.complete(state.hops, i, message)
        deaf_neighbours.unmark(state.deaf, i, message.source)
    elif kind == LINK_TEST:
        reliable_hop.acknowledge(state.hops, i, message, out)
    elif kind == reliable_hop.ACK_TIMEOUT:
        on_ack_timeout(state, rules, i, message, out)
    elif messages.JOIN <= kind <= messages.GONE or kind in (
        messages.LABELLED_HELLO,
        messages.BRIDGES,
    ):
        hear_neighbour(state, rules, i, message, out)
    elif messages.READY <= kind <= messages.ANNOUNCE:
        on_timer(state, rules, neighbourhood, i, message, out)
    elif kind == messages.START:
        begin_numbers(state, i, message.incarnation)
        deaf_neighbours.unmark_all(state.deaf, i)
        cell_membership.start(state, rules, neighbourhood, i, out)
    elif kind in (PUBLISH, SUBSCRIBE, UNSUBSCRIBE) or messages.ADVERTISE <= kind <= messages.LEAVE:
        on_command(state, rules, i, message, out)
