"""The handler of rumor routing: agents leave paths to publishers, and queries walk until they cross
a path.

After Braginsky & Estrin 2002, "Rumor routing algorithm for sensor networks", WSNA, pp. 22-31: a
node that witnesses an event may send an agent. The agent walks at random, and leaves the next hop
back and the distance on every visited node. A query for the event also walks at random until it
meets such a path, and then follows the path.

An event of the paper happens at a place, and queries search for it. A topic stands for this event
here, and the publisher of a PUBLISH is a node that witnesses the event. Deviations: We let an agent
carry two paths and the last five visited nodes, because a record has eight integers. An agent of
the paper carries all paths, and the neighbours of the visited nodes as well. We send the answer and
all further events of the topic back on the trail of the query, without its loops, because the paper
ends where the query arrives, but a subscriber continues to receive events. As in the paper, a query
reaches one publisher of its topic, the publisher whose path it meets. If a topic has several
publishers, the subscriber receives the events of this publisher, and the events of others that pass
through it.
"""

from typing import NamedTuple

from halfway.core.compiled import inlined
from halfway.core.handler import handles
from halfway.core.message import APP, START
from halfway.core.missing import NO_PLACE, NONE
from halfway.core.options import count, seconds, share
from halfway.core.outbox import emit
from halfway.core.prng import random_bits, uniform
from halfway.protocols.parts.application import (
    PUBLISH,
    SUBSCRIBE,
    UNSUBSCRIBE,
    change_subscription,
    emit_event,
    notify_application,
)
from halfway.protocols.parts.event_window import EventId, copy_event_id, event_id, record_if_new
from halfway.protocols.parts.incarnation_numbers import number_before
from halfway.protocols.rumor_routing import messages
from halfway.protocols.rumor_routing.state import (
    RumorState,
    add_branch,
    blank_state,
    keep_trail,
    learn_path,
    nearest_but,
    place_of_trail,
    shortfalls,
)
from halfway.protocols.rumor_routing.walker import emit_walker, has_no_neighbour, random_step

__all__ = ["KINDS", "OPTIONS", "Rules", "State", "handle", "most_emissions", "shortfalls", "state"]

NEIGHBOUR_HOPS = 1  # a node reads its own neighbour list
OPTIONS = {
    "agent_probability": share(1.0, "probability that a publication sends an agent"),
    "agent_steps": count(100, "largest number of steps that an agent makes"),
    "query_steps": count(
        300, "largest number of steps that a query makes, at random and along a path"
    ),
    "query_timeout_s": seconds(5.0, "after which a subscriber repeats an unanswered query"),
    "query_retries": count(
        1000, "number of times that a subscriber repeats a query before giving up"
    )._replace(former_name="retries"),
}


class Rules(NamedTuple):
    """The scalars of the handler of rumor routing, equal on every node; see `OPTIONS`."""

    agent_probability: float
    agent_steps: int
    query_steps: int
    query_timeout_s: float
    query_retries: int


KINDS, State, state = messages.KINDS, RumorState, blank_state
# The first event comes with the answer to a query: its hops include those of the query.
HOPS_FROM_PUBLISHER = False


def most_emissions(state: RumorState, rules: Rules) -> int:
    """Return the most records that one call of rumor routing's `handle` emits."""
    return max(int(state.branch_topic.shape[1]) + 2, 3)


@inlined
def send_agent(state, neighbourhood, i, message, second, steps_left, out):
    """Pass on a rumor routing agent, which is to leave paths to its topic and to a second topic."""
    step = random_step(state, neighbourhood, i, message)
    o = emit_walker(message, messages.AGENT, steps_left, step, out)
    o.args[messages.DISTANCE] = state.distance[i, message.topic]
    o.args[messages.SECOND_TOPIC] = second
    o.args[messages.SECOND_DISTANCE] = 0 if second == NONE else state.distance[i, second]


