"""Incomplete clones: what can be determined is reported, the rest is unknown, never current."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.translations.book_fixture import Book, english
from tooling.translations.freshness.survey import survey
from tooling.translations.git.repository import BareRepository, Repository
from tooling.translations.model import ChangeClass, Freshness
from tooling.translations.parity.fidelity import check_fidelity
from tooling.translations.words import label


@pytest.fixture
def origin(book: Book) -> Book:
    """`with.md` names its blob, `without.md` does not, both are stale; `same.md` is current, has no blob."""
    book.translated("with.md")
    book.translated("without.md", with_blob=False)
    book.translated("same.md", with_blob=False)
    for page in ("with.md", "without.md"):
        book.edit("first item", "item one", page=page)
    return book


def states(book: Book) -> dict[str, Freshness]:
    return {page.key: page.freshness for page in book.survey().pages}


def test_every_page_is_judged_in_a_full_clone(origin: Book, tmp_path: Path) -> None:
    assert states(origin.clone(tmp_path / "clone")) == {
        "with.md": Freshness.STALE,
        "without.md": Freshness.STALE,
        "same.md": Freshness.CURRENT,
    }


def test_in_a_shallow_clone_only_pages_with_a_blob_line_are_judged(origin: Book, tmp_path: Path) -> None:
    clone = origin.clone(tmp_path / "clone", "--depth=1")
    assert states(clone) == {
        "with.md": Freshness.STALE,
        "without.md": Freshness.UNKNOWN,
        "same.md": Freshness.UNKNOWN,
    }
    unknown = clone.status("same.md")
    assert "cut off" in english(unknown.reason)
    assert "--unshallow" in english(unknown.hint)
    stale = clone.status("with.md")
    assert stale.classes == {ChangeClass.UNCLASSIFIED}
    assert stale.behind is None
    assert stale.needs_translation


def test_a_current_page_with_a_blob_line_is_current_in_a_shallow_clone(book: Book, tmp_path: Path) -> None:
    book.translated()
    assert book.clone(tmp_path / "clone", "--depth=1").status().freshness is Freshness.CURRENT


def test_every_page_is_judged_in_a_blobless_clone_with_fetch(origin: Book, tmp_path: Path) -> None:
    clone = origin.clone(tmp_path / "clone", "--filter=blob:none")
    found = clone.survey()
    assert {page.key: english(label(page)) for page in found.pages} == {
        "with.md": "stale (unclassified)",
        "without.md": "stale (unclassified)",
        "same.md": "current",
    }
    assert [english(problem.why) for problem in found.problems] == [
        "2 former texts are not in this clone: "
        "it is a partial clone, and the remote is contacted only with --fetch"
    ]
    assert "--fetch" in english(found.problems[0].hint)
    assert {page.key: english(label(page)) for page in clone.survey(fetch=True).pages} == {
        "with.md": "stale (prose)",
        "without.md": "stale (prose)",
        "same.md": "current",
    }


def test_git_processes_and_fetches_do_not_grow_in_a_blobless_clone(book: Book, tmp_path: Path) -> None:
    counts = []
    for count in (2, 12):
        for number in range(count):
            book.translated(f"{count}/{number}.md", with_blob=False)
            book.edit("first", f"number {number}", page=f"{count}/{number}.md")
        clone = book.clone(tmp_path / str(count), "--filter=blob:none")
        packs = clone.root / ".git/objects/pack"
        before = len(list(packs.glob("*.pack")))
        found = clone.survey(fetch=True)
        assert found.repository is not None
        assert all(page.freshness is Freshness.STALE for page in found.pages)
        counts.append((found.repository.processes, len(list(packs.glob("*.pack"))) - before))
    assert counts[0] == counts[1]


def test_an_unreachable_remote_leaves_changes_unclassified(origin: Book, tmp_path: Path) -> None:
    clone = origin.clone(tmp_path / "clone", "--filter=blob:none")
    clone.git("remote", "set-url", "origin", f"file://{tmp_path}/nowhere")
    found = clone.survey(fetch=True)
    assert {page.key: english(label(page)) for page in found.pages} == {
        "with.md": "stale (unclassified)",
        "without.md": "stale (unclassified)",
        "same.md": "current",
    }
    assert any("could not be read" in english(problem.what) for problem in found.problems)


def test_a_treeless_clone_refuses_to_read_history(origin: Book, tmp_path: Path) -> None:
    found = origin.clone(tmp_path / "clone", "--filter=tree:0").survey()
    assert {page.key: page.freshness for page in found.pages} == {
        "with.md": Freshness.STALE,
        "without.md": Freshness.UNKNOWN,
        "same.md": Freshness.UNKNOWN,
    }
    treeless = next(problem for problem in found.problems if "treeless" in english(problem.what))
    assert "--filter=blob:none" in english(treeless.hint)


def test_a_treeless_clone_fetches_no_folders_for_included_code(book: Book, tmp_path: Path) -> None:
    book.including("# ANCHOR: a\nvar x = 1\n# ANCHOR_END: a\n")
    clone = book.clone(tmp_path / "clone", "--filter=tree:0")
    clone.git("remote", "set-url", "origin", f"file://{tmp_path}/nowhere")
    found = check_fidelity(clone.survey(), None)
    assert [english(problem.what) for problem in found.problems] == [
        "included code was not compared with that at the pin: this is a treeless clone"
    ]
    assert "--filter=blob:none" in english(found.problems[0].hint)


def test_a_shallow_clone_does_not_call_a_commit_lost(book: Book, tmp_path: Path) -> None:
    book.including("# ANCHOR: a\nvar x = 1\n# ANCHOR_END: a\n")
    clone = book.clone(tmp_path / "clone", "--depth=1")
    found = check_fidelity(clone.survey(), None)
    assert found.findings == ()
    assert [english(problem.why) for problem in found.problems] == [
        "the history of this clone is cut off before 1 pinned commit"
    ]


def test_a_detached_head_without_a_main_branch_is_as_good_as_any(origin: Book) -> None:
    origin.git("checkout", "-q", "--detach")
    origin.git("branch", "-q", "-D", "main")
    assert states(origin)["without.md"] is Freshness.STALE
    assert states(origin)["same.md"] is Freshness.CURRENT


def test_a_bare_repository_is_refused_with_the_way_out(origin: Book, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    origin.git("clone", "-q", "--bare", str(origin.root), str(bare))
    with pytest.raises(BareRepository) as error:
        Repository.open(bare, bare)
    assert "worktree add" in (error.value.hint or "")


def test_without_git_pages_with_a_blob_line_are_judged_and_the_others_unknown(
    origin: Book, tmp_path: Path
) -> None:
    plain = tmp_path / "unpacked"
    shutil.copytree(origin.root, plain, ignore=shutil.ignore_patterns(".git"))
    found = states(Book(plain))
    assert found["with.md"] is Freshness.STALE
    assert found["same.md"] is Freshness.UNKNOWN


def test_without_a_git_program_pages_without_a_blob_line_are_unknown(
    origin: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    found = survey(origin.roots)
    assert {page.key: page.freshness for page in found.pages}["same.md"] is Freshness.UNKNOWN
    assert any("not installed" in english(page.reason) for page in found.pages)


def test_a_book_in_a_submodule_is_judged_by_its_own_history(origin: Book, tmp_path: Path) -> None:
    outer = Book(tmp_path / "outer")
    outer.root.mkdir()
    outer.git("init", "-q", "-b", "main")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(origin.root), "lib/book")
    outer.commit("add the book")
    assert states(Book(outer.root / "lib/book")) == states(origin)


def test_a_linked_worktree_is_as_good_as_a_clone(origin: Book, tmp_path: Path) -> None:
    origin.git("worktree", "add", "-q", str(tmp_path / "linked"), "--detach")
    assert states(Book(tmp_path / "linked")) == states(origin)


def test_a_repository_without_commits_has_only_what_markers_say(tmp_path: Path) -> None:
    book = Book.create(tmp_path / "new")
    book.english()
    book.korean(commit="a" * 40)
    assert book.status().freshness is Freshness.BAD_PIN


def test_a_broken_repository_makes_pages_unknown(origin: Book) -> None:
    shutil.rmtree(origin.root / ".git/objects")
    (origin.root / ".git/objects").mkdir()
    found = states(origin)
    assert found["same.md"] is not Freshness.CURRENT
    assert found["without.md"] is not Freshness.CURRENT


def test_lost_commits_are_fetched_when_asked_for(origin: Book, tmp_path: Path) -> None:
    origin.git("switch", "-q", "-c", "pull-request")
    pinned = origin.edit("second item", "item two", page="same.md")
    origin.git("switch", "-q", "main")
    clone = origin.clone(tmp_path / "clone", "--single-branch")
    clone.korean(page="same.md", commit=pinned)
    assert clone.status("same.md").freshness is Freshness.BAD_PIN
    fetched = {page.key: page.freshness for page in clone.survey(fetch=True).pages}
    assert fetched["same.md"] is Freshness.STALE


def test_what_the_remote_refuses_stays_a_bad_pin(origin: Book, tmp_path: Path) -> None:
    clone = origin.clone(tmp_path / "clone")
    clone.korean(page="same.md", commit="b" * 40)
    fetched = {page.key: page.freshness for page in clone.survey(fetch=True).pages}
    assert fetched["same.md"] is Freshness.BAD_PIN


def test_variables_of_a_hook_do_not_mislead(origin: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nonexistent")
    found = {page.key: page.freshness for page in survey(origin.roots).pages}
    assert found["same.md"] is Freshness.CURRENT
