"""The live runtime: the handlers of the protocols on real sockets.

`halfway.live.node` is a node for programs with an event loop. `halfway.live.blocking_node` is a
node for other programs. Importing this package imports neither numpy nor numba.
"""

from importlib import import_module
from typing import Any

_API = ("node", "blocking_node")


def __getattr__(name: str) -> Any:
    if name in _API:
        return getattr(import_module("halfway.live.interface.api"), name)
    raise AttributeError(f"module 'halfway.live' has no attribute '{name}'")
