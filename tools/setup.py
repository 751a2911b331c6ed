"""Set the project up in .venv, from the lock; make starts it, or by hand: `python3 tools/setup.py`.

Standard library only, and no syntax newer than Python 3.6: a Python that is too old must be able to
read this file in order to say so. Whatever goes wrong ends in one line and status 2.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

try:
    import fcntl
except ImportError:
    sys.exit("error: Halfway runs on Linux and macOS; on Windows, inside WSL")

NEEDED = (3, 11)
# Those with a ready-made package for everything in the lock come first; python3 may be anything.
CANDIDATES = ("python3.13", "python3.12", "python3.11", "python3")
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
READY = VENV / "halfway-ready"  # what the finished environment was made from
UNFINISHED = VENV / "halfway-unfinished"  # there from the first step to the last
SCRATCH = VENV / "tmp"  # pip unpacks here: /tmp is often a small disk in memory
LOG = ROOT / "build" / "setup.log"
NEEDED_GB = 4
PROBE = """
import sys
try:
    import venv, ensurepip
    tools = "complete"
except ImportError:
    tools = "bare"
print("halfway %d %d %d" % sys.version_info[:3], tools)
"""
# What pip says, and what it means to somebody who only wanted the demo.
MEANINGS = (
    (r"No space left|Errno 28|quota exceeded", "the disk is full"),
    (
        r"DO NOT MATCH THE HASHES",
        "a download is not the file that requirements.lock names (cut short, or changed)",
    ),
    (
        r"SSL module is not available|No module named '?_ssl",
        "this Python was built without TLS and cannot download: name another, PYTHON=...",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError",
        "the package index's certificate is not trusted: tell pip the one of your proxy, PIP_CERT",
    ),
    (
        r"NewConnectionError|NameResolutionError|Temporary failure in name|Connect(ion)?Timeout"
        r"|Read(Timeout| timed out)|Network is unreachable|ProxyError|RemoteDisconnected"
        r"|Connection (refused|reset|aborted|broken)|No matching distribution found",
        "packages could not be downloaded: is there a network, and does it let pip through?",
    ),
    (
        r"Failed building wheel|Failed to build|metadata-generation-failed",
        "a package has nothing ready-made for this Python: name another, PYTHON=python3.13",
    ),
)


def say(line):
    """One line for the reader, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def fail(line):
    """One line that says what is wrong and what mends it."""
    sys.stderr.write("error: " + line + "\n")
    sys.exit(2)


def environment():
    """The caller's environment without what leads Python or pip elsewhere."""
    elsewhere = ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX")
    kept = {name: value for name, value in os.environ.items() if name not in elsewhere}
    kept.update(PYTHONUNBUFFERED="1", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_NO_INPUT="1")
    if SCRATCH.is_dir():
        kept["TMPDIR"] = str(SCRATCH)
    return kept


def started(command):
    """A process that reads nothing and prints both its streams into one pipe."""
    return subprocess.Popen(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment(),
    )


def printed(command):
    """What a command prints, or nothing if it cannot start or fails."""
    try:
        process = started(command)
    except OSError:
        return ""
    text = process.communicate()[0].decode("utf-8", "replace")
    return text if process.returncode == 0 else ""


def probed(name):
    """A Python as (path, version, whether it can make environments), or None if it is none."""
    path = shutil.which(str(name))
    text = printed([path, "-c", PROBE]) if path else ""
    found = re.search(r"halfway (\d+) (\d+) (\d+) (\w+)", text)
    if not found:
        return None
    return path, tuple(int(part) for part in found.groups()[:3]), found.group(4) == "complete"


def chosen_python():
    """The first that is new enough; one that can make environments before one that cannot."""
    asked = os.environ.get("PYTHON")
    found = [python for python in map(probed, [asked] if asked else CANDIDATES) if python]
    fitting = [python for python in found if python[1] >= NEEDED]
    if fitting:
        return sorted(fitting, key=lambda python: not python[2])[0]
    wanted = "Halfway needs Python {}.{} or newer".format(*NEEDED)
    remedy = "install one, or name one: PYTHON=/path/to/python3.12"
    if not found:
        there = f"PYTHON={asked} is none that runs" if asked else "found none"
        return fail(f"{wanted} and {there}: {remedy}")
    path, version, _ = found[-1]
    return fail("{}, and {} is {}.{}.{}: {}".format(wanted, path, *version, remedy))


def show_progress(line):
    """On a terminal, one line that changes with what pip says; an empty one takes it away."""
    if not sys.stdout.isatty():
        return
    downloading = re.match(r"Collecting ([\w.-]+)", line)
    if downloading:
        sys.stdout.write("\r\033[K  downloading " + downloading.group(1))
    elif re.match(r"Building wheels|Installing collected", line):
        sys.stdout.write("\r\033[K  unpacking")
    elif not line:
        sys.stdout.write("\r\033[K")
    sys.stdout.flush()