@inlined
def on_agent(state, neighbourhood, i, message, out):
    """Let a rumor routing agent and a node exchange shorter paths; the agent continues while it has
    steps left.

    [Braginsky & Estrin 2002] an agent that crosses a path to another event leads to both events.
    """
    learn_path(state, i, message.topic, message.args[messages.DISTANCE] + 1, message.source)
    second = message.args[messages.SECOND_TOPIC]
    if second == NONE:
        second = nearest_but(state, i, message.topic)
    else:
        learn_path(state, i, second, message.args[messages.SECOND_DISTANCE] + 1, message.source)
    left = message.args[messages.STEPS_LEFT] - 1
    if left >= 0 and not has_no_neighbour(neighbourhood, i):
        send_agent(state, neighbourhood, i, message, second, left, out)


@inlined
def on_publish(state, rules, neighbourhood, i, message, out):
    """Make the node of a publisher a witness of the topic in rumor routing; the witness may send an
    agent.

    [Braginsky & Estrin 2002] a witness is at distance 0, and creates an agent with a probability.
    """
    topic = message.topic
    state.next_hop[i, topic] = state.node_id[i]
    state.distance[i, topic] = 0
    state.latest[i, topic], state.latest_epoch[i, topic] = message.event, message.epoch
    sends = uniform(random_bits(state, i)) < rules.agent_probability
    if sends and rules.agent_steps > 0 and not has_no_neighbour(neighbourhood, i):
        second = nearest_but(state, i, topic)
        send_agent(state, neighbourhood, i, message, second, rules.agent_steps - 1, out)
    forward_event(state, i, message, out)


@inlined
def start_query(state, rules, neighbourhood, i, message, attempt, out):
    """Start a rumor routing query for a topic, with the timer of the query.

    message: a command or a timer of this node, which states the node's incarnation.
    """
    # Other nodes still have the trails of queries of the node's earlier incarnations.
    number = number_before(message.incarnation) + state.queries[i]
    state.queries[i] += 1
    keep_trail(state, i, state.node_id[i], message.topic, number, state.node_id[i])
    if rules.query_steps > 0 and not has_no_neighbour(neighbourhood, i):
        send_query(
            state, neighbourhood, i, message, state.node_id[i], number, rules.query_steps - 1, out
        )
    state.open_query[i, message.topic] = number
    o = emit(out, messages.QUERY_TIMEOUT, rules.query_timeout_s, state.node_id[i])
    o.topic = message.topic
    o.args[messages.NUMBER] = number
    o.args[messages.ATTEMPT] = attempt


@inlined
def resume_from(state, i, topic, out):
    """Start the timer of the first open rumor routing query, beginning with a given topic."""
    # Timers start one after another, because one call cannot emit as many records as there are
    # topics.
    for other in range(topic, state.open_query.shape[1]):
        if state.open_query[i, other] != NONE:
            o = emit(out, messages.RESUME, 0.0, state.node_id[i])
            o.topic = other
            return


@inlined
def send_query(state, neighbourhood, i, message, subscriber, number, steps_left, out):
    """Pass on a rumor routing query until it crosses a path: along a known path, or else by a
    random step [Braginsky & Estrin 2002].
    """
    next_hop = state.next_hop[i, message.topic]
    if next_hop == NONE:
        next_hop = random_step(state, neighbourhood, i, message)
    o = emit_walker(message, messages.QUERY, steps_left, next_hop, out)
    o[messages.SUBSCRIBER] = subscriber
    o.args[messages.NUMBER] = number


@inlined
def on_query(state, neighbourhood, i, message, out):
    """Answer a rumor routing query at a witness; at another node the query continues while it has
    steps left.
    """
    subscriber, number = message[messages.SUBSCRIBER], message.args[messages.NUMBER]
    keep_trail(state, i, subscriber, message.topic, number, message.source)
    left = message.args[messages.STEPS_LEFT] - 1
    if state.distance[i, message.topic] == 0:
        topic, me = message.topic, state.node_id[i]
        latest = EventId(state.latest[i, topic], me, state.latest_epoch[i, topic])
        send_answer(state, i, message, subscriber, number, latest, out)
    elif left >= 0 and not has_no_neighbour(neighbourhood, i):
        send_query(state, neighbourhood, i, message, subscriber, number, left, out)


