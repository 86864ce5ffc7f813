"""Puzzle 23: a vector cut into tiles, one thread for each tile."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tooling.book.figures.canvas import Canvas, Ink
from tooling.book.figures.facts import Facts
from tooling.book.figures.figure import Figure
from tooling.catalog.model import Text

Sheet = Callable[[int, int], Canvas]


def draw_tiles(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """All tiles in a strip; one of them enlarged, with the steps of its thread."""
    size, tile = facts.constant("SIZE"), facts.constant("TILE_SIZE")
    tiles = size // tile
    strip: tuple[int | None, ...] = (0, 1, None, tiles - 1) if narrow else (0, 1, 2, 3, None, tiles - 1)
    steps: tuple[int | None, ...] = (0, 1, 2, 3, 4, None, tile - 2, tile - 1)
    if narrow:
        steps = (0, 1, 2, None, tile - 1)
    left, width, skipped = (4, 92, 40) if narrow else (24, 112, 112)
    whole = (len(strip) - 1) * width + skipped
    canvas = sheet(left + whole + left, 300)
    canvas.label(
        left, 22, Text(f"{size} elements in {tiles} tiles", f"원소 {size}개를 타일 {tiles}개로"), bold=True
    )
    x: float = left
    for number in strip:
        if number is None:
            canvas.label(x + skipped / 2, 104, "…", "middle", size=20, quiet=True)
            x += skipped
            continue
        name = Text(f"thread {number}", f"스레드 {number}")
        canvas.label(x + width / 2, 54, name, "middle", size=13, quiet=True)
        canvas.arrow(x + width / 2, 64, x + width / 2, 82)
        ink = Ink.LIVE if number == 1 else Ink.PLAIN
        span = f"{number * tile}–{number * tile + tile - 1}"
        canvas.cell(x + 3, 86, width - 6, 38, span, ink=ink, size=13 if narrow else 14)
        tile_id, small = f"tile_id = {number}", 11 if narrow else 12
        canvas.label(x + width / 2, 138, tile_id, "middle", size=small, quiet=True, mono=True)
        x += width
    canvas.arrow(left + width + 3, 150, left, 192, head=False, dashed=True)
    canvas.arrow(left + 2 * width - 3, 150, left + whole, 192, head=False, dashed=True)
    cell = whole / len(steps)
    for place, step in enumerate(steps):
        x = left + place * cell
        if step is None:
            canvas.label(x + cell / 2, 218, "…", "middle", size=20, quiet=True)
            continue
        canvas.cell(x + 2, 198, cell - 4, 40, str(tile + step), ink=Ink.LIVE)
        canvas.label(x + cell / 2, 254, Text(f"step {step}", f"{step}단계"), "middle", size=12, quiet=True)
    canvas.label(
        left + whole / 2,
        282,
        Text("thread 1, one element after the other", "스레드 1이 원소를 하나씩 차례로"),
        "middle",
        quiet=True,
    )
    return canvas


def draw_step(facts: Facts, sheet: Sheet, *, narrow: bool = False) -> Canvas:
    """The request that a warp makes in the first step of its loop."""
    from tooling.book.figures.requests import draw_request, request  # noqa: PLC0415 - brings NumPy

    trace = facts.trace("p23 --tiled")
    first = next(event for event in trace.events if event.action == "load")
    return draw_request(sheet, request(trace, first), narrow=narrow)


FIGURES = (
    Figure(
        "p23-tiles",
        Text(
            "One thread for each tile. Inside its tile the thread works alone, an element at a time.",
            "타일마다 스레드가 하나 있습니다. 스레드는 자기 타일 안에서 혼자 원소를 하나씩 처리합니다.",
        ),
        Text(
            "A strip of 1024 elements cut into 32 tiles of 32. Thread 0 has elements 0 to 31, thread 1 "
            "has 32 to 63, and so "
            "on to thread 31 with 992 to 1023. Enlarged: thread 1 adds element 32 in step 0, 33 in step "
            "1, up to 63 in step 31.",
            "원소 1024개를 32개씩 타일 32개로 나눈 띠. 스레드 0은 원소 0에서 31까지, 스레드 1은 32에서 "
            "63까지, 이렇게 이어져 스레드 31은 "
            "992에서 1023까지 맡습니다. 확대한 부분에서 스레드 1은 0단계에 원소 32, 1단계에 33, "
            "31단계에 63을 더합니다.",
        ),
        draw_tiles,
        narrow=partial(draw_tiles, narrow=True),
    ),
    Figure(
        "p23-memory",
        Text(
            "What one step of the loop asks of memory. Each offset on the left begins 128 bytes, and a "
            "number is the thread that reads there. Memory moves in the coloured pieces of 32 bytes: every "
            "thread needs 4 bytes and moves 32.",
            "반복문의 한 단계가 메모리에 요청하는 것입니다. 왼쪽 오프셋마다 128바이트가 시작하고, 숫자는 그 "
            "자리를 읽는 스레드입니다. 메모리는 색칠한 32바이트 조각 단위로 움직입니다. 스레드마다 "
            "4바이트가 필요한데 32바이트를 옮깁니다.",
        ),
        Text(
            "A map of the input, a row for every 128 bytes. In each row the first of four 32-byte pieces is "
            "coloured, and its first word belongs to one thread: thread 0 in the first row, thread 1 in the "
            "second, and so on, to 32 rows for the 32 threads of the warp.",
            "입력의 지도. 128바이트마다 한 줄입니다. 줄마다 32바이트 조각 네 개 가운데 첫 조각이 "
            "칠해져 있고 그 첫 워드를 스레드 하나가 읽습니다. 첫 줄은 스레드 0, 둘째 줄은 스레드 1로 "
            "이어져, 워프의 스레드 32개에 32줄이 있습니다.",
        ),
        draw_step,
        traces=("p23 --tiled",),
        narrow=partial(draw_step, narrow=True),
    ),
)
