"""The memory requests of one instruction of a warp: the pictures of `tooling profile`, for the book.

The profile gives every lane a colour; here the colours have the same meaning as in all other figures.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from tooling.book.figures.canvas import Canvas, Ink, Sheet, Size
from tooling.book.figures.traces import SHARED, Event, Trace
from tooling.simulator.counters.banks import Service
from tooling.simulator.counters.drawing import Form, Room, bank_map, memory_map
from tooling.simulator.counters.hook import Sample
from tooling.simulator.counters.profile import Picture
from tooling.simulator.counters.warp_rows import LANES, NONE
from tooling.simulator.gpu.launch import Dim3
from tooling.text import Text

_HEADING = 30
_GAP = 22
_PAGE = 704  # pixels of a line of text
_BOOK = Form(cell=20, left=50, line=32, most_rows=6, inset=1, flush=True, numbered=True, by_lane=False)
"""What all forms have in common; where the numbers of lanes need the room, the inset is smaller."""
_PAGE_WORDS = replace(_BOOK, cell=19, rim=3, inset=0.5)
_PAGE_ABOVE = replace(_BOOK, left=1, rim=3, above=True, room=Room(before_note=9, after_note=10, after_row=14))
_PAGE_BANKS = replace(_BOOK, every=4)
_TELEPHONE_WORDS = replace(_PAGE_ABOVE, cell=19, line=16, room=Room(before_note=9, after_note=5, after_row=8))
_TELEPHONE_BANKS = replace(_PAGE_BANKS, cell=19, left=44, line=16, inset_down=0.5)
_FOLD_WORDS = replace(_PAGE_WORDS, left=40)
_TELEPHONE_FOLD_WORDS = replace(_TELEPHONE_WORDS, cell=17, inset=0.5)
_TELEPHONE_FOLD_BANKS = replace(_TELEPHONE_BANKS, cell=16, inset=0.5)
_STYLE = """
.map text {{ font-size: {size}px; fill: {soft}; }}
.map .axis {{ text-anchor: middle; }} .map .end {{ text-anchor: end; }}
.map .address {{ fill: {text}; }}
.map .lane {{ font-size: {size}px; fill: {live[2]}; text-anchor: middle; }}
.map g rect {{ fill: {live[0]}; stroke: {live[1]}; }} .words g rect {{ fill: {plain[0]}; }}
.moved {{ fill: {live[0]}; stroke: {live[1]}; stroke-opacity: .5; }}
.word {{ stroke: {live[1]}; opacity: .4; }}
.still, .first {{ fill: {spare[0]}; stroke: {spare[1]}; }}
.again {{ fill: {wrong[0]}; stroke: {wrong[1]}; stroke-opacity: .5; }}
"""


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
    forms = (_TELEPHONE_FOLD_WORDS, _TELEPHONE_FOLD_BANKS) if narrow else (_FOLD_WORDS, _PAGE_BANKS)
    canvas = sheet(0, 0)
    _set_style(canvas, narrow=narrow)
    _draw_map(canvas, picture, *forms)
    return canvas


def draw_requests(
    sheet: Sheet,
    pictures: Sequence[tuple[Text | str, Picture]],
    *,
    narrow: bool = False,
    above: bool = False,
    most_rows: int | None = None,
) -> Canvas:
    """The maps of several requests one below the other, each with a caption.

    Args:
        above: the offsets in a map of global memory are above the words, because they are large; on a narrow
            screen they always are.
        most_rows: of one map of global memory.
    """
    words, banks = (_TELEPHONE_WORDS, _TELEPHONE_BANKS) if narrow else (_PAGE_WORDS, _PAGE_BANKS)
    if above and not narrow:
        words = _PAGE_ABOVE
    words = replace(words, most_rows=most_rows or words.most_rows)
    canvas = sheet(0 if narrow else _PAGE, 0)  # so it begins where the text does
    _set_style(canvas, narrow=narrow)
    for heading, picture in pictures:
        canvas.label(1, canvas.height + 12, heading, bold=True, mono=isinstance(heading, str))
        canvas.height += _HEADING
        _draw_map(canvas, picture, words, banks)
        canvas.height += _GAP if picture is not pictures[-1][1] else 0
    return canvas


def _set_style(canvas: Canvas, *, narrow: bool) -> None:
    """Defines the colours and sizes of maps."""
    marks = canvas.shade.marks
    style = _STYLE.format(
        size=Size.SMALL if narrow else Size.LABEL,
        soft=canvas.shade.quiet,
        text=canvas.shade.text,
        live=marks[Ink.LIVE],
        plain=marks[Ink.PLAIN],
        spare=marks[Ink.SPARE],
        wrong=marks[Ink.WRONG],
    )
    canvas.embed(f"<style>{style}</style>")


def _draw_map(canvas: Canvas, picture: Picture, words: Form, banks: Form) -> None:
    """Draws one map below what is on the canvas."""
    if picture.sample.service:
        drawn, kind = bank_map(picture, canvas.language, banks), "map"
    else:
        drawn, kind = memory_map(picture, canvas.language, words), "map words"
    canvas.embed(f'<g class="{kind}" transform="translate(0 {canvas.height})">{drawn.contents}</g>')
    canvas.width = max(canvas.width, drawn.width)
    canvas.height += drawn.height
