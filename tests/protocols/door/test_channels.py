"""Kinds of records with two channels: no record of a neighbour can pass for a command."""

import importlib
from collections.abc import Iterator
from itertools import permutations
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from halfway.core.kinds import Channel, Kind, Kinds
from halfway.core.message import RECORD
from halfway.core.outbox import Outbox
from halfway.core.records.checks import (
    ACCEPTED,
    COLUMNS,
    FROM_APPLICATION,
    FROM_NETWORK,
    FROM_SELF,
    OUT_OF_RANGE,
    RecordChecks,
    record_checks,
    refusal,
    write_column,
)
from halfway.protocols import SYSTEMS
from halfway.protocols.broker_trees import siena
from halfway.protocols.broker_trees.client_state import ClientCapacity
from halfway.protocols.broker_trees.records import messages
from halfway.protocols.broker_trees.tables.subscription_table import FREE, Catalogue
from halfway.protocols.broker_trees.underlay import underlay_siena
from tests.protocols.broker_trees.test_client_node import NOWHERE
from tests.protocols.broker_trees.test_siena import FILTERS, VALUES
from tests.protocols.lone import emitted_by, entered
from tests.protocols.rules_of import tree_rules

DRAWS = 200  # of records of each form
MOST = 2.0**31 - 1.0
ORIGINS = {
    Channel.COMMAND: FROM_APPLICATION, Channel.NETWORK: FROM_NETWORK, Channel.TIMER: FROM_SELF,
}  # fmt: skip
OWN, NEIGHBOUR = 40, 7
TREES = [siena, underlay_siena]
SAID = (messages.SUBSCRIBE, messages.UNSUBSCRIBE, messages.PUBLISH, messages.DETACH)


def kinds_of(system: str) -> Kinds:
    """The table of kinds of a system."""
    table: Kinds = importlib.import_module(SYSTEMS[system].module).KINDS
    return table


def drawn(checks: RecordChecks, form: Kind, random: np.random.Generator) -> Any:
    """A random record of a form: the ends of its ranges are as likely as all other values."""
    row = form.number
    if form.channel is Channel.COMMAND:
        row = int(checks.command[form.number])
    record = np.zeros(1, RECORD).view(np.recarray)[0]
    record.kind, record.source = form.number, NEIGHBOUR
    for column in range(COLUMNS):
        low, high = np.clip(checks.bounds[row, column], -MOST, MOST)
        value = random.choice([low, high, random.uniform(low, high)])
        write_column(record, column, np.floor(value) if checks.whole[row, column] else value)
    return record


def confusable(system: str) -> Iterator[tuple[str, Channel]]:
    """The kinds and channels of a system in whose form a record also fits another form."""
    kinds, random = kinds_of(system), np.random.default_rng(1)
    checks = record_checks(kinds, {})
    for kind in kinds:
        for form, other in permutations(kind.forms, 2):
            records = [drawn(checks, form, random) for _ in range(DRAWS)]
            for record in records:
                assert refusal(checks, record, ORIGINS[form.channel]) == ACCEPTED
            if ACCEPTED in [refusal(checks, one, ORIGINS[other.channel]) for one in records]:
                yield kind.name, form.channel


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_record_of_a_neighbour_fits_a_command(system: str) -> None:
    """A timer may share the form of a network record, if all of its fields are equal: then the
    handler treats both alike, because it does not know the channel."""
    for name, channel in confusable(system):
        kind = kinds_of(system)[kinds_of(system).number(name)]
        assert channel is not Channel.COMMAND
        assert {form.channel for form in kind.forms} == {Channel.NETWORK, Channel.TIMER}
        assert kind.forms[0].parts() == kind.forms[1].parts()


def test_the_kinds_with_two_channels() -> None:
    """The commands of both trees, and what a node of `georendezvous` sends to itself on its way."""
    found = {
        (system, kind.name): kind.forms[1].channel
        for system in SYSTEMS for kind in kinds_of(system) if len(kind.forms) > 1
    }  # fmt: skip
    said = [messages.KINDS[kind].name for kind in SAID]
    routed = ("advert", "interest", "prune", "notify", "rehome", "wanted", "unwanted",
              "notify-client")  # fmt: skip
    trees = {(tree, name): Channel.COMMAND for tree in ("siena", "underlay-siena") for name in said}
    assert found == trees | {("georendezvous", name): Channel.TIMER for name in routed}


