"""One Bloom filter for each overlay neighbour, of what lies behind it, kept up to date.

A filter is the union of what is wanted here and of what the other overlay neighbours told, made
anew whenever one of these changes; only the chunks that differ are sent. Removing is then the same
as adding, and a filter never lacks what it should hold once its chunks have arrived.
"""

import numpy as np

from halfway.core.bloom import insert
from halfway.core.compiled import apart, kernel
from halfway.core.outbox import emit
from halfway.protocols.walk_overlay.messages import CHUNK, CHUNK_WORDS, NEVER
from halfway.protocols.walk_overlay.reliable_hop import has_room, with_care
from halfway.protocols.walk_overlay.state import link_of


@apart
def forget_filters(state, i, p):
    """Nothing lies behind the neighbour at a place, and it was told nothing."""
    for word in range(state.heard.shape[2]):
        state.heard[i, p, word] = 0
        state.told[i, p, word] = 0


@apart
def behind(state, i, p, word):
    """One word of the filter for the overlay neighbour at p: all that lies not behind it."""
    union = state.own[i, word]
    for q in range(state.links.shape[1]):
        if q != p and state.links.node_id[i, q] != NEVER:
            union |= state.heard[i, q, word]
    return union


@apart
def refresh(state, rules, i, out):
    """Tell each overlay neighbour the chunks of its filter that are not what it was told.

    What there is no room for waits: the neighbour is owed it, and the next refresh tells it.
    """
    words = state.own.shape[1]
    state.members.owing[i] = 0
    for p in range(state.links.shape[1]):
        if state.links.node_id[i, p] == NEVER or state.links.ready[i, p] == 0:
            continue
        for begin in range(0, words, CHUNK_WORDS):
            end = min(begin + CHUNK_WORDS, words)
            changed = False
            for word in range(begin, end):
                changed = changed or behind(state, i, p, word) != state.told[i, p, word]
            if not changed:
                continue
            if not has_room(state, rules, i, state.links.node_id[i, p], begin):
                state.members.owing[i] = 1
                continue
            o = emit(out, CHUNK, 0.0, state.links.node_id[i, p])
            o.args[0] = begin
            for word in range(begin, end):
                state.told[i, p, word] = behind(state, i, p, word)
                o.args[1 + word - begin] = np.int32(state.told[i, p, word])
            with_care(state, rules, i, o, state.links.node_id[i, p], out)


@apart
def take_chunk(state, i, p, message):
    """An overlay neighbour at a place told a chunk of the filter for what lies behind it."""
    begin = message.args[0]
    for word in range(begin, min(begin + CHUNK_WORDS, state.own.shape[1])):
        state.heard[i, p, word] = np.uint32(message.args[1 + word - begin])


@kernel
def insert_all(words, wanted, catalogue, bits, hashes):
    """Enter subscriptions (their numbers; -1 none) into a filter."""
    for s in wanted:
        if s >= 0:
            for k in range(catalogue.first[s], catalogue.first[s + 1]):
                insert(words, catalogue.item[k], bits, hashes)


@apart
def want(state, rules, catalogue, i, s, wanted, out):
    """The application subscribes or unsubscribes: its filter is made anew from what is left."""
    place = NEVER
    for k in range(state.wanted.shape[1]):
        if state.wanted[i, k] == s or (place == NEVER and wanted and state.wanted[i, k] == NEVER):
            place = np.int32(k)
        if state.wanted[i, k] == s:
            break
    if place == NEVER:
        state.members.refused[i] += wanted
        return
    state.wanted[i, place] = s if wanted else NEVER
    for word in range(state.own.shape[1]):
        state.own[i, word] = 0
    insert_all(state.own[i], state.wanted[i], catalogue, rules.bits, rules.hashes)
    refresh(state, rules, i, out)


@apart
def relink(state, i, node_id):
    """The place of a new overlay neighbour that knows nothing of us yet; -1: no room for it."""
    p = link_of(state, i, node_id)
    if p < 0:
        p = link_of(state, i, NEVER)
    if p < 0:
        state.members.refused[i] += 1
        return p
    state.links.node_id[i, p] = node_id
    state.links.ready[i, p] = 0
    forget_filters(state, i, p)
    return p
