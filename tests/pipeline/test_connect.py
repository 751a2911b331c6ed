"""Spark Connect: a sweep through a server on the cluster, with progress and an equal digest."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pyarrow as pa
import pytest

from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.spark.simulate_rows import simulate
from halfway.pipeline.store.manifest import lines_digest
from tests.pipeline.cluster import Started, packed_tests, standalone
from tests.pipeline.conftest import ROOT
from tests.pipeline.toys import points

pytest.importorskip("grpc", reason="Spark Connect needs pip install 'pyspark[connect]'")
pytestmark = pytest.mark.slow
_REPLICATES = 60


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """Three workers and a Connect server, whose Python lacks this package."""
    with standalone(tmp_path_factory.mktemp("connect"), connect=True) as started:
        yield started


@pytest.mark.parametrize("way", ["--master", "SPARK_REMOTE"])
def test_a_sweep_through_a_connect_server_has_progress_and_the_same_digest(server, tmp_path, way):
    remote = server.cluster.connect
    # One batch: every count between its ends comes from the server.
    given = {
        "replicates": _REPLICATES, "parameters": {"ms": 20}, "batch_seconds": 600.0,
        "modules": str(packed_tests(tmp_path)),
    }  # fmt: skip
    environment = server.environment | ({"SPARK_REMOTE": remote} if way == "SPARK_REMOTE" else {})
    master = remote if way == "--master" else ""
    done = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.driver", tmp_path / "results", master,
         json.dumps(given)],
        capture_output=True, text=True, cwd=ROOT, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stderr}\n{server.logs()}"
    found = json.loads(done.stdout)
    rows = plan(points(ms=20), _REPLICATES)
    table = pa.Table.from_batches(list(simulate(iter(rows.to_batches()))))
    columns = (table[name].to_pylist() for name in ("key", "status", "digest"))
    assert found["digest"] == lines_digest(*columns)
    assert (found["made"], found["cores"]) == (4 * _REPLICATES, 3)
    assert any(0 < count < 4 * _REPLICATES for count in found["progress"]), found["progress"]
