"""`halfway bench`: how fast a network of live nodes is on this machine."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from halfway.cli.live import node_options
from halfway.cli.live.node import values_of
from halfway.cli.terminal.options import AsJson
from halfway.cli.terminal.screen import warn

if TYPE_CHECKING:
    from halfway.live.interface.benchmark import BenchPhase

_Nodes = Annotated[
    int, typer.Option(metavar="N", help="Number of nodes. Each node has about 6 links.")
]
_Size = Annotated[int, typer.Option(metavar="B", help="Size of a payload in bytes.")]
_Rate = Annotated[
    float,
    typer.Option(metavar="N", help="Number of published events per second in the first phase."),
]
_Topics = Annotated[
    int, typer.Option(metavar="N", help="Number of topics. Each topic has its own publisher.")
]
_Subscribers = Annotated[
    int,
    typer.Option(metavar="N", help="Number of subscribers of each topic. 0 means all other nodes."),
]
_FlatOut = Annotated[
    bool,
    typer.Option(
        "--flat-out/--no-flat-out", help="Run the second phase, which publishes without a limit."
    ),
]
_Settle = Annotated[
    float,
    typer.Option(metavar="S", help="Seconds from the subscriptions to the first event."),
]
_Each = Annotated[
    float, typer.Option(metavar="S", help="Length of each of the two phases in seconds.")
]


def bench(
    system: node_options.LiveSystem = "flooding",
    option: node_options.SystemOptions = None,
    nodes: _Nodes = 4,
    size: _Size = 200,
    rate: _Rate = 500.0,
    seconds: _Each = 5.0,
    topics: _Topics = 1,
    subscribers: _Subscribers = 0,
    flat_out: _FlatOut = True,
    settle: _Settle = 0.5,
    interpreted: node_options.Interpreted = False,
    as_json: AsJson = False,
) -> None:
    """Measure a network of live nodes: event rate, delivery, latency, CPU time, drops by reason.

    \b
    The nodes run in this process, as an UNSAFE development network on loopback. The first
    phase publishes at --rate. The second phase publishes without a limit, and shows the
    greatest rate and the drops by reason. The CPU time includes all nodes and the
    measurement itself. The results depend on the load of the machine, so compare only
    runs on the same machine.

    \b
    halfway bench
    halfway bench --system walk-overlay --nodes 20 --rate 100
    halfway bench --nodes 100 --topics 20 --subscribers 2 --rate 1000 --no-flat-out
    halfway bench --size 1000 --seconds 20 --json | jq .events_per_second
    """
    from halfway.live.interface.benchmark import BenchSettings, run_bench
    from halfway.live.plain import LABEL

    made = (nodes, size, rate, seconds, interpreted, topics, subscribers, flat_out, settle)
    settings = BenchSettings(system, values_of(option), *made).checked()
    if not as_json:
        typer.echo(f"{LABEL}: {nodes} nodes of {system}, {size} B")
    run_bench(settings, warn, _print_json if as_json else _print)


def _print_json(phase: "BenchPhase") -> None:
    typer.echo(json.dumps(_row(phase)))


def _row(phase: "BenchPhase") -> dict[str, object]:
    """Return the measures of a phase of `halfway bench` as plain values; null where nothing
    arrived.
    """
    arrived = phase.delivered > 0
    return {
        "phase": phase.phase,
        "seconds": round(phase.seconds, 3),
        "published": phase.published,
        "events_per_second": round(phase.published / phase.seconds, 1),
        "notifications_per_second": round(phase.delivered / phase.seconds, 1),
        "delivery": round(phase.delivered / phase.wanted, 6) if phase.wanted else None,
        "p50_s": round(phase.p50_s, 6) if arrived else None,
        "p99_s": round(phase.p99_s, 6) if arrived else None,
        "cpu_cores": round(phase.cpu_s / phase.seconds, 3),
        "cpu_us_per_notification": (
            round(1e6 * phase.cpu_s / phase.delivered, 1) if arrived else None
        ),
        "memory_growth_bytes": phase.memory_growth,
        "datagrams": phase.datagrams,
        "drops": phase.drops,
        "shortfalls": phase.shortfalls,
    }


def _print(phase: "BenchPhase") -> None:
    row = _row(phase)
    shares = f"{100 * phase.delivered / phase.wanted:.2f} %" if phase.wanted else "no event"
    lost = {**phase.drops, **phase.shortfalls}
    dropped = ", ".join(f"{why} {count:,}" for why, count in lost.items()) or "none"
    typer.echo(
        f"{phase.phase:9} {row['events_per_second']:>10,} events/s, "
        f"{row['notifications_per_second']:>10,} notifications/s, delivered {shares}"
    )
    typer.echo(
        f"          latency p50 {1000 * phase.p50_s:.2f} ms, p99 {1000 * phase.p99_s:.2f} ms; "
        f"CPU {row['cpu_cores']} cores, {row['cpu_us_per_notification']} µs a notification; "
        f"memory {phase.memory_growth / 1e6:+.1f} MB"
    )
    typer.echo(f"          dropped: {dropped}")
