"""The steps of the set-up: commands whose output goes to a log, their progress, and their errors.

Standard library only, and no syntax newer than Python 3.6, as in `tools/setup.py`.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
SCRATCH = VENV / "tmp"  # for pip to unpack, as /tmp is often a small disk in memory
LOG = ROOT / "build" / "setup.log"
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
# Messages of pip, and their meaning in plain words.
MEANINGS = (
    (r"No space left|Errno 28|quota exceeded", "the disk is full"),
    (
        r"DO NOT MATCH THE HASHES",
        "a download is not the file that requirements.lock names (cut short, or changed)",
    ),
    (
        r"SSL module is not available|No module named '?_ssl",
        "this Python was built without TLS and cannot download: set PYTHON to another",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError",
        "the package index's certificate is not trusted: set PIP_CERT to your proxy's certificate",
    ),
    (
        r"NewConnectionError|NameResolutionError|Temporary failure in name|Connect(ion)?Timeout"
        r"|Read(Timeout| timed out)|Network is unreachable|ProxyError|RemoteDisconnected"
        r"|Connection (refused|reset|aborted|broken)|No matching distribution found",
        "packages could not be downloaded: check the network and its proxy",
    ),
    (
        r"Failed building wheel|Failed to build|metadata-generation-failed",
        "a package has no wheel for this Python: use another, PYTHON=python3.13",
    ),
)


def say(line):
    """Print a line of the set-up at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def fail(line):
    """Print an error of the set-up with its remedy in one line, and exit with status 2."""
    sys.stderr.write("error: " + line + "\n")
    sys.exit(2)


def environment():
    """Return the caller's environment without variables that redirect Python or pip, or that keep
    Python from writing bytecode.
    """
    left_out = ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", NO_BYTECODE)
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    kept.update(PYTHONUNBUFFERED="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
    if SCRATCH.is_dir():
        kept["TMPDIR"] = str(SCRATCH)
    return kept


def started(command, variables=()):
    """Start a command of the set-up without input, with both its streams in one pipe."""
    return subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(environment(), **dict(variables)),
    )


def printed(command):
    """Return the output of a command of the set-up; empty if it cannot start or fails."""
    try:
        process = started(command)
    except OSError:
        return ""
    text = process.communicate()[0].decode("utf-8", "replace")
    return text if process.returncode == 0 else ""


def show_progress(line):
    """Show the progress of pip or uv in one line of a terminal; an empty line removes it."""
    if not sys.stdout.isatty():
        return
    downloading = re.match(r"(?:Collecting| *Downloading) ([\w.-]+)", line)
    if downloading:
        sys.stdout.write("\r\033[K  downloading " + downloading.group(1))
    elif re.match(r"Building wheels|Installing collected|Prepared", line):
        sys.stdout.write("\r\033[K  unpacking")
    elif not line:
        sys.stdout.write("\r\033[K")
    sys.stdout.flush()


def output_of(command, variables=()):
    """Run one step of the set-up with its output in the log; show its progress; return its exit
    status and the end of its output.
    """
    tail = ""
    process = started(command, variables)
    try:
        with LOG.open("ab") as log:
            for raw in process.stdout:
                log.write(raw)
                line = raw.decode("utf-8", "replace")
                tail = (tail + line)[-20000:]
                show_progress(line)
    except BaseException:
        process.terminate()  # an orphan would still write while the next set-up deletes files
        process.wait()
        raise
    finally:
        show_progress("")
    return process.wait(), tail


def follow(command, doing, meanings=MEANINGS):
    """Run one step of the set-up; if it fails, print why in one line, and exit."""
    status, tail = output_of(command)
    if status != 0:
        shutil.rmtree(str(SCRATCH), ignore_errors=True)
        meaning = next((text for pattern, text in meanings if re.search(pattern, tail)), doing)
        log = os.path.relpath(str(LOG), str(ROOT))
        fail(f"{meaning} ({log} has the details; fix it and run again)")
