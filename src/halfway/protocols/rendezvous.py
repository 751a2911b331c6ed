"""What happens where two walks of a topic meet: traces, the meeting, messages back, data [drw §3].

Shared by every system whose publisher and subscriber each send a walk; how a walk chooses its next
node is not decided here. Topic t has two walks: 2t starts at the publisher, 2t+1 at the subscriber.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.dice import advanced, high_half, joined, low_half, mixed, pick, seeded
from halfway.core.message import APP, EVERYONE
from halfway.core.outbox import emit

# Kinds. Letters from the application:
LAUNCH = 1  # start the walk args[WALK_ID] here, as its initiator
PUBLISH = 2  # send the data `event` along the path of `topic`
# Between neighbours:
STEP = 3  # a walk arrives; args carry its dice and its number
TRACE = 4  # "I carry the trace of that walk": every neighbour hears it once
MATCH = 5  # back to an initiator: the walks have met
DATA = 6  # an event on the loop-erased path
# To the application:
MATCHED = 7  # your walk was met, args[STEPS] hops away; told once
DELIVERED = 8  # an event for a subscriber
UNMATCHED = 9  # a PUBLISH that came before the meeting: nobody to send it to yet

# Where a STEP keeps things in `args`.
DICE_LOW, DICE_HIGH, WALK_ID, STEPS = 0, 1, 2, 3

NEVER = np.int32(-1)


class Rules(NamedTuple):
    """The scalars of a walk system, the same on every node."""

    pace: tuple[float, float]  # seconds a publisher's, a subscriber's walk rests on each node
    hear: bool  # [dwo Alg. 2] a neighbour that carries the other trace is met; else only the node
    most_steps: int  # a walk that has made this many steps ends; the paper leaves stopping open


class Book(NamedTuple):
    """What ids stand for: nothing beyond their number here."""

    topics: int


class Trace(NamedTuple):
    """What each node remembers of the walks that passed, met or were heard."""

    name: npt.NDArray[np.int32]  # [n]
    dice: npt.NDArray[np.uint64]  # [n] seeds the walks that start here
    back: npt.NDArray[
        np.int32
    ]  # [n, 2T] hop towards the walk's start; itself there; -1 never passed
    heard: npt.NDArray[np.int32]  # [n, 2T] last neighbour heard to carry the walk's trace; -1 none
    forth: npt.NDArray[
        np.int32
    ]  # [n, 2T] hop towards the meeting, from MATCH; itself if met here; -1
    met: npt.NDArray[np.uint8]  # [n, T] 1 where the walks of a topic met


def trace(names: npt.NDArray[np.int32], topics: int, seed: int) -> Trace:
    """The memory of nodes that no walk has passed yet."""
    n = len(names)
    dice = np.array([seeded(np.uint64(seed), name) for name in names], np.uint64)
    unknown = np.full((3, n, 2 * topics), NEVER, np.int32)
    met = np.zeros((n, topics), np.uint8)
    return Trace(names, dice, unknown[0], unknown[1], unknown[2], met)


@inlined
def send_step(memory, rules, i, walk, word, steps, towards, out):
    """Pass walk `walk` with its dice on to a neighbour, after the rest that its speed demands."""
    # A walk's dice travel with it: its path then depends on its own seed alone, not on which other
    # walks happened to pass a node before it.
    o = emit(out, STEP, rules.pace[walk & 1], towards)
    o.topic = walk >> 1
    o.args[DICE_LOW] = low_half(word)
    o.args[DICE_HIGH] = high_half(word)
    o.args[WALK_ID] = walk
    o.args[STEPS] = steps


@inlined
def dice_of(message):
    """The walk's dice after the draw for this node."""
    return advanced(joined(message.args[DICE_LOW], message.args[DICE_HIGH]))


@inlined
def remember(memory, rules, i, walk, towards_start, out):
    """[drw §3] a node that is visited for the first time memorises who transmitted first."""
    if memory.back[i, walk] != NEVER:
        return
    memory.back[i, walk] = towards_start
    if rules.hear:
        o = emit(out, TRACE, 0.0, EVERYONE)
        o.topic = walk >> 1
        o.args[WALK_ID] = walk


