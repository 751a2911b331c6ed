"""The wheel: installed alone in an empty environment, without a checkout and without Java."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest
from tools.java_hidden import without_java

from tests.house.sources import REPOSITORY


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new environment with the wheel and its dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=REPOSITORY, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "empty", with_pip=True)
    programs = folder / "empty" / "bin"
    subprocess.run([programs / "pip", "install", "--quiet", wheel], check=True)
    return programs


@pytest.mark.slow
def test_an_installed_wheel_compares_its_example_without_a_checkout_and_without_java(
    installed: Path, tmp_path: Path
) -> None:
    farm = tmp_path / "bin"
    farm.mkdir()
    environment = without_java(farm) | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment = {name: value for name, value in environment.items() if name != "PYTHONPATH"}

    def run(*words: str) -> str:
        done = subprocess.run(
            [installed / "halfway", *words],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "halfway compare" in run("--help")
    place = [installed / "python", "-c", "import halfway; print(halfway.__file__)"]
    found = subprocess.run(
        place, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert str(installed.parent) in found.stdout
    run("init", "--example", "-o", "field.toml")
    systems = ("--systems", "flooding,counter-broadcast", "--replicates", "4")
    answer = run("compare", "field.toml", *systems)
    assert "comparison digest" in answer
    page = tmp_path / "halfway-comparison" / "small-field" / "comparison.html"
    assert "counter-broadcast" in page.read_text("utf-8")
    # So few runs need no Spark; a sweep that demands it starts the Java that comes with it.
    figure = ("directional-walks/section-4", "--partitions", "2", "--json")
    assert '"verdict"' in run("reproduce", *figure)
    assert (tmp_path / "halfway-results" / "index.html").exists()
