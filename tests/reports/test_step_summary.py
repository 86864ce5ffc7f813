"""What GitHub shows of a run: annotations of lines, and the summary of the step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tooling.book.checks import BookFinding, Report
from tooling.cli import main
from tooling.platform.errors import Location
from tooling.platform.exit_codes import ExitCode
from tooling.reports.annotations import PER_LEVEL, Annotation, Level, annotation_lines
from tooling.reports.records import ReportRecord
from tooling.reports.step_summary import LIMIT, add_to_summary, records_markdown

pytest_plugins = ["pytester"]


def test_an_annotation_names_the_file_from_the_checkout_and_escapes_its_text() -> None:
    where = Location(Path("/checkout/book/a,b.md"), 3, 7)
    one = Annotation("50%: a, b", "first line\nsecond: 100%", where, level=Level.WARNING)
    assert one.render(Path("/checkout")) == (
        "::warning file=book/a%2Cb.md,line=3,col=7,title=50%25%3A a%2C b::first line%0Asecond: 100%25"
    )


def test_no_more_annotations_than_github_shows_and_each_once() -> None:
    many = [Annotation("error", str(number)) for number in range(PER_LEVEL + 3)]
    lines = annotation_lines([*many, *many, Annotation("warning", "one", level=Level.WARNING)], None)
    assert [line.partition(" ")[0] for line in lines] == ["::error"] * PER_LEVEL + ["::warning", "3"]
    assert lines[-1] == "3 more findings are in the step summary"


def test_the_summary_counts_by_suite_and_shows_failures_with_their_details() -> None:
    records = [
        ReportRecord("p01", "p01 solution", "passed", 1.0),
        ReportRecord("p02", "p02 solution", "failed", 0.5, "out <b>", "```\n[0]: got 1"),
        ReportRecord("p02", "p02 mutant", "skipped", 0.0, "no GPU"),
    ]
    assert (
        records_markdown("tooling verify", records)
        == """\
### `tooling verify`: ❌ 1 of 3 failed

| | passed | failed | errors | skipped | seconds |
|---|--:|--:|--:|--:|--:|
| p01 | 1 | 0 | 0 | 0 | 1.0 |
| p02 | 0 | 1 | 0 | 1 | 0.5 |
| all | 1 | 1 | 0 | 1 | 1.5 |

<details><summary>❌ <code>p02 solution</code>: out &lt;b&gt;</summary>

````text
```
[0]: got 1
````

</details>
"""
    )
    assert records_markdown("tooling verify", records[:1]).startswith("### `tooling verify`: ✅ 1 passed\n")


def test_a_summary_keeps_within_what_github_accepts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    add_to_summary("first")
    add_to_summary("x" * LIMIT)
    add_to_summary("last")
    assert path.read_text() == "first\n\nlast\n\n"


def test_findings_of_the_book_are_annotated_and_summarised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    finding = BookFinding("book/src/p01.md", 4, "link", "there is no page p99.md", "name one of SUMMARY.md")
    monkeypatch.setattr("tooling.book.checks.check", lambda _project: Report((finding,), 66, 68))
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert main(["book", "check"]) == ExitCode.WRONG
    annotation = "::error file=book/src/p01.md,line=4,title=book%3A link::there is no page p99.md%0Atry: name"
    assert capsys.readouterr().out.splitlines()[-1] == f"{annotation} one of SUMMARY.md"
    assert summary.read_text().startswith("### `tooling book check`: ❌ 1 finding\n")
    assert main(["book", "check", "--json"]) == ExitCode.WRONG
    captured = capsys.readouterr()
    assert json.loads(captured.out)["findings"][0]["line"] == 4
    assert captured.err == f"{annotation} one of SUMMARY.md\n"


def test_failed_tests_are_annotated_and_summarised(pytester: pytest.Pytester) -> None:
    root = Path(__file__).parents[2]
    pytester.makeconftest((root / "tests/conftest.py").read_text())
    pytester.makepyfile(
        test_one="""
        import os

        def test_right():
            assert "GITHUB_ACTIONS" not in os.environ

        def test_wrong():
            assert 1 == 2, "so it is"
        """
    )
    summary = pytester.path / "summary.md"
    monkeypatch = pytest.MonkeyPatch()
    with monkeypatch.context() as patch:
        patch.setenv("GITHUB_ACTIONS", "true")
        patch.setenv("GITHUB_STEP_SUMMARY", str(summary))
        patch.setenv("PYTHONPATH", str(root))
        result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    (line,) = [line for line in result.outlines if line.startswith("::")]
    assert line.startswith("::error file=test_one.py,line=6,title=test_one.py%3A%3Atest_wrong::Assertion")
    assert "### `pytest`: ❌ 1 of 2 failed" in summary.read_text()
