"""Recorded benchmarks as tables, for pages whose readers do not know the tool's own tables yet."""

from __future__ import annotations

from html import escape

from tooling.book.errors import BookError, malformed
from tooling.book.page import PageContext, Words
from tooling.book.phrases import pick
from tooling.text import Text

_COLUMNS = (
    Text("kernel"),
    Text("elements"),
    Text("mean time (µs)"),
    "GB/s",
    Text("of a copy"),
)
_WITH_COPY = "copy"
_NAME = ' class="name"'


def times(page: PageContext, words: Words) -> str:
    """`{{#times NAME [copy]}}`: kernels, sizes, times and bandwidths of `tests/data/h200/shown/NAME.txt`.

    Kernels are named only where there are several. With `copy` the last column compares each bandwidth with
    that of a copy.

    Raises:
        BookError: the file is missing, or is not the table of a benchmark.
    """
    name, *options = words
    if options not in ([], [_WITH_COPY]):
        raise BookError(f"`{' '.join(options)}` is not an option of a table of times", hint="`copy`, or none")
    path = page.puzzle_index.project.recordings / "h200" / "shown" / f"{name}.txt"
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        lines = lines[1 + next(n for n, line in enumerate(lines) if line.startswith("kernel")) :]
        rows = [
            (kernel, f"{int(elements):,}", mean, f"{float(speed):,.1f}", *([of_copy] if options else []))
            for kernel, elements, _, mean, _, speed, of_copy in map(str.split, lines)
        ]
    except (OSError, ValueError, StopIteration) as error:
        raise malformed("table of a benchmark", path, error) from error
    first = 0 if len({kernel for kernel, *_ in rows}) > 1 else 1
    titles = [title if isinstance(title, str) else escape(pick(title, page.language)) for title in _COLUMNS]
    head = "".join(
        f'<th scope="col"{"" if index else _NAME}>{title}</th>'
        for index, title in enumerate(titles[: len(rows[0])])
        if index >= first
    )
    body = "".join(
        f"<tr>{''.join(_cell(index, text) for index, text in enumerate(row) if index >= first)}</tr>\n"
        for row in rows
    )
    return (
        f'<div class="table-wrapper">\n<table class="times">\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}</tbody>\n</table>\n</div>\n"
    )


def _cell(index: int, text: str) -> str:
    return f"<td{_NAME}><code>{escape(text)}</code></td>" if index == 0 else f"<td>{text}</td>"
