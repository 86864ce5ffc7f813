"""One trial: builds a program, runs it on every data set of its mode, judges it.

The steps of a run: Selection -> Choice -> Executable -> Transcript -> Verdict. An answer that passes is run
again: with the threads of the simulated GPU in other orders, and with other sizes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import signal
import stat
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from tooling.catalog.catalogue import Selection
from tooling.catalog.model import Mode, ModeKind, Program, ProgramLanguage
from tooling.catalog.mutants import known_mistakes
from tooling.execution.channel import VARIABLE, LabFolder
from tooling.execution.program import Ending, Transcript
from tooling.execution.sandbox import Sandbox
from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.processes import temporary_folder
from tooling.platform.regular_files import read_text
from tooling.platform.temporary_space import MACHINE_ERRORS, no_space, require_space, temporary_root
from tooling.platform.workers import program_pool
from tooling.project import Project
from tooling.target_run import LOCKSTEP, RunOptions, TargetRun, run_on_target
from tooling.targets.model import Choice
from tooling.targets.selection import choose
from tooling.text import Sentence, Text
from tooling.toolchain import BuildCache, BuildFailed, BuildRequest, Executable, Toolchain, build
from tooling.toolchain.cache_key import SourceNotFound
from tooling.toolchain.extras import require_extra
from tooling.toolchain.packages import DRIVER_VARIABLE
from tooling.toolchain.scripts import prepare_script

if TYPE_CHECKING:
    from tooling.judging.reference import Reference
    from tooling.judging.verdict import CaseVerdict, Verdict
    from tooling.simulator.engine.executor import Executor

_SCRATCH = "gpu-puzzle-run-"
_ABANDONED_AFTER = 24 * 3600.0  # seconds; no run takes so long

_FILE_SIZE = Text("the program was ended because it wrote a file that is too large for this shell")
_FILE_SIZE_LIMIT = Text("a limit on the size of files is set (`ulimit -f`)")
_LIFT_FILE_SIZE = Text("`ulimit -f unlimited`, then run it again")

OTHER_SIZES = "other-sizes"
"""The data set of a run with other sizes, in the reference."""

_NOT_DEFINED = Text("not tried with {sizes}: the program does not define `{name}` as the problem file does")
_NOT_BUILT = Text("not tried with {sizes}: the program does not compile with these sizes")

SIMULATED_TIME_FACTOR = 3.0
"""Factor of a mode's time limit on the simulated GPU, which interprets kernels."""


class FileSizeLimited(ToolingError):
    """The program was ended by the limit on the size of files."""

    exit_code = ExitCode.NOT_POSSIBLE


class Trial(Struct, frozen=True):
    """A program to run, its target and options."""

    selection: Selection
    choice: Choice
    source: Path  # the problem file, the solution, or a mutant of it
    solution: bool = False
    time_limit: float | None = None  # seconds; None: the mode's own
    language: str = "en"
    checks: frozenset[str] | None = None  # enabled checks of the simulated GPU; None: all
    gpus: int | None = None  # how many are simulated; None: as many as the mode needs
    sandbox: Sandbox | None = None  # where the program is built and run if it is not trusted
    executor: Executor | None = None  # runs the launches on the simulated GPU; None: its engine

    @property
    def limit(self) -> float:
        """The time limit on this target, in seconds."""
        if self.time_limit is not None:
            return self.time_limit
        factor = SIMULATED_TIME_FACTOR if self.choice.target.simulated else 1.0
        return self.selection.mode.time_limit * factor


def choose_target(selection: Selection, wanted: str | None, host: str = "") -> Choice:
    """The target of a mode, on this machine or on the one that `ssh` calls `host`.

    Raises: as `tooling.targets.selection.choose`, and with a host as `tooling.remote.hosts.choose_on`.
    """
    if host:
        from tooling.remote.hosts import choose_on  # noqa: PLC0415 - few runs are elsewhere

        return choose_on(host, selection, wanted)
    return choose(selection, wanted)


