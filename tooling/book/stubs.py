"""Pages for puzzles whose chapter is not written yet, made from the manifest and the reference.

A stub shows what the puzzle computes, the files to edit, the code to complete, hints and commands. It is part
of the site alone, and is replaced by the chapter as soon as SUMMARY.md lists that.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence

from tooling.book.editions import Edition
from tooling.book.phrases import PART_TITLES, pick, say
from tooling.book.summary import Entry
from tooling.book.variants import API_LABELS
from tooling.catalog.model import Mode, ModeKind, Program, Puzzle
from tooling.catalog.needs import Needs
from tooling.platform.regular_files import read_text
from tooling.project import Project

_FOLDER = re.compile(r"puzzle_(\d+)/")


def missing(entries: Sequence[Entry], puzzles: Sequence[Needs]) -> tuple[Needs, ...]:
    """The puzzles that the contents do not list."""
    listed = {number for entry in entries if (number := _number(entry)) is not None}
    return tuple(puzzle for puzzle in puzzles if puzzle.number not in listed)


def complete_contents(
    entries: Sequence[Entry], wanted: Sequence[Needs], puzzles: Sequence[Needs], language: str
) -> tuple[Entry, ...]:
    """The contents with an entry for each puzzle of `wanted`, in the order of the numbers.

    A part that the contents do not have yet is added, too.
    """
    found = list(entries)
    parts = {puzzle.number: puzzle.part for puzzle in puzzles}
    titles = {
        parts[number]: entry.part for entry in entries if (number := _number(entry)) in parts and entry.part
    }
    for puzzle in wanted:
        part = titles.get(puzzle.part) or pick(PART_TITLES[puzzle.part].of(), language)
        title = f"{say('puzzle', language, number=puzzle.number)}: {pick(puzzle.title, language)}"
        later = (index for index, entry in enumerate(found) if (_number(entry) or 0) > puzzle.number)
        found.insert(next(later, len(found)), Entry(title, puzzle.chapter, 0, part, 0))
    return tuple(found)


def stub_page(project: Project, edition: Edition, puzzle: Puzzle) -> str:
    """The chapter of a puzzle without one, with the directives of any chapter."""
    language = edition.language
    title = f"{say('puzzle', language, number=puzzle.number)}: {pick(puzzle.title, language)}"
    blocks = [
        f"# {title}",
        f"{{{{#puzzle {puzzle.id}}}}}",
        f'<aside class="banner banner-stub">\n<p>{say("stub-note", language)}</p>\n</aside>',
        f"## {say('stub-computes', language)}",
        pick(puzzle.summary, language) if puzzle.summary else "",
        say("stub-reference", language),
        f"```python\n{_reference(project, puzzle)}\n```",
    ]
    up = os.path.relpath(project.root, edition.source)
    for mode in puzzle.modes:
        if mode.kind in (ModeKind.PUZZLE, ModeKind.GIVEN):
            blocks += _mode(puzzle, mode, up, language)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _mode(puzzle: Puzzle, mode: Mode, up: str, language: str) -> Iterator[str]:
    flags = " ".join(mode.flags)
    yield f"## `{flags}`" if flags else f"## {say('stub-code', language)}"
    if mode.kind is ModeKind.GIVEN:
        yield say("stub-given", language)
    yield f"{say('stub-outputs', language)} " + ", ".join(
        f"`{each.name}` ({each.dtype}, {' × '.join(map(str, each.shape))})" for each in mode.outputs
    )
    programs = sorted(
        (puzzle.program(name) for name in mode.programs if mode.anchors.get(name)),
        key=lambda program: list(API_LABELS).index(program.api),
    )
    several = len(programs) > 1
    if several:
        yield "{{#tabs api}}"
    for program in programs:
        if several:
            yield f"{{{{#tab {API_LABELS[program.api]}}}}}"
        yield from _code(program, mode, up, language)
    if several:
        yield "{{#end tabs}}"
    command = f"{mode.programs[0]} {flags}".strip()
    if mode.hints:
        yield f"{{{{#hints {command}}}}}"
    yield f"{{{{#run {command}}}}}"


def _code(program: Program, mode: Mode, up: str, language: str) -> Iterator[str]:
    """The regions of a program that a mode names, and a link to their file."""
    for anchor in mode.anchors[program.name]:
        for source in program.sources:
            if re.search(rf"ANCHOR: {anchor}$", read_text(source.problem), re.MULTILINE):
                file = f"problems/{program.name.split('_', 1)[0]}/{source.name}"
                yield f"```mojo\n{{{{#include {up}/{file}:{anchor}}}}}\n```"
                yield (
                    '<a class="filename" href="{{#include _includes/repo_url.md}}'
                    f'/blob/main/{file}">{say("full-file", language)}: {file}</a>'
                )
                break


def _reference(project: Project, puzzle: Puzzle) -> str:
    """The NumPy function that computes the right result, without its docstring."""
    path = project.solutions / puzzle.id / "reference.py"
    text = read_text(path)
    tree = ast.parse(text)
    function = next(
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "expected"
    )
    lines = (ast.get_source_segment(text, function) or "").splitlines()
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        del lines[first.lineno - function.lineno : (first.end_lineno or first.lineno) - function.lineno + 1]
    return "\n".join(lines)


def _number(entry: Entry) -> int | None:
    """The number of the puzzle that a page belongs to."""
    match = _FOLDER.match(entry.path)
    return int(match[1]) if match else None