def test_the_test_notices_a_command_that_a_neighbour_can_send() -> None:
    kinds = Kinds()
    kinds.network(1, "publish", "a client publishes", "topic", {"path": 0}, also=Channel.COMMAND)
    checks = record_checks(kinds, {})
    record = drawn(checks, kinds[1].forms[1], np.random.default_rng(1))
    assert refusal(checks, record, FROM_NETWORK) == ACCEPTED


class Tree:
    """A lone node of a broker tree with one subscription: a client's node, or a root."""

    def __init__(self, module: ModuleType, *, broker: bool) -> None:
        ids, none = np.array([OWN], np.int32), np.zeros(0, np.int32)
        sizes = (6,) if module is siena else (6, 5)
        clients, brokers = ClientCapacity(none if broker else ids, 4, 2, 3), ids if broker else none
        width = VALUES.shape[1]
        self.state = module.state(ids, brokers, OWN, *sizes, clients=clients, attributes=width)
        self.rules = tree_rules(module, Catalogue(FILTERS, VALUES))
        self.checks = record_checks(module.KINDS, module.limits(self.state, self.rules))
        self.held = self.state.table.filter if broker else self.state.clients.filter
        assert self.receive(record_of(messages.SUBSCRIBE, topic=1), FROM_APPLICATION) == ACCEPTED
        assert self.subscriptions() == 1

    def receive(self, record: Any, origin: Any) -> int:
        """Let the node handle a record if the check accepts it; why the check refuses it."""
        why = int(refusal(self.checks, record, origin))

        def call(message: object, out: Outbox) -> None:
            entered(self.state, self.rules, NOWHERE, np.uint32(0), message, out)

        if why == ACCEPTED:
            emitted_by(call, record, 64)
        return why

    def subscriptions(self) -> int:
        """How many subscriptions of its own application the node holds."""
        return int((self.held != FREE).sum())


def record_of(kind: int, target: int = -1, topic: int = 0, client: int = 0, **args: int) -> Any:
    """A record without an event; places of `args` by name."""
    record = np.zeros(1, RECORD).view(np.recarray)[0]
    record.kind, record.source, record.target, record.topic = kind, NEIGHBOUR, target, topic
    record.event = record.publisher = -1
    record.args[messages.CLIENT] = client
    for name, value in args.items():
        record.args[messages.ROUTED[name]] = value
    return record


@pytest.mark.parametrize("module", TREES)
@pytest.mark.parametrize("kind", SAID)
def test_a_command_from_the_network_is_refused(module: ModuleType, kind: int) -> None:
    checks, record = record_checks(module.KINDS, {}), record_of(kind)
    if kind == messages.PUBLISH:
        record.event, record.publisher = 0, OWN
    assert refusal(checks, record, FROM_APPLICATION) == ACCEPTED
    assert refusal(checks, record, FROM_NETWORK) == OUT_OF_RANGE


@pytest.mark.parametrize("client", [0, -1])
@pytest.mark.parametrize("broker", [False, True])
@pytest.mark.parametrize("module", TREES)
def test_a_neighbour_cannot_detach_the_clients_of_a_node(
    module: ModuleType, broker: bool, client: int
) -> None:
    """Neither as a command nor as a record that this node would have sent along a path."""
    tree = Tree(module, broker=broker)
    forged = record_of(messages.DETACH, client=client)
    assert tree.receive(forged, FROM_NETWORK) == OUT_OF_RANGE
    for direction in (messages.AWAY, messages.BACK):
        forged = record_of(messages.DETACH, OWN, client=client, direction=direction, origin=OWN)
        assert tree.receive(forged, FROM_NETWORK) == ACCEPTED
    assert tree.subscriptions() == 1
    assert tree.receive(record_of(messages.DETACH), FROM_APPLICATION) == ACCEPTED
    assert tree.subscriptions() == 0
