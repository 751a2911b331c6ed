"""Processes of a broker tree, driven by commands: a broker is killed, and its clients go on."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

_LONGEST_S = 60.0
_QUICK = ["refresh_s=0.5", "join_delay_s=0.3", "search_s=0.1", "ack_timeout_s=0.2"]
_HALFWAY = [sys.executable, "-m", "halfway"]


class Tree:
    """Nodes of a broker tree, each in a process of its own."""

    def __init__(self, system: str, run: Path, stack: ExitStack) -> None:
        self._system, self._stack = system, stack
        self._environment = {**os.environ, "HALFWAY_RUN": str(run)}
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def start(self, name: str, role: str, *peers: str) -> None:
        """Start a node, and wait until it answers."""
        options = [word for one in _QUICK for word in ("-o", one)]
        known = [word for peer in peers for word in ("--peer", self.status(peer)["address"])]
        self.processes[name] = self._opened(
            "node", "--system", self._system, "--role", role, "--name", name, "--no-discover",
            "--interpreted", *options, *known,
        )  # fmt: skip
        self.until(lambda: self.status(name))

    def status(self, name: str) -> dict[str, Any]:
        """The status of a node; nothing before it answers."""
        words = [*_HALFWAY, "status", "--node", name, "--json"]
        done = subprocess.run(
            words, check=False, env=self._environment, capture_output=True, text=True,
            timeout=_LONGEST_S,
        )  # fmt: skip
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def reads(self, name: str, topic_filter: str) -> "Reader":
        """A program that prints the events at a node."""
        return Reader(self._opened("sub", topic_filter, "--node", name, "--json"))

    def publish(self, name: str, topic: str, text: str) -> None:
        """Publish an event at a node by the command."""
        words = [*_HALFWAY, "pub", topic, text, "--node", name]
        subprocess.run(
            words, env=self._environment, check=True, capture_output=True, timeout=_LONGEST_S
        )

    def publish_until_read(self, name: str, topic: str, text: str, reader: "Reader") -> None:
        """Publish numbered events at a node until one of them is read: nothing else shows that the
        brokers have the subscription.
        """
        numbers = count(1)

        def is_read() -> bool:
            self.publish(name, topic, f"{text} {next(numbers)}")
            return any(payload.startswith(text) for payload in reader.payloads)

        self.until(is_read)

    def until(self, true: Callable[[], Any]) -> None:
        """Wait until something is true."""
        end = time.monotonic() + _LONGEST_S
        while not true():
            assert time.monotonic() < end
            time.sleep(0.1)

    def _opened(self, *words: str) -> "subprocess.Popen[str]":
        process = subprocess.Popen(
            [*_HALFWAY, *words],
            env=self._environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process


class Reader:
    """What a subscriber prints. A thread reads it, so that no test waits for it without a limit."""

    def __init__(self, program: "subprocess.Popen[str]") -> None:
        self._program, self.payloads = program, list[str]()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._program.stdout is not None
        for line in self._program.stdout:
            self.payloads.append(json.loads(line)["payload"])

    def read(self) -> list[str]:
        """End the program; return the payloads that it printed."""
        self._program.terminate()
        self._thread.join(_LONGEST_S)
        assert not self._thread.is_alive()
        return self.payloads


@contextmanager
def tree(system: str, run: Path) -> Iterator[Tree]:
    """A tree without nodes; all its processes end with it."""
    with ExitStack() as stack:
        yield Tree(system, run, stack)


@pytest.mark.slow
@pytest.mark.parametrize("system", ["siena", "underlay-siena"])
def test_commands_publish_and_subscribe_while_a_broker_is_killed(
    system: str, tmp_path: Path
) -> None:
    with tree(system, tmp_path) as nodes:
        nodes.start("root", "founder")
        nodes.start("dies", "broker", "root")
        nodes.start("writes", "client", "root")
        nodes.start("reads", "client", "dies", "writes")
        ids = {name: nodes.status(name)["id"] for name in nodes.processes}

        def broker() -> int:
            return nodes.status("reads")["place"]["broker"]

        nodes.until(lambda: broker() == ids["dies"])
        assert nodes.status("dies")["place"]["parent"] == ids["root"]
        reader = nodes.reads("reads", "sensors/#")
        nodes.until(lambda: nodes.status("reads")["subscriptions"])
        nodes.publish_until_read("writes", "sensors/a", "before", reader)
        nodes.processes["dies"].kill()
        nodes.until(lambda: broker() == ids["root"])
        nodes.publish_until_read("writes", "sensors/b", "after", reader)
        found = reader.read()
        assert len(found) == len(set(found)), "an event arrived twice"
        assert {payload.split()[0] for payload in found} == {"before", "after"}
        assert nodes.status("reads")["place"] == {"role": "client", "broker": ids["root"]}
