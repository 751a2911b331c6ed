"""A flood by a member, measured on live nodes: with shares of neighbours, and without them.

Each node is a process on loopback. The honest nodes publish on one topic, to which all of them
subscribe. One more node, a neighbour of the first honest node, floods: half of its events are on
the same topic, half on topics of their own, and all have new ids. The runs alternate: no flood, a
flood at nodes whose neighbours have no shares (`waiting_bytes` 0), and a flood at nodes as they
are.

python -m tools.live.flood [--json] [--system NAME] [--shape line|ring|star] [--nodes N] [--rate R]
[--flood R] [--seconds S] [--rounds N] [--keys]
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tools.live.flooding_member import FloodingMember

from halfway.live import node
from halfway.live.interface.api import LiveNode
from halfway.live.limits import DEFAULT, Limits
from halfway.live.link.endpoint import bound
from halfway.live.mesh import Event
from halfway.live.systems.live_systems import roles_of

RUNS = ("no flood", "flood, no shares", "flood")
TOPIC = "honest"
STAMP = struct.Struct("<Hid")  # place of the publisher, number, time of the publication
FLOODER_PLACE, FLOODER = 65_535, "flooder"
_SETTLE_S = {"flooding": 2.0, "siena": 20.0, "walk-overlay": 20.0}
_READY_S = 120.0


class Load(NamedTuple):
    """What a run has: a system, the links of the honest nodes, and rates in events a second."""

    system: str
    links: tuple[tuple[int, int], ...]
    rate: float
    flood: float
    seconds: float
    keys: Path | None  # of a network with keys
    limits: Limits
    ports: tuple[int, ...] = ()


def links_of(shape: str, nodes: int) -> tuple[tuple[int, int], ...]:
    """Return the links of the honest nodes, and the link of the flooding node to the first."""
    found = [(k, k + 1) for k in range(nodes - 1)]
    if shape == "ring":
        found += [(0, nodes - 1), (0, nodes // 2)]
    if shape == "star":
        found = [(0, k) for k in range(1, nodes)]
    return (*found, (0, nodes))


def make_keys(folder: Path, nodes: int) -> None:
    """Make a network with keys, by the commands of an operator."""
    rights = ["--publish", "#", "--subscribe", "#"]
    commands = [["new", "home"]]
    for k in range(nodes):
        commands += [["key", f"n{k}.key"], ["admit", "home", f"n{k}.pub", *rights]]
    for command in commands:
        line = [sys.executable, "-m", "halfway", "net", *command]
        subprocess.run(line, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def made(load: Load, place: int, state: str) -> LiveNode:
    """Return a node of the run, which is not started yet."""
    ends = [a + b - place for a, b in load.links if place in (a, b)]
    peers = [f"127.0.0.1:{load.ports[k]}" for k in ends]
    network: dict[str, Any] = {"network": f"flood-{os.getppid()}"}
    if load.keys is not None:
        network = {"certificate": load.keys / "home" / "members" / f"n{place}.cert",
                   "key": load.keys / f"n{place}.key", "state": Path(state)}  # fmt: skip
    role = {} if not roles_of(load.system) or place else {"role": "founder"}
    name = FLOODER if place == len(load.ports) - 1 else f"n{place}"
    return node(
        load.system, port=load.ports[place], peers=peers, discover=False, compile="now",
        name=name if load.keys is None else "", limits=load.limits, **network, **role,
    )  # fmt: skip


class Reader:
    """What one honest node received from the others."""

    def __init__(self) -> None:
        self.ages: dict[tuple[int, int], float] = {}
        self.hops, self.flood_hops, self.flooded = 0, 0, 0

    def take(self, event: Event) -> None:
        """Note an event."""
        place, number, sent = STAMP.unpack_from(event.payload)
        if place == FLOODER_PLACE:
            self.flooded += 1
            self.flood_hops = max(self.flood_hops, event.hops)
        elif not event.local:
            self.hops = max(self.hops, event.hops)
            self.ages[place, number] = time.monotonic() - sent


async def word(pipe: Connection) -> Any:
    """Wait for a word of the measurement."""
    while not pipe.poll():
        await asyncio.sleep(0.02)
    return pipe.recv()


def friends(one: LiveNode) -> list[int]:
    """Return the honest neighbours of a node; the flooding node has the highest number."""
    table = one.mesh.links.table
    return [k for k in table.neighbours() if not table.name_of(k).startswith(FLOODER)]


async def honest(load: Load, place: int, pipe: Connection, state: str) -> None:
    """Run an honest node: publish on the word of the measurement, and report."""
    async with made(load, place, state) as one:
        reader, mine = Reader(), [link for link in load.links[:-1] if place in link]
        one.mesh.subscribe(TOPIC, reader.take)
        await one.neighbours(sum(place in link for link in load.links), _READY_S)
        pipe.send(None)
        await word(pipe)
        before, least = dict(one.mesh.counts), len(friends(one))
        cpu, begun = time.process_time(), time.monotonic()
        for number in range(int(load.rate * load.seconds)):
            due = begun + (number + place / len(load.ports)) / load.rate
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await one.publish(TOPIC, STAMP.pack(place, number, time.monotonic()).ljust(64))
            least = min(least, len(friends(one)))
        await asyncio.sleep(3.0)  # the last events arrive
        pipe.send({
            "ages": list(reader.ages.values()), "hops": reader.hops,
            "flood_hops": reader.flood_hops, "flooded": reader.flooded,
            "links_lost": len(mine) - least,
            "records": one.mesh.counts["records received"] - before.get("records received", 0),
            "cpu": (time.process_time() - cpu) / (time.monotonic() - begun),
            "drops": one.status()["drops"], "longest_lag_s": one.host.scheduler.lag_s,
        })  # fmt: skip
        await word(pipe)


async def attacker(load: Load, place: int, pipe: Connection, state: str) -> None:
    """Run the flooding node: record its events, and flood on the word of the measurement."""
    async with made(load, place, state) as one:
        one.mesh.subscribe(TOPIC, lambda _: None)
        await one.neighbours(1, _READY_S)
        pipe.send(None)
        await word(pipe)
        flooder = FloodingMember(one.mesh, invents=load.keys is None)
        if load.flood:
            await flooder.record(TOPIC, STAMP.pack(FLOODER_PLACE, 0, 0.0).ljust(64))
        await asyncio.sleep(2.0)
        pipe.send(None)
        await word(pipe)
        cpu, begun = time.process_time(), time.monotonic()
        if load.flood:
            await flooder.flood(load.flood, load.seconds)
        spent = time.monotonic() - begun
        pipe.send({"sent": flooder.sent / spent, "cpu": (time.process_time() - cpu) / spent})
        await word(pipe)


def process(part: Any, *arguments: Any) -> None:
    """Run a part of the measurement in a process of its own."""
    asyncio.run(part(*arguments))


def free_ports(count: int) -> tuple[int, ...]:
    """Return UDP ports that are free now."""
    sockets = [bound("127.0.0.1", 0) for _ in range(count)]
    ports = tuple(one.getsockname()[1] for one in sockets)
    for one in sockets:
        one.close()
    return ports


def answer(pipe: Connection) -> Any:
    """Return what a process says. Raises TimeoutError."""
    if not pipe.poll(2 * _READY_S):
        raise TimeoutError("a node does not answer")
    return pipe.recv()


def run(load: Load) -> dict[str, Any]:
    """Measure one run with new nodes."""
    count = 1 + max(max(link) for link in load.links)
    load = load._replace(ports=free_ports(count))
    pipes, started = [], []
    with tempfile.TemporaryDirectory() as state:
        try:
            for place in range(count):
                ours, theirs = multiprocessing.Pipe()
                part = attacker if place == count - 1 else honest
                one = multiprocessing.Process(
                    target=process, args=(part, load, place, theirs, f"{state}/{place}"),
                    daemon=True,
                )  # fmt: skip
                one.start()
                theirs.close()
                pipes.append(ours)
                started.append(one)
            for pipe in pipes:
                answer(pipe)
            time.sleep(_SETTLE_S.get(load.system, 20.0))
            pipes[-1].send(None)
            answer(pipes[-1])
            for pipe in pipes:
                pipe.send(None)
            rows = [answer(pipe) for pipe in pipes]
        finally:
            for one in started:
                one.kill()
                one.join()
    return summary(load, rows[:-1], rows[-1])


def summary(load: Load, rows: list[dict[str, Any]], flood: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a run: deliveries of the honest nodes' events, drops, rates."""
    ages = 1000 * np.concatenate([np.array(row["ages"]) for row in rows])
    expected = int(load.rate * load.seconds) * (len(rows) - 1)
    drops: dict[str, int] = {}
    for row in rows:
        for why, number in row["drops"].items():
            drops[why] = drops.get(why, 0) + number
    return {
        "delivered": len(ages) / (expected * len(rows)),
        "least": min(len(row["ages"]) for row in rows) / expected,
        "p50_ms": float(np.quantile(ages, 0.5)), "p99_ms": float(np.quantile(ages, 0.99)),
        "hops": max(row["hops"] for row in rows),
        "flood_hops": max(row["flood_hops"] for row in rows),
        "nodes_that_lost_links": sum(row["links_lost"] > 0 for row in rows),
        "flood_sent": flood["sent"], "flood_share": flood["sent"] / load.rate,
        "flood_cpu": flood["cpu"], "cpu": [round(row["cpu"], 2) for row in rows],
        "records_a_second": [round(row["records"] / load.seconds) for row in rows],
        "drops": drops, "longest_lag_s": max(row["longest_lag_s"] for row in rows),
    }  # fmt: skip


