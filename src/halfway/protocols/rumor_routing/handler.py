"""Rumor Routing: agents tell the way to where something happens, queries walk until they meet it.

[Braginsky & Estrin 2002, "Rumor routing algorithm for sensor networks"] A node that witnesses an
event may send an agent that walks at random and leaves, on every node that it passes, the way back
and its length. A query for the event walks at random too, until it comes upon such a way, and then
follows it.

What the paper calls an event, something that goes on at a place and that queries ask for, is a
topic here; each PUBLISH is one witnessing of it. Where we depart:
We carry two ways in an agent and the last five nodes that it visited, because a record has eight
integers; the paper's agents carry all ways, and the neighbours of the nodes they visited as well.
We lead an answer back on the query's trace, loops cut off, and the topic's further events after it,
because the paper ends where the query arrives and a subscriber goes on listening.
We bring a query to one publisher of its topic, the one whose way it meets, as the paper does:
where a topic has several publishers, a subscriber hears that one and whoever sends through it.
"""

from typing import NamedTuple

from halfway.core.compiled import inlined
from halfway.core.handler import handles
from halfway.core.message import APP, START
from halfway.core.outbox import emit
from halfway.core.prng import random_bits, uniform
from halfway.protocols.event_window import is_new
from halfway.protocols.flooding import (
    DELIVERED,
    PUBLISH,
    SUBSCRIBE,
    Book,
    emit_event,
    notify_application,
)
from halfway.protocols.rumor_routing.state import (
    NONE,
    RumorState,
    grow_branch,
    keep_trail,
    learn,
    nearest_but,
    state,
    trail,
)
from halfway.protocols.rumor_routing.walker import AGENT, QUERY, STEPS_LEFT, alone, onwards, walker

__all__ = [
    "DELIVERED",
    "PUBLISH",
    "START",
    "SUBSCRIBE",
    "Book",
    "Rules",
    "RumorState",
    "State",
    "handle",
    "most_emissions",
    "state",
]

# Kinds beside those of the application (PUBLISH, SUBSCRIBE, DELIVERED), which are flooding's.
# Between neighbours, beside the AGENT and the QUERY of `rumor_walker`:
ANSWER = 6  # back to `target`, with the latest event
DATA = 7  # an event, to those who asked
# To oneself:
RETRY = 8  # has the query been answered? if not, ask again
RESUME = 11  # back after a crash: ask for `topic` again, then for the next open one
# To the application:
ATTACHED = 9  # the subscription reached a publisher; `hops` there and back
UNANSWERED = 10  # no query came through; the subscription is given up

KINDS = {
    PUBLISH: "publish",
    AGENT: "agent",
    QUERY: "query",
    DELIVERED: "delivered",
    SUBSCRIBE: "subscribe",
    ANSWER: "answer",
    DATA: "data",
    RETRY: "retry",
    ATTACHED: "attached",
    UNANSWERED: "unanswered",
    RESUME: "resume",
    int(START): "boot",
}

# Places in `args` beside those of `rumor_walker`.
# Of an AGENT: distance of `source` from `topic`, the second topic (-1 none) and its distance.
DISTANCE, SECOND, SECOND_DISTANCE = 1, 2, 3
# Of a QUERY and its ANSWER: the subscriber's number for it. Of a RETRY: how often it asked, and
# which BOOT its node was at then.
NUMBER, ATTEMPT, BOOT_NUMBER = 1, 2, 3


# The first event comes with the answer to a query: its hops are those of the query as well.
HOPS_TELL = False


class Rules(NamedTuple):
    """The scalars of Rumor Routing, the same on every node."""

    spawn: float  # probability that a witnessing sends an agent
    agent_steps: int  # an agent's time to live
    query_steps: int  # a query's time to live, random steps and those along a way together
    patience: float  # seconds until an unanswered query is repeated
    retries: int  # repetitions of a query before it is given up


State = RumorState


def most_emissions(state: RumorState, rules: Rules) -> int:
    """The most records that one call of `handle` emits."""
    del rules
    return max(int(state.branch_topic.shape[1]) + 2, 3)


@inlined
def send_agent(state, neighbourhood, i, message, second, steps_left, out):
    """Let an agent go on from here with the way to its topic, and to a second one if there is."""
    o = walker(message, AGENT, steps_left, onwards(state, neighbourhood, i, message), out)
    o.args[DISTANCE] = state.distance[i, message.topic]
    o.args[SECOND] = second
    o.args[SECOND_DISTANCE] = 0 if second == NONE else state.distance[i, second]


@inlined
def take_in_agent(state, neighbourhood, i, message, out):
    """Agent and node tell each other of shorter ways; then it goes on, if it may."""
    learn(state, i, message.topic, message.args[DISTANCE] + 1, message.source)
    second = message.args[SECOND]
    if second == NONE:
        second = nearest_but(state, i, message.topic)
    else:
        learn(state, i, second, message.args[SECOND_DISTANCE] + 1, message.source)
    left = message.args[STEPS_LEFT] - 1
    if left >= 0 and not alone(neighbourhood, i):
        send_agent(state, neighbourhood, i, message, second, left, out)


@inlined
def witness(state, rules, neighbourhood, i, message, out):
    """The application publishes: this node is where its topic happens, and may send an agent."""
    topic = message.topic
    state.towards[i, topic] = state.node_id[i]
    state.distance[i, topic] = 0
    state.latest[i, topic] = message.event
    sends = uniform(random_bits(state, i)) < rules.spawn
    if sends and rules.agent_steps > 0 and not alone(neighbourhood, i):
        second = nearest_but(state, i, topic)
        send_agent(state, neighbourhood, i, message, second, rules.agent_steps - 1, out)
    pass_on(state, i, message, out)


