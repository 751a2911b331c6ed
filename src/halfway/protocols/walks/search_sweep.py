"""The sweeps of the walk systems: searches of a root that visit all nodes, depth first, to find
other trees.

[drw §5] leaves open when walks may stop. Sweeps are ours, because a random search leaves parts of a
chain, or of two cliques with a bridge, unvisited (decision 0063). A sweep steps onto an unvisited
neighbour, or back if a node has no unvisited neighbour. A visited node reports this to its
neighbours (SWEPT). A sweep of n nodes takes 2 (n - 1) steps and n such records; a neighbour that
heard no SWEPT costs two more steps.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.neighbourhood import place_of
from halfway.core.outbox import emit
from halfway.core.prng import low_half, seeded
from halfway.protocols.parts.reliable_hop import release
from halfway.protocols.walks import messages
from halfway.protocols.walks.messages import walker_of, write_member
from halfway.protocols.walks.steps import Move, first_random, random_of, send_first, send_step
from halfway.protocols.walks.tables.counts import CUT_SHORT, DIED, REDRAWN
from halfway.protocols.walks.tables.entries import is_same
from halfway.protocols.walks.trails import trail_of


@inlined
def is_sweep(rules, step):
    """Return whether the STEP of a walk belongs to a sweep."""
    return rules.sweep_steps > 0 and step.args[messages.SEARCHES] == 1


@inlined
def is_sweep_hop(tables, rules, i, place):
    """Return whether the hop in flight at a place of row i is the STEP of a sweep."""
    record = tables.hops.record[i, place]
    return record.kind == messages.STEP and is_sweep(rules, record)


@inlined
def key_of(walker, node_id):
    """Return the key under which a node remembers that the launch of a sweep has visited a
    neighbour.
    """
    # The key contains the neighbour's id, because the places of neighbours shift when the list
    # changes.
    key = seeded(np.uint64(walker.member), 2 * np.int64(walker.topic) + walker.side)
    key = seeded(seeded(key, walker.incarnation), walker.generation)
    return low_half(seeded(key, node_id))


@apart
def hear_swept(tables, neighbourhood, i, message):
    """Remember that a sweep has visited a neighbour of row i."""
    place = place_of(neighbourhood, i, message.source) - np.int64(neighbourhood.first[i])
    if 0 <= place < tables.swept.shape[2]:
        swept = tables.swept[i, message.topic, place]
        swept.key = key_of(walker_of(message), message.source)
        swept.hops = message.args[messages.STEPS]


@apart
def take_next_of_sweep(tables, neighbourhood, i, known, walker, random):
    """Return the next neighbour that a sweep visits from row i, and note this neighbour as tried.

    We take the neighbours in a random order by id, because the node then remembers one tried
    neighbour instead of all. The node from which the sweep came is last.
    """
    towards, least, after = np.int32(NONE), np.uint64(0), seeded(random, known.tried)
    first = np.int64(neighbourhood.first[i])
    for e in range(first, np.int64(neighbourhood.last[i])):
        other, p = neighbourhood.who[e], e - first
        visited = p < tables.swept.shape[2]
        visited = visited and tables.swept[i, walker.topic, p].key == key_of(walker, other)
        order = seeded(random, other)
        if visited or other == known.parent or (known.tried != NONE and order <= after):
            continue
        if towards == NONE or order < least:
            towards, least = np.int32(other), order
    known.tried = tables.node_id[i] if towards == NONE else towards
    return np.int32(known.parent) if towards == NONE else towards


@apart
def visit(tables, neighbourhood, i, topic, place, walker, source, hops, out):
    """Enter the first visit of a sweep to row i on its trail at a place, and report the visit to
    neighbours.

    We send the news of a meeting back by the neighbour with the fewest hops to the sweep's
    initiator, because the way of the sweep itself is long. hops: number of hops to the initiator
    through the source.
    """
    known = tables.trails[i, topic, place]
    known.parent, known.tried = source, NONE
    first = np.int64(neighbourhood.first[i])
    last = np.int64(neighbourhood.last[i])
    for p in range(min(last - first, tables.swept.shape[2])):
        other, swept = neighbourhood.who[first + p], tables.swept[i, topic, p]
        if swept.key == key_of(walker, other) and swept.hops + 1 < hops:
            known.back, hops = other, swept.hops + 1
    o = emit(out, messages.SWEPT, 0.0, EVERYONE)
    write_member(o, walker)
    o.args[messages.STEPS] = hops


@apart
def go_on(tables, rules, neighbourhood, i, place, step, after, now, out):
    """Make the next step of a sweep from row i, unless the sweep is finished at its initiator or
    has made its most steps.
    """
    walker, steps = walker_of(step), step.args[messages.STEPS]
    known = tables.trails[i, walker.topic, place]
    if steps >= rules.sweep_steps:
        tables.counts[i, CUT_SHORT] += 1
        return
    random = random_of(step)
    towards = take_next_of_sweep(tables, neighbourhood, i, known, walker, random)
    if towards != tables.node_id[i]:
        move = Move(towards, random, steps + 1, after, known.parent, 0)
        send_step(tables, rules, i, step, move, now, out)


@apart
def begin_sweep(tables, rules, neighbourhood, i, walker, place, now, out):
    """Begin a sweep at its initiator, whose own trail is at a place."""
    own, random = tables.node_id[i], first_random(tables, i, walker)
    visit(tables, neighbourhood, i, walker.topic, place, walker, own, 0, out)
    known = tables.trails[i, walker.topic, place]
    towards = take_next_of_sweep(tables, neighbourhood, i, known, walker, random)
    if towards == own:
        tables.counts[i, DIED] += 1
    else:
        send_first(tables, rules, i, walker, random, towards, True, now, out)


@apart
def sweep_on(tables, rules, neighbourhood, i, message, place, out):
    """Let a sweep continue from row i after a STEP: forward at a first visit or after a return,
    otherwise back at once.
    """
    after, steps = rules.step_delay_s[message.args[messages.SIDE]], message.args[messages.STEPS]
    if place != NO_PLACE:
        known = tables.trails[i, message.topic, place]
        if known.since == message.at or known.tried == message.source:
            go_on(tables, rules, neighbourhood, i, place, message, after, message.at, out)
            return
    back = Move(message.source, random_of(message), steps + 1, after, NONE, 0)
    send_step(tables, rules, i, message, back, message.at, out)


@apart
def sweep_failed(tables, rules, neighbourhood, i, place, now, out):
    """Repeat the failed STEP of a sweep once, then skip the neighbour that does not answer.

    We let the sweep end if the way back fails, because the next launch of its root searches again.
    """
    failed = tables.hops.record[i, place]
    walker, tries, towards = walker_of(failed), tables.redraws[i, place], failed.next
    steps, topic = failed.args[messages.STEPS], walker.topic
    release(tables.hops, i, place)
    trail_place = trail_of(tables, rules, i, topic, walker.side, walker.member, now)
    if trail_place == NO_PLACE or not is_same(tables.trails[i, topic, trail_place], walker):
        return
    known = tables.trails[i, topic, trail_place]
    if tries == 0:
        tables.counts[i, REDRAWN] += 1
        again = Move(towards, random_of(failed), steps, 0.0, known.parent, 1)
        send_step(tables, rules, i, failed, again, now, out)
    elif towards == known.tried:
        tables.counts[i, REDRAWN] += 1
        go_on(tables, rules, neighbourhood, i, trail_place, failed, 0.0, now, out)
    else:
        tables.counts[i, DIED] += 1
