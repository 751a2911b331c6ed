"""Roles and repair of the walk overlay: initiators that join or leave, lost neighbours, restarts.

We let a root's successor take its place, and every fragment that lost its way to the root look for
the rest by a new walk, because the paper leaves failures open. The successor's fragment is
established; it walks because only the link may be lost, with the root alive behind it.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.missing import NONE
from halfway.core.neighbourhood import place_of
from halfway.core.outbox import emit
from halfway.core.prng import seeded, uniform
from halfway.protocols.reliable_hop import receiver, release, release_all
from halfway.protocols.walk_overlay import fragments, messages
from halfway.protocols.walk_overlay.ending import leave, reset_membership, send_cut
from halfway.protocols.walk_overlay.events import count_expired
from halfway.protocols.walk_overlay.hop_table import is_in_flight
from halfway.protocols.walk_overlay.launch import launch
from halfway.protocols.walk_overlay.state import ASKING, IN_DOUBT, SEARCHING, link_count, link_of
from halfway.protocols.walk_overlay.walk import step_failed

_WAIT = 2**31  # the random stream of an initiator's wait; walks have the streams below


@apart
def take_role(state, rules, i, role, now, out):
    """Give this node a role: a new initiator joins the overlay after a random wait, if not in it.

    The waits keep the walks of many initiators apart [dwo Alg. 1, lines 7-12] without a list.
    """
    members = state.members
    if members.initiator[i] & role:
        return
    joins = members.initiator[i] == 0
    members.initiator[i] |= role
    if not joins:
        return
    if members.root[i] != NONE:
        meet_on_the_spot(state, rules, i, out)
    elif rules.join_delay_s > 0.0:
        wait = rules.join_delay_s * uniform(seeded(members.random_state[i], _WAIT))
        emit(out, messages.BEGIN, wait, members.node_id[i])
    else:
        begin(state, rules, i, now, out)


@apart
def end_role(state, rules, i, role, out):
    """End a role of this node. An initiator no longer, it leaves the overlay unless it is a broker.

    A node between two overlay neighbours forwards their events, and stays.
    """
    members = state.members
    if members.initiator[i] & role == 0:
        return
    members.initiator[i] &= ~role
    if members.initiator[i] == 0 and members.root[i] != NONE and link_count(state, i) < 2:
        leave(state, rules, i, out)


@apart
def begin(state, rules, i, now, out):
    """Begin an initiator's role: it walks, unless it has become part of the overlay meanwhile.

    The node founds an overlay of its own if it hears of none for the founding time.
    """
    members = state.members
    if members.initiator[i] == 0:
        return
    if members.root[i] != NONE:
        meet_on_the_spot(state, rules, i, out)
    elif rules.founding_time_s > 0.0:
        initiate(state, rules, i, messages.JOINING, now, out)
        members.founds[i] = 1
        members.met_at[i] = np.inf
        fragments.start_founding(state, i, rules.founding_time_s, out)
    else:
        initiate(state, rules, i, messages.ESTABLISHED, now, out)


@apart
def meet_on_the_spot(state, rules, i, out):
    """[dwo Alg. 2, line 4] Let an initiator that is in the overlay already meet its walk at once.

    The root of a fragment without an overlay counts this meeting like any other.
    """
    members = state.members
    emit(out, messages.CONNECTED, 0.0, APP)
    if rules.founding_time_s > 0.0 and members.parent[i] != members.node_id[i]:
        fragments.send_attached(state, rules, i, members.parent[i], np.int32(0), out)


@apart
def initiate(state, rules, i, rank, now, out):
    """[dwo Alg. 2] Make this node an overlay fragment of one node, and launch a walk."""
    members = state.members
    members.founds[i] = 0
    members.rank[i] = rank
    members.root[i] = members.node_id[i]
    members.parent[i] = members.node_id[i]
    members.search[i] = SEARCHING
    start_link_check(state, rules, i, now, out)
    launch(state, rules, i, 0.0, np.int32(0), now, out)


@apart
def restart(state, rules, i, now, out):
    """Repair the overlay after a crash: notify the old neighbours; an initiator joins again.

    It founds no overlay, because it was part of one. Its walk goes on until it finds that.
    """
    members = state.members
    release_all(state.hops, i)
    for s in range(state.trails.shape[1]):
        state.trails.marks[i, s] &= ~(ASKING | ASKING << 1)
    members.check_pending[i] = 0
    members.found_pending[i] = 0
    leave(state, rules, i, out)
    if members.initiator[i] != 0:
        initiate(state, rules, i, messages.JOINING, now, out)


@apart
def lose_link(state, rules, i, node_id, now, out):
    """Repair the overlay after a link to an overlay neighbour has ended, on either side."""
    members = state.members
    p = link_of(state, i, node_id)
    if p < 0:
        return
    fragments.drop_link(state, rules, i, p, out)
    if members.parent[i] != node_id:
        return
    if members.initiator[i] == 0 and link_count(state, i) == 0:
        reset_membership(state, i)  # it only relayed
    else:
        detach(state, rules, i, out)
        launch(state, rules, i, rules.settling_time_s, np.int32(0), now, out)


@apart
def break_link(state, rules, i, node_id, now, out):
    """Count and repair an overlay link whose neighbour is gone, or did not acknowledge a record."""
    state.members.links_broken[i] += link_of(state, i, node_id) >= 0
    lose_link(state, rules, i, node_id, now, out)


@apart
def detach(state, rules, i, out):
    """Repair a lost way to the overlay's root: be the root of a fragment of a higher rank."""
    members = state.members
    lost = members.parent[i]
    # A root that became part of another fragment may have named a successor long ago.
    succeeds = members.root[i] == lost and members.successor_of[i] == lost
    succeeds = succeeds and members.successor[i] == members.node_id[i]
    members.search[i] = IN_DOUBT if succeeds and members.root_searches[i] == 0 else SEARCHING
    members.rank[i] = max(members.rank[i], messages.ESTABLISHED) + 1
    members.root[i] = members.node_id[i]
    members.parent[i] = members.node_id[i]
    fragments.spread_id(state, rules, i, NONE, out)
    fragments.name_successor(state, rules, i, -1, out)


