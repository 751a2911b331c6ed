"""Workloads of scenario files: roles by name, recorded events, payloads, and their runs."""

from pathlib import Path

import msgspec
import numpy as np
import pytest

from halfway.adapters.registry import TABLE
from halfway.comparison.plan import plain_of
from halfway.comparison.request import read_request
from halfway.problem import Problem
from halfway.scenario.build import prepared, simulation_of
from halfway.scenario.reading import input_files, read_scenario
from halfway.scenario.schema import Scenario, converted, plain
from halfway.sim.simulation import Simulation

FLOOD_BYTES = 12 + 4 + 4 + 4 + 4  # header; topic, event, publisher and epoch

LINKS = "a,b\ngate,roof\nroof,yard\nyard,shed\n"
OPTIONS = "".join(f"[options.{tree}]\nbrokers = 1\n" for tree in ("siena", "underlay-siena"))
OPTIONS += "[workload]\n"
TEXT = f"""
seconds = 20
hello = "given"
discovery_delay_s = 0
[network]
kind = "file"
path = "links.csv"
{OPTIONS}"""
NAMED = """
publishers = ["gate"]
subscribers = { heat = ["shed", { node = "yard", from_s = 5 }], rain = ["roof"] }
events = 9
every_s = 2
"""
RECORDED = """
kind = "recorded"
path = "events.csv"
scale = 0.5
start_s = 2
subscribers = { heat = ["shed"] }
"""
EVENTS = "time,node,topic,size\n100,gate,heat,50\n104,roof,heat,30\n106,gate,rain,10\n"


LATER = 'brokers = ["gate", {{ node = "yard", {} }}]'


def file_of(folder: Path, text: str, events: str = EVENTS) -> Path:
    (folder / "links.csv").write_text(LINKS, "utf-8")
    (folder / "events.csv").write_text(events, "utf-8")
    head = TEXT if "brokers =" not in text else TEXT.replace(OPTIONS, "[workload]\n")
    (folder / "scenario.toml").write_text(head + text, "utf-8")
    return folder / "scenario.toml"


def read(folder: Path, text: str, events: str = EVENTS) -> Scenario:
    return read_scenario(file_of(folder, text, events))


def built(folder: Path, text: str, **given: str) -> Simulation:
    return simulation_of(read(folder, text), **given)  # type: ignore[arg-type]


def test_named_roles_are_the_rows_of_those_nodes(tmp_path: Path) -> None:
    run = built(tmp_path, NAMED)
    row = {name: row for row, name in enumerate(run.environment.names())}
    assert [rows.tolist() for rows in run.demand.publishers] == [[row["gate"]]] * 2
    assert run.demand.subscribers[0].tolist() == sorted([row["shed"], row["yard"]])
    assert run.demand.periods == {(row["yard"], 0): (5.0, float("inf"))}


@pytest.mark.parametrize("system", ["flooding", "siena", "directional-walk"])
def test_a_subscription_that_begins_later_expects_later_events(tmp_path: Path, system: str) -> None:
    text = NAMED.replace(', rain = ["roof"]', "").replace("from_s = 5", "from_s = 6")
    run = built(tmp_path, text, system=system)
    outcome = run.run()
    assert outcome.expected == 9 + 6  # the shed all events, the yard those from 7 s on
    assert outcome.delivered == outcome.expected
    assert outcome.unsolicited == 0


ENDING = NAMED.replace("from_s = 5", "until_s = 5").replace(', rain = ["roof"]', "")
# The network has no positions, which georendezvous needs.
LEARNS = [
    name
    for name in TABLE
    if TABLE[name].adapter_with({}).ends_subscriptions() and name != "georendezvous"
]


@pytest.mark.parametrize("system", LEARNS)
def test_a_node_delivers_nothing_after_the_end_of_its_subscription(
    tmp_path: Path, system: str
) -> None:
    outcome = built(tmp_path, ENDING, system=system).run()
    assert (outcome.expected, outcome.unsolicited) == (9 + 2, 0)
    assert outcome.delivered > 5


def test_a_system_that_does_not_learn_of_an_end_notifies_further(tmp_path: Path) -> None:
    outcome = built(tmp_path, ENDING, system="drip").run()
    assert outcome.unsolicited > 0


@pytest.mark.parametrize("system", ["flooding", "siena"])
def test_a_notification_that_arrives_after_the_end_is_not_delivered(
    tmp_path: Path, system: str
) -> None:
    text = ENDING.replace("until_s = 5", "until_s = 3.0001")
    slow = text + "[radio]\nkind = 'ideal'\ndelay_s = 0.001\n"
    outcome = built(tmp_path, slow, system=system).run()
    # The event of 3 s is expected, as the subscription holds then; it arrives later.
    assert (outcome.expected, outcome.delivered) == (9 + 2, 9 + 1)


