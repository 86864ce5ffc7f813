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
            _show_beside(mine, theirs, heads)
        else:
            _show_unified(mine, theirs, heads, terminal)
    return ExitCode.PASSED


def reset_command(options: ResetOptions) -> int:
    from tooling.catalog.catalogue import find_program
    from tooling.learning.answers import reset
    from tooling.project import find_project
    from tooling.reports.invocation import typed_path
    from tooling.reports.terminal import open_terminal

    _, program = find_program(find_project(), options.puzzle)
    terminal = open_terminal()
    for done in reset(program):
        path = typed_path(done.path, os.environ)
        terminal.wrapped((_WRITTEN if done.written else _UNCHANGED).of(path=path).render(options.lang))
        if done.copy:
            copy = typed_path(done.copy, os.environ)
            terminal.wrapped("  " + _KEPT.of(copy=copy).render(options.lang))
    return ExitCode.PASSED


def _may_show(project: Project, selection: Selection, options: SolutionOptions, terminal: Terminal) -> bool:
    """Whether the reader may see the solution: it is solved, was shown before, or the reader wants it now."""
    from tooling.commandline.parser import UsageError
    from tooling.progress import read_progress, record_shown
    from tooling.reports.invocation import tool_prefix

    puzzle = selection.puzzle
    progress = read_progress(project.root)
    solved = selection.mode.name in progress.solved.get(puzzle.id, {})
    if solved or puzzle.id in progress.shown or not selection.mode.hints:
        return True
    if not options.yes:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            error = UsageError(_NEEDS_YES.of(puzzle=selection.command), hint=_SAY_YES)
            error.speak(options.lang)
            raise error
        terminal.stream.write(_ASK.of(puzzle=selection.command).render(options.lang))
        terminal.stream.flush()
        if sys.stdin.readline().strip().lower() not in (*_YES, *_ALSO_YES.render(options.lang).split()):
            text = _NOT_SHOWN.of(tool=tool_prefix(os.environ), command=selection.command)
            terminal.line(text.render(options.lang))
            return False
    note = record_shown(project.root, puzzle.id)
    if note:
        terminal.note(note, options.lang)
    return True


def _show_beside(mine: list[str], theirs: list[str], heads: tuple[str, str]) -> None:
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
