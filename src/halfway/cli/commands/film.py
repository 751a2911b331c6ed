"""`halfway film`: one event of a run on its way, as a GIF."""

from pathlib import Path
from typing import Annotated

import typer

from halfway.cli.terminal.assignments import assignments
from halfway.cli.terminal.options import Changed, ScenarioFile, ScenarioSeed, SystemName
from halfway.cli.terminal.screen import spinner


def film(
    scenario: ScenarioFile,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="GIF file to write the film to.")
    ],
    system: SystemName = None,
    seed: ScenarioSeed = None,
    changes: Changed = None,
    event: Annotated[
        int, typer.Option(metavar="N", help="Number of the event. The first event is number 1.")
    ] = 1,
    seconds: Annotated[
        float, typer.Option(metavar="S", min=0.1, max=60.0, help="Length of the film in seconds.")
    ] = 6.0,
) -> None:
    """Write a film of one event on its way through the network, for a talk.

    \b
    A node turns orange when it receives the event. Circles are subscribers, and the
    square is the publisher. Walks are blue.

    \b
    halfway film examples/scenarios/sensor-field.toml --system flooding -o flooding.gif
    halfway film mesh.toml --system walk-overlay --event 3 --seconds 10 -o overlay.gif
    The map of `halfway compare` can also record films (docs/replaying.md).
    """
    from halfway.adapters.registry import named
    from halfway.comparison.replay.replay import replay_of_scenario
    from halfway.report.pictures.event_film import check_film, write_film
    from halfway.scenario.reading import read_scenario

    check_film(out)
    changed = assignments(changes, "--set") | ({} if seed is None else {"seed": str(seed)})
    chosen = named(system) if system else None
    read = read_scenario(scenario, changed)
    with spinner("running (the first run of a system compiles it)"):
        replay = replay_of_scenario(read, chosen)
    with spinner("drawing"):
        count = write_film(replay, out, event=event, seconds=seconds)
    typer.echo(f"wrote {out}: {count} pictures of event {event} in {replay.system}")
