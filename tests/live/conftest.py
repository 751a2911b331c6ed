"""The clock of the event loops of tests of live nodes, and the time-out of commands in tests."""

import asyncio
from collections.abc import Iterator

import pytest

from halfway.live.control import client
from tests.loops import StillLoop


@pytest.fixture(autouse=True)
def _still_clock() -> Iterator[None]:
    """Let `asyncio.run` and `BackgroundHost` make loops with a clock that does not count pauses.

    Commands wait for the answer of a node that shares a slow process with them.
    """
    with pytest.MonkeyPatch.context() as patch:  # a test may undo its own patches
        for module in (asyncio, asyncio.events):
            patch.setattr(module, "new_event_loop", StillLoop)
        patch.setattr(client, "_FIND_S", 60.0)
        yield
