"""The roles of a member on the topics of the walk systems: the member begins a role, launches walks
for the role at once and by timers, and ends the role.

[drw §3] the initiators, publisher and subscriber, launch a walk each. The paper launches it once,
and has no end of a role. We launch walks again, because walks, trails and members may be lost, and
let members end their roles, because [drw §2] "membership must be dynamic".
"""

import math

import numpy as np

from halfway.core.compiled import apart, kernel
from halfway.core.missing import NO_PLACE
from halfway.core.outbox import emit
from halfway.protocols.walks import messages
from halfway.protocols.walks.meeting import meet_here
from halfway.protocols.walks.member_lists import lists_members, report_known
from halfway.protocols.walks.member_paths import begin_path, end_path
from halfway.protocols.walks.messages import Walker
from halfway.protocols.walks.search_sweep import begin_sweep
from halfway.protocols.walks.steps import first_step
from halfway.protocols.walks.tables.counts import LAUNCHED
from halfway.protocols.walks.trails import leave_trail
from halfway.protocols.walks.trees import is_root, plant, root_of


@apart
def begin_role(tables, rules, neighbourhood, i, topic, side, message, out):
    """Begin a role of row i on a topic and launch the walk of the role; do nothing if row i has the
    role already.

    message: the record that starts the role; it gives the time and the incarnation.
    """
    role = tables.roles[i, 2 * topic + side]
    if role.held == 1:
        return
    role.held = 1
    role.incarnation = message.incarnation
    role.asked_at = message.at
    if lists_members(tables, i, topic):
        report_known(tables, rules, i, topic, message.at, out)
    launch(tables, rules, neighbourhood, i, topic, side, np.int32(0), message.at, out)


@apart
def end_role(tables, rules, i, message, side, out):
    """End a role of row i's application on a topic of the walks."""
    role, own = tables.roles[i, 2 * message.topic + side], tables.node_id[i]
    if role.held == 0:
        return
    role.held = 0
    role.matched = 0
    walker = Walker(message.topic, np.int32(side), own, role.incarnation, np.int32(role.launches))
    role.launches += 1
    end_path(tables, rules, i, walker, own, message.at, out)


@apart
def launch(tables, rules, neighbourhood, i, topic, side, unanswered, now, out):
    """Launch a walk for a role of row i, and renew the path to row i and the tree of which it is
    the root.
    """
    role = tables.roles[i, 2 * topic + side]
    role.matched = 0
    role.searches = 0
    walker = new_launch(tables, i, topic, side, unanswered)
    role.latest = walker.generation
    start_timer(tables, rules, i, messages.RELAUNCH, rules.relaunch_s, walker, now, out)
    start_timer(tables, rules, i, messages.REFRESH, rules.refresh_s, walker, now, out)
    if rules.at_meeting == messages.MERGE:
        plant(tables, rules, i, topic, role.incarnation, now, out)
        begin_path(tables, rules, i, walker, now, out)
    walk(tables, rules, neighbourhood, i, walker, False, now, out)


@apart
def walk(tables, rules, neighbourhood, i, walker, searches, now, out):
    """Begin the walk of a role of row i on row i itself, which may already have the trail of
    another member.
    """
    topic, own, advertise = walker.topic, tables.node_id[i], rules.advertise and not searches
    root = root_of(tables, rules, i, topic, now)
    place = leave_trail(tables, rules, i, walker, own, advertise, now, out)
    met = place != NO_PLACE and meet_here(tables, rules, i, topic, place, root, searches, now, out)
    if met and rules.at_meeting != messages.GO_ON:
        return
    if searches and rules.sweep_steps > 0 and place != NO_PLACE:
        begin_sweep(tables, rules, neighbourhood, i, walker, place, now, out)
    else:
        first_step(tables, rules, neighbourhood, i, walker, searches, now, out)


@apart
def search(tables, rules, neighbourhood, i, message, out):
    """Launch a search walk for a role of row i, for members that met elsewhere, if row i is the
    root of its tree.

    We let the root alone search, because one search serves the whole tree.
    """
    topic, side, now = message.topic, message.args[messages.SIDE], message.at
    role = tables.roles[i, 2 * topic + side]
    if role.held == 1 and is_root(tables, rules, i, topic, now):
        tables.counts[i, LAUNCHED] += 1
        walker = new_launch(tables, i, topic, side, np.int32(role.unanswered))
        walk(tables, rules, neighbourhood, i, walker, True, now, out)


@apart
def launch_again(tables, rules, neighbourhood, i, message, out):
    """Launch the walk of a role again at a RELAUNCH or REFRESH timer, unless a later launch made
    the timer void.
    """
    topic, side = message.topic, message.args[messages.SIDE]
    role, unanswered = tables.roles[i, 2 * topic + side], np.int32(0)
    if role.held == 0 or message.args[messages.GENERATION] != role.latest:
        return
    if message.kind == messages.RELAUNCH:
        unanswered = message.args[messages.UNANSWERED] + np.int32(1)
        if role.matched == 1 or unanswered >= rules.launches:
            return
    tables.counts[i, LAUNCHED] += 1
    launch(tables, rules, neighbourhood, i, topic, side, unanswered, message.at, out)


@apart
def resume(tables, rules, neighbourhood, i, message, out):
    """Launch the walk of a role again after a crash; without refreshes, only if the walk of the
    last launch had no meeting.
    """
    topic, side = message.topic, message.args[messages.SIDE]
    role = tables.roles[i, 2 * topic + side]
    due = role.held == 1 and (rules.refresh_s < math.inf or role.matched == 0)
    if due and message.at <= rules.until_s:
        tables.counts[i, LAUNCHED] += 1
        launch(tables, rules, neighbourhood, i, topic, side, np.int32(0), message.at, out)
    plan_resume(tables, rules, i, 2 * topic + side + 1, out)


@apart
def new_launch(tables, i, topic, side, unanswered):
    """Number a new launch of the walk of a role of row i, and return its walker."""
    role = tables.roles[i, 2 * topic + side]
    walker = Walker(
        topic, np.int32(side), tables.node_id[i], role.incarnation, np.int32(role.launches)
    )
    role.launches += 1
    role.unanswered = unanswered
    role.reported = 0
    return walker


@apart
def start_timer(tables, rules, i, kind, after, walker, now, out):
    """Start a timer of a role for the newest launch of its walk, unless the wait `after` is
    infinite or would end after the run.
    """
    if after < math.inf and now + after <= rules.until_s:
        o = emit(out, kind, after, tables.node_id[i])
        o.topic = walker.topic
        o.args[messages.SIDE] = walker.side
        o.args[messages.GENERATION] = walker.generation
        role = tables.roles[i, 2 * walker.topic + walker.side]
        o.args[messages.UNANSWERED] = role.unanswered


@kernel
def plan_resume(tables, rules, i, first, out):
    """Set the timer RESUME after a crash, which launches the walk of the next role of row i,
    because the crash ended all timers.
    """
    # Timers run one after the other, because a node may have more walks than one call has records.
    if rules.relaunch_s == math.inf and rules.refresh_s == math.inf:
        return
    for w in range(first, tables.roles.shape[1]):
        if tables.roles[i, w].held == 1:
            o = emit(out, messages.RESUME, 0.0, tables.node_id[i])
            o.topic = w >> 1
            o.args[messages.SIDE] = w & 1
            return
