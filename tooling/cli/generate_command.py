"""`tooling generate`: everything that is derived from manifests and solutions."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from tooling.cli.options import GenerateOptions
from tooling.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tooling.generate.plan import Generated


def command(options: GenerateOptions) -> int:
    from tooling.catalog.catalogue import load_catalogue
    from tooling.generate.plan import plan, write
    from tooling.project import find_project

    project = find_project()
    files = plan(project, load_catalogue(project), options.puzzles)
    stale = [file for file in files if not file.current]
    if options.check:
        for file in stale:
            sys.stdout.write(file.diff(project.root))
        if stale:
            from tooling.reports.invocation import as_typed

            message = f"{len(stale)} of {len(files)} generated files are not current: run `tooling generate`"
            print("\n" + as_typed(message, os.environ))
            _annotate(stale, project.root, message)
            return ExitCode.WRONG
        print(f"{len(files)} generated files are current")
        return ExitCode.PASSED
    for path in write(project, files, force=options.force):
        print(f"wrote {path.relative_to(project.root)}")
    print(f"{len(files)} generated files, {len(stale)} of them written")
    return ExitCode.PASSED


def _annotate(stale: Sequence[Generated], root: Path, message: str) -> None:
    from tooling.errors import Location
    from tooling.reports.annotations import Annotation, annotation_lines, in_workflow
    from tooling.reports.step_summary import add_to_summary, text_markdown

    if in_workflow():
        hint = "it differs from what manifests and solutions give\ntry: tooling generate"
        found = [Annotation("generated file", hint, Location(file.path)) for file in stale]
        print(*annotation_lines(found, root), sep="\n")
    add_to_summary(
        text_markdown("tooling generate --check", f"❌ {message}", "".join(one.diff(root) for one in stale))
    )