def test_systems_that_do_not_learn_of_an_end_are_named(tmp_path: Path) -> None:
    request = read_request(file_of(tmp_path, ENDING), ["flooding", "siena", "drip"])
    assert request.remarks == [
        "this system does not learn that a subscription ends, so notifications after this "
        "end still cost messages, and count as unsolicited: drip"
    ]
    # An end after the run has no effect.
    later = ENDING.replace("until_s = 5", "until_s = 20")
    assert not read_request(file_of(tmp_path, later), ["drip"]).remarks
    assert not read_request(file_of(tmp_path, ENDING), ["gossip"]).remarks


BROKERS = """
publishers = ["gate", "yard"]
subscribers = ["shed", "roof"]
brokers = ["gate", { node = "yard", from_s = 2.2, until_s = 11.2 }, { node = "shed", from_s = 6.2 }]
events = 16
start_s = 3.0
"""


def brokers_of(run: Simulation) -> dict[str, int]:
    """The parent of each broker of a run by name; -2: the broker is outside of the tree."""
    names, state = run.environment.names(), run.state
    rows = np.flatnonzero(state.broker_index >= 0)
    return {names[row]: int(state.parent[state.broker_index[row]]) for row in rows}


@pytest.mark.parametrize("text", ["", RECORDED.replace("subscribers =", "#")])
def test_named_brokers_have_their_periods(tmp_path: Path, text: str) -> None:
    given = 'brokers = ["gate", { node = "yard", from_s = 3, until_s = 9 }]\n'
    run = built(tmp_path, text + given, system="flooding")
    row = {name: row for row, name in enumerate(run.environment.names())}
    whole = (row["gate"], 0.0, float("inf"))
    assert [tuple(one) for one in run.demand.brokers] == [whole, (row["yard"], 3.0, 9.0)]


@pytest.mark.parametrize("system", ["siena", "underlay-siena"])
def test_a_broker_enters_and_leaves_the_tree(tmp_path: Path, system: str) -> None:
    """[uas Algorithm 2] "C.Connect To(B.Parent)": the shed, a child of the yard, joins the gate."""
    run = built(tmp_path, BROKERS, system=system)
    row = {name: row for row, name in enumerate(run.environment.names())}
    parents = {}
    for t in (2.0, 5.0, 10.0, 15.0):
        run.advance(t)
        parents[t] = brokers_of(run)
    assert parents == {
        2.0: {"gate": -1, "shed": -2, "yard": -2},
        5.0: {"gate": -1, "shed": -2, "yard": row["gate"]},
        10.0: {"gate": -1, "shed": row["yard"], "yard": row["gate"]},
        15.0: {"gate": -1, "shed": row["gate"], "yard": -2},
    }
    outcome = run.run()
    assert (outcome.expected, outcome.delivered) == (2 * 16, 2 * 16)
    assert (outcome.duplicates, outcome.unsolicited) == (0, 0)


def test_brokers_that_a_system_has_no_use_for_are_remarked(tmp_path: Path) -> None:
    given = 'brokers = ["gate"]\n'
    request = read_request(file_of(tmp_path, given), ["flooding", "gossip"])
    assert request.remarks == [
        "workload.brokers has no effect on these systems, which have no broker tree: "
        "flooding, gossip"
    ]


def test_recorded_events_are_published_by_their_nodes_at_their_times(tmp_path: Path) -> None:
    run = built(tmp_path, RECORDED)
    names, events = run.environment.names(), run.demand.next_publications(1e9, 9)
    assert events.t.tolist() == [2.0, 4.0, 5.0]
    assert [names[row] for row in events.row] == ["gate", "roof", "gate"]
    assert events.topic.tolist() == [0, 0, 1]


def test_payloads_of_a_file_count_on_every_hop(tmp_path: Path) -> None:
    outcome = built(tmp_path, RECORDED).run()
    assert outcome.sent == {"flood": 12}  # four nodes repeat three events
    assert outcome.bytes_sent == 12 * FLOOD_BYTES + 4 * (50 + 30 + 10)
    assert outcome.bytes_received == 18 * FLOOD_BYTES + 6 * (50 + 30 + 10)


def test_a_file_without_events_is_named(tmp_path: Path) -> None:
    file = file_of(tmp_path, RECORDED, "time,node,topic,size\n")
    with pytest.raises(Problem, match="no events below the header: expected a line for each"):
        prepared(read_scenario(file))


def test_payloads_count_in_the_records_that_carry_an_event_only(tmp_path: Path) -> None:
    text = NAMED + "payload_bytes = { heat = 88 }\n"
    for system, kinds in (("flooding", {"flood"}), ("siena", {"publish", "notify"})):
        with_payload, without = (built(tmp_path, one, system=system).run() for one in (text, NAMED))
        assert with_payload.sent == without.sent
        more = with_payload.bytes_sent - without.bytes_sent
        carried = sum(count for kind, count in with_payload.sent.items() if kind in kinds)
        assert more % 88 == 0
        assert 0 < more // 88 < carried  # events of the topic rain have no payload
        assert with_payload.energy_tx_j > without.energy_tx_j


