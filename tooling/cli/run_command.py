"""`tooling run`: build a puzzle, run it, judge it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from tooling.cli.learner.choice import one_puzzle_at_a_time
from tooling.commandline.options import PuzzleRunOptions, host_of
from tooling.platform.exit_codes import ExitCode
from tooling.text import Sentence, Text

if TYPE_CHECKING:
    from tooling.catalog.catalogue import Selection
    from tooling.catalog.model import Puzzle
    from tooling.judging.verdict import Verdict
    from tooling.learning.journey import Journey
    from tooling.project import Project
    from tooling.reports.records import ReportRecord
    from tooling.reports.result_table import ProgramResult
    from tooling.reports.status_line import StatusLine
    from tooling.reports.terminal import Terminal
    from tooling.simulator.timing.profiler import TimingProfiler
    from tooling.toolchain import Executable
    from tooling.trials import Trial

_BUILDING = Text("building {file}")
_PREPARING = Text("building the driver of the simulated GPU, once")
_RUNNING = Text("running and judging {command}, for at most {limit:g} s (--timeout)")


def run_command(options: PuzzleRunOptions) -> int:
    from tooling.catalog.catalogue import UnknownPuzzle, refuse_misspelled, select
    from tooling.commandline.parser import option_names
    from tooling.project import find_project
    from tooling.reports.terminal import open_terminal

    project = find_project()
    own_options = option_names(PuzzleRunOptions)
    try:
        selections = [select(project, name, flags, own_options) for name, flags in options.named]
    except UnknownPuzzle:
        refuse_misspelled(options.flags, own_options)
        raise
    to_stdout = "-" in (options.json, options.junit)
    terminal = open_terminal(sys.stderr if to_stdout else sys.stdout)
    if options.hint is not None:
        from tooling.reports.hints import show_hint

        if len(selections) > 1:
            raise one_puzzle_at_a_time([each.command for each in selections])
        (selection,) = selections
        show_hint(selection.mode, selection.command, options.hint, terminal, options.lang)
        return ExitCode.PASSED

    from tooling.platform.errors import ToolingError
    from tooling.reports.error_text import show_error
    from tooling.reports.records import error_record
    from tooling.reports.result_table import result_of, result_of_error, show_results

    records: list[ReportRecord] = []
    results: list[ProgramResult] = []
    for selection in selections:
        if results:
            terminal.line()
        try:
            verdict, record = _run(options, project, selection, terminal)
        except ToolingError as error:
            error.speak(options.lang)
            records.append(error_record(selection.puzzle.id, selection.command, error))
            if len(selections) == 1:
                _write(options, records)
                raise
            show_error(error, terminal, options.lang)
            results.append(result_of_error(selection.command, error, options.lang))
            continue
        records.append(record)
        results.append(result_of(verdict, options.lang))
    if len(selections) > 1:
        terminal.line()
        show_results(results, terminal, options.lang)
    _write(options, records)
    return next((each.exit_code for each in results if each.exit_code), ExitCode.PASSED)


def _run(
    options: PuzzleRunOptions, project: Project, selection: Selection, terminal: Terminal
) -> tuple[Verdict, ReportRecord]:
    """Judges one mode, and shows and keeps the verdict."""
    from tooling.catalog.model import ModeKind
    from tooling.judging.verdict import Outcome

    # With fewer checks than all, a race may have gone unseen.
    is_step = not options.solution and options.checks is None and selection.mode.kind is ModeKind.PUZZLE
    following = _Following(project)
    verdict, warnings, profiler = _judged(
        options, project, selection, terminal, following.prepare if is_step else None
    )
    from tooling.reports.annotations import annotation_lines, in_workflow, verdict_annotations
    from tooling.reports.console import show_verdict
    from tooling.reports.invocation import from_here
    from tooling.reports.records import verdict_record
    from tooling.reports.step_summary import add_to_summary, records_markdown

    show_verdict(verdict, terminal, options.lang)
    if profiler is not None:
        _show_estimates(verdict, profiler, terminal, options.lang)
    if is_step and verdict.outcome is Outcome.PASSED:
        _keep_progress(verdict, following, terminal, options.lang)
    for line in from_here(warnings, os.environ).splitlines():
        terminal.message(line, "dim")
    record = verdict_record(verdict, options.lang)
    if in_workflow():
        source = selection.program.solution if options.solution else selection.program.problem
        for line in annotation_lines(verdict_annotations(verdict, source, options.lang), project.root):
            terminal.line(line)
        add_to_summary(records_markdown("tooling run", [record]))
    return verdict, record


class _Following:
    """The state of the reader's journey after a run, whose catalogue is loaded while the program runs."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._puzzles: tuple[Puzzle, ...] | None = None

    def prepare(self) -> None:
        """Loads what does not depend on the verdict. A wrong manifest is reported by `journey`."""
        from tooling.catalog.catalogue import load_catalogue
        from tooling.platform.errors import ToolingError

        import_module("tooling.learning.screens")
        import_module("tooling.reports.console")
        with contextlib.suppress(ToolingError):
            self._puzzles = load_catalogue(self.project)

    def journey(self) -> Journey:
        """Raises: as `open_journey`."""
        from tooling.learning.journey import open_journey

        return open_journey(self.project, self._puzzles)


