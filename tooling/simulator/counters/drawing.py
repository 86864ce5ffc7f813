"""Drawings of one request: the lanes that access each word, and the lanes that each bank serves."""

from __future__ import annotations

from html import escape

import numpy as np
from msgspec import Struct

from tooling.simulator.counters.banks import BANKS, WORD, Service, joins
from tooling.simulator.counters.hook import Sample
from tooling.simulator.counters.profile import Picture
from tooling.simulator.counters.sectors import SECTOR
from tooling.simulator.counters.texts import say
from tooling.simulator.counters.warp_rows import LANES, NONE

ROW = 128
"""Bytes of a row of the memory map: a cache line."""

_SECTOR_WORDS = SECTOR // WORD
_ROW_WORDS = ROW // WORD
_AXIS = 14  # from the top of a map to the baseline of what is above its cells, in pixels
_ADVANCE = 7  # of a digit
_BELOW = 18  # from a row to what is below a label there
_EDGE = 1  # where labels at the left begin, if they all begin there
_MOST_WAVEFRONTS = 32


class Room(Struct, frozen=True):
    """More pixels between the rows of a memory map.

    Attributes:
        before_note: above a note.
        after_note: between a note and the row below it.
        after_row: between two rows without a note.
    """

    before_note: int = 0
    after_note: int = 0
    after_row: int = 0


class Form(Struct, frozen=True):
    """The measures of a map, and what its labels and colours are.

    Attributes:
        cell: width of a word in pixels.
        high: its height.
        left: pixels for the labels at the left.
        line: words or banks side by side; the rest is in the lines below.
        most_rows: of a memory map. A note counts the others.
        every: how many banks have one label, above the first of them; the last of a line has one, too.
        sector_gap: pixels between sectors.
        line_gap: pixels between the lines of a memory row, and between the rows of a bank map.
        inset: pixels of a word on every side of the box of its lane; neighbours without one share a border.
        corner: the radius of the corners of boxes and sectors.
        heads: pixels for what is above the cells.
        drop: from the middle of a row to the baseline of its label at the left.
        above: the offset of a memory row is above it, with its unit, instead of at its left; rows that follow
            each other without a gap have one together.
        room: between memory rows.
        flush: labels at the left begin at the edge of the map instead of ending next to it.
        numbered: every row of a bank map is labelled as a pass; otherwise the first row of each pass, if a
            request takes several.
        by_lane: the box of a lane has the colour of that lane; otherwise that of the style sheet.
        unused: each word of a moved sector that no lane touches is a box; otherwise lines separate the words.
        ruled: lines separate the banks of a row that serve no lane; otherwise these are one strip.
    """

    cell: int
    left: int
    line: int
    most_rows: int
    high: int = 20
    every: int = 1
    sector_gap: int = 8
    line_gap: int = 1
    inset: float = 1.5
    corner: int = 3
    heads: int = 20
    drop: int = 4
    above: bool = False
    room: Room = Room()
    flush: bool = False
    numbered: bool = False
    by_lane: bool = True
    unused: bool = False
    ruled: bool = False

    def x(self, word: int) -> int:
        """Left edge of a word of a memory row."""
        column = word % self.line
        return self.left + column * self.cell + column // _SECTOR_WORDS * self.sector_gap

    def y(self, word: int) -> int:
        """The distance of a word from the top of its memory row."""
        return word // self.line * (self.high + self.line_gap)


BROAD = Form(cell=26, left=76, line=BANKS, most_rows=12)
"""Everything side by side, for a page as wide as a screen."""


class Map(Struct, frozen=True):
    """A drawn map.

    Attributes:
        width, height: in pixels.
        contents: SVG.
        title: what its axes are.
    """

    width: int
    height: int
    contents: str
    title: str

    def svg(self) -> str:
        """The map as a picture of its own."""
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" width="{self.width}" height="{self.height}" '
            f'role="img"><title>{escape(self.title)}</title>{self.contents}</svg>'
        )


class MemoryCell(Struct, frozen=True):
    """Words side by side, and the lanes that touch them."""

    row: int
    column: int
    words: int
    lanes: tuple[int, ...]


