"""Plain technical English: words that make a sentence hard to read, wherever people read one."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.house.sources import PROGRAMS, Source, kept_files, python_files

# Actors that are no component, passives of "tell", and words of a tale.
BANNED = re.compile(
    r"\b(nobody|everybody|somebody|whoever|whomever|whom|told|tells|tell|mend|mends|mended"
    r"|lays|laid|honestly|really|is no option|is no system)\b",
    re.IGNORECASE,
)
# "Raises ValueError for content that is none": say which content is wrong.
NONE_IDIOM = re.compile(r"\b((?:that|which|what|line|title) (?:is|are) none)\b", re.IGNORECASE)
# "A node that is no neighbour": write "is not a neighbour".
IS_NO = re.compile(
    r"((?<!here )\b(?:is|are) no (?:neighbours?|members?|numbers?|datagrams?|duty|nodes?|brokers?"
    r"|records?|files?|topics?|certificates?|metrics?|evidence|ratio|secret))\b"
)
# "Who has the key can join.": the subject is a component or a person. A question passes.
WHO = re.compile(r"\b(Who [a-z]+)\b[^.?!]*[.!]")
# A word of `docs/map.md` in another meaning. A paper has interpretations, a clock has times, and a
# record is no message.
OTHER_MEANING = re.compile(
    r"\b((?:an?|the|this|that|these|those|other|another|our|each|every|all|both|one|two|three|four"
    r"|first|literal|present|former) readings?|readings of|message records?"
    r"|record messages?)\b",
    re.IGNORECASE,
)
TEXTS = {".md", ".toml", ".css", ".js", ".html"}


def hard_words(root: Path) -> list[str]:
    """Banned words in docs, docstrings, comments, and strings, with file and line."""
    found = []
    for source in python_files(root, *PROGRAMS):
        # Most files have none of the words anywhere, and need not be parsed.
        suspect = BANNED.search(source.text) or NONE_IDIOM.search(source.text)
        suspect = suspect or IS_NO.search(source.text) or WHO.search(source.text)
        suspect = suspect or OTHER_MEANING.search(source.text)
        if suspect and not source.path.startswith("tests/house/"):
            for line, text in _prose(source):
                found += [f"{source.path}:{line}: {word}" for word in BANNED.findall(text)]
                idioms = NONE_IDIOM.findall(text) + IS_NO.findall(text) + WHO.findall(text)
                idioms += OTHER_MEANING.findall(text)
                found += [f"{source.path}:{line}: {idiom}" for idiom in idioms]
    for path in kept_files(root):
        if path.suffix in TEXTS:
            lines = path.read_text("utf-8", errors="ignore").splitlines()
            for number, line in enumerate(lines, start=1):
                # A quotation is the paper's own English.
                text = re.sub(r"[\"“`][^\"”`]*[\"”`]", "", line)
                where = f"{path.relative_to(root)}:{number}"
                idioms = IS_NO.findall(text) + WHO.findall(text) + OTHER_MEANING.findall(text)
                found += [f"{where}: {word}" for word in BANNED.findall(text) + idioms]
    return found


# A noun phrase, a shape or a question at the start of a function's docstring. A citation may lead.
_NO_VERB = re.compile(
    r"^(?:\[(?:geo|drw|dwo|uas|drip|Haas|Carzaniga|Demers|remedy)[^\]]*\] )?"
    r"(?:(?:The|An?|All|Our|Whether|How|Why|What|Which|Who|Where) "
    r"|\[(?!geo|drw|dwo|uas|drip|Haas|Carzaniga|Demers|remedy)|[a-z`(\d])"
)
_LABEL = re.compile(r"\b(an? (?:\w+ )?walks' \w+)|^((?:For|Of|In) [^.:\n]{3,40}: )", re.IGNORECASE)
_FRAGMENT = re.compile(r"(; whether |(?:^|[.;] )How many\b|\. Its place\b|\. The place of )")
# "Return from the results the cells": write "Return the cells of the results".
# "Return at most 4 cells" has a limit before its object.
_INVERTED = re.compile(
    r"^((?:Return|Yield|Write|Read|Add|Keep|Set|Give|Send) (?:to|by|from|for|at|in|with|on))"
    r" (?!most |least )"
)
_MINUS_ONE = re.compile(r"(?<![\w.\[:])(-1)\b")
_NAMES_OF_MINUS_ONE = {"NO_PLACE", "NONE"}


def docstring_lapses(root: Path) -> list[str]:
    """Docstrings of the package in another form than the others, with file, line and lapse.

    A function begins with a verb and its object, a class or a property with a noun phrase. The
    result is a sentence, without a label before it, and a missing value has the name that the code
    uses.
    """
    found = []
    for source in python_files(root, "src"):
        for node in source.nodes:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                lapses = _lapses(node, " ".join((ast.get_docstring(node) or "").split()))
                found += [f"{source.path}:{node.lineno}: {node.name}: {one}" for one in lapses]
    return found


def _lapses(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, text: str) -> list[str]:
    decorators = {getattr(one, "id", getattr(one, "attr", "")) for one in node.decorator_list}
    is_function = not isinstance(node, ast.ClassDef)
    found = [match[0].strip() for form in (_LABEL, _FRAGMENT) for match in form.finditer(text)]
    if is_function and not decorators & {"property", "cached_property"}:
        if _NO_VERB.match(text):
            found.append(text.partition(" ")[0])
    elif text.startswith(("Return ", "Yield ")):
        found.append(text.partition(" ")[0])
    found += _INVERTED.findall(text)
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    if is_function and names & _NAMES_OF_MINUS_ONE:
        found += _MINUS_ONE.findall(text)
    return found


def _prose(source: Source) -> Iterator[tuple[int, str]]:
    """Comments and strings of a file, without the quotations in them."""
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], re.sub(r'"[^"]*"', "", token.string)
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = re.sub(r'[“"][^”"]*[”"]', "", node.value)
            if " " in text:  # a sentence, not a name
                yield node.lineno, text
