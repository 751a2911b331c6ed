"""The handler that both walk systems share, for directional and for random walks; each system adds
its own choice of a walk's next node.
"""

from typing import Any

from halfway.core.compiled import apart, inlined
from halfway.core.message import START
from halfway.core.missing import NO_PLACE
from halfway.protocols.parts import reliable_hop
from halfway.protocols.parts.shortfalls import UNACKNOWLEDGED, WITHOUT_ROUTE
from halfway.protocols.walks import messages
from halfway.protocols.walks.delivery import publish, receive_catch_up, receive_data
from halfway.protocols.walks.meeting import receive_match, step_arrived, sweep_arrived
from halfway.protocols.walks.member_lists import receive_list
from halfway.protocols.walks.member_paths import end_path, receive_path, receive_root
from halfway.protocols.walks.messages import PUBLISHES, SUBSCRIBES, walker_of
from halfway.protocols.walks.roles import (
    begin_role,
    end_role,
    launch_again,
    plan_resume,
    resume,
    search,
)
from halfway.protocols.walks.search_sweep import hear_swept, is_sweep, is_sweep_hop, sweep_failed
from halfway.protocols.walks.state import WalkTables
from halfway.protocols.walks.steps import redraw_or_release
from halfway.protocols.walks.tables.counts import CUT_SHORT, DIED, EVICTED, LOST, NO_SLOT
from halfway.protocols.walks.trails import hear_trail


def most_emissions(tables: WalkTables, rules: messages.Rules) -> int:
    """Return the most records that one call of the handler that both walk systems share emits."""
    acknowledgement = 1 if rules.retries > 0 else 0
    hop = 1 + acknowledgement  # each hop with its timer
    members, places = int(tables.paths.shape[2]), int(tables.hops.record.shape[1])
    # A launch sends its root to all branches and its path to the publishers, and meets a trail at
    # once. A new root goes to all branches, and its sender receives all paths. A new path goes on,
    # and brings buffered events to a subscriber, or the subscribers to a publisher. A new member
    # reports all members to which it has paths. A node with all trails sends two LISTs for each
    # trail.
    branches, buffer = int(tables.branches.shape[2]), int(tables.buffer.shape[2])
    most = 9 + (branches + 2 * members + buffer + 8) * hop
    return max(most, acknowledgement * places + 2)


def limits(state: Any, rules: messages.Rules) -> dict[str, int]:
    """Return the limits to which the ranges in records of both walk systems refer: the number of
    topics.
    """
    del rules
    return {"topics": state.tables.trails.shape[1]}


def shortfalls(tables: WalkTables) -> dict[str, int]:
    """Return the shortfalls that both walk systems share: walks and messages without a route, and
    entries for which nodes had no room.
    """
    counts = tables.counts.sum(axis=0)
    return {
        WITHOUT_ROUTE: int(counts[LOST]),
        "walks without a route": int(counts[DIED]),
        "searches that ended early (option sweep_steps)": int(counts[CUT_SHORT]),
        "events evicted before a meeting": int(counts[EVICTED]),
        "trails, branches and paths without room (option trails)": int(counts[NO_SLOT]),
        UNACKNOWLEDGED: int(tables.hops.counts[:, reliable_hop.TABLE_FULL].sum()),
    }


@inlined
def receive(tables, rules, neighbourhood, i, message, out):
    """Receive any record of either walk system, in the handler that both share; the system itself
    chooses the next step of a walk.

    Returns whether the system must choose a step now, and the place of the hop that this step
    replaces; NO_PLACE if the walk has just arrived.
    """
    if message.kind == messages.STEP and is_sweep(rules, message):
        sweep_arrived(tables, rules, neighbourhood, i, message, out)
        return False, NO_PLACE
    if message.kind == messages.STEP:
        return not step_arrived(tables, rules, neighbourhood, i, message, out), NO_PLACE
    if message.kind == reliable_hop.ACK_TIMEOUT:
        place = reliable_hop.overdue(tables.hops, rules, i, message, messages.AGES, out)
        failed = place != NO_PLACE
        if failed and is_sweep_hop(tables, rules, i, place):
            sweep_failed(tables, rules, neighbourhood, i, place, message.at, out)
            return False, NO_PLACE
        return failed and redraw_or_release(
            tables, rules, neighbourhood, i, place, message.at
        ), place
    if message.kind == reliable_hop.ACK:
        reliable_hop.complete(tables.hops, i, message)
    elif message.kind == messages.TRAIL:
        hear_trail(tables, rules, i, message)
    elif message.kind == messages.SWEPT:
        hear_swept(tables, neighbourhood, i, message)
    elif message.sequence == 0 or not reliable_hop.acknowledge(tables.hops, i, message, out):
        receive_other(tables, rules, neighbourhood, i, message, out)
    return False, NO_PLACE


@apart
def receive_other(tables, rules, neighbourhood, i, message, out):
    """Receive any record of either walk system that is no STEP, in the handler that both share:
    about events, paths, meetings or members.
    """
    kind = message.kind
    if kind == messages.DATA:
        receive_data(tables, rules, i, message, out)
    elif kind == messages.CATCH_UP:
        receive_catch_up(tables, rules, i, message, out)
    elif kind == messages.MATCH:
        receive_match(tables, rules, i, message, out)
    elif kind == messages.LIST:
        receive_list(tables, rules, i, message, out)
    elif kind == messages.ROOT:
        receive_root(tables, rules, i, message, out)
    elif kind == messages.PATH:
        receive_path(tables, rules, i, message, out)
    elif kind == messages.END:
        end_path(tables, rules, i, walker_of(message), message.source, message.at, out)
    else:
        receive_own(tables, rules, neighbourhood, i, message, out)


@apart
def receive_own(tables, rules, neighbourhood, i, message, out):
    """Receive a timer, a command of the application, or the start event, in the handler that both
    walk systems share.
    """
    kind = message.kind
    reliable_hop.begin_hops(tables.hops, i, message.incarnation)
    if kind in (messages.RELAUNCH, messages.REFRESH):
        launch_again(tables, rules, neighbourhood, i, message, out)
    elif kind == messages.SEARCH:
        search(tables, rules, neighbourhood, i, message, out)
    elif kind == messages.RESUME:
        resume(tables, rules, neighbourhood, i, message, out)
    elif kind == START:
        reliable_hop.restart_timers(tables.hops, rules, i, out)
        plan_resume(tables, rules, i, 0, out)
    else:
        receive_command(tables, rules, neighbourhood, i, message, out)


@apart
def receive_command(tables, rules, neighbourhood, i, message, out):
    """Receive an application's command, in the handler that both walk systems share."""
    kind = message.kind
    if kind == messages.PUBLISH:
        begin_role(tables, rules, neighbourhood, i, message.topic, PUBLISHES, message, out)
        publish(tables, rules, i, message, out)
    elif kind == messages.ADVERTISE:
        begin_role(tables, rules, neighbourhood, i, message.topic, PUBLISHES, message, out)
    elif kind == messages.SUBSCRIBE:
        begin_role(tables, rules, neighbourhood, i, message.topic, SUBSCRIBES, message, out)
    elif kind == messages.WITHDRAW:
        end_role(tables, rules, i, message, PUBLISHES, out)
    elif kind == messages.UNSUBSCRIBE:
        end_role(tables, rules, i, message, SUBSCRIBES, out)
