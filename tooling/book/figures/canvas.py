"""Draws cells, labels and arrows as SVG."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from enum import Enum, IntEnum
from html import escape
from itertools import pairwise

from msgspec import Struct, field

from tooling.book.drawings import Drawing
from tooling.book.figures.palette import file_style, variable
from tooling.book.phrases import pick
from tooling.text import Sentence

_FILE_STYLE = """\
svg { background: var(--figure-paper); font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans",
  "Apple SD Gothic Neo", "Noto Sans KR", sans-serif; }
[font-family] { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
"""
"""The fonts of a drawing that is opened by itself, and what is behind it."""
_MONO = ' font-family="monospace"'  # a style sheet chooses the font

PAGE, PHONE = 730, 360  # pixels of a drawing next to lines of code, and on a narrow screen; two are space
SMALL = 438  # the widest drawing that has its caption at its right
GAP = 3  # between neighbouring cells
SMALL_CELL = 28  # cells narrower or lower than this that touch share a border instead
_TOUCHING = 0.01  # between cells that touch; their places may be fractions
_THIN = 1  # the outline of a cell, in pixels
_BEND = 8  # the radius of a corner of an arrow
_HEAD = 5  # how far the head of an arrow reaches beyond its line, which would blunt its tip, in pixels
_HALO = 4.8  # the width of a marked arrow with the space around it, in pixels
_DASH = 4  # the length of a dash and of the gap after it, in pixels
_HALF = 0.5  # a thin line between whole numbers is drawn over two rows of pixels
_SAFETY = 1.06  # letters may be a little wider than measured, and bold ones are
_ADVANCE = 0.6  # of a letter of code, relative to its size
_LINE = 0.66  # from the middle of a line to its upper or lower end, relative to the size of letters
_EDGE = 1  # where the names of rows begin
_AFTER_NAME = 14  # from the longest name to the cells
_NAME_LINE = 20  # from the name of a row to what the row is
_PLATE = 22  # the height of the background of a name
_DOT = 1.75  # the radius of the sign of a product
_SWATCH = 16  # the side of a colour in a legend
_NEXT_TO_SWATCH = 8  # from it to its meaning
_ENTRIES_SPACING = 24
_LEGEND_LINE = 24  # from a line of a legend to the next
PAPER, TEXT, QUIET, ARROW, GRID = map(variable, ("paper", "text", "quiet", "arrow", "grid"))
_WIDTHS = (
    (" ijl.,:;’", 0.26),
    ("f[]()·t/r-I", 0.35),
    ("zsvcyLxJagke", 0.52),
    ("mwMW…—", 0.95),
    ("ABCDGHKNOPQRUVX", 0.66),
)
"""The width of letters of the page's font, relative to its size."""
_LETTER, _SYLLABLE = 0.59, 0.89  # of other letters, and of those of Korean
_VARIABLE = re.compile(r"\*([A-Za-z]+)\*")  # of mathematics


class Size(IntEnum):
    """The size of letters, in pixels."""

    LANE = 12  # only of numbers in cells that leave them no space at their sides otherwise
    SMALL = 13  # where little room is
    LABEL = 14  # of what is next to the cells
    VALUE = 15  # of values, of the names of rows, and of headings
    COVER = 18  # of the sum on the cover, and of operators of two letters between matrices
    OPERATOR = 22  # of operators between large matrices


class Ink(Enum):
    """The meaning of a mark, which the palette maps to the colours of its fill, its outline and its text."""

    PLAIN = "plain"  # memory, and the input in it
    LIVE = "live"  # active threads, and what they hold or move: registers, shared memory, sectors
    SUM = "sum"  # a sum in a register, to which its thread still adds
    RESULT = "result"  # the output
    SPARE = "spare"  # idle or not part of the example
    FRAME = "frame"  # blocks and clusters, which contain others
    MARK = "mark"  # the element or the path that the text follows
    WRONG = "wrong"  # an error: a wrong value or address, a bank conflict; the red of a verdict

    @property
    def fill(self) -> str:
        return "none" if self is Ink.FRAME else variable(f"{self.value}-fill")

    @property
    def line(self) -> str:
        return variable(f"{self.value}-line")

    @property
    def text(self) -> str:
        return {Ink.PLAIN: TEXT, Ink.FRAME: QUIET}.get(self, variable(f"{self.value}-text"))


_ORDER = (
    Ink.FRAME,
    Ink.SPARE,
    Ink.PLAIN,
    Ink.LIVE,
    Ink.SUM,
    Ink.RESULT,
    Ink.WRONG,
    Ink.MARK,
)
"""Of two cells that share a border, the later one has its own."""


class Box(Struct, frozen=True):
    """A cell without its text: its left upper corner, its size, and its place among the parts of a canvas."""

    corner: tuple[float, float]
    size: tuple[float, float]
    ink: Ink
    part: int


class Canvas(Struct):
    """A picture that is being drawn.

    Attributes:
        width, height: in SVG units, which are CSS pixels when the picture is shown unscaled.
        language: of the labels.
    """

    width: int
    height: int
    language: str
    _parts: list[str] = field(default_factory=list)
    _boxes: list[Box] = field(default_factory=list)
    _edges: list[float] = field(default_factory=list)  # left and right ends of what is drawn
    _levels: list[float] = field(default_factory=list)  # upper and lower ends

    def say(self, text: Sentence | str) -> str:
        """The label in the canvas's language; a plain string is not translated."""
        if isinstance(text, str):
            return text
        return pick(text, self.language)

    def cell(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        text: Sentence | str = "",
        *,
        ink: Ink = Ink.PLAIN,
        size: Size = Size.VALUE,
    ) -> None:
        """Draws a box with a value or words in its middle; a value that is too wide gets a smaller size.

        Cells that touch are drawn with `GAP` between them.
        """
        self._edges += [x, x + width]
        self._levels += [y, y + height]
        self._boxes.append(Box((x, y), (width, height), ink, len(self._parts)))
        self._parts.append("")
        if text:
            code = isinstance(text, str)
            if isinstance(text, str):
                size = fitting(len(text), width, size)
            self.label(x + width / 2, y + height / 2, text, "middle", colour=ink.text, mono=code, size=size)

    def dot(self, x: float, y: float) -> None:
        """Draws the sign of a product between matrices, around a point."""
        self._edges += [x - _DOT, x + _DOT]
        self._levels += [y - _DOT, y + _DOT]
        self._parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{_DOT}" fill="{TEXT}"/>')

    def band(self, x: float, y: float, width: float, height: float) -> None:
        """Draws a pale ground behind elements that belong together."""
        self._edges += [x, x + width]
        self._levels += [y, y + height]
        corner, size = f'x="{x:g}" y="{y:g}"', f'width="{width:g}" height="{height:g}"'
        self._parts.append(f'<rect {corner} {size} rx="9" fill="{Ink.SPARE.fill}"/>')

    def frame(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        dashed: bool = False,
        corner: float = 9,
        ink: Ink = Ink.FRAME,
        line: float = _THIN,
    ) -> None:
        """Draws an outline around elements that belong together, or of a cell that the text points out.

        Args:
            x, y, width, height: as of cells.
            dashed: it has dashes.
            corner: its radius.
            ink: of the outline.
            line: how wide it is.
        """
        wide = f' stroke-width="{line:g}"' if line != _THIN else ""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        left, top, right, bottom = map(_sharp, (x, y, x + width, y + height))
        self._edges += [left, right]
        self._levels += [top, bottom]
        self._parts.append(
            f'<rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}" '
            f'rx="{corner:g}" fill="none" stroke="{ink.line}"{wide}{dash}/>'
        )

    def label(
        self,
        x: float,
        y: float,
        text: Sentence | str,
        anchor: str = "start",
        *,
        size: Size = Size.VALUE,
        colour: str | None = None,
        mono: bool = False,
        quiet: bool = False,
        bold: bool = False,
        halo: bool = False,
    ) -> None:
        """A line of text, centred on `y`; what is between backticks is code, between asterisks a variable.

        A `halo` in the colour of the page keeps lines behind the text away from it.
        """
        colour = colour or (QUIET if quiet else TEXT)
        said = self.say(text)
        if not said:
            return
        long = self.length(text, size, mono=mono)
        start = x - {"start": 0, "middle": 0.5, "end": 1}[anchor] * long
        self._edges += [start, start + long]
        self._levels += [y - _LINE * size, y + _LINE * size]
        family = _MONO if mono else ""
        weight = ' font-weight="600"' if bold else ""
        around = f' stroke="{PAPER}" stroke-width="3" paint-order="stroke"' if halo else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}" '
            f'dominant-baseline="central" '
            f'fill="{colour}"{family}{weight}{around}>'
            f"{escape(said) if mono else _marked_up(said)}</text>"
        )

    def name(
        self, y: float, text: Sentence | str, below: Sentence | str = "", *, size: Size = Size.VALUE
    ) -> None:
        """The name of a row at the left edge of the drawing, and what the row is in a second line."""
        spacing = _NAME_LINE / 2 if below else 0
        self.label(_EDGE, y - spacing, text, size=size, mono=isinstance(text, str))
        self.label(_EDGE, y + spacing, below, size=Size.LABEL, mono=isinstance(below, str), quiet=True)

    def names_end(self, names: Sequence[Sentence | str], below: Sequence[Sentence | str] = ()) -> int:
        """Where the cells begin next to the names of their rows, some of which have a second line."""
        long = [self.length(text, Size.VALUE, mono=isinstance(text, str)) for text in names]
        long += [self.length(text, Size.LABEL, mono=isinstance(text, str)) for text in below]
        return math.ceil(_EDGE + max(long) + _AFTER_NAME)

    def length(self, text: Sentence | str, size: Size, *, mono: bool = False) -> float:
        """How wide a label is at most, in pixels."""
        said = self.say(text)
        if mono:
            return len(said) * size * _ADVANCE
        prose, code = "".join(said.split("`")[::2]), "".join(said.split("`")[1::2])
        prose = _VARIABLE.sub(r"\1", prose)
        return len(code) * size * _ADVANCE + _SAFETY * measured(prose, size)

    def plate(self, x: float, y: float, width: float, text: Sentence | str) -> None:
        """Draws a name on a background that covers lines below it; centred on (x, y)."""
        self.ground(x - width / 2, y - _PLATE / 2, width, _PLATE)
        self.label(x, y, text, "middle", size=Size.LABEL, mono=isinstance(text, str))

    def ground(self, x: float, y: float, width: float, height: float) -> None:
        """Draws a background that covers lines below a label."""
        self._edges += [x, x + width]
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{PAPER}"/>'
        )

    def legend(
        self,
        x: float,
        y: float,
        *entries: tuple[Ink, Sentence],
        across: int | None = None,
        swatch: tuple[float, float] = (_SWATCH, _SWATCH),
    ) -> None:
        """Draws what the colours mean, from `x` on, the first line centred on `y`.

        Args:
            x, y: where it begins.
            entries: the colours with their meanings.
            across: how many are side by side; otherwise all of them.
            swatch: the size of a colour; if it is that of cells that share borders, it has their corners.
        """
        across = across or len(entries)
        wide, high = swatch
        text_x = wide + _NEXT_TO_SWATCH
        said = [_VARIABLE.sub(r"\1", self.say(text)) for _, text in entries]
        widths = [text_x + measured(text, Size.LABEL) + _ENTRIES_SPACING for text in said]
        columns = [max(widths[column::across]) for column in range(across)]
        for index, (ink, text) in enumerate(entries):
            line, column = divmod(index, across)
            left, middle = x + sum(columns[:column]), y + line * _LEGEND_LINE
            self.cell(left, middle - high / 2, wide, high, ink=ink)
            self.label(left + text_x, middle, text, size=Size.LABEL)

    def arrow(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        head: bool = True,
        marked: bool = False,
        dashed: bool = False,
    ) -> None:
        """A straight arrow; `marked` if it is what the text points out."""
        x1, x2 = _straight(x1, x2)
        y1, y2 = _straight(y1, y2)
        self._edges += [x1, x2]
        self._levels += [y1, y2]
        length = math.hypot(x2 - x1, y2 - y1)
        if head:
            x2, y2 = x2 - (x2 - x1) / length * _HEAD, y2 - (y2 - y1) / length * _HEAD
        # A line without a head ends with a whole dash, too.
        dash = length / (2 * round((length / _DASH - 1) / 2) + 1) if dashed and not head else _DASH
        self._line(
            f"M{x1:g} {y1:g}L{x2:g} {y2:g}", head=head, marked=marked, dash=round(dash, 3) if dashed else 0
        )

    def rule(self, x1: float, x2: float, y: float, *, dotted: bool = False) -> None:
        """A horizontal line for a synchronisation point; `dotted` if no thread waits there."""
        self._edges += [x1, x2]
        self._levels += [y, y]
        look = 'stroke-width="1.5" stroke-dasharray="1.5 3.5"' if dotted else 'stroke-width="2"'
        self._parts.append(f'<path d="M{x1:g} {y:g}H{x2:g}" fill="none" stroke="{QUIET}" {look}/>')

    def curve(
        self,
        x1: float,
        y1: float,
        x2: float,
        y2: float,
        *,
        bend: float = 0.5,
        marked: bool = False,
        dashed: bool = False,
    ) -> None:
        """An arrow that begins and ends vertically.

        Args:
            x1, y1: where it begins.
            x2, y2: its head.
            bend: the part of its height above the middle of its bend.
            marked: it is what the text points out.
            dashed: as of other arrows.
        """
        x1, x2 = _sharp(x1), _sharp(x2)
        self._edges += [x1 - _HEAD / 2, x2 - _HEAD / 2, x1 + _HEAD / 2, x2 + _HEAD / 2]
        self._levels += [y1, y2]
        y2 -= math.copysign(_HEAD, y2 - y1)
        middle = y1 + (y2 - y1) * bend
        way = f"C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}" if x1 != x2 else f"V{y2:g}"
        self._line(f"M{x1:g} {y1:g}{way}", marked=marked, dash=_DASH if dashed else 0)

    def side_curve(self, x1: float, y1: float, x2: float, y2: float, *, marked: bool = False) -> None:
        """An arrow that begins and ends horizontally; otherwise as `curve`."""
        y1, y2 = _sharp(y1), _sharp(y2)
        self._edges += [x1, x2]
        self._levels += [y1, y2]
        x2 -= math.copysign(_HEAD, x2 - x1)
        middle = (x1 + x2) / 2
        way = f"C{middle:g} {y1:g} {middle:g} {y2:g} {x2:g} {y2:g}" if y1 != y2 else f"H{x2:g}"
        self._line(f"M{x1:g} {y1:g}{way}", marked=marked)

    def bend(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """An arrow that begins vertically and ends horizontally."""
        x1, y2 = _sharp(x1), _sharp(y2)
        self._edges += [x1, x2]
        self._levels += [y1, y2]
        round_y, round_x = math.copysign(_BEND, y2 - y1), math.copysign(_BEND, x2 - x1)
        x2 -= math.copysign(_HEAD, x2 - x1)
        self._line(f"M{x1:g} {y1:g}V{y2 - round_y:g}Q{x1:g} {y2:g} {x1 + round_x:g} {y2:g}H{x2:g}")

    def _line(self, way: str, *, head: bool = True, marked: bool = False, dash: float = 0) -> None:
        """Draws a path; a marked one is wider, and has some space over what was drawn before it."""
        colour = Ink.MARK.line if marked else ARROW
        if marked:
            self._parts.append(f'<path d="{way}" fill="none" stroke="{PAPER}" stroke-width="{_HALO}"/>')
        width = 1.8 if marked else 1.2
        end = f' marker-end="url(#{"marked" if marked else "head"})"' if head else ""
        look = f' stroke-dasharray="{dash:g} {dash:g}"' if dash else ""
        self._parts.append(
            f'<path d="{way}" fill="none" stroke="{colour}" stroke-width="{width}"{end}{look}/>'
        )

    def embed(self, drawn: str, within: tuple[float, float, float, float] | None = None) -> None:
        """Embeds SVG that was drawn elsewhere, in this canvas's units.

        Args:
            drawn: the elements.
            within: their left, upper, right and lower ends; without these the picture keeps its size.
        """
        left, top, right, bottom = within or (-math.inf, -math.inf, math.inf, math.inf)
        self._edges += [left, right]
        self._levels += [top, bottom]
        self._parts.append(drawn)

    def _rectangle(
        self, box: Box, inset: tuple[float, float] = (0, 0), *, corner: str = "", line: str = ""
    ) -> str:
        """A cell as SVG, smaller by `inset` at its left and right, and above and below."""
        (x, y), (width, height), (inset_x, inset_y) = box.corner, box.size, inset
        left, right = _sharp(x + inset_x), _sharp(x + width - inset_x)
        top, bottom = _sharp(y + inset_y), _sharp(y + height - inset_y)
        return (
            f'<rect x="{left:g}" y="{top:g}" width="{right - left:g}" height="{bottom - top:g}"{corner} '
            f'fill="{box.ink.fill}" stroke="{line or box.ink.line}"/>'
        )

    def define(self, drawn: str) -> None:
        """Embeds definitions and styles, which show nothing by themselves."""
        self._parts.append(drawn)

    def finished(self) -> Drawing:
        """The finished picture, without the space around it."""
        tables = _tables(self._boxes)
        joined = {index for table in tables for index in table}
        sizes = {self._boxes[index].size for index in joined}
        others = [box for index, box in enumerate(self._boxes) if index not in joined]
        for box, inset in zip(others, insets(others), strict=True):
            # A single cell looks like those of the same size that share borders.
            corner = "" if box.size in sizes else f' rx="{min(4, box.size[0] / 4):g}"'
            self._parts[box.part] = self._rectangle(box, inset, corner=corner)
        for table in tables:
            # All at the place of the first, so that labels are above them; borders of marked cells come last.
            boxes = sorted((self._boxes[index] for index in table), key=lambda box: _ORDER.index(box.ink))
            first = min(box.part for box in boxes)
            self._parts[first] = "\n".join(self._rectangle(box, line=_border(box.ink)) for box in boxes)
        # Crop empty space: drawings begin where the text does, and captions are equally far from all.
        left, right = _cropped(self._edges, self.width)
        top, bottom = _covered(self._levels, self.height)
        width, height = right - left, bottom - top
        drawn = "\n".join(filter(None, self._parts))  # an empty line would end the HTML in a page
        if left or top:
            drawn = f'<g transform="translate({-left} {-top})">\n{drawn}\n</g>'
        heads = "".join(
            f'<marker id="{name}" viewBox="0 0 8 8" refX="2" refY="4" markerWidth="8" markerHeight="8" '
            f'markerUnits="userSpaceOnUse" orient="auto">'
            f'<path d="M0.5 1 7 4 0.5 7z" fill="{colour}"/></marker>'
            for name, colour in (("head", ARROW), ("marked", Ink.MARK.line))
            if f"url(#{name})" in drawn
        )
        defined = f"<defs>{heads}</defs>\n" if heads else ""
        return Drawing(width, height, f"{defined}{drawn}\n")

    def svg(self, title: str, description: str) -> str:
        """The finished picture as a file, which has the palette for light and for dark screens.

        Args:
            title: the caption as it is written, with its backticks.
            description: the alternative text.
        """
        drawing = self.finished()
        width, height = drawing.width, drawing.height
        # Labels inherit a stroke width but no stroke, so letters stay thin.
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" stroke-width="{_THIN}">\n'
            f"<title>{escape(title)}</title>\n"
            f"<desc>{escape(description)}</desc>\n"
            f"<style>\n{file_style()}{_FILE_STYLE}</style>\n{drawing.elements}</svg>\n"
        )


