"""The registry of the live faces of systems. All systems run live."""

import importlib
from collections.abc import Mapping, Sequence

from halfway.core.options import Value, checked_options
from halfway.live.systems.face import Face, NodeParameters
from halfway.problem import Problem
from halfway.protocols import SYSTEMS

# System -> module and class of its live face, if the face of simple systems does not fit.
_SIMPLE_FACE = "halfway.live.systems.face:Face"
_FACES = {
    "flooding": "halfway.live.systems.face:FloodingFace",
    "rumor-routing": "halfway.live.systems.face:RumorFace",
    "directional-walk": "halfway.live.systems.walks:WalksFace",
    "random-walk": "halfway.live.systems.walks:WalksFace",
    "walk-overlay": "halfway.live.systems.walk_overlay:WalkOverlayFace",
    "georendezvous": "halfway.live.systems.georendezvous:GeorendezvousFace",
    "drip": "halfway.live.systems.drip:DripFace",
    "heartbeat": "halfway.live.systems.detectors:DetectorFace",
    "gossip-counters": "halfway.live.systems.detectors:CountingFace",
    "swim": "halfway.live.systems.detectors:DetectorFace",
    "lifeguard": "halfway.live.systems.detectors:DetectorFace",
    "path-heartbeat": "halfway.live.systems.detectors:PathFace",
    "walk-probe": "halfway.live.systems.detectors:WalkProbeFace",
    "path-gossip": "halfway.live.systems.detectors:PathGossipFace",
    "siena": "halfway.live.systems.broker_trees:SienaFace",
    "underlay-siena": "halfway.live.systems.broker_trees:UnderlaySienaFace",
}
DEFAULT_SYSTEM = "flooding"


def live_systems() -> list[str]:
    """Return the names of the systems that run live."""
    return list(SYSTEMS)


def check_system(name: str) -> None:
    """Raise Problem for a name that is not the name of a system."""
    if name not in SYSTEMS:
        what = f"system = {name}: expected a system that runs live"
        raise Problem(what, remedy=f"use one of {', '.join(live_systems())}")


def face_of(name: str, options: Mapping[str, Value], parameters: NodeParameters) -> Face:
    """Return the live face of a system for one node. Raises Problem for a system or an option."""
    check_system(name)
    module, face_type = importlib.import_module(SYSTEMS[name].module), _class_of(name)
    without = face_type.WITHOUT
    for option in options.keys() & without.keys():
        what = f"{name}: option '{option}': expected no such option of live nodes"
        raise Problem(what, remedy=without[option])
    declared = {key: module.OPTIONS[key] for key in module.OPTIONS if key not in without}
    values = checked_options(name, {**declared, **face_type.OPTIONS}, options)
    return face_type(module, values, parameters)


def simulated_defaults(name: str) -> dict[str, Value]:
    """Return the defaults of simulated nodes for the options of a system whose live nodes have
    other defaults.
    """
    declared = importlib.import_module(SYSTEMS[name].module).OPTIONS
    return {key: declared[key].default for key in _class_of(name).OPTIONS if key in declared}


def uses_position(name: str) -> bool:
    """Return whether the nodes of a system that runs live must know their positions."""
    return _class_of(name).uses_position


def most_incarnation(name: str) -> int:
    """Return the largest incarnation of a node for which the records of a live system have room."""
    return _class_of(name).most_incarnation


def spreads_events(name: str) -> bool:
    """Return whether a system that runs live spreads events; the others are failure detectors."""
    return _class_of(name).spreads_events


def check_spreads_events(name: str, *, for_what: str) -> None:
    """Raise Problem for a failure detector, whose nodes cannot do what needs events.

    for_what: the option or command that needs events.
    """
    if not spreads_events(name):
        what = f"system = {name}: expected a system that spreads events for {for_what}"
        remedy = "choose a node of another system, or see its members with `halfway members`"
        raise Problem(f"{what}, but it is a failure detector", remedy=remedy)


def roles_of(name: str) -> Sequence[str]:
    """Return the roles of nodes of a system that runs live, the default first; none if all nodes
    have the same role.
    """
    return _class_of(name).ROLES


def _class_of(name: str) -> type[Face]:
    place, _, made = _FACES.get(name, _SIMPLE_FACE).partition(":")
    found: type[Face] = getattr(importlib.import_module(place), made)
    return found