@inlined
def send_answer(state, i, message, subscriber, number, event, out):
    """Send a rumor routing answer one hop back on the trail of its query; events take the same
    way.
    """
    place = place_of_trail(state, i, subscriber, message.topic, number)
    if place == NO_PLACE or state.trail_back[i, place] == state.node_id[i]:
        return
    back = state.trail_back[i, place]
    add_branch(state, i, message.topic, back)
    o = emit(out, messages.ANSWER, 0.0, back)
    o.topic = message.topic
    copy_event_id(event, o)
    o.target = subscriber
    o.args[messages.NUMBER] = number


@inlined
def on_answer(state, rules, i, message, out):
    """Forward a rumor routing answer; at the subscriber it ends, and delivers its event."""
    if message.target != state.node_id[i]:
        # A query and its answer take at most `query_steps` hops each. An answer with more hops runs
        # in a circle, because a node replaced the trail of the query, and a later visit left
        # another one.
        if message.hops >= 2 * rules.query_steps:
            return
        number = message.args[messages.NUMBER]
        send_answer(state, i, message, message.target, number, event_id(message), out)
        return
    state.open_query[i, message.topic] = NONE
    if state.attached[i, message.topic] == 0:
        state.attached[i, message.topic] = 1
        emit_event(message, messages.ATTACHED, 0.0, APP, out)
    forward_event(state, i, message, out)


@inlined
def forward_event(state, i, message, out):
    """Deliver a new rumor routing event, and send the event to all branches of its topic."""
    if not record_if_new(state.seen, i, message):
        return
    notify_application(state, i, message, out)
    for place in range(min(state.branches[i], state.branch_topic.shape[1])):
        to = state.branch_to[i, place]
        on_branch = state.branch_topic[i, place] == message.topic
        if on_branch and (message.kind == PUBLISH or to != message.source):
            emit_event(message, messages.DATA, 0.0, to, out)


@inlined
def next_attempt_or_give_up(state, rules, i, message, out):
    """Return how many queries without an answer precede the rumor routing query that a
    QUERY_TIMEOUT or a RESUME sends, or NONE if no query is due.

    If the node sends no more queries for the topic, close the open query. If no query was answered,
    report the subscription as unanswered.
    """
    topic, resumes = message.topic, message.kind == messages.RESUME
    number = state.open_query[i, topic]
    if number == NONE or not (resumes or message.args[messages.NUMBER] == number):
        return NONE  # the query was answered or repeated, or its subscription has ended
    attempt = 0 if resumes else message.args[messages.ATTEMPT] + 1
    if state.distance[i, topic] != 0 and state.attached[i, topic] == 0:
        # [Braginsky & Estrin 2002] the source of a query without an answer may send it again.
        if attempt <= rules.query_retries:
            return attempt
        emit_event(message, messages.UNANSWERED, 0.0, APP, out)
    state.open_query[i, topic] = NONE
    return NONE


@handles(RumorState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of rumor routing."""
    attempt = -1  # of the query to send; one call site, because `send_query` compiles long
    if message.kind == messages.DATA:
        forward_event(state, i, message, out)
    elif message.kind == messages.AGENT:
        on_agent(state, neighbourhood, i, message, out)
    elif message.kind == messages.QUERY:
        on_query(state, neighbourhood, i, message, out)
    elif message.kind == messages.ANSWER:
        on_answer(state, rules, i, message, out)
    elif message.kind == PUBLISH:
        on_publish(state, rules, neighbourhood, i, message, out)
    elif message.kind in (messages.QUERY_TIMEOUT, messages.RESUME):
        attempt = next_attempt_or_give_up(state, rules, i, message, out)
        if message.kind == messages.RESUME:
            resume_from(state, i, message.topic + 1, out)
    elif message.kind in (SUBSCRIBE, UNSUBSCRIBE):
        # A path has no lifetime in the paper. So events still travel on the path of an ended
        # subscription.
        change_subscription(state, i, message)
        state.open_query[i, message.topic] = NONE
        if message.kind == SUBSCRIBE and state.distance[i, message.topic] != 0:
            attempt = 0
    elif message.kind == START:
        # The crash ended all timers, so the node would never repeat a query that was lost
        # meanwhile.
        resume_from(state, i, 0, out)
    if attempt >= 0:
        start_query(state, rules, neighbourhood, i, message, attempt, out)
