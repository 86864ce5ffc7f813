"""Pictures of one request: which lane touches which word of memory, and which bank serves whom when."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np

from tooling.simulator.counters.banks import BANKS, WORD, Service, joins
from tooling.simulator.counters.hook import Sample
from tooling.simulator.counters.profile import Picture
from tooling.simulator.counters.sectors import SECTOR
from tooling.simulator.counters.texts import say
from tooling.simulator.counters.warp_rows import LANES, NONE

ROW = 128
"""Bytes of a row of the memory map: a cache line."""

_CELL = 26  # width of a word in pixels
_HIGH = 20  # height of a row
_GAP = 8  # between sectors
_LEFT = 76
_MOST_ROWS = 12
_MOST_WAVEFRONTS = 32


@dataclass(frozen=True, slots=True)
class Cell:
    """Words side by side, and the lanes that touch them."""

    row: int
    column: int
    words: int
    lanes: tuple[int, ...]


def memory_map(picture: Picture, language: str) -> str:
    """SVG: rows of 128 bytes, four sectors each, with the lanes that touch every word.

    Local memory is drawn as the thread sees it: offsets in its own window.
    """
    cells = _memory_cells(picture.sample)
    rows = sorted({cell.row for cell in cells})
    shown, rest = rows[:_MOST_ROWS], len(rows) - _MOST_ROWS
    parts: list[str] = []
    top = 6
    previous: int | None = None
    for row in shown:
        skipped = 0 if previous is None else row - previous - 1
        if skipped:
            parts.append(_note(_LEFT, top + 9, f"⋮ {say('gap', language, n=skipped)}"))
            top += 16
        parts.append(_memory_row(row, top, [cell for cell in cells if cell.row == row], picture.base))
        top += _HIGH + 5
        previous = row
    if rest > 0:
        parts.append(_note(_LEFT, top + 10, f"⋮ {say('rest', language, n=rest)}"))
        top += 18
    return _svg(_x(LANES) + 4, top + 2, parts, say("memory_axis", language))


def bank_map(picture: Picture, language: str) -> str:
    """SVG: a column for each bank, a row for each wavefront, with the lane that is served."""
    parts = [_note(_LEFT - 8, 14, say("bank", language), "end")]
    parts += [
        f'<text class="axis" x="{_LEFT + (bank + 0.5) * _CELL:g}" y="14">{bank}</text>'
        for bank in range(BANKS)
    ]
    top, drawn, rest = 20, 0, 0
    passes = wavefronts(picture.sample)
    for number, fronts in enumerate(passes, start=1):
        for depth, front in enumerate(fronts):
            if drawn >= _MOST_WAVEFRONTS:
                rest += 1
                continue
            label = say("pass", language, n=number) if depth == 0 and len(passes) > 1 else ""
            parts.append(_wavefront(front, top, label, conflict=depth > 0))
            top += _HIGH + 2
            drawn += 1
        top += 5
    if rest:
        parts.append(_note(_LEFT, top + 8, f"⋮ {say('rest', language, n=rest)}"))
        top += 16
    return _svg(_LEFT + BANKS * _CELL + 4, top + 2, parts, say("bank_axis", language))


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


def _memory_cells(sample: Sample) -> list[Cell]:
    """Lanes grouped by the words that they touch together."""
    groups: dict[int, list[int]] = {}
    for lane, address in enumerate(sample.addresses.tolist()):
        if address != NONE:
            groups.setdefault(address // WORD, []).append(lane)
    words = max(1, sample.width // WORD)
    per_row = ROW // WORD
    return [Cell(word // per_row, word % per_row, words, tuple(lanes)) for word, lanes in groups.items()]


def _memory_row(row: int, top: int, cells: list[Cell], base: int) -> str:
    touched = {cell.column // (SECTOR // WORD) for cell in cells}
    parts = [f'<text class="axis end" x="{_LEFT - 10}" y="{top + 14}">+{row * ROW - base:,}</text>']
    for sector in range(ROW // SECTOR):
        style = "moved" if sector in touched else "still"
        left, width = _x(sector * 8), 8 * _CELL
        parts.append(f'<rect class="{style}" x="{left}" y="{top}" width="{width}" height="{_HIGH}" rx="3"/>')
        if sector in touched:
            parts += [
                f'<path class="word" d="M{left + k * _CELL} {top + 3}v{_HIGH - 6}"/>' for k in range(1, 8)
            ]
    parts += [_cell(_x(cell.column), top, cell.words * _CELL, cell.lanes) for cell in cells]
    return "".join(parts)


def _wavefront(front: dict[int, tuple[int, ...]], top: int, label: str, *, conflict: bool) -> str:
    style = "again" if conflict else "first"
    parts = [
        _note(_LEFT - 10, top + 14, label, "end"),
        f'<rect class="{style}" x="{_LEFT}" y="{top}" width="{BANKS * _CELL}" height="{_HIGH}" rx="3"/>',
    ]
    parts += [_cell(_LEFT + bank * _CELL, top, _CELL, lanes) for bank, lanes in sorted(front.items())]
    return "".join(parts)


def _cell(left: int, top: int, width: int, lanes: tuple[int, ...]) -> str:
    text = str(lanes[0])
    if len(lanes) > 1:
        text = f"×{len(lanes)}"
    names = ", ".join(map(str, lanes))
    return (
        f'<g><title>lane {names}</title><rect x="{left + 1}" y="{top + 1}" width="{width - 2}" '
        f'height="{_HIGH - 2}" rx="3" fill="{_colour(lanes[0])}"/>'
        f'<text class="lane" x="{left + width / 2:g}" y="{top + 14}">{text}</text></g>'
    )


def _colour(lane: int) -> str:
    """From blue (lane 0) through violet to orange (lane 31): order shows as a gradient."""
    return f"hsl({(212 + lane * 176 / (LANES - 1)) % 360:.0f} 58% {46 - 4 * (lane % 2)}%)"


def _x(word: int) -> int:
    """Left edge of a word of a memory row."""
    return _LEFT + word * _CELL + word // 8 * _GAP


def _note(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text class="note {anchor}" x="{x:g}" y="{y:g}">{escape(text)}</text>' if text else ""


def _svg(width: int, height: int, parts: list[str], title: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
