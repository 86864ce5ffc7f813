"""stamp, repair, recover, diff and new-lang through the real entry point."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest

from tests.translations.book_fixture import ENGLISH, KOREAN, Book
from tests.translations.conftest import Tool
from tooling.translations.marker import read_marker, write_marker
from tooling.translations.model import Freshness, Pin


def pin_of(book: Book, page: str = "page.md") -> Pin | None:
    return read_marker((book.target / page).read_bytes()).pin


# ---- stamp ----


def test_stamp_writes_commit_and_blob_of_todays_source(book: Book, tool: Tool) -> None:
    book.english()
    born = book.commit("write")
    book.korean()
    book.commit("translate")
    assert tool("stamp", "i18n/ko/book/src/page.md").status == 0
    assert pin_of(book) == Pin(born, book.blob())
    assert book.status().freshness is Freshness.CURRENT


def test_stamp_after_translating_the_change(book: Book, tool: Tool) -> None:
    book.translated()
    edited = book.edit("first item", "item one")
    path = book.target / "page.md"
    path.write_text(path.read_text().replace("첫째 항목", "항목 하나"))
    assert tool("stamp", "page.md").status == 0
    assert pin_of(book) == Pin(edited, book.blob())


def test_stamp_refuses_an_unedited_page(book: Book, tool: Tool) -> None:
    book.translated()
    before = pin_of(book)
    book.edit("first item", "item one")
    result = tool("stamp", "page.md")
    assert result.status == 1
    assert "has not been edited" in result.out and "--reviewed" in result.out
    assert pin_of(book) == before
    assert tool("stamp", "--reviewed", "page.md").status == 0


def _two_sections_changed(book: Book) -> None:
    book.translated()
    book.edit("Write to `shared` first", "First write to `shared` with care")
    book.edit("Threads of a block meet", "All threads of a block meet")


def _translate(book: Book, old: str, new: str) -> None:
    page = book.target / "page.md"
    assert old in page.read_text(encoding="utf-8")
    page.write_text(page.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    book.commit("translate a part")


def test_stamp_refuses_an_unedited_section_that_changed_in_the_source(book: Book, tool: Tool) -> None:
    _two_sections_changed(book)
    _translate(book, "블록의 스레드는", "블록의 모든 스레드는")
    before = (book.target / "page.md").read_bytes()
    result = tool("stamp", "page.md")
    assert result.status == 1
    assert result.out == (
        "refused i18n/ko/book/src/page.md: these sections changed in the source and were not edited in the "
        'translation: §2 "Shared memory" (prose, 1 block) → lines 9-10\n'
        "  try: tooling check-translations diff i18n/ko/book/src/page.md; where the translation is right as "
        "it stands, add --keep 2\n"
    )
    assert (book.target / "page.md").read_bytes() == before
    assert tool("stamp", "page.md", "--keep", "1").status == 1
    assert tool("stamp", "page.md", "--keep", "2").status == 0
    assert "1 current" in tool("status").out


def test_stamp_takes_a_page_whose_changed_sections_were_edited(book: Book, tool: Tool) -> None:
    _two_sections_changed(book)
    _translate(book, "블록의 스레드는", "블록의 모든 스레드는")
    _translate(book, "먼저 `shared`에", "먼저 조심해서 `shared`에")
    assert tool("stamp", "page.md").status == 0


def test_stamp_takes_a_section_that_was_added_in_both(book: Book, tool: Tool) -> None:
    book.translated()
    book.edit("## Code\n", "## Limits\n\nThere is a limit.\n\n## Code\n")
    _translate(book, "## 코드\n", "## 한계\n\n한계가 있습니다.\n\n## 코드\n")
    result = tool("stamp", "page.md")
    assert result.status == 0, result


def test_sections_to_keep_are_those_of_one_page(book: Book, tool: Tool) -> None:
    book.translated()
    book.translated("other.md")
    result = tool("stamp", "page.md", "other.md", "--keep", "1")
    assert (result.status, result.out) == (2, "")
    assert "--keep names sections of one page, and 2 are to be stamped" in result.err


def test_stamp_refuses_uncommitted_source_text(book: Book, tool: Tool) -> None:
    book.translated()
    book.edit("first item", "item one", message=None)
    result = tool("stamp", "--reviewed", "page.md")
    assert result.status == 1
    assert "uncommitted edits" in result.out


def test_stamp_refuses_a_commit_outside_the_base(book: Book, tool: Tool) -> None:
    book.translated()
    book.git("switch", "-q", "-c", "side")
    side = book.edit("first item", "item one")
    book.git("switch", "-q", "main")
    result = tool("stamp", "--at", side, "page.md")
    assert result.status == 1
    assert "not in the history" in result.out
    assert tool("stamp", "--at", side, "--base", "side", "page.md").status == 0


def test_stamp_refuses_parity_errors_unless_forced(book: Book, tool: Tool) -> None:
    book.translated()
    path = book.target / "page.md"
    path.write_text(path.read_text().replace("shared[i] = a[i]", "shared[i] = b[i]"))
    result = tool("stamp", "page.md")
    assert result.status == 1
    assert "parity error" in result.out
    assert tool("stamp", "--force", "page.md").status == 0


def test_stamp_refuses_a_whole_tree_without_all(book: Book, tool: Tool) -> None:
    book.translated()
    for arguments in ((), ("i18n/ko/book/src",), (".",)):
        result = tool("stamp", *arguments)
        assert result.status == 2
        assert "--all" in result.err
    assert tool("stamp", "--all").status == 0


def test_stamp_at_an_older_version(book: Book, tool: Tool) -> None:
    first = book.translated()
    book.edit("first item", "item one")
    assert tool("stamp", "--at", first, "page.md").status == 0
    assert pin_of(book) == Pin(first, book.blob(commit=first))
    assert book.status().freshness is Freshness.STALE


def test_stamp_names_the_commit_that_made_the_text(book: Book, tool: Tool) -> None:
    first = book.translated()
    (book.root / "README").write_text("x")
    book.commit("something else")
    assert tool("stamp", "--at", "HEAD", "page.md").status == 0
    assert pin_of(book) == Pin(first, book.blob())


def test_stamp_names_a_commit_with_the_included_code_that_was_read(book: Book, tool: Tool) -> None:
    first = book.including("# ANCHOR: a\nvar x = 1\n# ANCHOR_END: a\n")
    (book.root / "code.mojo").write_text("# ANCHOR: a\nvar x = 2\n# ANCHOR_END: a\n")
    changed = book.commit("change the code")
    (book.root / "README").write_text("x")
    later = book.commit("something else")
    assert "1 to reread" in (out := tool("status").out)
    assert f"git diff {first[:12]} -- code.mojo; reread the prose" in out
    assert tool("stamp", "--reviewed", "page.md").status == 0
    assert pin_of(book) == Pin(later, book.blob())
    assert "reread" not in tool("status").out
    assert tool("stamp", "--at", changed, "page.md").status == 0
    assert pin_of(book) == Pin(changed, book.blob())


def test_stamp_reports_an_unknown_reference(book: Book, tool: Tool) -> None:
    book.translated()
    result = tool("stamp", "--at", "no-such-branch", "page.md")
    assert result.status == 2
    assert "--at no-such-branch" in result.err


def test_stamp_keeps_every_other_byte_and_the_permissions(book: Book, tool: Tool) -> None:
    book.english()
    book.commit()
    path = book.korean("\ufeff" + KOREAN.replace("\n", "\r\n"))
    path.chmod(0o755)
    assert tool("stamp", "page.md").status == 0
    lines = path.read_bytes().split(b"\r\n")
    assert lines[0].startswith(b"\xef\xbb\xbf<!-- i18n-source-commit: ")
    assert b"\r\n".join(lines[2:]).decode() == KOREAN.replace("\n", "\r\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_stamp_never_overwrites_an_edit_made_meanwhile(
    book: Book, tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.translated()
    path = book.target / "page.md"

    def meddling(data: bytes, pin: Pin, key: str | None) -> bytes:
        path.write_bytes(data + "덧붙임\n".encode())
        return write_marker(data, pin, key)

    monkeypatch.setattr("tooling.translations.commands.stamp.write_marker", meddling)
    result = tool("stamp", "--reviewed", "page.md")
    assert result.status == 1
    assert "changed while" in result.out
    assert path.read_text().endswith("덧붙임\n")
    assert not list(book.target.glob(".page*"))


# ---- repair and recover ----


def test_repair_finds_a_lost_commit_by_its_text_and_leaves_the_text_alone(book: Book, tool: Tool) -> None:
    book.translated()
    born = pin_of(book)
    assert born is not None and born.blob is not None
    book.korean(commit="d" * 40, blob=born.blob)
    text = (book.target / "page.md").read_bytes().split(b"\n", 2)[2]
    result = tool("repair")
    assert result.status == 0
    assert pin_of(book) == born
    assert (book.target / "page.md").read_bytes().split(b"\n", 2)[2] == text


def test_repair_adds_missing_blob_lines(book: Book, tool: Tool) -> None:
    commit = book.translated(with_blob=False)
    dry = tool("repair", "--dry-run")
    assert "would write" in dry.out
    assert pin_of(book) == Pin(commit, None)
    tool("repair")
    assert pin_of(book) == Pin(commit, book.blob(commit=commit))
    assert "every marker is sound" in tool("repair").out


def test_repair_leaves_a_sound_pin_that_does_not_touch_the_page(book: Book, tool: Tool) -> None:
    book.translated()
    (book.root / "README").write_text("x")
    later = book.commit("something else")
    book.korean(commit=later, blob=book.blob())
    assert "every marker is sound" in tool("repair").out


def test_repair_reports_what_it_cannot_repair(book: Book, tool: Tool) -> None:
    book.english()
    book.korean(commit="d" * 40)
    book.commit()
    result = tool("repair")
    assert result.status == 1
    assert "cannot repair" in result.out and "recover" in result.out


def test_repair_names_markers_that_are_missing_broken_or_double(book: Book, tool: Tool) -> None:
    for name in ("none.md", "short.md", "twice.md"):
        book.translated(name)
    book.korean(page="none.md")
    book.korean(page="short.md", commit="abc")
    marker = f"<!-- i18n-source-commit: {'d' * 40} -->\n"
    (book.target / "twice.md").write_text(marker * 2 + KOREAN, encoding="utf-8")
    result = tool("repair")
    assert result.status == 1
    assert result.out == "".join(
        f"cannot repair i18n/ko/book/src/{name}: {reason}: "
        f"tooling check-translations recover i18n/ko/book/src/{name}\n"
        for name, reason in (
            ("none.md", "the page has no marker"),
            ("short.md", "i18n-source-commit is not the id of a commit: 'abc'"),
            ("twice.md", "i18n-source-commit occurs twice"),
        )
    )


def test_stamp_refuses_a_page_that_is_not_text_and_goes_on(book: Book, tool: Tool) -> None:
    book.english()
    book.english(page="other.md")
    book.commit("write")
    book.korean()
    (book.target / "page.md").write_bytes(b"# \xff\n")
    book.korean(page="other.md")
    book.commit("translate")
    result = tool("stamp", "--all")
    assert result.status == 1
    assert "stamped i18n/ko/book/src/other.md: " in result.out
    assert (
        "refused i18n/ko/book/src/page.md: the translation is not UTF-8 text: invalid start byte at byte 2\n"
        "  try: save the page as UTF-8\n"
    ) in result.out


def test_folders_without_pages_do_not_pass(book: Book, tool: Tool) -> None:
    book.commit("nothing")
    result = tool("--check")
    assert (result.status, result.out) == (2, "")
    assert "--source: no pages below book/src" in result.err


def test_a_mistake_that_todays_source_has_made_right_is_not_reported(book: Book, tool: Tool) -> None:
    book.translated()
    _translate(book, "첫째 항목", "첫째 항목 32")
    _translate(book, "둘째 항목", "둘째 항목 64")
    assert tool("status").out.count("is not in the source") == 2
    book.edit("first item", "first item of 32")
    found = tool("status").out
    assert "the number `64` is not in the source" in found
    assert "`32`" not in found


def test_recover_does_not_write_where_date_and_similarity_disagree(book: Book, tool: Tool) -> None:
    book.english()
    same = book.commit("write")
    book.edit("first item", "first `item` of 32")
    book.korean(commit="d" * 40)
    book.commit("translate the older text")
    result = tool("recover", "page.md", "--apply")
    assert result.status == 1
    assert f"1. {same[:12]}" in result.out
    assert "  not written: date and similarity disagree\n" in result.out
    assert pin_of(book) == Pin("d" * 40, None)


@pytest.mark.parametrize("apply", [False, True])
def test_recover_ranks_by_similarity_and_date_and_writes_only_with_apply(
    book: Book, tool: Tool, apply: bool
) -> None:
    book.english()
    book.commit("write")
    right = book.edit("first item", "first `item` of 32")
    book.korean(KOREAN.replace("첫째 항목", "첫째 `item` 32"), commit="d" * 40)
    book.commit("translate, pinned to a commit that was squashed away")
    book.edit("second item", "second `item` of 64")
    result = tool("recover", "page.md", *(["--apply"] if apply else []))
    assert result.status == 0
    assert f"1. {right[:12]}" in result.out and "when the marker was written" in result.out
    assert pin_of(book) == (Pin(right, book.blob(commit=right)) if apply else Pin("d" * 40, None))


# ---- diff ----


def test_diff_groups_changes_by_commit_with_the_lines_to_edit(book: Book, tool: Tool) -> None:
    book.translated()
    book.edit("first item", "item one", message="Reword the first item")
    book.edit("a[i]", "b[i]", message="Read from b")
    book.edit("second item", "item two", message=None)
    out = tool("diff", "page.md").out
    assert out.index("Reword the first item") < out.index("Read from b") < out.index("uncommitted edits")
    assert '§2 "Shared memory": block changed (prose) → i18n/ko/book/src/page.md:12' in out
    assert '§3 "Code": block changed (code) → i18n/ko/book/src/page.md:17-20' in out
    assert "- - first item\n    + - item one" in out


def test_diff_shows_the_new_position_of_a_moved_section(book: Book, tool: Tool) -> None:
    book.translated()
    text = (book.source / "page.md").read_text()
    start, end = text.index("## Shared memory"), text.index("## Code")
    code = text[end:].removesuffix("\nThis is `page.md`.\n")
    assert text.endswith("This is `page.md`.\n")
    book.english(f"{text[:start]}{code}\n{text[start:end].rstrip()}\n\nThis is `page.md`.\n")
    book.commit("Code first")
    assert '§3 "Code" (prose, code, 2 blocks only moved) → lines 15-20' in tool("status").out
    moved = (
        '§3 "Code": 2 blocks moved, unchanged → i18n/ko/book/src/page.md:15-20, to after line 5\n    ## Code'
    )
    assert moved in tool("diff", "page.md").out


def test_diff_marks_words(book: Book, tool: Tool) -> None:
    book.translated()
    book.edit("meet at a barrier", "wait at a barrier")
    assert "[-meet-]{+wait+} at a barrier" in tool("diff", "--words", "page.md").out


def test_lines_are_those_of_the_translation_even_after_later_insertions(book: Book, tool: Tool) -> None:
    book.translated()
    book.edit("# Barriers\n", "# Barriers\n\nA new paragraph.\n\n## A new section\n\nMore.\n")
    book.edit("a[i]", "b[i]", message="Read from b")
    assert '§4 "Code": block changed (code) → i18n/ko/book/src/page.md:17-20' in tool("diff", "page.md").out


def test_diff_of_a_current_page(book: Book, tool: Tool) -> None:
    book.translated()
    assert "nothing to translate" in tool("diff", "page.md").out


def test_diff_of_an_undetermined_page_fails(book: Book, tool: Tool) -> None:
    book.english()
    book.korean(commit="d" * 40)
    book.commit()
    assert tool("diff", "page.md").status == 2


def test_a_page_that_does_not_exist_is_a_usage_error(book: Book, tool: Tool) -> None:
    book.translated()
    result = tool("diff", "nothing.md")
    assert result.status == 2
    assert "no such page" in result.err


# ---- new-lang ----


def test_a_new_language_starts_from_the_source_book(book: Book, tool: Tool) -> None:
    book.english("# Summary\n\n- [A](a.md)\n", "SUMMARY.md")
    book.english(page="a.md")
    (book.root / "book/book.toml").write_text('[book]\ntitle = "T"\nlanguage = "en"\n')
    result = tool("new-lang", "ja", "--name", "日本語")
    assert result.status == 0
    assert "1 page waits" in result.out and "a.md" in result.out
    folder = book.root / "i18n/ja"
    assert tomllib.loads((folder / "book/book.toml").read_text())["book"] == {"title": "T", "language": "ja"}
    blob = book.git("hash-object", "book/src/SUMMARY.md")
    assert (folder / "book/src/SUMMARY.md").read_text() == (
        f"<!-- i18n-source-blob: {blob} -->\n# Summary\n\n- [A](a.md)\n"
    )
    entry = tomllib.loads((book.root / "i18n/languages.toml").read_text())["language"]
    assert entry == [{"code": "ja", "name": "日本語", "policy": "growing"}]
    assert tool("new-lang", "ja").status == 2


def test_a_concurrent_reader_of_the_languages_reads_a_complete_file(book: Book, tool: Tool) -> None:
    book.english("# Summary\n", "SUMMARY.md")
    (book.root / "book/book.toml").write_text('[book]\ntitle = "T"\n')
    assert tool("new-lang", "ja").status == 0
    languages = book.root / "i18n/languages.toml"
    old = languages.read_text()
    with languages.open() as reader:
        assert tool("new-lang", "de").status == 0
        assert reader.read() == old
    assert [each["code"] for each in tomllib.loads(languages.read_text())["language"]] == ["ja", "de"]


@pytest.mark.parametrize("code", ["en", "en-US"])
def test_the_language_of_the_source_is_refused(book: Book, tool: Tool, code: str) -> None:
    book.english("# Summary\n", "SUMMARY.md")
    (book.root / "book/book.toml").write_text('[book]\ntitle = "T"\n')
    result = tool("new-lang", code)
    assert result.status == 2
    assert f"error: {code} is the language of the source" in result.err
    assert not (book.root / "i18n" / code).exists()


@pytest.mark.parametrize("code", ["Korean", "k", "../ko", "ko/x", ""])
def test_an_invalid_language_code_is_refused(book: Book, tool: Tool, code: str) -> None:
    assert tool("new-lang", code).status == 2


# ---- roots ----


def test_any_book_with_the_marker_will_do(book: Book, tool: Tool, tmp_path: Path) -> None:
    book.translated()
    book.git("mv", "book/src", "en")
    book.git("mv", "i18n/ko/book/src", "ko")
    book.commit("another layout")
    options = ("--source", "en", "--translation", "{lang}", "--lang", "ko")
    assert "1 current" in tool("status", *options).out
    assert tool("status", "--source", "nowhere").status == 2
    assert ENGLISH.startswith("# ")


# ---- what a translator works from ----


def test_net_changes_leave_out_what_was_changed_back(book: Book, tool: Tool) -> None:
    book.translated()
    book.edit("meet at", "wait at")
    book.edit("first item", "item one")
    book.edit("wait at", "meet at")
    by_commit = tool("diff", "page.md").out
    assert by_commit.count("block changed") == 3
    net = tool("diff", "--net", "page.md").out
    assert net.count("block changed") == 1
    assert "\nsince the pin\n" in net
    assert '§2 "Shared memory": block changed (prose) → i18n/ko/book/src/page.md:12' in net


def test_changes_are_written_as_html_beside_the_translation(book: Book, tool: Tool, tmp_path: Path) -> None:
    book.translated()
    book.edit("first item", "first <one>")
    file = tmp_path / "changes.html"
    result = tool("diff", "--html", str(file), "page.md")
    assert (result.status, result.out) == (0, "")
    text = file.read_text(encoding="utf-8")
    assert "<h2><code>i18n/ko/book/src/page.md</code>: stale (prose)</h2>" in text
    assert "<h3>§2 &quot;Shared memory&quot;</h3>" in text
    row = "<td>- first <del>item</del></td><td>- first <ins>&lt;one&gt;</ins></td>"
    assert f"<tr>{row}<td><small>lines 12</small>\n- 첫째 항목</td></tr>" in text


def test_source_and_translation_can_be_committed_together(book: Book, tool: Tool) -> None:
    book.translated()
    book.edit("first item", "item one", message=None)
    path = book.target / "page.md"
    path.write_text(path.read_text().replace("첫째 항목", "항목 하나"))
    refused = tool("stamp", "page.md")
    assert refused.status == 1
    assert "add --uncommitted to commit both together" in refused.out
    stamped = tool("stamp", "--uncommitted", "page.md")
    commit = book.commit("edit both")
    assert (stamped.status, stamped.out) == (
        0,
        f"stamped i18n/ko/book/src/page.md: blob {book.blob()[:12]}\n",
    )
    assert pin_of(book) == Pin(None, book.blob())
    assert book.status().freshness is Freshness.CURRENT
    assert tool("repair").status == 0
    assert pin_of(book) == Pin(commit, book.blob())


def test_uncommitted_text_is_checked_like_any_other(book: Book, tool: Tool) -> None:
    book.translated()
    book.edit("## Code", "## Source code", message=None)
    result = tool("stamp", "--uncommitted", "page.md")
    assert result.status == 1
    assert "the translation has not been edited since its marker was written" in result.out


def test_a_block_that_moved_to_another_page_has_its_translation_offered(book: Book, tool: Tool) -> None:
    book.translated("one.md")
    book.english("# Two\n\nOther words.\n", "two.md")
    commit = book.commit()
    book.korean("# 둘\n\n다른 말입니다.\n", "two.md", commit=commit, blob=book.blob("two.md"))
    book.commit()
    book.edit("Threads of a block meet at a barrier.\n", "", "one.md", message=None)
    book.edit("Other words.\n", "Other words.\n\nThreads of a block\nmeet at a barrier.\n", "two.md")
    shown = tool("diff", "book/src/two.md").out
    known = "the same text is translated at i18n/ko/book/src/one.md:5"
    assert f"    {known}\n    = 블록의 스레드는 배리어에서 만납니다.\n" in shown
    tool("diff", "book/src/two.md", "--html", "diff.html")
    assert known in (book.root / "diff.html").read_text("utf-8")


def test_a_new_text_has_no_known_translation(book: Book, tool: Tool) -> None:
    book.translated()
    book.edit("Threads of a block", "All threads of a block")
    assert "the same text" not in tool("diff", "book/src/page.md").out


def test_the_to_do_list_ticks_off_sections_that_were_edited(book: Book, tool: Tool) -> None:
    book.translated()
    book.edit("Threads of a block", "All threads of a block")
    book.edit("Write to `shared` first", "Store to `shared` first")
    assert [line[:8] for line in tool("--format", "todo").out.splitlines() if line.startswith("- [")] == [
        "- [ ] §1",
        "- [ ] §2",
        "- [ ] `t",
    ]
    page = book.target / "page.md"
    page.write_text(page.read_text("utf-8").replace("블록의 스레드는", "블록의 모든 스레드는"), "utf-8")
    out = tool("--format", "todo").out
    assert [line[:8] for line in out.splitlines() if line.startswith("- [")] == [
        "- [x] §1",
        "- [ ] §2",
        "- [ ] `t",
    ]
    assert out.startswith("# To translate (ko): 1 item, 1 page\n")
