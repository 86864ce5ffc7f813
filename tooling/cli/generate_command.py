"""`tooling generate`: everything that is derived from manifests and solutions."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tooling.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tooling.generate.plan import Generated


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "generate",
        help="write everything that is derived from manifests and solutions",
        description="Writes the problem files, the tasks of poe and pixi, the CI matrix and the workflows.",
    )
    parser.add_argument(
        "puzzles", nargs="*", help="only the problem files of these, such as p15 (default: all)"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; fail with a diff on any drift")
    parser.add_argument("--force", action="store_true", help="also overwrite problem files that were edited")
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    from tooling.catalog.catalogue import load_catalogue
    from tooling.generate.plan import plan, write
    from tooling.project import find_project

    project = find_project()
    files = plan(project, load_catalogue(project), arguments.puzzles)
    stale = [file for file in files if not file.current]
    if arguments.check:
        for file in stale:
            sys.stdout.write(file.diff(project.root))
        if stale:
            message = f"{len(stale)} of {len(files)} generated files are not current: run `tooling generate`"
            print(f"\n{message}")
            _annotate(stale, project.root, message)
            return ExitCode.WRONG
        print(f"{len(files)} generated files are current")
        return ExitCode.PASSED
    for path in write(project, files, force=arguments.force):
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
