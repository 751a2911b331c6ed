"""The steps of a walk of either walk system: the first step, the content of a STEP, when a STEP is
void, and where a failed STEP goes instead.

Each walk system chooses the next node by its own rule. The meeting of walks decides whether a walk
goes on. The rules on failed steps and on the end of a walk are ours, because the paper [drw §2]
does not manage failures, and [drw §5] leaves open when to stop a walk.
"""

from typing import NamedTuple

import numpy as np

from halfway.core.compiled import apart, inlined, kernel
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import advanced, high_half, joined, low_half, mixed, pick, seeded
from halfway.protocols.parts.reliable_hop import release, track_if_asked
from halfway.protocols.walks import messages
from halfway.protocols.walks.messages import walker_of, write_member
from halfway.protocols.walks.tables.counts import DIED, LOST, REDRAWN
from halfway.protocols.walks.tables.entries import FREE, HEARD, PASSED, is_later, is_same
from halfway.protocols.walks.trails import trail_of
from halfway.protocols.walks.trees import root_of

# We let a search end before its most steps, because in a small network it has visited all nodes.
STEPS_PER_NODE = 30


class Move(NamedTuple):
    """The move of a walk from a node to a neighbour, from which its STEP is made."""

    towards: np.int32  # node id of the neighbour
    random: np.uint64  # the random state of the walk after the choice of the neighbour
    steps: int | np.int32  # of the walk, this move included
    after_s: float  # until the STEP is sent
    came_from: np.int32 | int  # the node before, if another neighbour may replace this one
    redraws: int | np.int32  # neighbours tried before this one


@kernel
def send_step(tables, rules, i, step, move, now, out):
    """Send the STEP of a `Move` of a walk.

    step: the record of the step before, or of the launch, whose other fields are copied.
    """
    # We let the random state travel with the walk, because the path of a walk should depend only on
    # its own seed, and not on other walks that passed the same nodes before.
    o = emit(out, messages.STEP, move.after_s, move.towards)
    write_member(o, walker_of(step))
    o.args[messages.RANDOM_LOW] = low_half(move.random)
    o.args[messages.RANDOM_HIGH] = high_half(move.random)
    o.args[messages.STEPS] = move.steps
    o.args[messages.ROOT_ID] = step.args[messages.ROOT_ID]
    o.args[messages.SEARCHES] = step.args[messages.SEARCHES]
    searches = step.args[messages.SEARCHES] == 1 and rules.sweep_steps == 0
    if searches or rules.at_meeting == messages.GO_ON:
        o.args[messages.FRESH] = fresh_nodes(tables, rules, i, step)
    place = track_if_asked(tables.hops, rules, i, o, now, out)
    if place != NO_PLACE:
        tables.came_from[i, place] = move.came_from
        tables.redraws[i, place] = move.redraws


@apart
def fresh_nodes(tables, rules, i, step):
    """Return how many nodes a walk has visited for the first time, up to this STEP of the walk."""
    side = step.args[messages.SIDE]
    place = trail_of(tables, rules, i, step.topic, side, step[messages.MEMBER], step.at)
    fresh = place != NO_PLACE and tables.trails[i, step.topic, place].since == step.at
    return step.args[messages.FRESH] + np.int32(fresh)


@inlined
def is_over(tables, rules, i, step):
    """Return whether a walk ends at its STEP: after the most steps, or when a search finds too few
    new nodes.

    We let a walk that goes on after meetings end like a search, because no meeting ends it.
    """
    steps = step.args[messages.STEPS]
    if step.args[messages.SEARCHES] == 0 and rules.at_meeting != messages.GO_ON:
        return steps >= rules.most_steps
    few = STEPS_PER_NODE * fresh_nodes(tables, rules, i, step)
    return steps >= min(rules.search_steps, few)


@inlined
def is_outrun(tables, rules, i, message):
    """Return whether the STEP of a walk is void: a later launch has passed here, or a fork of this
    launch with as many steps.
    """
    # We end one fork, because a walk with two heads pays twice. If all acknowledgements of a step
    # are lost, the node repeats the step to another neighbour, and the walk forks. A fork ends
    # where it reaches the trail of the other fork with fewer steps.
    walker = walker_of(message)
    place = trail_of(tables, rules, i, walker.topic, walker.side, walker.member, message.at)
    if place == NO_PLACE or tables.trails[i, walker.topic, place].status != PASSED:
        return False
    known = tables.trails[i, walker.topic, place]
    if is_same(known, walker):
        return message.args[messages.STEPS] <= known.steps
    return is_later(known, walker)


@inlined
def random_of(step):
    """Return the random state in the STEP of a walk."""
    return joined(step.args[messages.RANDOM_LOW], step.args[messages.RANDOM_HIGH])


