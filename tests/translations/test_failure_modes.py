"""The failure modes of naive checks, each as a small repository."""

from __future__ import annotations

import subprocess
import unicodedata
from pathlib import Path

import pytest

from tests.translations.book_fixture import ENGLISH, KOREAN, Book, english
from tooling.translations.model import ChangeClass, Freshness
from tooling.translations.words import label

PROSE = frozenset({ChangeClass.PROSE})


def test_a_squash_of_the_pinned_commit_loses_nothing_when_the_blob_is_named(book: Book) -> None:
    book.commit("start")
    book.git("switch", "-q", "-c", "feature")
    book.translated()
    book.git("switch", "-q", "main")
    book.git("merge", "-q", "--squash", "feature")
    book.commit("squashed")
    book.git("branch", "-q", "-D", "feature")
    book.git("reflog", "expire", "--expire=now", "--all")
    book.git("gc", "-q", "--prune=now")
    assert book.status().freshness is Freshness.CURRENT


def test_a_squash_of_the_pinned_commit_without_a_blob_line_is_a_bad_pin(book: Book) -> None:
    book.english()
    book.korean(commit="0" * 39 + "1")
    book.commit()
    status = book.status()
    assert status.freshness is Freshness.BAD_PIN
    assert "does not exist" in english(status.reason)
    assert "recover" in english(status.hint)


def test_an_imported_history_keeps_pages_current(book: Book, tmp_path: Path) -> None:
    book.translated()
    imported = Book.create(tmp_path / "imported")
    imported.english((book.source / "page.md").read_text())
    imported.korean((book.target / "page.md").read_text())
    imported.commit("import")
    assert imported.status().freshness is Freshness.CURRENT


def test_a_bulk_edit_of_both_languages_does_not_look_like_a_translation(book: Book) -> None:
    book.translated()
    path = book.target / "page.md"
    path.write_text(path.read_text().replace("만납니다", "만난다"))
    book.edit("meet at a barrier", "wait at a barrier", message="bulk edit")
    status = book.status()
    assert status.freshness is Freshness.STALE
    assert status.classes == PROSE


def test_a_typo_fix_in_the_translation_never_clears_a_page(book: Book) -> None:
    book.translated()
    book.edit("meet at a barrier", "wait at a barrier")
    path = book.target / "page.md"
    path.write_text(path.read_text().replace("둘째", "두 번째"))
    book.commit("typo in the translation")
    assert book.status().freshness is Freshness.STALE


@pytest.mark.parametrize("with_blob", [True, False])
def test_a_pure_rename_stays_current(book: Book, with_blob: bool) -> None:
    book.translated(with_blob=with_blob)
    for tree in ("book/src", "i18n/ko/book/src"):
        book.git("mv", f"{tree}/page.md", f"{tree}/renamed.md")
    book.commit("rename")
    status = book.status("renamed.md")
    assert status.freshness is Freshness.CURRENT
    assert status.moved == (None if with_blob else "book/src/page.md")


def test_a_rename_with_an_edit_is_followed(book: Book) -> None:
    book.translated(with_blob=False)
    for tree in ("book/src", "i18n/ko/book/src"):
        book.git("mv", f"{tree}/page.md", f"{tree}/renamed.md")
    book.edit("meet at a barrier", "wait at a barrier", page="renamed.md", message="rename and edit")
    book.edit("first item", "item one", page="renamed.md")
    status = book.status("renamed.md")
    assert (status.freshness, status.behind, status.moved) == (Freshness.STALE, 2, "book/src/page.md")


def test_a_rename_of_the_source_alone_is_reported_with_the_new_path(book: Book) -> None:
    book.translated()
    book.git("mv", "book/src/page.md", "book/src/new home.md")
    book.commit("rename the source alone")
    orphan, missing = book.status("page.md"), book.status("new home.md")
    assert (orphan.freshness, missing.freshness) == (Freshness.ORPHANED, Freshness.MISSING)
    assert orphan.hint == "git mv i18n/ko/book/src/page.md 'i18n/ko/book/src/new home.md'"
    assert missing.hint == orphan.hint


def test_an_edit_and_its_reversal_leave_a_page_current(book: Book) -> None:
    book.translated()
    book.edit("meet at a barrier", "wait at a barrier")
    book.edit("wait at a barrier", "meet at a barrier", message="revert")
    assert book.status().freshness is Freshness.CURRENT


def test_edits_that_cancel_out_are_not_counted(book: Book) -> None:
    book.translated()
    book.edit("first item", "item one")
    book.edit("item one", "first item", message="revert")
    book.edit("second item", "item two")
    assert book.status().behind == 1


