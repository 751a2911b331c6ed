"""The initiators of the walk overlay: how they join or found an overlay without a list of
initiators, and how two founded overlays merge by probes.

A root that hears of no overlay for the founding time founds an overlay. All rules here are ours,
because [dwo Alg. 1] does not say how nodes agree on the first walks, and has no rule for the end of
a role or for a restart (decision 0038). Two roots far from each other may both
found an overlay, and both walks may stop. So the root of an overlay sends a probe through the
network, at once and then more and more rarely. If the fragment id of another root loses against the
id in the probe, this root walks back along the way of the probe. The fragments merge where this
walk meets the other overlay.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP, EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.neighbourhood import place_of
from halfway.core.outbox import emit
from halfway.core.prng import seeded, uniform
from halfway.protocols.parts.incarnation_numbers import number_before
from halfway.protocols.parts.reliable_hop import begin_hops, release_all
from halfway.protocols.walk_overlay import messages
from halfway.protocols.walk_overlay.ending import end_walk, leave, stop_walk
from halfway.protocols.walk_overlay.fragments import (
    is_of_other_fragment,
    name_successor,
    send_attached,
    spread_id,
    wins,
)
from halfway.protocols.walk_overlay.overlay_launch import launch, launch_heads, start_relaunch
from halfway.protocols.walk_overlay.repair import start_link_check
from halfway.protocols.walk_overlay.state import ASKING, SEARCHING, is_root, link_count

_WAIT = 2**31  # random stream of an initiator's wait; walks use lower numbers
_COPIES = 2  # times that a node sends a probe, if hops are acknowledged
_PROBES = np.int64(2**32)  # random streams of the waits before probes; walks use lower numbers


@apart
def take_role(state, rules, i, role, now, out):
    """Give this node a role in the walk overlay: an initiator outside the overlay joins it after a
    random wait.

    The waits keep the walks of many initiators apart, for which [dwo Alg. 1, lines 7-12] needs a
    list.
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
    elif rules.launch_jitter_s > 0.0:
        wait = rules.launch_jitter_s * uniform(seeded(members.random_state[i], _WAIT))
        emit(out, messages.BEGIN, wait, members.node_id[i])
    else:
        begin(state, rules, i, now, out)


@apart
def end_role(state, rules, i, role, out):
    """End the role of an initiator of the walk overlay. A node without a role leaves the overlay,
    unless it has two or more overlay neighbours.

    We let a node between overlay neighbours stay, because it forwards their events.
    """
    members = state.members
    if members.initiator[i] & role == 0:
        return
    members.initiator[i] &= ~role
    if members.initiator[i] == 0 and members.root[i] != NONE and link_count(state, i) < 2:
        leave(state, rules, i, out)


@apart
def begin(state, rules, i, now, out):
    """Begin the role of an overlay initiator: launch a walk, unless the node has become part of the
    overlay meanwhile.

    The node founds its own overlay if it hears of no overlay for the founding time.
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
    """[dwo Alg. 2, line 4] Let an initiator that begins its role within the overlay meet the
    overlay at once, without a walk.

    The root of a fragment without an overlay counts this meeting like any other.
    """
    members = state.members
    emit(out, messages.CONNECTED, 0.0, APP)
    if rules.founding_time_s > 0.0 and not is_root(state, i):
        send_attached(state, rules, i, members.parent[i], np.int32(0), out)


@apart
def initiate(state, rules, i, rank, now, out):
    """[dwo Alg. 2] Make this initiator an overlay fragment with one node; launch its walk."""
    members = state.members
    members.founds[i] = 0
    members.rank[i] = rank
    members.root[i] = members.node_id[i]
    members.parent[i] = members.node_id[i]
    members.search[i] = SEARCHING
    start_link_check(state, rules, i, now, out)
    launch(state, rules, i, 0.0, np.int32(0), now, out)


@apart
def restart(state, rules, i, message, out):
    """Leave the walk overlay after a crash, and notify the old neighbours; an initiator joins it
    again.

    We let it found no overlay, because an overlay exists. Its walk goes on until it finds this
    overlay. Its walks get new numbers, because other nodes have trails of its earlier incarnations.
    """
    members = state.members
    before = number_before(message.incarnation)
    members.walks[i] = max(members.walks[i], before)
    members.probes[i] = max(members.probes[i], before)
    begin_hops(state.hops, i, message.incarnation)
    release_all(state.hops, i)
    for s in range(state.trails.shape[1]):
        state.trails.marks[i, s] &= ~(ASKING | ASKING << 1)
    members.check_pending[i] = 0
    members.found_pending[i] = 0
    leave(state, rules, i, out)
    if members.initiator[i] != 0:
        initiate(state, rules, i, messages.JOINING, message.at, out)


@apart
def found(state, rules, i, now, out):
    """Create an overlay with the fragment of this root, which has heard of no overlay for the
    founding time.

    [dwo Alg. 1] A root that met another walk stops. A root that met no walk walks on.
    """
    members = state.members
    members.found_pending[i] = 0
    if members.founds[i] == 0 or not is_root(state, i):
        return
    if members.rank[i] == messages.JOINING:
        members.rank[i] = messages.ESTABLISHED
        spread_id(state, rules, i, NONE, out)
        name_successor(state, rules, i, NO_PLACE, out)
    left = members.met_at[i] + rules.founding_time_s - now
    if left <= 0.0:
        members.founds[i] = 0
        stop_walk(state, rules, i, out)
        name_successor(state, rules, i, NO_PLACE, out)
        members.attempt[i] = 0
        start_probe(state, rules, i, now, out)
    elif left < np.inf:
        start_founding(state, i, left, out)


@apart
def receive_attached(state, rules, i, message, out):
    """Receive an ATTACHED for a fragment's root; ignore one from another fragment.

    [dwo §V-B] walks go on "until two DRWs intersect". But a root that may found an overlay walks on
    until it has heard of no other fragment for the founding time, because there may be further
    ones. A detached fragment walks on until it meets an established fragment. The established
    fragment may itself be detached, so the root then sends probes, as a founder does.
    """
    members = state.members
    # The rank of the fragment may have grown meanwhile, if the root has founded an overlay.
    if members.root[i] == NONE or members.root[i] != message.args[messages.ROOT]:
        return
    if not is_root(state, i):
        send_attached(
            state, rules, i, members.parent[i], message.args[messages.WAS_ESTABLISHED], out
        )
    elif members.founds[i] == 1:
        members.met_at[i] = message.at
        start_founding(state, i, rules.founding_time_s, out)
    elif message.args[messages.WAS_ESTABLISHED] == 1:
        if members.search[i] != 0 and rules.founding_time_s > 0.0:
            members.attempt[i] = 0
            start_probe_timer(state, rules, i, rules.relaunch_s, message.at, out)
        stop_walk(state, rules, i, out)
        name_successor(state, rules, i, NO_PLACE, out)


@apart
def start_founding(state, i, after, out):
    """Start the timer after which a fragment's root may found an overlay, unless it runs."""
    if state.members.found_pending[i] == 0:
        state.members.found_pending[i] = 1
        emit(out, messages.FOUND, after, state.members.node_id[i])


