"""Chains of imports become no longer in any room or folder; a longer chain is noticed."""

from pathlib import Path

import pytest

from tests.house import import_depth
from tests.house.import_depth import deep_chains, longest_chains
from tests.house.sources import REPOSITORY


def chain(root: Path, names: list[str]) -> Path:
    """A repository under `root` in whose package each of these modules imports the next one."""
    for name, used in zip(names, [*names[1:], ""], strict=True):
        file = root / "src" / "halfway" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"from halfway.{used.replace('/', '.')} import x\n" if used else "x = 1\n")
    return root


def test_no_chain_of_imports_becomes_longer() -> None:
    assert "\n".join(deep_chains(REPOSITORY)) == ""


def test_a_chain_counts_in_its_room_and_the_part_inside_a_folder_in_the_folder(
    tmp_path: Path,
) -> None:
    root = chain(tmp_path, ["sim/loop/a", "sim/loop/b", "sim/air/c", "core/d"])
    assert longest_chains(root) == {
        "sim": ["halfway.sim.loop.a", "halfway.sim.loop.b", "halfway.sim.air.c"],
        "sim/loop": ["halfway.sim.loop.a", "halfway.sim.loop.b"],
    }


@pytest.mark.parametrize(("stated", "problem"), [(2, True), (3, False), (4, True)])
def test_a_longer_chain_and_a_number_that_is_too_large_are_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stated: int, problem: bool
) -> None:
    monkeypatch.setattr(import_depth, "DEEPER", {"sim": (stated, "a reason")})
    found = deep_chains(chain(tmp_path, ["sim/a", "sim/b", "sim/c"]))
    expected = f"sim: 3 modules instead of {stated}: sim.a -> sim.b -> sim.c"
    assert found == ([expected] if problem else [])


def test_a_longer_chain_without_a_reason_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_depth, "DEEPER", {"sim": (3, "")})
    found = deep_chains(chain(tmp_path, ["sim/a", "sim/b", "sim/c"]))
    assert found == ["sim: expected a reason"]


@pytest.mark.parametrize("place", ["core", "core/records"])
def test_a_chain_at_the_limit_passes_and_a_longer_one_does_not(tmp_path: Path, place: str) -> None:
    limit = import_depth.FOLDER_DEPTH if "/" in place else import_depth.ROOM_DEPTH
    names = [f"{place}/m{k}" for k in range(limit + 1)]
    assert deep_chains(chain(tmp_path / "at", names[:limit])) == []
    assert len(deep_chains(chain(tmp_path / "above", names))) >= 1
