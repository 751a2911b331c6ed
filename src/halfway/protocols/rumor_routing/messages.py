"""The record kinds of rumor routing: agents, queries and answers, and the fields of their
records.
"""

from halfway.core.kinds import Kinds, MapRole, Meets, Step
from halfway.core.values.ranges import COUNT, NODE, NODE_OR_NONE, below
from halfway.protocols.parts import application
from halfway.protocols.parts.application import EVENT_FIELDS

SUBSCRIBER = "target"  # header field of a QUERY: the node where the query started
# Places in `args`.
STEPS_LEFT = 0  # of an AGENT and a QUERY: the steps that are left
VISITED, VISITED_END = 4, 8  # of both: the nodes before `source`, latest first; -1: no node
DISTANCE, SECOND_TOPIC, SECOND_DISTANCE = 1, 2, 3  # of an AGENT: hops from `source` to its topics
NUMBER = 1  # of a QUERY, its ANSWER and its QUERY_TIMEOUT: the subscriber's number of the query
ATTEMPT = 2  # of a QUERY_TIMEOUT: earlier queries without an answer

KINDS = Kinds(
    {
        "steps_left": COUNT,
        "visited": NODE_OR_NONE,
        "the subscriber that asks": NODE,
        "distance": COUNT,
        "second_topic": below("topics", or_none=True),
        "second_distance": COUNT,
        "number": COUNT,
        "attempt": COUNT,
    }
)
KINDS.include(application.KINDS)
KINDS.start_event()
AGENT = KINDS.network(
    2,
    "agent",
    "an agent carries the path to `topic`, and can carry the path to a second topic (-1 if none)",
    "topic",
    on_map=Step(("agent of a publisher",)),
    args={
        "steps_left": STEPS_LEFT,
        "distance": DISTANCE,
        "second_topic": SECOND_TOPIC,
        "second_distance": SECOND_DISTANCE,
        "visited[k]": VISITED,
    },
)
QUERY = KINDS.network(
    3,
    "query",
    "a query searches for `topic`",
    "topic",
    reused={SUBSCRIBER: "the subscriber that asks"},
    on_map=Step(("query",)),
    args={"steps_left": STEPS_LEFT, "number": NUMBER, "visited[k]": VISITED},
)
ANSWER = KINDS.network(
    6,
    "answer",
    "the answer to a query returns to subscriber `target` with the latest event",
    f"target {EVENT_FIELDS}",
    args={"number": NUMBER},
    on_map=MapRole.EVENT_HOP,
)
DATA = KINDS.network(
    7, "data", "an event travels towards subscribers", EVENT_FIELDS, on_map=MapRole.EVENT_HOP
)
QUERY_TIMEOUT = KINDS.timer(
    8,
    "query-timeout",
    "the node sends another query unless an answer has arrived",
    "topic",
    args={"number": NUMBER, "attempt": ATTEMPT},
)
ATTACHED = KINDS.report(
    9,
    "attached",
    "the subscription has reached a publisher. `hops` counts the hops there and back",
    EVENT_FIELDS,
    on_map=Meets("query answered"),
)
UNANSWERED = KINDS.report(
    10, "unanswered", "no query was answered, and the node gives up the subscription", EVENT_FIELDS
)
RESUME = KINDS.timer(
    11,
    "resume",
    "after a crash, the node queries `topic` again if this query is open, and then the next topic",
    "topic",
)
