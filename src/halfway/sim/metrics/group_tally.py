"""The tally of group membership in a run: compiled sums over the present and the listed members.

A viewer lists members, and a member is listed. Both are stays of the workload, by number. A pair is
a viewer and another member of its group, both in the group and up.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined, kernel
from halfway.core.missing import NONE
from halfway.sim.metrics.group_views import (
    JOINED,
    LEFT,
    SAME,
    expire_member,
    forget_view,
    hear_announcement,
)

# Codes of an entry: a stay begins or ends, its node goes down or comes up (EMPTY: without its
# memory), a viewer hears an announcement of a member, or the last announcement before a leave.
ENTERS, EXITS, DOWN, UP, UP_EMPTY, HEARS, HEARS_LAST = range(7)
# Kinds of changes of membership, and places of their sums: number, number of converged changes, and
# seconds.
JOIN, LEAVE, CRASH, NEWCOMER = range(4)
COUNT, CONVERGED, SECONDS = range(3)
# Places of the present counts, and of their integrals over time.
PAIRS, RIGHT, ENTRIES, MEMBERS = range(4)


class GroupTally(NamedTuple):
    """The state of the tally of groups, in which `peer` lists the stays of each group side by
    side.
    """

    peer: npt.NDArray[np.int32]  # [stays] numbers of stays, group by group
    first: npt.NDArray[np.int32]  # [stays] where the peers of the stay's group begin, …
    last: npt.NDArray[np.int32]  # [stays] … and end
    place: npt.NDArray[np.int32]  # [stays] the stay's column of the matrices below
    publishes: npt.NDArray[np.bool_]  # [stays]
    subscribes: npt.NDArray[np.bool_]  # [stays]
    inside: npt.NDArray[np.bool_]  # [stays] the stay has begun, and has not ended
    up: npt.NDArray[np.bool_]  # [stays] the stay's node is up
    says: npt.NDArray[np.bool_]  # [stays, members of a group] whether the viewer lists the member
    pending: npt.NDArray[np.bool_]  # [stays, members] the viewer is still to follow a change
    waiting: npt.NDArray[np.int32]  # [stays] viewers that are still to follow the member's change
    change: npt.NDArray[np.int8]  # [stays] kind of the member's last change; -1: no count
    since: npt.NDArray[np.float64]  # [stays] when that change was
    learns_since: npt.NDArray[np.float64]  # [stays] when the viewer joined; nan: knows its group
    due_at: npt.NDArray[np.float64]  # [queue] when announcements expire, ascending
    due_viewer: npt.NDArray[np.int32]  # [queue]
    due_member: npt.NDArray[np.int32]  # [queue]
    queue: npt.NDArray[np.int64]  # [2] begin and end of the waiting entries
    now: npt.NDArray[np.int64]  # [4] PAIRS, RIGHT, ENTRIES, MEMBERS
    at: npt.NDArray[np.float64]  # [1] seconds: the tally's time
    total: npt.NDArray[np.float64]  # [4] integrals of `now` since start_s
    bins: npt.NDArray[np.float64]  # [bins, 4] integrals of `now` by time
    sums: npt.NDArray[np.float64]  # [kinds of changes, 3]


class Entries(NamedTuple):
    """Entries of the tally of groups, in order of time."""

    t: npt.NDArray[np.float64]
    code: npt.NDArray[np.int8]
    stay: npt.NDArray[np.int32]  # the viewer that hears
    other: npt.NDArray[np.int32]  # the announced member
    number: npt.NDArray[np.int32]  # number of the announcement
    hops: npt.NDArray[np.int32]


class ViewChanges(NamedTuple):
    """The changes of group views that VIEW reports to applications, in order of time."""

    t: npt.NDArray[np.float64]
    viewer: npt.NDArray[np.int32]  # the number of its stay
    member: npt.NDArray[np.int32]  # the number of its stay
    joined: npt.NDArray[np.bool_]  # False: the member left the view
    number: npt.NDArray[np.int32]  # number of the view
    hops: npt.NDArray[np.int32]


def empty_changes(count: int) -> ViewChanges:
    """Return empty columns for `count` changes of group views that the tally collects."""
    whole = (np.zeros(count, np.int32) for _ in range(4))
    viewer, member, number, hops = whole
    joined = np.zeros(count, np.bool_)
    return ViewChanges(np.zeros(count), viewer, member, joined, number, hops)


@inlined
def is_present(tally, s):
    """Return whether a stay in the tally has begun while its node is up."""
    return tally.inside[s] and tally.up[s]


@inlined
def is_pair(tally, viewer, member):
    """Return whether two stays in the tally are a viewer and a member of one group."""
    return viewer != member and tally.subscribes[viewer] and tally.publishes[member]


@kernel
def pass_time(tally, now, start, seconds):
    """Advance the tally to `now`, and add the elapsed time to its sums."""
    begin, bins = tally.at[0], tally.bins.shape[0]
    if now <= begin:
        return
    after = max(now - max(begin, start), 0.0)
    for k in range(4):
        tally.total[k] += after * tally.now[k]
    b = min(np.int64(begin / seconds * bins), bins - 1)
    while begin < now:
        end = min(now, (b + 1) * seconds / bins) if b + 1 < bins else now
        for k in range(4):
            tally.bins[b, k] += max(end - begin, 0.0) * tally.now[k]
        begin, b = max(begin, end), b + 1
    tally.at[0] = now


@kernel
def count_pairs(tally, s, sign):
    """Count the tally's pairs with a stay that begins (sign 1) or ends (-1)."""
    tally.now[MEMBERS] += sign
    for k in range(tally.first[s], tally.last[s]):
        p = tally.peer[k]
        if is_pair(tally, s, p):
            listed = tally.says[s, tally.place[p]]
            tally.now[ENTRIES] += sign * listed
            if is_present(tally, p):
                tally.now[PAIRS] += sign
                tally.now[RIGHT] += sign * listed
        if is_pair(tally, p, s) and is_present(tally, p):
            tally.now[PAIRS] += sign
            tally.now[RIGHT] += sign * tally.says[p, tally.place[s]]


