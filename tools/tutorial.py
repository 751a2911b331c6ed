"""Repeat the commands of a tutorial, and write what they print into its page.

    python tools/tutorial.py PAGE [--files FOLDER] [--keep FOLDER] [--only TEXT]

The commands run in a new folder with a copy of the files of --files. A block that begins with `$ `
holds commands and their output. A line of `…` on the page stands for lines that the page leaves
out: the tool keeps as many lines of each part as the page has now. It begins a part in the middle
at the first line with the same first word, and takes the last part from the end. A block of TOML
below `<!-- edit NAME -->` replaces or adds these lines in the file NAME, and a block below
`<!-- file NAME -->` is the file NAME. A command that ends in ` &` runs until the end of its
section; the next command begins when it has printed a line. A command that ends in a backslash
continues on the next line. The page is written after each section.
An error of a command stops the tool, and the rest of the page stays as it was.
"""

import argparse
import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

_REPOSITORY = Path(__file__).parents[1]
CUT, PROMPT, _BACKGROUND, _CONTINUED = "…", "$ ", " &", " \\"
_HEADING = re.compile(r"^(?=## )", re.MULTILINE)
_BLOCK = re.compile(
    r"(?:<!-- (?P<way>edit|file) (?P<file>\S+) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)```", re.DOTALL
)
_START_S = 60.0  # until a command in the background has printed a line


def main() -> int:
    """Run the commands of a tutorial, and write its page again after each section."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("page", type=Path)
    parser.add_argument("--files", type=Path, help="files that the first command needs")
    parser.add_argument("--only", default="", help="only sections whose heading has this text")
    parser.add_argument("--keep", type=Path, help="folder to run in, which stays")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as new:
        folder = given.keep or Path(new)
        shutil.copytree(given.files or Path(new), folder, dirs_exist_ok=True)
        parts = _HEADING.split(given.page.read_text("utf-8"))
        for place, part in enumerate(parts):
            if given.only in part.partition("\n")[0]:
                parts[place] = repeated(part, folder.absolute())
                given.page.write_text("".join(parts), "utf-8")
    return 0


def repeated(page: str, folder: Path) -> str:
    """Return a tutorial's page or section with the output that its commands have now, in a
    folder.
    """
    parts, at = [], 0
    with contextlib.ExitStack() as background:
        for block in _BLOCK.finditer(page):
            parts.append(page[at : block.start()])
            at = block.end()
            name, text = block["file"], block["text"]
            if name:
                file = folder / name
                new = text if block["way"] == "file" else edited(file.read_text("utf-8"), text)
                file.write_text(new, "utf-8")
            if text.startswith(PROMPT):
                lines = "\n".join(_answered(text.splitlines(), folder, background))
                parts.append(f"```{block['kind']}\n{lines}\n```")
            else:
                parts.append(block[0])
    return "".join([*parts, page[at:]])


def edited(text: str, changes: str) -> str:
    """Return a scenario file with the lines of a tutorial's block: replaced, or added."""
    lines, begin = text.splitlines(), 0
    for change in changes.splitlines():
        if change.startswith("["):
            begin = _table(lines, change)
        elif change.strip():
            lines.insert(_place(lines, begin, _key(change)), change)
    return "\n".join(lines) + "\n"


def _table(lines: list[str], heading: str) -> int:
    """Return the first line of a table in a tutorial's scenario file; a table of an array is
    new.
    """
    tables = [line.partition("#")[0].strip() for line in lines]
    if heading.startswith("[[") or heading not in tables:
        lines += ["", heading]
        return len(lines)
    return tables.index(heading) + 1


def _place(lines: list[str], begin: int, key: str) -> int:
    """Return the place of a key's new line in a table of the file; removes the old line."""
    ends = (k for k in range(begin, len(lines)) if lines[k].startswith("["))
    end = next(ends, len(lines))
    for k in range(begin, end):
        if _key(lines[k]) == key:
            del lines[k]
            return k
    filled = [k for k in range(begin, end) if lines[k].strip() and not lines[k].startswith("#")]
    return filled[-1] + 1 if filled else begin


