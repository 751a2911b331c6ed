"""Texts are plain technical English, and the reader that says so would notice a lapse."""

from pathlib import Path

import pytest

from tests.house import english
from tests.house.sources import REPOSITORY


def test_texts_use_plain_words() -> None:
    assert "\n".join(english.hard_words(REPOSITORY)) == ""


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('"""Whoever hears it says it again."""', "Whoever"),
        ("x = 1  # nobody knows", "nobody"),
        ('raise Problem("the file was told twice")', "told"),
        ('def f():\n    return f"really {x} better"', "really"),
        ('"""Raises ValueError for content that is none."""', "that is none"),
    ],
)
def test_a_hard_word_is_seen(
    tmp_path: Path, text: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(english, "kept_files", lambda _: [])
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(f"{text}\n")
    line = 2 if "\n" in text else 1
    assert english.hard_words(tmp_path) == [f"src/a.py:{line}: {word}"]


def test_a_hard_word_in_a_page_is_seen_and_a_quotation_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "docs.md"
    page.write_text('The paper says "nobody is the broker".\nEverybody knows.\n')
    monkeypatch.setattr(english, "kept_files", lambda _: [page])
    assert english.hard_words(tmp_path) == ["docs.md:2: Everybody"]


def test_names_and_quotations_in_code_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(english, "kept_files", lambda _: [])
    (tmp_path / "src").mkdir()
    text = 'KEY = "told"\n# [drw §2] "nobody is told"\n'
    (tmp_path / "src" / "a.py").write_text(text)
    assert english.hard_words(tmp_path) == []
