"""The verdict as a learner reads it."""

from __future__ import annotations

import os
from collections.abc import Sequence

from tooling.catalog.model import Mode, ModeKind
from tooling.execution.program import Ending
from tooling.judging.comparison import Comparison
from tooling.judging.diagnosis import GUARD
from tooling.judging.judge import as_told
from tooling.judging.verdict import CaseVerdict, Outcome, Problem, Verdict
from tooling.reports.invocation import run_prefix
from tooling.reports.terminal import Terminal, columns
from tooling.targets.model import Choice

Words = dict[str, str]

_WORDS: dict[str, Words] = {
    "en": {
        "headline": "{command} on {device} ({reason})",
        "simulated": "simulated GPU",
        "checks": "checks: {checks}",
        "none": "none",
        "passed": "{command} passed",
        "unjudged": "{command} ran; there is nothing to judge in this mode",
        "wrong": "{command} is not right yet",
        "time-limit": "{command} ran into its time limit",
        "undecided": "{command}: values right, counters not judged",
        "book": "the book's data",
        "probe": "other data",
        "with": "with {dataset}",
        "differ": "{differing} of {total} elements differ:",
        "beyond": "{differing} of {total} cells behind the end changed:",
        "before": "before",
        "index": "index",
        "got": "got",
        "expected": "expected",
        "more": "... and {count} more",
        "why": "why",
        "try": "try",
        "hint": "hint",
        "hints": "{count} hints are there: `{run} {command} --hint 1`",
        "hint-of": "hint {number} of {count}",
        "next-hint": "the next one: `{run} {command} --hint {number}`",
        "last-hint": "that was the last one; the solution: `{run} {command} --solution`",
        "stderr": "what it wrote to stderr",
        "simulator": "the simulated GPU found:",
        "by-luck": "the values are right this time, but by luck; the simulated GPU found:",
    },
    "ko": {
        "headline": "{command}, {device}에서 실행 ({reason})",
        "simulated": "시뮬레이션 GPU",
        "checks": "검사: {checks}",
        "none": "없음",
        "passed": "{command} 통과",
        "unjudged": "{command} 실행 완료. 이 모드에는 판정할 것이 없습니다",
        "wrong": "{command} 아직 정답이 아닙니다",
        "time-limit": "{command} 시간 제한을 넘었습니다",
        "undecided": "{command}: 값은 맞지만 카운터는 판정하지 못했습니다",
        "book": "책의 데이터",
        "probe": "다른 데이터",
        "with": "{dataset}",
        "differ": "원소 {total}개 중 {differing}개가 다릅니다:",
        "beyond": "끝 뒤의 칸 {total}개 중 {differing}개가 바뀌었습니다:",
        "before": "이전 값",
        "index": "인덱스",
        "got": "결과",
        "expected": "정답",
        "more": "... 외 {count}개",
        "why": "이유",
        "try": "해 볼 것",
        "hint": "힌트",
        "hints": "힌트가 {count}개 있습니다: `{run} {command} --hint 1`",
        "hint-of": "힌트 {number}/{count}",
        "next-hint": "다음 힌트: `{run} {command} --hint {number}`",
        "last-hint": "마지막 힌트입니다. 해답: `{run} {command} --solution`",
        "stderr": "stderr에 남긴 내용",
        "simulator": "시뮬레이션 GPU가 찾은 것:",
        "by-luck": "이번에는 값이 맞았지만 우연입니다. 시뮬레이션 GPU가 찾은 것:",
    },
}
_STDERR_NOISE = (
    "stack trace was not collected",
    "To get more accurate error information, set MODULAR_DEBUG",
    "Failed to initialize Crashpad",
)
_MOST_FINDINGS = 6


def headline(command: str, choice: Choice, checks: frozenset[str] | None, language: str = "en") -> str:
    """The line before a run: what runs where and why there, and which checks watch if not all do."""
    words = _WORDS[language]
    line = words["headline"].format(command=command, device=_device(choice, words), reason=choice.reason)
    if checks is None:
        return line
    return line + ", " + words["checks"].format(checks=", ".join(sorted(checks)) or words["none"])


def show_verdict(verdict: Verdict, terminal: Terminal, language: str = "en") -> None:
    """Writes the verdict: one line when it is right; what, where, why and what to try when it is not."""
    words = _WORDS[language]
    command = verdict.selection.command
    for note in verdict.notes:
        terminal.line(terminal.paint(f"note: {note}", "dim"))
    headline = words[verdict.outcome.value].format(command=command)
    if verdict.outcome in (Outcome.PASSED, Outcome.UNJUDGED):
        sign = "✅ " if verdict.outcome is Outcome.PASSED else ""
        terminal.line(terminal.paint(sign + headline, "green") + f"  ({_circumstances(verdict, words)})")
        _show_warnings(verdict, terminal, language)
        return
    if verdict.outcome is Outcome.UNDECIDED:
        _show_undecided(verdict, headline, terminal, language)
        return
    sign = "⏱" if verdict.outcome is Outcome.TIME_LIMIT else "❌"
    terminal.line(terminal.paint(f"{sign} {headline}", "red"))
    case = next((case for case in verdict.cases if not case.right), None)
    if case:
        _show_case(case, verdict.cases, terminal, language)
    _show_warnings(verdict, terminal, language)
    if verdict.selection.mode.kind is ModeKind.PUZZLE and not verdict.solution:
        count = len(verdict.selection.mode.hints)
        text = words["hints"].format(count=count, command=command, run=run_prefix(os.environ))
        terminal.labelled(words["hint"], text, "cyan")


