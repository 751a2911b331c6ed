"""Input files of every kind: regular files of limited size; pipes and devices are refused."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from halfway.adapters.user_protocol import read_user_system
from halfway.pipeline.plan.inputs import name_of
from halfway.problem import Problem
from halfway.scenario.reading import read_scenario
from halfway.world.importers import file_content
from halfway.world.importers.network_file import read_network
from halfway.world.mobility.trace_files import read_motion
from halfway.world.workload.event_files import read_events, read_roles

READERS: list[tuple[str, Callable[[str], object]]] = [
    ("s.toml", read_scenario), ("links.csv", read_network), ("links.csv.gz", read_network),
    ("mesh.json", read_network), ("mesh.graphml", read_network), ("net.brite", read_network),
    ("tracks.gpx", read_motion), ("tracks.csv", read_motion), ("walk.one", read_motion),
    ("events.csv", lambda file: read_events(file, {})),
    ("events.parquet", lambda file: read_events(file, {})),
    ("roles.csv", read_roles), ("mine.py", read_user_system), ("any.bin", name_of),
]  # fmt: skip
# A digest is of any file, and Arrow reads the last bytes of a Parquet file first.
LIMITED = [one for one in READERS if not one[0].endswith((".parquet", ".bin"))]


@pytest.mark.parametrize(("name", "read"), READERS, ids=[name for name, _ in READERS])
def test_a_device_or_a_pipe_is_no_input_file(
    tmp_path: Path, name: str, read: Callable[[str], object]
) -> None:
    (tmp_path / "zero").mkdir()
    pipe, zeros = tmp_path / name, tmp_path / "zero" / name
    os.mkfifo(pipe)
    zeros.symlink_to("/dev/zero")
    for file in (pipe, zeros):
        message = f"{name}: this is a device or a pipe: expected a regular file"
        with pytest.raises(Problem, match=message):
            read(str(file))


@pytest.mark.parametrize(("name", "read"), LIMITED, ids=[name for name, _ in LIMITED])
def test_a_file_that_is_too_large_is_refused_before_it_is_read(
    tmp_path: Path, name: str, read: Callable[[str], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_content, "_MOST_BYTES", 1_000_000)
    with (tmp_path / name).open("wb") as file:
        file.truncate(1 << 40)  # a sparse file
    with pytest.raises(Problem, match=r"too large: expected at most \d MB"):
        read(str(tmp_path / name))


def test_a_packed_file_has_a_limit_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_content, "_MOST_BYTES", 1_000_000)
    with gzip.open(tmp_path / "links.csv.gz", "wb") as file:
        for _ in range(3):
            file.write(bytes(1_000_000))
    with pytest.raises(Problem, match="expected at most 1 MB after unpacking"):
        read_network(tmp_path / "links.csv.gz")
