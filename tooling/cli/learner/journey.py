"""`tooling start`, `tooling next` and `tooling progress`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tooling.commandline.learner_options import NextOptions, ProgressOptions, StartOptions
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.project import Project

_FAST = "fast"
"""The path that `--fast` stands for."""
_NO_PATH = Text("there is no path `{path}`")
_ADDED = Text("{count} part of a puzzle was added", plural="{count} parts of puzzles were added")


def start_command(options: StartOptions) -> int:
    from tooling.learning.journey import open_journey
    from tooling.learning.screens import show_start
    from tooling.progress import record_path
    from tooling.project import find_project
    from tooling.reports.terminal import open_terminal

    project, terminal = find_project(), open_terminal()
    path = _FAST if options.fast else options.path
    if path is not None or options.whole:
        note = record_path(project.root, _name_of_path(project, path) if path is not None else "")
        if note:
            terminal.note(note, options.lang)
    show_start(open_journey(project), terminal, options.lang)
    return ExitCode.PASSED


def _name_of_path(project: Project, name: str) -> str:
    """The name, if the project has a path of this name."""
    from tooling.catalog.catalogue import load_catalogue
    from tooling.catalog.paths import PATHS_FILE, load_paths
    from tooling.platform.errors import Location, ToolingError
    from tooling.platform.suggestions import one_of

    names = [path.name for path in load_paths(project, load_catalogue(project))]
    if name not in names:
        raise ToolingError(
            _NO_PATH.of(path=name),
            where=Location(project.problems / PATHS_FILE),
            hint=one_of(names) if names else None,
        )
    return name


def next_command(options: NextOptions) -> int:
    from tooling.learning.journey import open_journey
    from tooling.learning.screens import show_next_with_commands
    from tooling.project import find_project
    from tooling.reports.terminal import open_terminal

    show_next_with_commands(open_journey(find_project()), open_terminal(), options.lang)
    return ExitCode.PASSED


def progress_command(options: ProgressOptions) -> int:
    from tooling.learning.journey import open_journey
    from tooling.learning.screens import progress_record, show_progress
    from tooling.progress import export_progress, import_progress
    from tooling.project import find_project
    from tooling.reports.files import write_report
    from tooling.reports.terminal import open_terminal

    project = find_project()
    if options.export is not None:
        write_report(options.export, export_progress(project.root))
        return ExitCode.PASSED
    terminal = open_terminal(sys.stderr if options.json == "-" else sys.stdout)
    if options.import_ is not None:
        added, note = import_progress(project.root, options.import_)
        if note:
            terminal.note(note, options.lang)
        terminal.wrapped(_ADDED.of(count=added).render(options.lang))
    journey = open_journey(project)
    if options.json:
        import json

        write_report(options.json, json.dumps(progress_record(journey), indent=2, ensure_ascii=False) + "\n")
    else:
        show_progress(journey, terminal, options.lang)
    return ExitCode.PASSED
