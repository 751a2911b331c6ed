"""Single rules of the failure detectors: φ, proxies, suspicions, health, and the order of news."""

from statistics import NormalDist, fmean, pstdev
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.hello.state import unknown_neighbourhood
from halfway.core.missing import NO_PLACE
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.outbox import outbox
from halfway.protocols.failure_detectors import (
    counter_records,
    lifeguard,
    member_index,
    member_list,
    probe_news,
    probing,
    silence,
    swim,
)
from halfway.protocols.failure_detectors.counter_records import ENTRIES
from halfway.protocols.failure_detectors.member_list import MemberNews, Probes, probes
from halfway.protocols.failure_detectors.probe_messages import (
    ALIVE,
    DEAD,
    MEMBERS,
    PERIOD,
    PING,
    PING_TIMEOUT,
    SUSPECT,
    UPDATES,
)
from halfway.world.faults import LinkCut
from tests.interpreted import uncompiled
from tests.protocols.failure_detectors.runs import full, run, suspicions

NONE = np.int32(-1)

append_trusted = uncompiled(counter_records.append_trusted)
emit_counters = uncompiled(counter_records.emit_counters)
find_member = uncompiled(member_index.find_member)
change_health = uncompiled(member_list.change_health)
learn = uncompiled(member_list.learn)
most_sent = uncompiled(member_list.most_sent)
suspicion_time = uncompiled(member_list.suspicion_time)
write_news = uncompiled(probe_news.write_news)
begin_period = uncompiled(probing.begin_period)
note_counter = uncompiled(silence.note_counter)
suspect_silent = uncompiled(silence.suspect_silent)
timeout_of = uncompiled(silence.timeout_of)


def heard(times: list[float], window: int = 8) -> silence.HeardMembers:
    """A node that heard the counters of member 7 at these times."""
    known, out = silence.nothing_heard(1, 4, window), outbox(64)
    for number, at in enumerate(times):
        assert note_counter(known, 0, 7, number + 1, at, out)
    return known


@pytest.mark.parametrize("phi", [0.5, 1.0, 3.0, 8.0])
def test_phi_suspects_when_a_later_counter_has_that_probability(phi: float) -> None:
    """[Hayashibara et al. 2004, §IV.B] φ = -log10(P_later), of the newest times in the window."""
    times = np.cumsum([0.0, 9.0, 1.0, 1.2, 0.9, 1.4, 1.1, 0.8, 1.0, 1.3]).tolist()
    gaps = np.diff(times)[-8:].tolist()
    normal = NormalDist(fmean(gaps), pstdev(gaps))
    rules = silence.silence(99.0, phi, 1e-3)
    wait = timeout_of(heard(times), rules, 0, 0)
    assert 1.0 - normal.cdf(wait) == pytest.approx(10.0**-phi, rel=1e-5)


def test_phi_errs_as_often_as_it_says() -> None:
    """At Φ = 1, a tenth of the counters come later than their time-out."""
    random = np.random.default_rng(3)
    times = np.cumsum(np.abs(random.normal(1.0, 0.1, 3000)))
    known, out = silence.nothing_heard(1, 4, 200), outbox(64)
    rules, late = silence.silence(99.0, 1.0, 1e-3), 0
    for number, at in enumerate(times.tolist()):
        if number > 200:
            late += at - times[number - 1] > timeout_of(known, rules, 0, 0)
        note_counter(known, 0, 7, number + 1, at, out)
    assert late / 2799 == pytest.approx(0.1, abs=0.02)


def test_without_phi_or_with_few_counters_the_time_out_is_fixed() -> None:
    assert timeout_of(heard([0.0, 1.0]), silence.silence(9.0, 1.0, 0.1), 0, 0) == 9.0
    many = heard([float(k) for k in range(9)])
    assert timeout_of(many, silence.silence(9.0, 0.0, 0.1), 0, 0) == 9.0
    assert timeout_of(many, silence.silence(9.0, 1.0, 0.5), 0, 0) < 2.0


