"""`halfway doctor`: what this machine has for Halfway, and what to do."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from halfway.cli.live import node_options, requirements
from halfway.cli.terminal.options import AsJson
from halfway.cli.terminal.screen import RUNS_FAILED

if TYPE_CHECKING:
    from halfway.live.doctor.finding import Finding

_MARKS = {"ok": "✓", "note": "·", "failed": "✗"}


def doctor(
    certificate: node_options.CertificateFile = None,
    key: node_options.PrivateKeyFile = None,
    state: node_options.State = None,
    as_json: AsJson = False,
) -> None:
    """Check whether this machine has what Halfway needs, and print a remedy for each problem.

    \b
    ✓  The part works.
    ·  An optional part is missing. The next line states how to add the part.
    ✗  Halfway does not work on this machine. The next line states what to do.
    Exit status: 1 if a line has ✗, 0 if not.

    \b
    halfway doctor
    halfway doctor --certificate kitchen.cert --key kitchen.key --state state
    halfway doctor --json | jq 'select(.state != "ok")'
    """
    failed = False
    for finding in _findings(certificate, key, state):
        failed |= finding.state == "failed"
        if as_json:
            typer.echo(json.dumps(finding._asdict()))
            continue
        typer.echo(f"{_MARKS[finding.state]} {finding.name:14} {finding.found}")
        if finding.do:
            typer.echo(f"  {'':14} → {finding.do}")
    if failed:
        raise typer.Exit(RUNS_FAILED)


def _findings(
    certificate: node_options.CertificateFile,
    key: node_options.PrivateKeyFile,
    state: node_options.State,
) -> "Iterator[Finding]":
    """Yield the findings of `halfway doctor` one by one, packages first, as later checks import
    some.
    """
    from halfway.live.doctor.finding import finding_of

    yield finding_of("Python", requirements.python)
    packages = finding_of("packages", requirements.packages)
    yield packages
    for name in ("cores", "memory", "java", "spark"):
        yield finding_of(name, getattr(requirements, name))
    if packages.state == "failed":
        return
    from halfway.live.doctor import machine_checks, network_checks

    yield finding_of("compile cache", machine_checks.compile_cache)
    yield finding_of("sockets", network_checks.sockets)
    yield finding_of("multicast", network_checks.multicast)
    yield finding_of("namespaces", network_checks.namespaces)
    yield finding_of("commands", network_checks.control)
    yield finding_of("keys", lambda: machine_checks.keys(certificate, key))
    yield finding_of("clock", machine_checks.clock)
    yield finding_of("disk", lambda: machine_checks.disk(state))