@pytest.mark.parametrize("with_path", [True, False])
def test_a_pin_older_than_the_page_is_bad(book: Book, with_path: bool) -> None:
    (book.root / "README").write_text("x")
    early = book.commit("before the page")
    book.english()
    born = book.commit("write the page")
    book.korean(commit=early)
    book.commit("translate")
    if with_path:
        book.edit("first item", "item one")
    status = book.status()
    assert status.freshness is Freshness.BAD_PIN
    assert "path absent at commit" in english(status.reason)
    assert born[:12] in english(status.reason)


def test_a_pin_that_does_not_touch_the_page_is_accepted_and_the_right_one_offered(book: Book) -> None:
    book.english()
    born = book.commit("write the page")
    (book.root / "README").write_text("x")
    later = book.commit("something else")
    book.korean(commit=later)
    book.commit("translate")
    assert book.status().freshness is Freshness.CURRENT
    book.edit("first item", "item one")
    status = book.status()
    assert (status.freshness, status.behind, status.canonical) == (Freshness.STALE, 1, born)


def test_a_pin_that_understates_the_translation_is_hinted_at_but_still_stale(book: Book) -> None:
    commit = book.translated()
    book.edit("Write to `shared` first", "Write to `shared` and `scratch` 32 times first")
    book.korean(
        KOREAN.replace("먼저 `shared`에", "먼저 `shared`와 `scratch`에 32번"), commit=commit, blob=None
    )
    book.commit("translate, forgetting the marker")
    status = book.status()
    assert status.freshness is Freshness.STALE
    assert any("pin may be old" in english(note) for note in status.notes)


def test_text_changed_inside_a_merge_is_found(book: Book) -> None:
    commit = book.translated()
    book.git("switch", "-q", "-c", "side")
    book.edit("first item", "item one")
    book.git("switch", "-q", "main")
    book.edit("second item", "item two")
    book.git("merge", "-q", "--no-commit", "--no-ff", "side", check=False)
    book.english(ENGLISH.replace("meet at", "wait together at"))
    book.commit("merge and edit")
    status = book.status()
    assert status.freshness is Freshness.STALE
    assert status.behind is not None
    assert status.pin is not None and status.pin.commit == commit


def test_merged_branches_count_their_commits_once(book: Book) -> None:
    book.translated()
    book.git("switch", "-q", "-c", "side")
    book.edit("first item", "item one")
    book.git("switch", "-q", "main")
    (book.root / "README").write_text("x")
    book.commit("meanwhile")
    book.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    assert book.status().behind == 1


@pytest.mark.parametrize("how", ["autocrlf", "attribute", "committed"])
def test_line_ends_make_no_difference(book: Book, how: str) -> None:
    book.translated()
    path = book.source / "page.md"
    crlf = path.read_bytes().replace(b"\n", b"\r\n")
    if how == "autocrlf":
        book.git("config", "core.autocrlf", "true")
    elif how == "attribute":
        (book.root / ".gitattributes").write_text("*.md text eol=crlf\n")
        book.commit("attributes")
    path.write_bytes(crlf)
    if how == "committed":
        book.git("config", "core.autocrlf", "false")
        book.commit("CRLF")
    status = book.status()
    assert status.freshness is Freshness.CURRENT
    assert not status.dirty


def test_a_page_stored_with_crlf_and_checked_out_with_lf_is_only_reformatted(book: Book) -> None:
    book.english(ENGLISH.replace("\n", "\r\n"))
    commit = book.commit()
    book.korean(commit=commit)
    book.english(ENGLISH)
    book.commit("LF")
    assert english(label(book.status())) == "stale (format)"


@pytest.mark.parametrize(
    "name", ["naïve.md", "공유 메모리/배리어 1.md", "a [b] *c?.md", 'quote\'d "x".md', ":(top)x.md"]
)
@pytest.mark.parametrize("with_blob", [True, False])
def test_any_file_name_will_do(book: Book, name: str, with_blob: bool) -> None:
    book.translated(name, with_blob=with_blob)
    assert book.status(name).freshness is Freshness.CURRENT
    book.edit("first item", "item one", page=name)
    status = book.status(name)
    assert (status.freshness, status.behind) == (Freshness.STALE, 1)


def test_decomposed_file_names_pair_with_composed_ones(book: Book) -> None:
    composed, decomposed = (unicodedata.normalize(form, "배리어.md") for form in ("NFC", "NFD"))
    book.english(page=decomposed)
    commit = book.commit()
    book.korean(page=composed, commit=commit)
    book.commit("translate")
    assert book.status(composed).freshness is Freshness.CURRENT


