"""`spark-submit` with the files of `halfway cluster pack`, on a Python without this package."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from tests.pipeline.cluster import bare_python
from tests.pipeline.conftest import ROOT

pytestmark = pytest.mark.slow
_FIGURE = ("reproduce", "directional-walks/section-4", "--out")


def test_a_submitted_driver_finds_halfway_in_the_archive_and_gives_the_same_digest(tmp_path):
    path = {"PYTHONPATH": str(ROOT / "src")}
    halfway = [sys.executable, "-m", "halfway"]
    packed = subprocess.run(
        [*halfway, "cluster", "pack", tmp_path / "pack"], capture_output=True, text=True,
        check=True, env=os.environ | path, cwd=tmp_path,
    )  # fmt: skip
    archive, driver = packed.stdout.split()
    python = str(bare_python(tmp_path / "python"))
    bare = {name: word for name, word in os.environ.items() if name != "PYTHONPATH"}
    found = subprocess.run([python, "-c", "import halfway"], cwd="/", env=bare, check=False)
    assert found.returncode == 1
    submitted = subprocess.run(
        [Path(pyspark.__file__).parent / "bin" / "spark-submit", "--master", "local[2]",
         "--py-files", archive, driver, *_FIGURE, tmp_path / "submitted"],
        capture_output=True, text=True, cwd=tmp_path, check=False,
        env=bare | {"PYSPARK_PYTHON": python, "PYSPARK_DRIVER_PYTHON": python},
    )  # fmt: skip
    assert submitted.returncode == 0, submitted.stderr[-3000:]
    here = subprocess.run(
        [*halfway, *_FIGURE, tmp_path / "here", "--master", "local[1]"],
        capture_output=True, text=True, check=True, env=os.environ | path, cwd=tmp_path,
    )  # fmt: skip
    digests = [re.findall(r"digest +([0-9a-f]{16})", one.stdout) for one in (submitted, here)]
    assert digests[0] == digests[1]
    assert len(digests[0]) == 1
