"""The host of live nodes in a background thread, for programs without an event loop and for
commands.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from halfway.live.control.places import ControlSocket
from halfway.live.control.server import ControlServer
from halfway.live.runtime.host import Host
from halfway.live.runtime.settings import Settings

T = TypeVar("T")


class BackgroundHost:
    """A host of live nodes in a background thread: `with BackgroundHost(settings) as host`.

    control: the name under which commands find its control socket; "": none.
    """

    def __init__(self, settings: Settings, control: str = "") -> None:
        self._settings, self._control = settings, control
        self._loop = asyncio.new_event_loop()
        self._ready, self._ended = threading.Event(), asyncio.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="halfway live", daemon=True)
        self.host: Host
        self.place: ControlSocket | None = None

    def __enter__(self) -> "BackgroundHost":
        """Start the nodes in the background; raise the errors of their start here."""
        self._thread.start()
        self._ready.wait()
        if self._error is not None:
            self._thread.join()
            raise self._error
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join()

    def wait_for(self, one: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the background thread of the nodes; return its result, or raise its
        error.
        """
        return asyncio.run_coroutine_threadsafe(one, self._loop).result()

    def call(self, function: Callable[[], T]) -> T:
        """Call a function in the background thread; return its result, or raise its error."""

        async def called() -> T:
            return function()

        return self.wait_for(called())

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:  # ends all its tasks
                runner.run(self._serve())
        except BaseException as error:  # the caller's thread raises it
            self._error = error
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        async with Host(self._settings) as self.host:
            self.host.start_kept_events()
            if not self._control:
                self._ready.set()
                await self._ended.wait()
                return
            async with ControlServer(self.host, self._control) as server:
                self.place = ControlSocket(self._control, server.path)
                self._ready.set()
                await self._ended.wait()


@contextmanager
def own_node() -> Iterator[ControlSocket]:
    """Yield the control socket of a temporary node in a background thread, for one command on the
    development network.
    """
    name = f"command-{os.getpid()}"
    with BackgroundHost(Settings(name=name, compile="never"), control=name) as background:
        assert background.place is not None
        yield background.place
