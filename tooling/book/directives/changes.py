"""The lines of a wrong answer that differ from the solution, shown above the verdict on it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import PurePath

from msgspec import Struct

from tooling.book.directives.captions import CLOSING, NAMED, OPENING, REMOVED, is_mark, ranges
from tooling.catalog.catalogue import Selection
from tooling.mdbook.includes import Kind, take

_CONTEXT = 2  # lines before and after a change
_GAP = 4  # lines from one that is shown to the next one, up to which those between them are shown as well
_ALIKE = 0.6  # similarity above which a line counts as the changed form of another one
_FUNCTION = re.compile(r"^def .*\n(?:(?![\w@#]).*\n)*", re.MULTILINE)  # up to the next declaration
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


def changed_code(
    selection: Selection, solution: Mapping[str, str], wrong: Mapping[str, str], verdict: str
) -> str:
    """A code block of the changed lines of a wrong answer, in the kernels of the run and what they call.

    A line of the solution is only shown where the wrong answer has none like it: a reader who has not solved
    the puzzle yet should not see the solution.

    Args:
        solution: the files of the solution, by name.
        wrong: those of the wrong answer.
        verdict: the lines that it names are shown, too.
    """
    name = next(file for file, text in wrong.items() if text != solution[file])
    named = {int(number) for number in re.findall(rf"{re.escape(PurePath(name).name)}:(\d+)", verdict)}
    kernel = _numbers(wrong[name], selection.mode.anchors.get(selection.program.name, ()))
    about = kernel | _called(wrong[name], named)
    every = [line for line in _compared(solution[name], wrong[name]) if not is_mark(f"{line.text}\n")]
    inside = [line for line in every if line.number in about]
    lines = inside if any(line.kind != "same" for line in inside) else every
    shown = [lines[start:stop] for start, stop in _excerpts(lines, named)]
    numbers = [[line.number for line in part if line.kind != "removed"] for part in shown]
    fence = opening_fence(name, [number for part in numbers for number in (0, *part)][1:])
    code = "\n".join(_marked(part, named) for part in shown)
    return f"{fence}\n{code}```\n\n"


def opening_fence(file: str, numbers: Sequence[int]) -> str:
    """The first line of a block with these lines of a wrong answer; 0 stands for lines that are left out."""
    language = "python" if file.endswith(".py") else "mojo"
    return f"```{language},changed,file:{file}#L{numbers[0]}-L{numbers[-1]}@{ranges(numbers)}"


def _numbers(text: str, anchors: Sequence[str]) -> frozenset[int]:
    """The numbers of the lines that anchors of the solution enclose."""
    excerpts = (take(Kind.INCLUDE, f"{anchor}_solution", text) for anchor in anchors)
    return frozenset(number for excerpt in excerpts for number in excerpt.numbers)


def _called(text: str, named: Collection[int]) -> frozenset[int]:
    """The numbers of the lines of the functions for the GPU that a named line is in.

    A function that raises runs on the host.
    """
    called: set[int] = set()
    for function in _FUNCTION.finditer(text):
        first = text.count("\n", 0, function.start()) + 1
        numbers = range(first, first + function[0].count("\n"))
        head, _, _ = function[0].partition(":\n")
        if "raises" not in head.split() and any(number in numbers for number in named):
            called.update(numbers)
    return frozenset(called)


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
            code = text.strip()
            if code and not code.startswith("#") and not any(_alike(code, other.strip()) for other in added):
                yield Line("removed", first, text)
        for number, text in enumerate(added, first + 1):
            yield Line("wrong" if text.strip() else "same", number, text)


def _alike(line: str, other: str) -> bool:
    """Whether a line is another one, changed: similar to it, or with the same first half."""
    same_start = other.startswith(line[: len(line) // 2 + 1])
    return same_start or SequenceMatcher(None, line, other, autojunk=False).ratio() > _ALIKE


def _excerpts(lines: Sequence[Line], named: Collection[int]) -> Iterator[tuple[int, int]]:
    """Where the changed and the named lines are, with lines around the changed ones and the heads of blocks.

    Functions are named where the lines belong to several.
    """
    statements = _statements(lines)
    shown: set[int] = set()
    for place, line in enumerate(lines):
        if line.kind != "same":
            around = _with_context(lines, place)
            shown.update(range(statements[around.start].start, statements[around.stop - 1].stop))
        elif line.number in named:
            shown.update([place] if _is_function(line) else statements[place])
    enclosing = [list(_heads(lines, statements, place)) for place in shown]
    functions = {heads[-1] for heads in enclosing if heads and _is_function(lines[heads[-1]])}
    hidden = functions - shown if len(functions) == 1 else set()
    shown.update(head for heads in enclosing for head in heads if head not in hidden)
    first = last = min(shown)
    for place in sorted(shown):
        if place - last > _GAP:
            yield first, last + 1
            first = place
        last = place
    yield first, last + 1


def _statements(lines: Sequence[Line]) -> list[range]:
    """The statement that each line belongs to: it ends where its brackets are closed."""
    statements: list[range] = []
    start = depth = 0
    for place, line in enumerate(lines):
        depth += _brackets(line)
        if depth <= 0:
            statements += [range(start, place + 1)] * (place + 1 - start)
            start, depth = place + 1, 0
    return statements + [range(start, len(lines))] * (len(lines) - start)


def _heads(lines: Sequence[Line], statements: Sequence[range], place: int) -> Iterator[int]:
    """The first lines of the blocks around a line, outwards; an `else` is followed by its `if`."""
    place = statements[place].start
    indent = _indent(lines[place])
    while place and indent:
        place = statements[place - 1].start
        head = lines[place]
        if _is_blank(head) or _is_comment(head) or head.kind == "removed" or _indent(head) >= indent:
            continue
        if head.text.startswith("struct "):
            return
        indent = _indent(head) + head.text.lstrip().startswith("else:")
        yield place


def _is_function(line: Line) -> bool:
    return line.text.lstrip().startswith("def ")


def _is_blank(line: Line) -> bool:
    return not line.text.strip()


def _indent(line: Line) -> int:
    return len(line.text) - len(line.text.lstrip())


def _with_context(lines: Sequence[Line], place: int) -> range:
    """A line with those around it: whole comments, none of them at the end, and no part of another block."""
    start, stop = max(0, place - _CONTEXT), min(len(lines), place + 1 + _CONTEXT)
    while start and _is_comment(lines[start]) and _is_comment(lines[start - 1]):
        start -= 1
    while stop - 1 > place and (
        _is_comment(lines[stop - 1]) or _is_blank(lines[stop - 1]) or lines[stop - 1].text.endswith(":")
    ):
        stop -= 1
    indent = _indent(lines[place])
    inner = [other for other in range(start, place) if _indent(lines[other]) > indent]
    beside = inner[-1] + 1 if inner else start
    if any(line.kind != "removed" for line in lines[beside:stop]):
        start = beside
    while start < place and _is_blank(lines[start]):
        start += 1
    return range(start, stop)


def _brackets(line: Line) -> int:
    """How many more brackets it opens than it closes; those of a line that is not there do not count."""
    if line.kind == "removed" or _is_comment(line):
        return 0
    return sum((letter in "([{") - (letter in ")]}") for letter in line.text)


def _is_comment(line: Line) -> bool:
    return line.text.lstrip().startswith("#")


def _marked(lines: Sequence[Line], named: Collection[int]) -> str:
    """Lines with the marks that become elements and classes once the block is highlighted."""
    return "".join(
        _marked_run(kind, list(run), named) for kind, run in groupby(lines, key=lambda line: line.kind)
    )


def _marked_run(kind: str, lines: Sequence[Line], named: Collection[int]) -> str:
    if kind == "removed":
        return "".join(f"{line.text}{REMOVED}\n" for line in lines)
    code = "".join(f"{line.text}{NAMED if line.number in named else ''}\n" for line in lines)
    indent = " " * _indent(lines[0])
    return f"{indent}{OPENING}\n{code}{indent}{CLOSING}\n" if kind == "wrong" else code
