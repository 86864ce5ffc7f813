"""`tooling bundle`: everything cross-built for a GPU machine without a toolchain."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tooling.commandline.options import BundleOptions
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tooling.verify.plan import Task


def bundle_command(options: BundleOptions) -> int:
    from tooling.catalog.catalogue import load_catalogue
    from tooling.project import find_project
    from tooling.targets.accelerators import target_for
    from tooling.toolchain.cache import usable_cache
    from tooling.verify.plan import Filter, Subject, make_plan

    project = find_project()
    cache = usable_cache()
    wanted = Filter(
        puzzles=options.puzzles,
        subjects=tuple(map(Subject, options.only)) or tuple(Subject),
    )
    tasks = make_plan(project, load_catalogue(project), wanted, cache)
    if options.judge:
        return _judge(options.judge, tasks)

    from tooling.bundle.making import make_bundle
    from tooling.reports.invocation import as_typed
    from tooling.toolchain import find_toolchain

    bundle = make_bundle(
        tasks,
        options.folder,
        project=project,
        toolchain=find_toolchain(),
        cache=cache,
        target=target_for(options.accelerator),
        host_cpu=None if options.host_cpu == "native" else options.host_cpu,
        jobs=options.jobs,
        progress=lambda line: print(as_typed(line, os.environ), flush=True),
        with_max=options.max,
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
