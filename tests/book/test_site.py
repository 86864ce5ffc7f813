"""The finished site: both languages, the links between them, the sitemap, mdBook's protocol."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.numbers import LAST
from tooling.book.checks import check
from tooling.book.checks.markup import Validator
from tooling.book.directives import protocol
from tooling.book.editions import editions, site_address
from tooling.book.errors import BuildFailed
from tooling.book.site.build import build, find_mdbook
from tooling.book.site.search import sections
from tooling.book.site.tree import parse, required
from tooling.book.summary import parse_summary
from tooling.platform.errors import ToolingError
from tooling.project import Project
from tooling.translations.commands.new_language import add_language
from tooling.translations.settings import LANGUAGES

HREFLANG = "{http://www.w3.org/1999/xhtml}link"
ROOT = Path(__file__).resolve().parents[2]
LOC = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"


@pytest.fixture(scope="module")
def lacking(shortened: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short site whose Korean edition lacks a page."""
    root = tmp_path_factory.mktemp("lacking") / "book"
    shutil.copytree(shortened.root, root, symlinks=True)
    english, korean = editions(Project(root))
    korean.page("puzzle_12/raw.md").unlink()
    contents = korean.source / "SUMMARY.md"
    listed = contents.read_text(encoding="utf-8")
    contents.write_text(listed.replace("  - [원시 포인터](puzzle_12/raw.md)\n", ""), encoding="utf-8")
    picture = english.page("puzzle_12/media/photo.png")
    picture.parent.mkdir(exist_ok=True)
    picture.touch()
    return build(Project(root), root.parent / "site", "https://example.org/lab/").folder


def test_a_missing_page_is_shown_in_the_other_language(lacking: Path) -> None:
    page = (lacking / "ko" / "puzzle_12" / "raw.html").read_text(encoding="utf-8")
    assert "아직 번역하지 않은 페이지입니다" in page
    assert "<h1" in page
    assert 'href="../../assets/book.css"' in page
    assert 'class="bar-button switcher" href="../../puzzle_12/raw.html"' in page
    assert (lacking / "ko" / "puzzle_12" / "media" / "photo.png").is_file()


def test_a_page_says_which_of_the_puzzles_it_belongs_to(site: Path) -> None:
    for page, body in (
        ("puzzle_12/raw.html", f'<body style="--part: 3; --puzzle: 12; --puzzles: {LAST}">'),
        ("ko/puzzle_35/puzzle_35.html", f'<body style="--part: 12; --puzzle: 35; --puzzles: {LAST}">'),
        ("basics/gpu.html", f'<body style="--puzzle: 0; --puzzles: {LAST}">'),
        ("bonuses/part4.html", f'<body style="--puzzle: 19; --puzzles: {LAST}">'),
        ("glossary.html", f'<body style="--puzzle: {LAST + 1}; --puzzles: {LAST}">'),
        ("404.html", "<body>"),
    ):
        assert body in (site / page).read_text(encoding="utf-8")


def test_the_margin_gives_the_terms_that_a_page_explains_first(site: Path) -> None:
    def margin(page: str) -> str:
        return (site / page).read_text(encoding="utf-8").partition('<aside class="new-terms"')[2]

    few = re.findall(r'<dt><a href="([^"]*)">(\w+)</a></dt><dd>(.*)</dd>', margin("puzzle_03/puzzle_03.html"))
    meaning = "An <code>if</code> that lets only threads with an element access memory."
    assert few == [("../glossary.html#term-guard", "Guard", meaning)]
    many = margin("basics/gpu.html")
    assert re.findall(r"<li><a [^>]*>(\w+)</a></li>", many)[:4] == [
        "Bandwidth",
        "Block",
        "Grid",
        "Latency",
    ]
    assert "<dl>" not in many
    assert "<dd>" in margin("ko/puzzle_13/puzzle_13.html")


@pytest.mark.parametrize(("folder", "label"), [("", "Figure"), ("ko/", "그림")])
def test_a_reference_to_a_figure_leads_to_it_on_its_page_and_in_the_printed_book(
    site: Path, folder: str, label: str
) -> None:
    reference = f">{label}\N{NO-BREAK SPACE}16.6</a>"
    page = (site / folder / "puzzle_16/idiomatic.html").read_text(encoding="utf-8")
    assert f'<a href="../puzzle_16/tiled.html#figure-16-6"{reference}' in page
    assert 'id="figure-16-6"' in (site / folder / "puzzle_16/tiled.html").read_text(encoding="utf-8")
    whole = (site / folder / "print.html").read_text(encoding="utf-8")
    assert f'<a href="#puzzle_16_tiled--figure-16-6"{reference}' in whole
    assert whole.count('id="puzzle_16_tiled--figure-16-6"') == 1