@inlined
def ask(state, rules, neighbourhood, i, message, attempt, out):
    """Send a query for a topic, and a letter to oneself for the case that nobody answers."""
    number = state.queries[i]
    state.queries[i] += 1
    keep_trail(state, i, state.node_id[i], number, state.node_id[i])
    if rules.query_steps > 0 and not alone(neighbourhood, i):
        send_query(
            state, neighbourhood, i, message, state.node_id[i], number, rules.query_steps - 1, out
        )
    state.asking[i, message.topic] = 1
    o = emit(out, RETRY, rules.patience, state.node_id[i])
    o.topic = message.topic
    o.args[ATTEMPT] = attempt
    o.args[BOOT_NUMBER] = state.boots[i]


@inlined
def resume(state, i, topic, out):
    """A letter to oneself to ask again for the first topic, from that one on, still asked for."""
    # One letter after the other, because the topics may be more than one call may send.
    for other in range(topic, state.asking.shape[1]):
        if state.asking[i, other] == 1:
            o = emit(out, RESUME, 0.0, state.node_id[i])
            o.topic = other
            return


@inlined
def send_query(state, neighbourhood, i, message, subscriber, number, steps_left, out):
    """Along the way if this node knows one, else at random."""
    towards = state.towards[i, message.topic]
    if towards == NONE:
        towards = onwards(state, neighbourhood, i, message)
    o = walker(message, QUERY, steps_left, towards, out)
    o.target = subscriber
    o.args[NUMBER] = number


@inlined
def take_in_query(state, neighbourhood, i, message, out):
    """A query passes: answer it here, or let it go on, if it may."""
    number = message.args[NUMBER]
    keep_trail(state, i, message.target, number, message.source)
    left = message.args[STEPS_LEFT] - 1
    if state.distance[i, message.topic] == 0:
        send_answer(state, i, message, message.target, number, state.latest[i, message.topic], out)
    elif left >= 0 and not alone(neighbourhood, i):
        send_query(state, neighbourhood, i, message, message.target, number, left, out)


@inlined
def send_answer(state, i, message, subscriber, number, event, out):
    """One hop back on the query's trace, if it is remembered; events will come this way too."""
    place = trail(state, i, subscriber, number)
    if place == -1 or state.trail_back[i, place] == state.node_id[i]:
        return
    back = state.trail_back[i, place]
    grow_branch(state, i, message.topic, back)
    o = emit(out, ANSWER, 0.0, back)
    o.topic = message.topic
    o.event = event
    o.target = subscriber
    o.args[NUMBER] = number


@inlined
def take_in_answer(state, i, message, out):
    """Pass an answer back; where the query came from, it ends and its event is the first."""
    if message.target != state.node_id[i]:
        send_answer(state, i, message, message.target, message.args[NUMBER], message.event, out)
        return
    state.asking[i, message.topic] = 0
    if state.attached[i, message.topic] == 0:
        state.attached[i, message.topic] = 1
        emit_event(message, ATTACHED, 0.0, APP, out)
    pass_on(state, i, message, out)


@inlined
def pass_on(state, i, message, out):
    """An event that is new here goes to the application and to all who asked through this node."""
    if not is_new(state.seen, i, message.event):
        return
    notify_application(state, i, message, out)
    for place in range(min(state.branches[i], state.branch_topic.shape[1])):
        to = state.branch_to[i, place]
        wanted = state.branch_topic[i, place] == message.topic
        if wanted and (message.kind == PUBLISH or to != message.source):
            emit_event(message, DATA, 0.0, to, out)


@inlined
def attempt_after(state, rules, i, message, out):
    """The patience for a query is over: which attempt is due now; -1 if none."""
    topic, attempt = message.topic, message.args[ATTEMPT] + 1
    if state.asking[i, topic] == 0 or message.args[BOOT_NUMBER] != state.boots[i]:
        return -1  # answered, or asked again since the node came back
    if state.attached[i, topic] == 0 and state.distance[i, topic] != 0:
        if attempt <= rules.retries:
            return attempt
        emit_event(message, UNANSWERED, 0.0, APP, out)
    state.asking[i, topic] = 0
    return -1


@handles(RumorState)
def handle(state, rules, neighbourhood, i, message, out):
    """A node's whole behaviour, one message at a time."""
    attempt = -1  # at a query that this call sends; asked in one place, because it compiles long
    if message.kind == DATA:
        pass_on(state, i, message, out)
    elif message.kind == AGENT:
        take_in_agent(state, neighbourhood, i, message, out)
    elif message.kind == QUERY:
        take_in_query(state, neighbourhood, i, message, out)
    elif message.kind == ANSWER:
        take_in_answer(state, i, message, out)
    elif message.kind == PUBLISH:
        witness(state, rules, neighbourhood, i, message, out)
    elif message.kind == RETRY:
        attempt = attempt_after(state, rules, i, message, out)
    elif message.kind == SUBSCRIBE:
        state.subscribed[i, message.topic] = 1
        attempt = -1 if state.distance[i, message.topic] == 0 else 0
    elif message.kind == RESUME:
        attempt = 0
        resume(state, i, message.topic + 1, out)
    elif message.kind == START:
        # RETRYs died with the node, so a query that was lost meanwhile would never be repeated.
        state.boots[i] += 1
        resume(state, i, 0, out)
    if attempt >= 0:
        ask(state, rules, neighbourhood, i, message, attempt, out)
