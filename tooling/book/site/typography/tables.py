"""Aligns the columns of numbers in a page's tables to the right, so that their digits line up."""

from __future__ import annotations

import re
from html import unescape
from itertools import count

_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)  # one from Markdown: those of directives have a class
_ROW = re.compile(r"<tr>.*?</tr>", re.DOTALL)
_CELL = re.compile(r"<(?P<name>t[dh])>(?P<content>.*?)</t[dh]>", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_UNIT = r"[%×]|[kmµn]?s|[kMGT]?i?B(?:/s)?|[GT]FLOP/s|bytes|바이트"
_NUMBER = re.compile(rf"[−-]?\d[\d.,]*\s?(?:{_UNIT})?|nan|[–—-]?")


def align_numbers(article: str) -> str:
    """The article with class `number` at the cells of such columns; the first column has names."""
    return _TABLE.sub(lambda table: _align(table[0]), article)


def _align(table: str) -> str:
    head, *body = ([cell["content"] for cell in _CELL.finditer(row)] for row in _ROW.findall(table))
    columns = list(zip(*body, strict=True)) if all(len(row) == len(head) for row in body) else []
    numbers = {
        number
        for number, cells in enumerate(columns)
        if number and any(map(_text, cells)) and all(map(_is_number, cells))
    }
    return _ROW.sub(lambda row: _mark(row[0], numbers), table) if numbers else table


def _is_number(cell: str) -> bool:
    return _NUMBER.fullmatch(_text(cell)) is not None


def _text(cell: str) -> str:
    return unescape(_TAG.sub("", cell)).strip()


def _mark(row: str, columns: set[int]) -> str:
    position = count()

    def mark(cell: re.Match[str]) -> str:
        if next(position) not in columns:
            return cell[0]
        return f'<{cell["name"]} class="number">{cell["content"]}</{cell["name"]}>'

    return _CELL.sub(mark, row)
