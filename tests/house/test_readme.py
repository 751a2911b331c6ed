"""The front page: its table of systems has every system that spreads events, in their order."""

from tests.house.sources import REPOSITORY
from tests.systems import SPREADING


def first_column(page: str, heading: str) -> list[str]:
    """The first column of the table of a page whose first heading is given, without its head."""
    lines = page.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append(line.split("|")[1].strip())
    return found


def test_the_table_of_systems_has_every_system_that_spreads_events() -> None:
    page = (REPOSITORY / "README.md").read_text("utf-8")
    missing = "add the row that `halfway compare examples/scenarios/sensor-field.toml` prints"
    assert first_column(page, "system") == [*SPREADING], missing


def test_a_table_ends_with_its_last_row() -> None:
    page = (
        "# Title\n| a | b |\n|---|---|\n| x | 1 |\n| y | 2 |\n\n| a | b |\n|---|---|\n| z | 3 |\n"
    )
    assert first_column(page, "a") == ["x", "y"]
