"""Study folders: no study and no foreign file is replaced, and a page lists them all."""

from pathlib import Path

import pytest

from halfway.problem import Problem
from halfway.report.study_folders import (
    StudyPage,
    begin_study,
    check_output,
    finish_study,
    studies_in,
    studies_page,
)

NAMES = ("comparison.html", "comparison.csv")


def described(study: str, when: str = "2026-01-01T00:00:00Z", title: str = "a mesh") -> StudyPage:
    return StudyPage(study, "comparison", title, NAMES[0], when, "2 systems", "abc", "halfway x")


def test_the_list_has_every_study_the_latest_first(tmp_path: Path) -> None:
    for study, when in (("one", "2026-01-01T00:00:00Z"), ("two", "2026-01-02T00:00:00Z")):
        assert check_output(tmp_path, study, NAMES) == tmp_path / study
        begin_study(tmp_path, described(study))
        index = finish_study(tmp_path, described(study, when, title=f"<b>{study}</b>"))
    assert [page.study for page in studies_in(tmp_path)] == ["two", "one"]
    page = index.read_text("utf-8")
    assert page.index("two/comparison.html") < page.index("one/comparison.html")
    assert "&lt;b&gt;two&lt;/b&gt;" in page
    assert "<b>two" not in page
    check_output(tmp_path, "two", NAMES)  # ours


@pytest.mark.parametrize("name", ["study/comparison.csv", "index.html"])
def test_a_foreign_file_is_refused_by_name(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    with pytest.raises(Problem, match=f"contains {file.name}, which Halfway did not write"):
        check_output(tmp_path, "study", NAMES)
    assert file.read_text() == "mine"


def test_other_files_in_the_folder_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "notes.txt").write_text("mine")
    check_output(tmp_path, "study", NAMES)
    (tmp_path / "other").write_text("a file")
    with pytest.raises(Problem, match="other: this is a file: expected a folder"):
        check_output(tmp_path, "other", NAMES)


def test_a_page_of_an_older_version_is_kept_and_listed(tmp_path: Path) -> None:
    old = '<p class="brand">Halfway · reproduction'
    (tmp_path / "index.html").write_text(old)
    (tmp_path / "comparison.html").write_text("old")
    check_output(tmp_path, "study", NAMES)
    finish_study(tmp_path, described("study"))
    assert (tmp_path / "previous-index.html").read_text() == old
    assert "previous-index.html" in (tmp_path / "index.html").read_text("utf-8")
    assert 'href="comparison.html"' in (tmp_path / "index.html").read_text("utf-8")
    finish_study(tmp_path, described("study"))
    assert (tmp_path / "previous-index.html").read_text() == old


def test_a_malformed_description_is_left_out(tmp_path: Path) -> None:
    finish_study(tmp_path, described("good"))
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "study.json").write_text("{")
    assert [page.study for page in studies_in(tmp_path)] == ["good"]
    assert "bad/" not in studies_page(tmp_path)
