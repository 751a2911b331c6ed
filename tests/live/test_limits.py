"""The pages for operators have the limits of the code, and every container of a node is in one."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from halfway import live
from halfway.live import dropping_queue, members, plain, topic_filters
from halfway.live.control import control_requests, route_answers, server
from halfway.live.events import delivered_values, event_shares, local_subscriptions, new_publishers
from halfway.live.journal import commit, journal, segment
from halfway.live.kept import kept_reader, kept_store, outlet_interface, publisher
from halfway.live.keys import (
    certificates,
    handshakes,
    keyed_security,
    network_membership,
    patterns,
    sessions,
    strangers,
)
from halfway.live.limits import DEFAULT
from halfway.live.link import endpoint, links, neighbour_queues, waiting
from halfway.live.monitoring import http
from halfway.live.mqtt import client_socket
from halfway.live.mqtt.policy.door_limits import DoorLimits
from halfway.live.mqtt.sessions import shares
from halfway.live.runtime import local_delivery, mesh_node, probe_routes
from halfway.live.step import node_stepper
from halfway.live.step.datagram_flow import ARENA, BODIES, DATAGRAMS
from halfway.live.systems import broker_trees, detectors, drip, georendezvous
from halfway.live.trace import folder
from halfway.live.wire import datagram_fragments
from halfway.protocols.broker_trees.paths import retransmissions
from halfway.protocols.broker_trees.underlay import confirmations
from halfway.protocols.failure_detectors import probe_messages
from tests.live.bounds import BED, BOUNDS, FIXED, MQTT, OPERATING, SECURITY

_DOCS = Path(__file__).parents[2] / "docs"
_DOOR, _MQTT = DEFAULT.with_door(), DoorLimits()
_KIB, _MIB = 1 << 10, 1 << 20
_CONTAINERS = {"dict", "list", "set", "deque", "OrderedDict", "Counter", "bytearray", "Queue"}

# The first words of a row of a page's tables of limits -> the numbers of the code in it.
_ROWS: dict[str, dict[str, tuple[float, ...]]] = {
    OPERATING: {
        "neighbours; nodes heard": (DEFAULT.neighbours, DEFAULT.heard),
        "peers without keys": (plain.MOST_PEERS,),
        "publishers whose": (DEFAULT.publishers, DEFAULT.in_flight),
        "topics with a number": (DEFAULT.topics, _DOOR.topics),
        "texts of topics": (2, DEFAULT.payload),
        "topics whose filters": (topic_filters.REMEMBERED,),
        "topics whose hashes": (local_subscriptions.REMEMBERED, patterns.REMEMBERED),
        "subscriptions of a node": (DEFAULT.subscriptions, _DOOR.subscriptions),
        "topics on which a node of `georendezvous`": (
            georendezvous.REQUESTS, georendezvous.REQUESTS,
        ),
        "entries at a node of `georendezvous`": (
            georendezvous.ENTRIES, georendezvous.TRAVERSALS, georendezvous.PRUNED,
            georendezvous.HOPS,
        ),
        "own events whose topics": (DEFAULT.held,),
        "topics to which a node of a broker tree": (broker_trees.REQUESTS,),
        "entries at a node of a broker tree": (
            broker_trees.ENTRIES, broker_trees.CIRCUITS, broker_trees.CHILDREN,
            broker_trees.CHILDREN, retransmissions.IN_FLIGHT, confirmations.PLACES,
        ),
        "topics to which a node of `drip`": (drip.REQUESTS,),
        "subscriptions at a broker of `drip`": (drip.REGISTERED, drip.EVENTS),
        "members that a node": (
            probe_messages.SWIM_OPTIONS["members"].default, members.MOST_FOLLOWERS,
            dropping_queue.MOST_WAITING,
        ),
        "trails and paths": (
            2 * probe_messages.SWIM_OPTIONS["members"].default, detectors.HOPS,
            2 * probe_messages.SWIM_OPTIONS["members"].default + detectors.HOPS,
        ),
        "bodies kept": (DEFAULT.bodies, DEFAULT.body_bytes / _MIB, DEFAULT.bodies),
        "bodies and datagrams": (BODIES, ARENA / _KIB, DATAGRAMS),
        "records that wait for a body": (DEFAULT.held,),
        "records and timers": (node_stepper.MOST_SLOTS,),
        "frames that wait": (waiting.MOST_WAITING_BYTES / _MIB,),
        "datagrams that wait": (DEFAULT.queue,),
        "receive buffer": (endpoint.BUFFER / _MIB,),
        "received datagrams that wait": (
            DEFAULT.waiting_bytes / _MIB, neighbour_queues.DATAGRAM_BYTES, endpoint.DRAIN,
        ),
        "limits of publishers": (
            event_shares.LEAST, event_shares.EPOCH_S, event_shares.BURST, DEFAULT.publishers,
            event_shares.REFUSED,
        ),
        "new publishers": (DEFAULT.publishers, new_publishers.MET_S, new_publishers.NAMES),
        "publications before": (mesh_node.AT_ONCE,),
        "events that wait for a command": (dropping_queue.MOST_WAITING,),
        "answers that wait": (route_answers.MOST_ANSWERS,),
        "retained values": (
            DEFAULT.retained, DEFAULT.retained_bytes / _MIB,
            _DOOR.retained, _DOOR.retained_bytes / _MIB,
        ),
        "publications remembered": (local_delivery.REMEMBERED, delivered_values.REMEMBERED),
        "parts of a frame": (
            datagram_fragments.MOST_PARTS, datagram_fragments.MOST_FRAME_BYTES,
            datagram_fragments.INCOMPLETE,
        ),
        "probes and searches": (probe_routes.MOST_TRACKED, probe_routes.A_SECOND),
        "kinds of refusals": (links.MOST_REFUSALS,),
        "own kept events": (
            kept_store.MOST_KEPT_EVENTS,
            kept_store.MOST_KEPT_BYTES / _MIB,
            outlet_interface.RETENTION_S / 3600,
        ),
        "topics with own kept": (kept_store.MOST_OWN_STREAMS,),
        "streams of others": (kept_store.MOST_STREAMS, kept_store.MOST_AHEAD),
        "readers of a stream": (publisher.MOST_READERS, outlet_interface.MOST_FILTERS),
        "events sent again": (publisher.MOST_AGAIN,),
        "a gap in a stream": (kept_reader.GAP_S,),
        "journal: segments": (
            journal.MOST_BYTES / _MIB, segment.MOST_RECORD_BYTES / _MIB, commit.GROUP_RECORDS,
            commit.GROUP_S * 1000,
        ),
        "certificates of nodes": (network_membership.MOST_CERTIFICATES,),
        "sessions with keys": (), "MQTT clients": (),  # the other pages have them
        "HTTP connections": (http.MOST_CONNECTIONS, http.MOST_HEAD / _KIB),
        "control socket": (server.MOST_CONNECTIONS, control_requests.MOST_LINE / _MIB),
        "rows of a trace": (folder.MOST_ROWS, folder.MOST_WAITING_ROWS),
        "files of a trace": (folder.MOST_BYTES / _MIB / _KIB,),
    },
    SECURITY: {
        "sessions": (keyed_security.MOST_PEERS,),
        "age of a session": (sessions.MOST_AGE_S / 3600,),
        "a silent session": (keyed_security.DEAD_S, keyed_security.SILENCE_S),
        "handshakes under way": (handshakes.MOST_HANDSHAKES, handshakes.HANDSHAKE_S),
        "sources of handshakes": (strangers.MOST_SOURCES, strangers.HANDSHAKE_RATE),
        "datagrams that wait": (handshakes.MOST_PENDING,),
        "certificates of nodes": (network_membership.MOST_CERTIFICATES,),
        "a certificate": (
            certificates.MOST_CERTIFICATE_BYTES, certificates.MOST_PATTERNS, patterns.MOST_BYTES
        ),
        "a revocation list": (certificates.MOST_REVOKED,),
        "a segment": (journal.SEGMENT_BYTES / _MIB,),
        "all segments": (journal.MOST_BYTES / _MIB,),
        "a record": (segment.MOST_RECORD_BYTES / _MIB,),
        "a group": (commit.GROUP_RECORDS, commit.GROUP_S * 1000),
        "kept events": (kept_store.MOST_KEPT_EVENTS, kept_store.MOST_KEPT_BYTES / _MIB),
        "streams of other": (kept_store.MOST_STREAMS,),
        "events after a gap": (kept_store.MOST_AHEAD,),
    },
    MQTT: {
        **{
            f"`{name}`": (getattr(_MQTT, name),) for name in DoorLimits._fields
            if name not in ("queued_messages", "queued_bytes", "session_expiry_s")
        },
        "`queued_messages`": (_MQTT.queued_messages, _MQTT.queued_bytes / _MIB),
        "`session_expiry_s`": (_MQTT.session_expiry_s / 86_400,),
        "shared subscriptions": (shares.SHARES_MAXIMUM, shares.DOORS_MAXIMUM),
        "write buffer": (client_socket.WRITE_BUFFER / _KIB,),
        "time to read": (client_socket.LINGER_S,),
    },
}  # fmt: skip


@pytest.mark.parametrize(("page", "what"), [(page, one) for page in _ROWS for one in _ROWS[page]])
def test_a_row_has_the_numbers_of_the_code(page: str, what: str) -> None:
    (limit,) = (one[1] for one in _limit_rows(page) if one[0].startswith(what))
    words = set(limit.replace(";", " ").split())
    for number in _ROWS[page][what]:
        assert {f"{number:,g}" if number < 1e6 else f"{number:,.0f}", f"{number:g},"} & words


@pytest.mark.parametrize("page", list(_ROWS))
def test_every_row_is_compared_with_the_code(page: str) -> None:
    found = [[what for what in _ROWS[page] if row[0].startswith(what)] for row in _limit_rows(page)]
    assert all(found), [row[0] for row, some in zip(_limit_rows(page), found, strict=True)
                        if not some]  # fmt: skip
    assert {max(some, key=len) for some in found} == set(_ROWS[page])


def test_every_container_of_a_node_has_a_limit() -> None:
    listed = {f"{place}.{name}" for place, some in BOUNDS.items() for name in some}
    assert set(_containers()) == listed


def test_every_limit_of_a_container_is_a_row() -> None:
    for some in BOUNDS.values():
        for bound in some.values():
            if bound not in (FIXED, BED):
                page, what = bound
                assert what in _ROWS[page], bound


def test_a_container_without_a_limit_would_be_found() -> None:
    code = "class A:\n def __init__(self):\n  self.a, self.b = {}, deque[int]()\n  self.c = 1\n"
    assert list(_made_in(ast.parse(code))) == ["A.a", "A.b"]


def _limit_rows(page: str) -> list[list[str]]:
    """The cells of the rows of a page's tables whose heading has a limit."""
    found, is_limits = [], False
    for line in (_DOCS / page).read_text().splitlines():
        cells = [one.strip() for one in line.strip("|").split("|")]
        if not line.startswith("|"):
            is_limits = False
        elif is_limits and not cells[0].startswith("---"):
            found.append(cells)
        elif "at the limit" in cells:
            is_limits = True
    return found