def test_uncommitted_edits_of_the_source_count(book: Book) -> None:
    book.translated()
    book.edit("first item", "item one", message=None)
    status = book.status()
    assert (status.freshness, status.dirty, status.behind) == (Freshness.STALE, True, 0)


@pytest.mark.parametrize(
    ("marker", "reason"),
    [
        ("<!-- i18n-source-commit: abc123 -->\n", "i18n-source-commit is not the id of a commit: 'abc123'"),
        ("<!-- i18n-source-blob: abc1234 -->\n", "i18n-source-blob is not a full object id: 'abc1234'"),
        ("<!-- i18n-source-commit: TODO -->\n", "i18n-source-commit is not the id of a commit: 'TODO'"),
        (f"<!-- i18n-source-commit: {'a' * 40} -->\n" * 2, "occurs twice"),
        (f"<!-- i18n-source-blob: {'a' * 40} -->\n", "does not exist here"),
    ],
)
def test_a_broken_marker_is_a_bad_pin(book: Book, marker: str, reason: str) -> None:
    book.english()
    book.korean(marker + KOREAN)
    book.commit()
    status = book.status()
    assert status.freshness is Freshness.BAD_PIN
    assert reason in english(status.reason)


def test_pages_of_one_tree_alone(book: Book) -> None:
    book.translated()
    book.english(page="new.md")
    book.korean(page="gone.md")
    book.english(page="unmarked.md")
    book.korean(page="unmarked.md")
    book.commit()
    found = {page.key: page.freshness for page in book.survey().pages}
    assert found == {
        "page.md": Freshness.CURRENT,
        "new.md": Freshness.MISSING,
        "gone.md": Freshness.ORPHANED,
        "unmarked.md": Freshness.UNTRACKED,
    }


def test_snippets_and_hidden_files_are_not_pages(book: Book) -> None:
    book.translated()
    for name in ("_includes/url.md", ".draft.md", ".obsidian/note.md"):
        book.english(page=name)
    assert [page.key for page in book.survey().pages] == ["page.md"]


def test_a_skip_trailer_forgives_a_page_only_if_every_commit_asks_for_it(book: Book) -> None:
    book.translated()
    book.edit("first item", "item one", message="fix\n\nI18n-Skip: book/src/page.md")
    skipped = book.status()
    assert skipped.skipped and not skipped.needs_translation
    book.edit("second item", "item two", message="real change")
    assert book.status().needs_translation


def test_a_skip_trailer_concerns_the_pages_of_its_glob(book: Book) -> None:
    book.translated()
    book.edit("first item", "item one", message="fix\n\nI18n-Skip: book/src/other/*")
    assert book.status().needs_translation


def test_a_commit_can_be_ignored_afterwards(book: Book) -> None:
    book.translated()
    commit = book.edit("first item", "item one")
    (book.root / ".i18n-ignore-revs").write_text(f"# a typo\n{commit}  # really\n")
    assert book.status().skipped


def test_uncommitted_edits_are_never_skipped(book: Book) -> None:
    book.translated()
    book.edit("first item", "item one", message="fix\n\nI18n-Skip: *")
    book.edit("second item", "item two", message=None)
    assert book.status().needs_translation


def test_the_number_of_git_processes_does_not_grow_with_pages(tmp_path: Path) -> None:
    counts = []
    for pages in (3, 60):
        book = Book.create(tmp_path / str(pages))
        for number in range(pages):
            book.english(page=f"{number}.md")
        commit = book.commit()
        for number in range(pages):
            book.korean(page=f"{number}.md", commit=commit)
        book.commit()
        for number in range(pages):
            path = book.source / f"{number}.md"
            path.write_text(path.read_text().replace("first", f"number {number}"))
        book.commit()
        survey = book.survey()
        assert all(page.freshness is Freshness.STALE for page in survey.pages)
        assert survey.repository is not None
        counts.append(survey.repository.processes)
    assert counts[0] == counts[1] <= 5


def test_a_file_that_changes_while_the_survey_runs_does_no_harm(
    book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor saves the page between walk and comparison: the result is that of either text."""
    from tooling.translations.freshness import closer_look

    book.translated()
    book.edit("first item", "item one")
    original = closer_look.look_closer

    def meddling(*arguments: object) -> object:
        (book.source / "page.md").write_text(ENGLISH)
        return original(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr("tooling.translations.freshness.survey.look_closer", meddling)
    assert book.status().freshness is Freshness.STALE


def test_the_fixture_notices_git_failures(book: Book) -> None:
    with pytest.raises((AssertionError, subprocess.SubprocessError)):
        book.git("no-such-command")
