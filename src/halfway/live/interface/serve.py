"""The service of `halfway node`: nodes that run until the process is asked to end."""

import asyncio
import logging
import signal
from collections.abc import Callable

from halfway.live.control.server import ControlServer
from halfway.live.runtime.host import Host
from halfway.live.runtime.settings import Settings


def serve(settings: Settings, started: Callable[[Host], None]) -> None:
    """Run nodes until SIGINT or SIGTERM; call a function once they have started.

    Raises Problem if they cannot start.
    """
    logging.basicConfig(format="halfway: %(message)s", level=logging.INFO)
    asyncio.run(_serve(settings, started))


async def _serve(settings: Settings, started: Callable[[Host], None]) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for one in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(one, ended.set)
    async with Host(settings) as host, ControlServer(host, host.nodes[0].name):
        started(host)
        await ended.wait()
