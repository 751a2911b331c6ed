"""Build the documentation site: `python -m tools.documentation [FOLDER]`; default: site.

The pages come from docs/, README.md, CONTRIBUTING.md and CHANGELOG.md. The reference comes from
docstrings, from the declared options and from the commands. The build stops at any link that leads
nowhere, and at any page that would load something from another machine.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.documentation.links import broken_links, external_requests
from tools.documentation.pages import REPOSITORY, staged

_FAILED = 1
_ELSEWHERE = "https://unpkg.com/iframe-worker/shim"  # what the generator's pages would load
_HERE = "assets/javascripts/iframe-worker.js"


def main(target: Path) -> int:
    """Build the site into a folder; print what is wrong with it, and return the exit status."""
    staging = REPOSITORY / "build" / "documentation"
    shutil.rmtree(staging, ignore_errors=True)
    staged(staging)
    # The reference must come from these sources, and not from an installed package.
    given = os.environ.get("PYTHONPATH", "")
    places = os.pathsep.join([str(REPOSITORY / "src"), str(REPOSITORY), given])
    status = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=staging, env=os.environ | {"PYTHONPATH": places, "NO_COLOR": "1"}, check=False,
    ).returncode  # fmt: skip
    if status:
        return status
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(staging / "site", target)
    for file in Path(__file__).parent.glob("iframe-worker.*"):
        shutil.copy(file, (target / _HERE).parent)
    for page in target.rglob("*.html"):
        near = os.path.relpath(target / _HERE, page.parent)
        page.write_text(page.read_text("utf-8").replace(_ELSEWHERE, near), "utf-8")
    found = [*broken_links(target), *external_requests(target)]
    for problem in found:
        sys.stderr.write(f"{problem}\n")
    if not found:
        sys.stdout.write(f"The site: {target / 'index.html'}\n")
    return _FAILED if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(*sys.argv[1:2] or ["site"]).absolute()))