def _containers() -> Iterator[str]:
    """The attributes of all classes of live nodes that are containers which grow."""
    root = Path(live.__file__).parent
    for path in sorted(root.rglob("*.py")):
        for found in _made_in(ast.parse(path.read_text())):
            yield f"{path.relative_to(root).with_suffix('')}:{found}"


def _made_in(tree: ast.AST) -> Iterator[str]:
    for one in ast.walk(tree):
        if isinstance(one, ast.ClassDef):
            yield from sorted({f"{one.name}.{name}" for name in _made_by(one)})


def _made_by(one: ast.ClassDef) -> Iterator[str]:
    for part in ast.walk(one):
        if isinstance(part, ast.Assign):
            target, value = part.targets[0], part.value
        elif isinstance(part, ast.AnnAssign) and part.value is not None:
            target, value = part.target, part.value
        else:
            continue
        pairs = [(target, value)]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = list(zip(target.elts, value.elts, strict=True))
        for to, made in pairs:
            own, _, name = ast.unparse(to).partition(".")
            if own == "self" and name.isidentifier() and _is_container(made):
                yield name


def _is_container(made: ast.expr) -> bool:
    if isinstance(made, ast.Call):
        name = made.func.value if isinstance(made.func, ast.Subscript) else made.func
        word = name.attr if isinstance(name, ast.Attribute) else getattr(name, "id", "")
        return word in _CONTAINERS
    return isinstance(
        made, ast.Dict | ast.List | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp
    )
