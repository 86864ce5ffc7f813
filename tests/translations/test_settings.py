"""The file of the translations: languages with a policy, other trees, other markers; hints repeat options."""

from __future__ import annotations

import pytest

from tests.translations.book_fixture import KOREAN, Book
from tests.translations.conftest import Tool

JAPANESE = "# バリア\n\nブロックのスレッドはバリアで待ち合わせます。\n"
SUMMARY = "# Summary\n\n[Cover](cover.md)\n\n# Part I\n\n- [Barriers](page.md)\n- [Warps](warps.md)\n"


def growing(book: Book, tool: Tool) -> None:
    """A book with `ja` started by new-lang, and a page that needs a translation."""
    book.english("# Barriers\n\nThreads of a block meet at a barrier.\n")
    book.english("# Warps\n\nSee [Barriers](page.md).\n", "warps.md")
    book.english("# Cover\n\nA book.\n", "cover.md")
    (book.root / "book/book.toml").write_text('# The English edition.\n[book]\nlanguage = "en"\n')
    (book.source / "SUMMARY.md").write_text(SUMMARY)
    book.commit("write the book")
    assert tool("new-lang", "ja", "--name", "日本語").status == 0
    book.commit("start ja")


def test_a_new_language_passes_and_says_how_many_pages_are_missing(book: Book, tool: Tool) -> None:
    growing(book, tool)
    result = tool("--all-languages", "--fail-on", "warning")
    assert (result.status, result.out.splitlines()[-2:]) == (
        0,
        ["1 current · 3 missing", "0 errors, 0 warnings"],
    )
    assert "warps.md" not in result.out
    assert "warps.md" in tool("--lang", "ja", "--all", "--axis", "freshness").out
    assert (book.root / "i18n/ja/book/book.toml").read_text() == '[book]\nlanguage = "ja"\n'


def test_the_translation_of_a_page_gives_the_contents_its_title(book: Book, tool: Tool) -> None:
    growing(book, tool)
    target = book.root / "i18n/ja/book/src"
    (target / "page.md").write_text(JAPANESE, "utf-8")
    (book.root / "i18n/ja/glossary.yaml").write_text(
        "terms:\n- {en: barrier, ja: [バリア, 障壁], first_use: false}\n"
    )
    assert tool("stamp", "i18n/ja/book/src/page.md").status == 0
    written = tool("summary", "--lang", "ja")
    assert written.status == 0
    assert written.out.splitlines()[1:] == [
        "4 titles are not translated yet:", "  Summary", "  Cover", "  Part I", "  Warps",
    ]  # fmt: skip
    text = (target / "SUMMARY.md").read_text("utf-8")
    assert text.splitlines()[1:] == SUMMARY.replace("Barriers", "バリア").splitlines()
    (target / "SUMMARY.md").write_text(
        text.replace("# Part I", "# 第1部").replace("[バリア]", "[障壁]"), "utf-8"
    )
    again = tool("summary", "--lang", "ja")
    assert "3 titles are not translated yet" in again.out
    assert "# 第1部\n\n- [障壁](page.md)\n" in (target / "SUMMARY.md").read_text("utf-8")
    result = tool("--all-languages", "--fail-on", "warning")
    assert (result.status, result.out.splitlines()[-2:]) == (
        0,
        ["2 current · 2 missing", "0 errors, 0 warnings"],
    )


def test_a_complete_language_needs_every_page(book: Book, tool: Tool) -> None:
    growing(book, tool)
    path = book.root / "i18n/languages.toml"
    path.write_text(path.read_text().replace("growing", "complete"))
    result = tool("--all-languages", "--axis", "freshness", "--fail-on", "warning")
    assert result.status == 1
    assert "failed: 3 findings that count" in result.out


def test_every_language_is_checked_and_the_worst_result_counts(book: Book, tool: Tool) -> None:
    book.translated()
    growing(book, tool)
    path = book.root / "i18n/languages.toml"
    path.write_text('[[language]]\ncode = "ko"\nname = "한국어"\n\n' + path.read_text())
    result = tool("--all-languages", "--axis", "freshness", "--fail-on", "warning")
    assert result.status == 1
    titles = [line.partition(" at ")[0] for line in result.out.splitlines() if " → i18n" in line]
    assert titles == ["book/src → i18n/ko/book/src", "book/src → i18n/ja/book/src"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--format", "json"), "--format json is for one language, and --all-languages checks several"),
        (("--glossary", "x.yaml"), "--glossary is for one language, and --all-languages checks several"),
    ],
)
def test_what_is_for_one_language_is_refused(
    options: tuple[str, str], message: str, book: Book, tool: Tool
) -> None:
    growing(book, tool)
    result = tool("--all-languages", *options)
    assert (result.status, result.err.splitlines()[0]) == (2, f"error: {message}")


def test_without_a_list_there_is_nothing_to_check(book: Book, tool: Tool) -> None:
    book.translated()
    result = tool("--all-languages")
    assert result.status == 2
    assert result.err.splitlines()[0] == "error: --all-languages: there is no list of languages"


def test_the_language_of_a_page_need_not_be_given(book: Book, tool: Tool) -> None:
    growing(book, tool)
    (book.root / "i18n/ja/book/src/page.md").write_text(JAPANESE, "utf-8")
    result = tool("i18n/ja/book/src/page.md", "--axis", "freshness")
    assert "i18n/ja/book/src/page.md\n  untracked: " in result.out


# ---- other trees and markers ----

