"""Builds a bundle: one folder that a machine with a GPU and plain Python can run."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from tooling.bundle.scripts import store_script
from tooling.catalog.model import Extra, ModeKind, Program, ProgramLanguage
from tooling.judging.reference import Reference, load_reference
from tooling.platform.errors import ToolingError
from tooling.platform.output_folder import OutputFolder
from tooling.platform.workers import program_pool
from tooling.project import Project
from tooling.standalone import run_bundle
from tooling.targets.model import Target
from tooling.targets.selection import gate
from tooling.toolchain import BuildCache, Executable, Toolchain
from tooling.toolchain.runtime import runtime_libraries
from tooling.trials import build_program
from tooling.verify.plan import PlannedTrial, Task

VERSION = 1


class Bundle(Struct, frozen=True):
    """The bundle that was built."""

    folder: Path
    entries: int
    executables: int
    failed: tuple[tuple[str, ToolingError], ...]  # programs that could not be built


class NothingToBundle(ToolingError):
    """None of the selected programs can be part of a bundle."""


def left_out(tasks: Sequence[Task]) -> tuple[Program, ...]:
    """The programs that a machine without MAX cannot run: those that use graphs."""
    programs = dict.fromkeys(task.trials[0].selection.program for task in tasks)
    return tuple(program for program in programs if program.language is ProgramLanguage.PYTHON)


def _without_graphs(tasks: Sequence[Task], progress: Callable[[str], None]) -> Sequence[Task]:
    absent = left_out(tasks)
    if not absent:
        return tasks
    why = "they need MAX, which compiles their graphs on the machine where they run"
    extra = Extra.TORCH if any(each.extra is Extra.TORCH for each in absent) else Extra.MAX
    names = " ".join(program.name for program in absent)
    command = f"uv run --extra {extra.value} tooling verify {names}"
    hint = f"{command}, there; or add `--max`, if MAX is there"
    kept = [task for task in tasks if task.trials[0].selection.program not in absent]
    if not kept:
        raise NothingToBundle(f"a bundle without MAX cannot contain {names}", why=why, hint=hint)
    progress(f"left out: {names}: {why}; try: {hint}")
    return kept


def make_bundle(
    tasks: Sequence[Task],
    folder: Path,
    *,
    project: Project,
    toolchain: Toolchain,
    cache: BuildCache,
    target: Target,
    host_cpu: str | None,
    jobs: int,
    progress: Callable[[str], None],
    with_max: bool = False,
) -> Bundle:
    """Builds every task for a target and writes the folder; an existing bundle is replaced.

    Args:
        target: the machine's GPU; modes that it cannot run are left out.
        host_cpu: the processor of that machine, as for `mojo build --target-cpu`; None: that of this machine.
        progress: receives a line for each program.
        with_max: that machine has MAX, so programs in Python are included.

    Raises:
        OutputFolderRefused, NothingToBundle, RuntimeLibraryMissing, ReferenceUnusable.
    """
    if not with_max:
        tasks = _without_graphs(tasks, progress)
    output = OutputFolder.claim(folder, "tooling bundle", project.sources)

    def built(task: Task) -> Executable | ToolingError:
        if task.error:
            return task.error
        program = task.trials[0].selection.program
        try:
            return build_program(
                program, task.source, target.accelerator, project, toolchain, cache, host_cpu=host_cpu
            )
        except ToolingError as error:
            return error

    entries: list[dict[str, Any]] = []
    failed: list[tuple[str, ToolingError]] = []
    references: dict[str, Reference] = {}
    wanted = [
        (task, trials)
        for task in tasks
        if (trials := [trial for trial in task.trials if not gate(trial.selection, target.kind, target)])
    ]
    with output.replaced() as partial:
        (partial / "bin").mkdir()
        _copy_runtime(toolchain, partial)
        with program_pool(jobs) as pool:
            results = pool.map(lambda pair: built(pair[0]), wanted)
            for (task, trials), result in zip(wanted, results, strict=True):
                name = trials[0].id
                if isinstance(result, ToolingError):
                    failed.append((name, result))
                    progress(f"failed: {name}: {result.what}")
                    continue
                if result.interpreter:
                    executable = store_script(trials[0].selection.program, task.source, partial, project)
                else:
                    executable = _store(result.path, partial / "bin")
                progress(f"built: {name}")
                for trial in trials:
                    puzzle = trial.selection.puzzle
                    if puzzle.id not in references and _judged(trial):
                        references[puzzle.id] = load_reference(puzzle)
                    reference = references.get(puzzle.id)
                    entries.append(_entry(trial, target, executable, reference, partial))
        description = {"version": VERSION, "accelerator": target.accelerator, "entries": entries}
        (partial / "bundle.json").write_text(json.dumps(description, indent=1, ensure_ascii=False), "utf-8")
        shutil.copyfile(run_bundle.__file__, partial / "run_bundle.py")
    return Bundle(folder, len(entries), len(list((folder / "bin").iterdir())), tuple(failed))


def _judged(trial: PlannedTrial) -> bool:
    return trial.selection.mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN)


def _copy_runtime(toolchain: Toolchain, folder: Path) -> None:
    (folder / "lib").mkdir()
    for library in runtime_libraries(toolchain):
        shutil.copyfile(library, folder / "lib" / library.name)


def _store(executable: Path, folder: Path) -> str:
    """Copies an executable under the hash of its content, so that equal ones are stored once."""
    name = hashlib.sha256(executable.read_bytes()).hexdigest()[:20]
    path = folder / name
    if not path.exists():
        shutil.copyfile(executable, path)
        path.chmod(0o755)
    return f"bin/{name}"


def _entry(
    trial: PlannedTrial, target: Target, executable: str, reference: Reference | None, folder: Path
) -> dict[str, Any]:
    mode = trial.selection.mode
    datasets: dict[str, str | None] = {}
    if not _judged(trial) or reference is None:
        datasets["book"] = None
    else:
        for dataset in mode.datasets:
            staged = None if dataset == "book" else _stage(trial, target, dataset, reference, folder)
            datasets[dataset] = staged
    expected = trial.on(target.kind.vendor, target.lanes)
    return {
        "id": trial.id,
        "subject": trial.subject.value,
        "program": trial.selection.program.name,
        "mode": mode.name,
        "flags": list(mode.flags),
        "mutant": trial.mutant or None,
        "expect": list(expected.expect),
        "must_pass": expected.must_pass,
        "gpus": mode.gpus,
        "time_limit": mode.time_limit,
        "executable": executable,
        "datasets": datasets,
    }


def _stage(trial: PlannedTrial, target: Target, dataset: str, reference: Reference, folder: Path) -> str:
    mode = target.sized(trial.selection.mode)
    name = f"inputs/{trial.selection.puzzle.id}/{mode.name}/{dataset}"
    subfolder = folder / name
    if not subfolder.is_dir():
        subfolder.mkdir(parents=True)
        for buffer, array in reference.case(mode, dataset, lanes=target.lanes).inputs.items():
            content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
            (subfolder / f"{buffer}.bin").write_bytes(content)
    return name
