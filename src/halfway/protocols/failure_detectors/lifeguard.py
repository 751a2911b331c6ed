"""Lifeguard: SWIM in which a slow node uses longer time-outs.

After Dadgar, Phillips & Currey 2018, "Lifeguard: local health awareness for more accurate failure
detection": a local health score that slows probes (§IV.A), a time of suspicion that other members
shorten (§IV.B), and suspicions that reach the suspected member first (§IV.C).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.handler import handles
from halfway.protocols.failure_detectors import probe_messages, probing
from halfway.protocols.failure_detectors.member_list import Probes, probes

KINDS, OPTIONS, Rules = probe_messages.KINDS, probe_messages.LIFEGUARD_OPTIONS, probe_messages.Rules
rules, most_emissions = probe_messages.lifeguard_rules, probing.most_emissions
NEIGHBOUR_HOPS, MOST_BESIDE = probing.NEIGHBOUR_HOPS, probing.MOST_BESIDE


class LifeguardState(NamedTuple):
    """The state of nodes of Lifeguard: their member lists and probes."""

    probes: Probes


State = LifeguardState


def state(
    node_ids: npt.NDArray[np.int32],
    members: int,
    seed: int,
    *,
    relays: npt.ArrayLike | None = None,
) -> LifeguardState:
    """Return the initial state of Lifeguard, with room for `members` at each node.

    relays: [n] whether each node is a relay; None: the network has no relays.
    """
    return LifeguardState(probes(node_ids, members, seed, relays))


@handles(LifeguardState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of Lifeguard."""
    probing.receive(state.probes, rules, neighbourhood, i, message, out)