def _border(ink: Ink) -> str:
    """The colour of a border that cells share, which must differ from what it separates."""
    return PAPER if ink is Ink.RESULT else ink.line


Sheet = Callable[[int, int], Canvas]
"""Creates the canvas of a width and height."""


def _marked_up(text: str) -> str:
    """A line of text as SVG, with code in its own font where backticks enclose it, and italic variables."""
    parts = [escape(part) for part in text.split("`")]
    parts[::2] = [_VARIABLE.sub(r'<tspan font-style="italic">\1</tspan>', prose) for prose in parts[::2]]
    parts[1::2] = [f"<tspan{_MONO}>{code}</tspan>" for code in parts[1::2]]
    return "".join(parts)


def fitting(letters: int, width: float, size: Size = Size.VALUE) -> Size:
    """The largest size up to `size` with which a line of code fits a box; the smallest if none does."""
    least = min(size, Size.SMALL)
    sizes = (each for each in Size if least <= each <= size)
    fits = (each for each in sizes if letters * each * _ADVANCE <= width - GAP - 2)
    return max(fits, default=least)


def measured(text: str, size: Size) -> float:
    """About how wide a line of the page's font is, in pixels."""
    return size * sum(map(_width, text))


def _width(letter: str) -> float:
    """The width of a letter of the page's font, relative to its size."""
    if "가" <= letter <= "힣":
        return _SYLLABLE
    return next((width for letters, width in _WIDTHS if letter in letters), _LETTER)


