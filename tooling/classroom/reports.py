"""The results of a class: a table for people, and what learning platforms read.

Names and messages come from students, and are not trusted: HTML escapes them, CSV has no formulas, and files
are called by names without separators.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from tooling.classroom.judging import Judged
from tooling.reports.files import printable, write_junit
from tooling.reports.records import ReportRecord
from tooling.text import ENGLISH, Text

_STATUSES = {
    "passed": Text("right", context="an answer"),
    "failed": Text("wrong", context="an answer"),
    "gated": Text("not run on this GPU", context="an answer"),
    "error": Text("not judged", context="an answer"),
    "unanswered": Text("no answer", context="an answer"),
}
_BEST_FIRST = ("passed", "error", "failed", "gated")
_STUDENT, _SCORE, _OF = Text("student"), Text("points"), Text("of")
_TITLE = Text("Answers of a class")
_MOST_DETAILS = 20_000  # characters of one result
_LONGEST_NAME = 80  # characters of a file's name


class Task(Struct, frozen=True, order=True):
    """A mode of a puzzle: one point."""

    puzzle: str
    mode: str

    def __str__(self) -> str:
        return self.puzzle if self.mode == "default" else f"{self.puzzle} {self.mode}"


class ClassResults(Struct, frozen=True):
    """What was judged.

    Attributes:
        students: their names, those without answers too.
        tasks: what counts; answers to other modes are only listed.
        judged: of each answer.
    """

    students: tuple[str, ...]
    tasks: tuple[Task, ...]
    judged: tuple[Judged, ...]

    def best(self, student: str, task: Task) -> Judged | None:
        """The best result among a student's programs for a task; None without an answer."""
        own = [
            each for each in self.judged
            if (each.student, each.puzzle, each.mode) == (student, task.puzzle, task.mode)
        ]  # fmt: skip
        return min(own, key=lambda each: _BEST_FIRST.index(each.status), default=None)

    def status(self, student: str, task: Task) -> str:
        best = self.best(student, task)
        return best.status if best else "unanswered"

    def score(self, student: str) -> int:
        return sum(self.status(student, task) == "passed" for task in self.tasks)


def tasks_of(judged: Sequence[Judged]) -> tuple[Task, ...]:
    """The tasks that at least one student has answered."""
    return tuple(sorted({Task(each.puzzle, each.mode) for each in judged if each.status != "gated"}))


def write_reports(results: ClassResults, folder: Path, language: str = ENGLISH) -> None:
    """Writes every report into an empty folder.

    `results.csv` and `results.html` have a row for each student, `junit.xml` a test case for each result; the
    folder of a student in `students` has `gradescope.json`, the `results/results.json` of Gradescope's
    autograders, and `classroom.json`, the result of a grader of GitHub Classroom.

    Raises:
        OSError: a file cannot be written.
    """
    (folder / "results.csv").write_text(_table(results, language), "utf-8")
    (folder / "results.html").write_text(_page(results, language), "utf-8")
    write_junit(str(folder / "junit.xml"), "collect", [_record(each) for each in results.judged])
    for student, name in file_names(results.students).items():
        own = folder / "students" / name
        own.mkdir(parents=True)
        for file, content in (
            ("gradescope.json", _gradescope(results, student, language)),
            ("classroom.json", _classroom(results, student, language)),
        ):
            text = json.dumps(content, indent=1, ensure_ascii=False)
            (own / file).write_text(text + "\n", "utf-8", "replace")


def file_names(students: Sequence[str]) -> dict[str, str]:
    """A file's name for each student: theirs, as far as it can be one."""
    found: dict[str, str] = {}
    for student in students:
        name = re.sub(r"[^\w.@ -]", "_", student)[:_LONGEST_NAME].strip(" .") or "student"
        taken = {each.casefold() for each in found.values()}
        number, unique = 1, name
        while unique.casefold() in taken:
            number += 1
            unique = f"{name}-{number}"
        found[student] = unique
    return found


def _table(results: ClassResults, language: str) -> str:
    file = io.StringIO()
    writer = csv.writer(file)
    head = (_STUDENT.render(language), _SCORE.render(language), _OF.render(language))
    writer.writerow((*head, *map(str, results.tasks)))
    for student in results.students:
        cells = (_STATUSES[results.status(student, task)].render(language) for task in results.tasks)
        writer.writerow((_no_formula(student), results.score(student), len(results.tasks), *cells))
    return file.getvalue()


