"""A search for a path that exists does not break the path until its answer comes."""

from typing import Any

import numpy as np

from halfway.core.message import EVERYONE, RECORD
from halfway.core.missing import NONE
from halfway.core.outbox import outbox
from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.paths.circuits import (
    SORTS,
    Circuits,
    find,
    forward,
    is_found,
    no_circuits,
)
from halfway.protocols.broker_trees.paths.decisions import SECOND
from halfway.protocols.broker_trees.paths.searches import keep_found, on_search, shared_nodes
from halfway.protocols.broker_trees.records.messages import (
    AVOIDED,
    AWAY,
    BACK,
    DIRECTION,
    FOUND,
    HOPS,
    NO_PATH,
    NOTIFY,
    ORIGIN,
    ROUTE,
    SEARCH,
    SHARED,
    VERSION,
)
from halfway.protocols.broker_trees.tables.subscription_table import Catalogue
from tests.interpreted import uncompiled
from tests.protocols.broker_trees.test_siena import FILTERS, VALUES
from tests.protocols.rules_of import rules_of

RULES = rules_of(siena, catalogue=Catalogue(FILTERS, VALUES))
OWNER, TARGET, RELAY = 1, 2, 7  # node ids
BEFORE, AFTER, OTHER = 20, 21, 22  # neighbours of the relay
NUMBER = 3 * SORTS


def record(kind: int, source: int, target: int, **args: int) -> Any:
    """A record on the path of the owner to the target, or a search for it."""
    made = np.zeros(1, RECORD).view(np.recarray)
    one = made[0]
    one.kind, one.source, one.target, one.at = kind, source, target, 5.0
    one.args[ROUTE] = NUMBER
    places = {
        "hops": HOPS, "shared": SHARED, "origin": ORIGIN, "version": VERSION, "avoided": AVOIDED,
        "direction": DIRECTION, "route": ROUTE,
    }  # fmt: skip
    for name, value in args.items():
        one.args[places[name]] = value
    return one


def hear_search(circuits: Circuits, source: int, version: int) -> bool:
    """Let the relay hear a search; return whether it passes the search on."""
    out = outbox(4)
    searched = record(SEARCH, source, TARGET, origin=OWNER, version=version, avoided=NONE)
    uncompiled(on_search)(circuits, 0, RELAY, RULES, searched, out)
    kinds = out.pool["kind"][out.free[out.tally[0] :]]
    assert (out.pool["next"][out.free[out.tally[0] :]] == EVERYONE).all()
    return kinds.tolist() == [SEARCH]


def hear_found(circuits: Circuits, source: int, version: int) -> None:
    """Let the relay hear the answer of the target."""
    found = record(FOUND, source, OWNER, origin=TARGET, version=version, direction=BACK)
    uncompiled(keep_found)(circuits, 0, RELAY, found, outbox(4))


def event_goes_to(circuits: Circuits) -> int:
    """The next hop of an event from the owner, at the relay; NONE: it has no path."""
    out = outbox(4)
    event = record(NOTIFY, BEFORE, TARGET, origin=OWNER, direction=AWAY)
    uncompiled(forward)(circuits, 0, RELAY, event, out)
    sent = out.pool[out.free[out.tally[0]]]
    return NONE if sent["kind"] == NO_PATH else int(sent["next"])


def test_records_follow_the_path_of_before_until_the_search_is_answered() -> None:
    circuits = no_circuits(1, 8)
    assert hear_search(circuits, BEFORE, version=1)
    assert event_goes_to(circuits) == NONE
    hear_found(circuits, AFTER, version=1)
    assert event_goes_to(circuits) == AFTER
    assert not hear_search(circuits, OTHER, version=1)
    assert hear_search(circuits, BEFORE, version=2)
    assert event_goes_to(circuits) == AFTER
    hear_found(circuits, OTHER, version=1)  # an answer to the earlier search
    assert event_goes_to(circuits) == AFTER
    hear_found(circuits, OTHER, version=2)
    assert event_goes_to(circuits) == OTHER


def test_a_second_path_shares_no_node_with_a_path_of_an_earlier_search() -> None:
    """[uas §4] The two paths are "node disjoint", also if the direct path has changed."""
    circuits = no_circuits(1, 8)
    second = record(SEARCH, BEFORE, TARGET, origin=OWNER, version=9, route=NUMBER + SECOND)
    shared = []
    for version in (1, 2):
        hear_search(circuits, BEFORE, version)
        shared.append(int(uncompiled(shared_nodes)(circuits, 0, RELAY, second)))
        hear_found(circuits, AFTER, version)
        shared.append(int(uncompiled(shared_nodes)(circuits, 0, RELAY, second)))
    assert shared == [0, 1, 0, 1]
    assert uncompiled(is_found)(circuits.of[0, uncompiled(find)(circuits, 0, OWNER, NUMBER)])
