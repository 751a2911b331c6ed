"""The first step of a launched walk in the walk systems, and the random state with which the walk
begins.
"""

import numpy as np

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.outbox import emit
from halfway.core.prng import advanced, high_half, low_half, mixed, pick, seeded
from halfway.protocols.reliable_hop import track_if_asked
from halfway.protocols.walks import messages
from halfway.protocols.walks.messages import write_member
from halfway.protocols.walks.state import DIED
from halfway.protocols.walks.trees import root_of


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
    """Send the first step of a launched walk to a neighbour."""
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
