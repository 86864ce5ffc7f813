"""`tooling book`: builds, serves and checks the book, and records what its programs print."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tooling.exit_codes import ExitCode

if TYPE_CHECKING:
    from tooling.book.checks import BookFinding
    from tooling.reports.annotations import Annotation


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "book", help="build the site", description="The book: both editions, one site."
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)

    build = actions.add_parser("build", help="build both editions into one site")
    build.add_argument("--output", type=Path, metavar="FOLDER", help="default: site/ of the checkout")
    build.add_argument("--site-url", metavar="URL", help="public address (default: the repository's pages)")
    build.set_defaults(command=_build)

    serve = actions.add_parser(
        "serve", help="build, show on this machine, and build again after every change"
    )
    serve.add_argument("--port", type=int, default=3000)
    serve.set_defaults(command=_serve)

    check = actions.add_parser(
        "check", help="look for everything in the book that is not true or does not work"
    )
    check.add_argument("--json", action="store_true", help="print the findings as JSON")
    check.add_argument("--list", action="store_true", help="list the rules")
    check.set_defaults(command=_check)

    formulas = actions.add_parser("formulas", help="draw the formulas of the pages, and record them")
    formulas.set_defaults(command=_formulas)

    outputs = actions.add_parser("outputs", help="compare the printed outputs with what the programs print")
    outputs.add_argument("names", nargs="*", metavar="PROGRAM", help="only these programs")
    outputs.add_argument("--update", action="store_true", help="record them instead")
    outputs.add_argument("--target", choices=("auto", "nvidia", "amd", "apple", "sim"), default="sim")
    outputs.set_defaults(command=_outputs)


def _build(arguments: argparse.Namespace) -> int:
    import gc

    gc.disable()  # it would look through a few megabytes again and again, and the command ends soon
    from tooling.book.site.build import build
    from tooling.project import find_project

    built = build(find_project(), arguments.output, arguments.site_url)
    print(f"{built.pages} pages in {built.folder} ({built.seconds:.2f} s)")
    return ExitCode.PASSED


def _serve(arguments: argparse.Namespace) -> int:
    from tooling.book.site.serve import serve
    from tooling.project import find_project

    serve(find_project(), arguments.port, print)
    return ExitCode.PASSED


def _check(arguments: argparse.Namespace) -> int:
    from tooling.book.checks import RULES, check
    from tooling.project import find_project
    from tooling.reports.annotations import annotation_lines, in_workflow
    from tooling.reports.step_summary import add_to_summary, text_markdown

    if arguments.list:
        for rule, meaning in RULES.items():
            print(f"{rule:<22} {meaning}")
        return ExitCode.PASSED
    project = find_project()
    report = check(project)
    print(report.as_json() if arguments.json else report.as_text())
    if in_workflow():
        for line in annotation_lines(map(_annotation, report.findings), project.root):
            print(line, file=sys.stderr if arguments.json else sys.stdout)
        count = len(report.findings)
        verdict = f"❌ {count} finding{'s' if count > 1 else ''}" if count else "✅ nothing found"
        add_to_summary(text_markdown("tooling book check", verdict, report.as_text()))
    return ExitCode.WRONG if report.findings else ExitCode.PASSED


def _annotation(finding: BookFinding) -> Annotation:
    from tooling.errors import Location
    from tooling.reports.annotations import Annotation

    message = f"{finding.message}\ntry: {finding.hint}" if finding.hint else finding.message
    return Annotation(f"book: {finding.rule}", message, Location(Path(finding.path), finding.line or None))


def _formulas(arguments: argparse.Namespace) -> int:
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


def _outputs(arguments: argparse.Namespace) -> int:
    from tooling.book.directives.runs import compare, update
    from tooling.project import find_project

    project = find_project()
    act = update if arguments.update else compare
    return act(project, tuple(arguments.names), arguments.target, print)
