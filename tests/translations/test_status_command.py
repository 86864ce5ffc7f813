"""`tooling check-translations [status]`: policy, exit statuses and formats, through the real entry point."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from tests.translations.book_fixture import DAY, ENGLISH, KOREAN, Book
from tooling.cli import main
from tooling.platform.exit_codes import ExitCode
from tooling.reports.annotations import PER_LEVEL
from tooling.translations.report import json_document
from tooling.translations.report.display import encodable, pad, width
from tooling.translations.report.markdown import COMMENT_LIMIT, COMMENT_MARK

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(book: Book, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in the book at a fixed time; exit status and standard output."""
    monkeypatch.chdir(book.root)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> tuple[int, str]:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", str(book.clock + 10 * DAY))
        status = main(["check-translations", *arguments])
        return status, capsys.readouterr().out

    return call


@pytest.fixture
def mixed(book: Book) -> Book:
    """Pages in most states: current, stale, reformatted, missing, orphaned."""
    for page in ("current.md", "stale.md", "format.md", "게시판.md"):
        book.translated(page)
    book.edit("first item", "item one", page="stale.md")
    book.edit("- first item", "* first item", page="format.md")
    book.english(page="missing.md")
    book.korean(page="orphaned.md", commit="a" * 40, blob="b" * 40)
    book.commit("more")
    return book


def test_the_command_alone_is_status_and_only_reports(mixed: Book, run: Run) -> None:
    assert mixed.root.exists()
    status, out = run()
    assert status == 0
    assert out == run("status")[1]
    assert '§2 "Shared memory" (prose, 1 block) → line 12' in out
    assert "2 current · 2 stale · 1 missing · 1 orphaned" in out
    assert out.rstrip().endswith("reported only; with --check this fails: 2 findings that count")
    assert "only reported" not in run("--check")[1]


@pytest.mark.parametrize(
    ("options", "status"),
    [
        (["--check"], 1),
        (["--fail-on", "stale"], 1),
        (["--fail-on", "stale:code"], 0),
        (["--fail-on", "stale:prose"], 1),
        (["--fail-on", "stale:format"], 1),
        (["--fail-on", "missing"], 1),
        (["--fail-on", "orphaned"], 1),
        (["--fail-on", "glossary"], 0),
        (["--fail-on", "no-such-kind"], 2),
        (["--fail-on", "stale:prose", "--max-stale", "50"], 0),
        (["--fail-on", "stale:prose", "--max-stale", "20"], 1),
        (["--fail-on", "stale:prose", "--max-age", "365"], 0),
        (["--fail-on", "stale:prose", "--max-age", "3"], 1),
        (["--check", "current.md"], 0),
        (["--check", "format.md"], 0),
    ],
)
def test_policy_decides_the_exit_status(mixed: Book, run: Run, options: list[str], status: int) -> None:
    assert mixed.root.exists()
    assert run("status", *options)[0] == status


def test_a_reformatted_source_never_fails_a_check(book: Book, run: Run) -> None:
    book.translated()
    book.edit("- ", "* ")
    assert run("--check")[0] == 0


def test_bad_and_missing_pins_are_undetermined_when_checking(book: Book, run: Run) -> None:
    book.english()
    book.korean()
    book.commit()
    assert run()[0] == 0
    assert run("--check")[0] == 2
    book.korean(commit="d" * 40)
    assert run()[0] == 0
    assert run("--check")[0] == 2


