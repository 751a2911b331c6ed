"""The map picture of the README: several systems on one network, and one event in each.

    .venv/bin/python -m tools.map_picture docs/pictures/compare-map.png

runs the systems on examples/scenarios/sensor-field.toml, writes the page with their maps, and takes
the picture with a headless Chromium. Other arguments: a scenario file, systems.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image  # comes with matplotlib
from tests.report.browser import Browser

from halfway.adapters.interface import Unsupported
from halfway.comparison.evaluation.comparison_results import Results
from halfway.comparison.replay.replay import Replay, replay_of_scenario
from halfway.report.comparison.comparison_page import write_comparison_page
from halfway.scenario.reading import read_scenario

SCENARIO = Path("examples/scenarios/sensor-field.toml")
SYSTEMS = (
    "flooding", "directional-walk", "walk-overlay", "georendezvous", "drip", "siena",
)  # fmt: skip
EVENT, AFTER_S = 12, 1.3  # the followed event, and the time after its publication
COLOURS = 128


def main(picture: Path, scenario: Path = SCENARIO, systems: tuple[str, ...] = SYSTEMS) -> None:
    """Write the picture of a scenario's map as PNG."""
    replays = [made for name in systems if (made := played(scenario, name)) is not None]
    with TemporaryDirectory() as folder:
        page, shot = Path(folder) / "index.html", Path(folder) / "shot.png"
        write_comparison_page(unmeasured(replays), replays, page)
        with Browser(Path(folder) / "profile", 1220, 1000) as browser:
            browser.open(page)
            browser.until("document.querySelector('.board').dataset.ready === 'yes'")
            browser.tell(
                f"halfway.followEvent({EVENT});"
                f"halfway.seek(halfway.world().published[{EVENT}] + {AFTER_S});"
                # Bars that stay in the window would cover a picture that is taller than it.
                "for (const bar of document.querySelectorAll('.systems, .transport, aside'))"
                "  bar.style.position = 'static'"
            )
            browser.picture(shot, ".screen")
        with Image.open(shot) as taken:
            taken.convert("RGB").quantize(COLOURS).save(picture, optimize=True)


def played(scenario: Path, system: str) -> Replay | None:
    """Return the replay of a system for the map picture; None if it cannot run there."""
    try:
        return replay_of_scenario(read_scenario(scenario), system)
    except Unsupported:
        return None


def unmeasured(replays: list[Replay]) -> Results:
    """Return results without numbers for the map picture: the page around the map."""
    names = tuple(replay.system for replay in replays)
    return Results(
        title="map", scenario={}, systems=names, baseline=names[0], points=({},), replicates=1,
        metrics=(), cells=(), curves=(), unsupported={}, notes=(), methods=(), errors=0, digest="",
        wall_seconds=0.0,
    )  # fmt: skip


if __name__ == "__main__":
    where, *more = sys.argv[1:] or ["docs/pictures/compare-map.png"]
    given = (Path(more[0]), tuple(more[1:]) or SYSTEMS) if more else (SCENARIO, SYSTEMS)
    main(Path(where), *given)
