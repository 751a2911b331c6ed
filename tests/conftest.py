"""What every test shares: hypothesis profiles, real data if there is any, and `--slow`.

Kernels compile once, not per run, into a cache beside the user's own: the tests have protocols and
radios of their own, and a program that knows no tests could not read a cache that names them.
"""

import os
from pathlib import Path

import hypothesis
import pytest

# Before anything imports a kernel, and once: the tests' own processes inherit it.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111
if _CACHE.name != "halfway-tests":
    os.environ["XDG_CACHE_HOME"] = str(_CACHE / "halfway-tests")

# Before anything imports matplotlib: no test opens a window.
os.environ["MPLBACKEND"] = "Agg"

# `ci` draws the same examples every time and counts no clock: the first call may be compiling.
# `pytest --hypothesis-profile=dev` looks further, with fresh examples.
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.register_profile("dev", deadline=None, max_examples=500)
hypothesis.settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--slow` runs the proofs that take minutes as well."""
    parser.addoption("--slow", action="store_true", help="run the tests marked slow as well")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the slow proofs out unless they are asked for."""
    if config.getoption("--slow") or os.environ.get("HALFWAY_SLOW"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets that HALFWAY_DATA names; a test that needs it skips without."""
    named = os.environ.get("HALFWAY_DATA")
    if not named:
        pytest.skip("HALFWAY_DATA names no folder of real data sets")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"HALFWAY_DATA={named} is not a folder")
    return folder
