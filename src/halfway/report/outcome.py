"""The meters of one run, for a terminal and for machines."""

import json
import math

from rich import box
from rich.console import Console
from rich.table import Table

from halfway.sim.metrics.outcome import Outcome, Spread


def outcome_json(told: Outcome) -> str:
    """One JSON object; what nothing was counted for is null."""
    return json.dumps(told.as_dict(), ensure_ascii=False, allow_nan=False)


def print_outcome(console: Console, told: Outcome) -> None:
    """What a reader asks first comes first: did it arrive, how fast, at what cost."""
    console.print(
        f"{told.system} on {told.nodes:,} nodes for {told.seconds:g} s "
        f"({told.records:,} records delivered; seed {told.seed})"
    )
    console.print(_rows(told), highlight=False)
    console.print(_spreads(told), highlight=False)
    console.print(_kinds(told), highlight=False)
    console.print(f"digest {told.digest}: same seed, same digest, anywhere", highlight=False)


def _rows(told: Outcome) -> Table:
    table = _table("meter", "value", "what it is")
    missed = f", {told.unpublished:,} not published: their nodes were down"
    rows = [
        ("delivery ratio", _short(told.delivery_ratio),
         f"{told.delivered:,} of {told.expected:,} expected notifications of "
         f"{told.published:,} events" + (missed if told.unpublished else "")),
        ("duplicates, late", f"{told.duplicates:,}, {told.late:,}",
         "told to an application again; told after the event was closed"),
        ("transmissions", f"{sum(told.sent.values()):,}",
         f"{_short(told.sent_per_notification)} a notification, {told.bytes_sent:,} bytes"),
        ("receptions", f"{sum(told.received.values()):,}",
         f"{_short(told.received_per_notification)} a notification, {told.bytes_received:,} bytes"),
        ("load of a node", _short(told.load.mean),
         f"records sent and heard: median {_short(told.load.median)}, most "
         f"{_short(told.load.max)}, Gini {_short(told.load.gini)}"),
        ("involved", f"{told.transmitting_nodes:,}", "nodes that transmitted anything"),
        ("energy", f"{told.energy_j:.4g} J",
         f"sending {told.energy_tx_j:.3g}, receiving {told.energy_rx_j:.3g}, waiting "
         f"{told.energy_idle_j:.3g}; most at one node {told.max_node_energy_j:.3g}"),
        ("memory", f"{told.state_bytes_per_node:,.0f} bytes", "the protocol's state, a node"),
    ]  # fmt: skip
    if told.caught_up:
        rows.append(
            (
                "caught up",
                f"{told.caught_up:,}",
                "told to subscribers that were down when the event was published",
            )
        )
    if told.unsolicited:
        meaning = "notifications of applications without a subscription"
        rows.append(("unsolicited", f"{told.unsolicited:,}", meaning))
    for name, count in told.radio.items():
        rows.append((name, f"{count:,}", "counted by the radio"))
    for name, count in told.shortfalls.items():
        rows.append((name, f"{count:,}", "counted by the system: what its nodes could not do"))
    for row in rows:
        table.add_row(*row)
    return table


def _spreads(told: Outcome) -> Table:
    table = _table("of notifications", "mean", "median", "95 %", "99 %", "most")
    for name, spread, unit in (
        ("latency", told.latency_s, 1e3),
        ("hops", told.hops, 1.0),
        ("stretch", told.stretch, 1.0),
    ):
        values = Spread(*(value * unit for value in spread))
        table.add_row(name + (" (ms)" if unit != 1.0 else ""), *(_short(v) for v in values))
    return table


def _kinds(told: Outcome) -> Table:
    table = _table("kind", "sent", "received")
    for kind in dict.fromkeys([*told.sent, *told.received]):
        table.add_row(kind, f"{told.sent.get(kind, 0):,}", f"{told.received.get(kind, 0):,}")
    return table


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(columns):
        words = place == 0 or name == "what it is"
        table.add_column(name, justify="left" if words else "right", overflow="fold")
    return table


def _short(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4g}"