ENGLISH_PAGE = (
    "---\ntitle: Barriers\n---\n\n# Barriers\n\nThreads meet.\n\n{{< note >}}\nWait.\n{{< /note >}}\n"
)
KOREAN_PAGE = (
    "---\ntitle: 배리어\nl10n:\n  sourceCommit: {}\n---\n\n# 배리어\n\n스레드가 만납니다.\n\n"
    "{{{{< note >}}}}\n기다립니다.\n{{{{< /note >}}}}\n"
)
SETTINGS = """\
[translations]
source = "content/en"
translation = "content/{lang}"
marker = "l10n.sourceCommit"
profile = "hugo"

[[language]]
code = "ko"
name = "한국어"
"""


def foreign(book: Book, commit: str = "") -> str:
    """A site of another generator with one translated page, `_index.md`; the commit of its source."""
    for code, text in (("en", ENGLISH_PAGE), ("ko", "")):
        (book.root / "content" / code / "docs").mkdir(parents=True)
        (book.root / f"content/{code}/docs/_index.md").write_text(text, "utf-8")
    source = book.commit("write")
    page = book.root / "content/ko/docs/_index.md"
    page.write_text(KOREAN_PAGE.format(commit or source), "utf-8")
    book.commit("translate")
    return source


def test_settings_name_the_trees_the_marker_and_the_profile(book: Book, tool: Tool) -> None:
    source = foreign(book)
    (book.root / "translations.toml").write_text(SETTINGS)
    result = tool("--fail-on", "warning")
    assert result.status == 0, result
    assert result.out.splitlines()[-2:] == ["1 current", "0 errors, 0 warnings"]
    english = book.root / "content/en/docs/_index.md"
    english.write_text(ENGLISH_PAGE.replace("Wait.", "Wait for all of them."))
    edited = book.commit("edit")
    result = tool("--fail-on", "warning")
    assert (result.status, "1 stale" in result.out) == (1, True)
    page = book.root / "content/ko/docs/_index.md"
    page.write_text(page.read_text("utf-8").replace("기다립니다", "모두 기다립니다"), "utf-8")
    stamped = tool("stamp", "content/ko/docs/_index.md")
    assert stamped.status == 0, stamped
    assert page.read_text("utf-8") == KOREAN_PAGE.format(edited).replace("기다립니다", "모두 기다립니다")
    assert source != edited


def test_hints_repeat_the_options(book: Book, tool: Tool) -> None:
    foreign(book)
    english = book.root / "content/en/docs/_index.md"
    english.write_text(ENGLISH_PAGE.replace("Wait.", "Wait for all of them."))
    book.commit("edit")
    options = ("--source", "content/en", "--translation", "content/{lang}", "--marker", "l10n.sourceCommit",
               "--profile", "hugo")  # fmt: skip
    result = tool("status", *options)
    command = (
        "tooling check-translations diff --source content/en --translation 'content/{lang}' "
        "--marker l10n.sourceCommit --profile hugo content/ko/docs/_index.md"
    )
    assert f"  try: {command}" in result.out.splitlines()
    shown = tool("diff", *options, "content/ko/docs/_index.md")
    assert shown.out.splitlines()[-1] == f"when done: {command.replace(' diff ', ' stamp ')}"


def test_a_marker_of_another_tool_is_named(book: Book, tool: Tool) -> None:
    book.english()
    commit = book.commit("write")
    book.korean(f"---\ntitle: x\nl10n:\n  sourceCommit: {commit}\n---\n{KOREAN}")
    result = tool("status")
    assert (
        "  untracked: the page has no marker that is read; its line 4 has `l10n.sourceCommit`" in result.out
    )
    assert (
        '  try: --marker l10n.sourceCommit, or `marker = "l10n.sourceCommit"` in [translations] of '
        "translations.toml, reads it"
    ) in result.out
    assert "1 current" in tool("status", "--marker", "l10n.sourceCommit", "--axis", "freshness").out


def test_a_page_without_a_marker_gets_the_key(book: Book, tool: Tool) -> None:
    book.english()
    commit = book.commit("write")
    path = book.korean(f"---\ntitle: x\n---\n{KOREAN}")
    result = tool("stamp", "--marker", "l10n.sourceCommit", "--profile", "plain", "page.md")
    assert result.status == 0, result
    assert path.read_text("utf-8") == f"---\ntitle: x\nl10n:\n  sourceCommit: {commit}\n---\n{KOREAN}"


def test_an_abbreviated_commit_is_a_pin(book: Book, tool: Tool) -> None:
    commit = book.translated(with_blob=False)
    book.korean(f"{KOREAN}\n이 글은 `page.md`입니다.\n", commit=commit[:8])
    assert "1 current" in tool("--axis", "freshness").out
    book.korean(KOREAN, commit="deadbeef")
    result = tool("--axis", "freshness")
    assert (
        "bad-pin: commit deadbeef does not exist here: squashed, rebased or never pushed, or other objects "
        "begin with it too"
    ) in result.out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[translation]\n", "`translation` is unknown"),
        ('[translations]\nmarker = "a b"\n', "`marker` is `a b`"),
        ('[translations]\nprofile = "jekyll"\n', "`profile` is `jekyll`"),
        ("[translations]\nsource = 3\n", "`source` is `3`"),
        ('[translations]\nsrc = "x"\n', "`src` is unknown"),
        ('language = "ko"\n', "`language` is not a list of tables"),
    ],
)
def test_malformed_settings_are_an_error(text: str, why: str, book: Book, tool: Tool) -> None:
    (book.root / "translations.toml").write_text(text)
    result = tool()
    said = " ".join(result.err.split())  # a long path goes to a line of its own
    assert result.status == 2
    assert f": the settings of the translations are malformed why: {why}" in said
