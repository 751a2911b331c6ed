"""The registry of built-in systems; the use of a system imports this system only.

The adapter of a system in `protocols/<folder>/` is in the table `ADAPTERS` of
`adapters/<folder>.py`. Without such a module, the system uses the `UnsizedAdapter`.
"""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec

from halfway.adapters.interface import Adapter, System, UnsizedAdapter
from halfway.problem import Problem
from halfway.protocols import SYSTEMS

# System names of the first edition; an error about such a name states the new name.
_FORMER = {
    "cell-hash": "georendezvous",
    "voronoi-brokers": "drip",
    "broker-tree": "siena",
    "underlay-tree": "underlay-siena",
    "rumor": "rumor-routing",
}


def named(name: str, where: str = "") -> System:
    """Return the built-in system of a name in the registry. Raises Problem for an unknown name.

    where: the option or field that has the name, for the error.
    """
    if name not in SYSTEMS:
        raise unknown(name, SYSTEMS, where)
    module = f"halfway.adapters.{SYSTEMS[name].module.split('.')[2]}"
    adapter: type[Adapter] = UnsizedAdapter
    if find_spec(module) is not None:
        adapter = importlib.import_module(module).ADAPTERS[name]
    return System(name, SYSTEMS[name].module, adapter)


def unknown(name: str, known: Iterable[str], where: str = "") -> Problem:
    """Return the registry's error for a name that is not among the known systems."""
    if name in _FORMER:
        return Problem(f"'{name}' has a new name", where=where, remedy=f"use '{_FORMER[name]}'")
    remedy = f"use one of {', '.join(known)}"
    return Problem(f"'{name}' is not a system", where=where, remedy=remedy)


class _Registry(Mapping[str, System]):
    """The registry of all built-in systems by name, which imports a system when a caller looks it
    up. Each system is imported once.
    """

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
