"""Set up the project in .venv from requirements.lock. Run by make, or: `python3 tools/setup.py`.

Standard library only, and no syntax newer than Python 3.6, so that an old Python can run this file
and report that it is too old. Every error is one line, with exit status 2.
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
# Versions with a wheel for every package of the lock come first; python3 may be any version.
CANDIDATES = ("python3.13", "python3.12", "python3.11", "python3")
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
READY = VENV / "halfway-ready"  # the inputs of the finished environment
UNFINISHED = VENV / "halfway-unfinished"  # exists from the first step to the last
SCRATCH = VENV / "tmp"  # for pip to unpack, as /tmp is often a small disk in memory
LOG = ROOT / "build" / "setup.log"
NEEDED_GB = 4
NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
# Imports every module of the package, so that Python writes the bytecode of all that they import.
IMPORT_ALL = """
import importlib, pkgutil
import halfway
for module in pkgutil.walk_packages(halfway.__path__, "halfway."):
    importlib.import_module(module.name)
"""
PROBE = """
import sys
try:
    import venv, ensurepip
    tools = "complete"
except ImportError:
    tools = "bare"
print("halfway %d %d %d" % sys.version_info[:3], tools)
"""
# Messages of pip, and their meaning in plain words.
MEANINGS = (
    (r"No space left|Errno 28|quota exceeded", "the disk is full"),
    (r"DO NOT MATCH THE HASHES", "a download is not the file that requirements.lock names"),
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


def probed(name):
    """Return a Python as (path, version, whether it can make environments), or None."""
    path = shutil.which(str(name))
    text = printed([path, "-c", PROBE]) if path else ""
    found = re.search(r"halfway (\d+) (\d+) (\d+) (\w+)", text)
    if not found:
        return None
    return path, tuple(int(part) for part in found.groups()[:3]), found.group(4) == "complete"


def chosen_python():
    """Return the first Python that is new enough; preferably one that can make environments."""
    asked = os.environ.get("PYTHON")
    found = [python for python in map(probed, [asked] if asked else CANDIDATES) if python]
    fitting = [python for python in found if python[1] >= NEEDED]
    if fitting:
        return sorted(fitting, key=lambda python: not python[2])[0]
    wanted = "Halfway needs Python {}.{} or newer".format(*NEEDED)
    remedy = "install one, or set PYTHON=/path/to/python3.12"
    if not found:
        there = f"PYTHON={asked} does not run" if asked else "found none"
        return fail(f"{wanted} and {there}: {remedy}")
    path, version, _ = found[-1]
    return fail("{}, and {} is {}.{}.{}: {}".format(wanted, path, *version, remedy))


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
        fail(f"{meaning} ({LOG.relative_to(ROOT)} has the details; fix it and run again)")


def uv_variables(pip):
    """Return pip's settings of package index and certificates as variables of uv."""
    pattern = r"^\S+\.(index-url|cert)='(.*)'$"
    settings = re.findall(pattern, printed([*pip, "config", "list"]), re.MULTILINE)
    names = {"index-url": "UV_DEFAULT_INDEX", "cert": "SSL_CERT_FILE"}
    return {names[option]: value for option, value in settings}


def installed_by_uv(pip):
    """Install the locked packages with uv; return whether that worked.

    Where pip takes a minute, uv takes a third: it unpacks on all cores, and copies no file twice.
    But uv reads no configuration of pip, so not every machine has all that uv needs.
    """
    lock = ROOT / "requirements.lock"
    block = re.search(r"^uv==.*(?:\n .*)*", lock.read_text(), re.MULTILINE)
    only = SCRATCH / "uv.txt"
    only.write_text(block.group(0) + "\n")
    install = [*pip, "install", "--quiet", "--no-deps", "--require-hashes", "-r", only]
    if output_of(install)[0] != 0:
        return False
    uv = [VENV / "bin" / "uv", "pip", "install", "--python", PYTHON, "--require-hashes"]
    return output_of([*uv, "-r", lock], uv_variables(pip))[0] == 0


def way_to_pip(python):
    """Return the command with which this Python makes .venv, and the command of its pip."""
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
    """Create an empty .venv, marked as unfinished; return the command of its pip."""
    python = chosen_python()
    make, pip = way_to_pip(python)
    free = shutil.disk_usage(str(ROOT)).free / 1e9
    if free < NEEDED_GB:
        fail(f"the disk is too full: {free:.1f} GB free at {ROOT}, set-up takes {NEEDED_GB}")
    version = ".".join(map(str, python[1]))
    say(f"Setting up .venv with Python {version}; the first time takes a minute or two.")
    VENV.mkdir()
    UNFINISHED.touch()
    follow(make, "the environment could not be made")
    return pip


def usable():
    """Return the command of an existing .venv's pip, or None if there is no usable .venv.

    An environment that was not made by this script is used if it works, and never removed.
    """
    if not VENV.is_dir():
        return None
    python = probed(PYTHON)
    works = bool(python and python[1] >= NEEDED and printed([PYTHON, "-m", "pip", "--version"]))
    own = READY.exists() or UNFINISHED.exists()
    here = not READY.exists() or READY.read_text().startswith(str(ROOT) + "\n")
    if works and here and not UNFINISHED.exists():
        say("Updating .venv from requirements.lock.")
        return [PYTHON, "-m", "pip"]
    if not own:
        fail(".venv is not a working environment of a suitable Python: remove it (rm -r .venv)")
    say("An earlier set-up was interrupted, or its Python or folder has moved: starting over.")
    shutil.rmtree(str(VENV))
    return None


def wanted_state():
    """Return the inputs of a finished .venv: its folder, the lock, the project file."""
    digest = hashlib.sha256()
    for name in ("requirements.lock", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return f"{ROOT}\n{digest.hexdigest()}\n"


def set_up():
    """Bring .venv to the state of the lock; return at once if it has that state."""
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
    # Most modules of the lock are never imported: only those that Halfway imports are compiled.
    install = [*pip, "install", "--progress-bar", "off", "--no-compile"]
    if not installed_by_uv(pip):
        lock = ["--require-hashes", "-r", ROOT / "requirements.lock"]
        follow(install + lock, "the locked packages could not be installed")
    own = ["--no-deps", "--no-build-isolation", "-e", ROOT]
    follow(install + own, "Halfway itself could not be installed", MEANINGS[:1])
    follow([PYTHON, "-c", IMPORT_ALL], "Halfway cannot be imported", MEANINGS[:1])
    shutil.rmtree(str(SCRATCH), ignore_errors=True)
    READY.write_text(wanted)
    if UNFINISHED.exists():
        UNFINISHED.unlink()
    say(f"Ready after {time.monotonic() - since:.0f} s.")


def main():
    """Run one set-up at a time in a folder: a second one waits, and finds the work done."""
    with Path(__file__).open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("Another set-up is running in this folder: waiting for it.")
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            set_up()
        except KeyboardInterrupt:
            fail("interrupted; the next set-up starts over")
        except OSError as error:
            fail(f"{error.filename or ROOT}: {error.strerror or error}")


if __name__ == "__main__":
    main()
