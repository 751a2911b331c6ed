"""A cluster of three workers without this package, a worker that dies, a driver that dies."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from halfway.pipeline.audit import audit
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.spark.simulate_rows import simulate
from halfway.pipeline.store.manifest import lines_digest
from halfway.pipeline.store.results_digest import digest
from halfway.pipeline.store.store import Store
from tests.pipeline.cluster import Started, packed_tests, standalone
from tests.pipeline.conftest import ROOT
from tests.pipeline.toys import points

pytestmark = pytest.mark.slow
_REPLICATES = 60


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """Three workers on loopback; the tests of this file end one of them, last of all."""
    with standalone(tmp_path_factory.mktemp("standalone")) as started:
        yield started


def _driver(cluster: Started, store: Store, parameters: dict[str, object], sent: Path):
    given = {
        "replicates": _REPLICATES, "parameters": parameters, "batch_seconds": 1.0,
        "modules": str(packed_tests(sent)),
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-m", "tests.pipeline.driver", store.folder, cluster.master,
         json.dumps(given)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env=cluster.environment,
    )  # fmt: skip


def _wait_for_batches(store: Store, driver: subprocess.Popen[str], count: int) -> None:
    deadline = time.monotonic() + 600  # on a busy machine, a first batch takes minutes
    while len(store.finished_batches()) < count:
        assert driver.poll() is None, driver.communicate()
        if time.monotonic() > deadline:
            driver.kill()
            raise TimeoutError(driver.communicate())
        time.sleep(0.05)


def _ended(driver: subprocess.Popen[str], cluster: Started) -> dict[str, object]:
    out, err = driver.communicate(timeout=900)
    assert driver.returncode == 0, f"{err}\n{cluster.logs()}"
    found: dict[str, object] = json.loads(out)
    return found


def _made_here(parameters: dict[str, Any]) -> tuple[str, list[str]]:
    """Digest and keys of the same sweep, made in this process without any Spark."""
    planned = plan(points(**parameters), _REPLICATES)
    table = pa.Table.from_batches(list(simulate(iter(planned.to_batches()))))
    columns = [table[name].to_pylist() for name in ("key", "status", "digest")]
    return lines_digest(*columns), columns[0]


def _nothing_lost_or_doubled(store: Store, parameters: dict[str, object]) -> None:
    expected, keys = _made_here(parameters)
    assert digest(store) == expected
    stored = [key for file in store.files() for key in pq.read_table(file)["key"].to_pylist()]
    assert sorted(stored) == sorted(keys)
    found = audit(store)
    assert (found.damage, found.errors, found.digest) == ((), 0, expected)


def test_the_workers_python_has_every_library_but_this(cluster):
    for code, found in (("import numba, pyarrow, pyspark", 0), ("import halfway", 1)):
        done = subprocess.run(
            [cluster.python, "-c", code], capture_output=True, env={}, cwd="/", check=False
        )
        assert done.returncode == found


def test_the_same_command_with_the_same_digest_and_kernels_kept(cluster, tmp_path):
    def reproduced(name: str, master: str) -> str:
        out = tmp_path / name
        done = subprocess.run(
            [sys.executable, "-m", "halfway", "reproduce", "directional-walks/section-4",
             "--out", out, "--master", master],
            capture_output=True, text=True, cwd=tmp_path, env=cluster.environment, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}\n{cluster.logs()}"
        assert audit(Store(out / "runs")).studies[0].made == 48
        found = re.search(r"digest +([0-9a-f]{16})", done.stdout)
        assert found
        return found[1]

    def kernels() -> set[Path]:
        cache = Path(os.environ["XDG_CACHE_HOME"]) / "halfway"
        unpacked = {path.name for path in (cache.parent / "halfway-shipped").iterdir()}
        assert unpacked
        return set(cache.rglob("*.kernel"))

    first = reproduced("first", cluster.master)
    compiled = kernels()
    assert compiled
    assert reproduced("again", cluster.master) == first
    assert kernels() == compiled  # another application, without compiling
    assert reproduced("here", "local[1]") == first


def test_a_sweep_resumes_after_a_killed_driver(cluster, tmp_path):
    diary = tmp_path / "diary"
    diary.touch()
    gate = tmp_path / "gate"  # closed: the driver does not end before it is killed
    store = Store(tmp_path / "results")
    parameters: dict[str, object] = {
        "ms": 25, "diary": str(diary), "gate": str(gate), "batches": str(store.batches)
    }  # fmt: skip
    driver = _driver(cluster, store, parameters, tmp_path)
    _wait_for_batches(store, driver, 2)
    driver.send_signal(signal.SIGKILL)
    driver.communicate()
    finished = store.finished_keys()
    assert 0 < len(finished) < 4 * _REPLICATES
    time.sleep(3)  # until the master has stopped the executors
    gate.touch()
    diary.write_text("")
    report = _ended(_driver(cluster, store, parameters, tmp_path), cluster)
    assert report["made"] == 4 * _REPLICATES - len(finished)
    again = diary.read_text().splitlines()
    assert len(again) == report["made"]
    _nothing_lost_or_doubled(store, parameters)


def test_a_killed_worker_costs_nothing_but_time(cluster, tmp_path):
    parameters: dict[str, object] = {"ms": 30}
    store = Store(tmp_path / "results")
    driver = _driver(cluster, store, parameters, tmp_path)
    _wait_for_batches(store, driver, 1)
    time.sleep(0.5)  # in the middle of a batch
    cluster.kill_worker(0)
    report = _ended(driver, cluster)
    assert report["made"] == 4 * _REPLICATES
    assert len(store.finished_batches()) > 2
    _nothing_lost_or_doubled(store, parameters)
