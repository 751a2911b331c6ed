"""How long a broker of the underlay-aware tree waits for an answer on a path: as long as the
options state, or longer on a path with a long round trip.

[uas §4.1] a broker detects a failure because an answer is missing. The paper states no time. A
broker that waited less than a round trip would take every parent for dead. [Jacobson 1988] TCP
derives its timeout from measured round trips. We let a broker do the same: it knows the round trip
on a path from the search that found the path, and then from its PINGs.
"""

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE
from halfway.protocols.broker_trees.paths.circuits import SORTS, way_back
from halfway.protocols.broker_trees.paths.decisions import DIRECT, SECOND
from halfway.protocols.broker_trees.paths.peer_paths import note_trip, rounded_s
from halfway.protocols.broker_trees.records.messages import NUMBER, ORIGIN, ROUTE
from halfway.protocols.parts.row_search import place_in_row

_ROUND_TRIPS = 2.0  # that a broker waits at least for a confirmation, because queues change
# Later PINGs that a broker may have sent before an answer. A still older answer is a replay.
_MOST_LATER = 64


@apart
def trip_s(state, sender, peer, path):
    """Return the round trip in seconds on a path of a broker to its parent or to a child: the
    latest of the PINGs, or else that of the search that found the direct path; 0 if unknown.
    """
    b = sender.broker
    s = place_in_row(sender.paths.peer, b, peer)
    by_pings_s = sender.paths.trip_s[b, s, path] if s >= 0 else 0.0
    searched = by_pings_s == 0.0 and path == DIRECT and state.found[b] == peer
    return state.found_s[b] if searched else by_pings_s


@apart
def in_flight(state, rules, sender, path):
    """Return how many PINGs a broker sends to its parent on a path before the answer to the first
    one is due.
    """
    up_s = trip_s(state, sender, state.parent[sender.broker], path)
    return int(up_s / rules.ping_interval_s)


@apart
def missed(state, rules, sender, path):
    """Return the PINGs in a row that the parent of a broker has missed on a path, without those
    that are in flight.
    """
    return state.missed[sender.broker, path] - in_flight(state, rules, sender, path)


@apart
def declare_dead(state, rules, sender, path):
    """Count a path of a broker to its parent as dead before PINGs have shown it."""
    b, most = sender.broker, rules.missed_pings + 1 + in_flight(state, rules, sender, path)
    state.missed[b, path] = max(state.missed[b, path], most)


@apart
def confirm_wait_s(state, rules, sender, peer):
    """Return the seconds in which a peer of a broker has to confirm a record on either path."""
    direct_s, second_s = trip_s(state, sender, peer, DIRECT), trip_s(state, sender, peer, SECOND)
    return max(rules.confirm_timeout_s, _ROUND_TRIPS * max(direct_s, second_s))


@apart
def note_found(state, rules, sender, message):
    """Note the time from a search to its FOUND as a broker's round trip on the new direct path."""
    b, place = sender.broker, way_back(sender.circuits, sender.row, message)
    if place == NO_PLACE or message.args[ROUTE] % SORTS != DIRECT:
        return
    began_at = sender.circuits.of[sender.row, place].searched_at
    state.found[b] = message.args[ORIGIN]
    state.found_s[b] = rounded_s(max(message.at - began_at - rules.search_s, 0.0))


@apart
def note_pong(state, rules, sender, message, path):
    """Note the round trip of a broker's PING, also if the broker has sent later PINGs before the
    answer came. It sends one PING in each interval, so it knows when it sent this PING.
    """
    b = sender.broker
    later = state.pings[b, path] - message.args[NUMBER]
    if 0 <= later < _MOST_LATER:
        sent_at = state.pinged_at[b, path] - later * rules.ping_interval_s
        took_s = rounded_s(message.at - sent_at)
        note_trip(sender, message.args[ORIGIN], path, took_s, took_s)
