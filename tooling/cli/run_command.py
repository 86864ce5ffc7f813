"""`tooling run`: build a puzzle, run it, judge it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from tooling.commandline.options import PuzzleRunOptions
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.catalog.catalogue import Selection
    from tooling.judging.verdict import Verdict
    from tooling.project import Project
    from tooling.reports.records import ReportRecord
    from tooling.reports.terminal import Terminal

_BUILDING = Text("building {file}")
_PREPARING = Text("building the driver of the simulated GPU, once")
_RUNNING = Text("running and judging {command}, for at most {limit:g} s (--timeout)")


def run_command(options: PuzzleRunOptions) -> int:
    from tooling.catalog.catalogue import select
    from tooling.commandline.parser import option_names
    from tooling.project import find_project
    from tooling.reports.terminal import open_terminal

    project = find_project()
    selection = select(project, options.puzzle, options.flags, option_names(PuzzleRunOptions))
    to_stdout = "-" in (options.json, options.junit)
    terminal = open_terminal(sys.stderr if to_stdout else sys.stdout)
    if options.hint is not None:
        from tooling.reports.hints import show_hint

        show_hint(selection.mode, selection.command, options.hint, terminal, options.lang)
        return ExitCode.PASSED

    from tooling.platform.errors import ToolingError
    from tooling.reports.records import error_record, verdict_record

    try:
        verdict, warnings = _judged(options, project, selection, terminal)
    except ToolingError as error:
        error.speak(options.lang)
        _write(options, [error_record(selection.puzzle.id, selection.command, error)])
        raise
    from tooling.reports.annotations import annotation_lines, in_workflow, verdict_annotations
    from tooling.reports.console import show_verdict
    from tooling.reports.invocation import from_here
    from tooling.reports.step_summary import add_to_summary, records_markdown

    show_verdict(verdict, terminal, options.lang)
    if options.checks is None:  # with fewer checks than all, a race may have gone unseen
        _keep_progress(verdict, project, terminal, options.lang)
    for line in from_here(warnings, os.environ).splitlines():
        terminal.message(line, "dim")
    record = verdict_record(verdict, options.lang)
    if in_workflow():
        source = selection.program.solution if options.solution else selection.program.problem
        for line in annotation_lines(verdict_annotations(verdict, source, options.lang), project.root):
            terminal.line(line)
        add_to_summary(records_markdown("tooling run", [record]))
    _write(options, [record])
    return verdict.outcome.exit_code


def _judged(
    options: PuzzleRunOptions, project: Project, selection: Selection, terminal: Terminal
) -> tuple[Verdict, str]:
    """The verdict, and the compiler's warnings as they are shown."""
    from tooling.catalog.model import ModeKind
    from tooling.commandline.parser import UsageError
    from tooling.generate.skeletons import FILL_MARK
    from tooling.judging.verdict import Outcome
    from tooling.platform.regular_files import read_text
    from tooling.reports.console import headline
    from tooling.reports.status_line import StatusLine
    from tooling.reports.terminal import ProgramOutput
    from tooling.targets.selection import choose
    from tooling.toolchain import find_toolchain, open_cache
    from tooling.toolchain.diagnostics import render_warnings
    from tooling.trials import Trial, build_trial, run_trial

    choice = choose(selection, options.target)
    if options.checks is not None and not choice.target.simulated:
        raise UsageError(
            Text("{device} has no checks to choose from").of(device=choice.target.named),
            why=Text("races and the like are watched by the simulated GPU only"),
            hint=Text("add --target sim"),
        )
    trial = Trial(
        selection,
        choice,
        source=selection.program.solution if options.solution else selection.program.problem,
        solution=options.solution,
        time_limit=options.timeout,
        language=options.lang,
        checks=options.checks,
    )
    terminal.wrapped(headline(selection.command, choice, options.checks, options.lang), "dim")
    terminal.stream.flush()
    with StatusLine(terminal, options.lang) as status:
        status.say(_BUILDING.of(file=trial.source.name))
        toolchain, cache = find_toolchain(), open_cache(language=options.lang)
        executable = build_trial(project, trial, toolchain, cache)
        if choice.target.simulated:
            from tooling.simulator.backends import backend_for
            from tooling.simulator.server.libraries import find_libraries

            status.say(_PREPARING)
            find_libraries(toolchain, cache, backend_for(choice.target.instruction_set).stand_ins)
    folder = selection.program.folder_of(trial.source)
    unfinished = any(
        FILL_MARK in read_text(folder / source.name, errors="replace") for source in selection.program.sources
    )
    warnings = render_warnings(executable.diagnostics, unfinished=unfinished, language=options.lang)
    with StatusLine(terminal, options.lang) as status:
        status.say(_RUNNING.of(command=selection.command, limit=trial.limit))
        judged = selection.mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN)
        output = ProgramOutput(terminal, judged=judged, write=status.write)
        passed = False
        try:
            verdict = run_trial(trial, executable, output.show)
            passed = verdict.outcome in (Outcome.PASSED, Outcome.UNDECIDED)
        finally:
            output.end(passed=passed)
        return verdict, warnings


def _keep_progress(verdict: Verdict, project: Project, terminal: Terminal, language: str) -> None:
    """Remembers that the reader has solved a mode, and shows what follows."""
    from tooling.catalog.model import ModeKind
    from tooling.judging.verdict import Outcome
    from tooling.progress import record_solved

    selection = verdict.selection
    if (
        verdict.solution
        or selection.mode.kind is not ModeKind.PUZZLE
        or verdict.outcome is not Outcome.PASSED
    ):
        return
    note = record_solved(
        project.root,
        selection.puzzle.id,
        selection.mode.name,
        device=verdict.choice.target.device,
        seconds=verdict.seconds,
    )
    if note:
        terminal.note(note, language)
        return
    from tooling.learning.journey import open_journey
    from tooling.learning.screens import show_after

    show_after(open_journey(project), selection, terminal, language)


def _write(options: PuzzleRunOptions, records: list[ReportRecord]) -> None:
    from tooling.reports.files import write_json, write_junit

    if options.json:
        write_json(options.json, "run", records)
    if options.junit:
        write_junit(options.junit, "run", records)
