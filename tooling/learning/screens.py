"""What the reader sees of the way: the first screen, the next puzzle, the progress."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tooling.book.editions import Edition, repository_address, site_address
from tooling.book.phrases import PART_TITLES
from tooling.catalog.catalogue import Selection
from tooling.catalog.model import ModeKind, PartNumber, Puzzle, Vendor
from tooling.catalog.paths import PuzzlePath
from tooling.learning.journey import Journey, extra_of, learner_file, steps_of
from tooling.progress import Solved, earlier_record
from tooling.project import Project, content_root
from tooling.reports.invocation import tool_prefix, typed_path
from tooling.reports.terminal import Terminal
from tooling.targets.probing import SIMULATED_GPUS
from tooling.text import ENGLISH, Sentence, Text, in_language
from tooling.text.width import columns

_SOLVED = Text("{solved} of {total} puzzles solved")
_NEXT = Text("next: puzzle {number}, {title} (part {part:roman})")
_ALL_DONE = Text("all puzzles are solved 🎉")
_FILE = Text("file")
_PAGE = Text("page")
_LEARNT = Text("learnt")
_THEN = Text("next")
_TYPE = Text("type")
_BUILD_AT_SAVE = Text("build, run and judge at every save")
_BUILD_ONCE = Text("build, run and judge once")
_SHOW_HINT = Text("show a hint")
_CHECK_MACHINE = Text("check this machine and your editor")
_SHOW_PROGRESS = Text("show what you have solved")
_FIRST = Text("Open the file in your editor, complete the region marked `FILL ME IN`, and save it.")
_NEXT_AFTER = Text("puzzle {number}, {title}: `{command}`")
_SAME_AFTER = Text("the next part of this puzzle: `{command}`")
_PART = Text("part {part:roman}")
_NOTHING_YET = Text("nothing is solved yet; `{command}` shows the first puzzle")
_PATH = Text("path `{name}`: {title}")
_WHOLE = Text("the order of the book again: `{tool} start --whole`")
_EARLIER = Text(
    "every folder has its own record of progress now; what you have solved before: "
    "`{tool} progress --import {path}`"
)
_ONLY = Text("({vendor} only)")
_WIDTH_OF_BAR = 30
_SIMULATED = {gpu.device: gpu.named for gpu in SIMULATED_GPUS.values()}
"""What the record of progress calls them, and what sentences do."""


def show_start(journey: Journey, terminal: Terminal, language: str) -> None:
    """Writes where the reader is, the next puzzle, and the commands to type."""
    _show_note(journey, terminal, language)
    _show_bar(journey, terminal, language)
    if journey.path:
        _show_path(journey, journey.path, terminal, language)
    terminal.line()
    commands = [("progress", _SHOW_PROGRESS)]
    if not journey.progress.solved:
        commands.append(("doctor", _CHECK_MACHINE))
    show_next_with_commands(journey, terminal, language, commands)


def _show_path(journey: Journey, path: PuzzlePath, terminal: Terminal, language: str) -> None:
    """Writes the puzzles of the path, and how to leave it."""
    puzzles = [f"{solved_count(journey, puzzle)[0].strip()}{puzzle.id}" for puzzle in path.puzzles]
    terminal.wrapped(_PATH.of(name=path.name, title=path.title).render(language))
    terminal.wrapped("  " + " ".join(puzzles))
    terminal.wrapped("  " + _WHOLE.of(tool=tool_prefix(os.environ)).render(language), "dim")


def show_next_with_commands(
    journey: Journey, terminal: Terminal, language: str, others: Sequence[tuple[str, Text]] = ()
) -> None:
    """Writes the next puzzle and the commands to type, those for it first."""
    show_next(journey, terminal, language)
    step = journey.next_step
    commands = list(others)
    if step:
        if not journey.progress.solved:
            terminal.line()
            terminal.wrapped(_FIRST.render(language))
        command = step.command
        of_puzzle = (("watch", _BUILD_AT_SAVE), ("run", _BUILD_ONCE), ("hint", _SHOW_HINT))
        commands = [*((f"{word} {command}", text) for word, text in of_puzzle), *commands]
    if commands:
        terminal.line()
        terminal.line(_TYPE.render(language) + ":")
        _show_commands(commands, terminal, language, extra_of(step) if step else "")


def _show_commands(commands: list[tuple[str, Text]], terminal: Terminal, language: str, extra: str) -> None:
    """Writes commands with what they do, in columns where the terminal is wide enough."""
    tool = tool_prefix(os.environ, extra=extra)
    rows = [(f"{tool} {words}", text.render(language)) for words, text in commands]
    widest = max(columns(command) for command, _ in rows)
    in_columns = all(widest + 6 + columns(text) <= (terminal.width or 200) for _, text in rows)
    for command, text in rows:
        painted = "  " + terminal.paint(command, "cyan")
        if in_columns:
            terminal.line(painted + " " * (widest - columns(command) + 3) + text)
        else:
            terminal.line(painted)
            terminal.wrapped(f"      {text}")


def show_next(journey: Journey, terminal: Terminal, language: str) -> None:
    """Writes the next puzzle, its file and its page."""
    step = journey.next_step
    if step is None:
        terminal.line(terminal.paint(_ALL_DONE.render(language), "green"))
        return
    puzzle = step.puzzle
    head = _NEXT.of(number=puzzle.number, title=puzzle.title, part=PartNumber(puzzle.part)).render(language)
    several = len(list(steps_of(puzzle))) > 1
    terminal.line(terminal.paint(head, "bold") + (f"  {' '.join(step.mode.flags)}" if several else ""))
    terminal.labelled(_FILE.render(language), typed_path(file_of(step), os.environ))
    page = page_of(journey.project, step, language)
    if page:
        terminal.labelled(_PAGE.render(language), page)


def show_after(journey: Journey, done: Selection, terminal: Terminal, language: str) -> None:
    """Writes what follows a success: what the reader has learnt, the next puzzle and its page."""
    if done.puzzle.learnt and journey.progress.is_solved(done.puzzle):
        terminal.labelled(_LEARNT.render(language), done.puzzle.learnt.render(language), "green")
    step = journey.next_step
    if step is None:
        terminal.line("  " + _ALL_DONE.render(language))
        return
    command = f"{tool_prefix(os.environ, extra=extra_of(step))} watch {step.command}"
    text = _SAME_AFTER if step.puzzle.id == done.puzzle.id else _NEXT_AFTER
    text = text.of(number=step.puzzle.number, title=step.puzzle.title, command=command)
    terminal.labelled(_THEN.render(language), text.render(language), "cyan")
    page = page_of(journey.project, step, language)
    if page and step.puzzle.id != done.puzzle.id:
        terminal.labelled(_PAGE.render(language), page)


def show_progress(journey: Journey, terminal: Terminal, language: str) -> None:
    """Writes the bar, and for each part its puzzles with the GPU and the day of the last success."""
    _show_note(journey, terminal, language)
    _show_bar(journey, terminal, language)
    if not journey.progress.solved:
        command = f"{tool_prefix(os.environ)} next"
        terminal.wrapped(_NOTHING_YET.of(command=command).render(language))
    widest = max(columns(puzzle.title.render(language)) for puzzle in journey.puzzles)
    solved_modes = (solved for modes in journey.progress.solved.values() for solved in modes.values())
    vendors = vendors_of(name for solved in solved_modes for name in solved.devices)
    for heading, under in groupby(journey.ordered, lambda each: heading_of(journey, each).render(language)):
        puzzles = list(under)
        done = sum(journey.progress.is_solved(puzzle) for puzzle in puzzles)
        terminal.line()
        terminal.line(terminal.paint(heading, "bold") + f"  {done}/{len(puzzles)}")
        for puzzle in puzzles:
            steps = list(steps_of(puzzle))
            found = [
                journey.progress.solved[puzzle.id][step.mode.name]
                for step in steps
                if journey.is_solved(step)
            ]
            sign, count = solved_count(journey, puzzle)
            title = puzzle.title.render(language)
            row = f"  {terminal.paint(sign, 'green')} {puzzle.id}  {title}{' ' * (widest - columns(title))}"
            if found:
                row += f"  {count:3}  {_circumstances(found, vendors, language)}"
            terminal.wrapped(row.rstrip())


def heading_of(journey: Journey, puzzle: Puzzle) -> Sentence:
    """What a list of puzzles in the reader's order writes above a puzzle: the path, or the part."""
    if journey.path and journey.is_on_path(puzzle):
        return _PATH.of(name=journey.path.name, title=journey.path.title)
    return heading_of_part(puzzle.part)


