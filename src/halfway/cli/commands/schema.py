"""`halfway schema`: the JSON schema of the scenario file, for editors."""

import sys

import typer

from halfway.cli.terminal.options import SchemaOut
from halfway.files import write_whole


def schema(out: SchemaOut = None) -> None:
    """Print the JSON schema of the scenario file, or write it to a file for an editor.

    \b
    With the schema, an editor completes the fields of a scenario, shows their
    meanings, and marks errors. The editor needs a TOML language server: Even Better
    TOML in VS Code, or taplo in other editors. The first line of the scenario must
    name the file with the schema:
      #:schema ./halfway.schema.json

    \b
    halfway schema -o halfway.schema.json
    """
    from halfway.scenario.json_schema import json_schema

    text = json_schema()
    if out is None:
        sys.stdout.write(text)
        return
    write_whole(out, text)
    typer.echo(f"wrote {out}: begin a scenario with the line `#:schema ./{out.name}`")