@pytest.mark.parametrize("folder", ["", "ko/"])
def test_a_style_of_a_drawing_is_that_of_the_drawing_in_the_printed_book_too(site: Path, folder: str) -> None:
    whole = (site / folder / "print.html").read_text(encoding="utf-8")
    styled = set(re.findall(r"<style>#(\S+) \{", whole))
    assert "puzzle_32_puzzle_32--gpu-banks-wide" in styled
    assert styled <= set(re.findall(r' id="([^"]+)"', whole))


def test_the_numbers_beside_code_are_those_of_its_lines_in_the_file(site: Path) -> None:
    code = re.compile(
        r'<figcaption><a [^>]*blob/main/([^#"]+)#L[^>]*>.*?<pre><code[^>]*>(.*?)</code></pre>', re.DOTALL
    )
    shown = 0
    for page in site.rglob("*.html"):
        for file, text in code.findall(page.read_text(encoding="utf-8")):
            source = re.sub(
                "[✅❌]", "", (ROOT / file).read_text(encoding="utf-8")
            ).splitlines()  # drawn in a page
            for number, line in re.findall(r'data-line="([^"]+)"[^>]*>(.*)\n', text):
                plain = unescape(re.sub(r"<[^>]+>", "", line)).strip()
                assert plain == ("" if number == "⋮" else source[int(number) - 1].strip()), (
                    page,
                    file,
                    number,
                )
                shown += 1
    assert shown > 5000


def test_a_page_contains_the_texts_of_its_scripts_in_its_language(site: Path) -> None:
    for folder, word in (("", "solved"), ("ko", "풀었음")):
        page = (site / folder / "puzzle_15" / "puzzle_15.html").read_text(encoding="utf-8")
        assert f'data-solved="{word}"' in page


@pytest.mark.parametrize(("built", "root"), [("site", "/"), ("lacking", "/lab/")])
def test_every_switcher_links_to_an_existing_page(
    built: str, root: str, request: pytest.FixtureRequest
) -> None:
    site: Path = request.getfixturevalue(built)
    for file in site.rglob("*.html"):
        if file.parent.name == "replays":  # a page of its own, without the bar
            continue
        found = re.search(r'switcher" href="([^"]+)"', file.read_text(encoding="utf-8"))
        assert found, file
        address = re.sub(f"^{root}", f"{site}/", found[1])  # the page for wrong addresses
        assert (file.parent / address).resolve().is_file(), file


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[[language]\n", "the list of languages is malformed"),
        ('[[language]]\ncode = "ja"\n', "the settings of the translations are malformed"),
        ('[[language]]\ncode = "ja"\nname = "x"\npolicy = "y"\n', "the settings of the translations"),
        ('[[language]]\ncode = "en"\nname = "English"\n', "cannot be added"),
        ('[[language]]\ncode = "../x"\nname = "x"\n', "cannot be added"),
        (2 * '[[language]]\ncode = "ja"\nname = "x"\n', "cannot be added"),
        (None, "is missing"),
    ],
)
def test_a_bad_list_of_languages_is_an_error(checkout: Project, text: str | None, complaint: str) -> None:
    path = checkout.root / LANGUAGES
    if text is None:
        path.unlink()
    else:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(ToolingError, match=complaint) as refusal:
        editions(checkout)
    assert refusal.value.where is not None


def test_the_sitemap_is_reciprocal_and_names_real_pages_only(lacking: Path) -> None:
    root = ElementTree.parse(lacking / "sitemap.xml").getroot()
    entries = {
        entry.findtext(LOC): {link.get("hreflang"): link.get("href") for link in entry.iter(HREFLANG)}
        for entry in root
    }
    assert "https://example.org/lab/ko/puzzle_12/raw.html" not in entries
    assert entries["https://example.org/lab/puzzle_12/raw.html"].keys() == {"en", "x-default"}
    korean = "https://example.org/lab/ko/puzzle_15/puzzle_15.html"
    assert entries[korean]["en"] == "https://example.org/lab/puzzle_15/puzzle_15.html"
    assert entries[korean]["x-default"] == entries[korean]["en"]
    assert entries[str(entries[korean]["en"])]["ko"] == korean


def test_pages_have_title_canonical_address_and_language(lacking: Path) -> None:
    page = (lacking / "ko" / "puzzle_15" / "puzzle_15.html").read_text(encoding="utf-8")
    assert '<html lang="ko"' in page
    assert "<title>퍼즐 15: 축 합계 · GPU 퍼즐 랩</title>" in page
    assert '<link rel="canonical" href="https://example.org/lab/ko/puzzle_15/puzzle_15.html">' in page
    assert "/edit/main/i18n/ko/book/src/puzzle_15/puzzle_15.md" in page
    assert page.count('aria-current="page"') == 1


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    for file in [*site.rglob("*.html"), *site.rglob("*.css")]:
        text = file.read_text(encoding="utf-8")
        assert not re.search(
            r'<(?:script|img|link rel="(?:stylesheet|icon)")[^>]*(?:src|href)="(?:https?:)?//', text
        ), file
        assert "url(http" not in text, file


