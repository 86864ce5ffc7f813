"""`tooling book`: builds, serves and checks the book, and records what its programs print."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tooling.commandline.options import (
    BookBuildOptions,
    BookCheckOptions,
    BookFormulasOptions,
    BookOutputsOptions,
    BookServeOptions,
)
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from tooling.book.checks import BookFinding
    from tooling.reports.annotations import Annotation


def build_command(options: BookBuildOptions) -> int:
    import gc

    gc.disable()  # it would look through a few megabytes again and again, and the command ends soon
    from tooling.book.site.build import build
    from tooling.project import find_project

    built = build(find_project(), options.output, options.site_url)
    print(f"{built.pages} pages in {built.folder} ({built.seconds:.2f} s)")
    return ExitCode.PASSED


def serve_command(options: BookServeOptions) -> int:
    from functools import partial

    from tooling.book.site.serve import serve
    from tooling.commandline.options import preset_language
    from tooling.learning.page_runs import PageRuns
    from tooling.project import find_project

    project = find_project()
    say = partial(print, flush=True)
    serve(project, options.port, say, PageRuns(project, os.environ), preset_language())
    return ExitCode.PASSED


def check_command(options: BookCheckOptions) -> int:
    from tooling.book.checks import RULES, check, check_one_by_one
    from tooling.project import find_project
    from tooling.reports.annotations import annotation_lines, in_workflow
    from tooling.reports.step_summary import add_to_summary, text_markdown

    if options.list:
        for rule, meaning in RULES.items():
            print(f"{rule:<22} {meaning}")
        return ExitCode.PASSED
    project = find_project()
    report = check_one_by_one(project, options.pages) if options.pages else check(project)
    print(report.as_json() if options.json else _with_typed_hints(report.as_text()))
    if in_workflow():
        for line in annotation_lines(map(_annotation, report.findings), project.root):
            print(line, file=sys.stderr if options.json else sys.stdout)
        count = len(report.findings)
        verdict = f"❌ {count} finding{'s' if count > 1 else ''}" if count else "✅ nothing found"
        add_to_summary(text_markdown("tooling book check", verdict, report.as_text()))
    return ExitCode.WRONG if report.findings else ExitCode.PASSED


def _with_typed_hints(text: str) -> str:
    from tooling.reports.invocation import as_typed

    return re.sub(r"(?m)(?<=^  try: ).*$", lambda hint: as_typed(hint[0], os.environ), text)


def _annotation(finding: BookFinding) -> Annotation:
    from tooling.platform.errors import Location
    from tooling.reports.annotations import Annotation

    message = f"{finding.message}\ntry: {finding.hint}" if finding.hint else finding.message
    return Annotation(
        f"book: {finding.rule}",
        message,
        Location(Path(finding.path), finding.line or None, finding.column or None),
    )


def formulas_command(_options: BookFormulasOptions) -> int:
    from tooling.book.directives import formulas
    from tooling.book.directives.chapter_renderer import render_everything
    from tooling.book.errors import BookErrors
    from tooling.book.puzzle_index import PuzzleIndex
    from tooling.project import find_project

    project = find_project()
    renderers = render_everything(project, PuzzleIndex(project))
    problems = [problem for renderer in renderers for problem in renderer.problems]
    if problems:
        raise BookErrors(problems)
    formulas.save(project, renderers[0].formulas)
    print(f"{len(renderers[0].formulas)} formulas in {formulas.record_path(project)}")
    return ExitCode.PASSED


def outputs_command(options: BookOutputsOptions) -> int:
    from tooling.book.directives.runs import compare, update
    from tooling.project import find_project

    project = find_project()
    act = update if options.update else compare
    return act(project, options.names, options.target, print)
