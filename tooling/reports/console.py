"""The verdict as the console shows it."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from tooling.catalog.model import ModeKind, ProgramLanguage
from tooling.execution.program import Ending, without_noise
from tooling.judging.comparison import Comparison
from tooling.judging.diagnosis import GUARD
from tooling.judging.verdict import CaseVerdict, Outcome, Problem, Verdict
from tooling.reports.invocation import tool_prefix
from tooling.reports.terminal import Terminal
from tooling.targets.model import Choice, TargetKind
from tooling.text import ENGLISH, Text, as_sentence, in_language, joined
from tooling.text.width import columns

_WORDS: dict[str, Text] = {
    "headline": Text("{command} on {device} ({reason})"),
    "checks": Text("checks: {checks}"),
    "none": Text("none"),
    "passed": Text("{command} passed"),
    "unjudged": Text("{command} ran; there is nothing to judge in this mode"),
    "wrong": Text("{command} is not right yet"),
    "time-limit": Text("{command} ran into its time limit"),
    "undecided": Text("{command}: values right, counters not judged"),
    "unchecked": Text(
        "not checked on {device}: {requirements}; `{tool} run {command} --target sim` checks it"
    ),
    "book": Text("the book's data"),
    "probe": Text("other data"),
    "with": Text("with {dataset}"),
    "note": Text("note"),
    "right-with-book": Text(
        "the result is right with the book's data, which the program prints, and wrong with other data. The "
        "inputs there begin:"
    ),
    "differ": Text("{differing} of {total} elements differ:"),
    "beyond": Text("{differing} of {total} elements after the end changed:"),
    "before": Text("before"),
    "index": Text("index"),
    "got": Text("got"),
    "expected": Text("expected"),
    "more": Text("... and {count} more"),
    "more-findings": Text("... and {count} more finding", "... and {count} more findings"),
    "where": Text("where"),
    "why": Text("why"),
    "try": Text("try"),
    "hint": Text("hint"),
    "limit": Text("limit"),
    "more-time": Text("`{tool} run {command} --timeout {seconds}` gives it more time"),
    "hints": Text("{count} hints are available: `{tool} hint {command}`"),
    "replay": Text("replay"),
    "step-through": Text("`{tool} replay {command}` shows this run step by step"),
    "stderr": Text("what it wrote to stderr"),
    "simulator": Text("the simulated GPU found:"),
    "by-luck": Text("the values are right this time, but by luck; the simulated GPU found:"),
}
_REQUIREMENTS: dict[str, Text] = {
    "counters": Text("the counters of the kernel"),
    "launch": Text("the shape of the launch"),
    "threads": Text("how many threads share the work"),
    "shared_memory": Text("whether a kernel reads shared memory"),
}
"""What a requirement of a mode is about, by its key in the manifest."""
_MOST_FINDINGS = 6
BOOK = "book"
"""The data set that a program itself has."""


def _say(key: str, language: str, **facts: object) -> str:
    return _WORDS[key].of(**facts).render(language)


def _dataset(name: str, language: str) -> str:
    return _say(name, language) if name in _WORDS else name


def headline(command: str, choice: Choice, checks: frozenset[str] | None, language: str = "en") -> str:
    """The line before a run: command, target, reason, and the enabled checks if not all are enabled."""
    line = _say("headline", language, command=command, device=choice.target.named, reason=choice.reason)
    if checks is None:
        return line
    return line + ", " + _say("checks", language, checks=", ".join(sorted(checks)) or _say("none", language))


def show_verdict(verdict: Verdict, terminal: Terminal, language: str = "en") -> None:
    """Writes the verdict: one line if it is right; what, where, why and what to try if it is not."""
    command = verdict.selection.command
    for note in verdict.notes:
        terminal.note(note, language)
    headline = _say(verdict.outcome.value, language, command=command)
    if verdict.outcome in (Outcome.PASSED, Outcome.UNJUDGED):
        sign = "✅ " if verdict.outcome is Outcome.PASSED else ""
        terminal.headed(sign + headline, f"  ({_circumstances(verdict, language)})", "green")
        _show_unchecked(verdict, terminal, language)
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
    if case and case.transcript.ending is Ending.TIME_LIMIT:
        more = math.ceil(2 * case.transcript.seconds)
        facts = {"tool": tool_prefix(os.environ), "command": command, "seconds": more}
        terminal.labelled(_say("limit", language), _say("more-time", language, **facts))
    if verdict.selection.mode.kind is ModeKind.PUZZLE and not verdict.solution:
        count = len(verdict.selection.mode.hints)
        text = _say("hints", language, count=count, command=command, tool=tool_prefix(os.environ))
        terminal.labelled(_say("hint", language), text, "cyan")
        _offer_replay(verdict, terminal, language)


def _offer_replay(verdict: Verdict, terminal: Terminal, language: str) -> None:
    """Offers a replay of the learner's program, of the data with which it is wrong."""
    case = next((case for case in verdict.cases if not case.right), None)
    replayable = (
        verdict.selection.program.language is ProgramLanguage.MOJO and verdict.choice.target.simulated
    )
    if case is None or not replayable or case.transcript.ending is Ending.TIME_LIMIT or case.launches == 0:
        return
    kind = verdict.choice.target.kind
    options = ["" if kind is TargetKind.SIM else f" --target {kind.value}"]
    options.append("" if case.dataset == BOOK else f" --data {case.dataset}")
    command = f"{verdict.selection.command}{''.join(options)} --open"
    text = _say("step-through", language, command=command, tool=tool_prefix(os.environ))
    terminal.labelled(_say("replay", language), text, "cyan")