def _show_undecided(verdict: Verdict, headline: str, terminal: Terminal, language: str) -> None:
    from tooling.judging.counter_texts import NOT_JUDGED  # noqa: PLC0415 - brings the simulator

    words = _WORDS[language]
    terminal.line(terminal.paint(headline, "yellow") + f"  ({_circumstances(verdict, words)})")
    text = NOT_JUDGED.say(language, device=verdict.choice.target.device)
    terminal.labelled(words["why"], text)
    again = f"`{run_prefix(os.environ)} {verdict.selection.command} --target sim`"
    terminal.labelled(words["try"], again)


def show_hint(mode: Mode, command: str, number: int, terminal: Terminal, language: str = "en") -> None:
    """Writes one hint, from 1, and how to get the next one."""
    words = _WORDS[language]
    count = len(mode.hints)
    terminal.line(
        terminal.paint(words["hint-of"].format(number=number, count=count), "cyan")
        + ": "
        + mode.hints[number - 1].in_language(language)
    )
    key = "next-hint" if number < count else "last-hint"
    text = words[key].format(command=command, number=number + 1, run=run_prefix(os.environ))
    terminal.line(terminal.paint(f"  {text}", "dim"))


def _circumstances(verdict: Verdict, words: Words) -> str:
    datasets = [words.get(case.dataset, case.dataset) for case in verdict.cases]
    return f"{', '.join(datasets)}; {_device(verdict.choice, words)}; {verdict.seconds:.1f} s"


def _device(choice: Choice, words: Words) -> str:
    return words["simulated"] if choice.target.simulated else choice.target.device


def _show_case(case: CaseVerdict, cases: Sequence[CaseVerdict], terminal: Terminal, language: str) -> None:
    words = _WORDS[language]
    dataset = words["with"].format(dataset=words.get(case.dataset, case.dataset))
    if case.errors:
        _show_findings(case, terminal, words, language)
    for problem in case.problems:
        _show_problem(as_told(problem, case, cases, language), dataset, terminal, words)
    explained = any(problem.comparison for problem in case.problems)
    if case.transcript.ending is Ending.EXITED and case.transcript.status != 0 and not explained:
        _show_stderr(case.transcript.stderr, terminal, words)


def _show_problem(problem: Problem, dataset: str, terminal: Terminal, words: Words) -> None:
    terminal.wrapped(f"  {problem.what} ({dataset})", "bold")
    if problem.comparison:
        for row in mismatch_table(problem.comparison, words, beyond=problem.output == GUARD):
            terminal.line("    " + row)
    terminal.labelled(words["why"], problem.cause)
    terminal.labelled(words["try"], problem.advice)


def mismatch_table(comparison: Comparison, words: Words | None = None, *, beyond: bool = False) -> list[str]:
    """How many elements differ, and the first ones with index, got and expected, in columns.

    Args:
        beyond: they are the cells behind the end of a result, which nobody should have changed.
    """
    words = words or _WORDS["en"]
    rows = [
        (
            "[" + ", ".join(map(str, mismatch.index)) + "]",
            str(mismatch.got),
            str(mismatch.expected),
        )
        for mismatch in comparison.first
    ]
    head = (words["index"], words["got"], words["before" if beyond else "expected"])
    widths = [max(columns(row[column]) for row in (head, *rows)) for column in range(3)]
    title = words["beyond" if beyond else "differ"]
    lines = [title.format(differing=comparison.differing, total=comparison.total)]
    for row in (head, *rows):
        padded = (" " * (width - columns(cell)) + cell for cell, width in zip(row, widths, strict=True))
        lines.append("  " + "  ".join(padded))
    rest = comparison.differing - len(rows)
    if rest > 0:
        lines.append("  " + words["more"].format(count=rest))
    return lines


def _show_findings(case: CaseVerdict, terminal: Terminal, words: Words, language: str) -> None:
    from tooling.simulator.checks.findings import render  # noqa: PLC0415 - only simulated runs have findings

    head = words["simulator" if case.problems else "by-luck"]
    terminal.line("  " + terminal.paint(head, "bold"))
    for finding in case.errors[:_MOST_FINDINGS]:
        for line in render(finding, language).splitlines():
            terminal.wrapped("    " + line)
    rest = len(case.errors) - _MOST_FINDINGS
    if rest > 0:
        terminal.line("    " + words["more"].format(count=rest))


def _show_warnings(verdict: Verdict, terminal: Terminal, language: str) -> None:
    """Warnings, whatever the verdict; those without a line of the program are left to the JSON report."""
    seen: set[str] = set()
    for case in verdict.cases:
        for finding in case.findings:
            if finding in case.errors or not any(party.place.line > 0 for party in finding.parties):
                continue
            from tooling.simulator.checks.findings import render  # noqa: PLC0415 - only simulated runs have any

            text = render(finding, language)
            if text not in seen:
                seen.add(text)
                for line in text.splitlines():
                    terminal.line("  " + terminal.paint(line, "yellow"))


def _show_stderr(stderr: str, terminal: Terminal, words: Words) -> None:
    lines = [line for line in stderr.splitlines() if line.strip() and not line.startswith(_STDERR_NOISE)]
    if lines:
        terminal.line("  " + terminal.paint(f"{words['stderr']}:", "dim"))
        for line in lines[-8:]:
            terminal.line("    " + line)
