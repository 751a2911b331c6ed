"""The arrival of a walk at a node, the meeting of two walks, and the news of it [drw §3].

Shared by both walk systems: everything but a walk's choice of its next node.
"""

import numpy as np

from halfway.core.compiled import apart, inlined, kernel
from halfway.core.missing import NO_PLACE
from halfway.core.prng import joined
from halfway.protocols import reliable_hop
from halfway.protocols.walks import messages
from halfway.protocols.walks.following import follow
from halfway.protocols.walks.launch import leave_trail, meetable, random_of, send_step
from halfway.protocols.walks.state import (
    DIED,
    FREE,
    HEARD,
    LOST,
    PASSED,
    is_later,
    is_same,
    trail_of,
    walker_at,
    walker_of,
)


@kernel
def step_arrived(trails, rules, neighbourhood, i, message, out):
    """Receive a walk's STEP: True if it ends at a meeting here, or goes to a neighbour that
    advertised another walk's trail."""
    walker, now, topic = walker_of(message), message.at, message.topic
    if reliable_hop.acknowledge_if_asked(trails.hops, i, message, out) or is_outrun(
        trails, rules, i, message
    ):
        return True
    at = leave_trail(trails, rules, i, walker, message.source, now, out)
    if at != NO_PLACE:
        trails.trails[i, topic, at].steps = message.args[messages.STEPS]
    known = joined(message.args[messages.KNOWN_LOW], message.args[messages.KNOWN_HIGH])
    other = meetable(trails, rules, i, topic, walker.member, known, PASSED, now)
    if at != NO_PLACE and other != NO_PLACE:
        meet(trails, rules, i, topic, at, other, now, out)
        return True
    # [drw §3] "It then stops the dissemination". We end the other walk where it reaches a node of
    # its trail that a MATCH passed, or at its own meeting, because no message can stop it at once.
    matched = at != NO_PLACE and trails.trails[i, topic, at].met == 1
    if matched or message.args[messages.STEPS] >= message.args[messages.MOST_STEPS]:
        return True
    heard = meetable(trails, rules, i, topic, walker.member, known, HEARD, now)
    if rules.advertise and heard != NO_PLACE:
        # The hop onto the neighbour that carries the other trail counts as a step.
        towards, random = trails.trails[i, topic, heard].back, random_of(message)
        steps, after = message.args[messages.STEPS] + 1, rules.step_delay_s[walker.side]
        send_step(
            trails, rules, i, message, random, steps, after, towards, message.source, 0, out
        )  # fmt: skip
        return True
    if neighbourhood.first[i] == neighbourhood.last[i]:
        trails.counts[i, DIED] += 1
        return True
    return False


@inlined
def is_outrun(trails, rules, i, message):
    """Whether a walk's STEP is outrun: a later launch passed, or this one with as many steps."""
    # A step whose acknowledgements were all lost is made twice, and the walk forks. A fork ends
    # where it reaches the other's trail with fewer steps behind it.
    walker = walker_of(message)
    at = trail_of(trails, rules, i, walker.topic, walker.side, walker.member, message.at)
    if at == NO_PLACE or trails.trails[i, walker.topic, at].status != PASSED:
        return False
    known = trails.trails[i, walker.topic, at]
    if is_same(known, walker):
        return message.args[messages.STEPS] <= known.steps
    return is_later(known, walker)


@kernel
def can_redraw(trails, rules, neighbourhood, i, place, now):
    """Whether a walk's failed hop is a STEP with another neighbour to choose; else release it."""
    failed = trails.hops.record[i, place]
    if failed.kind == messages.STEP:
        walker = walker_of(failed)
        forget_heard(trails, i, walker.topic, failed.next)
        at = trail_of(trails, rules, i, walker.topic, walker.side, walker.member, now)
        degree = neighbourhood.last[i] - neighbourhood.first[i]
        over = at != NO_PLACE and (
            is_later(trails.trails[i, walker.topic, at], walker)
            or trails.trails[i, walker.topic, at].met == 1
        )
        if not over and degree > 0 and trails.redraws[i, place] < degree:
            return True
        trails.counts[i, DIED] += not over
    else:
        # A path has no alternative to a next node that is gone: the record is lost, and the next
        # launches of the members make another path.
        trails.counts[i, LOST] += 1
    reliable_hop.release(trails.hops, i, place)
    return False


@apart
def forget_heard(trails, i, topic, neighbour):
    """Forget the trails of walks that a neighbour advertised which is gone."""
    for k in range(trails.trails.shape[2]):
        known = trails.trails[i, topic, k]
        if known.status == HEARD and known.back == neighbour:
            known.status = FREE


@apart
def meet(trails, rules, i, topic, at, other, now, out):
    """Meet: a walk that arrived and another member's trail have their rendezvous here; notify the
    other initiator, whose answer notifies the initiator of the walk."""
    known, met = trails.trails[i, topic, at], trails.trails[i, topic, other]
    known.met = 1
    way = (np.int32(messages.TRAIL_DOWN), met.member, np.int32(met.side))
    follow(trails, rules, i, walker_at(topic, known), way, 0, known.back, now, out)
