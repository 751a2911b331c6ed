"""Sent hellos: when a node sends its next hello, and which neighbours the hello lists."""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.driver import TICKS
from halfway.core.hello.messages import (
    BOTH_WAYS,
    HELLO,
    HELLO_TIMER,
    IDS,
    IN_ARGS,
    IN_REALS,
    LAST,
    LOWEST,
    NUMBERS,
    POSITION,
)
from halfway.core.hello.receiving import LONGEST, expire
from halfway.core.message import EVERYONE
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import random_bits, uniform

HELLO_PERIOD_S = 1.0  # default mean time between two hellos, in simulated and live nodes
RECORDS = 4  # most records of one hello, unless a list would then take more than `_HELLOS`
_HELLOS = 4  # most hellos that a list takes; the next hello continues a list
QUICK = 4  # hellos after a start with half the period between them, so that links appear soon
_JITTER = 2.0 * (LONGEST - 1.0)  # range of the random part of a period, as a share of the period


def most_emissions(limit: int) -> int:
    """Return the most records that a node emits at once when it sends a hello: records and the
    timer.

    limit: senders that the node has room for.
    """
    return max(RECORDS, -(-limit // (IDS * _HELLOS))) + 1


@inlined
def whole_ticks(delay_s):
    """Return the delay of a hello to send, rounded to whole clock ticks, so that a clock's offset
    changes no hello.
    """
    return np.floor(delay_s * TICKS) / TICKS


@inlined
def start(state, rules, i, now, out):
    """Start the hellos of row i: at a random time soon, or on the old schedule after a short
    absence.
    """
    if state.next_at[i] <= now:
        state.quick[i] = QUICK
        state.next_at[i] = now + whole_ticks(rules.period_s / 2.0 * uniform(random_bits(state, i)))
    emit(out, HELLO_TIMER, state.next_at[i] - now, state.node_id[i])


@apart
def tick(state, rules, neighbourhood, i, now, out):
    """Send the due hello of row i, forget silent senders, and set the timer of the next hello.

    now: seconds of the node's own clock.
    """
    expire(state, rules, neighbourhood, i, now)
    state.number[i] = (state.number[i] + 1) % NUMBERS
    for _ in range(records_of(state, i)):
        lowest = send_record(state, rules, neighbourhood, i, state.lowest[i], out)
        state.lowest[i] = max(lowest, 0)
        if lowest == NONE:
            break
    after = rules.period_s * (LONGEST - _JITTER * uniform(random_bits(state, i)))
    if state.quick[i] > 0:
        state.quick[i] -= 1
        after /= 2.0
    state.next_at[i] = now + whole_ticks(after)
    emit(out, HELLO_TIMER, whole_ticks(after), state.node_id[i])


@inlined
def records_of(state, i):
    """Return the most records of row i's next hello.

    A hub lists all nodes that it hears within `_HELLOS` hellos, because a link does not work before
    its other end reads that it is heard.
    """
    heard = np.int64(0)
    for s in range(state.first[i], state.first[i + 1]):
        heard += np.int64(state.link[s].is_heard)
    return max(RECORDS, (heard + IDS * _HELLOS - 1) // (IDS * _HELLOS))


@inlined
def next_heard(state, i, lowest):
    """Return the index of the first link of row i to list in the next hello: its sender is heard,
    and has at least the id `lowest`.
    """
    heard = NO_PLACE
    for s in range(state.first[i], state.first[i + 1]):
        link = state.link[s]
        nearer = heard == NO_PLACE or link.node_id < state.link[heard].node_id
        if link.is_heard == 1 and link.node_id >= lowest and nearer:
            heard = np.int64(s)
    return heard


@inlined
def send_record(state, rules, neighbourhood, i, lowest, out):
    """Send one record of a hello from row i, with the heard nodes from a given id on.

    Return the least id of the next record, or NONE if this one was the last.
    """
    o = emit(out, HELLO, 0.0, EVERYONE)
    o.sequence = state.number[i]
    o[LOWEST] = lowest
    for e in range(IN_ARGS):
        o.args[e] = NONE
    for e in range(IN_REALS):
        o.reals[e] = NONE
    if rules.positions:
        o.reals[POSITION] = neighbourhood.x[i]
        o.reals[POSITION + 1] = neighbourhood.y[i]
    count, both_ways = 0, np.int64(0)
    s = next_heard(state, i, lowest)
    while s != NO_PLACE and count < IDS:
        link = state.link[s]
        lowest = link.node_id
        if count < IN_ARGS:
            o.args[count] = lowest
        else:
            o.reals[count - IN_ARGS] = lowest
        both_ways |= np.int64(link.is_neighbour) << count
        count += 1
        s = next_heard(state, i, np.int64(lowest) + 1)
    o[BOTH_WAYS] = both_ways
    if s == NO_PLACE:
        o["flags"] = LAST
        return NONE
    return np.int32(lowest + 1)