def test_unknown_is_never_a_pass(
    book: Book, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book.translated(with_blob=False)
    clone = book.clone(tmp_path / "clone", "--depth=1")
    monkeypatch.chdir(clone.root)
    for options in ((), ("--check",), ("--fail-on", "missing"), ("--format", "json")):
        assert run("status", *options)[0] == 2


def test_an_unresolvable_reference_does_not_pass(book: Book, run: Run) -> None:
    book.translated()
    assert run("--since", "origin/main")[0] == 2


@pytest.mark.parametrize(
    ("touch", "status"),
    [
        ("nothing", 0),
        ("source of a current page", 0),
        ("stale translation", 1),
        ("current translation", 0),
        ("uncommitted stale translation", 1),
        ("new translation without marker", 2),
    ],
)
def test_a_change_answers_for_the_pages_it_touches(book: Book, run: Run, touch: str, status: int) -> None:
    book.translated("current.md")
    book.translated("stale.md")
    base = book.edit("first item", "item one", page="stale.md")
    stale = book.target / "stale.md"
    if touch == "source of a current page":
        book.edit("first item", "item one", page="current.md")
    elif touch == "stale translation":
        stale.write_text(stale.read_text() + "\n오탈자\n")
        book.commit()
    elif touch == "uncommitted stale translation":
        stale.write_text(stale.read_text() + "\n오탈자\n")
    elif touch == "current translation":
        path = book.target / "current.md"
        path.write_text(path.read_text().replace("둘째", "두 번째"))
        book.commit()
    elif touch == "new translation without marker":
        book.english(page="new.md")
        book.korean(page="new.md")
        book.commit()
    found, out = run("--since", base, "--format", "json")
    assert found == status
    if touch == "source of a current page":
        assert [one["severity"] for one in json.loads(out)["findings"]] == ["warning"]


# ---- ignores ----


def ignore(book: Book, key: str, more: str = "") -> None:
    path = book.root / "i18n/ko/ignore.toml"
    path.write_text(f'[[ignore]]\nkey = "{key}"\nreason = "agreed"\n{more}\n')


def test_an_ignored_finding_expires_when_the_source_changes_again(book: Book, run: Run) -> None:
    book.translated()
    book.edit("first item", "item one")
    key = json.loads(run("--format", "json")[1])["findings"][0]["key"]
    ignore(book, key)
    status, out = run("--check", "--format", "json")
    assert status == 0
    assert json.loads(out)["ignored"][0]["because"] == "agreed"
    book.edit("second item", "item two")
    status, out = run("--check", "--format", "json")
    assert status == 1
    assert {one["kind"] for one in json.loads(out)["findings"]} == {"stale:prose", "ignore:unused"}


def test_an_ignore_can_have_a_last_day(book: Book, run: Run) -> None:
    book.translated()
    book.edit("first item", "item one")
    key = json.loads(run("--format", "json")[1])["findings"][0]["key"]
    ignore(book, key, "until = 2099-01-01")
    assert run("--check")[0] == 0
    ignore(book, key, "until = 2020-01-01")
    status, out = run("--check")
    assert status == 1
    assert "expired on 2020-01-01" in out


@pytest.mark.parametrize(
    "text",
    [
        "[[ignore]]\nkey = 'x'",
        "[[ignore]]\nreason = 'x'",
        "[ignore]",
        "x = 1",
        "[[ignore]]\nkey='k'\nreason=''",
        "[",
    ],
)
def test_a_broken_ignore_file_is_an_error(book: Book, run: Run, text: str) -> None:
    book.translated()
    (book.root / "i18n/ko/ignore.toml").write_text(text)
    assert run()[0] == 2


# ---- fidelity ----


def test_a_translation_is_compared_with_its_source_at_the_pin_not_with_todays(book: Book, run: Run) -> None:
    book.translated()
    book.edit("shared[i] = a[i]", "shared[i] = b[i]")
    page = json.loads(run("--format", "json")[1])["pages"]["page.md"]
    assert (page["freshness"], page["fidelity"]) == ("stale", "faithful")


def test_a_translation_that_differs_from_its_source_at_the_pin_is_a_mismatch(book: Book, run: Run) -> None:
    book.translated()
    path = book.target / "page.md"
    path.write_text(path.read_text().replace("shared[i] = a[i]", "shared[i] = b[i]"))
    status, out = run("--check", "--format", "json")
    report = json.loads(out)
    assert status == 1
    assert (report["pages"]["page.md"]["freshness"], report["pages"]["page.md"]["fidelity"]) == (
        "current",
        "mismatch",
    )
    assert any(one["kind"].startswith("parity:") and one["line"] for one in report["findings"])
    assert run("--check", "--axis", "freshness")[0] == 0


def test_included_code_that_changed_since_the_pin_is_pointed_out(book: Book, run: Run) -> None:
    book.including("# ANCHOR: a\nvar x = 1\n# ANCHOR_END: a\nvar y = 1\n")
    code = book.root / "code.mojo"
    code.write_text(code.read_text().replace("var y = 1", "var y = 2"))
    assert "include:drift" not in run("--format", "json")[1]
    code.write_text(code.read_text().replace("var x = 1", "var x = 2"))
    findings = json.loads(run("--format", "json")[1])["findings"]
    assert [(one["kind"], one["severity"], one["line"]) for one in findings] == [("include:drift", "info", 6)]
    assert "code.mojo:a" in findings[0]["message"]


def test_an_include_of_a_missing_file_is_an_error_in_both_languages(book: Book, run: Run) -> None:
    book.english("# T\n\n{{#include gone.mojo}}\n")
    commit = book.commit()
    book.korean("# 제목\n\n{{#include gone.mojo}}\n", commit=commit, blob=book.blob())
    findings = json.loads(run("--format", "json")[1])["findings"]
    files = {one["file"] for one in findings if one["kind"] == "include:missing-file"}
    assert files == {"book/src/page.md", "i18n/ko/book/src/page.md"}


def test_an_empty_glossary_does_not_pass(book: Book, run: Run) -> None:
    book.translated()
    (book.root / "i18n/ko/glossary.yaml").write_text("terms: []\n")
    assert run()[0] == 2


# ---- formats ----


def test_json_follows_its_schema(mixed: Book, run: Run) -> None:
    schema = json.loads((Path(json_document.__file__).parent / "status.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    document = json.loads(run("--format", "json")[1])
    jsonschema.validate(document, schema)
    assert set(document["pages"]) == {
        "current.md",
        "stale.md",
        "format.md",
        "게시판.md",
        "missing.md",
        "orphaned.md",
    }
    assert document["pages"]["stale.md"]["sections"][0]["target_lines"] == [12, 12]
    assert document["pages"]["format.md"]["needs_translation"] is False
    assert mixed.root.exists()


def test_the_report_can_be_written_to_a_file(mixed: Book, run: Run) -> None:
    status, out = run("--format", "json", "--output", "build/status.json")
    assert (status, out) == (0, "")
    assert json.loads((mixed.root / "build/status.json").read_text())["schema"] == 1


def test_columns_line_up_with_korean_names(mixed: Book, run: Run) -> None:
    assert mixed.root.exists()
    rows = run("--all")[1].split("\n\n")[1].splitlines()
    column = rows[0].index("freshness")
    for row in rows[1:]:
        cut = next(index for index in range(len(row) + 1) if width(row[:index]) == column)
        assert row[cut - 2 : cut] == "  " and row[cut] != " "


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("배리어", 6), ("배리어 1", 8), ("naïve", 5), ("e\u0301", 1), ("\u1112\u1161\u11ab", 2)],
)
def test_hangul_takes_two_columns(text: str, columns: int) -> None:
    assert width(text) == columns
    assert width(pad(text, 10)) == 10


def test_terminals_without_unicode_get_readable_text() -> None:
    assert encodable('§3 "a" → b', "ascii") == 'section 3 "a" -> b'
    assert encodable("§3 → 배리어", "utf-8") == "§3 → 배리어"


def test_colour_is_asked_for_and_can_be_refused(
    mixed: Book, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert mixed.root.exists()
    assert "\x1b[" not in run()[1]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[33m" in run()[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in run()[1]


def test_github_annotations_stay_within_what_is_shown(
    book: Book, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for number in range(30):
        book.english(page=f"missing, {number}: 100%.md")
        book.korean(page=f"orphaned {number}.md", commit="a" * 40)
    book.commit()
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    lines = run("--format", "github")[1].splitlines()
    commands = [line for line in lines if line.startswith("::")]
    kinds = [line.split(" ")[0].strip(":") for line in commands]
    assert kinds == ["error"] * PER_LEVEL + ["warning"] * PER_LEVEL
    assert "40 more findings are in the step summary" in lines[-1]
    warning = next(line for line in commands if line.startswith("::warning"))
    properties, message = re.fullmatch(r"::warning (.*?)::(.*)", warning).groups()  # type: ignore[union-attr]
    assert "file=book/src/missing%2C 0%3A 100%25.md" in properties
    assert "%0Atry: " in message
    assert "orphaned 29.md" in summary.read_text()


def test_a_workflow_gets_annotations_and_a_summary_beside_every_format(
    book: Book, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    book.english(page="missing.md")
    book.commit()
    assert "::" not in run("--check")[1]
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    out = run("--check")[1]
    (line,) = [line for line in out.splitlines() if line.startswith("::")]
    assert line.startswith("::warning file=book/src/missing.md,")
    assert "title=missing%3A missing.md::the page has no translation yet" in line
    assert "missing.md" in summary.read_text()
    json.loads(run("--check", "--format", "json")[1])  # which annotations would break


def test_markdown_is_a_comment_a_bot_can_find_and_github_accepts(book: Book, run: Run) -> None:
    for number in range(900):
        book.english(page=f"a rather long name of a page | number {number}.md")
    out = run("--format", "md")[1]
    assert out.startswith(COMMENT_MARK)
    assert len(out) <= COMMENT_LIMIT
    assert "more lines" in out
    assert "&#124; number" in out


def test_markdown_shows_no_green_sign_while_there_are_errors(book: Book, run: Run) -> None:
    book.translated()
    assert "### ✅ Translations" in run("--format", "md")[1]
    book.edit("first item", "item one")
    assert "### ⚠️ Translations" in run("--format", "md")[1]  # only reported
    assert "### ❌ Translations" in run("--format", "md", "--check")[1]


def test_sarif_contains_rules_locations_and_suppressions(book: Book, run: Run) -> None:
    book.translated("공백 있는.md")
    book.edit("first item", "item one", page="공백 있는.md")
    book.english(page="missing.md")
    ignore(book, "missing/missing.md")
    log = json.loads(run("--format", "sarif")[1])
    (found,) = log["runs"]
    assert log["version"] == "2.1.0"
    stale, missing = found["results"]
    assert stale["ruleId"] == "stale:prose"
    assert found["tool"]["driver"]["rules"][stale["ruleIndex"]]["id"] == "stale:prose"
    location = stale["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"].isascii() and " " not in location["artifactLocation"]["uri"]
    assert location["region"] == {"startLine": 12, "endLine": 12}
    assert missing["suppressions"][0]["justification"] == "agreed"


def test_html_is_well_formed_and_escapes_names(book: Book, run: Run) -> None:
    book.english(page="<script>alert(1)<.md".replace("/", ""))
    book.korean(KOREAN, page="other.md")
    out = run("--format", "html")[1]
    assert "<script>alert(1)" not in out
    assert "http" not in re.sub(r"http-equiv", "", out).split("<script>")[0]
    body = out[out.index("<table>") : out.index("</table>") + len("</table>")]
    assert len(ElementTree.fromstring(body).findall("tbody/tr")) == 2


# ---- the cache ----


def test_a_second_run_uses_the_cache_and_reports_the_same(mixed: Book, run: Run) -> None:
    def report() -> str:
        return re.sub(r'"git_processes": \d+', "", run("--format", "json")[1])

    first = report()
    pages = json.loads(run("--format", "json")[1])["pages"]
    caches = list((mixed.root / ".cache/translations").glob("ko*.json"))
    assert sorted(cache.name.partition(".")[0] for cache in caches) == ["ko", "ko-parity"]
    assert report() == first
    for cache in caches:
        cache.write_text("{ broken")
    assert report() == first
    for cache in caches:
        cache.unlink()
    assert json.loads(run("--format", "json", "--no-cache")[1])["pages"] == pages
    assert mixed.git("status", "--porcelain") == ""


def test_the_cache_never_outlives_the_texts(mixed: Book, run: Run) -> None:
    run()
    mixed.edit("a[i]", "b[i]", page="stale.md")
    assert "(code, 1 block)" in run()[1]


LINKING = "\n[§](other.md#shared-memory) ![Grid](grid.png)\n\n```mojo\n{{#include ../../code.mojo:a}}\n```\n"
LINKING_KO = LINKING.replace("#shared-memory", "#공유-메모리").replace("../../code", "../../../../code")


@pytest.fixture
def linked(book: Book) -> Book:
    """A page that shows code and a picture and leads to a heading of another page, all of it in order."""
    (book.root / "code.mojo").write_text("# ANCHOR: a\nx = 1\n# ANCHOR_END: a\n")
    for folder in (book.source, book.target):
        (folder / "grid.png").write_bytes(b"")
    (book.root / "i18n/ko/glossary.yaml").write_text(
        "terms:\n  - {en: thread, ko: [스레드], first_use: false}\n"
    )
    book.translated("other.md")
    book.english(f"{ENGLISH}{LINKING}")
    commit = book.commit("write page.md")
    book.korean(f"{KOREAN}{LINKING_KO}", commit=commit, blob=book.blob())
    book.commit("translate page.md")
    return book


def test_a_second_run_compares_no_page_again(linked: Book, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run("--fail-on", "warning")
    assert first[0] == 0

    def refuse(*_: object) -> None:
        raise AssertionError("compared again")

    monkeypatch.setattr("tooling.translations.parity.fidelity._compare", refuse)
    monkeypatch.setattr("tooling.translations.parity.glossary.load", refuse)
    assert run("--fail-on", "warning") == first
    assert run("--no-cache")[0] == ExitCode.INTERNAL


@pytest.mark.parametrize(
    ("file", "text", "finding"),
    [
        (
            "i18n/ko/book/src/other.md",
            None,
            "link-untranslated-page] the page other.md is not translated yet",
        ),
        (
            "i18n/ko/book/src/other.md",
            "## 메모리\n",
            "link-missing-fragment] other.md has no heading with the id",
        ),
        ("i18n/ko/book/src/grid.png", None, "link-missing-image] there is no picture grid.png"),
        ("code.mojo", None, "include:missing-file] there is no file"),
        ("code.mojo", "x = 1\n", "include:missing-anchor] ../../../../code.mojo has no anchor `a`"),
        ("i18n/ko/book/src/page.md", b"\xff", "parity:encoding] not UTF-8 text"),
        ("i18n/ko/glossary.yaml", "terms:\n  - {en: thread, ko: [실]}\n", "glossary:missing] "),
    ],
)
def test_a_cached_page_is_compared_again_when_a_file_that_it_depends_on_changes(
    linked: Book, run: Run, file: str, text: str | bytes | None, finding: str
) -> None:
    run()
    path = linked.root / file
    if text is None:
        path.unlink()
    elif isinstance(text, bytes):
        path.write_bytes(path.read_bytes() + text)
    else:
        path.write_text(text)
    out = run("status", "page.md", "--check", "--fail-on", "warning")[1]
    assert f"{finding}" in out
    assert out == run("status", "page.md", "--check", "--fail-on", "warning", "--no-cache")[1]


def test_a_page_is_compared_again_when_a_path_leads_elsewhere(linked: Book, run: Run) -> None:
    before = run("status", "page.md")[1]
    (linked.root / "code.mojo").rename(linked.root / "other.mojo")
    (linked.root / "code.mojo").symlink_to("other.mojo")  # the same text
    assert run("status", "page.md")[1] == before
    (linked.root / "i18n/ko/code.mojo").write_text((linked.root / "other.mojo").read_text())
    linked.target.joinpath("page.md").write_text(
        linked.target.joinpath("page.md").read_text().replace("../../../../code", "../../../../i18n/ko/code")
    )
    assert "parity:include" in run("status", "page.md")[1]
    (linked.root / "i18n/ko/code.mojo").unlink()
    (linked.root / "i18n/ko/code.mojo").symlink_to("../../other.mojo")  # now both pages show one file
    assert run("status", "page.md")[1] == before


def test_a_broken_glossary_is_reported_by_every_run(linked: Book, run: Run) -> None:
    run()
    (linked.root / "i18n/ko/glossary.yaml").write_text("terms: 5\n")
    for _ in range(2):
        assert run()[0] == 2


def test_a_marker_whose_lines_contradict_each_other_is_reported(book: Book, run: Run) -> None:
    commit = book.translated()
    before = book.blob()
    book.edit("meet at", "gather at")
    book.korean(f"{KOREAN}\n이 글은 `page.md`입니다.\n", commit=commit, blob=book.blob())
    book.commit("edit the marker by hand")
    status, out = run("status", "--check", "--fail-on", "warning")
    assert status == 1
    assert (
        f"page.md:1: warning[parity:marker] the lines of the marker contradict each other: the page is "
        f"{before[:12]} at commit {commit[:12]}, and the blob line names {book.blob()[:12]}"
    ) in out


def test_a_marker_whose_commit_is_lost_is_reported(book: Book, run: Run) -> None:
    commit = book.including("# ANCHOR: a\nvar x = 1\n# ANCHOR_END: a\n")
    page = book.target / "page.md"
    page.write_text(page.read_text().replace(commit, "d" * 40))
    book.commit("destroy the commit of the marker")
    status, out = run("status", "--check", "--fail-on", "warning")
    assert status == 1
    assert (
        "page.md:1: warning[parity:marker] commit dddddddddddd of the marker does not exist here: squashed, "
        "rebased or never pushed; included code was not compared with that at the pin"
    ) in out
    assert (
        "try: the blob line is used; `tooling check-translations repair i18n/ko/book/src/page.md` writes the "
        "commit that it belongs to"
    ) in out
    assert run("status", "--check")[0] == 0
    assert run("repair", "page.md")[0] == 0
    assert run("status", "--check", "--fail-on", "warning")[0] == 0
    assert commit in page.read_text()


def test_a_lost_commit_of_a_marker_that_is_bad_anyway_is_reported_once(book: Book, run: Run) -> None:
    book.translated()
    book.korean(commit="d" * 40, blob="e" * 40)
    book.commit("destroy the marker")
    assert [one["kind"] for one in json.loads(run("status", "--format", "json")[1])["findings"]] == [
        "bad-pin"
    ]


def test_a_skip_trailer_that_matches_nothing_is_reported(book: Book, run: Run) -> None:
    book.translated()
    commit = book.edit("meet at", "gather at", message="fix\n\nI18n-Skip: book/src/other-*.md")
    _, out = run("status")
    assert (
        f"note: commit {commit[:12]}: `I18n-Skip: book/src/other-*.md` matches no source page that it changed"
    ) in out


def test_a_moved_page_is_found_when_it_alone_is_named(book: Book, run: Run) -> None:
    book.translated()
    book.git("mv", "book/src/page.md", "book/src/other.md")
    book.commit("rename")
    _, out = run("status", "page.md")
    assert "orphaned: its source page moved to other.md" in out
    assert "try: git mv i18n/ko/book/src/page.md i18n/ko/book/src/other.md" in out
    assert "1 orphaned\n" in out  # the other page was not asked for


def test_control_characters_of_a_file_name_are_shown_as_escapes(book: Book, run: Run) -> None:
    book.translated("a\n\x1b[31mb.md")
    status, out = run("status", "--check", "--all")
    assert status == 0
    assert "a\\x0a\\x1b[31mb.md  current" in out
    assert "\x1b" not in out


def test_files_that_are_not_pages_are_listed_with_all(book: Book, run: Run) -> None:
    book.translated()
    for name in ("_draft.md", "_includes/a.md", "_includes/b.md", "_includes/c.md"):
        book.english(page=name)
    _, out = run("status", "--all")
    names = "_draft.md, _includes/a.md, _includes/b.md and 1 more"
    assert f"not pages, because a name begins with `_`: {names}\n" in out
    assert "not pages" not in run("status")[1]


def test_included_code_that_a_shallow_clone_cannot_compare_is_a_problem(
    book: Book, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    book.including("# ANCHOR: a\nvar x = 1\n# ANCHOR_END: a\n")
    assert run("status")[0] == 0
    monkeypatch.chdir(book.clone(tmp_path / "clone", "--depth=1").root)
    status, out = run("status")
    assert status == 2
    assert "could not be checked: included code was not compared with that at the pin\n" in out
    assert "why: the history of this clone is cut off before 1 pinned commit\n" in out
    assert "try: git fetch --unshallow (CI: fetch-depth: 0)\n" in out


def test_the_work_is_listed_page_by_page(book: Book, run: Run) -> None:
    book.translated()
    book.edit("first item", "item one")
    book.english(page="new.md")
    book.commit("write new.md")
    assert run("--format", "todo")[1].splitlines() == [
        "# To translate (ko): 2 items, 2 pages",
        "",
        "## `i18n/ko/book/src/page.md`: stale (prose), stale for 11 days",
        "",
        '- [ ] §2 "Shared memory" (prose, 1 block) → line 12',
        "- [ ] `tooling check-translations stamp i18n/ko/book/src/page.md`",
        "",
        "## `book/src/new.md`: missing",
        "",
        "- [ ] the page has no translation yet: translate it to i18n/ko/book/src/new.md, then stamp it",
    ]


def test_a_gettext_catalogue_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("book/src/page.md", "po/ko.po"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("# Page\n")
    monkeypatch.chdir(tmp_path)
    assert main(["check-translations"]) == 2
    assert " ".join(capsys.readouterr().err.split()) == (
        f"error: {tmp_path}/po/ko.po: this book is translated with gettext, which is not supported "
        "why: this command compares a tree of translated pages with the tree of their sources "
        "try: `msgfmt --statistics po/ko.po` counts the translated, fuzzy and untranslated messages"
    )
