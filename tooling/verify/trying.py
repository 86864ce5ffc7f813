"""Runs tasks in parallel processes: each run of the simulated GPU keeps one core busy."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from tooling.catalog.model import ModeKind
from tooling.catalog.mutants import COUNTERS, ORDERS, ORIGINS
from tooling.execution.program import Ending
from tooling.judging.verdict import Outcome, Verdict
from tooling.platform.errors import Location, ToolingError
from tooling.platform.workers import map_in_processes
from tooling.project import Project
from tooling.remote.connection import HostError
from tooling.remote.hosts import PackageAbsent
from tooling.reports.records import ReportRecord, error_record, verdict_record
from tooling.targets.model import Choice, Target
from tooling.targets.selection import ModeGated, TargetAbsent
from tooling.toolchain import BuildCache, Toolchain
from tooling.toolchain.extras import ExtraMissing
from tooling.trials import Trial as RunTrial
from tooling.trials import build_trial, choose_target, judge_trial
from tooling.verify.joint_builds import joint_executables
from tooling.verify.plan import PlannedTrial, Subject, Task


def try_all(
    tasks: Sequence[Task],
    *,
    project: Project,
    toolchain: Toolchain,
    cache: BuildCache,
    target: str | None,
    hosts: Sequence[str] = ("",),
    jobs: int,
) -> Iterator[ReportRecord]:
    """Runs every task; yields the records as they are ready.

    Args:
        target: the value of `--target`.
        hosts: the machines that share the tasks, as `ssh` names them; an empty name is this one.
        jobs: how many tasks at a time.
    """
    if not any(hosts):  # another machine's GPU is known when it has been asked
        joint = joint_executables(
            tasks, project=project, toolchain=toolchain, cache=cache, target=target, jobs=jobs
        )
        tasks = [replace(task, executable=joint.get(task.source)) for task in tasks]
    trying = partial(_try_task, project=project, toolchain=toolchain, cache=cache, target=target)
    assigned = list(zip(tasks, itertools.cycle(hosts), strict=False))
    for records in map_in_processes(trying, assigned, jobs, ordered=False):
        yield from records


def _try_task(
    assigned: tuple[Task, str], project: Project, toolchain: Toolchain, cache: BuildCache, target: str | None
) -> list[ReportRecord]:
    task, host = assigned
    if task.error:
        return [_failed_to_try(trial, task, project, task.error) for trial in task.trials]
    return [_try_one(task, trial, project, toolchain, cache, target, host) for trial in task.trials]


def _try_one(  # noqa: PLR0917 - the same all the way down
    task: Task,
    trial: PlannedTrial,
    project: Project,
    toolchain: Toolchain,
    cache: BuildCache,
    target: str | None,
    host: str,
) -> ReportRecord:
    try:
        choice = choose_target(trial.selection, target, host)
    except ModeGated as error:
        return skipped(trial, error.why or error.what)
    except (TargetAbsent, PackageAbsent) as error:
        return missing(trial, f"{error.what}: {error.why}; {error.hint}")
    except HostError as error:
        return _failed_to_try(trial, task, project, error)
    trial = trial.on(choice.target.kind.vendor, choice.target.lanes)
    if choice.target.simulated and trial.selection.mode.kind is ModeKind.BENCHMARK:
        return skipped(trial, "benchmarks need a real GPU")
    start = time.monotonic()
    try:
        verdict = _verdict(task, trial, choice, project, toolchain, cache)
    except ExtraMissing as error:
        return missing(trial, f"{error.what}: {error.hint}")
    except ToolingError as error:
        return _failed_to_try(trial, task, project, error)
    if verdict.outcome is Outcome.UNDECIDED:
        reason = "the values are right; its counters need --target sim"
        return skipped(trial, reason, time.monotonic() - start)
    if hidden_from(choice.target, trial, verdict):
        reason = "how a result is computed shows with --target sim only"
        return skipped(trial, reason, time.monotonic() - start)
    complaint = complaint_about(trial, verdict)
    if trial.hidden and not complaint:
        return skipped(trial, f"passes as expected: {trial.hidden}", time.monotonic() - start)
    where = _where(trial, task, project) if complaint else None
    return judged_record(trial, verdict, complaint, time.monotonic() - start, where)


def judged_record(
    trial: PlannedTrial, verdict: Verdict, complaint: str, seconds: float, where: Location | None = None
) -> ReportRecord:
    """The record of a trial with a verdict; `complaint` is empty where the verdict is the expected one."""
    judged = verdict_record(verdict)
    return ReportRecord(
        trial.selection.puzzle.id,
        trial.id,
        "failed" if complaint else "passed",
        seconds,
        complaint,
        judged.details if complaint else "",
        {**(judged.data or {}), **_identity(trial), "seconds_run": round(verdict.seconds, 3)},
        where,
    )


def _verdict(  # noqa: PLR0917
    task: Task,
    trial: PlannedTrial,
    choice: Choice,
    project: Project,
    toolchain: Toolchain,
    cache: BuildCache,
) -> Verdict:
    run = RunTrial(
        trial.selection,
        choice,
        source=task.source,
        solution=trial.subject is Subject.SOLUTION,
    )
    executable = task.executable or build_trial(project, run, toolchain, cache)
    return judge_trial(run, executable, project, toolchain, cache)


def hidden_from(target: Target, trial: PlannedTrial, verdict: Verdict) -> bool:
    """Whether what is wrong with a mutant, whose values are right, does not show on this target."""
    shown_elsewhere = bool(trial.expect) and {*ORIGINS, *ORDERS, *COUNTERS}.issuperset(trial.expect)
    return not target.simulated and verdict.outcome is Outcome.PASSED and shown_elsewhere


def complaint_about(trial: PlannedTrial, verdict: Verdict) -> str:
    """How the verdict differs from the expected one; empty when it does not, or when nothing was decided."""
    if verdict.outcome is Outcome.UNDECIDED:
        return ""
    passed = verdict.outcome in (Outcome.PASSED, Outcome.UNJUDGED)
    if trial.must_pass:
        return "" if passed else f"must pass, but: {verdict_record(verdict).message}"
    if passed:
        wanted = f" (expected: {', '.join(trial.expect)})" if trial.expect else ""
        return f"must be rejected, but passed{wanted}"
    if trial.expect and not verdict.names & set(trial.expect):
        return f"rejected, but as {', '.join(sorted(verdict.names))}, not as {' or '.join(trial.expect)}"
    return _false_success(verdict)


def _false_success(verdict: Verdict) -> str:
    """The wrong output that the program itself accepted: its own check must compare every element too."""
    for case in verdict.cases:
        if case.transcript.ending is Ending.EXITED and case.transcript.status == 0:
            for problem in case.problems:
                if problem.comparison:
                    return f"rejected, but the program itself succeeded with a wrong `{problem.output}`"
    return ""


def _identity(trial: PlannedTrial) -> dict[str, object]:
    return {"subject": trial.subject.value, "mutant": trial.mutant or None, "expect": list(trial.expect)}


def skipped(trial: PlannedTrial, reason: str, seconds: float = 0.0) -> ReportRecord:
    """The record for a trial that does not apply to this target; `--require-all` accepts it."""
    data = {**_identity(trial), "missing": False}
    return ReportRecord(trial.selection.puzzle.id, trial.id, "skipped", seconds, reason, "", data)


def missing(trial: PlannedTrial, reason: str) -> ReportRecord:
    """The record for a trial that needs something that this machine lacks; `--require-all` rejects it."""
    data = {**_identity(trial), "missing": True}
    return ReportRecord(trial.selection.puzzle.id, trial.id, "skipped", 0.0, reason, "", data)


def _where(trial: PlannedTrial, task: Task, project: Project) -> Location:
    """The file to look at: the program, or for a mutant, whose program is temporary, its YAML file."""
    if trial.subject is Subject.MUTANT:
        return Location(project.mutants / f"{trial.selection.puzzle.id}.yaml")
    return Location(task.source)


def _failed_to_try(trial: PlannedTrial, task: Task, project: Project, error: ToolingError) -> ReportRecord:
    record = error_record(trial.selection.puzzle.id, trial.id, error)
    return ReportRecord(
        record.suite,
        record.name,
        "error",
        0.0,
        record.message,
        record.details,
        {**(record.data or {}), **_identity(trial)},
        record.where
        if record.where and trial.subject is not Subject.MUTANT
        else _where(trial, task, project),
    )