def heading_of_part(part: str) -> Sentence:
    """The number of a part, and its title if the book has one."""
    return PART_TITLES.get(part) or _PART.of(part=PartNumber(part))


def progress_record(journey: Journey) -> dict[str, Any]:
    """The progress as `tooling progress --json` writes it."""
    step = journey.next_step
    return {
        "version": 1,
        "solved": journey.solved_puzzles,
        "total": len(journey.puzzles),
        "next": step.command if step else None,
        "path": journey.path.name if journey.path else None,
        "puzzles": [
            {
                "id": puzzle.id,
                "part": puzzle.part,
                "title": dict(puzzle.title.versions),
                "solved": journey.progress.is_solved(puzzle),
                "modes": [
                    {
                        "name": mode.name,
                        "solved": (
                            {"at": solved.at, "device": solved.device or None, "seconds": solved.seconds}
                            if (solved := journey.progress.solved.get(puzzle.id, {}).get(mode.name))
                            else None
                        ),
                    }
                    for mode in puzzle.modes
                    if mode.kind is ModeKind.PUZZLE
                ],
            }
            for puzzle in journey.puzzles
        ],
    }


def file_of(step: Selection) -> Path:
    """The file that the reader edits."""
    return step.program.folder_of(step.program.problem) / learner_file(step)


