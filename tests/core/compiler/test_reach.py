"""What a kernel can reach: imports at any depth, packages, types, and nothing of the libraries."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import halfway.papers.directional_walks
from halfway.core.compiler import reach
from halfway.protocols import SYSTEMS
from halfway.sim.engine import radio_interface
from tests.core.compiler.programs import write_modules

ENGINE = "halfway.sim.engine.loop"


@pytest.fixture(autouse=True)
def chain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "chain").mkdir()
    write_modules(
        tmp_path / "chain",
        __init__="", first="from . import second\nimport numpy as np, json\n",
        second="if True:\n    from chain.third import (\n        VALUE,\n    )\n",
        third="VALUE = 1\n", fourth="", loop="import chain.loop\n",
    )  # fmt: skip
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("first", "fourth", "loop"):
        importlib.import_module(f"chain.{name}")
    yield tmp_path / "chain"
    for name in [name for name in sys.modules if name.partition(".")[0] == "chain"]:
        del sys.modules[name]
    reach._source_of.cache_clear()


def test_imports_are_followed() -> None:
    assert reach.reachable(["chain.first"]) == {
        "chain", "chain.first", "chain.second", "chain.third"
    }  # fmt: skip
    assert reach.reachable(["chain.loop"]) == {"chain.loop"}


def test_types_bring_modules_along() -> None:
    before = reach.digest_of(["chain.third"])
    reach.extend("chain.third", "chain.fourth")
    assert "chain.fourth" in reach.reachable(["chain.first"])
    assert reach.digest_of(["chain.third"]) != before


def test_a_digest_follows_the_text(chain: Path) -> None:
    before, alone = reach.digest_of(["chain.first"]), reach.digest_of(["chain.loop"])
    write_modules(chain, third="VALUE = 2\n")
    reach._source_of.cache_clear()
    assert reach.digest_of(["chain.first"]) != before
    assert reach.digest_of(["chain.loop"]) == alone


def test_a_module_without_a_file_reaches_nothing() -> None:
    assert reach.reachable(["sys", "json", "numpy", "no.such.module"]) == set()


def test_the_engine_reaches_no_protocol() -> None:
    importlib.import_module(ENGINE)
    found = reach.reachable([ENGINE])
    assert f"{ENGINE.rpartition('.')[0]}.calendar_queue.operations" in found
    rooms = {name.split(".")[1] for name in found if "." in name}
    assert rooms <= {"core", "sim", "world", "problem", "files"}


def test_a_protocol_reaches_no_other_system_and_no_simulator() -> None:
    from halfway.protocols.georendezvous import handler

    assert halfway.papers.directional_walks  # loaded, and out of reach
    found = reach.reachable([handler.__name__])
    assert "halfway.protocols.georendezvous.state" in found
    assert not {name for name in found if ".sim." in name or ".walks" in name or ".drip" in name}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_state_brings_the_handler_of_its_protocol(system: str) -> None:
    """No import of a state's module leads to the handler, whose edit compiles the door again."""
    protocol = importlib.import_module(SYSTEMS[system].module)
    assert protocol.handle.py_func.__module__ in reach.reachable([protocol.State.__module__])


def test_a_radio_brings_its_functions() -> None:
    importlib.import_module("halfway.sim.radio.declarations")
    for table in (radio_interface._DEPART, radio_interface._ARRIVE, radio_interface._CHANGED):
        for radio, function in table.items():
            assert function.py_func.__module__ in reach.reachable([radio.__module__])
