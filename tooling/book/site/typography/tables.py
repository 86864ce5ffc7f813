"""Marks the cells of a page's tables: numbers, which are aligned to the right, and those of wide tables.

A wide table is set row by row on a narrow screen, where each value needs the head of its column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tooling.book.site.tree import Node, inner, prepend

_NAME = re.compile(r"\w{13,}")  # of a row
_UNIT = r"[%×]|[kmµn]?s|[kMGT]?i?B(?:/s)?|[GT]FLOP/s|bytes|바이트"
_NUMBER = re.compile(rf"[−-]?\d[\d.,]*\s?(?:{_UNIT})?|nan|[–—-]?")
_SHORT = re.compile(r"(?=.{1,13}\Z)\S+(?: \S+)+")  # words that stay in one line
_LONG_NAME = 28  # letters of a row's name, from which on the heads of its numbers may have two lines
_WIDE, _TEXTS = 4, 3  # columns from which on a table is wide, and how many of them must have texts
_WIDEST = 5  # columns from which on a table of numbers is wide, too
_FEW_ROWS = 3  # for which a narrow screen has columns


def mark_cells(article: Node) -> None:
    """Gives the tables of an article and their columns classes. Those of directives have one already.

    - `number`: a column of numbers;
    - `stacked`: a wide table, unless its heads are numbers;
    - `turned`: one of numbers with a few rows, which become columns there;
    - `wordy`: a table with long names of rows and numbers;
    - `short`: a cell with words that stay in one line.
    """
    for table in article.css("table"):
        if not table.attrs:
            _mark(table)


def _mark(table: Node) -> None:
    heads, *body = ([cell for cell in row.iter() if not cell.attrs] for row in table.css("tr"))
    columns = list(zip(*body, strict=True)) if all(len(row) == len(heads) for row in body) else []
    numbers = {
        number
        for number, cells in enumerate(columns)
        if number and any(map(_text, cells)) and all(map(_is_number, cells))
    }
    many = len(columns) >= _WIDEST and not all(map(_is_number, heads[1:]))
    turned = many and len(numbers) == len(columns) - 1 and len(body) <= _FEW_ROWS
    stacked = not turned and (many or (len(columns) >= _WIDE and len(columns) - len(numbers) >= _TEXTS))
    names = [_text(name) for name in columns[0]] if numbers else []
    wordy = max(map(len, names), default=0) > _LONG_NAME
    if kind := "turned" if turned else "stacked" if stacked else "wordy" if wordy else "":
        table.attrs["class"] = kind
    if turned:
        table.attrs["style"] = f"--columns: {len(columns)}"
    for row in (heads, *body):
        if numbers and row:
            _break_name(row[0])
        _mark_row(row, numbers, heads if stacked else [])


def _break_name(cell: Node) -> None:
    """Lets a line break in a long name on a narrow screen."""
    code = cell.first_child
    if code is None or code.tag != "code" or code.next is not None or not _NAME.fullmatch(code.text()):
        return
    if "class" in code.attrs:
        del code.attrs["class"]
    code.inner_html = code.text().replace("_", "_<wbr>")


def _is_number(cell: Node) -> bool:
    return _NUMBER.fullmatch(_text(cell)) is not None


def _text(cell: Node) -> str:
    return cell.text().strip()


def _mark_row(row: Sequence[Node], numbers: set[int], labels: Sequence[Node]) -> None:
    for position, cell in enumerate(row):
        if position in numbers:
            cell.attrs["class"] = "number"
        elif cell.tag == "td" and _SHORT.fullmatch(_text(cell)):
            cell.attrs["class"] = "short"
        if labels and position and cell.tag == "td":
            label = labels[position]
            if label.css_first("code"):
                prepend(cell, f'<span class="head" aria-hidden="true">{inner(label)}</span>')
            else:
                cell.attrs["data-head"] = _text(label)
