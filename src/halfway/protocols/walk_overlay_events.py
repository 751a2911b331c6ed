"""Events on the overlay: one Bloom filter for each overlay neighbour, of what lies behind it.

A filter is the union of what is wanted here and of what the other overlay neighbours told, made
anew whenever one of these changes; only the chunks that differ are sent. Removing is then the same
as adding, and a filter never lacks what it should hold once its chunks have arrived.
"""

import numpy as np

from halfway.core.bloom import insert
from halfway.core.compiled import apart, kernel
from halfway.core.message import APP
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay_content import admits, matches
from halfway.protocols.walk_overlay_memory import (
    CHUNK,
    CHUNK_WORDS,
    DELIVERED,
    EVENT,
    NEVER,
    UNMATCHED,
    degree_of,
    neighbour,
    position_of,
)


@apart
def forget_filters(state, i, p):
    """Nothing lies behind the neighbour at a position, and it was told nothing."""
    for word in range(state.heard.shape[2]):
        state.heard[i, p, word] = 0
        state.told[i, p, word] = 0


@apart
def behind(state, around, i, p, word):
    """One word of the filter for the overlay neighbour at p: all that lies not behind it."""
    union = state.own[i, word]
    for q in range(degree_of(around, i)):
        if q != p and state.linked[i, q] == 1:
            union |= state.heard[i, q, word]
    return union


@apart
def refresh(state, rules, around, i, out):
    """Tell each overlay neighbour the chunks of its filter that are not what it was told."""
    words = state.own.shape[1]
    for p in range(degree_of(around, i)):
        if state.linked[i, p] == 0:
            continue
        for begin in range(0, words, CHUNK_WORDS):
            changed = False
            for word in range(begin, min(begin + CHUNK_WORDS, words)):
                union = behind(state, around, i, p, word)
                changed = changed or union != state.told[i, p, word]
                state.told[i, p, word] = union
            if changed:
                o = emit(out, CHUNK, 0.0, neighbour(around, i, p))
                o.args[0] = begin
                for word in range(begin, min(begin + CHUNK_WORDS, words)):
                    o.args[1 + word - begin] = np.int32(state.told[i, p, word])


@apart
def chunk(state, rules, around, i, message, out):
    """An overlay neighbour tells a chunk of the filter for what lies behind it."""
    p = position_of(around, i, message.source)
    if p < 0 or state.linked[i, p] == 0:
        return
    begin = message.args[0]
    for word in range(begin, min(begin + CHUNK_WORDS, state.own.shape[1])):
        state.heard[i, p, word] = np.uint32(message.args[1 + word - begin])
    refresh(state, rules, around, i, out)


@kernel
def insert_all(words, wanted, book, bits, hashes):
    """Enter every subscription that is wanted (a row of `wanted`) into a filter."""
    for s in range(wanted.shape[0]):
        if wanted[s] == 1:
            for k in range(book.first[s], book.first[s + 1]):
                insert(words, book.item[k], bits, hashes)


@apart
def want(state, rules, around, book, i, s, wanted, out):
    """The application subscribes or unsubscribes: its filter is made anew from what is left."""
    state.wanted[i, s] = wanted
    for word in range(state.own.shape[1]):
        state.own[i, word] = 0
    insert_all(state.own[i], state.wanted[i], book, rules.bits, rules.hashes)
    refresh(state, rules, around, i, out)


@apart
def deliver(state, book, i, event, out):
    """To the application, if a subscription of its own really matches: filters do not decide."""
    for s in range(state.wanted.shape[1]):
        if state.wanted[i, s] == 1 and matches(book, s, event):
            o = emit(out, DELIVERED, 0.0, APP)
            o.topic = book.event_topic[event]
            o.event = event
            return


@apart
def forward(state, rules, around, book, i, event, came_from, out):
    """To every overlay neighbour but one, where its filter says yes."""
    for p in range(degree_of(around, i)):
        if p == came_from or state.linked[i, p] == 0:
            continue
        if not rules.filtered or admits(
            state.heard[i, p], book, event, np.uint64(rules.key), rules.bits, rules.hashes
        ):
            o = emit(out, EVENT, 0.0, neighbour(around, i, p))
            o.topic = book.event_topic[event]
            o.event = event


@apart
def publish(state, rules, around, book, i, message, out):
    """The application publishes. Its own node is not told."""
    if state.members.root[i] == NEVER:
        o = emit(out, UNMATCHED, 0.0, APP)
        o.event = message.event
        return
    if state.seen[i, message.event] == 0:
        state.seen[i, message.event] = 1
        forward(state, rules, around, book, i, message.event, np.int64(-1), out)


@apart
def event(state, rules, around, book, i, message, out):
    """An event comes by. A circle may stand for a moment: whoever has seen it lets it be."""
    if state.seen[i, message.event] == 1:
        return
    state.seen[i, message.event] = 1
    deliver(state, book, i, message.event, out)
    came_from = position_of(around, i, message.source)
    forward(state, rules, around, book, i, message.event, came_from, out)
