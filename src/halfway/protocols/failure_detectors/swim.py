"""SWIM: a node probes one neighbour in each period, and probes carry news of all members.

After Das, Gupta & Motivala 2002, "SWIM: scalable weakly-consistent infection-style process group
membership protocol": probes by proxies (§3.1), dissemination (§4.1), suspicion (§4.2), and a random
order of probes (§4.3). `probe_messages` describes the differences in a multi-hop network.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.handler import handles
from halfway.protocols.failure_detectors import probe_messages, probing
from halfway.protocols.failure_detectors.member_list import Probes, probes

KINDS, OPTIONS, Rules = probe_messages.KINDS, probe_messages.SWIM_OPTIONS, probe_messages.Rules
rules, most_emissions = probe_messages.swim_rules, probing.most_emissions
NEIGHBOUR_HOPS, MOST_BESIDE = probing.NEIGHBOUR_HOPS, probing.MOST_BESIDE


class SwimState(NamedTuple):
    """The state of nodes of SWIM: their member lists and probes."""

    probes: Probes


State = SwimState


def state(
    node_ids: npt.NDArray[np.int32],
    members: int,
    seed: int,
    *,
    relays: npt.ArrayLike | None = None,
) -> SwimState:
    """Return the initial state of SWIM, with room for `members` at each node.

    relays: [n] whether each node is a relay; None: the network has no relays.
    """
    return SwimState(probes(node_ids, members, seed, relays))


@handles(SwimState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of SWIM."""
    probing.receive(state.probes, rules, neighbourhood, i, message, out)
