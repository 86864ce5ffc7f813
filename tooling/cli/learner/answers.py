"""`tooling hint`, `tooling solution`, `tooling diff` and `tooling reset`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from tooling.cli.learner.choice import chosen_step
from tooling.commandline.learner_options import HintOptions, ResetOptions, SolutionOptions
from tooling.platform.exit_codes import ExitCode
from tooling.text import Text

if TYPE_CHECKING:
    from tooling.catalog.catalogue import Selection
    from tooling.project import Project
    from tooling.reports.terminal import Terminal

_ASK = Text("You have not solved {puzzle} yet. Show the solution? [y/N] ")
_YES = ("y", "yes")
_ALSO_YES = Text("y yes", context="further answers that mean yes, separated by spaces")
_NOT_SHOWN = Text("not shown; a hint: `{tool} hint {command}`")
_NEEDS_YES = Text("{puzzle} is not solved yet, and without a terminal the question cannot be asked")
_SAY_YES = Text("add --yes")
_SAME = Text("your program of {program} is the same as the solution")
_YOURS = Text("yours")
_SOLUTION = Text("solution")
_WRITTEN = Text("{path} is the skeleton again")
_KEPT = Text("your file is kept: {copy}")
_UNCHANGED = Text("{path} is the skeleton already")
_ALL = "all"
_ASK_ALL = Text("Write all skeletons again, and forget what you have solved? Edited files are kept. [y/N] ")
_NEEDS_YES_FOR_ALL = Text("without a terminal the question whether to reset everything cannot be asked")
_ALL_RESET = Text(
    "{count} file was written again, and nothing is solved now",
    plural="{count} files were written again, and nothing is solved now",
)
_LEAST_COLUMNS = 100


def hint_command(options: HintOptions) -> int:
    from tooling.project import find_project
    from tooling.reports.hints import show_hint
    from tooling.reports.terminal import open_terminal

    # `p15 2` and `2 p15` ask for the second hint; `2` alone is puzzle 2.
    words = list(options.words)
    named = [word for word in words if not word.startswith("-")]
    number = next((word for word in named if word.isdecimal()), None) if len(named) > 1 else None
    if number:
        words.remove(number)
    selection = chosen_step(find_project(), words, HintOptions)
    show_hint(selection.mode, selection.command, int(number or 1), open_terminal(), options.lang)
    return ExitCode.PASSED


def solution_command(options: SolutionOptions) -> int:
    from tooling.learning.answers import solution_regions, solution_text
    from tooling.project import find_project
    from tooling.reports.invocation import typed_path
    from tooling.reports.terminal import open_terminal

    project = find_project()
    selection = chosen_step(project, options.words, SolutionOptions)
    terminal = open_terminal()
    if not _may_show(project, selection, options, terminal):
        return ExitCode.PASSED
    regions = list(solution_regions(selection))
    if not regions:  # the code is given
        regions = [(selection.program.solution, solution_text(selection.program.sources[0]))]
    for path, text in regions:
        terminal.line(terminal.paint(f"# {typed_path(path, os.environ)}", "dim"))
        terminal.line(text)
    return ExitCode.PASSED


def diff_command(options: SolutionOptions) -> int:
    from tooling.learning.answers import compare
    from tooling.project import find_project
    from tooling.reports.terminal import open_terminal

    project = find_project()
    selection = chosen_step(project, options.words, SolutionOptions)
    terminal = open_terminal()
    if not _may_show(project, selection, options, terminal):
        return ExitCode.PASSED
    differences = list(compare(selection.program))
    if not differences:
        terminal.line(_SAME.of(program=selection.program.name).render(options.lang))
    heads = (_YOURS.render(options.lang), _SOLUTION.render(options.lang))
    for path, mine, theirs in differences:
        terminal.line(terminal.paint(path.name, "bold"))
        if terminal.width and terminal.width >= _LEAST_COLUMNS:
            _show_side_by_side(mine, theirs, heads)
        else:
            _show_unified(mine, theirs, heads, terminal)
    return ExitCode.PASSED


def reset_command(options: ResetOptions) -> int:
    from tooling.catalog.catalogue import find_program, load_catalogue
    from tooling.learning.answers import reset
    from tooling.progress import forget_all, forget_program
    from tooling.project import find_project
    from tooling.reports.invocation import typed_path
    from tooling.reports.terminal import open_terminal

    project, terminal = find_project(), open_terminal()
    whole = options.puzzle == _ALL
    if whole:
        chosen = [(puzzle, program) for puzzle in load_catalogue(project) for program in puzzle.programs]
        if not options.yes and not _agrees(_ASK_ALL, _NEEDS_YES_FOR_ALL, options.lang, terminal):
            return ExitCode.PASSED
    else:
        chosen = [find_program(project, options.puzzle)]
    written = 0
    for puzzle, program in chosen:
        for done in reset(program):
            path = typed_path(done.path, os.environ)
            written += done.written
            if done.written or not whole:
                text = (_WRITTEN if done.written else _UNCHANGED).of(path=path)
                terminal.wrapped(text.render(options.lang))
            if done.copy:
                copy = typed_path(done.copy, os.environ)
                terminal.wrapped("  " + _KEPT.of(copy=copy).render(options.lang))
        note = None if whole else forget_program(project.root, puzzle.id, program.name)
    if whole:
        note = forget_all(project.root)
        terminal.wrapped(_ALL_RESET.of(count=written).render(options.lang))
    if note:
        terminal.note(note, options.lang)
    return ExitCode.PASSED


def _agrees(question: Text, without_terminal: Text, language: str, terminal: Terminal) -> bool:
    """Whether the reader answers a question with yes.

    Raises:
        UsageError: it cannot be asked without a terminal.
    """
    from tooling.commandline.parser import UsageError

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        error = UsageError(without_terminal, hint=_SAY_YES)
        error.speak(language)
        raise error
    terminal.stream.write(question.render(language))
    terminal.stream.flush()
    return sys.stdin.readline().strip().lower() in (*_YES, *_ALSO_YES.render(language).split())


def _may_show(project: Project, selection: Selection, options: SolutionOptions, terminal: Terminal) -> bool:
    """Whether the reader may see the solution: it is solved, was shown before, or the reader wants it now."""
    from tooling.progress import read_progress, record_shown
    from tooling.reports.invocation import tool_prefix

    puzzle = selection.puzzle
    progress = read_progress(project.root)
    solved = selection.mode.name in progress.solved.get(puzzle.id, {})
    if solved or puzzle.id in progress.shown or not selection.mode.hints:
        return True
    command = selection.command
    if not options.yes and not _agrees(
        _ASK.of(puzzle=command), _NEEDS_YES.of(puzzle=command), options.lang, terminal
    ):
        text = _NOT_SHOWN.of(tool=tool_prefix(os.environ), command=command)
        terminal.line(text.render(options.lang))
        return False
    note = record_shown(project.root, puzzle.id)
    if note:
        terminal.note(note, options.lang)
    return True


def _show_side_by_side(mine: list[str], theirs: list[str], heads: tuple[str, str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text as Cell

    from tooling.learning.answers import side_by_side
    from tooling.text.colours import rich_style

    table = Table(*heads, box=None, expand=True, padding=(0, 1))
    for row in side_by_side(mine, theirs):
        if row is None:
            table.add_section()
            table.add_row(Cell("⋯", style="dim"), Cell("⋯", style="dim"))
            continue
        left, right, equal = row
        table.add_row(
            Cell(left, style="dim" if equal else rich_style("red")),
            Cell(right, style="dim" if equal else rich_style("green")),
        )
    Console().print(table)


def _show_unified(mine: list[str], theirs: list[str], heads: tuple[str, str], terminal: Terminal) -> None:
    import difflib

    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in difflib.unified_diff(mine, theirs, *heads, lineterm=""):
        style = styles.get(line[:1])
        terminal.line(terminal.paint(line, style) if style else line)
