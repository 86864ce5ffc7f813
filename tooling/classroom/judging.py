"""Judges one answer in a sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tooling.catalog.catalogue import Selection
from tooling.catalog.model import ModeKind, Program, Puzzle
from tooling.classroom.students import Answer
from tooling.execution.sandbox import Sandbox, find_sandbox
from tooling.platform.errors import ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.machine_watch import Allowance
from tooling.project import Project
from tooling.reports.records import ReportRecord, error_record, verdict_record
from tooling.targets.selection import ModeGated
from tooling.text import Text
from tooling.toolchain import BuildCache, Toolchain, find_toolchain
from tooling.toolchain.cache import usable_cache
from tooling.trials import Trial, build_trial, choose_target, judge_trial

_DEFECT = Text("the tool failed while it judged this answer: {error}")


class Judged(Struct, frozen=True):
    """The result of one mode of an answer.

    Attributes:
        status: passed; failed: it is wrong; gated: the simulated GPU does not run it; error: it could not be
            judged, which is not the student's fault.
        message: one line; empty if passed.
        details: all that is wrong.
    """

    student: str
    puzzle: str
    program: str
    mode: str
    command: str
    status: str
    seconds: float = 0.0
    message: str = ""
    details: str = ""


class Rules(Struct, frozen=True, kw_only=True):
    """How answers are judged.

    Attributes:
        target: the simulated GPU, as for `--target`.
        time_limit: seconds of a run; None: that of the mode.
    """

    project: Project
    toolchain: Toolchain
    cache: BuildCache
    sandbox: Sandbox
    target: str
    time_limit: float | None
    language: str


def rules_for(
    project: Project, *, target: str, memory: float, time_limit: float | None, language: str
) -> Rules:
    """The rules on this machine.

    Args:
        memory: GiB that one answer may take.

    Raises:
        NoSandbox: as `find_sandbox`.
        MojoNotFound, MojoVersionMismatch, CacheUnusable.
    """
    return Rules(
        project=project,
        toolchain=find_toolchain(),
        cache=usable_cache(language=language),
        sandbox=find_sandbox(Allowance(memory=int(memory * 2**30)), (project.root,)),
        target=target,
        time_limit=time_limit,
        language=language,
    )


def judge_answer(answer: Answer, programs: Sequence[tuple[Puzzle, Program]], rules: Rules) -> list[Judged]:
    """The results of an answer: one for each mode of its program that is a puzzle. Raises nothing."""
    puzzle, program = next(each for each in programs if each[1].name == answer.program)
    selections = [
        Selection(puzzle, program, mode)
        for mode in puzzle.modes_of(program.name)
        if mode.kind is ModeKind.PUZZLE
    ]
    return [_judge(answer, selection, rules) for selection in selections]


def _judge(answer: Answer, selection: Selection, rules: Rules) -> Judged:
    judged = Judged(
        answer.student,
        selection.puzzle.id,
        selection.program.name,
        selection.mode.name,
        selection.command,
        "failed",
    )
    if answer.refused:
        return replace(judged, message=answer.refused, details=answer.refused)
    source = rules.cache.store_program(selection.program.problem, answer.texts)
    try:
        record = _record(selection, source, rules)
    except ModeGated as error:
        error.speak(rules.language)
        return replace(judged, status="gated", message=error.why or error.what)
    except ToolingError as error:
        record = _error_record(selection, error, rules)
    except Exception as error:  # noqa: BLE001 - what a hostile program provokes; the others are to be judged
        message = _DEFECT.of(error=f"{type(error).__name__}: {error}").render(rules.language)
        return replace(judged, status="error", message=message, details=message)
    folder = f"{selection.program.folder_of(source)}/"
    return replace(
        judged,
        status="error" if record.status == "skipped" else record.status,
        seconds=record.seconds,
        message=record.message.replace(folder, ""),
        details=record.details.replace(folder, ""),
    )


def _error_record(selection: Selection, error: ToolingError, rules: Rules) -> ReportRecord:
    error.speak(rules.language)
    return error_record(selection.puzzle.id, selection.command, error)


def _record(selection: Selection, source: Path, rules: Rules) -> ReportRecord:
    """The record of the verdict.

    Raises:
        ModeGated: the simulated GPU does not run the mode.
        ToolingError: it cannot be judged.
    """
    trial = Trial(
        selection,
        choose_target(selection, rules.target),
        source=source,
        time_limit=rules.time_limit,
        language=rules.language,
        sandbox=rules.sandbox,
    )
    try:
        executable = build_trial(rules.project, trial, rules.toolchain, rules.cache)
    except ToolingError as error:
        if error.exit_code is not ExitCode.BUILD_FAILED:
            raise
        # It does not compile, or the compiler took too much.
        return replace(_error_record(selection, error, rules), status="failed")
    verdict = judge_trial(trial, executable, rules.project, rules.toolchain, rules.cache, remember=True)
    return verdict_record(verdict, rules.language)
