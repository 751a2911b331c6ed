"""Clients' nodes of broker trees: which broker they attach to as announcements arrive."""

from types import ModuleType

import numpy as np
import pytest

from halfway.core.message import RECORD
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.outbox import Outbox
from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.client_state import ClientCapacity
from halfway.protocols.broker_trees.records.messages import (
    ALIVE,
    ANNOUNCE,
    BACK,
    DIRECTION,
    HOPS,
    KEEP_ALIVE,
    ORIGIN,
    ROOT,
    ROUTE,
    VERSION,
)
from halfway.protocols.broker_trees.tables.subscription_table import Catalogue
from halfway.protocols.broker_trees.underlay import underlay_siena
from tests.protocols.broker_trees.test_siena import FILTERS, VALUES
from tests.protocols.lone import emitted_by, entered
from tests.protocols.rules_of import tree_rules

OWN, NEIGHBOUR, FAR = 40, 7, 2  # ids; FAR: hops from a broker to the neighbour
NOWHERE = Neighbourhood(
    np.zeros(1, np.uint32),
    np.zeros(1, np.uint32),
    np.zeros(0, np.int32),
    np.zeros(0, np.int32),
    np.zeros(0),
    np.zeros(0),
)


class Client:
    """A lone client's node that hears a neighbour."""

    def __init__(self, module: ModuleType) -> None:
        ids, none = np.array([OWN], np.int32), np.zeros(0, np.int32)
        sizes = (6,) if module is siena else (6, 5)
        capacity = ClientCapacity(ids, 4, 2, 3)
        self.state = module.state(
            ids, none, 0, *sizes, clients=capacity, attributes=VALUES.shape[1]
        )
        self.rules = tree_rules(module, Catalogue(FILTERS, VALUES))
        self.now = 0.0

    def hear(self, kind: int, origin: int, **args: int) -> list[int]:
        """Receive a record of a broker by the neighbour; the brokers that get a KEEP_ALIVE."""
        self.now += 0.01
        record = np.zeros(1, RECORD).view(np.recarray)[0]
        record.at, record.kind, record.source, record.target = self.now, kind, NEIGHBOUR, OWN
        record.args[ORIGIN] = origin
        for place, value in args.items():
            record.args[PLACES[place]] = value

        def call(message: object, out: Outbox) -> None:
            entered(self.state, self.rules, NOWHERE, np.uint32(0), message, out)

        sent = [np.frombuffer(one, RECORD)[0] for one in emitted_by(call, record, 64)]
        return [int(one["target"]) for one in sent if one["kind"] == KEEP_ALIVE]

    def announced(self, broker: int, version: int) -> list[int]:
        """Hear the announcement of a broker."""
        return self.hear(ANNOUNCE, broker, hops=FAR, version=version, root=9)


PLACES = {"hops": HOPS, "version": VERSION, "root": ROOT, "route": ROUTE, "direction": DIRECTION}


@pytest.mark.parametrize("module", [siena, underlay_siena])
def test_a_broker_that_never_answered_is_given_up_when_another_one_replaces_it(
    module: ModuleType,
) -> None:
    """[uas §4] the nearest broker "in terms of number of IP hops"; of two, that of the lower id.

    The nodes around forget the way to a broker that another one replaces, so that the KEEP_ALIVE of
    the client's node may end there. The client's node must not wait for this broker for ever.
    """
    client = Client(module)
    assert client.announced(9, version=1) == [9]
    assert client.announced(5, version=1) == [5]
    assert client.announced(9, version=2) == []


@pytest.mark.parametrize("module", [siena, underlay_siena])
def test_a_client_stays_at_a_broker_that_answered_unless_another_one_is_nearer(
    module: ModuleType,
) -> None:
    """[uas §4.1] leaves clients where they are: an equally near broker is not a reason to move."""
    client = Client(module)
    assert client.announced(9, version=1) == [9]
    number = int(client.state.clients.number[0])
    assert client.hear(ALIVE, 9, route=number, direction=BACK) == []
    assert client.state.clients.attached.tolist() == [1]
    assert client.announced(5, version=1) == []
    assert client.state.clients.broker.tolist() == [9]
