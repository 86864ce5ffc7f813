"""The memory requests of one instruction of a warp: the pictures of `tooling profile`, for the book.

The profile gives every lane a colour; here the colours have the same meaning as in all other figures.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from tooling.book.figures.canvas import PAGE, PAPER, PHONE, QUIET, Canvas, Ink, Sheet, Size, measured
from tooling.book.figures.traces import SHARED, Event, Trace
from tooling.simulator.counters.banks import Service
from tooling.simulator.counters.drawing import Form, Map, Room, bank_map, memory_map, wavefronts
from tooling.simulator.counters.hook import Sample
from tooling.simulator.counters.profile import Picture
from tooling.simulator.counters.sectors import SECTOR
from tooling.simulator.counters.warp_rows import LANES, NONE
from tooling.simulator.gpu.launch import Dim3
from tooling.text import Sentence, Text

_HEADING = 29
_GAP = 10
_BELOW_MAP = 6  # pixels of a map below what it shows
_SWATCH = 15  # the side of a box in a legend
_LEGEND_ABOVE = 14  # from a map to the middle of a legend
_LEGEND_LINE = 22
_BOOK = Form(
    cell=21,
    left=57,
    line=32,
    most_rows=6,
    heads=21,
    drop=5,
    line_gap=5,
    inset=0,
    corner=0,
    flush=True,
    by_lane=False,
)
"""What all forms have in common; words share borders, since the numbers of lanes need the room."""
_PAGE_WORDS = replace(
    _BOOK,
    cell=22,
    high=24,
    left=1,
    above=True,
    unused=True,
    room=Room(before_note=10, after_note=6),
)
_PAGE_BANKS = replace(_BOOK, high=22, every=4, numbered=True, ruled=True)
_TELEPHONE_WORDS = replace(
    _PAGE_WORDS,
    cell=21,
    high=20,
    line=16,
    sector_gap=22,
    room=Room(before_note=10, after_note=6, after_row=8),
)
_TELEPHONE_BANKS = replace(_PAGE_BANKS, cell=19, left=55, line=16)
_FOLD_WORDS = replace(_PAGE_WORDS, cell=21)  # a fold has 702 pixels
_TELEPHONE_FOLD_WORDS = replace(  # 290 on a screen of 360
    _TELEPHONE_WORDS, cell=17, sector_gap=15, most_rows=3
)
_STYLE = """
.map text {{ font-size: {size}px; fill: {soft}; }}
.map .axis {{ text-anchor: middle; }} .map .end {{ text-anchor: end; }}
.map .lane {{ font-size: {lane}px; fill: {live.text}; text-anchor: middle; }}
.map .broad {{ font-size: {broad}px; }}
.map g rect {{ fill: {live.fill}; stroke: {live.line}; }}
.moved {{ fill: {paper}; stroke: {live.line}; stroke-opacity: .5; }}
.unused {{ fill: url(#hatched); stroke: {live.line}; }}
.still {{ fill: none; stroke: {plain.line}; stroke-opacity: .6; }}
.first, .again {{ fill: {spare.fill}; stroke: {spare.line}; }}
.bank {{ stroke: {spare.line}; }}
.map text.added {{ fill: {wrong.text}; font-weight: 600; }}
.map .added rect {{ fill: {wrong.fill}; stroke: {wrong.line}; }}
.map .added .lane {{ fill: {wrong.text}; }}
"""
_HATCHING = (
    '<defs><pattern id="hatched" width="4" height="4" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect width="4" height="4" fill="{paper}"/>'
    '<path d="M1 0v4" stroke="{line}" stroke-width="1.25" stroke-opacity=".55"/></pattern></defs>'
)


def request(trace: Trace, event: Event, warp: int = 0) -> Picture:
    """The request of one warp for one instruction of a trace.

    Raises:
        ValueError: the event is a barrier.
    """
    if event.action not in ("load", "store"):
        raise ValueError(f"a {event.action} requests no words")
    addresses = np.full(LANES, NONE, np.int64)
    for thread, element in zip(event.threads, event.elements, strict=True):
        if thread // LANES == warp:
            addresses[thread % LANES] = element * trace.element_bytes
    service = {"load": Service.LOAD, "store": Service.STORE}[event.action] if event.buffer == SHARED else None
    sample = Sample(addresses, trace.element_bytes, 0, warp, service)
    return Picture(sample, Dim3(event.block, 0, 0), warp)


def draw_request(sheet: Sheet, picture: Picture, *, narrow: bool = False) -> Canvas:
    """The memory map of a request to global memory, to fit a fold; the bank map of one to shared memory."""
    forms = (_TELEPHONE_FOLD_WORDS, _TELEPHONE_BANKS) if narrow else (_FOLD_WORDS, _PAGE_BANKS)
    canvas = sheet(0, 0)
    _set_style(canvas, [picture], narrow=narrow)
    _draw_map(canvas, picture, *forms)
    canvas.height -= _BELOW_MAP
    return canvas


def draw_requests(
    sheet: Sheet,
    pictures: Sequence[tuple[Text | str, Picture]],
    *,
    narrow: bool = False,
    most_rows: int | None = None,
    counted: bool = False,
) -> Canvas:
    """The maps of several requests one below the other, each with a heading.

    The heading of a bank map has the number of its passes at its right.

    Args:
        most_rows: of one map of global memory.
        counted: the heading of a map of global memory has the number of sectors and their used share at its
            right.
    """
    words, banks = (_TELEPHONE_WORDS, _TELEPHONE_BANKS) if narrow else (_PAGE_WORDS, _PAGE_BANKS)
    words = replace(words, most_rows=most_rows or words.most_rows)
    canvas = sheet(0 if narrow else PAGE, 0)  # so it begins where the text does
    _set_style(canvas, [picture for _, picture in pictures], narrow=narrow)
    all_moved = True
    for heading, picture in pictures:
        top = canvas.height + 12
        canvas.label(1, top, heading, bold=True, mono=isinstance(heading, str))
        canvas.height += _HEADING
        drawn = _draw_map(canvas, picture, words, banks)
        all_moved &= 'class="still"' not in drawn.contents
        if picture.sample.service or counted:
            label_x = _passes(picture.sample) if picture.sample.service else _moved(picture.sample)
            canvas.label(drawn.width - 1, top, label_x, "end", size=Size.LABEL, quiet=True)
        canvas.height += _GAP if picture is not pictures[-1][1] else 0
    if _of_memory([picture for _, picture in pictures]):
        draw_states(canvas, all_moved=all_moved)
    else:
        canvas.height -= _BELOW_MAP
    return canvas


def _moved(sample: Sample) -> Sentence:
    """How many sectors a request to global memory moves, and the share of their bytes that its lanes use."""
    begins = sample.addresses[sample.addresses != NONE]
    used = np.unique(begins[:, None] + np.arange(sample.width))
    sectors = len(np.unique(used // SECTOR))
    share = round(100 * len(used) / (sectors * SECTOR), 1)
    return Text("{sectors} sectors, {share}% used").of(sectors=sectors, share=f"{share:g}")


def _passes(sample: Sample) -> Sentence:
    """How many passes the banks need for a request to shared memory."""
    count = sum(map(len, wavefronts(sample)))
    return Text("1 pass") if count == 1 else Text("{count} passes").of(count=count)


def _set_style(canvas: Canvas, pictures: Sequence[Picture], *, narrow: bool) -> None:
    """Defines the colours and sizes of maps, and the hatching of those of memory."""
    style = _STYLE.format(
        size=Size.SMALL if narrow else Size.LABEL,
        lane=Size.LANE,
        broad=Size.SMALL,
        soft=QUIET,
        paper=PAPER,
        live=Ink.LIVE,
        plain=Ink.PLAIN,
        spare=Ink.SPARE,
        wrong=Ink.WRONG,
    )
    canvas.define(f"<style>{style}</style>")
    if _of_memory(pictures):
        define_hatching(canvas)


def define_hatching(canvas: Canvas) -> None:
    """Defines the looks of words that are moved and not used, as `url(#hatched)`."""
    canvas.define(_HATCHING.format(paper=PAPER, line=Ink.LIVE.line))


def _of_memory(pictures: Sequence[Picture]) -> bool:
    """Whether a map of global memory is among those of some requests."""
    return any(picture.sample.service is None for picture in pictures)


def _draw_map(canvas: Canvas, picture: Picture, words: Form, banks: Form) -> Map:
    """Draws one map below what is on the canvas."""
    if picture.sample.service:
        drawn, kind = bank_map(picture, canvas.language, banks), "map"
    else:
        drawn, kind = memory_map(picture, canvas.language, words), "map words"
    whole = 0, canvas.height, math.inf, math.inf
    sharp = f"translate(0.5 {canvas.height + 0.5})"  # its thin lines cover whole pixels
    canvas.embed(f'<g class="{kind}" transform="{sharp}">{drawn.contents}</g>', whole)
    canvas.width = max(canvas.width, drawn.width)
    canvas.height += drawn.height
    return drawn


def draw_states(canvas: Canvas, *, all_moved: bool) -> None:
    """Draws what the looks of a word in a map of memory mean, below what is on the canvas."""
    line = Ink.LIVE.line
    states = (
        (Text("moved and used"), f'fill="{Ink.LIVE.fill}" stroke="{line}"'),
        (Text("moved, not used"), f'fill="url(#hatched)" stroke="{line}"'),
        (Text("not moved"), f'fill="none" stroke="{Ink.PLAIN.line}"'),
    )
    right = max(canvas.width, PHONE)
    x, y = 1.5, canvas.height + _LEGEND_ABOVE
    for name, look in states[: 2 if all_moved else 3]:
        long = _SWATCH + 6 + measured(canvas.say(name), Size.LABEL)
        if x + long > right:
            x, y = 1.5, y + _LEGEND_LINE
        box = x, y - 8, x + _SWATCH, y - 8 + _SWATCH
        canvas.embed(f'<rect x="{x:g}" y="{y - 8:g}" width="{_SWATCH}" height="{_SWATCH}" {look}/>', box)
        canvas.label(x + _SWATCH + 6, y, name, size=Size.LABEL)
        canvas.width = max(canvas.width, math.ceil(x + long))
        x += long + 16
    canvas.height = round(y) + _SWATCH // 2 + 2