@pytest.mark.slow  # builds the whole book
def test_mdbook_by_hand_shows_what_a_build_shows(checkout: Project, tmp_path: Path) -> None:
    """A build renders the pages itself; `mdbook build` starts the preprocessor. The results must be equal.

    The pages of puzzles without a chapter are made by a build alone.
    """
    build(checkout, tmp_path / "site")
    command = f'"{sys.executable}" -m tooling.book.directives.preprocessor'
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "MDBOOK_PREPROCESSOR__PUZZLE_BOOK__COMMAND": command,
    }
    for edition in editions(checkout):
        by_hand = tmp_path / edition.language
        subprocess.run(
            [find_mdbook(), "build", "--dest-dir", by_hand, edition.folder],
            env=environment,
            check=True,
            capture_output=True,
        )
        built = checkout.root / "build" / "book" / edition.language
        # Only a build makes the pages of puzzles without a chapter.
        pages = sorted(page.relative_to(by_hand) for page in by_hand.rglob("*.html"))
        assert Path("puzzle_01/raw.html") in pages
        for page in pages:
            if not (by_hand / page).exists():
                assert "banner-stub" in (built / page).read_text(encoding="utf-8"), page
                continue
            one, other = ((folder / page).read_text(encoding="utf-8") for folder in (built, by_hand))
            assert (
                one.partition("<article>")[2].partition("</article>")[0]
                == (other.partition("<article>")[2].partition("</article>")[0])
            ), page


def test_a_newly_added_language_has_a_site(short_book: Project, tmp_path: Path) -> None:
    add_language(short_book.root, editions(short_book)[0].source, "ja", "日本語")
    japanese = editions(short_book)[2]
    assert (japanese.language, japanese.prefix, japanese.name) == ("ja", "ja/", "日本語")
    translated = japanese.page("puzzle_15/puzzle_15.md")
    translated.parent.mkdir(parents=True)
    translated.write_text("# 15\n\n{{#run p15}}\n", encoding="utf-8")
    site = build(short_book, tmp_path / "site", "https://example.org/lab/").folder
    page = (site / "ja" / "puzzle_15" / "puzzle_15.html").read_text(encoding="utf-8")
    assert '<html lang="ja"' in page
    assert re.findall(r'switcher" href="([^"]+)"', page) == [
        "../../puzzle_15/puzzle_15.html",
        "../../ko/puzzle_15/puzzle_15.html",
    ]
    missing = (site / "ja" / "puzzle_12" / "raw.html").read_text(encoding="utf-8")
    assert "has not been translated yet" in missing
    for file in site.rglob("*.html"):
        for target in re.findall(r'switcher" href="([^"]+)"', file.read_text(encoding="utf-8")):
            address = target.replace("/lab/", f"{site}/")  # the page for wrong addresses
            assert (file.parent / address).resolve().is_file(), (file, target)
    assert "日本語" in (site / "ko" / "glossary.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_newly_added_language_needs_only_its_terms(checkout: Project) -> None:
    add_language(checkout.root, editions(checkout)[0].source, "ja", "日本語")
    assert check(checkout, build_pages=False).findings == ()
    translated = editions(checkout)[2].page("puzzle_15/puzzle_15.md")
    translated.parent.mkdir(parents=True)
    translated.write_text("# 15\n\n{{#run p15}}\n", encoding="utf-8")
    found = check(checkout, build_pages=False, rules={"glossary"}).findings
    assert "glossary" in {finding.rule for finding in found}


def test_the_same_sources_give_the_same_site(short_book: Project, tmp_path: Path) -> None:
    one = build(short_book, tmp_path / "one" / "site").folder
    shutil.rmtree(short_book.root / "build")  # what a build keeps
    two = build(short_book, tmp_path / "two" / "site").folder
    files = sorted(path.relative_to(one) for path in one.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(two) for path in two.rglob("*") if path.is_file())
    assert all((one / file).read_bytes() == (two / file).read_bytes() for file in files)


def test_a_failed_build_leaves_the_old_site(short_book: Project, tmp_path: Path) -> None:
    site = build(short_book, tmp_path / "site").folder
    page = editions(short_book)[0].page("glossary.md")
    page.write_text(page.read_text(encoding="utf-8") + "\n{{#run nothing}}\n", encoding="utf-8")
    with pytest.raises(BuildFailed, match="could not be built") as failure:
        build(short_book, site)
    assert "glossary.md" in str(failure.value)
    assert (site / "index.html").is_file()


@pytest.mark.parametrize("name", ["items", "sections"])
def test_both_versions_of_the_protocol(real: Project, name: str) -> None:
    context = {
        "root": str(real.root / "book"),
        "config": {"book": {"language": "en", "src": "src"}},
        "renderer": "html",
        "mdbook_version": "0.5.4",
    }
    inner = {"name": "b", "content": "x {{#constant p15 TPB}}", "path": "puzzle_15/b.md", "sub_items": []}
    outer = {"name": "a", "content": "# a", "path": "a.md", "sub_items": [{"Chapter": inner}]}
    book: dict[str, Any] = {
        name: [{"Chapter": outer}, "Separator", {"PartTitle": "P"}],
        "__non_exhaustive": None,
    }
    run = subprocess.run(
        [sys.executable, "-m", "tooling.book.directives.preprocessor"],
        input=json.dumps([context, book]),
        capture_output=True,
        text=True,
        check=True,
        cwd=real.root,
    )
    answer = json.loads(run.stdout)
    assert answer[name][0]["Chapter"]["sub_items"][0]["Chapter"]["content"] == "x 8"
    assert answer[name][1:] == book[name][1:]


@pytest.mark.parametrize("renderer", ["html", "markdown"])
def test_it_supports_html_alone(real: Project, renderer: str) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tooling.book.directives.preprocessor", "supports", renderer],
        check=False,
        cwd=real.root,
    )
    assert (run.returncode == 0) == (renderer == "html")