@apart
def receive_cut(state, rules, i, message, out):
    """Receive a CUT of a link of the walk overlay; a cycle cut off the way to the root detaches no
    node.
    """
    p = link_of(state, i, message.source)
    closes_cycle = message.args[messages.REASON] == messages.CYCLE
    if closes_cycle and message.source != state.members.parent[i]:
        if p >= 0:
            fragments.drop_link(state, rules, i, p, out)
    else:
        lose_link(state, rules, i, message.source, message.at, out)


@apart
def cut_cycle(state, rules, i, node_id, out):
    """Cut the overlay link to a neighbour, which closes a cycle."""
    p = link_of(state, i, node_id)
    if p >= 0:
        fragments.drop_link(state, rules, i, p, out)
        send_cut(state, rules, i, node_id, messages.CYCLE, out)


@apart
def receive_successor(state, i, message):
    """Receive a SUCCESSOR from a root that is an overlay neighbour.

    It is this fragment's root, or is about to be: its id wins. Others are ignored.
    """
    members = state.members
    current = message.args[messages.ROOT] == message.source
    if current and not fragments.wins(state, i, message) and link_of(state, i, message.source) >= 0:
        members.successor_of[i] = message.source
        members.successor[i] = message.args[messages.SUCCESSOR_ID]
        members.root_searches[i] = message.args[messages.ROOT_SEARCHES]


@apart
def start_link_check(state, rules, i, now, out):
    """Start the timer of the next overlay link check, unless one runs or the time is up."""
    members = state.members
    due = now + rules.link_check_interval_s
    if members.check_pending[i] == 0 and due < np.inf and due <= rules.until_s:
        members.check_pending[i] = 1
        emit(out, messages.CHECK_LINKS, rules.link_check_interval_s, members.node_id[i])


@apart
def check_links(state, rules, neighbourhood, i, message, out):
    """Check overlay links: end the first to a node that is no longer a neighbour; else keep alive.

    A link may have ended on the other side alone, if the CUT was lost. A link whose request found
    no room in the table of hops is requested again.
    """
    members = state.members
    members.check_pending[i] = 0
    count_expired(state, rules, i, message.at)
    if members.root[i] == NONE:
        return
    for p in range(state.links.shape[1]):
        node_id = state.links.node_id[i, p]
        if node_id != NONE and place_of(neighbourhood, i, node_id) < 0:
            break_link(state, rules, i, node_id, message.at, out)
            members.check_pending[i] = 1
            emit(out, messages.CHECK_LINKS, 0.0, members.node_id[i])
            return
    for p in range(state.links.shape[1]):
        node_id = state.links.node_id[i, p]
        waits = node_id != NONE and state.links.ready[i, p] == 0
        if waits and not is_in_flight(state.hops, i, messages.LINK, node_id):
            reason = messages.LEAF if members.parent[i] == node_id else messages.MERGER
            fragments.send_link(state, rules, i, node_id, reason, out)
    fragments.send_due(state, rules, i, out)
    members.link_checks[i] += 1
    every, is_root = rules.checks_per_keep_alive, members.parent[i] == members.node_id[i]
    if every > 0 and members.link_checks[i] % every == 0 and not is_root:
        fragments.emit_with_id(state, i, messages.KEEP_ALIVE, members.parent[i], out)
    start_link_check(state, rules, i, message.at, out)


@apart
def receive_keep_alive(state, rules, i, message, out):
    """Receive a KEEP_ALIVE of an overlay link towards the root; answer only to disagree."""
    members, node_id = state.members, message.source
    is_child = link_of(state, i, node_id) >= 0 and members.parent[i] != node_id
    if is_child and fragments.wins(state, i, message):
        fragments.send_id(state, rules, i, messages.FRAGMENT_ID, node_id, out)
    elif not is_child or fragments.is_of_other_fragment(state, i, message):
        fragments.deny_link(node_id, messages.LEAVES, out)


@apart
def hop_failed(state, rules, i, place, now, out):
    """Repair the overlay after the reliable hop at a place was never acknowledged."""
    record = state.hops.record[i, place]
    kind, to = record.kind, receiver(record)
    if kind == messages.STEP:
        step_failed(state, i, record, out)
    release(state.hops, i, place)
    if kind not in (messages.STEP, messages.ENDED, messages.CUT):
        break_link(state, rules, i, to, now, out)
        fragments.deny_link(to, messages.LEAVES, out)
    fragments.send_due(state, rules, i, out)
