"""Live nodes on an air that breaks: how fast they find each other, and what losses do to events.

    python tools/live/air_faults.py discovery --nodes 100
    python tools/live/air_faults.py partition --nodes 20 --seconds 60
    python tools/live/air_faults.py losses --nodes 10 --events 2000 --system anti-entropy
    python tools/live/air_faults.py kept --nodes 3 --events 100000 --topics 10

Each command prints one JSON object. The commands need Linux, iproute2 and nftables, and root or
`unshare -rn`.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from halfway.cli.program import Parser, positive, run, whole
from halfway.live.air.air import Air
from halfway.live.air.air_host import AirHost, AirSettings
from halfway.live.air.datagram_account import account
from halfway.live.air.frame_queue import Delay
from halfway.live.air.wiring import Pair
from halfway.live.mesh import Event, Level
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.unit_disk import connected_unit_disk

DEGREE, WAIT_S, QUIET_S = 6.0, 60.0, 10.0
LOSS, DUPLICATES, JITTER_S = 0.2, 0.05, 0.2
MOST_BEHIND = 500  # kept events of a topic that some reader lacks
REPAIR_S = 600.0


def main() -> None:
    """Run the experiment with faults of the air that the arguments name."""
    parser = Parser(description=__doc__)
    parser.add_argument("what", choices=("discovery", "partition", "losses", "kept"))
    parser.add_argument("--nodes", type=whole(2, 300), default=20)
    parser.add_argument("--system", default="flooding")
    parser.add_argument("--seconds", type=positive, default=60.0, help="of the partition")
    parser.add_argument("--events", type=whole(1), default=1000)
    parser.add_argument("--topics", type=whole(1, 1000), default=10, help="of kept events")
    parser.add_argument("--every-s", type=positive, default=0.05)
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args()
    options = {name: float(text) for name, _, text in (one.partition("=") for one in given.option)}
    settings = AirSettings(given.system, options)
    pairs = links(given.nodes)
    if given.what == "discovery":
        found = discovery(given.nodes, pairs, settings)
    elif given.what == "partition":
        found = partition(given.nodes, pairs, settings, given.seconds)
    elif given.what == "kept":
        found = kept(given.nodes, pairs, settings, given.events, given.topics)
    else:
        found = losses(given.nodes, pairs, settings, given.events, given.every_s)
    sys.stdout.write(json.dumps(found) + "\n")


def links(n: int) -> set[Pair]:
    """Return the links of a unit disk network of mean degree 6; two nodes have one link."""
    if n < 5:
        return {(a, b) for a in range(n) for b in range(n) if abs(a - b) == 1}
    network = connected_unit_disk(n, radius_of_degree(n, min(DEGREE, n / 2)), 1).network
    rows = np.repeat(np.arange(n), network.degree).tolist()
    return set(zip(rows, network.who.tolist(), strict=True))


def discovery(n: int, pairs: set[Pair], settings: AirSettings) -> dict[str, object]:
    """Start all nodes of an air at once; take one node away, and let it come back."""

    async def measured() -> dict[str, object]:
        with Air(n) as air:
            air.set_links(pairs)
            async with AirHost(air, settings) as host:
                started = await host.linked(pairs, WAIT_S)
                one = {pair for pair in pairs if 0 in pair}
                air.set_links(pairs - one)
                gone_s = await until(lambda: not host.nodes[0].links.table.neighbours())
                air.set_links(pairs)
                back_s = await host.linked(one, WAIT_S)
                return {"nodes": n, "links": len(pairs) // 2, "all_neighbours_s": started,
                        "gone_s": gone_s, "back_s": back_s}  # fmt: skip

    return asyncio.run(measured())


def partition(n: int, pairs: set[Pair], settings: AirSettings, seconds: float) -> dict[str, object]:
    """Split the air into two halves, and heal it; node 0 publishes an event each 0.1 s to all."""

    async def measured() -> dict[str, object]:
        with Air(n) as air:
            air.set_links(pairs)
            async with AirHost(air, settings) as host:
                await host.linked(pairs, WAIT_S)
                heard = listened(host)
                side = set(range(n // 2))
                across = {(a, b) for a, b in pairs if (a in side) != (b in side)}
                air.split(side)
                during = await published(host, seconds / 0.1, 0.1)
                air.split([])
                healed_s = await host.linked(across, WAIT_S)
                after = await published(host, 50, 0.1)
                await asyncio.sleep(QUIET_S)
                others = range(1, n)
                return {
                    "nodes": n, "links_across": len(across) // 2, "split_s": seconds,
                    "neighbours_back_s": healed_s,
                    "during": delivered(heard, during, (k for k in others if k in side)),
                    "during_across": delivered(heard, during, (k for k in others if k not in side)),
                    "after": delivered(heard, after, others),
                }  # fmt: skip

    return asyncio.run(measured())


def losses(
    n: int, pairs: set[Pair], settings: AirSettings, events: int, every_s: float
) -> dict[str, object]:
    """Publish on an air that loses 20 %, doubles 5 %, and delays by 0 to 200 ms."""

    async def measured() -> dict[str, object]:
        with Air(n, duplicates=DUPLICATES, delay=Delay(0.0, JITTER_S)) as air:
            air.set_links(pairs)
            async with AirHost(air, settings) as host:
                await host.linked(pairs, WAIT_S)
                heard = listened(host)
                air.set_loss(LOSS)
                numbers = await published(host, events, every_s)
                wanted = {(k, number) for k in range(1, n) for number in numbers}
                repaired_s = await until(lambda: wanted <= heard.keys())
                sums = await books(air, host)
        return {
            "system": settings.system, "nodes": n, "events": events, "expected": len(wanted),
            "lost": len(wanted - heard.keys()),
            "doubled": sum(count > 1 for count in heard.values()), "repaired_s": repaired_s,
        } | sums  # fmt: skip

    return asyncio.run(measured())


def kept(
    n: int, pairs: set[Pair], settings: AirSettings, events: int, topics: int
) -> dict[str, object]:
    """Publish kept events on the air of `losses`; every other node reads all topics.

    A topic has at most 500 events that some reader lacks.
    """

    async def measured(state: Path) -> dict[str, object]:
        with Air(n, duplicates=DUPLICATES, delay=Delay(0.0, JITTER_S)) as air:
            air.set_links(pairs)
            async with AirHost(air, settings._replace(state=state)) as host:
                await host.linked(pairs, WAIT_S)
                got = [[list[int]() for _ in range(topics)] for _ in range(n)]
                for k, node in enumerate(host.nodes[1:], start=1):
                    for topic in range(topics):
                        node.subscribe(f"air/{topic}", taken(got[k][topic]))
                await asyncio.sleep(2.0)
                air.set_loss(LOSS)
                begun = time.monotonic()

                async def publisher(topic: int) -> None:
                    for number in range(each):
                        await host.nodes[0].publish(
                            f"air/{topic}", b"%d" % number, level=Level.KEPT
                        )
                        while number - min(len(one[topic]) for one in got[1:]) > MOST_BEHIND:
                            await asyncio.sleep(0.01)

                each = events // topics
                await asyncio.gather(*(publisher(topic) for topic in range(topics)))
                published_s = time.monotonic() - begun
                readers = [one for some in got[1:] for one in some]
                repaired_s = await until(lambda: all(len(one) >= each for one in readers), REPAIR_S)
                sums = await books(air, host)
                missed = sum(node.kept.events.missed for node in host.nodes if node.kept)
        return {
            "system": settings.system, "nodes": n, "events": each * topics, "topics": topics,
            "expected": each * len(readers), "missed": missed,
            "lost": sum(each - len(set(one)) for one in readers),
            "doubled": sum(len(one) - len(set(one)) for one in readers),
            "out_of_order": sum(one != sorted(one) for one in readers),
            "published_s": published_s, "repaired_s": repaired_s,
        } | sums  # fmt: skip

    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(measured(Path(folder)))


async def books(air: Air, host: AirHost) -> dict[str, object]:
    """Let the air become quiet, close it, and return its account with all drops by reason."""
    quiet = await host.quiet(QUIET_S)
    counts, datagrams = air.counts(), host.datagrams()
    drops = Counter[str]()
    for node in host.nodes:
        drops.update(node.drops.by_reason())
    sums = account(air.n, datagrams, counts, air.close())
    return {
        "air": counts, "drops": drops, "quiet": quiet, "account": sums._asdict(),
        "exact": sums.is_exact,
    }  # fmt: skip


def listened(host: AirHost) -> Counter[tuple[int, int]]:
    """Return the counter of (node, event) that each node but the first receives from now on."""
    heard = Counter[tuple[int, int]]()
    for k, node in enumerate(host.nodes[1:], start=1):

        def arrived(event: Event, k: int = k) -> None:
            heard[k, int(event.payload)] += 1

        node.subscribe("bench/air", arrived)
    return heard


def taken(numbers: list[int]) -> Callable[[Event], None]:
    """Return a subscriber that adds the numbers of the air's events to a list."""
    return lambda event: numbers.append(int(event.payload))


async def published(host: AirHost, count: float, every_s: float) -> range:
    """Publish events at node 0 of an air; return their numbers."""
    begin = int(time.monotonic() * 1e6)
    host.nodes[0].own_events.become_publisher("bench/air")
    for k in range(int(count)):
        await host.nodes[0].publish("bench/air", str(begin + k).encode())
        await asyncio.sleep(every_s)
    return range(begin, begin + int(count))


def delivered(heard: Counter[tuple[int, int]], numbers: range, to: Iterable[int]) -> float:
    """Return the share of the air's events that some nodes have."""
    wanted = [(k, number) for k in to for number in numbers]
    return sum(one in heard for one in wanted) / len(wanted)


async def until(is_so: Callable[[], bool], most_s: float = WAIT_S) -> float:
    """Return the seconds until a condition of the air holds; inf if it never does."""
    begun = time.monotonic()
    while not is_so():
        if time.monotonic() - begun > most_s:
            return float("inf")
        await asyncio.sleep(0.02)
    return time.monotonic() - begun


if __name__ == "__main__":
    sys.exit(run(main))
