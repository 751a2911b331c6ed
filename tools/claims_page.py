"""Write docs/papers/claims.md: every claim of the papers, and the verdicts of given results.

python -m tools.claims_page [DIR ...]; DIR: the output folders of `halfway reproduce` (--out). Of
several verdicts on one figure, those of the last folder count. A figure that no folder has keeps
its lines, with the command, the times and the digest of their own run.
"""

import re
import sys
from pathlib import Path
from typing import Any

import msgspec
from tools.kept_claims import with_kept

from halfway.papers import PAPERS
from halfway.papers.claims.claims_page import StudyVerdicts, claims_page
from halfway.papers.claims.declared import claims
from halfway.pipeline.reproduction.verdict import Verdict

PAGE = Path(__file__).parents[1] / "docs" / "papers" / "claims.md"


def main(folders: list[str]) -> int:
    """Write the page of claims from the result folders and from the lines of the page that stay."""
    results = [one for folder in folders for one in results_in(Path(folder))]
    PAGE.write_text(with_kept(page(results), PAGE.read_text("utf-8")), "utf-8")
    return 0


def page(results: list[StudyVerdicts]) -> str:
    """Return the page of all papers' claims with these results."""
    return claims_page([*PAPERS.values()], {name: claims(name) for name in PAPERS}, results)


def results_in(folder: Path) -> list[StudyVerdicts]:
    """Return the results of every study of a folder for the page of claims, in the order of their
    ends.
    """
    found = []
    for mark in folder.glob("*/study.json"):
        verdicts = mark.with_name("verdicts.jsonl")
        about = msgspec.json.decode(mark.read_bytes())
        if about["kind"] == "figures" and verdicts.exists():
            lines = verdicts.read_bytes().splitlines()
            found.append((about, [msgspec.json.decode(line, type=Verdict) for line in lines]))
    found.sort(key=lambda pair: str(pair[0]["finished"]))
    return [_study(about, verdicts) for about, verdicts in found]


def _study(about: dict[str, Any], verdicts: list[Verdict]) -> StudyVerdicts:
    return StudyVerdicts(
        about["title"], without_folder(about["command"]), about["digest"],
        about.get("elapsed_s"), verdicts, about.get("processor_s"),
    )  # fmt: skip


def without_folder(command: str) -> str:
    """Return a command without its output folder, which does not belong on the page of claims."""
    return re.sub(r" --out[ =](?:'[^']*'|\S+)", "", command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
