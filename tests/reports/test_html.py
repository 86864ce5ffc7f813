"""Verdicts in a page: the judge's own words, set as findings, labels and a table."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from tooling.execution.program import Ending
from tooling.judging.diagnosis import GUARD
from tooling.judging.verdict import Outcome, SourceLine
from tooling.reports.html import verdict_html
from tooling.reports.verdict_record import CaseRecord, Element, Mismatch, ProblemRecord, VerdictRecord
from tooling.simulator.checks.findings import (
    Action,
    Buffer,
    Check,
    Finding,
    Kind,
    Memory,
    Party,
    Severity,
    SourcePosition,
)
from tooling.targets.probing import SIMULATED


def party(action: Action, line: int, column: int = 26, thread: int = 3) -> Party:
    return Party(action, (thread, 0, 0), (0, 0, 0), 0, thread, SourcePosition("p12.mojo", line, column, 1))


RACE = Finding(
    check=Check.RACES,
    kind=Kind.READ_AFTER_WRITE,
    severity=Severity.ERROR,
    kernel="dot_product",
    parties=(party(Action.READ, 40), party(Action.WRITE, 9, 1, 0)),
    buffer=Buffer(Memory.SHARED, 32),
    count=5,
)
PAST = Finding(
    check=Check.MEMORY,
    kind=Kind.PAST_THE_END,
    severity=Severity.ERROR,
    kernel="add_10",
    parties=(party(Action.WRITE, 21),),
    buffer=Buffer(Memory.GLOBAL, 1048576, 1, argument=2, element=4),
    offset=1048576,
    size=4,
    distance=4,
)
VALUES = ProblemRecord(
    "written-beyond-the-end",
    "written-beyond-the-end",
    {"count": 3, "ordinal": 1},
    GUARD,
    mismatch=Mismatch(4, 3, (Element((0,), "13.0", "10.0"),)),
)


def record(*findings: Finding, problems: tuple[ProblemRecord, ...] = ()) -> VerdictRecord:
    case = CaseRecord("book", findings=findings, problems=problems)
    return VerdictRecord("p12", SIMULATED, Outcome.WRONG, (case,))


def shown(verdict: VerdictRecord, language: str = "en") -> str:
    html = verdict_html(verdict, language, lambda code: code)
    assert "\n\n" not in html  # it would end the block of HTML in a Markdown page
    return html


def at(line: int, finding: Finding = RACE, column: int = 26) -> Finding:
    first, *others = finding.parties
    position = replace(first.position, line=line, column=column)
    return replace(finding, parties=(replace(first, position=position), *others))


def different(count: int) -> list[Finding]:
    """Findings that are not of one kind."""
    return [replace(at(line), check=list(Check)[line % 4]) for line in range(1, count + 1)]


def test_a_finding_has_its_labels_and_its_places() -> None:
    html = shown(record(RACE))
    assert '<p class="judged-title">❌ <code>p12</code> is not right yet</p>' in html
    assert "<p><b>error: <span>[races]</span></b> Race on shared memory: " in html
    assert (
        '<dt>where:</dt><dd><span class="place"><code>p12.mojo:40:26</code>:<br> '
        "thread (3, 0, 0) of block (0, 0, 0) reads</span>"
        '<span class="place"><code>p12.mojo:9:1</code>:<br> '
        "thread (0, 0, 0) of block (0, 0, 0) writes</span>"
        '<span class="place">found 5 times in <code>dot_product</code></span></dd>'
    ) in html


def test_a_line_of_code_is_below_its_position() -> None:
    problem = replace(VALUES, line=SourceLine("p12.mojo:3", "a < b"))
    html = shown(record(problems=(problem,)))
    assert (
        '<dt>where:</dt><dd><code>p12.mojo:3</code><span class="place"><code>a &lt; b</code></span></dd>'
        in html
    )
    without = shown(record(problems=(replace(VALUES, line=SourceLine("p12.mojo:3")),)))
    assert '<dt>where:</dt><dd><span class="place"><code>p12.mojo:3</code></span></dd>' in without


def test_long_numbers_have_separators_in_a_page_and_addresses_do_not() -> None:
    html = shown(record(PAST))
    assert (
        "past the end of the 1,048,576-byte buffer #1 (argument 2 of <code>add_10</code>): element 262,144"
        in html
    )
    misaligned = replace(PAST, kind=Kind.MISALIGNED, address=0x200000000004, size=16)
    assert "<code>0x200000000004</code>, which is not a multiple of 16" in shown(record(misaligned))


def test_a_fact_is_not_markup() -> None:
    problem = ProblemRecord("program-error", "program-ended-early", {"detail": "it's <b>"})
    assert "The program failed: it’s &lt;b&gt; <span" in shown(record(problems=(problem,)))


def test_wrong_values_are_a_table_with_their_causes_beside_it() -> None:
    html = shown(record(problems=(VALUES,)), "ko")
    assert "<th>인덱스</th><th>결과</th><th>이전 값</th>" in html
    assert "<tr><td>[0]</td><td>13.0</td><td>10.0</td></tr>" in html
    assert '<tr><td colspan="3">… 외 2개</td></tr>' in html
    start = html.index('<div class="judged-values">\n<div>\n<p class="judged-detail">')
    assert start < html.index("</table>\n</div>\n<dl>\n<dt>이유:</dt>")


def test_inputs_of_the_other_data_are_code() -> None:
    right = CaseRecord("book")
    other = CaseRecord("probe", problems=(VALUES,), inputs=(("a", "[2.5, -12.0, …]"),))
    html = shown(VerdictRecord("p12", SIMULATED, Outcome.WRONG, (right, other)))
    assert "<dt>note:</dt><dd>The result is right with the book’s data" in html
    assert "<dt>a:</dt><dd><code>[2.5, -12.0, …]</code></dd>" in html


@pytest.mark.parametrize(("language", "more"), [("en", "2 more findings"), ("ko", "나머지 문제 2개")])
def test_of_many_findings_the_first_two_are_shown(language: str, more: str) -> None:
    html = shown(record(*different(4), problems=(VALUES,)), language)
    before, _, after = html.partition(f"<details>\n<summary>{more}</summary>")
    assert (before.count('class="finding'), after.count('class="finding')) == (2, 2)
    assert "judged-values" in after.partition("</details>")[2]
    assert "<details>" not in shown(record(*different(3), problems=(VALUES,)), language)


def test_the_number_of_findings_that_the_judge_leaves_out_is_folded_with_the_others() -> None:
    html = shown(record(*[at(line, check) for line in (1, 2) for check in different(4)], problems=(VALUES,)))
    fold = html.partition("<details>")[2].partition("</details>")[0]
    assert '<p class="judged-detail">… and 2 more findings</p>' in fold


@pytest.mark.parametrize(("language", "label"), [("en", "2 × error:"), ("ko", "오류 2건:")])
def test_findings_that_differ_in_their_places_alone_are_one(language: str, label: str) -> None:
    other = at(40, RACE, 30)
    html = shown(record(RACE, other), language)
    assert f"<p><b>{label} <span>[races]</span></b> " in html
    assert html.count('class="finding"') == 1
    assert len(re.findall(r"<dt>(?:where|위치):", html)) == 2
    assert "<code>p12.mojo:40:26</code> / <code>40:30</code>" in html
    assert html.count("<dt>try:</dt>") + html.count("<dt>해 볼 것:</dt>") == 1
    assert (
        shown(record(RACE, replace(other, kind=Kind.WRITE_AFTER_READ)), language).count('class="finding') == 2
    )


def test_buffers_and_arguments_of_merged_findings_are_listed() -> None:
    buffer = Buffer(Memory.GLOBAL, 1048576, 2, argument=3, element=4)
    html = shown(record(PAST, replace(PAST, buffer=buffer)))
    assert "buffer #1 / #2 (argument 2 / 3 of <code>add_10</code>)" in html
    assert "2 × error:" not in shown(record(PAST, replace(PAST, buffer=replace(buffer, size=64))))


def test_of_many_places_the_first_two_are_shown() -> None:
    html = shown(record(*[at(line) for line in range(1, 6)]))
    before, _, after = html.partition("<details>\n<summary>3 more findings</summary>")
    assert "<b>5 × error: <span>" in before
    assert (before.count("<dt>where:</dt>"), after.count("<dt>where:</dt>")) == (2, 3)
    assert after.partition("</details>")[2].lstrip().startswith("<dl>\n<dt>why:</dt>")


def test_a_cause_that_findings_share_is_said_once() -> None:
    """They are of different checks, so they are not one finding."""
    html = shown(record(RACE, replace(RACE, check=Check.INITIALISATION)))
    first, _, last = html.partition('<div class="finding">')
    assert first.count('<div class="finding joined">') == 1
    assert (first.count("<dt>where:</dt>"), last.count("<dt>where:</dt>")) == (1, 1)
    assert (first.count("<dt>try:</dt>"), last.count("<dt>try:</dt>")) == (0, 1)
    assert last.partition('<p class="judged-shared">For both:</p>')[2].count("<dt>") == 2
    assert "joined" not in shown(record(RACE, PAST))


def test_advice_that_findings_share_is_said_once_although_their_causes_differ() -> None:
    html = shown(record(*different(3)))
    assert (html.count("<dt>why:</dt>"), html.count("<dt>try:</dt>")) == (3, 1)
    assert html.rindex("<dt>why:</dt>") < html.index("For all three:") < html.index("<dt>try:</dt>")


def test_the_verdict_on_a_right_answer_is_one_line() -> None:
    cases = (CaseRecord("book"), CaseRecord("probe"))
    assert shown(VerdictRecord("p01", SIMULATED, Outcome.PASSED, cases)) == (
        '<div class="judged passed">\n<p class="judged-title">✅ <code>p01</code> passed  '
        '<span class="aside">(the book’s data, other data; simulated GPU)</span></p>\n</div>\n'
    )


def test_what_the_program_wrote_is_set_as_its_output() -> None:
    problem = ProblemRecord("program-error", "program-ended-early", {"detail": "boom"})
    case = CaseRecord("book", Ending.EXITED, 1, problems=(problem,), stderr=("error: it's <over>", "  at 3"))
    assert (
        '<p class="judged-cause">What it wrote to stderr:</p>\n'
        '<pre><code class="language-text">error: it\'s &lt;over&gt;\nat 3\n</code></pre>\n</div>'
    ) in shown(VerdictRecord("p12", SIMULATED, Outcome.WRONG, (case,)))
