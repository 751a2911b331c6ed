"""The service loop of `halfway node`, which ends at SIGINT or SIGTERM."""

import asyncio
import logging
import signal
from collections.abc import Callable

from halfway.live.interface.service import Service, ServiceSettings
from halfway.live.runtime.settings import Settings


def serve(settings: Settings, offered: ServiceSettings, started: Callable[[Service], None]) -> None:
    """Run a service until SIGINT or SIGTERM; call `started` when its nodes have started.

    Raises Problem if they cannot start.
    """
    logging.basicConfig(format="halfway: %(message)s", level=logging.INFO)
    asyncio.run(_serve(settings, offered, started))


async def _serve(
    settings: Settings, offered: ServiceSettings, started: Callable[[Service], None]
) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(signal_number, ended.set)
    async with Service(settings, offered) as service:
        started(service)
        await ended.wait()
