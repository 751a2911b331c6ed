"""The live face of flooding: events pass on at once."""

from halfway.live.limits import DEFAULT
from halfway.live.systems.face import FloodingFace, NodeParameters
from halfway.live.systems.live_systems import face_of, simulated_defaults
from halfway.protocols import flooding


def test_a_live_node_repeats_at_once_and_a_radio_node_waits() -> None:
    face = face_of("flooding", {}, NodeParameters(7, 1, 1, DEFAULT))
    assert isinstance(face, FloodingFace)
    assert face.node.rules.repeat_delay_s == 0.0
    assert flooding.OPTIONS["repeat_delay_s"].default == 0.01
    given = face_of("flooding", {"repeat_delay_s": 0.02}, NodeParameters(7, 1, 1, DEFAULT))
    assert given.node.rules.repeat_delay_s == 0.02


def test_a_test_bed_gives_real_nodes_the_delay_of_simulated_ones() -> None:
    assert simulated_defaults("flooding") == {"repeat_delay_s": 0.01}
    assert simulated_defaults("gossip") == {}
    face_of("georendezvous", simulated_defaults("georendezvous"),
            NodeParameters(7, 1, 1, DEFAULT, (1.0, 1.0)))  # fmt: skip