def main() -> int:
    """Run the alternating runs, and print each run and the ranges."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--system", default="flooding")
    parser.add_argument("--shape", choices=("line", "ring", "star"), default="ring")
    parser.add_argument("--nodes", type=int, default=5)
    parser.add_argument("--rate", type=float, default=10.0, help="of each honest node")
    parser.add_argument("--flood", type=float, default=20_000.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keys", action="store_true")
    given = parser.parse_args()
    rows: dict[str, list[dict[str, Any]]] = {kind: [] for kind in RUNS}
    with tempfile.TemporaryDirectory() as folder:
        keys = Path(folder) if given.keys else None
        if keys is not None:
            make_keys(keys, given.nodes + 1)
        for _ in range(given.rounds):
            for kind in RUNS:
                limits = DEFAULT._replace(waiting_bytes=0) if kind == RUNS[1] else DEFAULT
                load = Load(given.system, links_of(given.shape, given.nodes), given.rate,
                            0.0 if kind == RUNS[0] else given.flood, given.seconds, keys,
                            limits)  # fmt: skip
                row = run(load)
                rows[kind].append(row)
                text = json.dumps({"run": kind, **row}) if given.json else text_of(kind, row)
                sys.stdout.write(f"{text}\n")
                sys.stdout.flush()
    for kind, some in rows.items():
        shares = [one["delivered"] for one in some]
        sys.stdout.write(
            f"{kind}: {statistics.median(shares):.3f} delivered "
            f"({min(shares):.3f} to {max(shares):.3f})\n"
        )
    return 0


def text_of(kind: str, row: dict[str, Any]) -> str:
    """Return a line with the results of a run."""
    return (
        f"{kind:<18} {row['delivered']:7.2%} delivered (least {row['least']:7.2%})  "
        f"p50 {row['p50_ms']:6.1f} ms  p99 {row['p99_ms']:7.1f} ms  hops {row['hops']} (flood "
        f"{row['flood_hops']})  "
        f"links lost at {row['nodes_that_lost_links']}  flood {row['flood_sent']:6.0f}/s = "
        f"{row['flood_share']:.0f} x  records/s {row['records_a_second']}  cpu {row['cpu']} "
        f"(flood {row['flood_cpu']:.2f})  drops {row['drops']}"
    )


if __name__ == "__main__":
    sys.exit(main())
