"""The lines of a wrong answer that differ from the solution, shown above the verdict on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby, pairwise

from msgspec import Struct

from tooling.book.directives.captions import CLOSING, OPENING, REMOVED, is_mark, ranges
from tooling.catalog.catalogue import Selection
from tooling.mdbook.includes import Kind, take

_CONTEXT = 2  # lines before and after a change
_ALIKE = 0.6  # similarity above which a line counts as the changed form of another one
_NO_STATEMENT = ["pass"]  # what a wrong answer has where the solution has a statement


class Line(Struct, frozen=True):
    """A line of a wrong answer, or one of the solution that it lacks.

    Attributes:
        kind: `same`, `wrong` or `removed`.
        number: in the wrong answer; of a removed line, the number of the line before it.
    """

    kind: str
    number: int
    text: str


def changed_code(selection: Selection, solution: Mapping[str, str], wrong: Mapping[str, str]) -> str:
    """A code block of the changed lines of a wrong answer, in the functions that the run is about.

    A line of the solution is only shown where the wrong answer has none like it: a reader who has not solved
    the puzzle yet should not see the solution.

    Args:
        solution: the files of the solution, by name.
        wrong: those of the wrong answer.
    """
    name = next(file for file, text in wrong.items() if text != solution[file])
    about = _numbers(wrong[name], selection.mode.anchors.get(selection.program.name, ()))
    every = [line for line in _compared(solution[name], wrong[name]) if not is_mark(f"{line.text}\n")]
    lines = [line for line in every if line.number in about] or every
    shown = [_trimmed(lines[start:stop]) for start, stop in _changes(lines)]
    numbers = [[line.number for line in part if line.kind != "removed"] for part in shown]
    fence = opening_fence(name, [number for part in numbers for number in (0, *part)][1:])
    code = "\n".join("".join(map(_marked, _runs(part))) for part in shown)
    return f"{fence}\n{code}```\n\n"


def opening_fence(file: str, numbers: Sequence[int]) -> str:
    """The first line of a block with these lines of a wrong answer; 0 stands for lines that are left out."""
    language = "python" if file.endswith(".py") else "mojo"
    return f"```{language},changed,file:{file}#L{numbers[0]}-L{numbers[-1]}@{ranges(numbers)}"


def _numbers(text: str, anchors: Sequence[str]) -> frozenset[int]:
    """The numbers of the lines that anchors of the solution enclose."""
    excerpts = (take(Kind.INCLUDE, f"{anchor}_solution", text) for anchor in anchors)
    return frozenset(number for excerpt in excerpts for number in excerpt.numbers)


def _compared(solution: str, wrong: str) -> Iterator[Line]:
    """The lines of the wrong answer, with those of the solution that nothing in it corresponds to."""
    before, after = solution.splitlines(), wrong.splitlines()
    for kind, start, stop, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        removed, added = before[start:stop], after[first:last]
        if kind == "equal":
            yield from (Line("same", number, text) for number, text in enumerate(added, first + 1))
            continue
        if [text.strip() for text in added] == _NO_STATEMENT:
            added = []
        for text in removed:
            if text.strip() and not any(_alike(text.strip(), other.strip()) for other in added):
                yield Line("removed", first, text)
        yield from (Line("wrong", number, text) for number, text in enumerate(added, first + 1))


def _alike(line: str, other: str) -> bool:
    """Whether a line is another one, changed: similar to it, or with the same first half."""
    same_start = other.startswith(line[: len(line) // 2 + 1])
    return same_start or SequenceMatcher(None, line, other, autojunk=False).ratio() > _ALIKE


def _changes(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Where the changes are, each with the lines around it; those that are near each other are one."""
    places = [place for place, line in enumerate(lines) if line.kind != "same"]
    starts = [places[0], *(later for place, later in pairwise(places) if later - place > 2 * _CONTEXT + 1)]
    for start, following in zip(starts, [*starts[1:], len(lines)], strict=True):
        last = max(place for place in places if start <= place < following)
        yield max(0, start - _CONTEXT), last + 1 + _CONTEXT


def _trimmed(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines without empty ones at the ends."""
    filled = [place for place, line in enumerate(lines) if line.text.strip()]
    return lines[filled[0] : filled[-1] + 1]


def _runs(lines: Sequence[Line]) -> Iterator[tuple[str, list[str]]]:
    """The lines by kind."""
    for kind, run in groupby(lines, key=lambda line: line.kind):
        yield kind, [line.text for line in run]


def _marked(run: tuple[str, list[str]]) -> str:
    """Lines of one kind, with the marks that become elements once the block is highlighted."""
    kind, texts = run
    if kind == "removed":
        return "".join(f"{text}{REMOVED}\n" for text in texts)
    code = "".join(f"{text}\n" for text in texts)
    indent = texts[0][: len(texts[0]) - len(texts[0].lstrip())]
    return f"{indent}{OPENING}\n{code}{indent}{CLOSING}\n" if kind == "wrong" else code
