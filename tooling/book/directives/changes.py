"""The lines of a wrong answer that differ from the solution, shown above the verdict on it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import PurePath

from msgspec import Struct
from msgspec.structs import replace

from tooling.book.directives.captions import is_mark
from tooling.book.listings import Listing, Listings, opening_fence, runs
from tooling.catalog.catalogue import Selection
from tooling.mdbook.includes import Kind, take

_GAP = 3  # lines from one that is shown to the next one, up to which those between them are shown as well
_MOST = 16  # rows of an excerpt; with more, less is shown around the lines that it is about
_SIMILAR = 0.6  # similarity above which a line counts as the changed form of another one
_FUNCTION = re.compile(r"^def .*\n(?:(?![\w@#]).*\n)*", re.MULTILINE)  # up to the next declaration
_NO_STATEMENT = ["pass"]  # what a wrong answer has where the solution has a statement


class Detail(Struct, frozen=True):
    """How much is shown around the lines that an excerpt is about.

    Attributes:
        context: lines before and after a change.
        whole: statements and comments are shown to their ends.
        heads: of the enclosing blocks, outwards.
        short: of a statement that is left out, the first line and the end are in one row.
    """

    context: int
    whole: bool = False
    heads: int | None = None
    short: bool = False


_DETAILS = (
    Detail(context=2, whole=True),
    Detail(context=2),
    Detail(context=1),
    Detail(context=0, heads=1, short=True),
)
"""Of these, the first whose excerpt is short enough is taken, or else the last."""


class DiffLine(Struct, frozen=True):
    """A line of a wrong answer, or one of the solution that it lacks.

    Attributes:
        kind: `same`, `wrong` or `removed`.
        number: in the wrong answer; of a removed line, the number of the line before it.
    """

    kind: str
    number: int
    text: str


def changed_code(
    selection: Selection,
    solution: Mapping[str, str],
    wrong: Mapping[str, str],
    positions: Iterable[str],
    listings: Listings,
    *,
    api: str = "",
) -> str:
    """A code block of the changed lines of a wrong answer, in the kernels of the run and what they call.

    A line of the solution is only shown where the wrong answer has none like it: a reader who has not solved
    the puzzle yet should not see the solution.

    Args:
        solution: the files of the solution, by name.
        wrong: those of the wrong answer.
        positions: lines that the verdict names, as `FILE:LINE` or `FILE:LINE:COLUMN`; they are shown, too.
        listings: of the page.
        api: the tensor API of the program, where the head of the block names it.
    """
    name = next(file for file, text in wrong.items() if text != solution[file])
    split_positions = (position.split(":") for position in positions)
    named = {int(line) for file, line, *_ in split_positions if file == PurePath(name).name}
    kernel = _numbers(wrong[name], selection.mode.anchors.get(selection.program.name, ()))
    about = kernel | _called(wrong[name], named)
    every = [line for line in _compared(solution[name], wrong[name]) if not is_mark(f"{line.text}\n")]
    inside = [index for index, line in enumerate(every) if line.number in about]
    if all(every[index].kind == "same" for index in inside):
        inside = list(range(len(every)))
    seams = {index for index in range(1, len(inside)) if inside[index] != inside[index - 1] + 1}
    shown = _shown([every[index] for index in inside], seams, named)
    rows = [row for excerpt in shown for row in (None, *excerpt)][1:]  # a row between excerpts
    listing = Listing(
        name,
        tuple(0 if row is None else row.number if row.kind != "removed" else None for row in rows),
        runs([index for index, row in enumerate(rows) if row and row.kind == "wrong"]),
        removed=tuple(index for index, row in enumerate(rows) if row and row.kind == "removed"),
        named=tuple(
            index for index, row in enumerate(rows) if row and row.kind != "removed" and row.number in named
        ),
        api=api,
        changed=True,
    )
    code = "".join(f"{row.text if row else ''}\n" for row in rows)
    return f"{opening_fence(listing, listings)}\n{code}```\n\n"


def replaced_code(file: str, right: str, wrong: str, listings: Listings) -> str:
    """A code block of the lines of a solution that a wrong answer changes.

    Args:
        file: of the solution, relative to the checkout.
        listings: of the page.
    """
    lines = [line for line in _compared(wrong, right) if line.kind == "wrong"]
    listing = Listing(file, tuple(line.number for line in lines), ((0, len(lines)),))
    code = "".join(f"{line.text}\n" for line in lines)
    return f"{opening_fence(listing, listings)}\n{code}```\n"


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


def _compared(solution: str, wrong: str) -> Iterator[DiffLine]:
    """The lines of the wrong answer, with those of the solution that nothing in it corresponds to."""
    before, after = solution.splitlines(), wrong.splitlines()
    for kind, start, stop, first, last in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        removed, added = before[start:stop], after[first:last]
        if kind == "equal":
            yield from (DiffLine("same", number, text) for number, text in enumerate(added, first + 1))
            continue
        if [text.strip() for text in added] == _NO_STATEMENT:
            added = []
        for text in removed:
            code = text.strip()
            if (
                code
                and not code.startswith("#")
                and not any(_is_similar(code, other.strip()) for other in added)
            ):
                yield DiffLine("removed", first, text)
        for number, text in enumerate(added, first + 1):
            yield DiffLine("wrong" if text.strip() else "same", number, text)


def _is_similar(line: str, other: str) -> bool:
    """Whether a line is another one, changed: similar to it, or with the same first half."""
    same_start = other.startswith(line[: len(line) // 2 + 1])
    return same_start or SequenceMatcher(None, line, other, autojunk=False).ratio() > _SIMILAR


def _shown(lines: Sequence[DiffLine], seams: Collection[int], named: Collection[int]) -> list[list[DiffLine]]:
    """The excerpts of a kernel, without blank lines next to what is left out.

    Args:
        seams: where lines of the file are left out before one of these lines.
    """
    for detail in _DETAILS:
        excerpts = [lines[start:stop] for start, stop in _excerpts(lines, seams, named, detail)]
        shown = [_trimmed(list(_shortened(each)) if detail.short else each) for each in excerpts]
        if sum(map(len, shown)) + len(shown) - 1 <= _MOST:
            break
    return shown


def _trimmed(lines: Sequence[DiffLine]) -> list[DiffLine]:
    """The lines without blank ones at their ends."""
    code = [index for index, line in enumerate(lines) if not _is_blank(line)]
    return list(lines[code[0] : code[-1] + 1])


def _shortened(lines: Sequence[DiffLine]) -> Iterator[DiffLine]:
    """The lines, each statement that is left out in one of them."""
    depth = 0
    first = ""
    for line in lines:
        if line.kind != "removed":
            yield line
            continue
        first = first or line.text
        depth += _brackets(line.text)
        if depth <= 0:
            yield line if first == line.text else replace(line, text=f"{first}…{line.text.strip()}")
            first, depth = "", 0


def _excerpts(
    lines: Sequence[DiffLine], seams: Collection[int], named: Collection[int], detail: Detail
) -> Iterator[tuple[int, int]]:
    """Where the changed and the named lines are, with lines around the changed ones and the heads of blocks.

    Functions are named where the lines belong to several.
    """
    statements = _statements(lines)
    shown: set[int] = set()
    for index, line in enumerate(lines):
        statement = statements[index]
        if line.kind != "same":
            around = _with_context(lines, index, detail)
            if detail.whole:
                around = range(statements[around.start].start, statements[around.stop - 1].stop)
            shown.update(other for other in around if statements[other].start in around or other >= index)
        elif line.number in named and not _is_function(line):
            # Brackets alone say nothing: what they enclose follows.
            last = index if re.search(r"\w", line.text) else index + 1
            end = statement.stop if detail.whole else min(last + 1, statement.stop)
            shown.update(range(statement.start, end))
        elif line.number in named:
            shown.add(index)
    enclosing = [list(_heads(lines, statements, index)) for index in shown]
    functions = {heads[-1] for heads in enclosing if heads and _is_function(lines[heads[-1]])}
    hidden = functions - shown if len(functions) == 1 else set()
    shown.update(head for heads in enclosing for head in heads[: detail.heads] if head not in hidden)
    first = last = min(shown)
    for index in sorted(shown):
        if index - last > _GAP or any(last < seam <= index for seam in seams):
            yield first, last + 1
            first = index
        last = index
    yield first, last + 1


def _statements(lines: Sequence[DiffLine]) -> list[range]:
    """The statement that each line belongs to: it ends where its brackets are closed."""
    statements: list[range] = []
    start = depth = 0
    for index, line in enumerate(lines):
        depth += 0 if line.kind == "removed" or _is_comment(line) else _brackets(line.text)
        if depth <= 0:
            statements += [range(start, index + 1)] * (index + 1 - start)
            start, depth = index + 1, 0
    return statements + [range(start, len(lines))] * (len(lines) - start)


def _heads(lines: Sequence[DiffLine], statements: Sequence[range], index: int) -> Iterator[int]:
    """The first lines of the blocks around a line, outwards; an `else` is followed by its `if`."""
    index = statements[index].start
    indent = _indent(lines[index])
    while index and indent:
        index = statements[index - 1].start
        head = lines[index]
        if _is_blank(head) or _is_comment(head) or head.kind == "removed" or _indent(head) >= indent:
            continue
        if head.text.startswith("struct "):
            return
        indent = _indent(head) + head.text.lstrip().startswith("else:")
        yield index


def _is_function(line: DiffLine) -> bool:
    return line.text.lstrip().startswith("def ")


def _is_blank(line: DiffLine) -> bool:
    return not line.text.strip()


def _indent(line: DiffLine) -> int:
    return len(line.text) - len(line.text.lstrip())


def _with_context(lines: Sequence[DiffLine], index: int, detail: Detail) -> range:
    """A line with those around it: no comment at the end, and nothing of another block."""
    start, stop = max(0, index - detail.context), min(len(lines), index + 1 + detail.context)
    while detail.whole and _goes_on(lines, start):
        start -= 1
    while stop - 1 > index and (
        _is_comment(lines[stop - 1]) or _is_blank(lines[stop - 1]) or lines[stop - 1].text.endswith(":")
    ):
        stop -= 1
    indent = _indent(lines[index])
    inner = [other for other in range(start, index) if _indent(lines[other]) > indent]
    after_inner = inner[-1] + 1 if inner else start
    if any(line.kind != "removed" for line in lines[after_inner:stop]):
        start = after_inner
    while start < index and (_is_blank(lines[start]) or _goes_on(lines, start)):
        start += 1
    return range(start, stop)


def _goes_on(lines: Sequence[DiffLine], index: int) -> bool:
    """Whether a line belongs to a comment that begins above it."""
    return index > 0 and _is_comment(lines[index]) and _is_comment(lines[index - 1])


def _brackets(text: str) -> int:
    """How many more brackets it opens than it closes."""
    return sum((letter in "([{") - (letter in ")]}") for letter in text)


def _is_comment(line: DiffLine) -> bool:
    return line.text.lstrip().startswith("#")
