"""`tooling figure`: draws the book's figures into files, for a look at them; a build draws them itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tooling.commandline.options import FigureOptions
from tooling.platform.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tooling.book.figures.figure import Figure
    from tooling.book.puzzle_index import PuzzleIndex

FOLDER = "build/figures"


def figure_command(options: FigureOptions) -> int:
    from tooling.book.errors import BookError
    from tooling.book.figures import every_figure
    from tooling.book.figures.drawing import drawing_files
    from tooling.book.puzzle_index import PuzzleIndex
    from tooling.platform.atomic_write import write_atomically
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
    folder = shelf.project.root / FOLDER
    count = 0
    for path, text in (file for figure in chosen for file in drawing_files(shelf, figure, folder)):
        count += 1
        if not options.check:
            write_atomically(path, text.encode())
    print(f"{len(chosen)} figures, {count} drawings{'' if options.check else f' in {FOLDER}'}")
    return ExitCode.WRONG if options.check and traced else ExitCode.PASSED


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
