"""`halfway init`: a first scenario from a user's network or movement file."""

from importlib.resources import files
from pathlib import Path

import typer

from halfway.cli.terminal import options
from halfway.cli.terminal.screen import spinner
from halfway.files import write_whole
from halfway.problem import Problem


def init(
    network: options.InitFile = None,
    positions: options.InitPositions = None,
    out: options.InitOut = Path("scenario.toml"),
    example: options.InitExample = False,
) -> None:
    """Write a first scenario for your file of links, or for your file of movement.

    \b
    In a table of links, the command guesses the two columns with the ends of a link, the
    column with the link quality, and the scale of the quality. It chooses a threshold for
    the quality, so that at least 90 % of the connected nodes stay connected. It prints
    each guess, and what the scenario does not use of the file. The new scenario has
    comments, and `halfway compare` can run it at once. The command never replaces an
    existing scenario. It also writes halfway.schema.json, so that editors can complete the
    fields of the scenario.

    \b
    halfway init links.csv positions.csv
    halfway init mesh.graphml -o mesh.toml
    halfway init tracks.csv -o fleet.toml      the table has columns node, t_s, x_m, y_m
    halfway init --example -o field.toml       writes a small example, and needs no file of yours
    """
    if out.exists():
        what = "the file already exists, and Halfway does not replace it"
        raise Problem(what, where=str(out), remedy="choose another file with -o")
    if (network is None) != example:
        remedy = "name one file, or write --example alone"
        presence = "both are given" if example else "neither is given"
        raise Problem(f"NETWORK, --example: {presence}: expected exactly one", remedy=remedy)
    from halfway.scenario.json_schema import NAME, json_schema

    text, size = _example() if network is None else _first(network, positions, out)
    write_whole(out, text)
    if not (beside := out.parent / NAME).exists():
        write_whole(beside, json_schema())
    typer.echo(f"wrote {out} ({size}): edit it, then run `halfway check {out}`")


def _example() -> tuple[str, str]:
    """Return an example scenario that comes with Halfway, and its description."""
    return files("halfway.scenario").joinpath("example.toml").read_text("utf-8"), "a small field"


def _first(network: Path, positions: Path | None, out: Path) -> tuple[str, str]:
    """Return the first scenario of a user's file, and its size; print the guesses and the notes of
    `halfway init`.
    """
    from halfway.scenario.starter import starter

    with spinner("reading the file"):
        text = starter(network, positions, out)
    for guess in text.guesses:
        typer.echo(f"guess: {guess}")
    for note in text.notes:
        typer.echo(f"note: {note}")
    return text.text, text.size
