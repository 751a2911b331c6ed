"""The replay of what happens to group members, into sums: kernels of the group accounting.

A viewer lists members, and a member is listed. Both are stays of the workload, by number. A pair is
a viewer and another member of its group, both in the group and up.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.adapters.group_views import (
    JOINED,
    LEFT,
    SAME,
    expire_member,
    forget_view,
    hear_announcement,
)
from halfway.core.compiled import inlined, kernel
from halfway.core.missing import NONE

# What an entry says: a stay begins or ends, its node goes down or comes up (empty: without its
# memory), and a viewer hears a member's announcement, the last one before it leaves.
ENTERS, EXITS, DOWN, UP, UP_EMPTY, HEARS, HEARS_LAST = range(7)
# Kinds of changes, and places of the sums of each: how many, how many converged, and seconds.
JOIN, LEAVE, CRASH, NEWCOMER = range(4)
COUNT, CONVERGED, SECONDS = range(3)
# Places of what is counted now, and of its integrals over time.
PAIRS, RIGHT, ENTRIES, MEMBERS = range(4)


class Replay(NamedTuple):
    """The state of a replay of groups. Stays by number; `peer` has those of each group together."""

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
    change: npt.NDArray[np.int8]  # [stays] kind of the member's last change; -1: it does not count
    since: npt.NDArray[np.float64]  # [stays] when that change was
    learns_since: npt.NDArray[np.float64]  # [stays] when the viewer came; nan: it knows its group
    due_at: npt.NDArray[np.float64]  # [queue] when announcements expire, ascending
    due_viewer: npt.NDArray[np.int32]  # [queue]
    due_member: npt.NDArray[np.int32]  # [queue]
    queue: npt.NDArray[np.int64]  # [2] begin and end of what waits in the queue
    now: npt.NDArray[np.int64]  # [4] PAIRS, RIGHT, ENTRIES, MEMBERS
    at: npt.NDArray[np.float64]  # [1] seconds: the replay's time
    total: npt.NDArray[np.float64]  # [4] integrals of `now` since start_s
    bins: npt.NDArray[np.float64]  # [bins, 4] integrals of `now` by time
    sums: npt.NDArray[np.float64]  # [kinds of changes, 3]


class Entries(NamedTuple):
    """Entries of a replay of groups in order of time."""

    t: npt.NDArray[np.float64]
    code: npt.NDArray[np.int8]
    stay: npt.NDArray[np.int32]  # the viewer of what is heard
    other: npt.NDArray[np.int32]  # the member that is heard
    number: npt.NDArray[np.int32]  # of the announcement
    hops: npt.NDArray[np.int32]


class ViewChanges(NamedTuple):
    """Changes of group views in order of time: what VIEW says to the applications."""

    t: npt.NDArray[np.float64]
    viewer: npt.NDArray[np.int32]  # the number of its stay
    member: npt.NDArray[np.int32]  # the number of its stay
    joined: npt.NDArray[np.bool_]  # else it left the view
    number: npt.NDArray[np.int32]  # of the view
    hops: npt.NDArray[np.int32]


def room_for(count: int) -> ViewChanges:
    """Return room for so many changes of group views."""
    whole = (np.zeros(count, np.int32) for _ in range(4))
    viewer, member, number, hops = whole
    joined = np.zeros(count, np.bool_)
    return ViewChanges(np.zeros(count), viewer, member, joined, number, hops)


@inlined
def is_present(replay, s):
    """Whether a stay of the replay has begun, and its node is up."""
    return replay.inside[s] and replay.up[s]


@inlined
def is_pair(replay, viewer, member):
    """Whether two stays of one group in the replay are a viewer and a member that it may list."""
    return viewer != member and replay.subscribes[viewer] and replay.publishes[member]


@kernel
def pass_time(replay, now, start, seconds):
    """Let the replay's time pass up to `now`, and integrate what is counted."""
    begin, bins = replay.at[0], replay.bins.shape[0]
    if now <= begin:
        return
    after = max(now - max(begin, start), 0.0)
    for k in range(4):
        replay.total[k] += after * replay.now[k]
    b = min(np.int64(begin / seconds * bins), bins - 1)
    while begin < now:
        end = min(now, (b + 1) * seconds / bins) if b + 1 < bins else now
        for k in range(4):
            replay.bins[b, k] += max(end - begin, 0.0) * replay.now[k]
        begin, b = max(begin, end), b + 1
    replay.at[0] = now


@kernel
def count_pairs(replay, s, sign):
    """Count the pairs of a stay that is present in the replay: sign 1 when it comes, -1 when it
    goes."""
    replay.now[MEMBERS] += sign
    for k in range(replay.first[s], replay.last[s]):
        p = replay.peer[k]
        if is_pair(replay, s, p):
            listed = replay.says[s, replay.place[p]]
            replay.now[ENTRIES] += sign * listed
            if is_present(replay, p):
                replay.now[PAIRS] += sign
                replay.now[RIGHT] += sign * listed
        if is_pair(replay, p, s) and is_present(replay, p):
            replay.now[PAIRS] += sign
            replay.now[RIGHT] += sign * replay.says[p, replay.place[s]]


@inlined
def finish(replay, kind, seconds):
    """Count a change of the replay that all viewers have followed, after so many seconds."""
    if kind >= 0:
        replay.sums[kind, CONVERGED] += 1
        replay.sums[kind, SECONDS] += seconds


@inlined
def follow(replay, viewer, member, now):
    """Note in the replay that a viewer need not follow the member's change any more."""
    if replay.pending[viewer, replay.place[member]]:
        replay.pending[viewer, replay.place[member]] = False
        replay.waiting[member] -= 1
        if replay.waiting[member] == 0:
            finish(replay, replay.change[member], now - replay.since[member])


