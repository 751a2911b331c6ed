"""The systems of the tables by what they are. A test that leaves one of them out states why."""

import importlib
from collections.abc import Iterable, Mapping

from halfway.adapters.interface import UnsizedAdapter
from halfway.adapters.registry import TABLE
from halfway.live.systems.live_systems import live_systems
from halfway.protocols import SYSTEMS

# They spread events; the others detect failures.
SPREADING = tuple(name for name in TABLE if not TABLE[name].adapter.detects_failures)
DETECTORS = tuple(name for name in TABLE if name not in SPREADING)
# They acknowledge hops.
HOPPING = tuple(
    name
    for name, about in SYSTEMS.items()
    if "ack-timeout" in importlib.import_module(about.module).KINDS.names.values()
)
# Systems of one module, without an adapter of their own. A new one needs no change of a test.
SIMPLE = tuple(name for name in TABLE if TABLE[name].adapter is UnsizedAdapter)
LIVE_SIMPLE = tuple(name for name in SIMPLE if name in live_systems())


def without(systems: Iterable[str], left_out: Mapping[str, str]) -> list[str]:
    """The systems without those that are left out for a reason: system -> reason."""
    names = list(systems)
    assert set(left_out) <= set(names), f"{sorted(set(left_out) - set(names))} are no such systems"
    return [name for name in names if name not in left_out]
