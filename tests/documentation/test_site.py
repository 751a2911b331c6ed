"""The documentation site: links, generated pages, and the whole build."""

import subprocess
import sys
from pathlib import Path

import pytest
from tools.documentation.doctests import fenced
from tools.documentation.links import broken_links, external_requests
from tools.documentation.pages import adapted
from tools.documentation.reference import commands_page, glossary_page, options_page

from halfway.adapters.registry import TABLE
from halfway.protocols import SYSTEMS
from tests.house.sources import REPOSITORY


def page(folder: Path, name: str, body: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"<html><body>{body}</body></html>")


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page(tmp_path, "index.html", '<a href="a/b.html#here">x</a> <a href="none.html">y</a>')
    page(tmp_path, "a/b.html", '<h2 id="there"></h2><a href="../index.html">z</a>')
    assert list(broken_links(tmp_path)) == [
        "index.html: a/b.html#here: no such heading", "index.html: none.html: no such file",
    ]  # fmt: skip
    page(tmp_path, "a/b.html", '<h2 id="here"></h2><a href="https://example.org/x">z</a>')
    page(tmp_path, "none.html", "")
    assert list(broken_links(tmp_path)) == []


@pytest.mark.parametrize(
    "tag",
    [
        '<script src="https://example.org/x.js"></script>',
        '<link rel="stylesheet" href="//example.org/x.css">',
        '<img src="http://example.org/x.png">',
        '<p style="background: url(https://example.org/x.png)">x</p>',
    ],
)
def test_a_page_that_loads_from_elsewhere_is_found(tmp_path: Path, tag: str) -> None:
    page(tmp_path, "index.html", f'<a href="https://example.org">x</a>{tag}')
    (found,) = external_requests(tmp_path)
    assert found.startswith("index.html: loads ")
    assert "example.org/x" in found


def test_a_style_that_loads_a_font_is_found(tmp_path: Path) -> None:
    (tmp_path / "x.css").write_text("@import url('https://example.org/font.css');")
    assert list(external_requests(tmp_path)) == ["x.css: loads https://example.org/font.css"]


def test_links_out_of_the_docs_lead_to_pages_that_show_the_files(tmp_path: Path) -> None:
    text = "[a](../README.md#x) [b](../examples/my_protocol.py) `[c](none)` [d](live.md)\n"
    found = adapted(f"{text}```\n[e](../README.md)\n```\n", "python.md", tmp_path)
    assert "[a](index.md#x) [b](files/examples/my_protocol.py.md)" in found
    assert "[d](live.md)" in found
    assert "```\n[e](../README.md)\n```" in found
    shown = (tmp_path / "files/examples/my_protocol.py.md").read_text()
    assert "def handle(" in shown


def test_every_option_and_command_is_on_its_page() -> None:
    options, commands = options_page(), commands_page()
    for name, system in TABLE.items():
        part = options.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert [option for option in system.options if f"| `{option}` |" not in part] == []
    assert "## halfway net new" in commands
    assert "`--out DIR`" in commands.partition("## halfway compare")[2]


def test_the_glossary_has_the_words_of_the_map_in_order() -> None:
    words = (
        "## Words\n\n| word | meaning | in code |\n|---|---|---|\n| walk | it moves | `Walk` |\n"
    )
    words += "| Age | the time [x](decisions/0001.md) | |\n\n## Next\n"
    readme = "## How to read a verdict\n\n| verdict | meaning |\n|---|---|\n| agrees | same |\n"
    found = glossary_page(words, readme)
    assert "**walk**\n:   It moves In code: `Walk`." in found
    assert found.index("**Age**") < found.index("**agrees (verdict)**") < found.index("**walk**")


def test_examples_in_docstrings_become_code() -> None:
    text = "A thing.\n\n>>> f(1)\n[(1, 2)]\n\nMore.\n"
    assert fenced(text) == "A thing.\n\n```pycon\n>>> f(1)\n[(1, 2)]\n```\n\nMore.\n"


PAGES = sorted({page.stem for page in (REPOSITORY / "docs" / "systems").glob("*.md")} - {"README"})


@pytest.mark.parametrize("name", PAGES)
def test_the_page_of_a_system_has_its_picture(name: str) -> None:
    assert name in SYSTEMS
    text = (REPOSITORY / "docs" / "systems" / f"{name}.md").read_text("utf-8")
    assert f"../pictures/systems/{name}.svg)" in text
    picture = (REPOSITORY / "docs" / "pictures" / "systems" / f"{name}.svg").read_text("utf-8")
    assert f'aria-label="{name}: ' in picture


@pytest.mark.slow
def test_the_site_is_built_without_a_warning_and_without_a_broken_link(tmp_path: Path) -> None:
    target = tmp_path / "site"
    done = subprocess.run(
        [sys.executable, "-m", "tools.documentation", str(target)],
        cwd=REPOSITORY, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (target / "systems" / "drip.html").exists()
    assert "fanout" in (target / "reference" / "options.html").read_text()
    assert "def simulate" not in (target / "index.html").read_text()
    assert "halfway.api.simulation.simulate" in (target / "reference/python.html").read_text()
