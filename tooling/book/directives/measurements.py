"""Recorded benchmarks as tables, for pages whose readers do not know the tool's own tables yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from tooling.book.errors import BookError, malformed
from tooling.book.page import PageContext, Words
from tooling.book.phrases import pick
from tooling.platform.regular_files import read_text
from tooling.text import Text

_KERNEL, _ELEMENTS, _TIME = Text("kernel"), Text("elements"), Text("time (µs)")
_OF_COPY, _BEFORE, _AFTER = Text("bandwidth relative to a copy"), Text("as given"), Text("repaired")
_SHARE = Text("of a copy")
_OF_SIZE = Text("{elements} elements")
_LAUNCH = Text("mostly the time of the launch")
_LAUNCH_BOUND = 1 << 16
"""Elements below which the time on an H200 is that of a launch, as a page of puzzle 23 shows."""
_NAME = ' class="name"'
_LAUNCHES = ' class="launches"'
_ELEMENTS_AT, _MEAN_AT, _SPEED_AT, _OF_COPY_AT = 1, 3, 5, 6  # columns of a recording


def times(page: PageContext, words: Words) -> str:
    """`{{#times NAME}}`: kernels, sizes, times and bandwidths of `tests/data/h200/shown/NAME.txt`.

    With two names, of recordings before a change and after it, a row has the times of a kernel in both, and
    its bandwidths relative to that of a copy.

    Raises:
        BookError: a file is missing, or is not the table of a benchmark, or the second one has other kernels.
    """
    if len(words) == 1:
        return _one(page, _recorded(page, words[0]))
    if len(words) != 2:
        raise BookError(
            f"`{' '.join(words)}` is not the name of a recording",
            hint="name one recording, or those before and after",
        )
    before, after = (_recorded(page, name) for name in words)
    if [row[: _ELEMENTS_AT + 1] for row in before] != [row[: _ELEMENTS_AT + 1] for row in after]:
        raise BookError(f"`{words[0]}` and `{words[1]}` measured different kernels or sizes")
    return _both(page, before, after)


def sizes(page: PageContext, words: Words) -> str:
    """`{{#sizes NAME}}`: a recording as of `times`, by size, with bars for the bandwidths.

    A bar is as long as the bandwidth relative to that of a copy, which is the whole length. Those of small
    sizes are grey, since they compare the times of launches.

    Raises:
        BookError: as `times`.
    """
    (name,) = words
    kernel, time, of_copy = (pick(title, page.language) for title in (_KERNEL, _TIME, _SHARE))
    head = _head(kernel, _NAME) + "".join(map(_head, (time, "GB/s"))) + _head(of_copy, ' class="share"')
    groups = groupby(_recorded(page, name), lambda row: int(row[_ELEMENTS_AT]))
    bodies = "".join(
        f"<tbody{_LAUNCHES * (elements < _LAUNCH_BOUND)}>\n"
        f"{_of_size(page, elements)}{''.join(map(_with_bar, rows))}</tbody>\n"
        for elements, rows in groups
    )
    return (
        f'<div class="table-wrapper">\n<table class="times sizes">\n<thead><tr>{head}</tr></thead>\n'
        f"{bodies}</table>\n</div>\n"
    )


def _of_size(page: PageContext, elements: int) -> str:
    """The row of `sizes` above those of one size."""
    title = escape(pick(_OF_SIZE.of(elements=f"{elements:,}"), page.language))
    remark = escape(pick(_LAUNCH, page.language)) if elements < _LAUNCH_BOUND else ""
    return f'<tr><th{_NAME} scope="rowgroup">{title}</th><td colspan="3">{remark}</td></tr>\n'


def _with_bar(row: Sequence[str]) -> str:
    """A row of `sizes`: a kernel with its time, its bandwidth, and this relative to a copy."""
    share = row[_OF_COPY_AT]
    numbers = f"<td>{float(row[_MEAN_AT]):,.2f}</td><td>{float(row[_SPEED_AT]):,.1f}</td>"
    bar = f'<td class="share" style="--share: {min(100 * float(share), 100):.1f}%">{share}</td>'
    return f"<tr><td{_NAME}><code>{escape(row[0])}</code></td>{numbers}{bar}</tr>\n"


def _recorded(page: PageContext, name: str) -> list[list[str]]:
    """The rows of a recording, as words. Raises as `times`."""
    path = page.puzzle_index.project.recordings / "h200" / "shown" / f"{name}.txt"
    try:
        lines = read_text(path).splitlines()
        head = next(n for n, line in enumerate(lines) if line.startswith("kernel"))
        rows = [line.split() for line in lines[head + 1 :]]
        for row in rows:
            _, _, _, _, _, _ = map(float, row[1:])  # ValueError: not six numbers
    except (OSError, ValueError, StopIteration) as error:
        raise malformed("table of a benchmark", path, error) from error
    return rows


def _one(page: PageContext, rows: Iterable[Sequence[str]]) -> str:
    """The table of one recording."""
    kernel, elements, time = (pick(title, page.language) for title in (_KERNEL, _ELEMENTS, _TIME))
    shown = [
        (row[0], f"{int(row[_ELEMENTS_AT]):,}", row[_MEAN_AT], f"{float(row[_SPEED_AT]):,.1f}")
        for row in rows
    ]
    return _table((_head(kernel, _NAME) + "".join(map(_head, (elements, time, "GB/s"))),), shown)


def _both(page: PageContext, before: Iterable[Sequence[str]], after: Iterable[Sequence[str]]) -> str:
    """The table of two recordings: two columns for the times, and two for the bandwidths."""
    kernel, time, of_copy, *states = (
        pick(title, page.language) for title in (_KERNEL, _TIME, _OF_COPY, _BEFORE, _AFTER)
    )
    rows = [
        (old[0], old[_MEAN_AT], new[_MEAN_AT], old[_OF_COPY_AT], new[_OF_COPY_AT])
        for old, new in zip(before, after, strict=True)
    ]
    upper = _head(kernel, f'{_NAME} rowspan="2"') + "".join(
        f'<th scope="colgroup" colspan="2">{escape(title)}</th>' for title in (time, of_copy)
    )
    return _table((upper, "".join(map(_head, states * 2))), rows)


def _table(heads: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """A table: the cells of each line of its head, and the words of each row, a kernel and numbers."""
    head = "".join(f"<tr>{cells}</tr>" for cells in heads)
    body = "".join(
        f"<tr><td{_NAME}><code>{escape(kernel)}</code></td>"
        f"{''.join(f'<td>{each}</td>' for each in numbers)}</tr>\n"
        for kernel, *numbers in rows
    )
    return (
        f'<div class="table-wrapper">\n<table class="times">\n<thead>{head}</thead>\n'
        f"<tbody>\n{body}</tbody>\n</table>\n</div>\n"
    )


def _head(title: str, more: str = "") -> str:
    return f'<th scope="col"{more}>{escape(title)}</th>'
