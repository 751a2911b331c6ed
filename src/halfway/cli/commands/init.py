"""`halfway init`: a first scenario from a user's network or movement file."""

from pathlib import Path

import typer

from halfway.cli.terminal import options
from halfway.cli.terminal.screen import spinner
from halfway.problem import Problem


def init(
    network: options.InitFile,
    positions: options.InitPositions = None,
    out: options.InitOut = Path("scenario.toml"),
) -> None:
    """Write a first scenario for your file of links or of movement.

    \b
    The command guesses the columns of a table: the ends of a link, the link quality
    and its scale. It prints each guess. It chooses a threshold of the quality that
    keeps at least 90 % of the connected nodes. The scenario has comments, and
    `halfway compare` can run it at once. An existing file is never replaced.
    The command also writes halfway.schema.json, with which editors complete fields.

    \b
    halfway init links.csv positions.csv
    halfway init mesh.graphml -o mesh.toml
    halfway init tracks.csv -o fleet.toml      columns node, t_s, x_m, y_m
    """
    if out.exists():
        what = "the file exists, and is not replaced"
        raise Problem(what, where=str(out), remedy="choose another file with -o")
    with spinner("reading the file"):
        from halfway.files import write_whole
        from halfway.scenario.json_schema import NAME, json_schema
        from halfway.scenario.starter import starter

        found = starter(network, positions, out)
    write_whole(out, found.text)
    if not (beside := out.parent / NAME).exists():
        write_whole(beside, json_schema())
    for guess in found.guesses:
        typer.echo(f"guess: {guess}")
    typer.echo(f"wrote {out} ({found.size}): edit it, then run `halfway check {out}`")
