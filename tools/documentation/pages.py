"""The pages of the site, staged for the generator: copied from the repository, or generated.

A page of docs/ has the same path on the site. README.md is the first page. A link from a page to
another file of the repository, such as a scenario, leads to a page that shows this file.
"""

import os
import re
import shutil
from pathlib import Path, PurePosixPath

from tools.documentation.reference import reference_pages

REPOSITORY = Path(__file__).parents[2]
_HERE = Path(__file__).parent
_TOP = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changes.md"}
_SHOWN = {".py": "python", ".toml": "toml", ".csv": "text", ".ipynb": "json", "": "text"}
_LINK = re.compile(r"(?<=\])\((?P<target>[^)\s]+)\)")
_PICTURE = re.compile(r"!\[(?P<words>[^\]]*)\]\((?P<file>[^)\s]+\.svg)\)")
_FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def staged(folder: Path) -> None:
    """Write the configuration and all pages of the site to a new folder, for the generator."""
    docs = folder / "docs"
    shutil.copytree(REPOSITORY / "docs", docs)
    shutil.copy(_HERE / "zensical.toml", folder)
    shutil.copy(_HERE / "style.css", docs)
    for name, page in _TOP.items():
        shutil.copy(REPOSITORY / name, docs / page)
    for page, text in reference_pages().items():
        _write(docs / page, text)
    for page in sorted(docs.rglob("*.md")):
        place = page.relative_to(docs).as_posix()
        _write(page, adapted(page.read_text("utf-8"), place, docs))


def adapted(text: str, page: str, docs: Path) -> str:
    """Return a page's text with the site's links, and with its vector pictures as a part of it.

    page: the path on the site; docs: the staged pages, to which pages of shown files are added.
    """
    parts = _FENCE.split(text)
    parts[::2] = [_linked(part, page, docs) for part in parts[::2]]  # the others are code
    return "".join(parts)


def _linked(text: str, page: str, docs: Path) -> str:
    source = next((name for name, at in _TOP.items() if at == page), f"docs/{page}")
    text = _PICTURE.sub(lambda found: _inlined(found["words"], found["file"], source), text)
    return _LINK.sub(lambda found: f"({_target(found['target'], source, page, docs)})", text)


def _target(target: str, source: str, page: str, docs: Path) -> str:
    """Return a link's target on the site; `source` is the page's path in the repository."""
    if re.match(r"[a-z]+:|#", target):
        return target
    path, sign, anchor = target.partition("#")
    meant = PurePosixPath(os.path.normpath(PurePosixPath(source).parent / path)).as_posix()
    if meant in _TOP:
        place = _TOP[meant]
    elif meant.startswith("docs/"):
        place = meant.removeprefix("docs/")
        place += "/README.md" if (docs / place).is_dir() else ""
    else:
        place = _shown(meant, docs)
    near = os.path.relpath(place, PurePosixPath(page).parent)
    return f"{PurePosixPath(near).as_posix()}{sign}{anchor}"


def _shown(path: str, docs: Path) -> str:
    """Return the page of the site that shows a file of the repository, or lists a folder's
    files.
    """
    file = REPOSITORY / path
    page = f"files/{path}.md"
    if not file.exists() or (docs / page).exists():
        return page  # the check of links finds the missing one
    if file.is_dir():
        names = sorted(one.name for one in file.iterdir() if one.suffix in _SHOWN and one.is_file())
        rows = [f"* [{name}]({PurePosixPath(path).name}/{name}.md)" for name in names]
        _write(docs / page, f"# {path}\n\n" + "\n".join(rows) + "\n")
        for name in names:
            _shown(f"{path}/{name}", docs)
    else:
        lines = file.read_text("utf-8").rstrip("\n")
        kind = _SHOWN.get(file.suffix, "text")
        head = f"---\nhide: [toc]\nsearch:\n  exclude: true\n---\n\n# {path}\n\n"
        _write(docs / page, f"{head}````{kind}\n{lines}\n````\n")
    return page


def _inlined(words: str, file: str, source: str) -> str:
    """Return a vector picture as part of its page, so that it follows the colours of the site."""
    picture = REPOSITORY / os.path.normpath(PurePosixPath(source).parent / file)
    drawn = picture.read_text("utf-8")
    drawn = re.sub(r"<\?xml.*?\?>\s*|<style>.*?</style>\s*", "", drawn, flags=re.DOTALL)
    drawn = " ".join(drawn.split())
    caption = f"<figcaption>{words}</figcaption>" if words else ""
    return f'<figure class="drawing">{drawn}{caption}</figure>'


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
