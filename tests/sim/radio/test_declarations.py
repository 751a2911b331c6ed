"""The declarations of radios state whether a radio draws losses, and whether it loses records."""

import pytest

from halfway.sim.radio.declarations import (
    CsmaRadio,
    DistanceRadio,
    IdealRadio,
    Radio,
    WiredRadio,
)


@pytest.mark.parametrize(
    ("radio", "draws_losses", "loses_records"),
    [
        (IdealRadio(), False, False),
        (IdealRadio(success=0.9), True, True),
        (IdealRadio(ratios="links.csv"), True, True),
        (DistanceRadio(speed=3e8), False, False),
        (DistanceRadio(speed=3e8, success=0.9), True, True),
        (CsmaRadio(), False, True),  # frames collide, and a node gives a frame up
        (CsmaRadio(success=0.9), True, True),
        (WiredRadio(), False, False),
        (WiredRadio(limit_s=1.0), False, True),  # a record does not wait longer
    ],
)
def test_a_radio_states_how_it_loses_records(
    radio: Radio, draws_losses: bool, loses_records: bool
) -> None:
    assert (radio.draws_losses, radio.loses_records) == (draws_losses, loses_records)