@kernel
def check_newcomer(replay, v, now):
    """Count in the replay a newcomer that lists all members of its group for the first time."""
    if np.isnan(replay.learns_since[v]) or not is_present(replay, v):
        return
    for k in range(replay.first[v], replay.last[v]):
        p = replay.peer[k]
        if is_pair(replay, v, p) and is_present(replay, p) and not replay.says[v, replay.place[p]]:
            return
    finish(replay, NEWCOMER, now - replay.learns_since[v])
    replay.learns_since[v] = np.nan


@kernel
def list_member(replay, viewer, member, listed, now):
    """Enter in the replay that a viewer lists a member now, or does not."""
    m = replay.place[member]
    if replay.says[viewer, m] == listed:
        return
    replay.says[viewer, m] = listed
    sign = 1 if listed else -1
    if is_present(replay, viewer) and is_pair(replay, viewer, member):
        replay.now[ENTRIES] += sign
        replay.now[RIGHT] += sign * is_present(replay, member)
    if is_present(replay, member) == listed:
        follow(replay, viewer, member, now)
    check_newcomer(replay, viewer, now)


@kernel
def begin_change(replay, m, kind, start, now):
    """Begin a change of a member in the replay, which all viewers of now must follow."""
    m_place, viewers = replay.place[m], 0
    replay.waiting[m] = 0
    for k in range(replay.first[m], replay.last[m]):
        v = replay.peer[k]
        replay.pending[v, m_place] = False
        if is_pair(replay, v, m) and is_present(replay, v):
            viewers += 1
            if replay.says[v, m_place] != is_present(replay, m):
                replay.pending[v, m_place] = True
                replay.waiting[m] += 1
    counts = viewers > 0 and now >= start
    replay.change[m] = kind if counts else -1
    replay.since[m] = now
    replay.sums[kind, COUNT] += counts
    if replay.waiting[m] == 0:
        finish(replay, replay.change[m], 0.0)


@kernel
def turn(replay, views, s, code, start, now):
    """Enter that a stay of the replay begins or ends, or that its node goes down or comes up."""
    was = is_present(replay, s)
    if was:
        count_pairs(replay, s, -1)
    if code in (ENTERS, EXITS):
        replay.inside[s] = code == ENTERS
    else:
        replay.up[s] = code != DOWN
    if code in (ENTERS, EXITS, UP_EMPTY):
        forget_view(views, s)
        replay.says[s] = False
    comes = is_present(replay, s)
    if comes:
        count_pairs(replay, s, 1)
    if comes == was:
        return
    others = 0  # members that the stay's viewer may list
    for k in range(replay.first[s], replay.last[s]):
        p = replay.peer[k]
        others += is_pair(replay, s, p) and is_present(replay, p)
        if not comes:
            follow(replay, s, p, now)
            check_newcomer(replay, p, now)
    replay.learns_since[s] = np.nan
    if replay.publishes[s]:
        begin_change(replay, s, JOIN if comes else LEAVE if code == EXITS else CRASH, start, now)
    if comes and code != UP and others > 0 and now >= start:
        replay.sums[NEWCOMER, COUNT] += 1
        replay.learns_since[s] = now
        check_newcomer(replay, s, now)


@kernel
def hear(replay, views, entries, k, lifetime_s, changes, changed):
    """Enter an announcement that a viewer of the replay hears; return the changes of views."""
    v, m, now = entries.stay[k], entries.other[k], entries.t[k]
    if not replay.inside[v]:
        return changed
    leaves = entries.code[k] == HEARS_LAST
    hops = entries.hops[k]
    what = hear_announcement(views, v, m, entries.number[k], lifetime_s, leaves, hops, now)
    if not leaves:
        replay.due_at[replay.queue[1]] = now + lifetime_s
        replay.due_viewer[replay.queue[1]] = v
        replay.due_member[replay.queue[1]] = m
        replay.queue[1] += 1
    return note_change(replay, views, v, m, what, hops, now, changes, changed)


@inlined
def note_change(replay, views, v, m, what, hops, now, changes, changed):
    """Note what happened to a member in a view of the replay; return the changes of views."""
    if what == SAME:
        return changed
    list_member(replay, v, m, what == JOINED, now)
    changes.t[changed] = now
    changes.viewer[changed] = v
    changes.member[changed] = m
    changes.joined[changed] = what == JOINED
    changes.number[changed] = views.changes[v]
    changes.hops[changed] = hops
    return changed + 1


@kernel
def advance(replay, views, entries, until, start, seconds, lifetime_s, changes):
    """Enter the entries into the replay, and the announcements that expire up to a time.

    Return the number of changes of views.
    """
    changed = 0
    for k in range(entries.t.shape[0] + 1):
        now = entries.t[k] if k < entries.t.shape[0] else until
        while replay.queue[0] < replay.queue[1] and replay.due_at[replay.queue[0]] <= now:
            q = replay.queue[0]
            replay.queue[0] += 1
            v, m, at = replay.due_viewer[q], replay.due_member[q], replay.due_at[q]
            what = expire_member(views, v, m, at)
            if what == LEFT:
                pass_time(replay, at, start, seconds)
                changed = note_change(replay, views, v, m, what, NONE, at, changes, changed)
        pass_time(replay, now, start, seconds)
        if k == entries.t.shape[0]:
            break
        if entries.code[k] < HEARS:
            turn(replay, views, entries.stay[k], entries.code[k], start, now)
        else:
            changed = hear(replay, views, entries, k, lifetime_s, changes, changed)
    return changed