def test_a_silent_member_gives_way_in_a_full_table_and_its_old_counter_changes_nothing() -> None:
    """[van Renesse et al. 1998, §3] forgets a member after a second time-out. Here a suspected
    member stays until its place is needed, and its counter is not sent."""
    known, out = silence.nothing_heard(1, 2), outbox(64)
    rules, index = silence.silence(10.0, 0.0, 0.1), known.members
    assert note_counter(known, 0, 7, 5, 0.0, out)
    assert note_counter(known, 0, 8, 5, 1.0, out)
    suspect_silent(known, rules, 0, 10.5, out)
    record = emit_counters(3, NONE, out)
    append_trusted(known, 0, record, 1, out)
    assert record.args[:ENTRIES].tolist() == [NONE, 8, *[NONE] * (ENTRIES - 2)]
    assert not note_counter(known, 0, 7, 5, 10.6, out)
    assert known.entry[0, find_member(index, 0, 7)].is_suspected == 1
    assert note_counter(known, 0, 9, 1, 10.7, out)
    assert index.counts[0].tolist() == [1, 0]
    # No member is suspected now, so an old counter finds no room.
    assert not note_counter(known, 0, 7, 5, 10.8, out)
    assert index.counts[0].tolist() == [1, 1]
    assert find_member(index, 0, 7) == NO_PLACE


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 5)), max_size=40))
def test_the_table_of_counters_is_a_dictionary_in_which_the_suspected_give_way(
    heard_of: list[tuple[int, int]],
) -> None:
    known, out, newest = silence.nothing_heard(1, 4), outbox(2048), dict[int, int]()
    index, rules = known.members, silence.silence(1.0, 0.0, 0.1)
    suspected = list[int]()  # the longest silent first
    for at, (member, number) in enumerate(heard_of):
        due = number > newest.get(member, 0)
        if due and member not in newest and len(newest) == 4:
            if suspected:
                del newest[suspected.pop(0)]
            else:
                due = False
        assert note_counter(known, 0, member, number, float(at), out) == due
        if due:
            newest[member] = number
            suspected = [one for one in suspected if one != member]
            if at % 3 == 2:
                suspect_silent(known, rules, 0, at + 1.5, out)
                places = index.place[0, : index.known[0]]
                ages = {int(known.entry[0, p].node_id): known.entry[0, p].heard_at for p in places}
                suspected = sorted(ages, key=ages.__getitem__)
        count = int(index.known[0])
        assert index.node_id[0, :count].tolist() == sorted(newest)
        assert index.number[0, :count].tolist() == [newest[one] for one in sorted(newest)]
        assert sorted(index.place[0, :count].tolist()) == list(range(count))
        assert {
            one for one in newest if known.entry[0, find_member(index, 0, one)].is_suspected
        } == set(suspected)


def defaults(module: ModuleType, **values: float) -> Any:
    """The rules of SWIM or Lifeguard with some options."""
    options = {name: one.default for name, one in module.OPTIONS.items()}
    return module.rules(options | values)


def test_confirmations_shorten_a_suspicion() -> None:
    """[Lifeguard §IV.B] From 6 times the least time down to it, by the logarithm."""
    state = probes(np.arange(1, dtype=np.int32), 200, 1)
    state.members.known[0] = 98  # log10(98 + 1 + 1) = 2
    plain, guarded = defaults(swim), defaults(lifeguard)
    assert suspicion_time(state, plain, 0, 0) == 8.0
    times = [suspicion_time(state, guarded, 0, c) for c in range(4)]
    assert times[0] == 48.0
    assert times[1] == pytest.approx(48.0 - 40.0 * np.log(2) / np.log(4), abs=1e-5)
    assert times[3] == 8.0
    assert times == sorted(times, reverse=True)


def status_after(*news: tuple[int, int]) -> tuple[int, int]:
    """(incarnation, status) of a member after news of it at a node of SWIM."""
    state, near = probes(np.array([1], np.int32), 4, 1), unknown_neighbourhood(1, 4)
    for incarnation, status in news:
        one = MemberNews(9, incarnation, status, NONE)
        learn(state, defaults(swim), near, 0, one, 0.0, outbox(16))
    known = state.entry[0, state.members.place[0, 0]]
    return int(known.incarnation), int(known.status)


@pytest.mark.parametrize("one", [(i, s) for i in (0, 1) for s in (ALIVE, SUSPECT, DEAD)])
@pytest.mark.parametrize("other", [(i, s) for i in (0, 1) for s in (ALIVE, SUSPECT, DEAD)])
def test_the_order_of_news_does_not_matter(one: tuple[int, int], other: tuple[int, int]) -> None:
    """[SWIM §4.2] The later incarnation wins; in one incarnation the worse status."""
    assert status_after(one, other) == status_after(other, one) == max(one, other)


def knowing(members: int) -> Probes:
    """Node 1 that knows so many other members, the first of them as its neighbour; all are up."""
    state, near = probes(np.array([1], np.int32), 2 * members, 1), unknown_neighbourhood(1, 4)
    for member in range(2, 2 + members):
        news = MemberNews(member, 0, ALIVE, NONE)
        learn(state, defaults(swim), near, 0, news, 0.0, outbox(16))
    state.entry.is_watched[0, state.members.place[0, 0]] = 1
    return state