@inlined
def step_input(tables, i, message, place):
    """Return what a walk system's choice of the next step reads from a STEP: mark, random state,
    previous node, excluded neighbour.

    place: the place of the failed hop that takes another neighbour; NONE after the arrival of the
    walk.
    """
    if place < 0:
        return mark_of(message), advanced(random_of(message)), message.source, NONE
    failed = tables.hops.record[i, place]
    return mark_of(failed), advanced(random_of(failed)), tables.came_from[i, place], failed.next


@inlined
def mark_of(step):
    """Return the mark of the walk in its STEP: topic, member and side in one number.

    A node stores the raised weights of a directional walk under its mark.
    """
    side = 2 * np.int64(step.topic) + step.args[messages.SIDE]
    return low_half(seeded(np.uint64(step[messages.MEMBER]), side))


@inlined
def make_step(tables, rules, i, message, place, random, towards, out):
    """Send the STEP that a walk chose: after its delay, or at once if it replaces a failed STEP."""
    if place < 0:
        after, steps = rules.step_delay_s[message.args[messages.SIDE]], message.args[messages.STEPS]
        move = Move(towards, random, steps + 1, after, message.source, 0)
        send_step(tables, rules, i, message, move, message.at, out)
    else:
        failed = tables.hops.record[i, place]
        steps = failed.args[messages.STEPS]
        came_from, redraws = tables.came_from[i, place], tables.redraws[i, place] + 1
        release(tables.hops, i, place)
        tables.counts[i, REDRAWN] += 1
        again = Move(towards, random, steps, 0.0, came_from, redraws)
        send_step(tables, rules, i, failed, again, message.at, out)


@apart
def _forget_heard(tables, i, topic, neighbour):
    """Forget the trails that a neighbour advertised, because this neighbour did not answer the STEP
    of a walk.
    """
    for k in range(tables.trails.shape[2]):
        known = tables.trails[i, topic, k]
        if known.status == HEARD and known.back == neighbour:
            known.status = FREE


@kernel
def redraw_or_release(tables, rules, neighbourhood, i, place, now):
    """Return whether the failed STEP of a walk can take another neighbour; if not, release the hop,
    and count the walk as dead or the other record as lost.

    We let the node forget the trails that this neighbour advertised in both cases, because a walk
    that turns to them would fail again.
    """
    failed = tables.hops.record[i, place]
    if failed.kind == messages.STEP:
        walker = walker_of(failed)
        _forget_heard(tables, i, walker.topic, failed.next)
        trail_place = trail_of(tables, rules, i, walker.topic, walker.side, walker.member, now)
        degree = neighbourhood.last[i] - neighbourhood.first[i]
        over = trail_place != NO_PLACE and (
            is_later(tables.trails[i, walker.topic, trail_place], walker)
            or tables.trails[i, walker.topic, trail_place].met == 1
        )
        if not over and degree > 0 and tables.redraws[i, place] < degree:
            return True
        tables.counts[i, DIED] += not over
    else:
        # A path has no alternative to its next node. If this node is gone, the record is lost, and
        # the next launches of the members make another path.
        tables.counts[i, LOST] += 1
    release(tables.hops, i, place)
    return False


@apart
def first_step(tables, rules, neighbourhood, i, walker, searches, now, out):
    """Make the first step of a launched walk: [drw Fig. 3, line 1] the initiator selects a
    neighbour uniformly. searches: whether the walk is a search.
    """
    first, last = neighbourhood.first[i], neighbourhood.last[i]
    if first == last:
        tables.counts[i, DIED] += 1
        return
    random = first_random(tables, i, walker)
    towards = neighbourhood.who[first + pick(mixed(random), last - first)]
    send_first(tables, rules, i, walker, random, towards, searches, now, out)


@inlined
def first_random(tables, i, walker):
    """Return the random state with which a launched walk of row i makes its first step."""
    random = seeded(tables.random_state[i], 2 * np.int64(walker.topic) + walker.side)
    if walker.generation > 0:
        random = seeded(random, walker.generation)
    return advanced(random)


@apart
def send_first(tables, rules, i, walker, random, towards, searches, now, out):
    """Send the STEP that is the first step of a launched walk to a neighbour."""
    o = emit(out, messages.STEP, rules.step_delay_s[walker.side], towards)
    write_member(o, walker)
    o.args[messages.RANDOM_LOW] = low_half(random)
    o.args[messages.RANDOM_HIGH] = high_half(random)
    o.args[messages.STEPS] = 1
    o.args[messages.ROOT_ID] = root_of(tables, rules, i, walker.topic, now)
    o.args[messages.SEARCHES] = searches
    place = track_if_asked(tables.hops, rules, i, o, now, out)
    if place != NO_PLACE:
        tables.came_from[i, place] = NONE
        tables.redraws[i, place] = 0
