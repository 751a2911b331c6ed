"""Write docs/papers/claims.md: every claim of the papers, and the verdicts of given results.

python tools/claims_page.py [DIR ...]; DIR: the output folders of `halfway reproduce` (--out). Of
several verdicts on one figure, those of the last folder count.
"""

import re
import sys
from pathlib import Path

import msgspec

from halfway.papers import PAPERS
from halfway.papers.claims.declared import claims
from halfway.papers.claims.page import StudyVerdicts, claims_page
from halfway.pipeline.reproduction.verdict import Verdict

PAGE = Path(__file__).parents[1] / "docs" / "papers" / "claims.md"


def main(folders: list[str]) -> int:
    """Write the page from the result folders."""
    results = [one for folder in folders for one in results_in(Path(folder))]
    PAGE.write_text(page(results), "utf-8")
    return 0


def page(results: list[StudyVerdicts]) -> str:
    """The page of all papers' claims with these results."""
    return claims_page([*PAPERS.values()], {name: claims(name) for name in PAPERS}, results)


def results_in(folder: Path) -> list[StudyVerdicts]:
    """The results of every study of a folder, in the order in which the studies finished."""
    found = []
    for mark in folder.glob("*/study.json"):
        verdicts = mark.with_name("verdicts.jsonl")
        about = msgspec.json.decode(mark.read_bytes())
        if about["kind"] == "figures" and verdicts.exists():
            lines = verdicts.read_bytes().splitlines()
            found.append((about, [msgspec.json.decode(line, type=Verdict) for line in lines]))
    found.sort(key=lambda pair: str(pair[0]["finished"]))
    return [
        StudyVerdicts(
            a["title"], without_folder(a["command"]), a["digest"], a.get("elapsed_s"), verdicts
        )
        for a, verdicts in found
    ]


def without_folder(command: str) -> str:
    """A command without its output folder, which does not belong on a page."""
    return re.sub(r" --out[ =](?:'[^']*'|\S+)", "", command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
