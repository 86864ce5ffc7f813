"""`tooling run`: build a puzzle, run it, judge it."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tooling.cli.options import add_checks, add_language, add_reports, add_target, seconds
from tooling.exit_codes import ExitCode

if TYPE_CHECKING:
    from tooling.catalog.catalogue import Selection
    from tooling.judging.verdict import Verdict
    from tooling.project import Project
    from tooling.reports.records import ReportRecord
    from tooling.reports.terminal import Terminal


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "run",
        help="build a puzzle, run it and judge it",
        description="Builds a puzzle's program, runs it on the puzzle's data and on other data, and judges "
        "the buffers that it hands in.",
        epilog="The puzzle's own flags may stand anywhere: tooling run p23 --tiled",
        allow_abbrev=False,
    )
    parser.add_argument("puzzle", help="p15, or a variant such as p15_tile_tensor")
    add_target(parser)
    parser.add_argument(
        "--solution", action="store_true", help="run the solution instead of the problem file"
    )
    parser.add_argument("--timeout", type=seconds, metavar="S", help="time limit in seconds")
    add_checks(parser)
    parser.add_argument("--hint", type=int, metavar="N", help="show a hint (the first, or number N)")
    add_reports(parser)
    add_language(parser)
    parser.set_defaults(command=command, takes_flags=True)


def command(arguments: argparse.Namespace) -> int:
    from tooling.catalog.catalogue import select
    from tooling.project import find_project
    from tooling.reports.terminal import open_terminal

    project = find_project()
    selection = select(project, arguments.puzzle, arguments.rest)
    to_stdout = "-" in (arguments.json, arguments.junit)
    terminal = open_terminal(sys.stderr if to_stdout else sys.stdout)
    if arguments.hint is not None:
        return _hint(arguments, selection, terminal)

    from tooling.errors import ToolingError
    from tooling.reports.records import error_record, verdict_record

    try:
        verdict = _judged(arguments, project, selection, terminal)
    except ToolingError as error:
        error.speak(arguments.lang)
        _write(arguments, [error_record(selection.puzzle.id, selection.command, error)])
        raise
    from tooling.reports.annotations import annotation_lines, in_workflow, verdict_annotations
    from tooling.reports.console import show_verdict
    from tooling.reports.step_summary import add_to_summary, records_markdown

    show_verdict(verdict, terminal, arguments.lang)
    if arguments.check is None:  # with fewer checks than all, a race may have gone unseen
        _keep_progress(verdict, project, terminal)
    record = verdict_record(verdict, arguments.lang)
    if in_workflow():
        source = selection.program.solution if arguments.solution else selection.program.problem
        for line in annotation_lines(verdict_annotations(verdict, source, arguments.lang), project.root):
            terminal.line(line)
        add_to_summary(records_markdown("tooling run", [record]))
    _write(arguments, [record])
    return verdict.outcome.exit_code


def _judged(
    arguments: argparse.Namespace, project: Project, selection: Selection, terminal: Terminal
) -> Verdict:
    from tooling.cli.parser import UsageError
    from tooling.generate.skeletons import FILL_MARK
    from tooling.reports.console import headline
    from tooling.targets.selection import choose
    from tooling.toolchain import find_toolchain, open_cache
    from tooling.toolchain.diagnostics import render_warnings
    from tooling.trials import Trial, build_trial, run_trial

    choice = choose(selection, arguments.target)
    if arguments.check is not None and not choice.target.simulated:
        raise UsageError(
            f"{choice.target.device} has no checks to choose from",
            why="races and the like are watched by the simulated GPU only",
            hint="add --target sim",
        )
    trial = Trial(
        selection,
        choice,
        source=selection.program.solution if arguments.solution else selection.program.problem,
        solution=arguments.solution,
        time_limit=arguments.timeout,
        language=arguments.lang,
        checks=arguments.check,
    )
    line = headline(selection.command, choice, arguments.check, arguments.lang)
    terminal.line(terminal.paint(line, "dim"))
    terminal.stream.flush()
    executable = build_trial(project, trial, find_toolchain(), open_cache())
    folder = selection.program.folder_of(trial.source)
    unfinished = any(
        FILL_MARK in (folder / source.name).read_text("utf-8", "replace")
        for source in selection.program.sources
    )
    warnings = render_warnings(executable.diagnostics, unfinished=unfinished, language=arguments.lang)
    if warnings:
        terminal.line(terminal.paint(warnings, "dim"))
    return run_trial(trial, executable, terminal.streamer())


def _keep_progress(verdict: Verdict, project: Project, terminal: Terminal) -> None:
    """Remembers that the reader has solved a mode; `tooling book serve` shows it."""
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
    note = record_solved(project.root, selection.puzzle.id, selection.mode.name)
    if note:
        terminal.line(terminal.paint(f"note: {note}", "dim"))


def _hint(arguments: argparse.Namespace, selection: Selection, terminal: Terminal) -> int:
    from tooling.errors import ToolingError
    from tooling.reports.console import show_hint

    hints = selection.mode.hints
    if not 1 <= arguments.hint <= len(hints):
        raise ToolingError(
            f"`{selection.command}` has no hint {arguments.hint}",
            why=f"it has {len(hints)}" if hints else "its code is given, so there is nothing to write",
            hint="`--hint 1` shows the first" if hints else None,
        )
    show_hint(selection.mode, selection.command, arguments.hint, terminal, arguments.lang)
    return ExitCode.PASSED


def _write(arguments: argparse.Namespace, records: list[ReportRecord]) -> None:
    from tooling.reports.files import write_json, write_junit

    if arguments.json:
        write_json(arguments.json, "run", records)
    if arguments.junit:
        write_junit(arguments.junit, "run", records)