def memory_map(picture: Picture, language: str, form: Form = BROAD) -> Map:
    """Rows of 128 bytes, four sectors each, with the lanes that touch every word.

    Local memory is drawn as the thread sees it: offsets in its own window.
    """
    cells = _memory_cells(picture.sample)
    rows = sorted({cell.row for cell in cells})
    shown, rest = rows[: form.most_rows], len(rows) - form.most_rows
    elements: list[str] = []
    top = 0 if form.above else 6
    previous: int | None = None
    for row in shown:
        skipped = 0 if previous is None else row - previous - 1
        if skipped:
            top += form.room.before_note
            elements.append(_label(form.left, top + 9, f"⋮ {say('gap', language, n=skipped)}"))
            top += 16 + form.room.after_note
        elif previous is not None:
            top += form.room.after_row
        offset = f"+{row * ROW - picture.base:,}"
        if not form.above:
            elements.append(_row_label(top + form.high // 2 + form.drop, offset, form, "axis"))
        elif skipped or previous is None:
            elements.append(_label(form.left, top + _AXIS, say("offset", language, offset=offset)))
            top += form.heads
        elements.append(_memory_row([cell for cell in cells if cell.row == row], top, form))
        top += form.y(_ROW_WORDS) + (0 if form.above else 4)
        previous = row
    if rest > 0:
        top += form.room.before_note
        elements.append(_label(form.left, top + 10, f"⋮ {say('rest', language, n=rest)}"))
        top += 18
    width = form.x(form.line - 1) + form.cell + 1
    return Map(width, top + 2, "".join(elements), say("memory_axis", language))


def bank_map(picture: Picture, language: str, form: Form = BROAD) -> Map:
    """A column for each bank, a row for each wavefront, with the lane that is served."""
    passes = wavefronts(picture.sample)
    rows = [
        (number, front, depth)
        for number, fronts in enumerate(passes, start=1)
        for depth, front in enumerate(fronts)
    ]
    shown, rest = rows[:_MOST_WAVEFRONTS], len(rows) - _MOST_WAVEFRONTS
    elements: list[str] = []
    top = 0
    for first in range(0, BANKS, form.line):
        banks = range(first, first + form.line)
        elements.append(_row_label(top + _AXIS, say("bank", language), form))
        elements += [
            f'<text class="axis" x="{form.left + (column + 0.5) * form.cell:g}" '
            f'y="{top + _AXIS}">{bank}</text>'
            for column, bank in enumerate(banks)
            if bank % form.every == 0 or column == form.line - 1
        ]
        top += form.heads
        if first and len(shown) > 1 and not any(bank in front for _, front, _ in shown for bank in banks):
            # No pass needs these banks: one row is enough for all.
            elements.append(_row_label(top + form.high // 2 + form.drop, f"1–{len(shown)}", form))
            elements.append(_wavefront({}, banks, top, form))
            top += form.high + form.line_gap + 1 + 11
            continue
        for row, (number, front, depth) in enumerate(shown, start=1):
            opens_pass = depth == 0 and len(passes) > 1
            top += 5 if opens_pass and number > 1 else 0
            if form.numbered or opens_pass:
                label = say("pass", language, n=row if form.numbered else number)
                elements.append(_row_label(top + form.high // 2 + form.drop, label, form, added=depth > 0))
            elements.append(_wavefront(front, banks, top, form, conflict=depth > 0))
            top += form.high + form.line_gap + 1 + (_BELOW if _has_label_below(front, banks, form) else 0)
        top += 5
    if rest > 0:
        elements.append(_label(form.left, top + 8, f"⋮ {say('rest', language, n=rest)}"))
        top += 16
    width = form.left + form.line * form.cell + 1
    return Map(width, top + 2, "".join(elements), say("bank_axis", language))


def wavefronts(sample: Sample) -> list[list[dict[int, tuple[int, ...]]]]:
    """Per pass, its wavefronts: the lanes that each bank serves in it."""
    service = sample.service or Service.LOAD
    words = max(1, sample.width // WORD)
    joined = bool(joins(sample.addresses[None, :], sample.width, service)[0])
    count = words // 2 if joined else words
    single = service in (Service.SINGLE, Service.EXCHANGE)
    found = []
    for lanes in np.arange(LANES).reshape(count, -1):
        queues: list[dict[tuple[int, int], list[int]]] = [{} for _ in range(BANKS)]
        for lane in lanes.tolist():
            address = int(sample.addresses[lane])
            if address == NONE:
                continue
            for word in range(address // WORD, address // WORD + words):
                key = (word, lane if single else 0)
                queues[word % BANKS].setdefault(key, []).append(lane)
        depth = max(len(queue) for queue in queues)
        served = [list(queue.values()) for queue in queues]
        fronts = [
            {bank: tuple(queue[k]) for bank, queue in enumerate(served) if k < len(queue)}
            for k in range(depth)
        ]
        if fronts:
            found.append(fronts)
    return found


def lane_scale() -> str:
    """SVG: the colours of the lanes, from 0 to 31."""
    cells = "".join(
        f'<rect x="{lane * 5}" width="5" height="10" fill="{_colour(lane)}"/>' for lane in range(LANES)
    )
    return f'<svg class="scale" viewBox="0 0 160 10" width="160" height="10" aria-hidden="true">{cells}</svg>'


def _memory_cells(sample: Sample) -> list[MemoryCell]:
    """Lanes grouped by the words that they touch together."""
    groups: dict[int, list[int]] = {}
    for lane, address in enumerate(sample.addresses.tolist()):
        if address != NONE:
            groups.setdefault(address // WORD, []).append(lane)
    words = max(1, sample.width // WORD)
    return [
        MemoryCell(word // _ROW_WORDS, word % _ROW_WORDS, words, tuple(lanes))
        for word, lanes in groups.items()
    ]


def _memory_row(cells: list[MemoryCell], top: int, form: Form) -> str:
    touched = {cell.column // _SECTOR_WORDS for cell in cells}
    used = {cell.column + word for cell in cells for word in range(cell.words)}
    elements = []
    for sector in range(ROW // SECTOR):
        style = "moved" if sector in touched else "still"
        first = sector * _SECTOR_WORDS
        left, y, width = form.x(first), top + form.y(first), _SECTOR_WORDS * form.cell
        elements.append(
            f'<rect class="{style}" x="{left}" y="{y}" width="{width}" height="{form.high}" '
            f'rx="{form.corner}"/>'
        )
        if sector in touched and form.unused:
            words = set(range(first, first + _SECTOR_WORDS)) - used
            elements += [_box(form.x(word), y, form.cell, form, "unused") for word in sorted(words)]
        elif sector in touched:
            elements += [
                f'<path class="word" d="M{left + k * form.cell} {y + 3}v{form.high - 6}"/>'
                for k in range(1, _SECTOR_WORDS)
            ]
    elements += [
        _cell(form.x(cell.column), top + form.y(cell.column), cell.words * form.cell, cell.lanes, form)
        for cell in cells
    ]
    return "".join(elements)


def _has_label_below(front: dict[int, tuple[int, ...]], banks: range, form: Form) -> bool:
    """Whether a word of many lanes, in a map without the colours of lanes, has their numbers below it."""
    return not form.by_lane and any(
        len(f"×{len(front[bank])}") * _ADVANCE >= form.cell for bank in banks if bank in front
    )


def _wavefront(
    front: dict[int, tuple[int, ...]], banks: range, top: int, form: Form, *, conflict: bool = False
) -> str:
    """A row of banks, with the lanes that they serve."""
    style = "again" if conflict else "first"
    width = len(banks) * form.cell
    elements = [
        f'<rect class="{style}" x="{form.left}" y="{top}" width="{width}" height="{form.high}" '
        f'rx="{form.corner}"/>'
    ]
    if form.ruled:
        between = (f"M{form.left + column * form.cell} {top}v{form.high}" for column in range(1, len(banks)))
        elements.append(f'<path class="bank" d="{"".join(between)}"/>')
    elements += [
        _cell(
            form.left + column * form.cell,
            top,
            form.cell,
            front[bank],
            form,
            room_right=bank + 1 not in front,
            added=conflict,
        )
        for column, bank in enumerate(banks)
        if bank in front
    ]
    return "".join(elements)


def _cell(
    left: int,
    top: int,
    width: int,
    lanes: tuple[int, ...],
    form: Form,
    *,
    room_right: bool = False,
    added: bool = False,
) -> str:
    """A word with its lane, or with the number of its lanes: at its right or below it, if it is too narrow.

    Args:
        left, top, width: of the word.
        lanes: that touch it.
        form: the measures of the map.
        room_right: whether there is room at its right.
        added: a pass that a bank conflict adds serves it.
    """
    text = str(lanes[0])
    if len(lanes) > 1:
        text = f"×{len(lanes)}"
    names = ", ".join(map(str, lanes))
    line = top + form.high // 2 + 4
    kind = "lane" if width <= form.cell else "lane broad"
    label = f'<text class="{kind}" x="{left + width / 2:g}" y="{line}">{text}</text>'
    if room_right and len(text) * _ADVANCE >= width:
        successive = lanes[-1] - lanes[0] == len(lanes) - 1
        numbers = f"{lanes[0]}–{lanes[-1]}" if successive else text
        below = _label(left, top + form.high + _BELOW - 2, numbers)
        label = _label(left + width + 3, line, text) if form.by_lane else below
    box = _box(left, top, width, form, fill=_colour(lanes[0]) if form.by_lane else "")
    group = '<g class="added">' if added and not form.by_lane else "<g>"
    return f"{group}<title>lane {names}</title>{box}{label}</g>"


def _box(left: int, top: int, width: int, form: Form, kind: str = "", *, fill: str = "") -> str:
    """The box of one word or several."""
    inset = form.inset
    attributes = (f' class="{kind}"' if kind else "") + (f' fill="{fill}"' if fill else "")
    return (
        f'<rect x="{left + inset:g}" y="{top + inset:g}" width="{width - 2 * inset:g}" '
        f'height="{form.high - 2 * inset:g}" rx="{form.corner}"{attributes}/>'
    )


def _colour(lane: int) -> str:
    """From blue (lane 0) through violet to orange (lane 31): order shows as a gradient."""
    return f"hsl({(212 + lane * 176 / (LANES - 1)) % 360:.0f} 58% {46 - 4 * (lane % 2)}%)"


def _row_label(y: float, text: str, form: Form, kind: str = "note", *, added: bool = False) -> str:
    """A label at the left of the map; `added` if it is that of a pass which a bank conflict adds."""
    if form.flush:
        return _label(_EDGE, y, text, "note added" if added else "note")
    return _label(form.left - 6, y, text, f"{kind} end")


def _label(x: float, y: float, text: str, kind: str = "note start") -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>'
