"""Set up the project in .venv from requirements.lock. Run by make, or: `python3 tools/setup.py`.

Standard library only, and no syntax newer than Python 3.6, so that an old Python can run this file
and report that it is too old. Every error is one line, with exit status 2.
"""

import hashlib
import os
import re
import shutil
import sys
import time
from pathlib import Path

from setup_steps import (
    LOG,
    MEANINGS,
    PYTHON,
    ROOT,
    SCRATCH,
    VENV,
    fail,
    follow,
    output_of,
    printed,
    say,
)

try:
    import fcntl
except ImportError:
    sys.exit("error: Halfway runs on Linux and macOS; on Windows, inside WSL")

NEEDED = (3, 11)
# Versions with a wheel for every package of the lock come first; python3 may be any version.
CANDIDATES = ("python3.13", "python3.12", "python3.11", "python3")
READY = VENV / "halfway-ready"  # the inputs of the finished environment
UNFINISHED = VENV / "halfway-unfinished"  # exists from the first step to the last
NEEDED_GB = 4
# Imports every module of the package, so that Python writes the bytecode of all that they import.
IMPORT_ALL = """
import importlib, pkgutil
import halfway
for module in pkgutil.walk_packages(halfway.__path__, "halfway."):
    importlib.import_module(module.name)
"""
UV_NAMES = {  # options of pip, and the variables of uv with the same meaning
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "no-index": "UV_NO_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "proxy": "ALL_PROXY",
}
PROBE = """
import sys
try:
    import venv, ensurepip
    tools = "complete"
except ImportError:
    tools = "bare"
print("halfway %d %d %d" % sys.version_info[:3], tools)
"""


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


def uv_variables(pip):
    """Return pip's configuration of package indexes as variables of uv."""
    found = re.findall(r"^(\S+)\.([\w-]+)='(.*)'$", printed([*pip, "config", "list"]), re.MULTILINE)
    variables = {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # as pip; the lock has hashes
    for origin in ("global", "install", ":env:"):  # the last one counts most
        for section, option, value in found:
            if section == origin and option in UV_NAMES:
                separator = "," if option == "find-links" else " "
                variables[UV_NAMES[option]] = separator.join(value.split())
    return variables


def install_locked(pip):
    """Install the locked packages with uv, or with pip if uv fails: not every machine lets uv run
    and load packages. uv takes half the time, and a second once its cache has the packages.
    """
    lock = ROOT / "requirements.lock"
    hashed = ["install", "--no-deps", "--require-hashes", "-r"]
    failure = "the locked packages could not be installed"
    only = SCRATCH / "uv.txt"
    only.write_text(re.search(r"^uv==.*(?:\n .*)*", lock.read_text(), re.MULTILINE).group() + "\n")
    follow([*pip, *hashed, only], failure)
    uv = [VENV / "bin" / "uv", "pip", *hashed, lock, "--python", PYTHON]
    try:
        status, _ = output_of(uv, uv_variables(pip))
    except OSError:
        status = 1
    if status != 0:
        say("uv failed, so pip installs the packages, which takes longer.")
        # Most modules of the lock are never imported, so none is compiled here.
        follow([*pip, *hashed, lock, "--progress-bar", "off", "--no-compile"], failure)


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
    install_locked(pip)
    own = [*pip, "install", "--no-deps", "--no-build-isolation", "--no-compile", "-e", ROOT]
    follow(own, "Halfway itself could not be installed", MEANINGS[:1])
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