def page_of(project: Project, step: Selection, language: str) -> str:
    """The address of the puzzle's first page; empty if the page has not been written."""
    chapter = step.puzzle.chapters[0]
    english = Edition("en", project.root / "book", "", "English")
    if not english.folder.is_dir():  # a folder of puzzles alone
        english = replace(english, folder=content_root() / "book")
    elif not english.page(chapter).is_file():
        return ""
    try:
        site = site_address(repository_address(english))
    except OSError:
        return ""
    prefix = "" if language == ENGLISH else f"{language}/"
    return f"{site}{prefix}{chapter.removesuffix('.md')}.html"


def named_devices(names: Iterable[str], language: str) -> str:
    """The GPUs of a record of progress as sentences name them."""
    return ", ".join(in_language(_SIMULATED.get(name, name), language) for name in names)


def vendors_of(names: Iterable[str]) -> frozenset[Vendor]:
    """The vendors of the GPUs of a record of progress."""
    simulated = {gpu.device: gpu.kind.vendor for gpu in SIMULATED_GPUS.values()}
    return frozenset(
        vendor
        for name in names
        for vendor in Vendor
        if simulated.get(name) is vendor or vendor.value in name.lower()
    )


def _circumstances(found: list[Solved], all_vendors: frozenset[Vendor], language: str) -> str:
    """The last day, the GPUs, and the vendor where the reader has used others, too."""
    last = max(found, key=lambda solved: solved.at)
    devices = list(dict.fromkeys(name for solved in found for name in solved.devices))
    vendors = vendors_of(devices)
    only = len(vendors) == 1 and vendors < all_vendors
    return "  ".join(
        filter(
            None,
            (
                last.at[:10],
                named_devices(devices, language),
                _ONLY.of(vendor=next(iter(vendors)).named).render(language) if only else "",
            ),
        )
    )


def solved_count(journey: Journey, puzzle: Puzzle) -> tuple[str, str]:
    """The sign of a puzzle, and how many of its parts are solved; empty where it has one part."""
    steps = list(steps_of(puzzle))
    solved = sum(journey.is_solved(step) for step in steps)
    sign = "✓" if solved == len(steps) else "·" if solved else " "
    return sign, f"{solved}/{len(steps)}" if len(steps) > 1 else ""


def bar_cells(solved: int, total: int) -> tuple[str, str]:
    """The bar of progress: its full and its empty cells."""
    full = solved * _WIDTH_OF_BAR // total
    return "█" * full, "░" * (_WIDTH_OF_BAR - full)


def solved_sentence(journey: Journey) -> Text:
    """How many puzzles are solved."""
    return _SOLVED.of(solved=journey.solved_puzzles, total=len(journey.puzzles))


def _show_bar(journey: Journey, terminal: Terminal, language: str) -> None:
    full, empty = bar_cells(journey.solved_puzzles, len(journey.puzzles))
    bar = terminal.paint(full, "green") + terminal.paint(empty, "dim")
    terminal.line(f"{bar}  {solved_sentence(journey).render(language)}")


def _show_note(journey: Journey, terminal: Terminal, language: str) -> None:
    if journey.progress.note:
        terminal.note(journey.progress.note, language)
    elif earlier := earlier_record(journey.project.root):
        text = _EARLIER.of(tool=tool_prefix(os.environ), path=typed_path(earlier, os.environ))
        terminal.note(text, language)
