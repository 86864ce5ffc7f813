"""Verdicts in a page: the judge's own words, set as findings, labels and a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import product
from pathlib import Path

import pytest

from tooling.book import recordings
from tooling.book.directives.verdict_layout import PLACE, layout

OUTPUTS = Path(__file__).parents[1] / "data" / "outputs"
COUNT = re.compile(r"(?<=<b>)(\d+) × | (\d+)건(?=: <span>)")  # of merged findings
LIST = re.compile(rf"(?:<code>{PLACE}</code>|#\d+|\d+)(?: / (?:<code>[\d:]+</code>|#?\d+))+")
PIECE = re.compile(
    r'<(p|td|th|dt)\b[^>]*>.*?</\1>|<span class="place">.*?</span>|<dd>.*?(?=<span class="place">|</dd>)'
)
"""An element with text of a verdict."""
RACE = (
    "❌ p12 is not right yet",
    "  the values are right this time, but by luck; the simulated GPU found:",
    "    error: [races] race on shared memory: a <b>",
    "      where: p12.mojo:40:26: thread (3, 0, 0) of block (0, 0, 0) reads",
    "             found 5 times in dot_product",
    "      try: Put `barrier()` between the two lines.",
)
VALUES = (
    "❌ p01: 아직 정답이 아닙니다",
    "  `out`의 값이 틀렸습니다 (책의 데이터)",
    "    원소 4개 중 3개가 다릅니다:",
    "      인덱스  결과  이전 값",
    "        [0]  13.0      10.0",
    "      ... 외 2개",
    "  이유: 입력의 인덱스를 끝에서부터 세고 있습니다",
)


def test_a_finding_has_its_labels_and_its_places() -> None:
    shown = layout(RACE, "p12", "en")
    assert '<p class="judged-title">❌ <code>p12</code> is not right yet</p>' in shown
    assert "<p><b>error: <span>[races]</span></b> Race on shared memory: a &lt;b&gt;</p>" in shown
    assert (
        '<dt>where:</dt><dd><span class="place"><code>p12.mojo:40:26</code>:<br> '
        "thread (3, 0, 0) of block (0, 0, 0) reads</span>"
        '<span class="place">found 5 times in <code>dot_product</code></span></dd>'
    ) in shown
    assert "<dt>try:</dt><dd>Put <code>barrier()</code> between the two lines.</dd>" in shown
    assert "\n\n" not in shown  # it would end the block of HTML in a Markdown page


def test_a_sentence_begins_with_a_capital_letter_and_a_name_is_kept() -> None:
    lines = (
        "❌ p12 is not right yet",
        "  the values",
        "  note: the result is `a`",
        "  where: p12.mojo:3: `a`",
    )
    shown = layout((*lines, "  kernel_1 stopped"), "p12", "en")
    assert '<p class="judged-cause">The values</p>' in shown
    assert "<dt>note:</dt><dd>The result is <code>a</code></dd>" in shown
    assert '<dt>where:</dt><dd><code>p12.mojo:3</code><span class="place"><code>a</code></span></dd>' in shown
    assert '<p class="judged-cause"><code>kernel_1</code> stopped</p>' in shown


def test_long_numbers_have_separators_in_a_page_and_addresses_do_not() -> None:
    lines = ("❌ p12 is not right yet", "  element 262144 of 1048576 bytes at 0x12345 in p12.mojo:12345")
    cause = "Element 262,144 of 1,048,576 bytes at <code>0x12345</code> in <code>p12.mojo:12345</code>"
    assert f'<p class="judged-cause">{cause}</p>' in layout(lines, "p12", "en")


def test_wrong_values_are_a_table() -> None:
    shown = layout(VALUES, "p01", "ko")
    cause = '<code>out</code>의 값이 틀렸습니다 <span class="aside">(책의 데이터)</span>'
    assert f'<p class="judged-cause">{cause}</p>' in shown
    assert "<th>인덱스</th><th>결과</th><th>이전 값</th>" in shown
    assert "<tr><td>[0]</td><td>13.0</td><td>10.0</td></tr>" in shown
    assert '<tr><td colspan="3">… 외 2개</td></tr>' in shown
    assert "<dt>이유:</dt><dd>입력의 인덱스를 끝에서부터 세고 있습니다</dd>" in shown


@pytest.mark.parametrize(("language", "more"), [("en", "2 more findings"), ("ko", "나머지 문제 2개")])
def test_of_many_findings_the_first_two_are_shown(language: str, more: str) -> None:
    different = [f"    error: [races] race {number}" for number in range(4)]
    lines = [*RACE[:2], *different, "  why: it races"]
    shown = layout([*lines], "p12", language)
    before, _, after = shown.partition(f"<details>\n<summary>{more}</summary>")
    assert (before.count('class="finding"'), after.count('class="finding"')) == (2, 2)
    assert after.partition("</details>")[2].lstrip().startswith("<dl>\n<dt>why:</dt>")
    assert "<details>" not in layout([*lines[:5], lines[-1]], "p12", language)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_verdict_of_the_book_keeps_its_words(language: str) -> None:
    files = sorted(OUTPUTS.rglob(f"*.verdict-{language}.json"))
    assert len(files) > 80
    merged = 0
    for file in files:
        said = recordings.load(file)
        html = re.sub(r"<summary>.*?</summary>", "", layout(said.lines, said.command, language))
        several = [int("".join(found)) for found in COUNT.findall(html)]
        recorded = _letters(" ".join(said.lines))
        if "joined" not in html and not several:
            assert _letters(_text(html)) == recorded, file.name
            continue
        merged += bool(several)
        readings = [_letters(_text(each)) for each in _readings(COUNT.sub("", html))]
        # Nothing is lost: a line that is not shown by itself is one of those that were merged.
        assert all(any(_letters(line) in each for each in readings) for line in said.lines), file.name
        findings = [line for line in said.lines if re.match(r" +\S+: \[\w+\] ", line)]
        assert html.count('<div class="finding') + sum(several) - len(several) == len(findings), file.name
        places = [line for line in said.lines if re.match(r" +(where|위치): ", line)]
        assert len(re.findall(r"<dt>(?:where|위치):", html)) == len(places), file.name
        # Nothing is invented: all values of a list are recorded, and so is each text with the first ones.
        assert all(_letters(value) in recorded for values in _lists(html) for value in values), file.name
        first = next(_readings(COUNT.sub("", re.sub(r'<p class="judged-shared">.*?</p>', "", html))))
        assert all(_letters(_text(each[0])) in recorded for each in PIECE.finditer(first)), file.name
    assert merged > 5


@pytest.mark.parametrize(
    ("language", "head"),
    [
        ("en", "<b>2 × error: <span>[races]</span></b> Race on #1 / #2 (argument 2 / 3 of <code>k_1</code>)"),
        ("ko", "<b>error 2건: <span>[races]</span></b> Race on #1 / #2 (argument 2 / 3 of <code>k_1</code>)"),
    ],
)
def test_findings_that_differ_in_their_places_alone_are_one(language: str, head: str) -> None:
    lines = ["title"]
    for number, column in ((1, 5), (2, 30)):
        lines += [
            f"  error: [races] race on #{number} (argument {number + 1} of k_1)",
            f"    where: p12.mojo:40:{column}: thread ({number}, 0, 0) reads",
            f"    why: Nothing makes the read at p12.mojo:40:{column} happen before p12.mojo:9:1.",
            "    try: Put a barrier there.",
        ]
    shown = layout(lines, "p12", language)
    assert f"<p>{head}</p>" in shown
    assert (shown.count('class="finding'), shown.count("<dt>where:</dt>")) == (1, 2)
    assert (
        "<dt>why:</dt><dd>Nothing makes the read at <code>p12.mojo:40:5</code> / <code>40:30</code> happen "
        "before <code>p12.mojo:9:1</code>.</dd>"
    ) in shown
    assert shown.count("Put a barrier there.") == 1
    other = [*lines[:-2], "    why: Something else.", lines[-1]]
    assert layout(other, "p12", language).count('class="finding') == 2


def test_of_many_places_the_first_two_are_shown() -> None:
    finding = [RACE[2], *RACE[3:]]
    shown = layout([*RACE[:2], *finding * 5], "p12", "en")
    before, _, after = shown.partition("<details>\n<summary>3 more findings</summary>")
    assert "<b>5 × error: <span>" in before
    assert (before.count("<dt>where:</dt>"), after.count("<dt>where:</dt>")) == (2, 3)
    assert after.partition("</details>")[2].lstrip().startswith("<dl>\n<dt>try:</dt>")


def test_causes_are_beside_the_values() -> None:
    shown = layout(VALUES, "p01", "ko")
    values = shown.index('<div class="judged-values">\n<div>\n<p class="judged-detail">원소 4개 중 3개가')
    assert values < shown.index("</table>\n</div>\n<dl>\n<dt>이유:</dt>")
    assert "judged-values" not in layout(VALUES[:-1], "p01", "ko")


def test_the_verdict_on_a_right_answer_is_one_line() -> None:
    line = "✅ p01 passed  (the book's data, other data; simulated GPU)"
    assert layout([line], "p01", "en") == (
        '<div class="judged passed">\n<p class="judged-title">✅ <code>p01</code> passed  '
        '<span class="aside">(the book’s data, other data; simulated GPU)</span></p>\n</div>\n'
    )


def test_what_the_program_wrote_is_set_as_its_output() -> None:
    shown = layout(
        [*RACE, "  what it wrote to stderr:", "    error: it's <over>", "    at p12.mojo:3"], "p12", "en"
    )
    assert (
        '<p class="judged-cause">What it wrote to stderr:</p>\n'
        '<pre><code class="language-text">error: it\'s &lt;over&gt;\nat p12.mojo:3\n</code></pre>\n</div>'
    ) in shown


def test_a_cause_that_findings_share_is_said_once() -> None:
    finding, where, again, why = RACE[2:]
    other = finding.replace("race on", "a second race on")
    both = [*RACE[:2], finding, where, again, why, other, where, why]
    shown = layout(both, "p12", "en")
    first, _, last = shown.partition('<div class="finding">')
    assert first.count('<div class="finding joined">') == 1
    assert (first.count("<dt>where:</dt>"), last.count("<dt>where:</dt>")) == (1, 1)
    assert (first.count("<dt>try:</dt>"), last.count("<dt>try:</dt>")) == (0, 1)
    assert last.partition('<p class="judged-shared">For both:</p>')[2].count("<dt>") == 1
    assert "joined" not in layout([*both[:-1], "      try: something else"], "p12", "en")


def test_advice_that_findings_share_is_said_once_although_their_causes_differ() -> None:
    lines = ["title"]
    for number in (1, 2, 3):
        lines += [
            f"  error: [races] race {number}",
            f"    where: p12.mojo:{number}",
            f"    why: cause {number}",
        ]
        lines += ["    try: a barrier"]
    shown = layout(lines, "p12", "en")
    assert (shown.count("<dt>why:</dt>"), shown.count("<dt>try:</dt>")) == (3, 1)
    assert shown.index("Cause 3") < shown.index("For all three:") < shown.index("A barrier")


def _text(html: str) -> str:
    return unescape(re.sub(r"<[^>]+>", " ", html))


def _lists(html: str) -> list[list[str]]:
    """The values of what varies in merged findings, places with their files."""
    every = (re.sub(r"</?code>", "", found[0]).split(" / ") for found in LIST.finditer(html))
    return [
        [first, *(f"{file}:{other}" if colon else other for other in others)]
        for first, *others in every
        for file, colon, _ in [first.partition(":")]
    ]


def _readings(html: str) -> Iterator[str]:
    """The page with each combination of these values."""
    for chosen in product(*_lists(html)):
        values = iter(chosen)
        yield LIST.sub(lambda _, values=values: next(values), html)  # type: ignore[misc]


def _letters(text: str) -> str:
    """The text without what print changes: spaces, quotes, separators, and capital letters."""
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    return re.sub(r"[\s`:]", "", text).replace("’", "'").replace("…", "...").lower()