def _key(line: str) -> str:
    return line.partition("=")[0].strip()


def _answered(
    lines: Sequence[str], folder: Path, background: contextlib.ExitStack
) -> Iterator[str]:
    """Yield the lines of a tutorial's block with the output that its commands have now."""
    starts = [k for k, line in enumerate(lines) if line.startswith(PROMPT)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        last = next(k for k in range(start, end) if not lines[k].endswith(_CONTINUED))
        yield from lines[start : last + 1]
        shown = list(lines[last + 1 : end])
        blank = bool(shown) and not shown[-1]
        parts = [line.removesuffix(_CONTINUED).strip() for line in lines[start : last + 1]]
        command = " ".join(parts).removeprefix(PROMPT)
        if command.endswith(_BACKGROUND):
            background.enter_context(_running(command.removesuffix(_BACKGROUND), folder))
        else:
            yield from kept(_output(command, folder), shown)
        if blank:
            yield ""


def _output(command: str, folder: Path) -> list[str]:
    """Return the lines that a tutorial's command prints on stdout."""
    begun = time.monotonic()
    done = subprocess.run(
        _words(command), cwd=folder, env=_environment(folder), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    sys.stderr.write(f"{time.monotonic() - begun:6.0f} s  {command}\n")
    if done.returncode:
        raise SystemExit(f"{command}: exit status {done.returncode}\n{done.stderr}")
    text = done.stdout.replace(f"{_REPOSITORY}/", "").replace(f"{folder}/", "")
    return [line.rstrip() for line in text.splitlines()]


@contextlib.contextmanager
def _running(command: str, folder: Path) -> Iterator[None]:
    """A tutorial's command in the background, which has printed a line; it is interrupted after."""
    with subprocess.Popen(
        _words(command), cwd=folder, env=_environment(folder), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        watch = threading.Timer(_START_S, process.kill)
        watch.start()
        line = process.stdout.readline()
        watch.cancel()
        if not line:
            raise SystemExit(f"{command}: it ended, or printed nothing")
        # The others are read, so that the process never waits for its reader.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        try:
            yield
        finally:
            process.send_signal(signal.SIGINT)


def _words(command: str) -> list[str]:
    """Return the words of a tutorial's command, as this machine starts it."""
    words = shlex.split(command)
    programs = {"halfway": [sys.executable, "-m", "halfway"], "python": [sys.executable]}
    words = [str(_REPOSITORY / one) if one.startswith("examples/") else one for one in words]
    return [*programs[words[0]], *words[1:]]


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment of a tutorial's command.

    The live nodes of the command are apart from others. Its lines have the width of output in a
    pipe: pytest with several workers sets COLUMNS, which would break them elsewhere.
    """
    places = os.pathsep.join([str(_REPOSITORY / "src"), os.environ.get("PYTHONPATH", "")])
    kept_variables = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
    return kept_variables | {"PYTHONPATH": places, "XDG_RUNTIME_DIR": str(folder)}


def kept(output: Sequence[str], shown: Sequence[str]) -> list[str]:
    """Return the lines of a command's output that replace the output on the tutorial's page."""
    parts: list[list[str]] = [[]]
    for line in shown:
        if line == CUT:
            parts.append([])
        elif line or parts[-1]:
            parts[-1].append(line)
    parts[-1] = [line for line in parts[-1] if line]
    if len(parts) == 1:
        return list(output)
    found, at = list(output[: len(parts[0])]), len(parts[0])
    for place, part in enumerate(parts[1:], 1):
        found.append(CUT)
        if not part:
            continue
        begin = len(output) - len(part)
        if place < len(parts) - 1:
            word = part[0].partition(" ")[0]
            begin = next((k for k in range(at, len(output)) if output[k].startswith(word)), begin)
        at = max(at, begin) + len(part)
        found += output[max(begin, 0) : at]
    return found


if __name__ == "__main__":
    sys.exit(main())
