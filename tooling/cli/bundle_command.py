"""`tooling bundle`: everything cross-built for a GPU machine without a toolchain."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tooling.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tooling.verify.plan import Task


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "bundle",
        help="cross-build everything for a machine without a toolchain",
        description="Cross-builds solutions, problem files and mutants for one accelerator into a folder "
        "with run_bundle.py, which needs only Python and the GPU's driver there.",
        allow_abbrev=False,
    )
    parser.add_argument("folder", type=Path, help="the bundle's folder")
    parser.add_argument("puzzles", nargs="*", help="p15, or a variant such as p15_tile_tensor (default: all)")
    parser.add_argument("--accelerator", default="sm_90a", help="the GPU there (default: sm_90a)")
    parser.add_argument(
        "--host-cpu", default="x86-64-v3", help="the processor there; `native`: like this one's"
    )
    parser.add_argument(
        "--only", action="append", default=[], choices=("solution", "skeleton", "mutant"), help="only these"
    )
    parser.add_argument(
        "--max", action="store_true", help="the machine there has MAX: take programs in Python along"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="builds at a time")
    parser.add_argument("--judge", type=Path, metavar="RESULTS", help="judge the results of this bundle")
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    from tooling.catalog.catalogue import load_catalogue
    from tooling.project import find_project
    from tooling.targets.accelerators import target_for
    from tooling.toolchain.cache import usable_cache
    from tooling.verify.plan import Filter, Subject, make_plan

    project = find_project()
    cache = usable_cache()
    wanted = Filter(
        puzzles=tuple(arguments.puzzles),
        subjects=tuple(map(Subject, arguments.only)) or tuple(Subject),
    )
    tasks = make_plan(project, load_catalogue(project), wanted, cache)
    if arguments.judge:
        return _judge(arguments.judge, tasks)

    from tooling.bundle.making import make_bundle
    from tooling.toolchain import find_toolchain

    bundle = make_bundle(
        tasks,
        arguments.folder,
        project=project,
        toolchain=find_toolchain(),
        cache=cache,
        target=target_for(arguments.accelerator),
        host_cpu=None if arguments.host_cpu == "native" else arguments.host_cpu,
        jobs=arguments.jobs,
        progress=lambda line: print(line, flush=True),
        with_max=arguments.max,
    )
    print(f"{bundle.entries} entries, {bundle.executables} different executables in {bundle.folder}")
    for name, error in bundle.failed:
        print(f"not built: {name}: {error}")
    return ExitCode.BUILD_FAILED if bundle.failed else ExitCode.PASSED


def _judge(path: Path, tasks: Sequence[Task]) -> int:
    from tooling.bundle.judging import judge_results

    judged = judge_results(path, tasks)
    wrong = 0
    undecided = 0
    for each in judged:
        if each.complaint:
            wrong += 1
            print(f"{each.trial.id}: {each.complaint}")
        elif each.undecided:
            undecided += 1
            print(f"{each.trial.id}: undecided: {each.undecided}")
    missing = sum(each.verdict is None for each in judged)
    print(f"{len(judged) - missing} judged, {wrong} not as they must be, {undecided - missing} undecided")
    if missing:
        print(f"{missing} are not in the results: run all of the bundle, or name what was run (p15, --only)")
    if wrong:
        return ExitCode.WRONG
    # A check that could not run has not passed.
    return ExitCode.NOT_POSSIBLE if missing or undecided == len(judged) else ExitCode.PASSED
