"""The reader's answer and the solution: reset, show, compare."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from tooling.catalog.catalogue import Selection
from tooling.catalog.model import Program, SourceFile
from tooling.generate.kept_files import keep_copy
from tooling.generate.skeletons import make_skeleton
from tooling.platform.atomic_write import write_atomically
from tooling.platform.errors import Location, ToolingError
from tooling.platform.exit_codes import ExitCode
from tooling.platform.regular_files import OutsideRoot, read_text, require_below
from tooling.text import Text

_MARK = re.compile(r"\s*# (FILL|END_FILL|FIX|END_FIX|STUB|ANCHOR|ANCHOR_END)\b")
_NOTE = re.compile(r"^(\s*# )NOTE: ")
_ANCHOR = re.compile(r"\s*# ANCHOR(_END)?: (\w+?)(?:_solution)?\s*$")


class SkeletonNotWritten(ToolingError):
    """A problem file cannot be written."""

    exit_code = ExitCode.NOT_POSSIBLE


class Reset(Struct, frozen=True):
    """What `reset` did to one file.

    Attributes:
        path: the problem file.
        copy: the copy of the reader's file; None if there was none, or if it was the skeleton.
        written: whether the file was changed or created.
    """

    path: Path
    copy: Path | None
    written: bool


def reset(program: Program) -> tuple[Reset, ...]:
    """Writes the skeletons of a program; the reader's files are kept next to them.

    Raises:
        CopyFailed: a file cannot be copied; it is unchanged.
        SkeletonNotWritten: a skeleton cannot be written.
        ToolingError: a solution cannot be read.
    """
    return tuple(_reset(source) for source in program.sources)


def is_skeleton(program: Program) -> bool:
    """Whether the reader has not edited any file of a program.

    Raises:
        ToolingError: a solution cannot be read.
    """
    return all(
        source.problem.is_file() and source.problem.read_bytes() == _skeleton(source)
        for source in program.sources
    )


def _skeleton(source: SourceFile) -> bytes:
    return make_skeleton(_read_solution(source), source.solution).text.encode()


def _reset(source: SourceFile) -> Reset:
    wanted = _skeleton(source)
    try:
        if source.problem.is_file() and source.problem.read_bytes() == wanted:
            return Reset(source.problem, None, written=False)
        copy = keep_copy(source.problem) if source.problem.exists() else None
        write_atomically(source.problem, wanted)
    except OSError as error:
        raise SkeletonNotWritten(
            Text("the skeleton cannot be written"), where=Location(source.problem), why=error.strerror
        ) from error
    return Reset(source.problem, copy, written=True)


def solution_text(source: SourceFile) -> str:
    """A solution without the annotations from which the skeleton is made.

    Raises:
        ToolingError: it cannot be read.
    """
    return _without_marks(_read_solution(source)) + "\n"


def solution_regions(selection: Selection) -> Iterator[tuple[Path, str]]:
    """The functions of the solution that a mode asks for, with their files."""
    wanted = selection.mode.anchors.get(selection.program.name, ())
    for source in selection.program.sources:
        opened: dict[str, list[str]] = {}
        for line in _read_solution(source).splitlines():
            anchor = _ANCHOR.match(line)
            if not anchor:
                if not _MARK.match(line):
                    for lines in opened.values():
                        lines.append(_NOTE.sub(r"\1", line))
            elif not anchor[1]:
                opened[anchor[2]] = []
            elif (name := anchor[2]) in opened:
                region = "\n".join(opened.pop(name)).strip("\n")
                if name in wanted:
                    yield source.solution, region


def compare(program: Program) -> Iterator[tuple[Path, list[str], list[str]]]:
    """For each file that differs from the solution: its path, its lines, the lines of the solution."""
    for source in program.sources:
        mine = _without_marks(_read(source.problem)).splitlines()
        theirs = _without_marks(_read_solution(source)).splitlines()
        if mine != theirs:
            yield source.problem, mine, theirs


def side_by_side(
    mine: list[str], theirs: list[str], context: int = 2
) -> Iterator[tuple[str, str, bool] | None]:
    """Rows (mine, theirs, equal) of the regions that differ; None separates them."""
    matcher = difflib.SequenceMatcher(None, mine, theirs, autojunk=False)
    for index, group in enumerate(matcher.get_grouped_opcodes(context)):
        if index:
            yield None
        for tag, first, last, other_first, other_last in group:
            for offset in range(max(last - first, other_last - other_first)):
                left = mine[first + offset] if first + offset < last else ""
                right = theirs[other_first + offset] if other_first + offset < other_last else ""
                yield left, right, tag == "equal"


def _without_marks(text: str) -> str:
    lines = [_NOTE.sub(r"\1", line) for line in text.splitlines() if not _MARK.match(line)]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).strip("\n")


def _read_solution(source: SourceFile) -> str:
    """The text of a solution, which is shown and copied: a link must not lead to another file of the machine.

    Raises:
        ToolingError: it cannot be read, or is outside the checkout.
    """
    root = source.solution.parents[len(Path(source.name).parts) + 1]  # of ROOT/solutions/pXX/NAME
    try:
        require_below(os.path.realpath(source.solution), os.path.realpath(root))
    except OutsideRoot as error:
        raise ToolingError(
            Text("a solution is a link to a file outside the checkout"),
            where=Location(source.solution),
            why=Text("it leads to {path}").of(path=error.filename),
            hint=Text("replace the link by the file of the repository: `git checkout` restores it"),
        ) from error
    return _read(source.solution)


def _read(path: Path) -> str:
    try:
        return read_text(path, "utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ToolingError(
            Text("a file cannot be read"),
            where=Location(path),
            why=getattr(error, "strerror", None) or str(error),
            hint=Text("`tooling reset {stem}` writes a new one").of(stem=path.stem)
            if "problems" in path.parts
            else None,
        ) from error
