"""Headings are marked by what their sections contain."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.book.edited import edited
from tooling.book.site.sections import mark_sections

_FACTS = '<div class="table-wrapper">\n<table class="facts"><tbody><tr></tr></tbody></table></div>'
_RUN = '<div class="code-tabs" data-tab-group="package-manager"></div>'
_HOLE = '<pre><code><em class="hole"># FILL ME IN</em></code></pre>'
_VERDICT = '<div class="judged"></div>'
_WRONG = f'<figure class="code changed"></figure>{_VERDICT}'
_SOLUTION = '<details class="solution-details"></details>'


@pytest.mark.parametrize(
    ("title", "body", "kind"),
    [
        ("Overview", "<p>Add 10.</p>", "opening"),
        ("The simulated GPU", "<p>Without a GPU.</p>", None),
        ("Configuration", f"\n{_FACTS}", None),
        ("Run it", f"<p>Before:</p>{_RUN}", "run"),
        ("Code to complete", _HOLE, "task"),
        ("Run it", f"{_RUN}{_VERDICT}", "run"),
        ("Wrong on purpose", f"{_RUN}{_WRONG}", "wrong"),
        ("Solution", f"\n{_SOLUTION}", "answer"),
        ("Key concepts", f"<ul><li>A</li></ul>{_FACTS}", None),
    ],
)
def test_a_section_is_marked_by_what_it_contains(title: str, body: str, kind: str | None) -> None:
    heading = f'<h2 id="s"><a class="header" href="#s">{title}</a></h2>'
    marked = heading.replace('"s">', f'"s" class="{kind}">', 1) if kind else heading
    if kind in {"opening", "answer"}:  # headings that are not shown, and take no focus
        marked = marked.replace('href="#s"', 'href="#s" tabindex="-1"')
    task = f'<h2 id="t" class="task">Code to complete</h2>{_HOLE}'
    plain = task.replace(' class="task"', "")
    page = f"<h1>T</h1>{heading}{body}{plain}"
    shown = _folded(body) if kind == "wrong" else body
    assert edited(page, mark_sections, "en") == f"<h1>T</h1>{marked}{shown}{task}"


def _folded(body: str) -> str:
    return f"<details><summary>Show the wrong answers</summary>{body}</details>"


@pytest.mark.parametrize("title", ["Wrong on purpose", "Without the guard"])
@pytest.mark.parametrize("after", ["", '<h2 id="n">What to try next</h2><p>Add 12.</p>'])
def test_wrong_answers_are_folded_below_their_heading(title: str, after: str) -> None:
    task = f'<h2 id="t" class="task">Code to complete</h2>{_HOLE}'
    heading, body = f'<h2 id="s" class="wrong">{title}</h2>', f"\n<p>Add 11:</p>{_WRONG}<h3>Why</h3>\n"
    page = f"{task}{heading}{body}{after}"
    assert edited(page, mark_sections, "en") == f"{task}{heading}{_folded(body)}{after}"


def test_wrong_answers_of_a_complete_program_are_folded_by_the_name_of_their_section() -> None:
    body = f"<p>Add 11:</p>{_WRONG}"
    named, other = '<h2 id="s">Wrong on purpose</h2>', '<h2 id="s">How to read the report</h2>'
    assert edited(f"{named}{body}", mark_sections, "en") == f"{named}{_folded(body)}"
    assert edited(f"{other}{body}", mark_sections, "en") == f"{other}{body}"


@pytest.mark.parametrize("folder", ["", "ko/"])
def test_every_wrong_answer_on_a_page_with_code_to_complete_is_folded(site: Path, folder: str) -> None:
    headings = re.compile(r'<h2 id="[^"]+" class="wrong">(?:(?!</h2>).)*</h2>(<details>)?', re.DOTALL)
    found = [
        match
        for page in sorted((site / folder).glob("puzzle_*/*.html"))
        for match in headings.finditer(page.read_text("utf-8"))
    ]
    assert len(found) > 40
    assert all(match[1] for match in found)


@pytest.mark.parametrize("body", [_RUN, f"{_RUN}{_WRONG}"])
def test_a_page_without_code_to_complete_has_no_stages(body: str) -> None:
    page = f'<h1>T</h1><h2 id="a">Run it</h2>{body}'
    assert edited(page, mark_sections, "en") == page


def test_only_the_first_section_can_be_the_opening() -> None:
    page = '<h2 id="a">Warps</h2><p>A</p><h2 id="b">Overview</h2><p>B</p>'
    assert edited(page, mark_sections, "en") == page


def test_every_page_of_a_puzzle_opens_with_its_overview(site: Path) -> None:
    """The simulated GPU and its tools open the page on tools for debugging instead, in both languages."""
    for folder, count in (("", 119), ("ko", 119)):
        pages = sorted((site / folder).glob("puzzle_*/*.html"))
        opened = [
            page for page in pages if re.search(r'<h2 id="[^"]*" class="opening">', page.read_text("utf-8"))
        ]
        assert len(opened) == count
        assert [page.stem for page in pages if page not in opened] == ["essentials"]
