"""Attacks of a member on the air, measured on live nodes with keys and without keys.

Each node is a process with its own network namespace. The honest nodes publish on one topic, to
which all nodes subscribe. One more node is the attacker in half of the runs, and honest in the
other half. The runs alternate.

flood: the attacker is a neighbour of the first honest node, and sends a flood of events. The honest
nodes are a ring with one chord. black-hole: the honest nodes are a line, and the attacker connects
its two ends. The attacker forwards no event. revoke: the certificate of a node of a ring is
revoked at its most distant node. One process runs all nodes.

python -m tools.live.air_attacks flood|black-hole|revoke [--json] [--system NAME] [--nodes N]
[--rate R] [--flood R] [--seconds S] [--rounds N] [--no-keys]
"""

import argparse
import asyncio
import json
import multiprocessing
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np
from tools.live.flood import FLOODER_PLACE, STAMP, TOPIC, Reader, answer, links_of, word
from tools.live.flooding_member import FloodingMember

from halfway.live.air.air import Air
from halfway.live.air.air_host import AirHost, AirSettings
from halfway.live.air.air_keys import AirKeys
from halfway.live.keys.keyed_security import KeyedSecurity
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.step.record_head import head_of

KINDS = ("flood", "black-hole")
_SETTLE_S, _SETTLE_LONG_S = 2.0, 20.0  # of flooding, and of systems that build an overlay
_LAST_S, _LINKED_S, _POLL_S = 3.0, 60.0, 0.001


class Plan(NamedTuple):
    """What a run has. links: of all nodes; the last node is the attacker. rates: events a second of
    each honest node, and of a flood.
    """

    kind: str
    system: str
    links: tuple[tuple[int, int], ...]
    rate: float
    flood: float
    seconds: float
    keys: AirKeys | None
    attacks: bool = True

    @property
    def attacker(self) -> int:
        """The place of the attacker."""
        return max(max(link) for link in self.links)


def plan_of(given: argparse.Namespace, *, attacks: bool) -> Plan:
    """Return a run with new keys."""
    n = given.nodes
    line = [(k, k + 1) for k in range(n - 1)]
    links = {"flood": links_of("ring", n), "black-hole": (*line, (0, n), (n - 1, n))}
    return Plan(
        given.kind, given.system, links[given.kind], given.rate, given.flood, given.seconds,
        AirKeys(n + 1) if given.keys else None, attacks,
    )  # fmt: skip


async def started(node: MeshNode, plan: Plan, place: int, pipe: Connection) -> None:
    """Wait until a node has all its neighbours, and until the measurement begins."""
    degree = sum(place in link for link in set(plan.links))
    async with asyncio.timeout(_LINKED_S):
        while len(node.links.table.neighbours()) < degree:
            await asyncio.sleep(_POLL_S)
    pipe.send(None)
    await word(pipe)


async def honest(air: Air, plan: Plan, place: int, pipe: Connection) -> None:
    """Run a node that publishes, and report what it received."""
    settings = AirSettings(plan.system, seed=place, keys=plan.keys)
    async with AirHost(air, settings, places=[place]) as host:
        (node,), reader = host.nodes, Reader()
        node.subscribe(TOPIC, reader.take)
        await started(node, plan, place, pipe)
        begun = time.monotonic()
        for number in range(int(plan.rate * plan.seconds)):
            due = begun + (number + place / plan.attacker) / plan.rate
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await node.publish(TOPIC, STAMP.pack(place, number, time.monotonic()).ljust(64))
        await asyncio.sleep(_LAST_S)
        pipe.send({
            "ages": [age for (of, _), age in reader.ages.items() if of < plan.attacker],
            "flooded": reader.flooded, "drops": node.drops.by_reason(),
            "refused": dict(node.links.refusals), "lag_s": host.scheduler.lag_s,
        })  # fmt: skip
        await word(pipe)


async def attacker(air: Air, plan: Plan, place: int, pipe: Connection) -> None:
    """Run the attacker, or an honest node in its place, which publishes nothing."""
    # The interpreted node hands each record to `transmit`, and so a black hole can keep it.
    compiled = plan.kind != "black-hole"
    settings = AirSettings(plan.system, seed=place, keys=plan.keys, compiled=compiled)
    async with AirHost(air, settings, places=[place]) as host:
        (node,) = host.nodes
        node.subscribe(TOPIC, lambda _: None)
        flooder, kept = FloodingMember(node, invents=plan.keys is None), Counter[str]()
        if plan.attacks and plan.kind == "black-hole":
            keep_events(node, kept)
        if plan.attacks and plan.kind == "flood":
            await linked_once(node)
            await flooder.record(TOPIC, STAMP.pack(FLOODER_PLACE, 0, 0.0).ljust(64))
        await started(node, plan, place, pipe)
        begun = time.monotonic()
        if plan.attacks and plan.kind == "flood":
            await flooder.flood(plan.flood, plan.seconds)
        sent = flooder.sent / max(time.monotonic() - begun, _POLL_S)
        await asyncio.sleep(begun + plan.seconds + _LAST_S - time.monotonic())
        pipe.send({"sent": sent, "kept": kept["events"]})
        await word(pipe)


async def linked_once(node: MeshNode) -> None:
    """Wait until a node has a neighbour."""
    async with asyncio.timeout(_LINKED_S):
        while not node.links.table.neighbours():
            await asyncio.sleep(_POLL_S)


def keep_events(node: Any, kept: Counter[str]) -> None:
    """Make a black hole of an interpreted `MeshNode`: it transmits no record with an event of
    another node. It sends all other records.
    """
    transmit = node.transmit

    def unless_event(record: Any, data: bytes) -> None:
        head = head_of(record)
        if head.kind in node.flow.places and head.key[0] != node.node_id:
            kept["events"] += 1
        else:
            transmit(record, data)

    node.transmit = unless_event