def _show_unchecked(verdict: Verdict, terminal: Terminal, language: str) -> None:
    """Names the requirements of the mode that only the simulated GPU checks, and how to check them."""
    keys = {key: None for case in verdict.cases for key in case.unchecked}
    if keys:
        terminal.note(
            _WORDS["unchecked"].of(
                device=verdict.choice.target.named,
                requirements=joined([_REQUIREMENTS[key] for key in keys], ", "),
                tool=tool_prefix(os.environ),
                command=verdict.selection.command,
            ),
            language,
        )


def _show_undecided(verdict: Verdict, headline: str, terminal: Terminal, language: str) -> None:
    from tooling.judging.counter_texts import NOT_JUDGED  # noqa: PLC0415 - imports the simulator

    terminal.headed(headline, f"  ({_circumstances(verdict, language)})", "yellow")
    text = NOT_JUDGED.of(device=verdict.choice.target.named).render(language)
    terminal.labelled(_say("why", language), as_sentence(text))
    again = f"`{tool_prefix(os.environ)} run {verdict.selection.command} --target sim`"
    terminal.labelled(_say("try", language), again)


def _circumstances(verdict: Verdict, language: str) -> str:
    datasets = [_dataset(case.dataset, language) for case in verdict.cases]
    device = in_language(verdict.choice.target.named, language)
    return f"{', '.join(datasets)}; {device}; {verdict.seconds:.1f} s"


def _show_case(case: CaseVerdict, cases: Sequence[CaseVerdict], terminal: Terminal, language: str) -> None:
    dataset = _say("with", language, dataset=_dataset(case.dataset, language))
    if case.errors:
        _show_findings(case, terminal, language)
    right_before = any(other.right and other.dataset == BOOK for other in cases)
    for problem in case.problems:
        _show_problem(problem, dataset, terminal, language)
        if problem.comparison and right_before and not case.errors:
            _show_inputs(case, terminal, language)
            right_before = False  # once is enough
    explained = any(problem.comparison for problem in case.problems)
    if case.transcript.ending is Ending.EXITED and case.transcript.status != 0 and not explained:
        _show_stderr(case.transcript.stderr, terminal, language)


