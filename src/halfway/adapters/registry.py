"""The registry of built-in systems. Naming a system imports nothing; using it imports only that one.

The adapter of a system in `protocols/<folder>/` is in `adapters/<folder>.py`, in its `ADAPTERS`;
where there is no such module, the system uses the `BroadcastAdapter`.
"""

import importlib
from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from halfway.adapters.interface import Adapter, BroadcastAdapter, System
from halfway.problem import Problem
from halfway.protocols import SYSTEMS

# The names of the first edition, for a helpful answer.
_FORMER = {
    "cell-hash": "georendezvous",
    "voronoi-brokers": "drip",
    "broker-tree": "siena",
    "underlay-tree": "underlay-siena",
    "rumor": "rumor-routing",
}


def named(name: str) -> System:
    """The system of that name; Problem for an unknown one, with those that there are."""
    if name in _FORMER:
        raise Problem(f"'{name}' has a new name", remedy=f"use '{_FORMER[name]}'")
    if name not in SYSTEMS:
        raise Problem(f"'{name}' is not a system", remedy=f"use one of {', '.join(SYSTEMS)}")
    return System(name, SYSTEMS[name], _adapter(name))


class _Registry(Mapping[str, System]):
    """All built-in systems by name; each is imported when it is asked for."""

    def __getitem__(self, name: str) -> System:
        if name not in SYSTEMS:
            raise KeyError(name)
        return named(name)

    def __contains__(self, name: object) -> bool:
        return name in SYSTEMS

    def __iter__(self) -> Iterator[str]:
        return iter(SYSTEMS)

    def __len__(self) -> int:
        return len(SYSTEMS)


TABLE = _Registry()


def _adapter(name: str) -> type[Adapter]:
    folder = SYSTEMS[name].split(".")[2]
    module = f"halfway.adapters.{folder}"
    if find_spec(module) is None:
        return BroadcastAdapter
    found: type[Adapter] = importlib.import_module(module).ADAPTERS[name]
    return found
