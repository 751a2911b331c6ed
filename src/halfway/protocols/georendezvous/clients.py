"""The clients of cell hashing [geo §2.2-2.4]: publishers advertise, subscribers choose a point."""

import numpy as np

from halfway.core.compiled import apart
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.protocols.flooding import DELIVERED
from halfway.protocols.georendezvous.routing import (
    ADVERT,
    HOPS,
    INTEREST,
    NOTIFY,
    NUMBER,
    PRUNE,
    PUBLISHER,
    STAMP,
    UNMADE,
    blank,
    dispatch,
)
from halfway.protocols.georendezvous.tables import NONE, distance_to, is_close, rival

NO_POINT = np.int32(255)  # in HEARD: the event came, but no point's way can be judged by it


@apart
def advertise(state, rules, i, topic, out):
    """[geo §2.3] "send an advertisement to each of the n rendezvous points"."""
    for number in range(rules.points):
        o = blank(state, rules, i, ADVERT, topic, np.int32(number), state.node_id[i], NONE, out)
        dispatch(state, rules, i, o, out)


@apart
def subscribe(state, rules, i, topic, stamp, out):
    """[geo §2.4] "selects just the m rendezvous points that are physically closer to it"."""
    for number in range(rules.points):
        if is_close(state, rules, i, topic, np.int32(number)):
            interest(state, rules, i, topic, np.int32(number), stamp, out)


@apart
def interest(state, rules, i, topic, number, stamp, out):
    """A subscription to one point. With a stamp, what was pruned there before shall come again."""
    o = blank(state, rules, i, INTEREST, topic, number, NONE, state.node_id[i], out)
    o.reals[STAMP] = stamp
    dispatch(state, rules, i, o, out)


@apart
def renew(state, rules, i, stamp, out):
    """[geo §2.2] "periodically repeat their advertisements and subscriptions"."""
    for topic in range(state.advertised.shape[1]):
        if state.advertised[i, topic] == 1:
            advertise(state, rules, i, np.int32(topic), out)
        if state.subscribed[i, topic] == 1:
            subscribe(state, rules, i, np.int32(topic), stamp, out)


@apart
def publish(state, rules, i, message, out):
    """[geo §2.3] "only send notifications through paths where it actually has receivers"."""
    for number in range(rules.points):
        if state.wanted_until[i, message.topic, number] > message.at:
            o = blank(
                state,
                rules,
                i,
                NOTIFY,
                message.topic,
                np.int32(number),
                state.node_id[i],
                NONE,
                out,
            )
            o.event = message.event
            dispatch(state, rules, i, o, out)


@apart
def hear(state, rules, i, message, out):
    """An event comes through a point: deliver the first, prune the longer way of any two."""
    if state.subscribed[i, message.topic] == 0:
        return
    # What had to take another way says little of its point's way: nothing is pruned by it.
    usual, number = message.reals[UNMADE] == 0.0, message.args[NUMBER]
    hops = np.int32(message.args[HOPS] - message.reals[UNMADE])
    heard = state.heard
    place = np.uint32(message.event) & np.uint32(heard.event.shape[1] - 1)
    if message.event < heard.event[i, place]:
        return  # so old that it counts as told
    if message.event > heard.event[i, place]:
        heard.event[i, place] = message.event
        heard.number[i, place], heard.hops[i, place] = number if usual else NO_POINT, hops
        if message.args[PUBLISHER] != state.node_id[i]:
            o = emit(out, DELIVERED, 0.0, APP)
            o.topic, o.event = message.topic, message.event
            o.args[NUMBER], o.args[HOPS] = number, hops
        return
    best = np.int32(heard.number[i, place])
    if best == number or not usual:
        return
    if best == NO_POINT:
        heard.number[i, place], heard.hops[i, place] = number, hops
    elif shorter(state, rules, i, message, best, np.int64(heard.hops[i, place])):
        heard.number[i, place], heard.hops[i, place] = number, hops
        prefer(state, rules, i, message, number, best, out)
    else:
        prefer(state, rules, i, message, best, number, out)


@apart
def shorter(state, rules, i, message, best, fewest):
    """[geo §2.3] "the shortest number of hops", ties by "distance to the rendezvous point"."""
    number, hops = message.args[NUMBER], message.args[HOPS]
    if hops != fewest:
        return hops < fewest
    here = distance_to(state, rules, i, message.topic, number)
    there = distance_to(state, rules, i, message.topic, best)
    return here < there or (here == there and number < best)


@apart
def prefer(state, rules, i, message, winner, loser, out):
    """Prune the losing point for this publisher, and take back an earlier prune of the winner."""
    now = message.at
    r = rival(state, i, message.topic, message.args[PUBLISHER], now)
    if state.rivals.pruned[i, r] & (np.uint32(1) << np.uint32(winner)):
        # Two events that were under way while paths changed could have pruned both points.
        state.rivals.pruned[i, r] = 0
        interest(state, rules, i, message.topic, winner, now, out)
    state.rivals.pruned[i, r] |= np.uint32(1) << np.uint32(loser)
    state.rivals.until[i, r] = now + rules.lifetime
    o = blank(
        state, rules, i, PRUNE, message.topic, loser, message.args[PUBLISHER], state.node_id[i], out
    )
    o.reals[STAMP] = now
    dispatch(state, rules, i, o, out)
