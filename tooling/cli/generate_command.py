"""`tooling generate`: everything that is derived from manifests and solutions; `tooling new-puzzle`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from tooling.commandline.options import GenerateOptions, NewPuzzleOptions, preset_language
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tooling.generate.new_puzzle import NewPuzzle
    from tooling.generate.plan import Generated
    from tooling.project import Project

_FILES = (
    (
        "solutions/{id}/{id}.mojo",
        Text("the program; `# FILL` and `# END_FILL` enclose what the learner writes"),
    ),
    ("solutions/{id}/reference.py", Text("the data of both data sets, and the right result by NumPy")),
    ("problems/{id}/puzzle.yaml", Text("summary, hints and outputs (problems/MANIFEST.md lists the keys)")),
    ("tests/mutants/{id}.yaml", Text("wrong answers, and the finding that must reject each")),
    ("book/src/{folder}/{folder}.md", Text("the page (book/WRITING.md); the Korean one is below i18n/ko")),
    ("tooling/book/figures/{id}.py", Text("the figure")),
)
_COMMANDS = (
    ("tooling generate {id}", Text("write the problem file")),
    ("tooling verify {id} --target sim", Text("the solution passes, the problem file and every mutant fail")),
    ("tooling book outputs --update {id}", Text("record the output that the page shows")),
    ("tooling figure {id} --trace", Text("draw the figure")),
    (
        "tooling check-translations stamp --uncommitted {folder}/{folder}.md",
        Text("after translating the page"),
    ),
    ("tooling check", Text("check generated files, translations and the book")),
)


def _say(text: Text) -> None:
    print(text.render(preset_language()))


def generate_command(options: GenerateOptions) -> int:
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

            outdated = Text("{stale} of {all} generated files are not current: run `tooling generate`")
            message = outdated.of(stale=len(stale), all=len(files)).render(preset_language())
            print("\n" + as_typed(message, os.environ))
            _annotate(stale, project.root, message)
            return ExitCode.WRONG
        _say(Text("{count} generated files are current").of(count=len(files)))
        return ExitCode.PASSED
    for path in write(project, files, force=options.force):
        _say(Text("wrote {file}").of(file=path.relative_to(project.root)))
    _say(Text("{count} generated files, {stale} of them written").of(count=len(files), stale=len(stale)))
    return ExitCode.PASSED


def _annotate(stale: Sequence[Generated], root: Path, message: str) -> None:
    from tooling.platform.errors import Location
    from tooling.reports.annotations import Annotation, annotation_lines, in_workflow
    from tooling.reports.step_summary import add_to_summary, text_markdown

    if in_workflow():
        hint = "it differs from what manifests and solutions give\ntry: tooling generate"
        found = [Annotation("generated file", hint, Location(file.path)) for file in stale]
        print(*annotation_lines(found, root), sep="\n")
    add_to_summary(
        text_markdown("tooling generate --check", f"❌ {message}", "".join(one.diff(root) for one in stale))
    )


def new_puzzle_command(options: NewPuzzleOptions) -> int:
    from tooling.catalog.catalogue import load_catalogue
    from tooling.generate.new_puzzle import named, write_puzzle
    from tooling.generate.plan import plan, write
    from tooling.platform.errors import ToolingError
    from tooling.project import find_project
    from tooling.reports.invocation import as_typed

    project = find_project()
    puzzle = named(load_catalogue(project), options.puzzle, options.title, options.ko or options.title)
    written = list(write_puzzle(project, puzzle))
    written += write(project, plan(project, load_catalogue(project), [puzzle.id]))
    _mark_translations(project, written)
    for path in written:
        _say(Text("wrote {file}").of(file=path.relative_to(project.root)))
    try:
        _record(project, puzzle)
    except ToolingError as error:
        unrecorded = Text("the output and the figure of the page are not recorded yet: {error}")
        why = error.as_note().render(preset_language())
        _say(unrecorded.of(error=as_typed(why, os.environ)))
    complete = Text("{puzzle} is complete: it multiplies a vector by 3. Replace its parts by your own:")
    print()
    _say(complete.of(puzzle=puzzle.id))
    for name, meaning in _FILES:
        print(f"  {name.format(id=puzzle.id, folder=puzzle.folder)}")
        print(f"      {meaning.render(preset_language())}")
    print()
    _say(Text("After a change:"))
    for name, meaning in _COMMANDS:
        print("  " + as_typed(name.format(id=puzzle.id, folder=puzzle.folder), os.environ))
        print(f"      {meaning.render(preset_language())}")
    return ExitCode.PASSED


def _mark_translations(project: Project, written: Sequence[Path]) -> None:
    """Marks pages and contents as translated from the English ones; no commit has them yet."""
    from tooling.platform.atomic_write import write_atomically
    from tooling.translations.marker import write_marker
    from tooling.translations.model import Pin
    from tooling.translations.pages import blob_id

    for path in written:
        folder, *below = path.relative_to(project.root).parts
        if folder == "i18n":
            source = project.root.joinpath(*below[1:]).read_bytes()
            write_atomically(path, write_marker(path.read_bytes(), Pin(None, blob_id(source))))


def _record(project: Project, puzzle: NewPuzzle) -> None:
    """Records the output that the page shows, and draws the figure from a trace, on the simulated GPU.

    Raises:
        ToolingError: the program cannot be built or run here.
    """
    import importlib

    from tooling.book.directives.runs import update
    from tooling.cli.figure_command import figure_command
    from tooling.commandline.options import FigureOptions

    importlib.invalidate_caches()  # the module of the figure is new
    update(project, (puzzle.id,), "sim", print)
    figure_command(FigureOptions(names=(puzzle.id,), trace=True))
