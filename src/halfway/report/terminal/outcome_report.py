"""The metrics of one simulated run: tables for a terminal, and JSON."""

import json
import math
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from halfway.comparison.evaluation.metrics import member_metrics
from halfway.report.terminal.plain_table import plain_table
from halfway.report.wording import short
from halfway.sim.metrics.nodes import NodeTable
from halfway.sim.metrics.outcome import Outcome

_SPREAD = ("mean", "p50", "p95", "p99", "max")


def outcome_json(outcome: Outcome, nodes: NodeTable | None = None) -> str:
    """Return the outcome of one simulated run as one JSON object; metrics without a value are null.

    A run of a failure detector or of groups has their metrics by name as `member_metrics`, with the
    names of a comparison. nodes: added as `per_node`, one object for each node.
    """
    plain = outcome.to_dict() | {"seed": str(outcome.seed)}  # many readers round above 2^53
    values = {metric.name: value for metric, value in member_metrics(outcome)}
    finite = {
        name: float(value) if math.isfinite(value) else None for name, value in values.items()
    }
    plain |= {"member_metrics": finite} if finite else {}
    plain |= {} if nodes is None else {"per_node": list(nodes.rows())}
    return json.dumps(plain, ensure_ascii=False, allow_nan=False)


def print_outcome(console: Console, outcome: Outcome) -> None:
    """Print a simulated run's outcome: delivery, cost, latency, and counts by record kind.

    A run of a failure detector, of groups or of requests has the metrics of these workloads, as in
    a comparison.
    """
    console.print(
        f"{outcome.system} on {outcome.nodes:,} nodes for {outcome.seconds:g} s "
        f"({outcome.records:,} records processed; seed {outcome.seed})"
    )
    for table in _tables(outcome):
        console.print(table, highlight=False)
    digest = f"digest {outcome.digest} (equal seeds give equal digests on any machine)"
    console.print(digest, highlight=False)


def print_notes(console: Console, notes: Iterable[str]) -> None:
    """Print notes under the tables of an outcome in the terminal, as a comparison does."""
    for note in notes:
        console.print(Text.assemble(("note: ", "dim"), note))


def _tables(outcome: Outcome) -> Iterator[Table]:
    if outcome.detection is not None or outcome.groups is not None:
        yield _members(outcome)
    yield _metrics(outcome)
    if outcome.detection is None:
        yield _distributions(outcome)
    yield _kinds(outcome)


def _members(outcome: Outcome) -> Table:
    table = plain_table("members", "value", "unit", numbers=["value"])
    for metric, value in member_metrics(outcome):
        table.add_row(metric.label, short(value), metric.unit)
    return table


def _traffic(outcome: Outcome) -> list[tuple[str, str, str]]:
    """Return the rows of a simulated run's events and transmissions: name, value, meaning."""
    sent, received = sum(outcome.sent.values()), sum(outcome.received.values())
    if outcome.detection is not None:
        return [
            ("transmissions", f"{sent:,}", f"{outcome.bytes_sent:,} bytes"),
            ("receptions", f"{received:,}", f"{outcome.bytes_received:,} bytes"),
        ]
    unpublished = f". Events not published because of nodes that were down: {outcome.unpublished:,}"
    return [
        ("delivery ratio", short(outcome.delivery_ratio),
         f"{outcome.delivered:,} of {outcome.expected:,} expected notifications of "
         f"{outcome.published:,} events" + (unpublished if outcome.unpublished else "")),
        ("duplicates, late", f"{outcome.duplicates:,}, {outcome.late:,}",
         "repeated notifications, and notifications that arrived after `window` newer events"),
        ("messages / notification", short(outcome.sent_per_notification),
         f"{sent:,} transmissions, {outcome.bytes_sent:,} bytes"),
        ("receptions / notification", short(outcome.received_per_notification),
         f"{received:,} receptions, {outcome.bytes_received:,} bytes"),
    ]  # fmt: skip


def _metrics(outcome: Outcome) -> Table:
    table = plain_table("metric", "value", "meaning", numbers=["value"])
    load = outcome.load
    rows = [
        *_traffic(outcome),
        (
            "max node load",
            short(load.max),
            f"messages sent and received: mean {short(load.mean)}, median {short(load.median)}, "
            f"Gini {short(load.gini)}",
        ),
        ("transmitting nodes", f"{outcome.transmitting_nodes:,}", "nodes that sent a message"),
        (
            "energy [J]",
            short(outcome.energy_j),
            f"sending {outcome.energy_tx_j:.3g}, receiving {outcome.energy_rx_j:.3g}, idle "
            f"{outcome.energy_idle_j:.3g}, max node energy {outcome.max_node_energy_j:.3g}",
        ),
        ("state / node [bytes]", f"{outcome.state_bytes_per_node:,.0f}", "memory of one node"),
    ]
    if outcome.lifetime is not None:
        first = outcome.lifetime.first_dead_s
        when = "no battery is used up" if math.isnan(first) else f"the first is dead at {first:g} s"
        rows.append(("nodes alive", f"{outcome.lifetime.alive:,}", f"by their batteries: {when}"))
    if outcome.caught_up:
        why = "notifications of subscribers that were down when the event was published"
        rows.append(("caught up", f"{outcome.caught_up:,}", why))
    if outcome.unsolicited:
        why = "notifications of applications without a subscription"
        rows.append(("unsolicited", f"{outcome.unsolicited:,}", why))
    rows += [(name, f"{count:,}", "counted by the radio") for name, count in outcome.radio.items()]
    fate = "may have been lost" if outcome.delivery_ratio < 1.0 else "have all arrived"
    why = f"counted by the protocol, and notifications {fate}"
    rows += [(name, f"{count:,}", why) for name, count in outcome.shortfalls.items()]
    for row in rows:
        table.add_row(*row)
    return table


def _distributions(outcome: Outcome) -> Table:
    table = plain_table("notifications", *_SPREAD, numbers=_SPREAD)
    table.add_row("latency [s]", *map(short, outcome.latency_s))
    table.add_row("hops", *map(short, outcome.hops))
    table.add_row("stretch", *map(short, outcome.stretch))
    return table


def _kinds(outcome: Outcome) -> Table:
    table = plain_table("record kind", "sent", "received", numbers=["sent", "received"])
    for kind in dict.fromkeys([*outcome.sent, *outcome.received]):
        sent, received = outcome.sent.get(kind, 0), outcome.received.get(kind, 0)
        table.add_row(kind, f"{sent:,}", f"{received:,}")
    return table