def test_payloads_lengthen_frames_on_shared_and_wired_links(tmp_path: Path) -> None:
    for radio in ('kind = "wired"\nbandwidth = 1e4', 'kind = "contention"'):
        base = NAMED + f"[radio]\n{radio}\n"
        slow = base.replace("every_s", "payload_bytes = 900\nevery_s")
        one, other = (built(tmp_path, text).run() for text in (base, slow))
        assert other.latency_s.median > one.latency_s.median


def test_drawn_nodes_stand_in_for_the_names_of_a_file(tmp_path: Path) -> None:
    text = RECORDED.replace("subscribers =", "nodes = 'drawn'\nsubscribers =")
    run = built(tmp_path, text, **{})
    rows = run.demand.next_publications(1e9, 9).row
    assert rows[0] == rows[2] != rows[1]
    many = EVENTS + "".join(f"110,n{k},heat,1\n" for k in range(3))
    with pytest.raises(Problem, match="5 names of nodes: expected at most 4"):
        simulation_of(read(tmp_path, text, many))


def test_recorded_events_without_subscribers_get_drawn_ones(tmp_path: Path) -> None:
    text = RECORDED.replace('subscribers = { heat = ["shed"] }', "subscribers_each = 2")
    run = built(tmp_path, text)
    names = run.environment.names()
    assert {names[row] for row in run.demand.subscribers[0]} == {"yard", "shed"}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (NAMED.replace('"gate"', '"gait"'), "'gait': the network has no such node"),
        (NAMED + "topics = 3", "workload.topics = 3: expected 2, the topics with a named node"),
        (NAMED + "exponent = 2.0", "workload.exponent = 2: expected popularity"),
        (NAMED + "topics = 2\nwidth = 2", "width = 2: expected 1, because subscribers"),
        (
            NAMED + "attributes = [2]",
            "expected no names of nodes, because the workload has attributes",
        ),
        (
            "attributes = [2, 3]\ntopics = 5",
            "6 combinations of values: expected 5, as `topics`",
        ),
        ("attributes = [400, 300]", "120,000 combinations of values: expected at most 100,000"),
        ("attributes = [2, 3]\nwidth = 3", "width = 3: expected 1 to 2, the smallest number"),
        ("attributes = []", "workload.attributes"),
        ("attributes = [2, 2, 2, 2, 2, 2, 2]", "workload.attributes"),
        (NAMED + "payload_bytes = { het = 4 }", "'het': the workload has no such topic"),
        ("brokers = []", r"workload.brokers = \[\]: expected at least one node"),
        ('brokers = ["gait"]', "'gait': the network has no such node"),
        ('brokers = ["gate", "gate"]', "node 'gate' is named twice"),
        (LATER.format("from_s = 9, until_s = 5"), "from_s = 9, until_s = 5: expected 0 <= from_s"),
        ('brokers = [{ node = "gate", from_s = 1 }]', "'gate' is the first broker, which founds"),
        (RECORDED + "begin = 200", "workload.begin = 200: expected at most 106"),
        (RECORDED.replace("start_s = 2", "start_s = 30"), "the first event is at 30 s"),
        (RECORDED.replace('"events.csv"', "[]"), "expected at least one file"),
        (RECORDED.replace('["shed"]', '["sheds"]'), "'sheds': the network has no such node"),
    ],
)
def test_a_bad_workload_is_an_error(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(Problem, match=what):
        simulation_of(read(tmp_path, text))


def test_a_number_of_brokers_beside_their_names_is_an_error(tmp_path: Path) -> None:
    text = 'brokers = ["gate"]\n[options.siena]\nbrokers = 1\n'
    with pytest.raises(Problem, match=r"brokers = 1: workload\.brokers names the brokers"):
        simulation_of(read(tmp_path, text))


def test_files_of_a_workload_are_inputs_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "roles.csv").write_text("node,topic\nshed,heat\n", "utf-8")
    scenario = read(tmp_path, 'publishers = "roles.csv"\nsubscribers = "roles.csv"\n')
    assert [Path(file).name for file in input_files(scenario)] == ["links.csv", *["roles.csv"] * 2]
    recorded = read(tmp_path, RECORDED)
    assert [Path(file).name for file in input_files(recorded)] == ["links.csv", "events.csv"]


def test_fields_of_later_versions_change_no_plan_at_their_defaults(tmp_path: Path) -> None:
    scenario = read(tmp_path, "events = 3\n")
    fields = {"topics", "publishers_each", "subscribers_each", "events", "every_s", "start_s",
              "arrivals", "width"}  # fmt: skip
    assert set(plain_of(scenario)["workload"]) == fields
    for one in (scenario, read(tmp_path, NAMED), read(tmp_path, RECORDED)):
        text = msgspec.json.encode(plain(one))
        assert converted(msgspec.json.decode(text)) == one
