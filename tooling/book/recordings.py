"""Recorded runs of programs, which the pages show and which CI repeats.

Those of a puzzle are one JSON file, `tests/data/outputs/<puzzle>/runs.json`: by the name of the run, the
lines of standard output. A recording contains a digest of its program, so that one of an older program is
detected without running anything.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from tooling.book.errors import BookError, malformed
from tooling.book.listings import Listing, opening_fence
from tooling.book.page import PageContext, Words
from tooling.book.variants import each_version
from tooling.catalog.catalogue import Selection
from tooling.catalog.model import Program
from tooling.platform.atomic_write import write_atomically
from tooling.platform.regular_files import read_text
from tooling.platform.state_file import encoded, read_json
from tooling.project import Project
from tooling.targets.probing import SIMULATED

STATES = ("unsolved", "solved")
RUNS = "runs.json"
_LONG_COUNT = 8  # runs of this many lines that differ in a counter alone are folded
_LONG_LIST = 32  # numbers; of more, a page shows the first eight and the last four
_EQUAL_LIST = 16  # equal numbers; of more, a page shows the first three and the last
_LONG_LINE = 80  # characters, about as many as fit on a line of a page
_LIST = re.compile(r"\[([^\[\]]+)\]")


class Recording(Struct, frozen=True):
    """One recorded run.

    Attributes:
        command: what was run, as `tooling run` takes it.
        state: `unsolved` (the problem file) or `solved` (the solution file).
        target: the GPU it ran on.
        mojo: the toolchain's version.
        program: digest of the program file, see `digest`.
        exit_status: of the program itself.
        lines: standard output.
    """

    command: str
    state: str
    target: str
    mojo: str
    program: str
    exit_status: int
    lines: tuple[str, ...]


def recordings_folder(project: Project, puzzle: str) -> Path:
    """Where everything that was recorded of a puzzle is."""
    return project.recordings / "outputs" / puzzle


def recording_name(selection: Selection, state: str) -> str:
    """The name of a run, such as `p13.simple.unsolved`."""
    flags = "".join("." + flag.lstrip("-") for flag in selection.mode.flags)
    return f"{selection.program.name}{flags}.{state}"


def program_files(program: Program, state: str) -> tuple[Path, ...]:
    """The files of the program that a recording is made with, the main one first."""
    return tuple(each.solution if state == "solved" else each.problem for each in program.sources)


def digest(*files: Path) -> str:
    """Identifies the code of a program without comments and blank lines, which do not change the output."""
    return digest_texts(read_text(file) for file in files)


def digest_texts(files: Iterable[str]) -> str:
    """The same for the texts of its files."""
    return hashlib.sha256("\0".join(map(_code, files)).encode()).hexdigest()[:16]


def _code(text: str) -> str:
    lines = (line.rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


def load(folder: Path, name: str) -> Recording:
    """Reads the recording of a run.

    Raises:
        BookError: missing, or not a recording.
    """
    recording = load_all(folder).get(name)
    if recording is None:
        raise BookError(
            f"this run was never recorded: {name}",
            why="pages show only output that a program printed",
            hint="record it with `tooling book outputs --update`",
        )
    return recording


def load_all(folder: Path) -> dict[str, Recording]:
    """Reads the recordings of a puzzle, by name.

    Raises:
        BookError: they are malformed.
    """
    try:
        return read_json(folder / RUNS, dict[str, Recording])
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise malformed("file of recordings", folder / RUNS, error) from error


def save(folder: Path, name: str, recording: Recording) -> None:
    """Writes the recording of a run. Raises as `load_all`."""
    every = {**load_all(folder), name: recording}
    write_atomically(folder / RUNS, encoded(dict(sorted(every.items())), indent=2))


def output(page: PageContext, words: Words) -> str:
    """`{{#output PROGRAM [FLAGS] unsolved|solved}}`: what each version of the page printed, in a fence.

    Where a program works on less data on the simulated GPU, and was recorded there, the fence says so.
    """
    selection, state = parse_words(page, words)
    project = page.puzzle_index.project

    def fence(version: Selection) -> str:
        folder, name = recordings_folder(project, selection.puzzle.id), recording_name(version, state)
        if name not in load_all(folder):  # a rule of the check; the named version has to be recorded
            name = recording_name(selection, state)
        recording = load(folder, name)
        simulated = version.mode.scaled and recording.target == SIMULATED.device
        opening = opening_fence(Listing(simulated=True), page.listings, "text") if simulated else "```text"
        return f"{opening}\n" + "\n".join(fold(recording.lines)) + "\n```\n"

    return each_version(page, selection, fence)


def parse_words(page: PageContext, words: Words) -> tuple[Selection, str]:
    """Parses the arguments of an output directive.

    Raises:
        BookError: the state is missing.
    """
    *command, state = words
    if state not in STATES or not command:
        raise BookError(
            f"{{{{#output {' '.join(words)}}}}} does not say which run",
            hint="end it with `unsolved` or `solved`",
        )
    return page.puzzle_index.selection(command[0], command[1:]), state


def fold(lines: Sequence[str]) -> Iterator[str]:
    """Shortens the lines of a run for a page, to avoid scrolling.

    A long run of lines that differ in a counter alone is shortened: the first three, `...`, the last. So is a
    list of many equal numbers. Of another long list, the first eight and the last four remain. A matrix in
    one long line gets a line for each of its rows.
    """
    index = 0
    while index < len(lines):
        count = _counting(lines, index)
        if count >= _LONG_COUNT:
            yield from (*lines[index : index + 3], "...", lines[index + count - 1])
            index += count
        else:
            yield from _rows(_LIST.sub(_shorten, lines[index]))
            index += 1


def _shorten(found: re.Match[str]) -> str:
    numbers = found[1].split(", ")
    first, last = (3, 1) if len(set(numbers)) == 1 else (8, 4)
    if len(numbers) <= (_EQUAL_LIST if last == 1 else _LONG_LIST):
        return found[0]
    return f"[{', '.join((*numbers[:first], '...', *numbers[-last:]))}]"


def _rows(line: str) -> list[str]:
    """A long line with a matrix, broken before every row of it; any other line as it is."""
    matrix = line.find("[[")
    if matrix < 0 or len(line) <= _LONG_LINE:
        return [line]
    # Indented less than the name before it: a telephone shows 35 letters in a line.
    rows = line[matrix:].replace("[[", "  [[").replace("], [", "],\n   [").split("\n")
    return [line[:matrix].rstrip(), *rows] if matrix else rows


def _counting(lines: Sequence[str], start: int) -> int:
    """The number of lines from `start` on that differ only in a number that grows by one."""
    first = re.fullmatch(r"(.*?)(\d+)(\D*)", lines[start])
    if not first:
        return 1
    before, number, after = first.groups()
    count = 1
    while start + count < len(lines) and lines[start + count] == f"{before}{int(number) + count}{after}":
        count += 1
    return count
