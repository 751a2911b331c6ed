"""`halfway journal`: the journal of a node, read without changing it."""

import json
from pathlib import Path
from typing import Annotated

import typer

from halfway.cli.terminal.options import AsJson
from halfway.cli.terminal.screen import RUNS_FAILED

JournalFolder = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="Folder of a journal, such as state/journal.")
]

journal = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")


@journal.callback()
def _journal() -> None:
    """Check the journal of a node for damaged records.

    \b
    halfway journal check state/journal
    """


@journal.command()
def check(folder: JournalFolder, as_json: AsJson = False) -> None:
    """Check every record of a journal against its checksum, without changing the journal.

    \b
    A torn tail is the first part of a record that the node could not finish, for example
    because of a loss of power. The node never acknowledged this record, and removes the torn
    tail at its next start. A bad record was damaged after the node wrote it. The node skips
    bad records.
    Exit status: 0 if no record is bad, 1 if a record is bad.

    \b
    halfway journal check state/journal
    halfway journal check state/journal --json
    """
    from halfway.live.journal.journal_check import check_segments

    segments = check_segments(folder)
    for segment in segments:
        if as_json:
            typer.echo(json.dumps(segment._asdict()))
        else:
            line = f"{segment.segment}: {segment.records} records, {segment.bytes} bytes"
            tail = f", torn tail of {segment.torn_bytes} bytes" if segment.torn_bytes else ""
            old = ", replaced by a later snapshot" if segment.replaced else ""
            typer.echo(line + tail + old)
            for place in segment.bad:
                typer.echo(f"  bad: {place}")
    if any(segment.bad for segment in segments):
        raise typer.Exit(RUNS_FAILED)
