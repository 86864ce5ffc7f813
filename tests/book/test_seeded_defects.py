"""`tooling book check` finds each of these seeded defects, and nothing in the book itself."""

from __future__ import annotations

import re

import pytest

from tests.book.seeded_defects import DEFECTS, REPORTS, RUNS, findings_of_run, plant, report, reported_at
from tooling.book.checks import CHECKS, RULES, check
from tooling.project import Project

SECOND_TIER = dict.fromkeys((2, 3, 4, 5, 6, 7), pytest.mark.slow)
"""Runs with fewer defects: they would hide those of the first. Two of them build every page."""
OF_PAGES = {"html", "emphasis", "site"}
"""The rules of built pages."""


@pytest.mark.parametrize("run", [pytest.param(run, marks=SECOND_TIER.get(run, ())) for run in RUNS])
def test_the_defects_are_found_where_they_were_planted_and_nothing_else(checkout: Project, run: int) -> None:
    planted, findings = findings_of_run(checkout, run)
    left = list(findings)
    missed = []
    for defect, lines in planted.items():
        found = [finding for finding in left if reported_at(defect, lines, finding)]
        if found:
            left.remove(found[0])  # one finding reports one defect
        else:
            missed.append(defect.name)
    assert missed == []
    # After an intended change: python -m tests.book.seeded_defects RUN
    assert report(checkout.root, findings) == (REPORTS / f"run-{run}.txt").read_text(encoding="utf-8")


def test_defects_of_built_pages_are_found_in_a_short_book(short_book: Project) -> None:
    """As in the run that builds the whole book; links to the chapters that are left out are reported too."""
    before = reported_rows(report(short_book.root, check(short_book, rules=OF_PAGES).findings))
    plant(short_book.root, [defect for defect in DEFECTS if defect.run == 6 and defect.rule in OF_PAGES])
    after = reported_rows(report(short_book.root, check(short_book, rules=OF_PAGES).findings))
    expected = reported_rows((REPORTS / "run-6.txt").read_text(encoding="utf-8"))
    assert after - before == {row for row in expected if any(f": [{rule}] " in row for rule in OF_PAGES)}
    assert len(after - before) == 9


def reported_rows(text: str) -> set[str]:
    return set(re.split(r"^(?=\S+: \[)", text, flags=re.MULTILINE))


def test_every_report_belongs_to_a_run() -> None:
    assert {path.name for path in REPORTS.iterdir()} == {f"run-{run}.txt" for run in RUNS}


def test_a_link_to_a_page_that_is_not_translated_yet_is_not_an_error(checkout: Project) -> None:
    (checkout.root / "i18n/ko/book/src/puzzle_12/puzzle_12.md").unlink()
    assert check(checkout, build_pages=False, rules={"link", "fragment"}).findings == ()


def test_the_defects_cover_every_rule() -> None:
    assert {defect.rule for defect in DEFECTS} == set(RULES)


def test_every_rule_belongs_to_a_check() -> None:
    assert {rule for reported in CHECKS.values() for rule in reported} == set(RULES) - OF_PAGES


def test_names_of_defects_are_unique() -> None:
    names = [defect.name for defect in DEFECTS]
    assert len(names) == len(set(names)) >= 40


@pytest.mark.slow  # `tooling check` is the same, and `poe check` runs it
def test_nothing_is_found_in_the_book(real: Project) -> None:
    report = check(real)
    assert [str(finding) for finding in report.findings] == []
    assert report.chapters > 0
    assert report.pages > 0
