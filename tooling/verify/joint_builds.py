"""Builds the mutants of one program together.

Most of the compiler's time for a small GPU program goes to what every such program contains. One executable
of seven mutants takes a fifth of the time of seven executables. Each mutant is a module of its own, and an
environment variable selects the one that runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tooling.catalog.model import Program, ProgramLanguage
from tooling.platform.errors import ToolingError
from tooling.platform.workers import map_in_processes
from tooling.project import Project
from tooling.targets.selection import ModeGated, TargetAbsent, choose
from tooling.toolchain import BuildCache, Executable, Toolchain
from tooling.trials import build_program
from tooling.verify.plan import Subject, Task

VARIABLE = "PUZZLE_VERIFY_MUTANT"
"""The number of the mutant that a joint executable runs."""

_FEWEST, _MOST = 3, 8
"""Mutants of a joint executable: two are built as fast on two cores, and many would leave a core idle."""


class Joint(Struct, frozen=True):
    """The mutants of one program in one executable."""

    tasks: tuple[Task, ...]
    source: Path


def joint_executables(
    tasks: Sequence[Task],
    *,
    project: Project,
    toolchain: Toolchain,
    cache: BuildCache,
    target: str | None,
    jobs: int,
) -> dict[Path, Executable]:
    """The executable of each mutant that was built together with others, by its source.

    A mutant is missing here, and is built alone, if its program has few mutants or consists of several files,
    if the target runs none of its modes, or if the mutants do not compile together: built alone, the one that
    is at fault is named.
    """
    joints = list(_joints(tasks, cache))
    building = partial(_build, project=project, toolchain=toolchain, cache=cache, target=target)
    built = map_in_processes(building, joints, jobs)
    return {
        task.source: replace(executable, variables={VARIABLE: str(number)})
        for joint, executable in zip(joints, built, strict=True)
        if executable is not None
        for number, task in enumerate(joint.tasks)
    }


def _joints(tasks: Sequence[Task], cache: BuildCache) -> Iterator[Joint]:
    programs: dict[Path, list[Task]] = {}
    for task in tasks:
        if task.error is None and task.trials[0].subject is Subject.MUTANT:
            program = _program(task)
            if program.language is ProgramLanguage.MOJO and not program.other_files:
                programs.setdefault(program.solution, []).append(task)
    for solution, own in programs.items():
        sources = {task.source: task for task in own}  # two mistakes may leave the same text
        if len(sources) >= _FEWEST:
            parts = -(-len(sources) // _MOST)
            for part in range(parts):
                members = tuple(sources.values())[part::parts]
                texts = {"joint.mojo": _main(solution.stem, len(members))}
                for number, task in enumerate(members):
                    texts[f"{solution.stem}_{number}.mojo"] = task.source.read_text(encoding="utf-8")
                yield Joint(members, cache.store_program(solution, texts))


def _program(task: Task) -> Program:
    return task.trials[0].selection.program


def _main(module: str, count: int) -> str:
    """The main file: it calls the `main` of the mutant that the variable names."""
    numbers = range(count)
    lines = [
        "from std.os import getenv",
        "",
        *(f"from {module}_{number} import main as main_{number}" for number in numbers),
        "",
        "",
        "def main() raises:",
        f'    var number = getenv("{VARIABLE}")',
        *(f'    if number == "{number}":\n        main_{number}()' for number in numbers),
    ]
    return "\n".join(lines) + "\n"


def _build(
    joint: Joint, project: Project, toolchain: Toolchain, cache: BuildCache, target: str | None
) -> Executable | None:
    """The executable; None if it cannot be built."""
    for trial in (trial for task in joint.tasks for trial in task.trials):
        try:
            accelerator = choose(trial.selection, target).target.accelerator
        except (ModeGated, TargetAbsent):
            continue
        program = replace(_program(joint.tasks[0]), file=joint.source.name)
        try:
            return build_program(program, joint.source, accelerator, project, toolchain, cache)
        except ToolingError:
            return None
    return None