def _show_inputs(case: CaseVerdict, terminal: Terminal, language: str) -> None:
    """Says that other data shows the mistake, and what that data is."""
    terminal.labelled(_say("note", language), _say("right-with-book", language))
    for name, elements in case.inputs.items():
        terminal.wrapped(f"    {name}: {elements}")


def _show_problem(problem: Problem, dataset: str, terminal: Terminal, language: str) -> None:
    terminal.wrapped(f"  {problem.what.render(language)} ({dataset})", "bold")
    if problem.comparison:
        for row in mismatch_table(problem.comparison, language, beyond=problem.output == GUARD):
            terminal.line("    " + row)
    if problem.place:
        terminal.labelled(_say("where", language), problem.place.render(language))
    terminal.labelled(_say("why", language), as_sentence(problem.cause.render(language)))
    terminal.labelled(_say("try", language), as_sentence(problem.advice.render(language)))


def mismatch_table(comparison: Comparison, language: str = ENGLISH, *, beyond: bool = False) -> list[str]:
    """The number of elements that differ, and a table of the first ones: index, got, expected.

    Args:
        beyond: they are elements after the end of a result, which no thread may change.
    """
    rows = [
        (
            "[" + ", ".join(map(str, mismatch.index)) + "]",
            str(mismatch.got),
            str(mismatch.expected),
        )
        for mismatch in comparison.first
    ]
    head = (
        _say("index", language),
        _say("got", language),
        _say("before" if beyond else "expected", language),
    )
    widths = [max(columns(row[column]) for row in (head, *rows)) for column in range(3)]
    title = "beyond" if beyond else "differ"
    lines = [_say(title, language, differing=comparison.differing, total=comparison.total)]
    for row in (head, *rows):
        padded = (" " * (width - columns(text)) + text for text, width in zip(row, widths, strict=True))
        lines.append("  " + "  ".join(padded))
    rest = comparison.differing - len(rows)
    if rest > 0:
        lines.append("  " + _say("more", language, count=rest))
    return lines


def _show_findings(case: CaseVerdict, terminal: Terminal, language: str) -> None:
    from tooling.simulator.checks.findings import render  # noqa: PLC0415 - only simulated runs have findings

    head = _say("simulator" if case.problems else "by-luck", language)
    terminal.line("  " + terminal.paint(head, "bold"))
    # A barrier that some threads miss is the cause of races, not their effect.
    errors = sorted(case.errors, key=lambda finding: finding.check.value != "synchronisation")
    for finding in errors[:_MOST_FINDINGS]:
        for line in render(finding, language).splitlines():
            terminal.wrapped("    " + line)
    rest = len(errors) - _MOST_FINDINGS
    if rest > 0:
        terminal.line("    " + _say("more-findings", language, count=rest))


def _show_warnings(verdict: Verdict, terminal: Terminal, language: str) -> None:
    """Shows warnings, whatever the verdict; the JSON report also has those without a line of the program."""
    seen: set[str] = set()
    for case in verdict.cases:
        for finding in case.findings:
            if finding in case.errors or not any(party.position.line > 0 for party in finding.parties):
                continue
            from tooling.simulator.checks.findings import render  # noqa: PLC0415 - only simulated runs have any

            text = render(finding, language)
            if text not in seen:
                seen.add(text)
                for line in text.splitlines():
                    terminal.wrapped("  " + line, "yellow")


def stderr_title(language: str) -> str:
    """The line above what the program wrote to stderr."""
    return _say("stderr", language) + ":"


def _show_stderr(stderr: str, terminal: Terminal, language: str) -> None:
    lines = [line for line in without_noise(stderr).splitlines() if line.strip()]
    if lines:
        terminal.line("  " + terminal.paint(stderr_title(language), "dim"))
        for line in lines[-8:]:
            terminal.line("    " + line)
