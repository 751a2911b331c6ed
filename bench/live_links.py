"""One link compared with other tools, in one run: Halfway, Mosquitto, NATS and Zenoh.

Two Python processes exchange messages of 200 B on loopback, each with the tool's own Python
library. One way: the messages a second that arrive. There and back: the time of a message to the
other process and of its answer. Halfway takes part with events of the level best-effort, and with
kept events, of which up to 256 wait for the disk together. Halfway's nodes have keys, unless
--plain is given; the other tools do not encrypt. A tool that is not installed is skipped. Servers
on the PATH: `mosquitto` and `nats-server`. Libraries: paho-mqtt, nats-py, eclipse-zenoh.
python bench/live_links.py [--json] [--messages N] [--trips N] [--rounds N] [--plain]
"""

import argparse
import importlib.util
import json
import multiprocessing
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from link_tools import TOOLS, Place
from side_by_side import remark

LIBRARIES = {"mosquitto": "paho", "nats": "nats", "zenoh": "zenoh"}
SERVERS = {"mosquitto": "mosquitto", "nats": "nats-server"}
_READY_S, _RUN_S = 60.0, 300.0


def free_port() -> int:
    """Return a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def is_installed(tool: str) -> bool:
    """Return whether the library and the server of a tool are there; say what is missing."""
    library, server = LIBRARIES.get(tool), SERVERS.get(tool)
    missing = [
        name
        for name, there in (
            (library, library is None or importlib.util.find_spec(library) is not None),
            (server, server is None or shutil.which(server) is not None),
        )
        if not there
    ]
    if missing:
        remark(f"{tool} is skipped: {', '.join(map(str, missing))} is not installed")
    return not missing


def make_keys(folder: Path) -> None:
    """Make a network with keys and two members, by the commands of an operator."""
    commands = (["new", "home"], ["key", "near.key"], ["key", "far.key"],
                ["admit", "home", "near.pub"], ["admit", "home", "far.pub"])  # fmt: skip
    for command in commands:
        rights = ["--publish", "#", "--subscribe", "#"] if command[0] == "admit" else []
        line = [sys.executable, "-m", "halfway", "net", *command, *rights]
        subprocess.run(line, cwd=folder, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def server(tool: str, place: Place) -> Iterator[None]:
    """Run the server of a tool, if the tool has one."""
    if tool not in SERVERS:
        yield
        return
    if tool == "mosquitto":
        text = f"listener {place.port} 127.0.0.1\nallow_anonymous true\nlog_type none\n"
        file = Path(place.folder) / "conf"
        options = "max_queued_messages 0\nset_tcp_nodelay true\nuser root\n"
        file.write_text(text + options)  # `user` is only for a server that root starts
        line = ["mosquitto", "-c", str(file)]
    else:
        line = ["nats-server", "-a", "127.0.0.1", "-p", str(place.port)]
    running = subprocess.Popen(line, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", place.port)) == 0:
                    break
            time.sleep(0.05)
        yield
    finally:
        running.terminate()
        running.wait()


def answer(pipe: Any, within_s: float) -> Any:
    """Return what a process says. Raises TimeoutError."""
    if not pipe.poll(within_s):
        raise TimeoutError(f"no answer within {within_s:g} s")
    return pipe.recv()


def measured(tool: str, place: Place, messages: int, trips: int) -> dict[str, float]:
    """Run both ends of a tool once: first the trips, then the messages one way."""
    made, pipes = [], []
    with server(tool, place):
        try:
            for end in TOOLS[tool]:
                ours, theirs = multiprocessing.Pipe()
                one = multiprocessing.Process(target=end, args=(place, theirs), daemon=True)
                one.start()
                made.append(one)
                pipes.append(ours)
                answer(ours, _READY_S)
            far, near = pipes
            near.send(("trips", trips // 10))
            answer(near, _RUN_S)  # these warm up both ends
            near.send(("trips", trips))
            taken = np.array(answer(near, _RUN_S))
            near.send(("one way", messages))
            answer(near, _RUN_S)
            far.send(None)
            count, rate = answer(far, _RUN_S)
        finally:
            for one in made:
                one.kill()
                one.join()
    p50, p99 = np.quantile(taken, (0.5, 0.99)) * 1e6
    return {"rate": rate, "arrived": count / messages, "p50_us": p50, "p99_us": p99}


def main() -> None:
    """Measure the tools in turn, in rounds, and print medians and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--trips", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plain", action="store_true")
    given = parser.parse_args()
    tools = [tool for tool in TOOLS if is_installed(tool)]
    rows: dict[str, list[dict[str, float]]] = {tool: [] for tool in tools}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HALFWAY_RUN"] = folder
        make_keys(Path(folder))
        for _ in range(given.rounds):
            for tool in tools:
                place = Place(free_port(), folder, given.plain)
                rows[tool].append(measured(tool, place, given.messages, given.trips))
    for tool, of_tool in rows.items():
        row = {key: statistics.median(one[key] for one in of_tool) for key in of_tool[0]}
        if given.json:
            sys.stdout.write(json.dumps({"tool": tool, **row}) + "\n")
            continue
        sys.stdout.write(
            f"{tool:13} {row['rate']:9,.0f} messages/s, {100 * row['arrived']:.2f} % arrived; "
            f"there and back p50 {row['p50_us']:.0f} µs, p99 {row['p99_us']:.0f} µs\n"
        )


if __name__ == "__main__":
    main()
