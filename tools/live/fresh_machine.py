"""Measure the first message on a machine without a compiler and without Java: `python -m
tools.live.fresh_machine`.

The program hides every compiler, assembler, linker and Java of this machine from itself and from
all that it starts, in a mount namespace of its own. There it installs a fresh clone with the locked
packages into a new virtual environment, starts three nodes with doors for MQTT clients and an empty
compile cache, and uses the clients of Mosquitto. It measures the time from the start of the nodes,
which is the end of the installation, to the first message. It needs Linux, the programs git,
unshare, mount, mosquitto_sub and mosquitto_pub, and the right to make a mount namespace.
"""

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent.parent
NEEDED = ("git", "unshare", "mount", "mosquitto_sub", "mosquitto_pub")
# The name of a program may have a target before it, and a version behind it.
HIDDEN = re.compile(
    r"(?:[\w.]+-)*(?:gcc|g\+\+|cc|c\+\+|c89|c99|cpp|cc1|cc1plus|collect2|lto1|clang|clang\+\+|tcc|icc"
    r"|nvcc|gfortran|rustc|llc|lld|as|llvm-as|llvm-mc|gold|ld(?:\.\w+)?"
    r"|java|javac|javaw|jar|jcmd|jps|jshell)(?:-[\d.]+)?"
)
KEPT = re.compile(r"ld\.so.*|ldd")  # the loader of programs, which is no linker
FOLDERS = ("lib/jvm", "lib/gcc", "lib/gcc-cross", "libexec/gcc", "lib/llvm-*", "local/cuda*")
PREFIXES = ("/usr", "/usr/local", "/opt", "/")
ASKED = ("gcc", "cc", "g++", "c++", "clang", "as", "ld", "java", "javac")
TOPIC, TEXT = "sensors/kitchen", "21.5"
LONGEST_S, POLL_S = 120.0, 0.1


def programs(*trees: Path) -> set[Path]:
    """Return the compilers, assemblers, linkers and Javas in the folders of programs of this
    machine, and below further folders.
    """
    folders = {Path(one) for one in os.get_exec_path()}
    folders |= {Path(prefix, name) for prefix in PREFIXES for name in ("bin", "sbin")}
    paths = [path for folder in folders if folder.is_dir() for path in folder.iterdir()]
    for tree in trees:
        paths += [Path(at, name) for at, _, names in os.walk(tree) for name in names]
    found = {path.resolve() for path in paths if is_hidden(path.name) and os.access(path, os.X_OK)}
    return {path for path in found if path.is_file()}


def is_hidden(name: str) -> bool:
    """Return whether a program with this name is hidden."""
    return bool(HIDDEN.fullmatch(name)) and not KEPT.fullmatch(name)


def hide(paths: set[Path], work: Path) -> None:
    """Put an empty file without the right to run over each file, and an empty folder over each
    folder.
    """
    file, folder = work / "hidden", work / "hidden-folder"
    file.touch(mode=0o444)
    folder.mkdir(exist_ok=True)
    for path in sorted(paths):
        if path.exists():  # not below a folder that is hidden already
            over = folder if path.is_dir() else file
            subprocess.run(["mount", "--bind", over, path], check=True)


def still_there() -> list[str]:
    """Return the programs that should be hidden, and still run."""
    found = [name for name in ASKED if shutil.which(name)]
    return found + [str(path) for path in programs()]


def hide_all(work: Path) -> int:
    """Hide all compilers and Javas of this machine; return how many files and folders."""
    folders = {
        path.resolve()
        for prefix in PREFIXES
        for name in FOLDERS
        for path in Path(prefix).glob(name)
        if path.is_dir()
    }
    files = programs()
    hide(folders, work)
    hide({path for path in files if path.exists()}, work)
    if left := still_there():
        sys.exit(f"error: not hidden: {', '.join(left)}")
    return len(folders) + len(files)


def environment(work: Path, **more: str) -> dict[str, str]:
    """Return this environment without the variables that name a compiler, Java or Python."""
    other = re.compile(r"PYTHON|JDK|JRE|SPARK|CC|CXX|.*JAVA")
    kept = {name: value for name, value in os.environ.items() if not other.match(name)}
    return {**kept, "HOME": str(work), **more}


