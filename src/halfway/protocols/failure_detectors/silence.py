"""Suspicion by silence: a node suspects a member whose heartbeat counter has not grown for too
long.

The detectors with heartbeats and with gossip counters share this module. The time-out is fixed, or
follows from the times between the last counters, after Hayashibara, Défago, Yared & Katayama 2004,
"The φ accrual failure detector", §IV: with P_later(t) = 1 - F(t) of a normal distribution F, φ(t) =
-log10(P_later(t)). A node suspects a member if φ > Φ. This means t > mean + z · deviation, where z
is the quantile of 1 - 10^-Φ.
"""

from collections.abc import Mapping
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import apart, inlined
from halfway.core.missing import NO_PLACE
from halfway.core.options import Option, Value, count, seconds
from halfway.protocols.failure_detectors.member_index import (
    MemberIndex,
    add_member,
    evict_member,
    find_rank,
    member_index,
)
from halfway.protocols.failure_detectors.reports import SUSPECTED, TRUSTED, report

# What a node knows of a member.
HEARD = np.dtype(
    [
        ("heard_at", "<f8"),  # when the counter last grew, by the node's own clock (s)
        ("sum_s", "<f8"),  # sum of the last times between two counters (s)
        ("squares", "<f8"),  # sum of the squares of these times (s²)
        ("intervals", "<i8"),  # number of these times
        ("node_id", "<i4"),
        ("is_suspected", "<u4"),
    ]
)
_COUNTER_BITS = 31
_FEW = 4  # least number of times between counters for φ; with fewer, the time-out is fixed

# Of the detectors in which a member sends heartbeats.
HEARTBEAT_OPTIONS = {
    "period_s": seconds(1.0, "from one heartbeat of a member to its next heartbeat", 1e-3),
    "timeout_s": seconds(5.0, "without a heartbeat, after which a node suspects a member", 1e-3),
}
HEARTBEAT_TICK = "the node looks for silent members, and may send its heartbeat"
OPTIONS: dict[str, Option] = {
    "members": count(1024, "number of members that a node has room for", 1, 65_536),
    "phi_threshold": Option(
        0.0,
        0.0,
        300.0,
        "level φ of suspicion above which a node suspects a member. 0 means a fixed time-out",
    ),
    "phi_intervals": count(
        100, "number of newest times between new counters from which a node computes φ", 4, 1000
    ),
    "phi_deviation_s": seconds(0.1, "of the least standard deviation that φ assumes", 1e-9),
}


class Silence(NamedTuple):
    """The parameters of suspicion by silence, equal on every node."""

    timeout_s: float
    deviations: float  # quantile z for the threshold of φ; 0: the time-out is fixed
    least_deviation_s: float


class HeardMembers(NamedTuple):
    """The members that each node has heard of, with their counters and the times between counters,
    by which it suspects silent members.
    """

    members: MemberIndex
    entry: npt.NDArray[np.void]  # [n, limit] HEARD, as a record array
    interval: npt.NDArray[np.float64]  # [n, limit, W] the newest times between counters; W 0: none


def silence(timeout_s: float, phi: float, least_deviation_s: float) -> Silence:
    """Return the parameters of suspicion by silence: a fixed time-out, or φ if the threshold `phi`
    is above 0.
    """
    deviations = -NormalDist().inv_cdf(10.0**-phi) if phi > 0.0 else 0.0
    # For a threshold below 0.3, the quantile is below the mean. Such a detector suspects at the
    # mean.
    return Silence(timeout_s, max(deviations, 1e-9) if phi > 0.0 else 0.0, least_deviation_s)


def silence_of(values: Mapping[str, Value]) -> Silence:
    """Return the parameters of suspicion by silence from the values of a detector's options."""
    phi, deviation_s = float(values["phi_threshold"]), float(values["phi_deviation_s"])
    return silence(float(values["timeout_s"]), phi, deviation_s)


def nothing_heard(n: int, limit: int, intervals: int = 0) -> HeardMembers:
    """Return empty tables for suspicion by silence, in which none of n nodes has heard a member.

    limit: number of members that a node has room for. intervals: number of times between counters
    that a node keeps, for φ.
    """
    entry = np.zeros((n, limit), HEARD)
    return HeardMembers(
        member_index(n, limit, has_numbers=True),
        entry.view(np.recarray),
        np.zeros((n, limit, intervals)),
    )


