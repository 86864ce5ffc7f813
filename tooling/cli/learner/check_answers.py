"""`tooling check-answers`: everything that is solved is judged again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tooling.cli.run_command import built, keep_success, running
from tooling.commandline.learner_options import CheckAnswersOptions
from tooling.platform.exit_codes import ExitCode
from tooling.text import Sentence, Text

if TYPE_CHECKING:
    from tooling.catalog.catalogue import Selection
    from tooling.judging.verdict import Verdict
    from tooling.learning.journey import Journey
    from tooling.project import Project
    from tooling.reports.records import ReportRecord
    from tooling.reports.result_table import ProgramResult
    from tooling.reports.terminal import Terminal

_NOTHING = Text("nothing is solved in this folder yet")
_NOT_SOLVED = Text("none of these puzzles is solved in this folder")
_START = Text("`tooling next` shows the first puzzle")
_ON = Text("on {device}")
_ALL_PASS = Text("{count} answer passes", plural="all {count} answers pass")
_SOME_FAIL = Text("{passed} of {count} answers pass")
_NOT_HERE = Text("{count} could not be judged here")
_ONLY_ON = Text("it has passed on {devices} only")


def check_answers_command(options: CheckAnswersOptions) -> int:
    from tooling.catalog.catalogue import programs_named
    from tooling.judging.verdict import Outcome
    from tooling.learning.journey import open_journey
    from tooling.platform.errors import ToolingError
    from tooling.project import find_project
    from tooling.reports.files import write_json, write_junit
    from tooling.reports.records import error_record, verdict_record
    from tooling.reports.result_table import result_of, result_of_error, show_result
    from tooling.reports.terminal import open_terminal
    from tooling.text.width import columns

    journey = open_journey(find_project())
    wanted = {program.name for program in programs_named(journey.puzzles, options.puzzles)}
    answers = [each for each in answers_of(journey) if each.program.name in wanted]
    if not answers:
        raise ToolingError(_NOT_SOLVED if journey.progress.solved else _NOTHING, hint=_START)
    terminal = open_terminal(sys.stderr if "-" in (options.json, options.junit) else sys.stdout)
    width = max(columns(each.command) for each in answers)
    note: Sentence | None = None
    records: list[ReportRecord] = []
    results: list[ProgramResult] = []
    device = ""
    for answer in answers:
        try:
            verdict = _judged(options, journey.project, answer, terminal)
        except ToolingError as error:
            error.speak(options.lang)
            records.append(error_record(answer.puzzle.id, answer.command, error))
            results.append(result_of_error(answer.command, error, options.lang))
        else:
            if verdict.outcome is Outcome.PASSED:
                note = keep_success(verdict, journey.project) or note
            records.append(verdict_record(verdict, options.lang))
            results.append(result_of(verdict, options.lang))
        result = results[-1]
        if result.target and device != result.target.device:
            device = result.target.device
            terminal.line(terminal.paint(_ON.of(device=result.target.named).render(options.lang), "dim"))
        show_result(result, width, terminal, options.lang)
        if result.passed is False and result.target:
            _show_other_devices(journey, answer, result.target.device, terminal, options.lang)
        terminal.stream.flush()
    if note:
        terminal.note(note, options.lang)
    if options.json:
        write_json(options.json, "check-answers", records)
    if options.junit:
        write_junit(options.junit, "check-answers", records)
    judged = [result for result in results if result.passed is not None]
    passed = sum(bool(result.passed) for result in judged)
    if judged:
        text = _ALL_PASS if passed == len(judged) else _SOME_FAIL
        terminal.line(text.of(count=len(judged), passed=passed).render(options.lang))
    if missing := len(results) - len(judged):
        terminal.line(_NOT_HERE.of(count=missing).render(options.lang))
    if not judged:
        return ExitCode.NOT_POSSIBLE
    return ExitCode.PASSED if passed == len(judged) else ExitCode.WRONG


def answers_of(journey: Journey) -> Iterator[Selection]:
    """Every program that has passed in a mode; of records that do not name it, the first that was edited."""
    from tooling.catalog.catalogue import Selection
    from tooling.learning.answers import is_skeleton

    for step in journey.steps:
        solved = journey.progress.solved.get(step.puzzle.id, {}).get(step.mode.name)
        if not solved:
            continue
        programs = [step.puzzle.program(name) for name in step.mode.programs]
        passed = [program for program in programs if program.name in solved.passes]
        edited = (program for program in programs if not is_skeleton(program))
        for program in passed or [next(edited, step.program)]:
            yield Selection(step.puzzle, program, step.mode)


def _judged(options: CheckAnswersOptions, project: Project, answer: Selection, terminal: Terminal) -> Verdict:
    from tooling.reports.status_line import StatusLine
    from tooling.targets.selection import choose
    from tooling.toolchain import find_toolchain, open_cache
    from tooling.trials import Trial, judge_trial

    choice = choose(answer, options.target)
    trial = Trial(answer, choice, source=answer.program.problem, language=options.lang)
    with StatusLine(terminal, options.lang) as status:
        executable = built(project, trial, status)
        status.say(running(trial))
        cache = open_cache(language=options.lang)
        return judge_trial(trial, executable, project, find_toolchain(), cache, remember=True)


def _show_other_devices(
    journey: Journey, answer: Selection, device: str, terminal: Terminal, language: str
) -> None:
    """Says on which other GPUs an answer has passed."""
    from tooling.learning.screens import named_devices

    solved = journey.progress.solved[answer.puzzle.id][answer.mode.name]
    others = [name for name in solved.devices if name != device]
    if others and device not in solved.devices:
        text = _ONLY_ON.of(devices=named_devices(others, language))
        terminal.wrapped(f"    {text.render(language)}", "dim")
