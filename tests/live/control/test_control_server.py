"""The end of a node whose control socket has connections: no connection outlives the event loop."""

import gc
import socket
import sys
import warnings
from contextlib import ExitStack
from pathlib import Path

import pytest

from halfway.live.control.control_requests import SubscribeRequest, line
from halfway.live.interface.background import BackgroundHost
from halfway.live.runtime.settings import Settings


def test_a_node_that_ends_while_commands_connect_closes_their_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path))
    ignored = list[object]()
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    settings = Settings(name="here", compile="never", discover=False)
    with warnings.catch_warnings(record=True) as warned, ExitStack() as commands:
        warnings.simplefilter("always")
        for _ in range(10):
            with BackgroundHost(settings, control="here") as host:
                assert host.place is not None
                for number in range(20):
                    command = commands.enter_context(socket.socket(socket.AF_UNIX))
                    command.connect(str(host.place.path))
                    if number % 2:
                        command.sendall(line(SubscribeRequest(filter="#")))
            gc.collect()
    assert not ignored
    assert not [str(one.message) for one in warned if one.category is ResourceWarning]
