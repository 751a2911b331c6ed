"""Write src/halfway/scenario/descriptions.json: the meaning of each field in docs/scenarios.md.

The JSON schema of the scenario file shows these meanings in editors.
"""

import json
import re
import sys
from pathlib import Path

_REPOSITORY = Path(__file__).parents[1]
PAGE = _REPOSITORY / "docs" / "scenarios.md"
TARGET = _REPOSITORY / "src" / "halfway" / "scenario" / "descriptions.json"
_HEADING = re.compile(r'(?:`\[+((?!options)[a-z.]+)\]+`)?(?: *(?:kind|fault) = "([a-z-]+)")?')


def main() -> int:
    """Write the file of the scenario fields' meanings."""
    TARGET.write_text(written(PAGE.read_text("utf-8")), "utf-8")
    return 0


def written(page: str) -> str:
    """Return the JSON text of the scenario fields' meanings: table, with its kind, -> field ->
    meaning.
    """
    found: dict[str, dict[str, str]] = {}
    for section in page.split("\n## ")[1:]:
        heading, _, body = section.partition("\n")
        match = _HEADING.fullmatch(heading)
        name = (
            "top" if heading == "Top" else " ".join(filter(None, match.groups() if match else ()))
        )
        rows = [line.strip("|").split("|") for line in body.splitlines() if line.startswith("| `")]
        if name and rows:
            found[name] = {row[0].strip(" `"): _plain(row[-1]) for row in rows}
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _plain(text: str) -> str:
    """Return the meaning of a scenario field without marks and links."""
    return re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", text).replace("`", "").strip()


if __name__ == "__main__":
    sys.exit(main())
