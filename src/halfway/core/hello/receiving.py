"""Received hellos: how a node learns from them, and when it forgets their senders."""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.hello.link import begin_link, is_silent, note_hello
from halfway.core.hello.messages import BOTH_WAYS, IDS, LAST, LOWEST, POSITION, listed
from halfway.core.hello.state import FORGOTTEN, UNREPORTED
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.neighbourhood import exclude, include, is_full

_ABOVE_ALL = np.int64(2**31)  # above every node id
LONGEST = 1.2  # longest time between two hellos of a node, in periods; the shortest is 0.8


@inlined
def link_of(state, i, node_id):
    """Return the index, in row i's table, of the sender of a received hello, or NO_PLACE if the
    sender is absent.
    """
    for s in range(state.first[i], state.first[i + 1]):
        if state.link[s].node_id == node_id:
            return np.int64(s)
    return NO_PLACE


@inlined
def reports_of(state, neighbourhood, s):
    """Return the row of the neighbour list that the hellos received over link s report.

    NONE if nodes keep no such lists.
    """
    rows = state.node_id.shape[0]
    if neighbourhood.first.shape[0] == rows:
        return NONE
    return np.int32(rows + s)


@inlined
def forget_reports(state, neighbourhood, s):
    """Empty the neighbour list that the hellos received over link s reported."""
    row = reports_of(state, neighbourhood, s)
    if row != NONE:
        neighbourhood.last[row] = neighbourhood.first[row]


@inlined
def update_neighbour(state, neighbourhood, i, s):
    """Add a sender of received hellos, at place s of row i's table, to the neighbour list if the
    link works both ways; remove it otherwise.
    """
    link = state.link[s]
    works = link.is_heard == 1 and link.hears_us == 1
    if works and link.is_neighbour == 0:
        include(neighbourhood, i, link.node_id, reports_of(state, neighbourhood, s))
    elif not works and link.is_neighbour == 1:
        exclude(neighbourhood, i, link.node_id)
    link.is_neighbour = np.uint8(works)


@inlined
def place_for(state, rules, i, now):
    """Return a free index in row i's table for the new sender of a received hello, or NO_PLACE if
    full.

    A new sender replaces a link that does not work, if the last two hellos of that link's sender
    did not arrive. Without this condition, new senders would replace each other without end in a
    dense network.
    """
    free, oldest = NO_PLACE, now - 2.0 * LONGEST * rules.period_s
    for s in range(state.first[i], state.first[i + 1]):
        link = state.link[s]
        if link.node_id == NONE:
            return np.int64(s)
        if link.is_heard == 0 and link.heard_at < oldest:
            free, oldest = np.int64(s), link.heard_at
    return free


@apart
def hear_hello(state, rules, neighbourhood, i, hello, now):
    """Update row i's links and neighbour lists by a received hello; emit nothing.

    now: seconds of the node's own clock. A sender without room in the table, and a sender whose
    place a new sender takes, count as FORGOTTEN. A sender with a later incarnation has lost its
    memory, so its link begins again.
    """
    s = link_of(state, i, hello.source)
    if s == NO_PLACE:
        s = place_for(state, rules, i, now)
        if s == NO_PLACE:
            state.counts[i, FORGOTTEN] += 1
            return
        state.counts[i, FORGOTTEN] += state.link[s].node_id != NONE
        forget_reports(state, neighbourhood, s)
        begin_link(state.link[s], hello, now)
    else:
        link = state.link[s]
        if hello.incarnation < link.incarnation:
            return
        if hello.incarnation > link.incarnation:
            forget_reports(state, neighbourhood, s)
            begin_link(link, hello, now)
        elif not note_hello(link, hello, now):
            return
    learn_list(state, rules, neighbourhood, i, s, hello)
    update_neighbour(state, neighbourhood, i, s)


@inlined
def learn_list(state, rules, neighbourhood, i, s, hello):
    """Learn at row i from the list in a hello over link s. The list shows whether the sender hears
    this node, and names the neighbours of the sender in a range of ids.
    """
    row = reports_of(state, neighbourhood, s)
    lowest, own_id, is_listed = np.int64(hello[LOWEST]), state.node_id[i], False
    highest = _ABOVE_ALL if hello["flags"] & LAST else lowest - 1
    for e in range(IDS):
        node_id = listed(hello, e)
        if node_id == NONE:
            break
        is_listed |= node_id == own_id
        highest = max(highest, np.int64(node_id))
    if lowest <= own_id <= highest:
        state.link[s].hears_us = np.uint8(is_listed)
    if row == NONE:
        return
    if not is_reported(neighbourhood, row, hello, lowest, highest):
        replace_reported(state, neighbourhood, i, row, hello, lowest, highest)
    if rules.positions:
        neighbourhood.x[row] = hello.reals[POSITION]
        neighbourhood.y[row] = hello.reals[POSITION + 1]


@inlined
def is_reported(neighbourhood, row, hello, lowest, highest):
    """Return whether a row of the neighbour lists already has what a hello reports, from id
    `lowest` to `highest`: most hellos repeat the last list of their sender.
    """
    place, last = np.int64(neighbourhood.first[row]), np.int64(neighbourhood.last[row])
    while place < last and neighbourhood.who[place] < lowest:
        place += 1
    both_ways = np.int64(hello[BOTH_WAYS])
    for e in range(IDS):
        node_id = listed(hello, e)
        if node_id == NONE:
            break
        if both_ways >> e & 1:
            if place == last or neighbourhood.who[place] != node_id:
                return False
            place += 1
    return place == last or neighbourhood.who[place] > highest


@inlined
def replace_reported(state, neighbourhood, i, row, hello, lowest, highest):
    """Replace the part of the list that a received hello reports, from id `lowest` to `highest`,
    for row i. The new ids are the nodes in the hello whose links work both ways.
    """
    place = np.int64(neighbourhood.last[row]) - 1
    while place >= np.int64(neighbourhood.first[row]):
        node_id = neighbourhood.who[place]
        if lowest <= node_id <= highest:
            exclude(neighbourhood, row, node_id)
        place -= 1
    for e in range(IDS):
        node_id = listed(hello, e)
        if node_id == NONE:
            return
        if hello[BOTH_WAYS] >> e & 1:
            if is_full(neighbourhood, row):
                state.counts[i, UNREPORTED] += 1
            else:
                include(neighbourhood, row, node_id, NONE)


@apart
def expire(state, rules, neighbourhood, i, now):
    """Forget the silent senders of received hellos at row i: those whose last MISSED hellos did not
    arrive.
    """
    for s in range(state.first[i], state.first[i + 1]):
        link = state.link[s]
        if is_silent(link, now, LONGEST * rules.period_s):
            link.is_heard = 0
            update_neighbour(state, neighbourhood, i, s)
            forget_reports(state, neighbourhood, s)
            link.node_id = NONE
