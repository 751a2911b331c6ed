"""Check that a sweep works without an installed Java: hide it from PATH and environment."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FIGURE = "directional-walks/figure-6"
# macOS has stubs of these names that only offer to install Java; they are hidden as well.
HIDDEN = ("java", "javac", "javaw", "jcmd", "jps", "jar")


def without_java(farm: Path) -> dict[str, str]:
    """Return this environment without Java: its PATH has links to every other command."""
    for folder in os.get_exec_path():
        if not Path(folder).is_dir():
            continue
        for command in Path(folder).iterdir():
            link = farm / command.name
            if command.name not in HIDDEN and not os.path.lexists(link):
                link.symlink_to(command.absolute())
    kept = {name: value for name, value in os.environ.items() if "JAVA" not in name}
    for name in ("JDK_HOME", "JRE_HOME", "SPARK_HOME"):
        kept.pop(name, None)
    # No process in the background makes an archive of classes after the sweep.
    return {**kept, "PATH": str(farm), "HALFWAY_CLASS_ARCHIVE": "use"}


def main() -> int:
    """Run the sweep with Java hidden, and count its verdicts; return 0 if there are any."""
    with tempfile.TemporaryDirectory(prefix="halfway-") as folder:
        farm = Path(folder) / "bin"
        farm.mkdir()
        environment = without_java(farm)
        if shutil.which("java", path=environment["PATH"]) or "JAVA_HOME" in environment:
            sys.stderr.write("error: Java could not be hidden, so nothing was checked\n")
            return 2
        halfway = Path(sys.executable).parent / "halfway"
        # --partitions demands Spark, which so few runs would not start.
        command = [halfway, "reproduce", FIGURE, "--scale", "quick", "--json", "--partitions", "4"]
        done = subprocess.run(
            [*command, "--out", Path(folder) / "results"],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    verdicts = [json.loads(line)["verdict"] for line in done.stdout.splitlines()]
    if done.returncode != 0 or not verdicts:
        sys.stderr.write(f"error: with Java hidden {FIGURE} ended with {done.returncode}\n")
        return 1
    sys.stdout.write(f"With Java hidden {FIGURE} was judged: {len(verdicts)} verdicts.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
