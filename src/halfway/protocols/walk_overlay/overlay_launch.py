"""The launches of walks by the roots of the walk overlay: when a root launches a walk, how often it
tries again, and when it reports a lost walk.

[dwo Alg. 2] a walk goes on until it intersects another. The paper states no end for a walk that
meets no other. We let a root whose walk met no other fragment launch the next walk after
`relaunch_s` seconds, up to `quick_launches` times, and more rarely after that, because a head may
die and a partition may end, but a fragment that stays alone should not spend its energy on walks.
"""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.missing import NO_PLACE
from halfway.core.outbox import emit
from halfway.core.prng import high_half, low_half, seeded
from halfway.protocols.walk_overlay import messages
from halfway.protocols.walk_overlay.fragments import name_successor
from halfway.protocols.walk_overlay.state import IN_DOUBT, SEARCHING, VISITED, trail_for


@apart
def launch(state, rules, i, after, attempt, now, out):
    """Launch an overlay walk of a root, with one NEXT_STEP for each branch; `attempt` earlier walks
    met no other walk.
    """
    launch_heads(state, rules, i, after, attempt, rules.branches, np.uint8(0), out)
    start_relaunch(state, rules, i, after, now, out)


@apart
def start_relaunch(state, rules, i, after, now, out):
    """Start the timer after which a root launches another overlay walk, unless the present walk
    meets a walk.

    Each launch starts its own timer, because the timer of the walk before is void.
    """
    later = after + relaunch_delay(state, rules, i)
    if later < np.inf and now + later <= rules.until_s:
        o = emit(out, messages.RELAUNCH, later, state.members.node_id[i])
        o.args[messages.NUMBER] = state.members.walks[i]


@apart
def launch_heads(state, rules, i, after, attempt, branches, flags, out):
    """Launch the heads of an overlay walk, one for each branch, with given flags."""
    members, trails = state.members, state.trails
    members.walks[i] += 1
    members.open_branches[i] = branches
    members.attempt[i] = attempt
    number = members.walks[i]
    s = trail_for(state, i, members.node_id[i], number)
    trails.marks[i, s] |= VISITED
    trails.back[i, s] = members.node_id[i]
    for branch in range(branches):
        # [dwo §IV] one or two branches. We start them half a step apart, because heads that take
        # turns see each other's marks.
        later = after + 0.5 * (rules.step_pause_s + rules.bid_timeout_s) * branch
        word = seeded(members.random_state[i], 2 * (number - 1) + branch)
        o = emit(out, messages.NEXT_STEP, rules.step_pause_s + later, members.node_id[i])
        o.args[messages.INITIATOR] = members.node_id[i]
        o.args[messages.NUMBER] = number
        o.args[messages.BRANCH] = branch
        o.args[messages.RANDOM_LOW] = low_half(word)
        o.args[messages.RANDOM_HIGH] = high_half(word)
        o["flags"] = flags


@apart
def relaunch_delay(state, rules, i):
    """Return the seconds before a root launches the next overlay walk, after a walk that met no
    other walk. A root never stops launching walks.

    We let the root of an established fragment wait longer with each try, because the fragment works
    without the meeting. A fragment without an overlay delivers nothing outside itself.
    """
    members = state.members
    tried = members.attempt[i] + 1
    if members.search[i] == SEARCHING and tried < rules.quick_launches:
        return rules.relaunch_s
    return rules.relaunch_s * min(tried, rules.quick_launches)


@apart
def relaunch(state, rules, i, message, out):
    """Launch the next overlay walk, because the last walk met no other walk for so long that its
    head may be dead.
    """
    members = state.members
    if members.search[i] != 0 and members.walks[i] == message.args[messages.NUMBER]:
        launch(state, rules, i, 0.0, members.attempt[i] + np.int32(1), message.at, out)


@apart
def end_branch(state, rules, i, number, out):
    """End a branch of a launched overlay walk, which is back at its root without a node left to
    visit; after the last branch, report the launch as LOST.

    We let a fragment that met no other fragment count as established, because it may be the whole
    component of the network. Its root walks on, because a partition may end.
    """
    members = state.members
    if number != members.walks[i] or members.open_branches[i] <= 0:
        return
    members.open_branches[i] -= 1
    if members.open_branches[i] == 0:
        if members.search[i] == IN_DOUBT or members.attempt[i] + 1 >= rules.quick_launches:
            members.search[i] = IN_DOUBT if rules.relaunch_s < np.inf else 0
            name_successor(state, rules, i, NO_PLACE, out)
        emit(out, messages.LOST, 0.0, APP)