@inlined
def counter_number(epoch, counter):
    """Return the number by which suspicion by silence orders the heartbeat counters of a member: a
    later incarnation starts a new counter.
    """
    return (np.int64(epoch) << _COUNTER_BITS) + counter


@inlined
def timeout_of(heard, rules, i, place):
    """Return the silence in seconds after which row i suspects the member at a place."""
    known, window = heard.entry[i, place], heard.interval.shape[2]
    if rules.deviations == 0.0 or known.intervals < _FEW or window == 0:
        return rules.timeout_s
    kept = min(known.intervals, np.int64(window))
    mean = known.sum_s / kept
    variance = max(known.squares / kept - mean * mean, rules.least_deviation_s**2)
    return mean + rules.deviations * np.sqrt(variance)


@inlined
def _note_interval(heard, i, place, passed_s):
    """Write the time between two counters of a member over the oldest entry in the window of this
    member.
    """
    window = heard.interval.shape[2]
    if window == 0:
        return
    known = heard.entry[i, place]
    spot = known.intervals % window
    old = heard.interval[i, place, spot]
    known.sum_s += passed_s - old
    known.squares += passed_s * passed_s - old * old
    known.intervals += 1
    heard.interval[i, place, spot] = passed_s


@inlined
def _add_heard(heard, i, member, now):
    """Add a newly heard member to the table of counters at row i; return its place, or NO_PLACE if
    the table is full.

    In a full table, the new member takes the place of the suspected member with the longest
    silence.
    """
    index, entry = heard.members, heard.entry
    if index.known[i] == index.place.shape[1]:
        oldest, at = NO_PLACE, now
        for k in range(index.known[i]):
            place = np.int64(index.place[i, k])
            if entry[i, place].is_suspected == 1 and entry[i, place].heard_at < at:
                oldest, at = place, entry[i, place].heard_at
        if oldest != NO_PLACE:
            evict_member(index, entry, i, oldest)
    return add_member(index, entry, i, member)


@apart
def note_counter(heard, i, member, number, now, out):
    """Note a heartbeat counter of a member at row i, which ends the silence of the member if the
    counter grew; return whether it grew.

    number: from `counter_number`. now: time on the node's own clock, in seconds.
    """
    rank = find_rank(heard.members, i, member)
    if rank == NO_PLACE:
        place = _add_heard(heard, i, member, now)
        if place == NO_PLACE:
            return False
        rank = find_rank(heard.members, i, member)
        known = heard.entry[i, place]
        known.sum_s = known.squares = 0.0
        known.intervals = 0
        known.is_suspected = 0
        for k in range(heard.interval.shape[2]):
            heard.interval[i, place, k] = 0.0
        report(TRUSTED, member, out)
    else:
        if number <= heard.members.number[i, rank]:
            return False
        known = heard.entry[i, heard.members.place[i, rank]]
        if known.is_suspected == 1:
            known.is_suspected = 0
            report(TRUSTED, member, out)
        else:
            _note_interval(heard, i, heard.members.place[i, rank], now - known.heard_at)
    heard.members.number[i, rank] = number
    known.heard_at = now
    return True


@apart
def suspect_silent(heard, rules, i, now, out):
    """Suspect at row i each member that was silent for too long. now: time on the node's own clock,
    in seconds.
    """
    for place in range(heard.members.known[i]):  # in the order of the memory
        known = heard.entry[i, place]
        silent_s = now - known.heard_at
        if known.is_suspected == 0 and silent_s > timeout_of(heard, rules, i, place):
            known.is_suspected = 1
            report(SUSPECTED, known.node_id, out)


@inlined
def trusts_any(heard, i):
    """Return whether row i knows a member that it does not suspect for its silence."""
    trusts = False
    for place in range(heard.members.known[i]):
        trusts |= heard.entry[i, place].is_suspected == 0
    return trusts


@apart
def hear_all_again(heard, i, now):
    """Reset the silence of all members at row i, because the node was down and heard no member."""
    for k in range(heard.members.known[i]):
        heard.entry[i, heard.members.place[i, k]].heard_at = now