@inlined
def launch(memory, rules, around, i, walk, out):
    """[drw Fig. 3, line 1] the initiator selects a neighbour uniformly."""
    remember(memory, rules, i, walk, memory.name[i], out)
    first, last = around.first[i], around.last[i]
    if first == last:
        return  # nobody to walk to
    word = advanced(seeded(memory.dice[i], walk))
    towards = around.who[first + pick(mixed(word), last - first)]
    send_step(memory, rules, i, walk, word, 1, towards, out)


@inlined
def arrived(memory, rules, i, message, out):
    """Take in a STEP; True if the walk ends here or is already sent on to whom it heard."""
    walk = message.args[WALK_ID]
    other = walk ^ 1
    remember(memory, rules, i, walk, message.source, out)
    if memory.back[i, other] != NEVER:
        memory.met[i, walk >> 1] = 1
        report(memory, i, walk, 0, out)
        report(memory, i, other, 0, out)
        return True
    # [drw §3] "It then stops the dissemination": nobody can call the other walk back at once. We
    # let it end on news of the meeting on its own trace, or where it meets in its turn.
    if memory.forth[i, walk] != NEVER or message.args[STEPS] >= rules.most_steps:
        return True
    if rules.hear and memory.heard[i, other] != NEVER:
        # The hop onto the neighbour that carries the other trace counts as a step.
        word = joined(message.args[DICE_LOW], message.args[DICE_HIGH])
        steps = message.args[STEPS] + 1
        send_step(memory, rules, i, walk, word, steps, memory.heard[i, other], out)
        return True
    return False


@inlined
def report(memory, i, walk, hops, out):
    """News of the meeting, `hops` back: on towards the walk's initiator, who is told once."""
    here = memory.back[i, walk] == memory.name[i]
    if here and memory.forth[i, walk] == NEVER:
        memory.forth[i, walk] = memory.name[i]
        o = emit(out, MATCHED, 0.0, APP)
    elif not here:
        o = emit(out, MATCH, 0.0, memory.back[i, walk])
    else:
        return
    o.topic = walk >> 1
    o.args[WALK_ID] = walk
    o.args[STEPS] = hops


@inlined
def matched(memory, i, message, out):
    """A MATCH passes: remember the way to the meeting, and pass it on unless it is old news."""
    walk = message.args[WALK_ID]
    if memory.forth[i, walk] != NEVER:
        return  # the other walk found a meeting of its own; the first that was told stays
    report(memory, i, walk, message.args[STEPS] + 1, out)
    memory.forth[i, walk] = message.source


@inlined
def publish(memory, i, message, out):
    """The application publishes: along the path if there is one, back to it otherwise."""
    topic = message.topic
    if memory.met[i, topic] == 0 and memory.forth[i, 2 * topic] == NEVER:
        o = emit(out, UNMATCHED, 0.0, APP)
        o.topic = topic
        o.event = message.event
    else:
        forward(memory, i, topic, message.event, out)


@inlined
def forward(memory, i, topic, event, out):
    """One hop of the loop-erased path publisher - meeting - subscriber."""
    # Upstream of the meeting only `forth` is known, from the meeting on only `back`.
    on_trace = memory.back[i, 2 * topic + 1]
    if on_trace == memory.name[i]:
        o = emit(out, DELIVERED, 0.0, APP)
    elif on_trace != NEVER:
        o = emit(out, DATA, 0.0, on_trace)
    else:
        o = emit(out, DATA, 0.0, memory.forth[i, 2 * topic])
    o.topic = topic
    o.event = event


@inlined
def settle(memory, rules, around, i, message, out):
    """Every kind but STEP: what does not depend on how a walk chooses."""
    if message.kind == TRACE:
        # We keep the neighbour heard last, where the paper is silent: its loads fit best so.
        memory.heard[i, message.args[WALK_ID]] = message.source
    elif message.kind == MATCH:
        matched(memory, i, message, out)
    elif message.kind == DATA:
        forward(memory, i, message.topic, message.event, out)
    elif message.kind == PUBLISH:
        publish(memory, i, message, out)
    elif message.kind == LAUNCH:
        launch(memory, rules, around, i, message.args[WALK_ID], out)
