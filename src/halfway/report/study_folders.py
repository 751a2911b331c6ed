"""The folders of studies below the output folder of a command, and the page that lists them.

DIR/index.html         all studies of the folder
DIR/<study>/           the page, tables and plots of one study; study.json describes it
DIR/runs/              the runs of all studies
"""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from urllib.parse import quote

import msgspec

from halfway.files import write_whole
from halfway.problem import Problem
from halfway.report.document import asset, document, header, section

_MARK = "study.json"
_INDEX = "index.html"
_OWN = '<p class="brand">Halfway'  # in every page of Halfway
_OLD_PAGES = ("comparison.html", "previous-index.html")  # of versions with one study a folder


class StudyPage(msgspec.Struct, frozen=True):
    """The entry of one study in the list of studies; study.json has exactly these fields."""

    study: str  # the name of its folder
    kind: str  # "comparison" or "figures"
    title: str
    page: str  # file name
    finished: str  # UTC, ISO 8601, whole seconds
    summary: str  # systems and replicates, or verdicts
    digest: str
    command: str
    elapsed_s: float | None = None  # wall time of a reproduction
    processor_s: float | None = None  # of all its runs, also of earlier commands


def check_output(out: Path, study: str, names: Iterable[str]) -> Path:
    """Check the output folder of a command, and the folder of a study below it, before anything
    runs.

    names: the files that the study will write. Returns the study's folder. Raises Problem for a
    file in place of a folder, a folder that cannot be written to, and a file of another program
    that would be replaced.
    """
    remedy = "choose another folder with --out (in Python: out)"
    for folder in (out, out / study):
        if folder.exists() and not folder.is_dir():
            raise Problem("this is a file: expected a folder", where=str(folder), remedy=remedy)
    index = out / _INDEX
    if index.exists() and not _is_ours(index):
        raise Problem(
            f"the folder contains {_INDEX}, which Halfway did not write",
            where=str(out),
            remedy=remedy,
        )
    folder = out / study
    taken = [name for name in names if (folder / name).exists()]
    if taken and not (folder / _MARK).exists():
        what = f"the folder contains {taken[0]}, which Halfway did not write"
        raise Problem(what, where=str(folder), remedy=remedy)
    write_whole(out / ".writable", "")
    (out / ".writable").unlink(missing_ok=True)
    return folder


def begin_study(out: Path, page: StudyPage) -> None:
    """Mark the folder of a study as Halfway's, before its first file is written."""
    if not (out / page.study / _MARK).exists():
        _write_mark(out, page)


def finish_study(out: Path, page: StudyPage) -> Path:
    """Describe a study in its folder, and renew the list of studies. Returns the path of the list.

    Raises Problem if a file cannot be written.
    """
    _write_mark(out, page)
    index = out / _INDEX
    if index.exists() and 'id="studies"' not in index.read_text("utf-8", "replace"):
        index.replace(out / "previous-index.html")  # the page of an older version
    write_whole(index, studies_page(out))
    return index


def studies_in(out: Path) -> list[StudyPage]:
    """Return the studies of an output folder, the latest first, without malformed entries."""
    studies = []
    for mark in out.glob(f"*/{_MARK}"):
        try:
            page = msgspec.json.decode(mark.read_bytes(), type=StudyPage)
        except (OSError, msgspec.MsgspecError):
            continue
        studies.append(msgspec.structs.replace(page, study=mark.parent.name))
    return sorted(studies, key=lambda page: (page.finished, page.study), reverse=True)


def studies_page(out: Path) -> str:
    """Return the page that lists the studies of an output folder, as HTML."""
    rows = "".join(
        f'<tr><td><a href="{quote(f"{study.study}/{study.page}")}">{escape(study.title)}</a></td>'
        f"<td><code>{escape(study.study)}</code></td><td>{escape(study.kind)}</td>"
        f"<td>{escape(study.summary)}</td><td>{escape(study.finished)}</td>"
        f"<td><code>{escape(study.digest) or 'none'}</code></td>"
        f"<td><code>{escape(study.command)}</code></td></tr>"
        for study in studies_in(out)
    )
    columns = ("study", "folder", "kind", "content", "finished (UTC)", "digest", "command")
    head = "".join(f'<th scope="col">{name}</th>' for name in columns)
    old = [name for name in _OLD_PAGES if (out / name).exists()]
    links = ", ".join(f'<a href="{name}">{name}</a>' for name in old)
    earlier = f'<p class="note">Pages of earlier versions: {links}.</p>' if old else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    inner = f'<div class="scroll">{table}</div>{earlier}'
    body = (
        header("studies", "Studies of this folder", str(out.name), {}, "")
        + f"<main>{section('studies', 'Studies', inner)}</main>"
    )
    return document("Studies", asset("verdicts", "page.css"), body, "")


def _write_mark(out: Path, page: StudyPage) -> None:
    text = msgspec.json.format(msgspec.json.encode(page), indent=1)
    write_whole(out / page.study / _MARK, text)


def _is_ours(page: Path) -> bool:
    return page.is_file() and _OWN in page.read_text("utf-8", "replace")
