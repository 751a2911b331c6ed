"""How initiators join or found a walk overlay without a list of them, and how two overlays merge.

A root that hears of no overlay for the founding time founds an overlay. [dwo Alg. 1] leaves open
how nodes agree on the first walks, so all of this is ours. Two overlays may be founded far from
each other, and both their walks may stop. So the root of an overlay sends a probe through the
network, at first at once, then more and more rarely. A root whose fragment id loses against that of
the probe walks back along its way, and the fragments merge where this walk meets the other overlay.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP, EVERYONE
from halfway.core.missing import NONE
from halfway.core.outbox import emit
from halfway.core.prng import seeded, uniform
from halfway.protocols.reliable_hop import release_all
from halfway.protocols.walk_overlay import messages
from halfway.protocols.walk_overlay.ending import end_walk, leave, stop_walk
from halfway.protocols.walk_overlay.fragments import (
    is_of_other_fragment,
    name_successor,
    send_attached,
    spread_id,
    start_founding,
    start_probe_timer,
    wins,
)
from halfway.protocols.walk_overlay.launch import launch, launch_heads, start_relaunch
from halfway.protocols.walk_overlay.repair import start_link_check
from halfway.protocols.walk_overlay.state import ASKING, SEARCHING, link_count

_WAIT = 2**31  # the random stream of an initiator's wait; walks have the streams below
_COPIES = 2  # of a probe from each node, if hops are acknowledged
_PROBES = np.int64(2**32)  # the random streams of the waits before probes; walks have streams below


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
        start_founding(state, i, rules.founding_time_s, out)
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
        send_attached(state, rules, i, members.parent[i], np.int32(0), out)


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
    """Leave the overlay after a crash: notify the old neighbours. An initiator joins it again.

    It founds no overlay, because it was part of an overlay. Its walk goes on until it finds that.
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
def found(state, rules, i, now, out):
    """Found an overlay of this fragment, whose root has heard of none for the founding time.

    [dwo Alg. 1] A root that met another walk stops; one that met none walks on.
    """
    members = state.members
    members.found_pending[i] = 0
    if members.founds[i] == 0 or members.parent[i] != members.node_id[i]:
        return
    if members.rank[i] == messages.JOINING:
        members.rank[i] = messages.ESTABLISHED
        spread_id(state, rules, i, NONE, out)
        name_successor(state, rules, i, -1, out)
    left = members.met_at[i] + rules.founding_time_s - now
    if left <= 0.0:
        members.founds[i] = 0
        stop_walk(state, rules, i, out)
        name_successor(state, rules, i, -1, out)
        members.attempt[i] = 0
        start_probe(state, rules, i, now, out)
    elif left < np.inf:
        start_founding(state, i, left, out)


@apart
def start_probe(state, rules, i, now, out):
    """Send a new probe of the overlay that this root founded, and start the timer of the next
    probe.
    """
    members = state.members
    members.probes[i] += 1
    hear_probe(state, i, members.rank[i], members.node_id[i], members.probes[i], now)
    members.probe_from[i] = members.node_id[i]
    send_probe(state, rules, i, out)
    tries = min(members.attempt[i], 10)
    later = rules.relaunch_s * min(2**tries, rules.launches)
    members.attempt[i] += 1
    start_probe_timer(state, rules, i, later, now, out)


@apart
def probe_again(state, rules, i, message, out):
    """Send the next probe of an overlay founded here, if this node is its root still and does not
    walk.
    """
    members = state.members
    is_root = members.root[i] != NONE and members.parent[i] == members.node_id[i]
    is_latest = message.args[messages.PROBE_NUMBER] == members.probes[i]
    if is_root and is_latest and members.search[i] == 0:
        start_probe(state, rules, i, message.at, out)


@apart
def hear_probe(state, i, rank, root, number, now):
    """Keep the facts of the probe of a founded overlay that this node heard last."""
    members = state.members
    members.probe_rank[i] = rank
    members.probe_root[i] = root
    members.probe_number[i] = number
    members.probe_at[i] = now


@apart
def send_probe(state, rules, i, out):
    """Send the probe by which separately founded overlays find each other: the one heard last.

    A node broadcasts the probe after a random wait, because all nodes around do the same.
    Broadcasts are not acknowledged. Where other hops are, a node sends a probe several times
    instead.
    """
    members = state.members
    word = seeded(members.random_state[i], _PROBES + members.probe_number[i])
    wait = rules.bid_timeout_s * uniform(word)
    for copy in range(min(rules.retries, _COPIES - 1) + 1):
        o = emit(out, messages.PROBE, wait + copy * rules.settling_time_s, EVERYONE)
        o.args[messages.PROBE_NUMBER] = members.probe_number[i]
        o.args[messages.RANK] = members.probe_rank[i]
        o.args[messages.ROOT] = members.probe_root[i]


@apart
def is_new_probe(state, rules, i, message):
    """Return whether the probe of a founded overlay is newer than the one heard last, or of an id
    that wins over it.

    A probe that was heard long ago does not count: its overlay may be gone.
    """
    members = state.members
    if members.probe_from[i] == NONE:
        return True
    if message.at - members.probe_at[i] > rules.relaunch_s:
        return True
    rank, root = message.args[messages.RANK], message.args[messages.ROOT]
    if rank == members.probe_rank[i] and root == members.probe_root[i]:
        return message.args[messages.PROBE_NUMBER] > members.probe_number[i]
    known = members.probe_rank[i]
    return rank > known or (rank == known and root < members.probe_root[i])


@apart
def receive_probe(state, rules, i, message, out):
    """Receive the PROBE of a founded overlay, and forward a new PROBE. A root follows the PROBE
    back, or answers.
    """
    members = state.members
    if not is_new_probe(state, rules, i, message):
        return
    is_root = members.root[i] != NONE and members.parent[i] == members.node_id[i]
    if is_root and is_of_other_fragment(state, i, message) and wins(state, i, message):
        start_probe(state, rules, i, message.at, out)
        return
    args = message.args
    rank, root, number = args[messages.RANK], args[messages.ROOT], args[messages.PROBE_NUMBER]
    hear_probe(state, i, rank, root, number, message.at)
    members.probe_from[i] = message.source
    send_probe(state, rules, i, out)
    if is_root and is_of_other_fragment(state, i, message):
        end_walk(state, rules, i, out)
        launch_heads(state, rules, i, 0.0, members.attempt[i], 1, messages.HOMES, out)
        start_relaunch(state, rules, i, 0.0, message.at, out)