@apart
def start_probe_timer(state, rules, i, after, now, out):
    """Start the timer for the next probe of the root of an overlay fragment."""
    if after < np.inf and now + after <= rules.until_s:
        o = emit(out, messages.PROBE_AGAIN, after, state.members.node_id[i])
        o.args[messages.PROBE_NUMBER] = state.members.probes[i]


@apart
def start_probe(state, rules, i, now, out):
    """Send a new probe of the overlay that this root founded, and start the timer of the following
    probe.
    """
    members = state.members
    members.probes[i] += 1
    hear_probe(state, i, members.rank[i], members.node_id[i], members.probes[i], now)
    members.probe_from[i] = members.node_id[i]
    send_probe(state, rules, i, out)
    tries = min(members.attempt[i], 10)
    later = rules.relaunch_s * min(2**tries, rules.quick_launches)
    members.attempt[i] += 1
    start_probe_timer(state, rules, i, later, now, out)


@apart
def probe_again(state, rules, i, message, out):
    """Send the next probe of an overlay that this node founded, if this node is still its root and
    does not walk.
    """
    members = state.members
    is_latest = message.args[messages.PROBE_NUMBER] == members.probes[i]
    if is_root(state, i) and is_latest and members.search[i] == 0:
        start_probe(state, rules, i, message.at, out)


@apart
def hear_probe(state, i, rank, root, number, now):
    """Store the facts of the last heard probe of a founded overlay."""
    members = state.members
    members.probe_rank[i] = rank
    members.probe_root[i] = root
    members.probe_number[i] = number
    members.probe_at[i] = now


@apart
def send_probe(state, rules, i, out):
    """Send the last heard probe, by which separately founded overlays find each other.

    We broadcast the probe after a random wait, because all nodes around do the same, and several
    times if hops are acknowledged, because nodes never acknowledge a broadcast.
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
    """Return whether the probe of a founded overlay is newer than the last heard probe, or has an
    id that wins over it.

    We let a probe from long ago not count, because its overlay may be gone.
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
def receive_probe(state, rules, neighbourhood, i, message, out):
    """Receive the PROBE of a founded overlay, and forward a new PROBE. A root follows the PROBE
    back, or answers.

    A PROBE of a node outside the list of neighbours does not count as heard: that node may not hear
    this one, so the way back must lead over another neighbour.
    """
    members = state.members
    is_listed = place_of(neighbourhood, i, message.source) >= 0
    if not is_listed or not is_new_probe(state, rules, i, message):
        return
    rivals = is_root(state, i) and is_of_other_fragment(state, i, message)
    if rivals and wins(state, i, message):
        start_probe(state, rules, i, message.at, out)
        return
    args = message.args
    rank, root, number = args[messages.RANK], args[messages.ROOT], args[messages.PROBE_NUMBER]
    hear_probe(state, i, rank, root, number, message.at)
    members.probe_from[i] = message.source
    send_probe(state, rules, i, out)
    if rivals:
        end_walk(state, rules, i, out)
        launch_heads(state, rules, i, 0.0, members.attempt[i], 1, messages.HOMES, out)
        start_relaunch(state, rules, i, 0.0, message.at, out)