def follow(command, doing, meanings=MEANINGS):
    """Run one step into the log, with a changing line on a terminal; fail in one line."""
    tail = ""
    process = started(command)
    try:
        with LOG.open("ab") as log:
            for raw in process.stdout:
                log.write(raw)
                line = raw.decode("utf-8", "replace")
                tail = (tail + line)[-20000:]
                show_progress(line)
    except BaseException:
        process.terminate()  # an orphan would go on writing while the next set-up clears away
        process.wait()
        raise
    finally:
        show_progress("")
    if process.wait() != 0:
        shutil.rmtree(str(SCRATCH), ignore_errors=True)
        meaning = next((text for pattern, text in meanings if re.search(pattern, tail)), doing)
        fail(f"{meaning} ({LOG.relative_to(ROOT)} has the details; run again once it is mended)")


def way_to_pip(python):
    """How this Python makes an environment: the command for it, and the one that is its pip."""
    path, version, complete = python
    inside = [PYTHON, "-m", "pip"]
    if complete:
        return [path, "-m", "venv", VENV], inside
    if shutil.which("virtualenv"):
        return ["virtualenv", "--python", path, VENV], inside
    outside = printed([path, "-m", "pip", "--help"])  # pip 22.3 and later can install elsewhere
    if "--python" in outside and printed([path, "-m", "venv", "--help"]):
        return [path, "-m", "venv", "--without-pip", VENV], [path, "-m", "pip", "--python", PYTHON]
    return fail(
        "{} has no ensurepip, so it cannot make an environment: install it "
        "(Debian, Ubuntu: apt install python{}.{}-venv)".format(path, *version)
    )


def made_anew():
    """An empty .venv under the mark of the unfinished; returns the command that is its pip."""
    python = chosen_python()
    make, pip = way_to_pip(python)
    free = shutil.disk_usage(str(ROOT)).free / 1e9
    if free < NEEDED_GB:
        fail(f"the disk is too full: {free:.1f} GB free at {ROOT}, set-up takes {NEEDED_GB}")
    version = ".".join(map(str, python[1]))
    say(f"Setting up .venv with Python {version}; the first time takes a few minutes.")
    VENV.mkdir()
    UNFINISHED.touch()
    follow(make, "the environment could not be made")
    return pip


def usable():
    """The pip of the .venv that is there, or None if there is nothing to build on.

    An environment that somebody else made is built on if it can be, and never removed.
    """
    if not VENV.is_dir():
        return None
    python = probed(PYTHON)
    works = bool(python and python[1] >= NEEDED and printed([PYTHON, "-m", "pip", "--version"]))
    ours = READY.exists() or UNFINISHED.exists()
    here = not READY.exists() or READY.read_text().startswith(str(ROOT) + "\n")
    if works and here and not UNFINISHED.exists():
        say("Bringing .venv up to date with the lock.")
        return [PYTHON, "-m", "pip"]
    if not ours:
        fail(".venv is no working environment of a fitting Python: remove it (rm -r .venv) first")
    say("An earlier set-up was cut short, or its Python or folder is gone: starting over.")
    shutil.rmtree(str(VENV))
    return None


def wanted_state():
    """What a finished environment was made from: where it stands, the lock, the project file."""
    digest = hashlib.sha256()
    for name in ("requirements.lock", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return f"{ROOT}\n{digest.hexdigest()}\n"


def set_up():
    """Make .venv what the lock says, or do nothing at once if it already is."""
    wanted = wanted_state()
    if READY.exists() and READY.read_text() == wanted and os.access(str(PYTHON), os.X_OK):
        return
    since = time.monotonic()
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_bytes(b"")
    pip = usable() or made_anew()
    if READY.exists():
        READY.replace(UNFINISHED)
    SCRATCH.mkdir(exist_ok=True)
    install = [*pip, "install", "--progress-bar", "off"]
    lock = ["--require-hashes", "-r", ROOT / "requirements.lock"]
    follow(install + lock, "the locked packages could not be installed")
    own = ["--no-deps", "--no-build-isolation", "-e", ROOT]
    follow(install + own, "Halfway itself could not be installed", MEANINGS[:1])
    shutil.rmtree(str(SCRATCH), ignore_errors=True)
    READY.write_text(wanted)
    if UNFINISHED.exists():
        UNFINISHED.unlink()
    say(f"Ready after {time.monotonic() - since:.0f} s.")


def main():
    """One set-up at a time in one folder: a second one waits, and finds the work done."""
    with Path(__file__).open() as door:
        try:
            fcntl.flock(door, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("Another set-up is running here: waiting for it.")
            fcntl.flock(door, fcntl.LOCK_EX)
        try:
            set_up()
        except KeyboardInterrupt:
            fail("interrupted; the next set-up starts over")
        except OSError as error:
            fail(f"{error.filename or ROOT}: {error.strerror or error}")


if __name__ == "__main__":
    main()
