"""Puzzles whose chapter is not written yet have a page, made from their manifest and reference."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.numbers import PUZZLES
from tooling.book.editions import editions
from tooling.book.phrases import PART_TITLES
from tooling.book.site.build import build
from tooling.book.summary import read_summary
from tooling.catalog.catalogue import load_catalogue
from tooling.project import Project

NUMBERS = [int(name.removeprefix("p")) for name in PUZZLES]


@pytest.fixture
def stubbed(checkout: Project, tmp_path: Path) -> Path:
    """A site whose contents lack puzzles 12 (part III goes on) and 23 (the whole of part VI)."""
    for edition in editions(checkout):
        contents = edition.source / "SUMMARY.md"
        lines = contents.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if "(puzzle_12/" not in line and "(puzzle_23/" not in line]
        contents.write_text("".join(kept), encoding="utf-8")
        for page in edition.source.rglob("*.md"):  # links to them would be dead
            text = page.read_text(encoding="utf-8")
            page.write_text(
                re.sub(r"\[([^\]]*)\]\([^)]*puzzle_(?:12|23)/[^)]*\)", r"\1", text), encoding="utf-8"
            )
    return build(checkout, tmp_path / "site", "https://example.org/lab/").folder


def _steps(page: str) -> dict[str, str]:
    return dict(re.findall(r'rel="(prev|next)" href="([^"]+)"', page))


@pytest.mark.slow  # builds the whole book
def test_a_stub_shows_what_the_puzzle_is(stubbed: Path) -> None:
    page = (stubbed / "puzzle_12" / "puzzle_12.html").read_text(encoding="utf-8")
    assert "<title>Puzzle 12: Dot product · GPU Puzzle Lab</title>" in page
    assert "This chapter is not written yet." in page
    assert "Reduce two vectors to one number with a tree of additions." in page
    assert 'def</span> <span class="f">expected' in page
    assert '<div class="solution-tips">' in page
    link = r'<a class="filename" href="[^"]+/blob/main/{}#L\d+-L\d+">{}</a>'.format(
        r"problems/p12/p12_tile_tensor\.mojo", r"problems/<wbr>p12/<wbr>p12_tile_tensor\.mojo"
    )
    assert re.search(link + r" <span>lines \d+", page)
    assert "run tooling run p12_tile_tensor\n" in page
    assert re.search(r'class="edit-link" href="[^"]+/blob/main/problems/p12/puzzle.yaml"', page)
    korean = (stubbed / "ko" / "puzzle_12" / "puzzle_12.html").read_text(encoding="utf-8")
    assert "아직 작성하지 않은 장입니다." in korean
    assert "덧셈 트리로 두 벡터를 값 하나로 줄입니다." in korean
    assert re.search(link + r" <span>\d+", korean)


@pytest.mark.slow  # builds the whole book
def test_previous_and_next_lead_through_the_stubs(stubbed: Path) -> None:
    for folder in ("", "ko"):
        stub = _steps((stubbed / folder / "puzzle_12" / "puzzle_12.html").read_text(encoding="utf-8"))
        assert stub["prev"].endswith("puzzle_11/layout_tensor.html")
        assert stub["next"].endswith("puzzle_13/puzzle_13.html")
        before = _steps((stubbed / folder / "puzzle_11" / "layout_tensor.html").read_text(encoding="utf-8"))
        assert before["next"].endswith("puzzle_12/puzzle_12.html")


@pytest.mark.slow  # builds the whole book
def test_a_stub_is_marked_in_the_contents_and_its_part_is_added(stubbed: Path) -> None:
    page = (stubbed / "puzzle_11" / "puzzle_11.html").read_text(encoding="utf-8")
    assert '<a href="../puzzle_12/puzzle_12.html" class="unwritten" title="not written yet">' in page
    assert '<a href="../puzzle_11/puzzle_11.html" aria-current="page">' in page
    contents = page.partition('id="sidebar"')[2].partition("</nav>")[0]
    assert re.findall(r'href="\.\./puzzle_(\d+)/puzzle_\d+\.html"', contents) == [f"{n:02}" for n in NUMBERS]
    (heading,) = re.findall(
        r'<h2>(?:<svg.*?</svg>)?<span><span class="visually-hidden">Part VI: </span>Functional patterns<',
        contents,
    )
    assert "<svg" in heading  # the mark of the part


def test_a_stub_ends_when_the_chapter_is_listed(site: Path) -> None:
    page = (site / "puzzle_12" / "puzzle_12.html").read_text(encoding="utf-8")
    assert "not written yet" not in page.partition("<article>")[2].partition("</article>")[0]


def test_every_puzzle_has_a_page_in_both_languages(site: Path) -> None:
    for number in NUMBERS:
        for folder in ("", "ko"):
            assert (site / folder / f"puzzle_{number:02}" / f"puzzle_{number:02}.html").is_file()


def test_every_puzzle_says_in_a_sentence_what_it_computes(real: Project) -> None:
    for puzzle in load_catalogue(real):
        assert puzzle.summary is not None, puzzle.id
        for language in ("en", "ko"):
            assert puzzle.summary.render(language).endswith("."), puzzle.id


@pytest.mark.parametrize(("language", "folder"), [("en", "book"), ("ko", "i18n/ko/book")])
def test_parts_are_named_as_in_the_contents(real: Project, language: str, folder: str) -> None:
    parts = dict.fromkeys(entry.part for entry in read_summary(real.root / folder / "src") if entry.part)
    *of_puzzles, _ = parts  # the last part has no puzzles
    assert [title.render(language) for title in PART_TITLES.values()] == of_puzzles
