"""The key of a kept map: every script and style of the map, and the code that draws it."""

import functools
from importlib.resources import files
from pathlib import Path

import pytest
from msgspec.structs import replace

from halfway.pipeline.plan.provenance import sources_of
from halfway.report.comparison import kept_map
from tests.report.comparison_specimens import results

MAP = "halfway.report.comparison.map"


def _key(scenario: dict[str, object] | None = None) -> str:
    whole = results() if scenario is None else replace(results(), scenario=scenario)
    return kept_map.map_key(kept_map.Completed(whole, (), "", 0))


def test_every_asset_of_the_map_is_in_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assets = [one for one in files(MAP).iterdir() if one.name.endswith((".js", ".css"))]
    for one in assets:
        (tmp_path / one.name).write_bytes(one.read_bytes())
    # The digest of the code is computed once; the test below covers it.
    monkeypatch.setattr(kept_map, "code_digest", functools.cache(kept_map.code_digest))
    whole = _key()
    monkeypatch.setattr(kept_map, "files", lambda _package: tmp_path)
    assert _key() == whole
    keys = {whole}
    for one in assets:
        (tmp_path / one.name).write_bytes(one.read_bytes() + b"\n")
        keys.add(_key())
    assert len(keys) == len(assets) + 1


def test_needs_draw_no_other_map() -> None:
    assert _key({"seconds": 9, "decision": {"minimise": "energy"}}) == _key({"seconds": 9})
    assert _key({"seconds": 8}) != _key({"seconds": 9})


def test_the_code_that_draws_the_map_is_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    here = "halfway.report.comparison.kept_map"
    drawing = {here, f"{MAP}.map_section", f"{MAP}.packing"} | {
        "halfway.comparison.replay.replay", "halfway.report.comparison.plots.system_marks",
        "halfway.report.document", "halfway.report.pictures.layout", "halfway.comparison.plan",
    }  # fmt: skip
    assert drawing <= set(sources_of(here))
    before = _key()
    monkeypatch.setattr(kept_map, "code_digest", lambda module: f"other code of {module}")
    assert _key() != before