def installed(work: Path, python: str) -> Path:
    """Install a fresh clone into a new environment with the locked packages; return the folder of
    its programs.
    """
    clone, venv = work / "clone", work / "venv"
    pip = [venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in (
        ["git", "clone", "--quiet", ROOT, clone],
        [python, "-m", "venv", venv],
        [*pip, "--require-hashes", "-r", clone / "requirements.lock"],
        [*pip, "--no-deps", clone],
    ):
        subprocess.run(command, env=environment(work), cwd=work, check=True)
    hide(programs(venv), work)  # a package may bring a Java
    return venv / "bin"


def free_ports(count: int) -> list[int]:
    """Return TCP ports of loopback that are free now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in sockets]


@contextmanager
def running(
    command: list[str | Path], around: Mapping[str, str], folder: Path, log: TextIO
) -> Iterator[None]:
    """Run a program in a folder until the end of the block."""
    process = subprocess.Popen(
        command, env=around, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def first_message(bin_folder: Path, work: Path, run: int) -> float:
    """Start three nodes with an empty compile cache, subscribe at one and publish at another;
    return the seconds from the start of the nodes to the message.
    """
    own = work / f"run-{run}"
    own.mkdir()
    around = environment(work, XDG_CACHE_HOME=str(own / "cache"), HALFWAY_RUN=str(own / "sockets"))
    ports = free_ports(3)
    with ExitStack() as stack:
        begun = time.monotonic()
        for name, port in zip(("hall", "attic", "cellar"), ports, strict=True):
            command = [bin_folder / "halfway", "node", "--name", name, "--mqtt", str(port)]
            command += ["--network", f"fresh-{os.getpid()}-{run}", "--state", own / name]
            log = stack.enter_context((own / f"{name}.log").open("w"))
            stack.enter_context(running(command, around, own, log))
        wait_for_message(ports, begun, around)
        return time.monotonic() - begun


def wait_for_message(ports: list[int], begun: float, around: Mapping[str, str]) -> None:
    """Subscribe at one node and publish at another as a person would, who repeats both commands
    until the message arrives.
    """
    subscribe = f"mosquitto_sub -p {ports[1]} -t sensors/# -v -q 1 -C 1".split()
    publish = f"mosquitto_pub -p {ports[0]} -t {TOPIC} -m {TEXT} -q 1".split()
    quiet = subprocess.DEVNULL
    received = ""
    while received != f"{TOPIC} {TEXT}\n":
        with subprocess.Popen(
            subscribe, env=around, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, text=True
        ) as reader:
            while reader.poll() is None:
                if time.monotonic() - begun > LONGEST_S:
                    reader.kill()
                    sys.exit(f"error: no message within {LONGEST_S:.0f} s")
                subprocess.run(publish, check=False, env=around, stdin=quiet, stderr=quiet)
                time.sleep(POLL_S)
            received = "" if reader.stdout is None else reader.stdout.read()


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def measured(work: Path, python: str, runs: int) -> None:
    """Hide, install and measure, in the mount namespace of this process."""
    say(f"hidden: {hide_all(work)} files and folders; {', '.join(ASKED)} are gone")
    begun = time.monotonic()
    bin_folder = installed(work, python)
    say(f"installed in {time.monotonic() - begun:.0f} s")
    for run in range(1, runs + 1):
        load = os.getloadavg()[0]
        seconds = first_message(bin_folder, work, run)
        say(f"run {run}: first message after {seconds:.1f} s (load average {load:.0f})")
    if left := still_there():
        sys.exit(f"error: no longer hidden: {', '.join(left)}")


def main() -> None:
    """Start this program again in a mount namespace, and measure there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="starts of three nodes (default 3)")
    parser.add_argument("--python", default=sys.executable, help="Python of the new environment")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside is not None:
        measured(given.inside, given.python, given.runs)
        return
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        sys.exit(f"error: not installed: {', '.join(missing)}")
    namespace = ["unshare", "--mount", "--propagation", "private"]
    namespace += [] if os.geteuid() == 0 else ["--map-root-user"]
    with tempfile.TemporaryDirectory(prefix="halfway-fresh-") as work:
        again = [sys.executable, "-m", "tools.live.fresh_machine", "--inside", work]
        again += ["--runs", str(given.runs), "--python", given.python]
        sys.exit(subprocess.run([*namespace, *again], cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
