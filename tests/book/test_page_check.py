"""`tooling book check PAGE`: the rules that a page can be judged by alone, and what the report leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tooling.book.checks import check, check_one_by_one
from tooling.book.checks.context import NotAChapter
from tooling.project import Project

PAGE = "book/src/puzzle_15/puzzle_15.md"


@pytest.mark.parametrize("page", [PAGE, f"i18n/ko/{PAGE}", "puzzle_15/puzzle_15.md"])
def test_a_page_is_checked_in_every_language(page: str, real: Project) -> None:
    assert check_one_by_one(real, [page]).as_text() == (
        "nothing found in 2 chapters, 19 rules; the site was not checked: only these pages were asked for"
    )


def test_only_this_page_is_checked(checkout: Project) -> None:
    for name in (PAGE, "book/src/puzzle_12/puzzle_12.md"):
        path = checkout.root / name
        path.write_text(path.read_text("utf-8") + "\n[a](nowhere.md)\n", "utf-8")
    report = check_one_by_one(checkout, [str(checkout.root / PAGE)])
    assert [finding.path for finding in report.findings if finding.rule == "link"] == [PAGE]


def test_what_is_not_a_page_is_refused(real: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(real.root))
    with pytest.raises(NotAChapter) as refusal:
        check_one_by_one(real, ["README.md"])
    assert refusal.value.what == "README.md is not a page of the book"


def test_a_report_without_the_site_says_so(checkout: Project) -> None:
    report = check(checkout, build_pages=False, rules={"alt"})
    assert report.as_text().endswith("; the site was not checked: it was not built")
