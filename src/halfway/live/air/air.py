"""The air of a testbed: namespaces behind one bridge; its packet filter decides which node hears
which.

Rules of the kernel make loss, duplicates and partitions. A program in the relay makes delay, jitter
and reordering, because few kernels have a queue that delays. The kernel removes the air when the
process that made it ends. The air changes no interface of the machine, and no datagram leaves the
namespaces.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from halfway.live.air import wiring
from halfway.live.air.frame_queue import Delay, line_of
from halfway.live.air.namespaces import Namespace, check_tools, complete_checksums
from halfway.live.air.wiring import Pair
from halfway.package import PACKAGE_FOLDER
from halfway.problem import Problem

MOST_NODES = 300
_IP, _BRIDGE, _NFT = ["ip", "-batch", "-"], ["bridge", "-batch", "-"], ["nft", "-f", "-"]
_NO_IPV6 = Path("/proc/sys/net/ipv6/conf")
_END_S = 30.0
_COUNTER = re.compile(r"counter (\w+) \{\s*packets (\d+)")
NO_DELAY = Delay()


class Air:
    """The air of n nodes, used as `with Air(n) as air`; before `set_links`, no node hears another.

    duplicates: the share of receptions that come twice. delay: the delay of each reception; frames
    with different delays overtake each other. Raises Problem for a value out of range, where a
    program is missing, or where this process may make no namespaces.
    """

    def __init__(self, n: int, *, duplicates: float = 0.0, delay: Delay = NO_DELAY) -> None:
        if not 1 <= n <= MOST_NODES:
            few = "use a smaller network, because the bridge copies every broadcast to all nodes"
            remedy = few if n > MOST_NODES else ""
            raise Problem(f"n = {n}: expected 1 to {MOST_NODES} nodes on the air", remedy=remedy)
        check_share("duplicates", duplicates)
        check_tools()
        self.n, self._duplicates, self._delay = n, duplicates, delay
        self.links: set[Pair] = set()
        self._queue: subprocess.Popen[str] | None = None
        self._kept = contextlib.ExitStack()
        self.nodes: list[Namespace] = []
        try:
            self._wire()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Air":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> dict[str, int]:
        """Release all resources of the air; return the counts of its queue. A second call has no
        effect.
        """
        counts: dict[str, int] = {}
        if self._queue is not None:
            try:
                out, _ = self._queue.communicate(timeout=_END_S)
                counts = json.loads(out.strip().splitlines()[-1])
            except (subprocess.TimeoutExpired, ValueError, IndexError):
                self._queue.kill()
                self._queue.wait()
            self._queue = None
        self._kept.close()
        return counts

    @property
    def longest_delay_s(self) -> float:
        """The longest delay of a reception on this air, with its jitter."""
        delay = self._delay
        return max((delay.delay_s, *delay.pairs_s.values())) + delay.jitter_s

    def address(self, node: int) -> str:
        """Return the address of a node of this air."""
        return wiring.address(node)

    def set_links(self, pairs: Iterable[Pair]) -> None:
        """Set the links of the air to exactly these pairs (sender, hearer), in one step."""
        wanted = set(pairs)
        self._change(
            [
                *wiring.link_rules("delete", sorted(self.links - wanted)),
                *wiring.link_rules("add", sorted(wanted - self.links)),
            ]
        )
        self.links = wanted

    def set_loss(self, share: float) -> None:
        """Set the share of receptions that the air loses at random."""
        check_share("loss", share)
        self._change(list(wiring.loss_rules(share)))

    def split(self, nodes: Iterable[int]) -> None:
        """Partition the air into the given nodes and all others; without nodes, end the
        partition.
        """
        self._change(list(wiring.side_rules(sorted(nodes))))

    def counts(self) -> dict[str, int]:
        """Return the datagrams that the air's packet filter counted: heard, lost, split,
        duplicated, and out of reach.
        """
        text = self._hub.run(["nft", "list", "counters"], [])
        if self._duplicates > 0.0:
            text += self._relay.run(["nft", "list", "counters"], [])
        return {name: int(number) for name, number in _COUNTER.findall(text)}

    def _change(self, rules: list[str]) -> None:
        if rules:
            self._hub.run(_NFT, rules)

    def _wire(self) -> None:
        self._hub, self._relay = self._namespace(), self._namespace()
        self.nodes = [self._namespace() for _ in range(self.n)]
        self._hub.run(_IP, wiring.hub_lines())
        paths = [node.path for node in self.nodes]
        self._relay.run(_IP, list(wiring.relay_lines(self._hub.path, paths)))
        self._hub.run(_IP, list(wiring.port_lines(self.n)))
        self._hub.run(_BRIDGE, list(wiring.forwarding_lines(self.n)))
        for k, node in enumerate(self.nodes):
            node.run(_IP, list(wiring.node_lines(k, self.n)))
            complete_checksums(node, "air0")
        self._hub.run(_NFT, list(wiring.hub_rules()))
        has_delay = self._delay._replace(seed=1) != NO_DELAY
        self._relay.run(_NFT, list(wiring.relay_rules(self.n, has_delay, self._duplicates)))
        if has_delay:
            self._start_queue()

    def _namespace(self) -> Namespace:
        one = self._kept.enter_context(Namespace())
        with one.inside():
            for name in ("all", "default"):
                with contextlib.suppress(OSError):
                    (_NO_IPV6 / name / "disable_ipv6").write_text("1")
        return one

    def _start_queue(self) -> None:
        package = str(PACKAGE_FOLDER.parent)
        with self._relay.inside():
            self._queue = subprocess.Popen(
                [sys.executable, "-m", "halfway.live.air.frame_queue"],
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ
                | {"PYTHONPATH": os.pathsep.join((package, os.environ.get("PYTHONPATH", "")))},
                start_new_session=True,
            )
        assert self._queue.stdin is not None
        assert self._queue.stdout is not None
        self._queue.stdin.write(line_of(self._delay))
        self._queue.stdin.flush()
        if self._queue.stdout.readline().strip() != "ready":
            raise Problem(
                "the program that delays frames on the air did not start",
                remedy="see the message of the program above",
            )


def check_share(name: str, value: float) -> None:
    """Raise Problem for a share of frames on the air that is out of range."""
    if not 0.0 <= value <= 1.0:
        raise Problem(f"{name} = {value:g}: expected a share from 0 to 1")
