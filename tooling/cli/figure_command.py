"""`tooling figure`: draws the book's figures."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from tooling.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tooling.book.figures.figure import Figure
    from tooling.book.puzzle_index import PuzzleIndex


def register(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "figure",
        help="draw the book's figures",
        description="Draws figures as SVG from the puzzles' data and from traces of the programs on the "
        "simulated GPU: light and dark, in every language.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a puzzle (p15) or one figure (p15-steps); default: all"
    )
    parser.add_argument(
        "--check", action="store_true", help="draw nothing, and fail where a picture is out of date"
    )
    parser.add_argument(
        "--trace",
        action="store_true",
        help="run the programs again first, and write down what their threads do",
    )
    parser.set_defaults(command=command)


def command(arguments: argparse.Namespace) -> int:
    from tooling.book.errors import BookError
    from tooling.book.figures import every_figure
    from tooling.book.figures.drawing import outdated
    from tooling.book.puzzle_index import PuzzleIndex
    from tooling.project import find_project

    shelf = PuzzleIndex(find_project())
    chosen = [
        figure
        for figure in every_figure()
        if not arguments.names or {figure.name, figure.puzzle} & set(arguments.names)
    ]
    known = {name for figure in chosen for name in (figure.name, figure.puzzle)}
    for name in arguments.names:
        if name not in known:
            names = ", ".join(figure.name for figure in every_figure())
            raise BookError(f"there is no figure `{name}`", hint=f"one of: {names}")
    traced = _traces(shelf, chosen, arguments.check) if arguments.trace else 0
    stale = [picture for figure in chosen for picture in outdated(shelf, figure)]
    for path, text in stale:
        if not arguments.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        print(f"{'out of date' if arguments.check else 'drawn'}: {path.relative_to(shelf.project.root)}")
    if not stale:
        print(f"{len(chosen)} figures, all up to date")
    return ExitCode.WRONG if arguments.check and (stale or traced) else ExitCode.PASSED


def _traces(shelf: PuzzleIndex, figures: Sequence[Figure], check: bool) -> int:
    """Traces the runs that figures show; gives back how many of them differ from what was kept."""
    from tooling.book.figures import tracing
    from tooling.book.figures.traces import as_text, save, trace_path, traced_run

    changed = 0
    for run in dict.fromkeys(run for figure in figures for run in figure.traces):
        selection, state = traced_run(shelf, run)
        path = trace_path(shelf.project, selection, state)
        trace = tracing.record(shelf.project, selection, state)
        if path.is_file() and path.read_text(encoding="utf-8") == as_text(trace):
            print(f"as traced: {run}")
            continue
        changed += 1
        if not check:
            save(path, trace)
        print(f"{'differs' if check else 'traced'}: {run}, {len(trace.events)} events")
    return changed
