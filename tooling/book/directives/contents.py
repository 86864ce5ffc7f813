"""What a page says about all puzzles: how many there are, and in which order a path takes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tooling.book.errors import BookError
from tooling.book.page import PageContext, Words
from tooling.book.phrases import say
from tooling.catalog.paths import load_paths

_LEAST_OF_A_RANGE = 3  # two numbers are written one by one


def count(page: PageContext, words: Words) -> str:
    """`{{#count puzzles}}`, `{{#count parts}}`: how many the book has."""
    (what,) = words
    needs = page.puzzle_index.needs()
    counts = {"puzzles": len(needs), "parts": len({each.part for each in needs})}
    if what not in counts:
        raise BookError(
            f"the book does not count `{what}`", hint="write {{#count puzzles}} or {{#count parts}}"
        )
    return str(counts[what])


def path(page: PageContext, words: Words) -> str:
    """`{{#path NAME}}`: the numbers of the puzzles of a path, three and more in a row as a range."""
    (name,) = words
    index = page.puzzle_index
    paths = {each.name: each for each in load_paths(index.project, index.puzzles())}
    if name not in paths:
        raise BookError(f"there is no path `{name}`", hint=f"problems/paths.yaml has {', '.join(paths)}")
    runs = _runs(puzzle.number for puzzle in paths[name].puzzles)
    return ", ".join(_named(first, last, page.language) for first, last in runs)


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The first and the last number of each run of consecutive ones."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][1] + 1 == number:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ((first, last) for first, last in runs)


def _named(first: int, last: int, language: str) -> str:
    if last - first + 1 >= _LEAST_OF_A_RANGE:
        return say("range", language, first=first, last=last)
    return ", ".join(map(str, range(first, last + 1)))