def _cropped(ends: Sequence[float], whole: int) -> tuple[int, int]:
    """Where a picture begins and ends whose parts have these ends, within its whole width or height."""
    first = max(0.0, min(ends, default=0) - 1)
    last = min(float(whole), max(ends, default=math.inf) + 1)
    return math.floor(first), math.ceil(last)


def _covered(levels: Sequence[float], whole: int) -> tuple[int, int]:
    """Where a picture begins and ends whose parts have these levels, with labels beyond its height."""
    known = [level for level in levels if math.isfinite(level)]
    first, last = min(known, default=0) - 1, max(known, default=whole) + 1
    if len(known) < len(levels):  # what is embedded has the whole height
        first, last = min(first, 0), max(last, whole)
    return math.floor(first), math.ceil(last)


def _sharp(edge: float) -> float:
    """The position next to an edge where a thin line covers one row of pixels."""
    return math.floor(edge) + _HALF


def _straight(start: float, end: float) -> tuple[float, float]:
    """Both ends of a line in one dimension: if they are the same, where the line covers whole pixels."""
    return (_sharp(start), _sharp(end)) if start == end else (start, end)


def _tables(boxes: Sequence[Box]) -> list[list[int]]:
    """Small cells that touch others, in groups whose members share borders."""
    table_of: dict[int, list[int]] = {}
    for one, other, gap in _neighbours(boxes, axis=0) + _neighbours(boxes, axis=1):
        small = min(*boxes[one].size, *boxes[other].size) < SMALL_CELL
        if small and abs(gap) < _TOUCHING:
            table = table_of.setdefault(one, [one])
            if (added := table_of.setdefault(other, [other])) is not table:
                table += added
                table_of.update(dict.fromkeys(added, table))
    return list({id(table): table for table in table_of.values()}.values())