def build_trial(project: Project, trial: Trial, toolchain: Toolchain, cache: BuildCache) -> Executable:
    """The trial's program, built for its target.

    Raises:
        ExtraMissing: the program needs a package that is not installed.
        BuildFailed and the other errors of `tooling.toolchain.build`.
    """
    program, choice = trial.selection.program, trial.choice
    return build_program(
        program,
        trial.source,
        choice.target.accelerator,
        project,
        toolchain,
        cache,
        host_cpu=choice.processor,
        sandbox=trial.sandbox,
        elsewhere=bool(choice.host),
    )


def includes_of(program: Program, source: Path, project: Project) -> tuple[Path, ...]:
    """The include folders of the program whose main file is `source`: its own folder, then `problems/`."""
    own = (program.folder_of(source.absolute()),) if program.other_files else ()
    return (*own, project.problems)


def build_program(  # noqa: PLR0917 - the arguments of a build
    program: Program,
    source: Path,
    accelerator: str,
    project: Project,
    toolchain: Toolchain,
    cache: BuildCache,
    *,
    host_cpu: str | None = None,
    sandbox: Sandbox | None = None,
    elsewhere: bool = False,
) -> Executable:
    """Builds the program whose main file is `source`: the problem file, the solution or a mutant.

    Args:
        elsewhere: it runs on another machine, whose MAX it uses.

    Raises: as `build_trial`.
    """
    folder = program.folder_of(source.absolute())
    includes = includes_of(program, source, project)
    for each in program.sources:
        _require_file(folder / each.name, program, project)
    if program.language is ProgramLanguage.PYTHON:
        if not elsewhere:
            require_extra(program.name, program.extra)
        packages = [folder / name for name in program.packages]
        return prepare_script(source, packages, includes, toolchain, cache)
    request = BuildRequest(source, accelerator=accelerator, includes=includes, host_cpu=host_cpu)
    return build(request, toolchain, cache, sandbox)


def _require_file(path: Path, program: Program, project: Project) -> None:
    if os.path.lexists(path):  # the build says why one that is no regular file cannot be read
        return
    if path.is_relative_to(project.problems.absolute()):
        hint = Text("`tooling reset {name}` writes the skeleton again").of(name=program.name)
    else:
        hint = Text("`git restore` brings back a file of the checkout")
    raise SourceNotFound(Text("{name} does not exist").of(name=path.name), where=Location(path), hint=hint)


def judge_trial(  # noqa: PLR0917 - what a build and a run need
    trial: Trial,
    executable: Executable,
    project: Project,
    toolchain: Toolchain,
    cache: BuildCache,
    stream: Callable[[bytes], None] | None = None,
    *,
    meanwhile: Callable[[], object] | None = None,
    remember: bool = False,
) -> Verdict:
    """Runs the built program on all data sets, judges it, and runs it again if it passes.

    Args:
        stream, meanwhile: as for `run_trial`.
        remember: a program that has passed everything is not run again after the data sets the next time.

    Raises: as `build_trial` and `run_trial`.
    """
    verdict = run_trial(trial, executable, stream, meanwhile=meanwhile)
    if not _is_run_again(trial, verdict):
        return verdict
    passed = _name_of_pass(trial) if remember and trial.checks is None else ""
    if passed and cache.has_passed(executable.key, passed):
        return verdict
    further = with_other_orders(trial, executable, verdict)
    further = with_other_sizes(trial, further, project, toolchain, cache)
    if passed and further.outcome is verdict.outcome and further.notes == verdict.notes:
        cache.note_pass(executable.key, passed)
    return further


def _is_run_again(trial: Trial, verdict: Verdict) -> bool:
    from tooling.judging.verdict import Outcome  # noqa: PLC0415 - imports NumPy

    is_mojo = trial.selection.program.language is not ProgramLanguage.PYTHON
    return is_mojo and verdict.outcome is Outcome.PASSED


def _name_of_pass(trial: Trial) -> str:
    """A hash of what decides, besides the built program, whether the further runs pass."""
    from tooling.judging.reference import reference_path  # noqa: PLC0415 - imports NumPy

    puzzle = trial.selection.puzzle
    names = (trial.selection.mode.name, trial.choice.target.device, *trial.selection.mode.other_orders)
    texts = (read_text(path) for path in (puzzle.manifest, reference_path(puzzle)))
    return hashlib.sha256("\0".join((*names, *texts)).encode()).hexdigest()[:40]