def process(part: Any, *arguments: Any) -> None:
    """Run a node in a forked process."""
    asyncio.run(part(*arguments))


async def loaded(air: Air, plan: Plan) -> None:
    """Load the machine code of a system into this process, from which all nodes are forked."""
    async with AirHost(air, AirSettings(plan.system), places=[0]):
        pass


def run(plan: Plan) -> dict[str, Any]:
    """Measure one run with new nodes on a new air."""
    forks = multiprocessing.get_context("fork")
    pipes, processes = [], []
    with Air(plan.attacker + 1) as air:
        asyncio.run(loaded(air, plan))
        air.set_links([*plan.links, *((b, a) for a, b in plan.links)])
        try:
            for place in range(air.n):
                ours, theirs = forks.Pipe()
                part = attacker if place == plan.attacker else honest
                one = forks.Process(
                    target=process, args=(part, air, plan, place, theirs), daemon=True
                )
                one.start()
                theirs.close()
                pipes.append(ours)
                processes.append(one)
            for pipe in pipes:
                answer(pipe)
            time.sleep(_SETTLE_S if plan.system == "flooding" else _SETTLE_LONG_S)
            for pipe in pipes:
                pipe.send(None)
            *rows, attack = [answer(pipe) for pipe in pipes]
        finally:
            for one in processes:
                one.kill()
                one.join()
    return summary(plan, rows, attack)


def summary(plan: Plan, rows: list[dict[str, Any]], attack: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a run: deliveries of the honest nodes' events, drops, rates."""
    ages = 1000 * np.concatenate([np.array(row["ages"]) for row in rows])
    expected = int(plan.rate * plan.seconds) * (len(rows) - 1)
    totals = {"drops": Counter[str](), "refused": Counter[str]()}
    for row in rows:
        for name, total in totals.items():
            total.update(row[name])
    return {
        "run": plan.kind if plan.attacks else "no attack",
        "delivered": len(ages) / (expected * len(rows)),
        "least": min(len(row["ages"]) for row in rows) / expected,
        "p50_ms": float(np.quantile(ages, 0.5)), "p99_ms": float(np.quantile(ages, 0.99)),
        "flood_sent": round(attack["sent"]), "events_kept": attack["kept"],
        **{name: dict(total) for name, total in totals.items()},
        "longest_lag_s": max(row["lag_s"] for row in rows),
    }  # fmt: skip


async def revoked(air: Air, system: str) -> dict[str, Any]:
    """Revoke a node of a ring; return the seconds until no node has a session with this node, and
    until no node has it as a neighbour.
    """
    n, keys = air.n, AirKeys(air.n)
    pairs = [(a, (a + 1) % n) for a in range(n)]
    pairs += [(b, a) for a, b in pairs]
    air.set_links(pairs)
    async with AirHost(air, AirSettings(system, keys=keys)) as host:
        if await host.linked(pairs, _LINKED_S) == float("inf"):
            raise TimeoutError("the nodes do not become neighbours")
        await asyncio.sleep(_SETTLE_S)  # the first hellos come faster than the later ones
        one, member = host.nodes[n // 2], host.nodes[0].node_id
        others, begun = host.nodes[1:], time.monotonic()
        assert isinstance(one.security, KeyedSecurity)
        one.security.learn_revocations(keys.revoke(0), host.scheduler.now())
        one.links.flush()
        while any(member in other.security.peers() for other in others):
            await asyncio.sleep(_POLL_S)
        sessions_s = time.monotonic() - begun
        while any(member in other.links.table.neighbours() for other in others):
            await asyncio.sleep(_POLL_S)
        return {
            "run": "revoke", "sessions_s": sessions_s, "neighbours_s": time.monotonic() - begun,
            "period_s": host.settings.period_s,
        }  # fmt: skip


def rows_of(given: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Measure the alternating runs, and yield the row of each."""
    for _ in range(given.rounds):
        if given.kind == "revoke":
            with Air(given.nodes) as air:
                yield asyncio.run(revoked(air, given.system))
        else:
            for attacks in (False, True):
                yield run(plan_of(given, attacks=attacks))


def main() -> int:
    """Run the alternating runs, and print each run and the ranges."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=(*KINDS, "revoke"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--system", default="flooding")
    parser.add_argument("--nodes", type=int, default=5, help="honest nodes")
    parser.add_argument("--rate", type=float, default=10.0, help="of each honest node")
    parser.add_argument("--flood", type=float, default=5_000.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-keys", dest="keys", action="store_false")
    given = parser.parse_args()
    rows: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of(given):
        rows.setdefault(row["run"], []).append(row)
        sys.stdout.write((json.dumps(row) if given.json else text_of(row)) + "\n")
        sys.stdout.flush()
    for kind, some in rows.items() if not given.json else ():
        sys.stdout.write(f"{kind}, {len(some)} runs: {ranges_of(some)}\n")
    return 0


def text_of(row: dict[str, Any]) -> str:
    """Return a line with the results of a run."""
    words = [f"{name} {shown(value)}" for name, value in row.items() if name != "run"]
    return f"{row['run']:<10} " + "  ".join(words)


def ranges_of(rows: list[dict[str, Any]]) -> str:
    """Return the median and the range of each number in the rows of one kind of run."""
    words = []
    for name, value in rows[0].items():
        if isinstance(value, int | float):
            values = [row[name] for row in rows]
            span = f"{shown(min(values))} to {shown(max(values))}"
            words.append(f"{name} {shown(statistics.median(values))} ({span})")
    return ", ".join(words)


def shown(value: object) -> str:
    """Return a number of a result with few digits, or another value as it is."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