@inlined
def finish(tally, kind, seconds):
    """Count a membership change in the tally of groups that all viewers have followed, and its
    seconds.
    """
    if kind >= 0:
        tally.sums[kind, CONVERGED] += 1
        tally.sums[kind, SECONDS] += seconds


@inlined
def follow(tally, viewer, member, now):
    """Note in the tally of groups that a viewer has followed a change of a member, or need not
    follow it any more.
    """
    if tally.pending[viewer, tally.place[member]]:
        tally.pending[viewer, tally.place[member]] = False
        tally.waiting[member] -= 1
        if tally.waiting[member] == 0:
            finish(tally, tally.change[member], now - tally.since[member])


@kernel
def check_newcomer(tally, v, now):
    """Count a newcomer in the tally of groups when it lists all members of its group for the first
    time.
    """
    if np.isnan(tally.learns_since[v]) or not is_present(tally, v):
        return
    for k in range(tally.first[v], tally.last[v]):
        p = tally.peer[k]
        if is_pair(tally, v, p) and is_present(tally, p) and not tally.says[v, tally.place[p]]:
            return
    finish(tally, NEWCOMER, now - tally.learns_since[v])
    tally.learns_since[v] = np.nan


@kernel
def list_member(tally, viewer, member, listed, now):
    """Enter into the tally whether a viewer lists a member now."""
    m = tally.place[member]
    if tally.says[viewer, m] == listed:
        return
    tally.says[viewer, m] = listed
    sign = 1 if listed else -1
    if is_present(tally, viewer) and is_pair(tally, viewer, member):
        tally.now[ENTRIES] += sign
        tally.now[RIGHT] += sign * is_present(tally, member)
    if is_present(tally, member) == listed:
        follow(tally, viewer, member, now)
    check_newcomer(tally, viewer, now)