@pytest.mark.parametrize("text", ["", "{}", "[1, 2]", '[{"root": "/"}, {}]'])
def test_other_input_is_refused(text: str) -> None:
    with pytest.raises(protocol.ProtocolError):
        protocol.read(io.StringIO(text))


def test_a_book_of_an_unknown_protocol_version_is_refused() -> None:
    with pytest.raises(protocol.ProtocolError, match="neither"):
        list(protocol.Book({"pages": []}).chapters())


def test_summary() -> None:
    entries = parse_summary(
        "# Summary\n\n[Intro](intro.md)\n\n# Part\n\n"
        "- [A](a.md)\n    - [B](b.md)\n      - [C]()\n- [D](d.md)\n\n---\n[E](e.md)\n"
    )
    assert [(entry.title, entry.level, entry.part) for entry in entries] == [
        ("Intro", 0, ""),
        ("A", 0, "Part"),
        ("B", 1, "Part"),
        ("C", 2, "Part"),
        ("D", 0, "Part"),
        ("E", 0, "Part"),
    ]


def test_the_address_of_the_site_follows_the_repository() -> None:
    assert site_address("https://github.com/Some-One/lab") == "https://some-one.github.io/lab/"


def test_sections_for_the_search() -> None:
    article = (
        '<h1 id="t"><a href="#t">Title</a></h1><p>one</p><div class="tab-labels">no</div>'
        '<h2 id="s">Sub <code>x</code></h2><p>two &lt; three</p>'
    )
    found = list(sections(required(parse(article), "body"), "a.html"))
    assert [(each.fragment, each.heading, each.text) for each in found] == [
        ("", "Title", "one"),
        ("s", "Sub x", "two < three"),
    ]


@pytest.mark.parametrize(
    ("html", "flaw"),
    [
        ("<p>a<div>b</div></p>", "the block <div> is not allowed in <p>"),
        ("<ul><p>a</p></ul>", "<p> is not allowed in <ul>"),
        ("<li>a</li>", "<li> is not allowed in <None>"),
        ('<p id="a"></p><p id="a"></p>', "the id `a` is also in line 1"),
        ("<b>a", "<b> is never closed"),
        ("<b><i>a</b></i>", "</b> where <i>"),
        ('<img src="a">', "<img> has no alt"),
        ("<blink>a</blink>", "<blink> is not an HTML element"),
        ('<a href="x"><button>b</button></a>', "inside another link or button"),
        ('<div aria-labelledby="x"></div>', "names an id that does not exist"),
        ('<p class="a" class="b"></p>', "two attributes `class`"),
    ],
)
def test_flaws_of_html(html: str, flaw: str) -> None:
    validator = Validator()
    validator.feed(html)
    assert any(flaw in each.message for each in validator.finish())


def test_good_html_has_no_flaw() -> None:
    validator = Validator()
    validator.feed(
        "<!DOCTYPE html><html lang='en'><head><title>t</title><meta charset='utf-8'></head><body>"
        "<ul><li><p>a</p></li></ul><svg viewBox='0 0 1 1'><path d='M0 0'/></svg>"
        "<details><summary>s</summary></details>"
        "</body></html>"
    )
    assert validator.finish() == []
