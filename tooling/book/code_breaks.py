"""Where a long line of highlighted code may go on below itself on a narrow screen.

It may at spaces, but not after an operator: as in formulas, a line goes on with `+ 10`; only `//` ends one.
A bracketed expression with its name, such as `row_major[TPB]()`, stays in one line if it fits there; a longer
one may be broken after its opening bracket, and before the value of an argument if that is long.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from html import unescape
from itertools import groupby

from msgspec import Struct

_ROOM = 32
"""Letters of code that a line has on a screen of 360 pixels, if it goes on below an unindented one."""
_PIECE = re.compile(
    r'<span class="(?:s|c|hole)">.*?</span>|(?P<tag><[^>]+>)|&\w+;'
    r"|(?P<given>(?<=\w)=(?=(?:(?:<[^>]+>)*[\w.]){18}))|.",
    re.DOTALL,
)
_TAG = re.compile(r"<[^>]+>")
_LAST_WORDS = re.compile(r"(?<=[# ])[^ <>]+ [^ <>]{1,3}(?=</span>$)")  # of a comment
_NAME = re.compile(r"[\w.]")
_OPENING, _CLOSING = "([{", ")]}"
_OPERATOR = re.compile(r"[-+*/%&|^]|<<|>>|[<>]=?|[=!]=|and|or")
_DIVISION = "//"  # begins no line: it would look like a comment of other languages
_IN_PATH = re.compile(r"(?<=\w)/(?=\w)")
_BREAK = "<wbr>"


class _Piece(Struct, frozen=True):
    """A token of a line.

    Attributes:
        plain: its HTML.
        shown: the same with points where the line may break.
        width: in letters.
        is_name: whether it belongs to what is before a bracket.
        is_group: whether it is an expression with brackets.
    """

    plain: str
    shown: str
    width: int
    is_name: bool
    is_group: bool = False


def breakable_path(path: str) -> str:
    """The path of a file, which may go on in the next line after a slash."""
    return _IN_PATH.sub(rf"\g<0>{_BREAK}", path)


@lru_cache(maxsize=16384)  # the editions show the same code
def breakable(code: str, indent: int) -> str:
    """A highlighted line without its indentation, `indent` letters, with the points where it may break."""
    if len(_text(code)) <= _ROOM:
        return code
    pieces = [_piece(found) for found in _PIECE.finditer(code)]
    room = _ROOM - indent // 2  # a narrow screen shows half of the indentation
    done: list[_Piece] = []
    opened: list[int] = []
    for piece in pieces:
        if piece.plain in _CLOSING and opened:
            start = opened.pop()
            done[start:] = _groups([*done[start:], piece], room)
            continue
        if piece.plain in _OPENING:
            opened.append(_start_of_name(done))
        done.append(piece)
    return _joined(_operands(done, room))


def _piece(found: re.Match[str]) -> _Piece:
    text = found[0]
    if len(text) == 1 and not found["given"]:
        return _letter(text)
    width = 0 if found["tag"] else len(_text(text))
    shown = text + _BREAK if found["given"] else _LAST_WORDS.sub(r'<span class="unit">\g<0></span>', text)
    return _Piece(text, shown, width, bool(found["tag"] or _NAME.fullmatch(text)))


@cache
def _letter(text: str) -> _Piece:
    return _Piece(text, text, 1, bool(_NAME.fullmatch(text)))


def _start_of_name(pieces: Sequence[_Piece]) -> int:
    """The index of the name before a bracket, which may be an expression with brackets itself."""
    start = len(pieces)
    while start and pieces[start - 1].is_name:
        start -= 1
    return start


def _groups(pieces: Sequence[_Piece], room: int) -> list[_Piece]:
    """A name and what is in the brackets after it as one piece; of a chain of calls, those that have room."""
    opening = next(index for index, piece in enumerate(pieces) if piece.plain in _OPENING)
    ends = (
        end for index, piece in enumerate(pieces[:opening]) if piece.is_group for end in (index, index + 1)
    )
    *starts, last = 0, *ends
    start = next((start for start in starts if _width(pieces[start:]) <= room), last)
    before, together = pieces[:start], pieces[start:]
    plain, width = _plain(together), _width(together)
    shown = _unit(plain) if width <= room else _joined(_operands(together, room))
    if before and plain.startswith("."):
        shown = _BREAK + shown
    return [*before, _Piece(plain, shown, width, is_name=True, is_group=True)]


def _operands(pieces: Sequence[_Piece], room: int) -> list[_Piece]:
    """The pieces with each binary operator and the operand after it as one, if they have room in a line."""
    words = [list(word) for _, word in groupby(pieces, lambda piece: piece.plain == " ")]
    done: list[_Piece] = []
    while words:
        if done and done[-1].plain == " " and _plain(words[0]) == _DIVISION:
            plain = done.pop().plain + _plain(words.pop(0))
            done.append(_Piece(plain, _unit(plain), len(plain), is_name=False))
            continue
        together = [piece for word in words[:3] for piece in word]
        is_operator = done and done[-1].plain == " " and _OPERATOR.fullmatch(_text(_plain(words[0])))
        if is_operator and len(words) > 2 and _width(together) <= room:
            plain = _plain(together)
            done.append(_Piece(plain, _unit(plain), _width(together), is_name=False))
            del words[:3]
        else:
            done += words.pop(0)
    return done


def _joined(pieces: Sequence[_Piece]) -> str:
    """The pieces with a point to break after a bracket that is still among them, unless nothing is in it."""
    after = (*(piece.plain for piece in pieces[1:]), _CLOSING[0])
    return "".join(
        piece.shown + _BREAK * (piece.plain in _OPENING and following not in _CLOSING)
        for piece, following in zip(pieces, after, strict=True)
    )


def _unit(code: str) -> str:
    """Code that stays in one line."""
    return f'<span class="unit">{code}</span>'


def _plain(pieces: Iterable[_Piece]) -> str:
    return "".join(piece.plain for piece in pieces)


def _text(code: str) -> str:
    return unescape(_TAG.sub("", code))


def _width(pieces: Iterable[_Piece]) -> int:
    return sum(piece.width for piece in pieces)
