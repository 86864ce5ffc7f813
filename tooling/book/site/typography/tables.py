"""Marks the cells of a page's tables: numbers, which are aligned to the right, and those of wide tables.

A wide table is set row by row on a narrow screen, where each value needs the head of its column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape, unescape
from itertools import count

_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)  # one from Markdown: those of directives have a class
_ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<(?P<name>t[dh])>(?P<content>.*?)</t[dh]>", re.DOTALL)
_NAME = re.compile(r'(?<=<tr><td>)<code(?: class="\w+")?>(\w{13,})(?=</code></td>)')  # at the head of a row
_TAG = re.compile(r"<[^>]+>")
_UNIT = r"[%×]|[kmµn]?s|[kMGT]?i?B(?:/s)?|[GT]FLOP/s|bytes|바이트"
_NUMBER = re.compile(rf"[−-]?\d[\d.,]*\s?(?:{_UNIT})?|nan|[–—-]?")
_SHORT = re.compile(r"(?=.{1,13}\Z)\S+(?: \S+)+")  # words that stay in one line
_LONG_NAME = 28  # letters of the name of a row beside which heads of numbers may have two lines
_WIDE, _TEXTS = 4, 3  # columns from which on a table is wide, and how many of them must have texts
_WIDEST = 5  # columns from which on a table of numbers is wide, too
_FEW_ROWS = 3  # for which a narrow screen has columns


def mark_cells(article: str) -> str:
    """The article with classes at its tables and their columns.

    - `number`: a column of numbers;
    - `stacked`: a wide table, unless its heads are numbers;
    - `turned`: one of numbers with a few rows, which become columns there;
    - `wordy`: a table with long names of rows beside numbers;
    - `short`: a cell with words that stay in one line.
    """
    return _TABLE.sub(lambda table: _mark(table[0]), article)


def _mark(table: str) -> str:
    heads, *body = ([cell["content"] for cell in _CELL.finditer(row)] for row in _ROW.findall(table))
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
    kind = "turned" if turned else "stacked" if stacked else "wordy" if wordy else ""
    if kind:
        style = f' style="--columns: {len(columns)}"' if turned else ""
        table = table.replace("<table>", f'<table class="{kind}"{style}>', 1)
    labels = heads if stacked else []
    if numbers:
        table = _NAME.sub(_breakable, table)
    return _ROW.sub(lambda row: _mark_row(row[0], numbers, labels), table)


def _breakable(name: re.Match[str]) -> str:
    """A long name, in which a line may break on a narrow screen."""
    return f"<code>{name[1].replace('_', '_<wbr>')}"


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(_text(cell)) is not None


def _text(cell: str) -> str:
    return unescape(_TAG.sub("", cell)).strip()


def _mark_row(row: str, numbers: set[int], labels: Sequence[str]) -> str:
    position = count()

    def mark(cell: re.Match[str]) -> str:
        place = next(position)
        short = cell["name"] == "td" and _SHORT.fullmatch(_text(cell["content"]))
        attributes = ' class="number"' if place in numbers else ' class="short"' if short else ""
        content = cell["content"]
        if labels and place and cell["name"] == "td":
            if "<code" in labels[place]:
                content = f'<span class="head" aria-hidden="true">{labels[place]}</span>{content}'
            else:
                attributes += f' data-head="{escape(_text(labels[place]))}"'
        return f"<{cell['name']}{attributes}>{content}</{cell['name']}>"

    return _CELL.sub(mark, row)
