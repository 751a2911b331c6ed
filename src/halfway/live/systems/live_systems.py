"""The registry of the systems that run live, with the reason for each system that does not."""

import importlib
from collections.abc import Mapping, Sequence

from halfway.core.options import Value, checked_options
from halfway.live.systems.face import Face, NodeParameters
from halfway.problem import Problem
from halfway.protocols import SYSTEMS

# System -> module and class of its live face, if the face of simple systems does not fit.
_SIMPLE_FACE = "halfway.live.systems.face:Face"
_FACES = {
    "rumor-routing": "halfway.live.systems.face:RumorFace",
    "directional-walk": "halfway.live.systems.walks:WalksFace",
    "random-walk": "halfway.live.systems.walks:WalksFace",
    "walk-overlay": "halfway.live.systems.walk_overlay:WalkOverlayFace",
    "georendezvous": "halfway.live.systems.georendezvous:GeorendezvousFace",
    "drip": "halfway.live.systems.drip:DripFace",
    "siena": "halfway.live.systems.broker_trees:SienaFace",
    "underlay-siena": "halfway.live.systems.broker_trees:UnderlaySienaFace",
}
_DETECTOR = "it is a failure detector, and spreads no events of applications"
# Folder in `protocols` -> why its systems do not run live, except the systems in `_FACES`.
_WITHOUT_FACE = {
    "failure_detectors": _DETECTOR,
    "walk_detectors": _DETECTOR,
}
REASONS = {
    name: _WITHOUT_FACE[folder]
    for name, about in SYSTEMS.items()
    if (folder := about.module.split(".")[2]) in _WITHOUT_FACE and name not in _FACES
}
DEFAULT_SYSTEM = "flooding"


def live_systems() -> list[str]:
    """Return the names of the systems that run live."""
    return [name for name in SYSTEMS if name not in REASONS]


def check_system(name: str) -> None:
    """Raise Problem for a system that does not run live, with the reason."""
    live = live_systems()
    if name in live:
        return
    remedy = f"use one of {', '.join(live)}"
    if name in REASONS:
        raise Problem(
            f"system = {name}: the system does not run live: {REASONS[name]}", remedy=remedy
        )
    raise Problem(f"system = {name}: expected a system that runs live", remedy=remedy)


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


def uses_position(name: str) -> bool:
    """Return whether the nodes of a system that runs live must know their positions."""
    return _class_of(name).uses_position


def roles_of(name: str) -> Sequence[str]:
    """Return the roles of nodes of a system that runs live, the default first; none if all nodes
    have the same role.
    """
    return _class_of(name).ROLES


def _class_of(name: str) -> type[Face]:
    place, _, made = _FACES.get(name, _SIMPLE_FACE).partition(":")
    found: type[Face] = getattr(importlib.import_module(place), made)
    return found
