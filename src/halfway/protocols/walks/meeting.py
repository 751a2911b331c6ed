"""The meeting of two walks at a node, and the news of the meeting to their initiators [drw §3].

Both walk systems share this module. The two systems differ only in how a walk chooses its next
node.
"""

from typing import NamedTuple

from halfway.core.compiled import apart, inlined, kernel
from halfway.core.message import APP
from halfway.core.missing import NO_PLACE
from halfway.core.outbox import emit
from halfway.protocols.parts import reliable_hop
from halfway.protocols.walks import messages
from halfway.protocols.walks.member_lists import share_members
from halfway.protocols.walks.messages import walker_at, walker_of, write_member
from halfway.protocols.walks.search_sweep import sweep_on, visit
from halfway.protocols.walks.steps import Move, is_outrun, is_over, random_of, send_step
from halfway.protocols.walks.tables.counts import DIED, LOST
from halfway.protocols.walks.tables.entries import HEARD, PASSED
from halfway.protocols.walks.trails import leave_trail, meetable, trail_of
from halfway.protocols.walks.trees import is_in_tree, keep_branch


class Met(NamedTuple):
    """The member whose walk or tree another walk met, as the news of the meeting names this
    member.
    """

    member: int  # node id
    side: int
    hops: int  # hops from the meeting to the present node


@kernel
def step_arrived(tables, rules, neighbourhood, i, message, out):
    """Receive a walk that arrives by its STEP; return True if the walk ends here by a meeting, or
    turns to a neighbour with a trail to meet.
    """
    walker, now, topic = walker_of(message), message.at, message.topic
    if reliable_hop.acknowledge_if_asked(tables.hops, i, message, out) or is_outrun(
        tables, rules, i, message
    ):
        return True
    searches, root = message.args[messages.SEARCHES] == 1, message.args[messages.ROOT_ID]
    heard = rules.advertise and not searches
    place = leave_trail(tables, rules, i, walker, message.source, heard, now, out)
    if place != NO_PLACE:
        tables.trails[i, topic, place].steps = message.args[messages.STEPS]
        met = meet_here(tables, rules, i, topic, place, root, searches, now, out)
        if met and rules.at_meeting != messages.GO_ON:
            return True
    # [drw §3] "It then stops the dissemination". We end the other walk where it reaches a node of
    # its trail that a MATCH passed, or at its own meeting, because no message can stop it at once.
    # A search goes on, because such a MATCH may come from the search's own tree.
    matched = place != NO_PLACE and tables.trails[i, topic, place].met == 1 and not searches
    matched = matched and rules.at_meeting != messages.GO_ON
    if matched or is_over(tables, rules, i, message):
        return True
    neighbour = meetable(tables, rules, i, topic, walker.member, HEARD, now)
    if heard and neighbour != NO_PLACE and rules.at_meeting != messages.GO_ON:
        # The hop onto the neighbour that carries the other trail counts as a step.
        towards, random = tables.trails[i, topic, neighbour].back, random_of(message)
        steps, after = message.args[messages.STEPS] + 1, rules.step_delay_s[walker.side]
        move = Move(towards, random, steps, after, message.source, 0)
        send_step(tables, rules, i, message, move, now, out)
        return True
    if neighbourhood.first[i] == neighbourhood.last[i]:
        tables.counts[i, DIED] += 1
        return True
    return False


@apart
def sweep_arrived(tables, rules, neighbourhood, i, message, out):
    """Receive a sweep that arrives by its STEP: the sweep ends by a meeting with a tree of another
    root; otherwise it continues.
    """
    walker, now, topic = walker_of(message), message.at, message.topic
    if reliable_hop.acknowledge_if_asked(tables.hops, i, message, out) or is_outrun(
        tables, rules, i, message
    ):
        return
    place = leave_trail(tables, rules, i, walker, message.source, False, now, out)
    if place != NO_PLACE:
        known, steps = tables.trails[i, topic, place], message.args[messages.STEPS]
        known.steps = steps
        if known.since == now:
            visit(tables, neighbourhood, i, topic, place, walker, message.source, steps, out)
        root = message.args[messages.ROOT_ID]
        if meet_here(tables, rules, i, topic, place, root, True, now, out):
            return
    sweep_on(tables, rules, neighbourhood, i, message, place, out)