def _judged(
    options: PuzzleRunOptions,
    project: Project,
    selection: Selection,
    terminal: Terminal,
    meanwhile: Callable[[], None] | None,
) -> tuple[Verdict, str, TimingProfiler | None]:
    """The verdict, the warnings as they are shown, and what ran a benchmark on the simulated GPU."""
    from tooling.catalog.model import ModeKind
    from tooling.cli.subject import chosen_gpus
    from tooling.commandline.parser import UsageError
    from tooling.generate.skeletons import FILL_MARK
    from tooling.judging.verdict import Outcome
    from tooling.platform.regular_files import read_text
    from tooling.reports.console import headline
    from tooling.reports.status_line import StatusLine
    from tooling.reports.terminal import ProgramOutput
    from tooling.targets.model import TargetKind
    from tooling.toolchain import find_toolchain, open_cache
    from tooling.toolchain.diagnostics import render_warnings
    from tooling.trials import Trial, choose_target, judge_trial

    choice = choose_target(selection, options.target, host_of(options.on, options.target))
    if options.gpus is not None and not choice.target.simulated:
        raise UsageError(
            Text("the number of GPUs can be chosen for the simulated GPU only"),
            hint=Text("add --target sim"),
        )
    if options.checks is not None and not choice.target.simulated:
        raise UsageError(
            Text("{device} has no checks to choose from").of(device=choice.target.named),
            why=Text("races and the like are watched by the simulated GPU only"),
            hint=Text("add --target sim"),
        )
    profiler = None
    if selection.mode.kind is ModeKind.BENCHMARK and choice.target.kind is TargetKind.SIM:
        from tooling.simulator.nvidia.machine_code.tools import find_tools, has_tools
        from tooling.simulator.timing.profiler import TimingProfiler

        profiler = TimingProfiler(tools=find_tools() if has_tools() else None)
    trial = Trial(
        selection,
        choice,
        source=selection.program.solution if options.solution else selection.program.problem,
        solution=options.solution,
        time_limit=options.timeout,
        language=options.lang,
        checks=options.checks,
        gpus=chosen_gpus(options.gpus, selection.mode.gpus) if choice.target.simulated else None,
        executor=profiler,
    )
    terminal.wrapped(headline(selection.command, choice, options.checks, options.lang), "dim")
    terminal.stream.flush()
    with StatusLine(terminal, options.lang) as status:
        executable = built(project, trial, status)
    folder = selection.program.folder_of(trial.source)
    unfinished = any(
        FILL_MARK in read_text(folder / source.name, errors="replace") for source in selection.program.sources
    )
    warnings = render_warnings(executable.diagnostics, unfinished=unfinished, language=options.lang)
    with StatusLine(terminal, options.lang) as status:
        status.say(running(trial))
        judged = selection.mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN)
        output = ProgramOutput(terminal, judged=judged, write=status.write)
        passed = False
        try:
            cache = open_cache(language=options.lang)
            verdict = judge_trial(
                trial,
                executable,
                project,
                find_toolchain(),
                cache,
                output.show,
                meanwhile=meanwhile,
                remember=True,
            )
            passed = verdict.outcome in (Outcome.PASSED, Outcome.UNDECIDED)
        finally:
            output.end(passed=passed)
        return verdict, warnings, profiler


def _show_estimates(verdict: Verdict, profiler: TimingProfiler, terminal: Terminal, language: str) -> None:
    """The rows of a benchmark with estimated times."""
    from tooling.simulator.timing.benchmark import benchmark_of, show_benchmark
    from tooling.simulator.timing.parameters import GPUS

    outputs = [case.transcript.stdout for case in verdict.cases]
    show_benchmark(benchmark_of("".join(outputs), profiler.launches, GPUS[0]), terminal.console(), language)


def built(project: Project, trial: Trial, status: StatusLine) -> Executable:
    """Builds what a trial needs, and says so meanwhile.

    Raises: as `build_trial`.
    """
    from tooling.toolchain import find_toolchain, open_cache
    from tooling.trials import build_trial

    status.say(_BUILDING.of(file=trial.source.name))
    toolchain, cache = find_toolchain(), open_cache(language=trial.language)
    executable = build_trial(project, trial, toolchain, cache)
    target = trial.choice.target
    if target.simulated:
        from tooling.simulator.backends import backend_for
        from tooling.simulator.server.libraries import find_libraries

        status.say(_PREPARING)
        find_libraries(toolchain, cache, backend_for(target.instruction_set).stand_ins)
    return executable


def running(trial: Trial) -> Text:
    """What is said while a trial runs."""
    return _RUNNING.of(command=trial.selection.command, limit=trial.limit)


def keep_success(verdict: Verdict, project: Project) -> Sentence | None:
    """Records that the reader's program has passed; returns a note where it could not be recorded."""
    from tooling.progress import record_solved

    selection = verdict.selection
    return record_solved(
        project.root,
        selection.puzzle.id,
        selection.mode.name,
        program=selection.program.name,
        device=verdict.choice.target.device,
        seconds=verdict.seconds,
    )


def _keep_progress(verdict: Verdict, following: _Following, terminal: Terminal, language: str) -> None:
    """Records that the reader has solved a mode, and shows what follows."""
    from tooling.learning.screens import show_after

    note = keep_success(verdict, following.project)
    if note:
        terminal.note(note, language)
    else:
        show_after(following.journey(), verdict.selection, terminal, language)


def _write(options: PuzzleRunOptions, records: list[ReportRecord]) -> None:
    from tooling.reports.files import write_json, write_junit

    if options.json:
        write_json(options.json, "run", records)
    if options.junit:
        write_junit(options.junit, "run", records)