def run_trial(
    trial: Trial,
    executable: Executable,
    stream: Callable[[bytes], None] | None = None,
    datasets: tuple[str, ...] = (),
    meanwhile: Callable[[], object] | None = None,
) -> Verdict:
    """Runs the built program on all data sets and judges it.

    The data sets run concurrently; those of a Python program one after the other, since the first run
    compiles the graph for both.

    Args:
        stream: receives the output with the book's data set as it arrives; other output is not streamed.
        datasets: default: those of the mode.
        meanwhile: called once while the programs start and run; what it raises is raised after they ended.

    Raises:
        ReferenceUnusable: the puzzle's reference has a mistake.
        ProgramNotStarted: the program cannot be started on this machine.
        NoTemporarySpace, FileSizeLimited: the program could not write its results, which is not its fault.
    """
    from tooling.judging.confirmation import confirmed  # noqa: PLC0415 - imports NumPy
    from tooling.judging.judge import outcome_of  # noqa: PLC0415
    from tooling.judging.verdict import Outcome, Verdict  # noqa: PLC0415

    start = time.monotonic()
    mode = trial.selection.mode
    datasets = datasets or (mode.datasets if _is_judged(mode) else ("book",))
    mistakes = partial(known_mistakes, trial.selection.puzzle, mode.name)
    runs = [(dataset, "") for dataset in datasets]
    results = _run_cases(trial, executable, runs, stream, meanwhile)
    cases = confirmed(results, mistakes)
    outcome = outcome_of(mode, cases)
    notes = next((case.notes for case in cases if case.notes), ()) if outcome is Outcome.PASSED else ()
    return Verdict(
        selection=trial.selection,
        choice=trial.choice,
        solution=trial.solution,
        cases=cases,
        outcome=outcome,
        seconds=time.monotonic() - start,
        notes=(*((executable.note,) if executable.note else ()), *notes),
    )


def _is_judged(mode: Mode) -> bool:
    return mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN)