@apart
def meet_here(tables, rules, i, topic, place, root, searches, now, out):
    """Let a walk, whose own trail is at a place, have a meeting with another trail on row i, or
    with a tree of another root. Return whether there was a meeting. A search meets trees only.
    """
    known, tree = tables.trails[i, topic, place], tables.trees[i, topic]
    if rules.at_meeting != messages.MERGE:
        return share_members(tables, rules, i, topic, place, now, out)
    if not searches:
        k = meetable(tables, rules, i, topic, known.member, PASSED, now)
        if k != NO_PLACE:
            met = tables.trails[i, topic, k]
            there, here = Met(met.member, met.side, 0), Met(known.member, known.side, 0)
            send_match(tables, rules, i, topic, place, there, now, out)
            send_match(tables, rules, i, topic, k, here, now, out)
            return True
    if tree.root in (root, known.member) or not is_in_tree(tables, rules, i, topic, now):
        return False
    send_match(tables, rules, i, topic, place, Met(tree.root, 0, 0), now, out)
    return True


@apart
def send_match(tables, rules, i, topic, place, met, now, out):
    """Send the news of a meeting to the initiator whose trail is at `place` of row i: its walk has
    met another walk.

    [drw §3] "sends back messages to the publisher and the subscriber to notify about the matching".
    The nodes on the way make branches to each other. met: the other member, as a `Met`.
    """
    known = tables.trails[i, topic, place]
    known.met = 1
    walker, back = walker_at(topic, known), known.back
    if back == tables.node_id[i]:
        note_meeting(tables, rules, i, walker, met, now, out)
        return
    o = emit(out, messages.MATCH, 0.0, back)
    write_meeting(o, walker, met)
    reliable_hop.track_if_asked(tables.hops, rules, i, o, now, out)
    keep_branch(tables, rules, i, topic, back, now, out)


@inlined
def write_meeting(o, walker, met):
    """Write the meeting with the walk of another member into the record of the news."""
    write_member(o, walker)
    o[messages.OTHER] = met.member
    o.args[messages.OTHER_SIDE] = met.side
    o.args[messages.STEPS] = met.hops


@apart
def receive_match(tables, rules, i, message, out):
    """Receive the news of a meeting of two walks, on its way to the initiator."""
    walker, now, topic = walker_of(message), message.at, message.topic
    keep_branch(tables, rules, i, topic, message.source, now, out)
    place = trail_of(tables, rules, i, topic, walker.side, walker.member, now)
    if place == NO_PLACE or tables.trails[i, topic, place].status != PASSED:
        tables.counts[i, LOST] += 1
        return
    hops, side = message.args[messages.STEPS] + 1, message.args[messages.OTHER_SIDE]
    send_match(tables, rules, i, topic, place, Met(message[messages.OTHER], side, hops), now, out)


@apart
def note_meeting(tables, rules, i, walker, met, now, out):
    """Note at the initiator, row i, that its walk has had a meeting with another walk; report one
    meeting for each launch.
    """
    role = tables.roles[i, 2 * walker.topic + walker.side]
    if not is_current(tables, i, walker):
        return
    role.matched = 1
    after = rules.search_delay_s
    # A search may have found its own tree, before the news of the root had reached all its nodes.
    # So another search follows a search that met a tree.
    searched = walker.generation > role.latest
    due = role.searches < rules.launches if searched else role.searches == 0
    if due and rules.search_steps > 0 and now + after <= rules.until_s:
        role.searches += 1
        o = emit(out, messages.SEARCH, after, tables.node_id[i])
        o.topic = walker.topic
        o.args[messages.SIDE] = walker.side
    if role.reported == 0:
        role.reported = 1
        write_meeting(emit(out, messages.MATCHED, 0.0, APP), walker, met)


@inlined
def is_current(tables, i, walker):
    """Return whether the news of a meeting is about the latest launch of a role of row i, or about
    its latest search.
    """
    role = tables.roles[i, 2 * walker.topic + walker.side]
    return (
        role.held == 1
        and walker.member == tables.node_id[i]
        and walker.incarnation == role.incarnation
        and walker.generation >= role.latest
    )
