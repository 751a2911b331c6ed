"""Texts are plain technical English, and the reader that says so would notice a lapse."""

from pathlib import Path

import pytest

from tests.house import english
from tests.house.sources import REPOSITORY


def test_texts_use_plain_words() -> None:
    assert "\n".join(english.hard_words(REPOSITORY)) == ""


def test_docstrings_have_one_form() -> None:
    assert "\n".join(english.docstring_lapses(REPOSITORY)) == ""


@pytest.mark.parametrize(
    ("text", "lapse"),
    [
        ('def f():\n    """The hops of a path."""', "The"),
        ('def f():\n    """Whether a path is known."""', "Whether"),
        ('def f():\n    """[n, 2] the positions."""', "[n,"),
        ('def f():\n    """[geo §2] the home of a key."""', "[geo"),
        ('def f():\n    """Renew a branch; whether it is new."""', "; whether"),
        ('def f():\n    """Send what is due. How many."""', ". How many"),
        ('def f():\n    """Claim a trail. Its place; or none."""', ". Its place"),
        ("def f():\n    '''Renew a walks' topic.'''", "a walks' topic"),
        ('def f():\n    """For routes of DRIP: find a place."""', "For routes of DRIP:"),
        ('def f():\n    """Return a place; -1 if none."""\n    return NO_PLACE', "-1"),
        ('def f():\n    """Return to the node whether a path exists."""', "Return to"),
        ('def f():\n    """Write to the journal a message."""', "Write to"),
        ('class A:\n    """Return the hops."""', "Return"),
        (
            'class A:\n    """Hops."""\n    @property\n    def f(self):\n        """Return it."""',
            "Return",
        ),
    ],
)
def test_a_docstring_in_another_form_is_seen(tmp_path: Path, text: str, lapse: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(f"{text}\n")
    (found,) = english.docstring_lapses(tmp_path)
    assert found.endswith(f": {lapse}")


@pytest.mark.parametrize(
    "text",
    [
        'def f():\n    """Return [n, 2]: the positions. -1: none."""',
        'def f():\n    """[geo §2] Return the home of a key."""\n    return NO_PLACE',
        'def f():\n    """Return at most 4 hops."""',
        'class A:\n    """A path."""\n    @property\n    def f(self):\n        """The hops."""',
        "def f(): ...",
    ],
)
def test_a_docstring_in_the_form_passes(tmp_path: Path, text: str) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text(f"{text}\n")
    assert english.docstring_lapses(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('"""Whoever hears it says it again."""', "Whoever"),
        ("x = 1  # nobody knows", "nobody"),
        ('raise Problem("the file was told twice")', "told"),
        ('def f():\n    return f"really {x} better"', "really"),
        ('"""Raises ValueError for content that is none."""', "that is none"),
        ('"""Who has the key can join."""', "Who has"),
        ('"""Refuse a node that is no neighbour."""', "is no neighbour"),
        ("x = 1  # under another reading of the sentence", "another reading"),
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