def _run_cases(
    trial: Trial,
    executable: Executable,
    runs: Sequence[tuple[str, str]],
    stream: Callable[[bytes], None] | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> list[CaseVerdict]:
    """Runs the program once for each data set and schedule, and judges each run by itself.

    Args:
        stream: receives the output of the first run.
        meanwhile: as for `run_trial`.

    Raises: as `run_trial`.
    """
    from tooling.judging.reference import load_reference  # noqa: PLC0415 - imports NumPy

    reference = load_reference(trial.selection.puzzle) if _is_judged(trial.selection.mode) else None
    workers = 1 if executable.interpreter else len(runs)
    _remove_abandoned()
    with temporary_folder(_SCRATCH) as scratch, program_pool(workers) as pool:
        futures = [
            pool.submit(
                _run_case,
                trial,
                executable,
                dataset,
                schedule,
                reference=reference,
                lab=LabFolder(scratch / f"{dataset}{schedule}"),
                stream=stream if index == 0 else None,
            )
            for index, (dataset, schedule) in enumerate(runs)
        ]
        if meanwhile is not None:
            meanwhile()
        try:
            results = [future.result() for future in futures]
        except OSError as error:
            if error.errno in MACHINE_ERRORS and str(error.filename or scratch).startswith(str(scratch)):
                raise no_space(error) from error  # a failed write has no file name
            raise
        if not all(case.right for case in results):
            _require_working_machine(results, scratch)
    return results


def with_other_orders(trial: Trial, executable: Executable, verdict: Verdict) -> Verdict:
    """The verdict with the runs in which the simulated GPU executes the threads in another order.

    A GPU promises no order, so an answer that is right in one only is wrong. Runs that are right are left out
    of the verdict: they say the same as those in it.

    Raises: as `run_trial`.
    """
    from tooling.judging.confirmation import in_another_order  # noqa: PLC0415 - imports NumPy
    from tooling.judging.judge import outcome_of  # noqa: PLC0415

    if not trial.choice.target.simulated:
        return verdict
    start = time.monotonic()
    dataset = verdict.cases[-1].dataset
    runs = [(dataset, schedule) for schedule in trial.selection.mode.other_orders]
    results = _run_cases(trial, executable, runs)
    wrong = next((in_another_order(case) for case in results if not case.right), None)
    seconds = verdict.seconds + time.monotonic() - start
    if wrong is None:
        return replace(verdict, seconds=seconds)
    cases = (*verdict.cases, wrong)
    outcome = outcome_of(trial.selection.mode, cases)
    return replace(verdict, cases=cases, outcome=outcome, seconds=seconds, notes=_lasting_notes(verdict))


def _lasting_notes(verdict: Verdict) -> tuple[Sentence, ...]:
    """The notes of a verdict without those that are about a right answer only."""
    of_right = {note for case in verdict.cases for note in case.notes}
    return tuple(note for note in verdict.notes if note not in of_right)


def with_other_sizes(
    trial: Trial, verdict: Verdict, project: Project, toolchain: Toolchain, cache: BuildCache
) -> Verdict:
    """The verdict with a run of the same program at the mode's other sizes, if it has passed so far.

    The program is built again with other values of its constants. One that does not define them as the
    problem file does, or does not compile with them, is not run: a note says so.

    Raises: as `build_trial` and `run_trial`.
    """
    from tooling.judging.judge import outcome_of  # noqa: PLC0415 - imports NumPy
    from tooling.judging.verdict import Outcome  # noqa: PLC0415

    selection = trial.selection
    sizes, program = selection.mode.other_sizes, selection.program
    if sizes is None or not _is_run_again(trial, verdict):
        return verdict
    text, original = read_text(trial.source), read_text(program.solution)
    for name, value in sizes.constants.items():
        (line,) = re.findall(rf"^comptime {re.escape(name)} = .*$", original, re.MULTILINE)
        text, found = re.subn(
            rf"^{re.escape(line)}[ \t\r]*$", f"comptime {name} = {value}", text, flags=re.MULTILINE
        )
        if found != 1:
            return replace(verdict, notes=(*verdict.notes, _NOT_DEFINED.of(name=name, sizes=str(sizes))))
    source = cache.store_program(trial.source, {trial.source.name: text})
    resized = replace(trial, selection=replace(selection, mode=selection.mode.resized()), source=source)
    try:
        executable = build_trial(project, resized, toolchain, cache)
    except BuildFailed:
        return replace(verdict, notes=(*verdict.notes, _NOT_BUILT.of(sizes=str(sizes))))
    (case,) = run_trial(resized, executable, datasets=(OTHER_SIZES,)).cases
    cases = (*verdict.cases, replace(case, dataset=str(sizes)))
    outcome = outcome_of(selection.mode, cases)
    return replace(
        verdict,
        cases=cases,
        outcome=outcome,
        seconds=verdict.seconds + case.transcript.seconds,
        notes=verdict.notes if outcome is Outcome.PASSED else _lasting_notes(verdict),
    )


def _require_working_machine(cases: Iterable[CaseVerdict], scratch: Path) -> None:
    """Raises where a program failed since the machine does not take its files."""
    for case in cases:
        ended = case.transcript
        if ended.ending is Ending.SIGNALLED and ended.status == signal.SIGXFSZ:
            raise FileSizeLimited(_FILE_SIZE, why=_FILE_SIZE_LIMIT, hint=_LIFT_FILE_SIZE)
    require_space(scratch)


def _remove_abandoned() -> None:
    """Removes the folders of runs that ended long ago together with what would have removed them."""
    now = time.time()
    for folder in temporary_root().glob(f"{_SCRATCH}*"):
        with contextlib.suppress(OSError):
            status = folder.lstat()
            old = now - status.st_mtime > _ABANDONED_AFTER
            if old and stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid():
                shutil.rmtree(folder, ignore_errors=True)


def _run_case(
    trial: Trial,
    executable: Executable,
    dataset: str,
    schedule: str,
    *,
    reference: Reference | None,
    lab: LabFolder,
    stream: Callable[[bytes], None] | None,
) -> CaseVerdict:
    from tooling.judging.evidence import Evidence  # noqa: PLC0415 - imports NumPy
    from tooling.judging.judge import judge_case, judge_unjudged  # noqa: PLC0415
    from tooling.judging.origins import result_sizes  # noqa: PLC0415

    mode = trial.selection.mode
    command = [*executable.command, *mode.flags]
    lab.create()
    environment = environment_of(executable)
    if reference is not None:
        environment[VARIABLE] = str(lab.root)
    target = trial.choice.target
    mode = target.sized(mode)
    if schedule:  # what a mode requires besides values does not depend on the order
        mode = replace(mode, counters=(), launch=None, threads=None, shared_memory=None, overlap=None)
    case = (
        reference.case(mode, dataset, simulated=target.simulated, lanes=target.lanes) if reference else None
    )
    if case and dataset != "book":
        lab.stage(case.inputs)
    # A program in Python leaves it to MAX which memory its data passes through.
    seen = case is not None and executable.interpreter is None and not schedule
    options = RunOptions(
        environment=environment,
        time_limit=trial.limit,
        stream=stream,
        count=any(target.judges(criterion.metric) for criterion in mode.counters),
        result_sizes=result_sizes(mode, case) if case and seen else None,
        graphs=executable.interpreter is not None,
        checks=trial.checks,
        gpus=trial.gpus or mode.gpus,
        language=trial.language,
        schedule=schedule or LOCKSTEP,
        sandbox=trial.sandbox,
        executor=trial.executor,
        readable=(executable.path.parent, lab.root),
        writable=(lab.root / "used", lab.root / "out"),
    )
    if trial.choice.host:
        run = TargetRun(_run_elsewhere(trial, executable, lab, options))
    else:
        run = run_on_target(command, target, options)
    if case is None:
        return judge_unjudged(
            dataset,
            run.transcript,
            run.findings,
            launches=run.launches,
            stopped=run.stopped,
        )
    judged = judge_case(
        Evidence(
            mode=mode,
            case=case,
            transcript=run.transcript,
            used=lab.used({name: array.size for name, array in case.inputs.items()}),
            submitted=lab.submitted({name: array.size for name, array in case.expected.items()}),
            findings=run.findings,
            launches=run.launches,
            kernels=run.kernels,
            stopped=run.stopped,
            provenance=run.provenance,
            copies=run.copies,
            lockstep=target.lockstep,
        )
    )
    return replace(judged, schedule=schedule)


def _run_elsewhere(trial: Trial, executable: Executable, lab: LabFolder, options: RunOptions) -> Transcript:
    """Runs the program on the machine that `--on` names. Raises HostError."""
    from tooling.remote.connection import connection  # noqa: PLC0415 - few runs are elsewhere
    from tooling.remote.runs import run_on_host  # noqa: PLC0415

    program = trial.selection.program
    scripts: dict[str, Path] = {}
    if executable.interpreter:
        folder = program.folder_of(executable.path)
        scripts = {f"program/{each.name}": folder / each.name for each in program.sources}
        lab_package = executable.request.includes[-1] / "lab"
        scripts |= {f"problems/lab/{each.name}": each for each in sorted(lab_package.glob("*.py"))}
    transcript = run_on_host(
        connection(trial.choice.host),
        executable,
        trial.selection.mode.flags,
        lab,
        # Those of a program in Python name folders of this machine.
        environment={} if scripts else options.environment,
        time_limit=options.time_limit,
        scripts=scripts,
    )
    if options.stream:
        options.stream(transcript.stdout.encode())
    return transcript


def environment_of(executable: Executable) -> dict[str, str]:
    """The environment variables of a built program, without those of its target."""
    if not executable.interpreter:
        return dict(executable.variables)
    inherited = os.environ.get("PYTHONPATH")
    found = [*map(str, executable.request.includes), *([inherited] if inherited else [])]
    environment = {"PYTHONPATH": os.pathsep.join(found), "PYTHONUNBUFFERED": "1"}
    if executable.package_driver:
        environment[DRIVER_VARIABLE] = str(executable.package_driver)
    return environment
