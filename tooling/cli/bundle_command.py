"""`tooling bundle`: everything cross-built for a GPU machine without a toolchain."""

from __future__ import annotations

import os

from tooling.commandline.options import BundleOptions
from tooling.platform.exit_codes import ExitCode


def bundle_command(options: BundleOptions) -> int:
    from tooling.bundle.making import make_bundle
    from tooling.catalog.catalogue import load_catalogue
    from tooling.project import find_project
    from tooling.reports.invocation import as_typed
    from tooling.targets.accelerators import target_for
    from tooling.toolchain import find_toolchain
    from tooling.toolchain.cache import usable_cache
    from tooling.verify.plan import Filter, Subject, make_plan

    project = find_project()
    cache = usable_cache()
    wanted = Filter(
        puzzles=options.puzzles,
        subjects=tuple(map(Subject, options.only)) or tuple(Subject),
    )
    tasks = make_plan(project, load_catalogue(project), wanted, cache)
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
