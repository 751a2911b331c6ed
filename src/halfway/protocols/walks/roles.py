"""A member's role on a topic of the walks: it begins, launches walks, is renewed, and ends."""

import math

import numpy as np

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE, NONE
from halfway.protocols.walks import messages
from halfway.protocols.walks.answers import DONE, extend, others_end_here
from halfway.protocols.walks.launch import (
    begin_path,
    first_step,
    known_members,
    leave_trail,
    meetable,
    new_launch,
    plan_resume,
)
from halfway.protocols.walks.meeting import meet
from halfway.protocols.walks.messages import PATH_UP
from halfway.protocols.walks.routes import end_path, join
from halfway.protocols.walks.state import LAUNCHED, PASSED, Walker, path_of


@apart
def begin_role(trails, rules, neighbourhood, i, message, side, out):
    """Begin a role of row i's application on a topic, unless it holds that role: launch a walk."""
    role = trails.roles[i, 2 * message.topic + side]
    if role.held == 1:
        return
    role.held = 1
    role.incarnation = message.epoch
    role.asked_at = message.at
    launch(trails, rules, neighbourhood, i, message.topic, side, np.int32(0), message.at, out)


@apart
def end_role(trails, rules, neighbourhood, i, message, side, out):
    """End a role of row i's application on a topic. If its walk served the other side too, the
    other side launches its own."""
    topic, now, own = message.topic, message.at, trails.node_id[i]
    role = trails.roles[i, 2 * topic + side]
    if role.held == 0:
        return
    role.held = 0
    role.matched = 0
    role.searches = 0
    walker = Walker(topic, np.int32(side), own, role.incarnation, np.int32(role.launches))
    end_path(trails, rules, i, walker, NONE, now, out)
    other = trails.roles[i, 2 * topic + 1 - side]
    if role.walks == 1 and other.held == 1:
        role.walks = 0
        launch(trails, rules, neighbourhood, i, topic, 1 - side, np.int32(0), now, out)


@apart
def launch(trails, rules, neighbourhood, i, topic, side, unanswered, now, out):
    """Launch a walk of row i's member, unless the walk of its other side serves both."""
    role, own = trails.roles[i, 2 * topic + side], trails.node_id[i]
    walker = new_launch(trails, rules, i, topic, side, unanswered, now, out)
    place = begin_path(trails, rules, i, walker, now)
    if place == NO_PLACE:
        return
    join(trails, rules, i, topic, place, True, now, out)
    other = trails.roles[i, 2 * topic + 1 - side]
    shared = path_of(trails, rules, i, topic, 1 - side, own, now)
    role.walks = not (other.held == 1 and other.walks == 1 and shared != NO_PLACE)
    role.matched = role.walks == 0
    if role.walks == 1:
        ends = others_end_here(trails, rules, i, topic, now)
        searches = ends and rules.search_steps > 0
        most_steps = rules.search_steps if searches else rules.most_steps
        walk(trails, rules, neighbourhood, i, walker, searches or not ends, most_steps, now, out)
        return
    towards = trails.paths[i, topic, shared].forth
    trails.paths[i, topic, place].forth = own
    if towards != own:
        way = (PATH_UP, own, np.int32(1 - side))
        extend(trails, rules, i, topic, place, way, towards, out)


@apart
def walk(trails, rules, neighbourhood, i, walker, filtered, most_steps, now, out):
    """Begin the walk of a launch, at a node that another member's trail passed with a meeting.

    filtered: the walk does not meet members whose paths lead here.
    """
    topic, own = walker.topic, trails.node_id[i]
    role = trails.roles[i, 2 * topic + walker.side]
    place = path_of(trails, rules, i, topic, walker.side, own, now)
    known = role.shunned
    if filtered and place != NO_PLACE:
        forth = trails.paths[i, topic, place].forth
        known |= known_members(trails, rules, i, topic, forth, now)
    at = leave_trail(trails, rules, i, walker, own, now, out)
    other = meetable(trails, rules, i, topic, own, known, PASSED, now)
    if at != NO_PLACE and other != NO_PLACE:
        meet(trails, rules, i, topic, at, other, now, out)
    else:
        first_step(trails, rules, neighbourhood, i, walker, known, np.int32(most_steps), out)


@apart
def search(trails, rules, neighbourhood, i, message, out):
    """Launch a walk to members that met each other elsewhere, if other paths end at row i."""
    topic, side, now = message.topic, message.args[messages.SIDE], message.at
    role = trails.roles[i, 2 * topic + side]
    role.searches = DONE
    place = path_of(trails, rules, i, topic, side, trails.node_id[i], now)
    if role.held == 0 or role.walks == 0 or place == NO_PLACE:
        return
    ends = others_end_here(trails, rules, i, topic, now)
    if ends and trails.paths[i, topic, place].forth == trails.node_id[i]:
        trails.counts[i, LAUNCHED] += 1
        walker = new_launch(trails, rules, i, topic, side, np.int32(role.unanswered), now, out)
        walk(trails, rules, neighbourhood, i, walker, True, rules.search_steps, now, out)


@apart
def launch_again(trails, rules, neighbourhood, i, message, out):
    """Launch a walk again at its RELAUNCH or REFRESH timer, unless the launch is outdated."""
    topic, side = message.topic, message.args[messages.SIDE]
    role, unanswered = trails.roles[i, 2 * topic + side], np.int32(0)
    if role.held == 0 or message.args[messages.GENERATION] != role.launches - 1:
        return
    if message.kind == messages.RELAUNCH:
        unanswered = message.args[messages.UNANSWERED] + np.int32(1)
        if role.matched == 1 or unanswered >= rules.launches:
            return
    trails.counts[i, LAUNCHED] += 1
    launch(trails, rules, neighbourhood, i, topic, side, unanswered, message.at, out)


@apart
def restart(trails, rules, i, out):
    """Restart a walks' node after a crash, which ended all timers."""
    for w in range(trails.roles.shape[1]):
        if trails.roles[i, w].searches != DONE:
            trails.roles[i, w].searches = 0
    plan_resume(trails, rules, i, 0, out)


@apart
def resume(trails, rules, neighbourhood, i, message, out):
    """Launch a walk again as if its timer had ended; without refreshes, only an unanswered one."""
    topic, side = message.topic, message.args[messages.SIDE]
    role = trails.roles[i, 2 * topic + side]
    due = role.held == 1 and (rules.refresh_s < math.inf or role.matched == 0)
    if due and message.at <= rules.until_s:
        trails.counts[i, LAUNCHED] += 1
        launch(trails, rules, neighbourhood, i, topic, side, np.int32(0), message.at, out)
    plan_resume(trails, rules, i, 2 * topic + side + 1, out)
