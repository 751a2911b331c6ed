"""Films of runs: pictures of a GIF that show where an event is, and errors of the user."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from halfway.comparison.replay.replay import Replay, replay_of_scenario
from halfway.problem import Problem
from halfway.report.pictures.event_film import check_film, write_film
from halfway.scenario.reading import read_scenario

ORANGE = np.array([0xD5, 0x5E, 0x00])


@pytest.fixture(scope="module")
def replay() -> Replay:
    field = {
        "seconds": 6.0, "seed": 3, "network": {"kind": "unit-disk", "n": 40, "degree": 8},
        "workload": {"subscribers_each": 4, "events": 2, "start_s": 1.0, "every_s": 2.0},
    }  # fmt: skip
    return replay_of_scenario(read_scenario(field), "flooding")


def test_the_event_spreads_from_picture_to_picture(tmp_path: Path, replay: Replay) -> None:
    file = tmp_path / "run.gif"
    count = write_film(replay, file, event=2, seconds=0.4)
    with Image.open(file) as film:
        assert len(list(ImageSequence.Iterator(film))) == count == 8
        shares = []
        for place in range(count):
            film.seek(place)
            near = np.abs(np.asarray(film.convert("RGB")).astype(int) - ORANGE).max(2) < 40
            shares.append(float(near.mean()))
    assert shares[0] < shares[4] < shares[-1]


def test_the_same_run_gives_the_same_bytes(tmp_path: Path, replay: Replay) -> None:
    for name in ("a.gif", "b.gif"):
        write_film(replay, tmp_path / name, seconds=0.1)
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_errors_say_what_to_write(tmp_path: Path, replay: Replay) -> None:
    with pytest.raises(Problem, match="expected a number from 1 to 2"):
        write_film(replay, tmp_path / "x.gif", event=3)
    with pytest.raises(Problem, match=r"end the name in \.gif"):
        check_film(tmp_path / "x.mp4")
    with pytest.raises(Problem, match="create it first"):
        check_film(tmp_path / "none" / "x.gif")