def news_for(state: Probes, rules: Any, member: int) -> list[int]:
    """The members of which the next record for a member has news, in order."""
    out = outbox(1)
    record = out.pool[0]
    place = np.flatnonzero(state.entry.node_id[0] == member)[0]
    write_news(state, rules, 0, record, np.int64(place))
    return [int(one) for one in record.args[MEMBERS : MEMBERS + UPDATES]]


def test_a_piece_of_news_is_sent_a_number_of_times_that_grows_with_the_logarithm() -> None:
    """[SWIM §4.1] λ log(n + 1) times, and the news that was sent least often goes first."""
    rules = defaults(swim, transmissions=3)
    state = probes(np.arange(1, dtype=np.int32), 2000, 1)
    for others, times in ((1, 3), (8, 3), (9, 6), (98, 6), (99, 9), (998, 9), (999, 12)):
        state.members.known[0] = others
        assert most_sent(state, rules, 0) == times
    state = knowing(6)
    sent = [news_for(state, rules, 2) for _ in range(6)]
    # The news of the node itself, and three of six members at a time.
    counts = state.entry.sent[0, state.members.place[0, :6]]
    assert all(1 in record for record in sent[:3])
    assert sorted(sent[0][1:] + sent[1][1:]) == [2, 3, 4, 5, 6, 7]
    assert counts.tolist() == [3] * 6


@pytest.mark.parametrize("module", [swim, lifeguard])
def test_a_suspected_member_hears_of_its_suspicion_with_the_next_record(
    module: ModuleType,
) -> None:
    """[Lifeguard §IV.C] The buddy system: first in the record, however often it was sent."""
    rules = defaults(module)
    state, near = knowing(6), unknown_neighbourhood(1, 4)
    learn(state, rules, near, 0, MemberNews(5, 0, SUSPECT, 3), 0.0, outbox(16))
    state.entry.sent[0, state.members.place[0, :6]] = 0
    state.entry.sent[state.entry.node_id == 5] = 1  # the others are to be sent before it
    state.own.sent[0] = 99
    record = news_for(state, rules, 5)
    assert (record[0] == 5) == (module is lifeguard)
    assert (5 in record) == (module is lifeguard)


def test_local_health_is_counted_within_its_limits() -> None:
    """[Lifeguard §IV.A] A score from 0, healthy, to a limit."""
    own, rules = probes(np.arange(1, dtype=np.int32), 4, 1).own[0], defaults(lifeguard)
    for by, health in ((-1, 0), (1, 1), (3, 4), (99, rules.health_limit), (-1, 7)):
        change_health(own, rules, by)
        assert own.health == health


def test_an_unhealthy_node_probes_less_often_and_waits_longer() -> None:
    """[Lifeguard §IV.A] The period and the time-out of a probe grow with the score of health."""
    rules = defaults(lifeguard)
    near = Neighbourhood(
        np.zeros(1, np.uint32), np.ones(1, np.uint32), np.array([2], np.int32),
        np.full(1, NONE), np.zeros(0), np.zeros(0),
    )  # fmt: skip
    for health in (0, 1, 7):
        state, out = knowing(3), outbox(16)
        state.own.health[0] = health
        begin_period(state, rules, near, 0, 10.0, out)
        sent = {int(one.kind): float(one.at) for one in out.pool[out.free[int(out.tally[0]) :]]}
        assert sent == {
            PERIOD: rules.period_s * (health + 1),
            PING: 0.0,
            PING_TIMEOUT: rules.ping_timeout_s * (health + 1),
        }


@pytest.mark.parametrize("system", ["swim", "lifeguard"])
def test_proxies_reach_a_member_behind_a_broken_link(system: str) -> None:
    """[SWIM §3.1] Two nodes that lose their link do not suspect each other; without proxies, they
    do."""
    cut = LinkCut(a=0, b=1, at=40.0)
    proxied = run(system, full(8), 140.0, cut)
    assert suspicions(proxied) == []
    assert proxied.outcome().sent["ping-request"] > 0
    alone = run(system, full(8), 140.0, cut, options={"proxies": 0, "suspicion_factor": 0.0})
    assert {(a, b) for _, a, b in suspicions(alone)} >= {(0, 1), (1, 0)}


def test_the_load_of_swim_is_two_records_a_member_and_period() -> None:
    """[SWIM §3] A ping and its acknowledgement, whatever the number of members is."""
    for n in (8, 32):
        outcome = run("swim", full(n), 100.0).outcome()
        assert sum(outcome.sent.values()) / (n * 100.0) == pytest.approx(2.0, abs=0.05)
