"""The face of the site: the map of puzzles, the printed book, drawn signs, fonts."""

from __future__ import annotations

import re

from tests.book.edited import edited
from tests.numbers import PUZZLES
from tooling.book.chapters import chapter_files
from tooling.book.directives.cards import hints, puzzle_map
from tooling.book.editions import editions
from tooling.book.page import PageContext
from tooling.book.phrases import PART_TITLES
from tooling.book.puzzle_index import PuzzleIndex
from tooling.book.site.icons import draw_signs
from tooling.book.site.print_page import print_page
from tooling.book.site.tree import parse
from tooling.catalog.model import PartNumber
from tooling.project import Project


def page_of(project: Project, language: int, path: str = "cover.md") -> PageContext:
    return PageContext(editions(project)[language], path, "", PuzzleIndex(project))


def test_the_map_shows_every_puzzle_in_its_part(real: Project) -> None:
    headings = (
        "</svg><span>Part I</span> <b>First kernels</b></h3>",
        "</svg><span>1부</span> <b>첫 커널</b></h3>",
    )
    for language, first in enumerate(headings):
        shown = puzzle_map(page_of(real, language), ["all"])
        assert first in shown
        assert re.findall(r'data-puzzle="p(\d+)"', shown) == [name.removeprefix("p") for name in PUZZLES]
        assert re.findall(r'<section class="map-part" style="--part: (\d+)">', shown) == [
            str(int(PartNumber(part))) for part in PART_TITLES
        ]
        assert '<a href="puzzle_16/puzzle_16.html">' in shown


def test_a_hint_with_brackets_is_not_a_link(real: Project) -> None:
    page = page_of(real, 0, "puzzle_27/x.md")
    shown = hints(page, ["p27", "--histogram"])
    assert not re.search(r"\](?<!\\)\(", re.sub(r"`[^`]*`", "", shown))


def test_the_printed_book_has_links_and_ids_of_its_own() -> None:
    frame = "<head><title>A · Book</title></head><body><article>x</article></body>"
    one = '<article><h1 id="t">A</h1><a href="b/c.html#s">c</a><details><p>d</p></details></article>'
    two = '<article><h1 id="t">C</h1><h2 id="s"><a href="#s">S</a></h2><a href="../a.html">a</a></article>'
    printed = print_page(parse(frame), {"a.html": parse(one), "b/c.html": parse(two)}, "en")
    assert re.findall(r'id="([^"]+)"', printed) == ["a--", "a--t", "b_c--", "b_c--t", "b_c--s"]
    assert re.findall(r'href="([^"]+)"', printed) == ["#b_c--s", "#b_c--s", "#a--"]
    assert '<details open="">' in printed
    assert "<title>Print the whole book · Book</title>" in printed


def test_ticks_and_crosses_are_drawn_in_text_alone() -> None:
    drawn = edited('<p title="✅">done ✅, not ❌</p>', draw_signs)
    assert drawn.startswith('<p title="✅">done <svg class="sign sign-good"')
    assert drawn.count("<svg") == 2


def test_every_font_of_the_style_sheets_is_there(real: Project) -> None:
    assets = real.root / "book" / "theme" / "assets"
    wanted = {
        name
        for sheet in ("book.css", "fonts-ko.css")
        for name in re.findall(r'url\("fonts/([^"]+)"\)', (assets / sheet).read_text(encoding="utf-8"))
    }
    assert wanted == {path.name for path in (assets / "fonts").iterdir()}
    licences = {path.name for path in (assets.parent / "licences").iterdir()}
    assert {"ibm-plex.txt", "bricolage-grotesque.txt", "pretendard.txt", "stix-two-math.txt"} <= licences


def test_the_korean_font_of_titles_has_every_syllable_of_them(real: Project) -> None:
    """If it fails, run book/make_fonts.py."""
    sheet = (real.root / "book" / "theme" / "assets" / "fonts-ko.css").read_text(encoding="utf-8")
    (listed,) = re.findall(r'"Book Display KR".*unicode-range: ([^;]*);', sheet)
    there = {chr(int(code, 16)) for code in re.findall(r"U\+(\w+)", listed)}
    (korean,) = [each for each in editions(real) if each.language == "ko"]
    chapters = list(chapter_files(korean))
    assert len(chapters) > 100
    for chapter in chapters:  # not figures.md, which has no page of its own
        titles = " ".join(re.findall(r"^##? .*$", chapter.text, re.MULTILINE))
        assert set(re.findall("[가-힣]", titles)) <= there, chapter.path