@kernel
def begin_change(tally, m, kind, start, now):
    """Begin a membership change in the tally; all present viewers must follow it."""
    m_place, viewers = tally.place[m], 0
    tally.waiting[m] = 0
    for k in range(tally.first[m], tally.last[m]):
        v = tally.peer[k]
        tally.pending[v, m_place] = False
        if is_pair(tally, v, m) and is_present(tally, v):
            viewers += 1
            if tally.says[v, m_place] != is_present(tally, m):
                tally.pending[v, m_place] = True
                tally.waiting[m] += 1
    counts = viewers > 0 and now >= start
    tally.change[m] = kind if counts else -1
    tally.since[m] = now
    tally.sums[kind, COUNT] += counts
    if tally.waiting[m] == 0:
        finish(tally, tally.change[m], 0.0)


@kernel
def turn(tally, views, s, code, start, now):
    """Enter into the tally of groups that a stay begins or ends, or that its node goes down or
    comes up.
    """
    was = is_present(tally, s)
    if was:
        count_pairs(tally, s, -1)
    if code in (ENTERS, EXITS):
        tally.inside[s] = code == ENTERS
    else:
        tally.up[s] = code != DOWN
    if code in (ENTERS, EXITS, UP_EMPTY):
        forget_view(views, s)
        tally.says[s] = False
    comes = is_present(tally, s)
    if comes:
        count_pairs(tally, s, 1)
    if comes == was:
        return
    others = 0  # members that the stay's viewer may list
    for k in range(tally.first[s], tally.last[s]):
        p = tally.peer[k]
        others += is_pair(tally, s, p) and is_present(tally, p)
        if not comes:
            follow(tally, s, p, now)
            check_newcomer(tally, p, now)
    tally.learns_since[s] = np.nan
    if tally.publishes[s]:
        begin_change(tally, s, JOIN if comes else LEAVE if code == EXITS else CRASH, start, now)
    if comes and code != UP and others > 0 and now >= start:
        tally.sums[NEWCOMER, COUNT] += 1
        tally.learns_since[s] = now
        check_newcomer(tally, s, now)


@kernel
def enter_announcement(tally, views, entries, k, lifetime_s, changes, changed):
    """Enter an announcement that a viewer of the tally hears; return the resulting view changes."""
    v, m, now = entries.stay[k], entries.other[k], entries.t[k]
    if not tally.inside[v]:
        return changed
    leaves = entries.code[k] == HEARS_LAST
    hops = entries.hops[k]
    what = hear_announcement(views, v, m, entries.number[k], lifetime_s, leaves, hops, now)
    if not leaves:
        tally.due_at[tally.queue[1]] = now + lifetime_s
        tally.due_viewer[tally.queue[1]] = v
        tally.due_member[tally.queue[1]] = m
        tally.queue[1] += 1
    if what == SAME:
        return changed
    joined = what == JOINED
    list_member(tally, v, m, joined, now)
    return add_view_change(changes, changed, v, m, joined, views.changes[v], hops, now)


@inlined
def add_view_change(changes, k, viewer, member, joined, number, hops, at):
    """Write row k of the changes of group views that a tally collects; return the number of
    rows.
    """
    changes.t[k] = at
    changes.viewer[k] = viewer
    changes.member[k] = member
    changes.joined[k] = joined
    changes.number[k] = number
    changes.hops[k] = hops
    return k + 1


@kernel
def advance(tally, views, entries, until, start, seconds, lifetime_s, changes):
    """Enter entries into the tally, and expire old announcements up to a time.

    Return the number of changes of views. The tuples are lent.
    """
    changed = 0
    for k in range(entries.t.shape[0] + 1):
        now = entries.t[k] if k < entries.t.shape[0] else until
        while tally.queue[0] < tally.queue[1] and tally.due_at[tally.queue[0]] <= now:
            q = tally.queue[0]
            tally.queue[0] += 1
            v, m, at = tally.due_viewer[q], tally.due_member[q], tally.due_at[q]
            what = expire_member(views, v, m, at)
            if what == LEFT:
                pass_time(tally, at, start, seconds)
                list_member(tally, v, m, False, at)
                number = views.changes[v]
                changed = add_view_change(changes, changed, v, m, False, number, NONE, at)
        pass_time(tally, now, start, seconds)
        if k == entries.t.shape[0]:
            break
        if entries.code[k] < HEARS:
            turn(tally, views, entries.stay[k], entries.code[k], start, now)
        else:
            changed = enter_announcement(tally, views, entries, k, lifetime_s, changes, changed)
    return changed
