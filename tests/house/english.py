"""Plain technical English: words that make a sentence hard to read, wherever people read one."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.house.sources import Source, kept_files, python_files

# Actors that are no component, passives of "tell", and words of a tale.
BANNED = re.compile(
    r"\b(nobody|everybody|somebody|whoever|whomever|whom|told|tells|tell|mend|mends|mended"
    r"|lays|laid|honestly|really|is no option|is no system)\b",
    re.IGNORECASE,
)
# "Raises ValueError for content that is none": say which content is wrong.
NONE_IDIOM = re.compile(r"\b((?:that|which|what|line|title) (?:is|are) none)\b", re.IGNORECASE)
PYTHON = ("src", "tests", "bench", "examples", "tools")
TEXTS = {".md", ".toml", ".css", ".js", ".html"}


def hard_words(root: Path) -> list[str]:
    """Banned words in docs, docstrings, comments, and strings, with file and line."""
    found = []
    for source in python_files(root, *PYTHON):
        # Most files have none of the words anywhere, and need not be parsed.
        suspect = BANNED.search(source.text) or NONE_IDIOM.search(source.text)
        if suspect and not source.path.startswith("tests/house/"):
            for line, text in _prose(source):
                found += [f"{source.path}:{line}: {word}" for word in BANNED.findall(text)]
                idioms = NONE_IDIOM.findall(text)
                found += [f"{source.path}:{line}: {idiom}" for idiom in idioms]
    for path in kept_files(root):
        if path.suffix in TEXTS:
            lines = path.read_text("utf-8", errors="ignore").splitlines()
            for number, line in enumerate(lines, start=1):
                # A quotation is the paper's own English.
                text = re.sub(r"[\"“`][^\"”`]*[\"”`]", "", line)
                where = f"{path.relative_to(root)}:{number}"
                found += [f"{where}: {word}" for word in BANNED.findall(text)]
    return found


def _prose(source: Source) -> Iterator[tuple[int, str]]:
    """Comments and strings of a file, without the quotations in them."""
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], re.sub(r'"[^"]*"', "", token.string)
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = re.sub(r'[“"][^”"]*[”"]', "", node.value)
            if " " in text:  # a sentence, not a name
                yield node.lineno, text
