"""The view of a group member: the members that it lists, because it heard their announcements and
these are valid.

An application above publish/subscribe keeps the view, so views work on every system that delivers
events. The view contains only heard announcements. An announcement has a member, the number of the
event at this member, the time for which it is valid, and whether the member leaves. Ages follow the
node's own clock.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.missing import NO_PLACE, NONE

SAME, JOINED, LEFT = 0, 1, 2  # changes of a member in a view
MOST_LISTED = 1024  # members that a view has room for, in a run of groups


class GroupViews(NamedTuple):
    """The views of group members as bounded tables, one row for each view.

    A view keeps the entry of a member that left while its last announcement would be valid, so that
    an older, late announcement does not bring the member back.
    """

    member: npt.NDArray[np.int32]  # [views, capacity] the member's number; NONE: free
    number: npt.NDArray[np.int32]  # [views, capacity] number of the newest announcement
    until_s: npt.NDArray[np.float64]  # [views, capacity] when the place expires
    hops: npt.NDArray[np.int32]  # [views, capacity] hops of this announcement
    listed: npt.NDArray[np.bool_]  # [views, capacity] whether the member is in the view
    suspected: npt.NDArray[np.int32]  # [views, capacity] `number` when the member was suspected
    changes: npt.NDArray[np.int32]  # [views] number of the view, which grows with each change
    refused: npt.NDArray[np.int64]  # [views] announcements without room


def group_views(views: int, capacity: int) -> GroupViews:
    """Return empty views of group members, each with room for `capacity` members."""
    shape = views, max(capacity, 1)
    return GroupViews(
        member=np.full(shape, NONE, np.int32),
        number=np.full(shape, NONE, np.int32),
        until_s=np.zeros(shape),
        hops=np.zeros(shape, np.int32),
        listed=np.zeros(shape, np.bool_),
        suspected=np.full(shape, NONE, np.int32),
        changes=np.zeros(views, np.int32),
        refused=np.zeros(views, np.int64),
    )


@inlined
def place_in_view(views, v, member, now):
    """Return the index of a member in a group view; a new member takes a free or expired entry.

    NO_PLACE: the view is full.
    """
    free = NO_PLACE
    for k in range(views.member.shape[1]):
        if views.member[v, k] == member:
            return np.int64(k)
        if free == NO_PLACE and (views.member[v, k] == NONE or views.until_s[v, k] <= now):
            free = np.int64(k)
    if free != NO_PLACE:
        views.member[v, free] = member
        views.number[v, free] = NONE
        views.suspected[v, free] = NONE
        views.listed[v, free] = False
    return free


@inlined
def hear_announcement(views, v, member, number, lifetime_s, leaves, hops, now):
    """Enter an announcement into a group view; return JOINED or LEFT if the announcement changes
    the view, else SAME.

    An announcement changes nothing unless it is newer than the last announcement of its member. The
    caller must remove expired members with `expire_member` first.
    """
    k = place_in_view(views, v, member, now)
    if k == NO_PLACE:
        views.refused[v] += 1
        return SAME
    if number <= views.number[v, k]:
        return SAME
    views.number[v, k] = number
    views.until_s[v, k] = now + lifetime_s
    views.hops[v, k] = hops
    if views.listed[v, k] != leaves:
        return SAME
    views.listed[v, k] = not leaves
    views.changes[v] += 1
    return LEFT if leaves else JOINED


@inlined
def expire_member(views, v, member, now):
    """Remove a member whose entry in a group view has expired; return LEFT if the view changes,
    else SAME.
    """
    for k in range(views.member.shape[1]):
        if views.member[v, k] == member and views.listed[v, k] and views.until_s[v, k] <= now:
            views.listed[v, k] = False
            views.changes[v] += 1
            return LEFT
    return SAME


@inlined
def forget_view(views, v):
    """Empty the group view of a node that lost its memory."""
    for k in range(views.member.shape[1]):
        views.member[v, k] = NONE
        views.listed[v, k] = False


@inlined
def suspect_member(views, v, member):
    """Mark a member of a group view as suspected, until the view has a newer announcement of this
    member.
    """
    for k in range(views.member.shape[1]):
        if views.member[v, k] == member:
            views.suspected[v, k] = views.number[v, k]


@inlined
def nearest_member(views, v, now):
    """Return the unsuspected member of a group view with the fewest hops, the least id among
    equals, or NONE if the view has no such member.
    """
    nearest, fewest = NONE, 0
    for k in range(views.member.shape[1]):
        member, hops = views.member[v, k], views.hops[v, k]
        if not views.listed[v, k] or views.until_s[v, k] <= now:
            continue
        if views.number[v, k] <= views.suspected[v, k]:
            continue
        if nearest == NONE or hops < fewest or (hops == fewest and member < nearest):
            nearest, fewest = member, hops
    return nearest