def _neighbours(boxes: Sequence[Box], axis: int) -> list[tuple[int, int, float]]:
    """The pairs of boxes that follow each other in a row (axis 0) or column, and the gap between them."""
    lines: dict[tuple[float, float], list[int]] = defaultdict(list)
    for index, box in enumerate(boxes):
        lines[box.corner[1 - axis], box.size[1 - axis]].append(index)
    return [
        (one, other, boxes[other].corner[axis] - boxes[one].corner[axis] - boxes[one].size[axis])
        for line in lines.values()
        for one, other in pairwise(sorted(line, key=lambda index: boxes[index].corner[axis]))
    ]


def insets(boxes: Sequence[Box]) -> list[tuple[float, float]]:
    """How much smaller each box is drawn at its left and right, and above and below.

    Neighbours in a row or column that are closer than `GAP` make room for it; tiny ones for a fifth of them.
    """
    found = [[0.0, 0.0] for _ in boxes]
    for axis in (0, 1):
        for one, other, gap in _neighbours(boxes, axis):
            wanted = min(GAP, boxes[one].size[axis] / 5, boxes[other].size[axis] / 5)
            if -_TOUCHING <= gap < wanted:
                for index in (one, other):
                    found[index][axis] = max(found[index][axis], (wanted - gap) / 2)
    return [(x, y) for x, y in found]