def _no_formula(text: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    text = printable(text)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_STYLE = """\
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem}
body{color:#1b1f24;background:#fff}
table{border-collapse:collapse}
th,td{padding:.25rem .75rem;border-bottom:1px solid #d0d7de;text-align:left}
td.passed{color:#11632b}td.failed{color:#a40e26}td.error{color:#7a4100}
pre{white-space:pre-wrap;background:#f6f8fa;padding:.75rem}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th,td{border-color:#30363d}
td.passed{color:#56d364}td.failed{color:#ff7b72}td.error{color:#e3b341}pre{background:#161b22}}
"""


def _page(results: ClassResults, language: str) -> str:
    title = html.escape(_TITLE.render(language))
    head = (_STUDENT.render(language), _SCORE.render(language), *map(str, results.tasks))
    lines = [
        "<!doctype html>",
        f'<html lang="{language}">',
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{title}</title>",
        f"<style>{_STYLE}</style>",
        f"<h1>{title}</h1>",
        "<table>",
        "<tr>" + "".join(f'<th scope="col">{html.escape(each)}</th>' for each in head) + "</tr>",
    ]
    for student in results.students:
        cells = [f'<th scope="row">{_escaped(student)}</th>']
        cells.append(f"<td>{results.score(student)}/{len(results.tasks)}</td>")
        for task in results.tasks:
            status = results.status(student, task)
            cells.append(f'<td class="{status}">{html.escape(_STATUSES[status].render(language))}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    lines.append("</table>")
    for student in results.students:
        wrong = [each for each in results.judged if each.student == student and each.status != "passed"]
        if wrong:
            lines.append(f"<h2>{_escaped(student)}</h2>")
        for each in wrong:
            lines.append(f"<h3>{html.escape(each.command)}</h3>")
            lines.append(f"<pre>{_escaped(_details(each))}</pre>")
    return "\n".join([*lines, "</html>"]) + "\n"


def _escaped(text: str) -> str:
    return html.escape(printable(text))


def _details(judged: Judged) -> str:
    text = judged.details or judged.message
    return text if len(text) <= _MOST_DETAILS else text[:_MOST_DETAILS] + "\n…"


def _record(judged: Judged) -> ReportRecord:
    status = "skipped" if judged.status == "gated" else judged.status
    details = _details(judged)
    return ReportRecord(judged.student, judged.command, status, judged.seconds, judged.message, details)


def _cases(results: ClassResults, student: str, language: str) -> list[tuple[Task, bool, str, float]]:
    """Each task with whether it is solved, what is said about it, and the seconds that it took."""
    cases = []
    for task in results.tasks:
        status, best = results.status(student, task), results.best(student, task)
        said = _STATUSES[status].render(language)
        if best and status != "passed" and best.message:
            said = _details(best)
        seconds = best.seconds if best else 0.0
        cases.append((task, status == "passed", printable(said), seconds))
    return cases


def _gradescope(results: ClassResults, student: str, language: str) -> Mapping[str, Any]:
    """Gradescope's Autograder Specifications, section Output format."""
    cases = _cases(results, student, language)
    return {
        "execution_time": round(sum(seconds for *_, seconds in cases)),
        "stdout_visibility": "hidden",
        "tests": [
            {
                "score": float(solved),
                "max_score": 1.0,
                "status": "passed" if solved else "failed",
                "name": str(task),
                "output": said,
                "output_format": "text",
                "visibility": "visible",
            }
            for task, solved, said, _ in cases
        ],
    }


def _classroom(results: ClassResults, student: str, language: str) -> Mapping[str, Any]:
    """The result of a grader, as the action autograding-grading-reporter of GitHub Classroom decodes it."""
    cases = _cases(results, student, language)
    return {
        "version": 1,
        "status": "pass" if all(solved for _, solved, _, _ in cases) else "fail",
        "max_score": len(cases),
        "tests": [
            {
                "name": str(task),
                "status": "pass" if solved else "fail",
                "score": int(solved),
                "message": "" if solved else said,
            }
            for task, solved, said, _ in cases
        ],
    }
