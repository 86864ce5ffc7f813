"""`tooling figure`: draws the book's figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tooling.commandline.options import FigureOptions
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tooling.book.figures.figure import Figure
    from tooling.book.puzzle_index import PuzzleIndex


def figure_command(options: FigureOptions) -> int:
    from tooling.book.errors import BookError
    from tooling.book.figures import every_figure
    from tooling.book.figures.drawing import outdated
    from tooling.book.puzzle_index import PuzzleIndex
    from tooling.project import find_project

    shelf = PuzzleIndex(find_project())
    chosen = [
        figure
        for figure in every_figure()
        if not options.names or {figure.name, figure.puzzle} & set(options.names)
    ]
    known = {name for figure in chosen for name in (figure.name, figure.puzzle)}
    for name in options.names:
        if name not in known:
            names = ", ".join(figure.name for figure in every_figure())
            raise BookError(f"there is no figure `{name}`", hint=f"one of: {names}")
    traced = _traces(shelf, chosen, options.check) if options.trace else 0
    stale = [picture for figure in chosen for picture in outdated(shelf, figure)]
    for path, text in stale:
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        print(f"{'out of date' if options.check else 'drawn'}: {path.relative_to(shelf.project.root)}")
    if not stale:
        print(f"{len(chosen)} figures, all up to date")
    return ExitCode.WRONG if options.check and (stale or traced) else ExitCode.PASSED


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
